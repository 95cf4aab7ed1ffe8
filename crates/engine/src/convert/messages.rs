//! What is said, as messages that every format takes.

use rethread_formats::carry::Scope;
use rethread_formats::{Attachments, Conversation, FormatRef, NewMessage, by_name};
use rethread_json::Tree;
use rethread_model::{
    Block, Bodies, Body, Context, Entry, EntryIx, Json, Kind, Message, Moment, Role, Session, Text,
    Thinking, ToolCall, ToolInput, ToolResult, ToolStatus, Usage, Visibility,
};

use super::calls::PendingCalls;
use super::digests;
use super::hosted_tools;
use super::media::{self, MediaOwner};

/// Something that is said, ready to be written.
pub(super) struct OutgoingMessage {
    /// The message; none where only its digests were asked for.
    pub(super) message: Option<Box<NewMessage>>,
    /// The entry that says it; none if we do.
    pub(super) from: Option<EntryIx>,
    /// What each block of it means.
    pub(super) marks: Vec<u64>,
    /// Whether it is neither the person's nor the model's.
    pub(super) is_instructions: bool,
}

/// What the model of a session would see, message by message. What its client tells it by itself
/// stays behind: another client does that in its own way.
pub(super) fn context_messages(
    source: &Conversation,
    path: &[EntryIx],
    takes: Attachments,
) -> Vec<OutgoingMessage> {
    let context = Context::new(&source.session, source, path);
    let mut speech = MessageBuilder::new(source, source, takes, Scope::Told);
    for (ix, entry) in context.session.indexed() {
        let Body::Message(message) = context.body(ix) else {
            continue;
        };
        // Summaries, and what took the place of the past, stand for what was said.
        let is_made = context.comes_from(ix).is_some_and(|from| {
            let kind = source.session.entry(from).kind;
            matches!(kind, Kind::Compaction | Kind::BranchSummary)
        });
        let is_told = entry.visibility == Visibility::Injected && !is_made;
        if is_made || may_be_said(entry, Scope::Told) {
            speech.speaker = context.comes_from(ix);
            speech.add_message(&message, entry.time, is_told);
        }
    }
    speech.messages
}

/// What is told to the model in the place of what does not go along.
pub(super) fn summary_message(source: &Conversation, text: &str) -> OutgoingMessage {
    let mut speech = MessageBuilder::new(source, source, Attachments::default(), Scope::Visible);
    let time = source.session.entries().iter().find_map(|e| e.time);
    let message = Message::new(Role::User, vec![Block::text(text)]);
    speech.add_message(&message, time, false);
    speech.messages.remove(0)
}

/// Whether an entry is something that a person or a model says in the conversation itself.
pub(super) fn is_said(entry: &Entry) -> bool {
    may_be_said(entry, Scope::Visible)
}

/// Whether an entry is something that counts as said, as far as its head tells.
pub(super) fn may_be_said(entry: &Entry, scope: Scope) -> bool {
    let is_for_model = match (entry.visibility, scope) {
        (Visibility::Visible, _) | (Visibility::Injected, Scope::All) => true,
        // What a client lets the model say by itself is no more than a reply to that.
        (Visibility::Injected, Scope::Told) => entry.kind != Kind::Message(Role::Assistant),
        _ => false,
    };
    entry.kind.is_message() && is_for_model && !entry.beside && !entry.side
}

/// The format whose client a session is of: an export is of what was exported.
pub(super) fn client_of(conversation: &Conversation) -> FormatRef {
    by_name(conversation.session.head.held_by()).unwrap_or(conversation.source.format)
}

/// The way to an entry, also through what was before a compaction.
pub(super) fn path_to(session: &Session, end: EntryIx) -> Vec<EntryIx> {
    let mut way = Vec::new();
    let mut met = vec![false; session.entries().len()];
    let mut at = Some(end);
    while let Some(ix) = at {
        if std::mem::replace(&mut met[ix.get()], true) {
            break;
        }
        way.push(ix);
        at = preceding_entry(session.entry(ix));
    }
    way.reverse();
    way
}

/// The entry that an entry follows. What takes the place of the past may stand behind what its client
/// tells the model each time, but it follows that past.
pub(super) fn preceding_entry(entry: &Entry) -> Option<EntryIx> {
    match entry.kind {
        Kind::Compaction => entry.logical_parent.or(entry.parent),
        _ => entry.parent.or(entry.logical_parent),
    }
}

/// What follows each entry of a session, and what begins it, in the order of its records.
pub(super) struct Followers {
    pub(super) of: Vec<Vec<EntryIx>>,
    pub(super) first: Vec<EntryIx>,
}

impl Followers {
    pub(super) fn new(session: &Session) -> Self {
        let mut followers = Self {
            of: vec![Vec::new(); session.entries().len()],
            first: Vec::new(),
        };
        for (ix, entry) in session.indexed() {
            if entry.beside || entry.side {
                continue;
            }
            let list = preceding_entry(entry).and_then(|parent| followers.of.get_mut(parent.get()));
            list.unwrap_or(&mut followers.first).push(ix);
        }
        followers
    }
}

/// What is said before an answer that nobody asked for: no model takes a conversation that begins so.
const NO_BEGINNING: &str = "(The beginning of this conversation is not here.)";

/// Who says something.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MessageAuthor {
    Person,
    Model,
    /// The client, in the place of the person.
    Client,
    /// Nobody: instructions.
    System,
}

impl MessageAuthor {
    /// The role that what they say has in the unified vocabulary.
    fn unified_role(self) -> &'static str {
        self.role().unified()
    }

    fn role(self) -> Role {
        match self {
            Self::Person | Self::Client => Role::User,
            Self::Model => Role::Assistant,
            Self::System => Role::System,
        }
    }

    fn media_owner(self) -> MediaOwner {
        match self {
            Self::Model => MediaOwner::Model,
            Self::Person | Self::Client | Self::System => MediaOwner::Person,
        }
    }
}

/// What was said so far.
pub(super) struct MessageBuilder<'a> {
    bodies: &'a dyn Bodies,
    /// What counts as said.
    scope: Scope,
    /// Whose client tells the model what it tells.
    client: FormatRef,
    /// What there is a place for.
    takes: Attachments,
    /// Whether the messages are asked for.
    pub(super) wants_messages: bool,
    /// Whether the digests of their blocks are asked for.
    pub(super) wants_marks: bool,
    pub(super) messages: Vec<OutgoingMessage>,
    /// How many there were, also of those that were taken out since.
    count: u64,
    /// Whether nothing was said before what is said now.
    pub(super) begins: bool,
    /// The entry that speaks.
    pub(super) speaker: Option<EntryIx>,
    /// The model where a message names none: some formats want one for each.
    model: String,
    pub(super) calls: PendingCalls,
}

impl<'a> MessageBuilder<'a> {
    /// Nothing yet. What is said comes from `bodies`, which are those of the source.
    pub(super) fn new(
        source: &Conversation,
        bodies: &'a dyn Bodies,
        takes: Attachments,
        scope: Scope,
    ) -> Self {
        let model = source.session.head.model.as_ref();
        let provider = model.and_then(|m| m.provider.as_deref());
        let id = model.map_or("unknown", |m| m.id.as_str());
        Self {
            bodies,
            scope,
            client: client_of(source),
            takes,
            wants_messages: true,
            wants_marks: true,
            messages: Vec::new(),
            count: 0,
            begins: true,
            speaker: None,
            model: format!("{}/{id}", provider.unwrap_or("unknown")),
            calls: PendingCalls::default(),
        }
    }

    /// Says a message, which the client told the model if `is_told`. Calls and results that stand in
    /// one become several: what was asked of tools, what they gave, and what was said then. What the
    /// client told beside the words of a person is a message of its own.
    pub(super) fn add_message(&mut self, message: &Message, time: Option<Moment>, is_told: bool) {
        // What the version before wrote has such calls as they are.
        let in_text = (self.scope != Scope::Visible).then(|| hosted_tools::as_text(message));
        let in_text = in_text.flatten();
        let message = in_text.as_ref().unwrap_or(message);
        let is_result = |block: &&Block| matches!(block, Block::ToolResult(_));
        let is_told = is_told && self.scope != Scope::Visible;
        match message.role {
            Role::System => self.add_instructions(message, time),
            Role::User | Role::Tool => {
                let is_call = |block: &&Block| matches!(block, Block::ToolCall(_));
                // What a person lets a tool do is asked of it like all else.
                let (calls, rest): (Vec<&Block>, Vec<&Block>) =
                    message.blocks.iter().partition(is_call);
                self.push_message(message, MessageAuthor::Model, &calls, time);
                let (results, others): (Vec<&Block>, Vec<&Block>) =
                    rest.into_iter().partition(is_result);
                if is_told {
                    let told = self.injected_blocks(message.role, &others);
                    self.add_results(message, &results, &[], time);
                    self.add_injected(message, &told, time);
                    return;
                }
                let is_aside = |block: &&&Block| matches!(block, Block::Aside { .. });
                let first = others.iter().position(|block| !is_aside(&block));
                let (before, behind) = match first {
                    Some(first) if results.is_empty() => others.split_at(first),
                    _ => (&[][..], others.as_slice()),
                };
                let before = self.injected_blocks(message.role, before);
                self.add_injected(message, &before, time);
                self.add_results(message, &results, behind, time);
                let behind: Vec<&Block> = behind.iter().filter(is_aside).copied().collect();
                let behind = self.injected_blocks(message.role, &behind);
                self.add_injected(message, &behind, time);
            }
            Role::Assistant => {
                let (mut said, mut results) = (Vec::new(), Vec::new());
                for block in &message.blocks {
                    if is_result(&block) {
                        results.push(block);
                        continue;
                    }
                    if !results.is_empty() && !matches!(block, Block::ToolCall(_)) {
                        self.push_message(message, MessageAuthor::Model, &said, time);
                        self.add_results(message, &results, &[], time);
                        said.clear();
                        results.clear();
                    }
                    said.push(block);
                }
                self.push_message(message, MessageAuthor::Model, &said, time);
                self.add_results(message, &results, &[], time);
            }
        }
    }

    /// Says what is neither the person's nor the model's. Instructions are each client's own affair.
    fn add_instructions(&mut self, message: &Message, time: Option<Moment>) {
        let all: Vec<&Block> = message.blocks.iter().collect();
        match self.scope {
            Scope::Visible => {}
            Scope::Told => {
                let told = self.injected_blocks(message.role, &all);
                self.add_injected(message, &told, time);
            }
            Scope::All => self.push_message(message, MessageAuthor::System, &all, time),
        }
    }

    /// Says what the client told.
    fn add_injected(&mut self, message: &Message, told: &[Block], time: Option<Moment>) {
        let told: Vec<&Block> = told.iter().collect();
        self.push_message(message, MessageAuthor::Client, &told, time);
    }

    /// What a client told the model, of these blocks, as what is said.
    fn injected_blocks(&self, role: Role, blocks: &[&Block]) -> Vec<Block> {
        let said = |block: &&Block| injected_block(block, role, (self.client, self.scope));
        blocks.iter().filter_map(said).collect()
    }

    /// Says what tools gave, and what stands beside it. A result whose call is nowhere gets one: no
    /// model takes it alone.
    fn add_results(
        &mut self,
        message: &Message,
        results: &[&Block],
        others: &[&Block],
        time: Option<Moment>,
    ) {
        let lost: Vec<Block> = results
            .iter()
            .filter_map(|block| match block {
                Block::ToolResult(result) if !self.calls.is_waiting(&result.call_id) => {
                    let name = result.name.as_deref().unwrap_or("unknown");
                    Some(Block::ToolCall(ToolCall::new(&result.call_id, name)))
                }
                _ => None,
            })
            .collect();
        if !lost.is_empty() {
            let asked: Vec<&Block> = lost.iter().collect();
            self.push_message(message, MessageAuthor::Model, &asked, time);
        }
        let all: Vec<&Block> = results.iter().chain(others).copied().collect();
        self.push_message(message, MessageAuthor::Person, &all, time);
    }

    fn push_message(
        &mut self,
        message: &Message,
        by: MessageAuthor,
        blocks: &[&Block],
        time: Option<Moment>,
    ) {
        let (mut said, mut marks) = (Vec::new(), Vec::new());
        let mut is_empty = true;
        for block in blocks {
            let new = if self.wants_messages {
                self.written_block(block, by.media_owner()).map(Some)
            } else {
                self.is_written(block, by.media_owner()).then_some(None)
            };
            let Some(new) = new else { continue };
            is_empty = false;
            said.extend(new);
            if self.wants_marks {
                marks.push(digests::spoken_digest(
                    self.bodies,
                    by.unified_role(),
                    block,
                ));
            }
        }
        if is_empty {
            return;
        }
        if std::mem::take(&mut self.begins) && by == MessageAuthor::Model {
            let before = Message::new(Role::User, vec![Block::text(NO_BEGINNING)]);
            self.add_message(&before, time, false);
        }
        self.count += 1;
        let message = self.wants_messages.then(|| {
            let mut said = Message::new(by.role(), said);
            if by == MessageAuthor::Model {
                answered_by(&mut said, message);
            }
            Box::new(NewMessage {
                time,
                is_told: by == MessageAuthor::Client,
                default_model: Some(self.model.clone()),
                number: self.count,
                ..NewMessage::new(said)
            })
        });
        self.messages.push(OutgoingMessage {
            message,
            from: self.speaker,
            marks,
            is_instructions: by == MessageAuthor::System,
        });
    }

    /// Whether a block is written, where nobody asks for it.
    fn is_written(&mut self, block: &Block, by: MediaOwner) -> bool {
        match block {
            Block::Text(text) => !text.value.trim().is_empty(),
            Block::Thinking(thought) => !thought.text.value.trim().is_empty(),
            Block::ToolCall(call) => {
                self.calls.note_call(&call.id, &call.name);
                true
            }
            Block::ToolResult(result) => {
                self.calls.resolve_result(&result.call_id);
                true
            }
            block => self.written_block(block, by).is_some(),
        }
    }

    /// A block as it is written; none if nothing is said in it, or if there is no place for it.
    fn written_block(&mut self, block: &Block, by: MediaOwner) -> Option<Block> {
        Some(match block {
            Block::Text(text) if text.value.trim().is_empty() => return None,
            Block::Text(text) => Block::text(&text.value),
            Block::Thinking(thought) if thought.text.value.trim().is_empty() => return None,
            Block::Thinking(thought) => Block::Thinking(Thinking {
                text: plain_text(&thought.text),
                ..Thinking::default()
            }),
            Block::ToolCall(call) => Block::ToolCall(ToolCall {
                input: Some(tool_input(call)),
                status: ToolStatus::Completed,
                ..ToolCall::new(
                    self.calls.note_call(&call.id, &call.name),
                    call.name.clone(),
                )
            }),
            Block::ToolResult(result) => {
                let (call_id, called) = self.calls.resolve_result(&result.call_id);
                let name = result.name.clone().or(called);
                Block::ToolResult(ToolResult {
                    call_id,
                    name: name.filter(|name| !name.is_empty()),
                    blocks: media::output_blocks(self.bodies, result, self.takes),
                    is_error: result.is_error,
                    structured: None,
                    exit_code: None,
                    full_output: None,
                })
            }
            Block::Image(_) | Block::File(_) => {
                let attached = media::attach_media(self.bodies, block)?;
                media::is_taken(&attached, by, self.takes).then_some(attached)?
            }
            Block::Aside { .. } | Block::Unknown { .. } => return None,
        })
    }
}

/// Who answered, and what it cost.
fn answered_by(said: &mut Message, message: &Message) {
    said.model.clone_from(&message.model);
    if said.model.is_some() {
        said.stop_reason.clone_from(&message.stop_reason);
    }
    said.usage = message.usage.map(|usage| Usage {
        input: usage.input,
        output: usage.output,
        cache_read: usage.cache_read,
        cache_write: usage.cache_write,
        ..Usage::default()
    });
}

/// What a client told its model in a block, as what is said; none where nothing of it counts as that.
pub(super) fn injected_block(
    block: &Block,
    role: Role,
    (client, scope): (FormatRef, Scope),
) -> Option<Block> {
    let (Block::Text(text) | Block::Aside { text, .. }) = block else {
        return match block {
            Block::Image(_) | Block::File(_) => Some(block.clone()),
            _ => None,
        };
    };
    let is_for_model = match block {
        Block::Aside { visibility, .. } => *visibility == Visibility::Injected,
        _ => true,
    };
    let counts = match scope {
        Scope::Visible => false,
        Scope::Told => is_for_model && !client.reader().is_own_frame(role, &text.value),
        Scope::All => is_for_model,
    };
    counts.then(|| Block::Text(text.clone()))
}

/// What a tool was given, on one line: a log has no room for more.
pub(super) fn input_line(call: &ToolCall) -> Vec<u8> {
    match &call.input {
        Some(ToolInput::Json(json)) => {
            let compact = rethread_json::compact(json.bytes());
            compact.unwrap_or_else(|_| rethread_json::quote(&json.to_text()))
        }
        Some(ToolInput::Text(text)) => rethread_json::quote(&text.value),
        None => b"{}".to_vec(),
    }
}

/// What a tool was given, as it is written: compact JSON, or text.
fn tool_input(call: &ToolCall) -> ToolInput {
    let json = match &call.input {
        Some(ToolInput::Text(text)) => return ToolInput::Text(plain_text(text)),
        Some(ToolInput::Json(json)) => json,
        None => return ToolInput::Json(Json::new(b"{}")),
    };
    let Ok(compact) = rethread_json::compact(json.bytes()) else {
        return ToolInput::Text(Text::new(json.to_text()));
    };
    if compact.starts_with(b"\"")
        && let Ok(tree) = Tree::parse(&compact)
        && let Some(text) = tree.root(&compact).str()
    {
        return ToolInput::Text(Text::new(text));
    }
    ToolInput::Json(Json::new(&compact))
}

/// A text without what its record said about it.
fn plain_text(text: &Text) -> Text {
    Text::new(&text.value)
}

/// What a tool gave, as one text.
pub(super) fn output_text(result: &ToolResult) -> String {
    let texts = result.blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(text.value.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
