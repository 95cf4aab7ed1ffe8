//! What is said in a conversation, text by text: the unit in which words are looked for.

use std::collections::{HashMap, VecDeque};
use std::hash::Hasher as _;
use std::rc::Rc;

use rethread_formats::Conversation;
use rethread_model::{
    Blob, Block, Bodies as _, Body, Entry, EntryIx, Level, Media, Message, Role, ToolCall,
    ToolResult, Visibility,
};

use crate::input_text::input_text;
use crate::prefilter::holds_words;
use crate::touched::{TouchedFile, touched_files};

/// A longer text is several, cut at the ends of lines.
const LONGEST_TEXT: usize = 1 << 20;
/// So many calls are remembered until their results come.
const WAITING_CALLS: usize = 4096;

/// What a text is. The order is that of the numbers in the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TextKind {
    /// The title of the conversation.
    Title,
    /// What the person said.
    Prompt,
    /// What the agent answered.
    Answer,
    /// What the model thought.
    Thinking,
    /// What a tool was given.
    ToolCall,
    /// What a tool answered.
    ToolOutput,
    /// A summary in place of what came before, or of another branch.
    Summary,
    /// What neither the person nor the agent wrote: instructions, reminders.
    Injected,
    /// Something that happened, and bookmarks.
    Event,
}

impl TextKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Self; 9] = [
        Self::Title,
        Self::Prompt,
        Self::Answer,
        Self::Thinking,
        Self::ToolCall,
        Self::ToolOutput,
        Self::Summary,
        Self::Injected,
        Self::Event,
    ];

    /// Its number in the index.
    pub(crate) fn number(self) -> u64 {
        Self::ALL.iter().position(|k| *k == self).unwrap_or(0) as u64
    }

    /// The kind that a number stands for.
    pub(crate) fn of_number(number: u64) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }

    /// A word for scripts.
    pub fn word(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Prompt => "prompt",
            Self::Answer => "answer",
            Self::Thinking => "thinking",
            Self::ToolCall => "tool_call",
            Self::ToolOutput => "tool_output",
            Self::Summary => "summary",
            Self::Injected => "injected",
            Self::Event => "event",
        }
    }

    /// Who speaks; nobody in a title.
    pub fn role(self) -> Option<TextRole> {
        match self {
            Self::Title => None,
            Self::Prompt => Some(TextRole::User),
            Self::Answer | Self::Thinking | Self::ToolCall => Some(TextRole::Assistant),
            Self::ToolOutput => Some(TextRole::Tool),
            Self::Summary | Self::Injected | Self::Event => Some(TextRole::System),
        }
    }
}

/// Who speaks in a text, as filters name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextRole {
    /// The person.
    User,
    /// The model: what it answers, thinks and calls.
    Assistant,
    /// A tool, with what it answers.
    Tool,
    /// Neither: instructions, summaries, events.
    System,
}

impl TextRole {
    /// The words for roles.
    pub const WORDS: [&str; 4] = ["user", "assistant", "tool", "system"];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::System => "system",
        }
    }
}

/// Where a text is in its conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextPlace {
    /// Whether it is in an original that the conversation carries, and how deep; 0 for its own texts. The
    /// entry is one of the original then.
    pub carried: u8,
    /// The number of its entry, counted from 1, as `show --at '#12'` takes it; 0 for the title.
    pub entry: u32,
    /// Its number among the texts of that entry, counted from 0.
    pub ordinal: u32,
}

/// A text of a conversation.
#[derive(Clone, Debug)]
pub struct SearchText {
    /// Where it is.
    pub place: TextPlace,
    /// What it is.
    pub kind: TextKind,
    /// The tool's name, of a call or an output.
    pub tool: Option<Rc<str>>,
    /// When it was said, in milliseconds.
    pub time: Option<i64>,
    /// Whether it says that something went wrong.
    pub is_error: bool,
    /// Whether a picture is with it.
    pub has_image: bool,
    /// The files that a call reads or writes.
    pub files: Vec<TouchedFile>,
    /// The text itself.
    pub value: String,
}

impl SearchText {
    /// The title of a conversation.
    pub fn title(title: &str) -> Self {
        Self {
            place: TextPlace {
                carried: 0,
                entry: 0,
                ordinal: 0,
            },
            kind: TextKind::Title,
            tool: None,
            time: None,
            is_error: false,
            has_image: false,
            files: Vec::new(),
            value: title.to_owned(),
        }
    }

    /// A number by which copies of it are known.
    pub(crate) fn digest(&self) -> u64 {
        // The hasher of the standard library with fixed keys: the same in every process.
        #[allow(
            deprecated,
            reason = "its successor has keys of its own in each process"
        )]
        let mut hasher = std::hash::SipHasher::new();
        hasher.write_u64(self.kind.number());
        hasher.write(self.value.trim().as_bytes());
        hasher.finish()
    }
}

/// Gives the texts of a conversation, one after the other: those of all branches, in the order of the
/// source. `skips` says of which entries nothing is wanted.
pub fn walk_texts(
    conversation: &Conversation,
    skips: &mut dyn FnMut(EntryIx) -> bool,
    give: &mut dyn FnMut(SearchText),
) {
    let mut walk = TextWalk::default();
    for (ix, entry) in conversation.session.indexed() {
        if !skips(ix) {
            walk.read_entry(ix, entry, said_body(conversation, ix), give);
        }
    }
}

/// Gives the texts of the entries from one on, as [`walk_texts`] would. False if those before it would have
/// to be walked for that: then some of what was given is not as it would be.
pub(crate) fn walk_texts_from(
    conversation: &Conversation,
    first: usize,
    give: &mut dyn FnMut(SearchText),
) -> bool {
    let mut walk = TextWalk::default();
    let count = conversation.session.entries().len();
    let before = first.saturating_sub(CALLS_BEFORE)..first;
    for ix in before.filter_map(EntryIx::new) {
        let entry = conversation.session.entry(ix);
        walk.read_entry(ix, entry, said_body(conversation, ix), &mut |_| {});
    }
    walk.has_strange_results = false;
    for ix in (first..count).filter_map(EntryIx::new) {
        let entry = conversation.session.entry(ix);
        walk.read_entry(ix, entry, said_body(conversation, ix), give);
    }
    !walk.has_strange_results
}

/// What an entry says. Of an event, a text that is in other words than its record is left out: its reader
/// made it for people, and nobody said it.
fn said_body(conversation: &Conversation, ix: EntryIx) -> Body {
    let mut body = conversation.body(ix);
    if let Body::Event(event) = &mut body
        && let Some(text) = &event.text
        && !is_in_records(conversation, ix, &text.value)
    {
        event.text = None;
        event.level = Level::Info;
    }
    body
}

/// Whether the words of a text stand in the records of an entry.
fn is_in_records(conversation: &Conversation, ix: EntryIx, text: &str) -> bool {
    let mut records = Vec::new();
    for raw in conversation.session.origin(ix) {
        match conversation.native.read(*raw) {
            Ok(bytes) => records.push(bytes),
            Err(_) => return false,
        }
    }
    holds_words(&records, text)
}

/// So many entries before one are looked at for the calls that it has the results of.
const CALLS_BEFORE: usize = 32;

/// The texts of one entry, behind those of a few before it, which may be calls that it answers.
pub fn texts_up_to(conversation: &Conversation, ix: EntryIx) -> Vec<SearchText> {
    let mut texts = Vec::new();
    let mut walk = TextWalk::default();
    let first = ix.get().saturating_sub(CALLS_BEFORE);
    for ix in (first..=ix.get()).filter_map(EntryIx::new) {
        let entry = conversation.session.entry(ix);
        let body = said_body(conversation, ix);
        walk.read_entry(ix, entry, body, &mut |text| texts.push(text));
    }
    texts
}

/// The names of tools by the calls whose results did not come yet.
#[derive(Default)]
struct TextWalk {
    calls: HashMap<String, Rc<str>>,
    order: VecDeque<String>,
    /// Whether there were results of calls that are not known.
    has_strange_results: bool,
}

/// The texts of an entry while they are gathered.
struct EntryTexts<'g> {
    entry: u32,
    ordinal: u32,
    time: Option<i64>,
    has_image: bool,
    give: &'g mut dyn FnMut(SearchText),
}

impl EntryTexts<'_> {
    /// Gives a text; a long one in pieces.
    fn push(&mut self, kind: TextKind, value: &str) {
        self.push_with(kind, value, |_| {});
    }

    fn push_with(&mut self, kind: TextKind, value: &str, set: impl Fn(&mut SearchText)) {
        let mut rest = value;
        loop {
            let (piece, after) = split_text(rest);
            let mut text = SearchText {
                place: TextPlace {
                    carried: 0,
                    entry: self.entry,
                    ordinal: self.ordinal,
                },
                kind,
                tool: None,
                time: self.time,
                is_error: false,
                has_image: self.has_image,
                files: Vec::new(),
                value: piece.to_owned(),
            };
            set(&mut text);
            // A call or an output is something, whatever it says.
            let is_worth_it = !piece.trim().is_empty()
                || text.is_error
                || text.has_image
                || matches!(kind, TextKind::ToolCall | TextKind::ToolOutput);
            if is_worth_it {
                self.ordinal = self.ordinal.saturating_add(1);
                (self.give)(text);
            }
            if after.is_empty() {
                break;
            }
            rest = after;
        }
    }
}

/// The first piece of a text, and the rest: cut behind a line's end if there is one in the second half.
fn split_text(text: &str) -> (&str, &str) {
    if text.len() <= LONGEST_TEXT {
        return (text, "");
    }
    let most = text.floor_char_boundary(LONGEST_TEXT);
    let head = text.get(..most).unwrap_or(text);
    let line = head.rfind('\n').filter(|at| *at >= LONGEST_TEXT / 2);
    let word = || {
        head.rfind(char::is_whitespace)
            .filter(|at| *at >= LONGEST_TEXT / 2)
    };
    let at = line.or_else(word).unwrap_or(most);
    text.split_at_checked(at).unwrap_or((text, ""))
}

impl TextWalk {
    fn read_entry(
        &mut self,
        ix: EntryIx,
        entry: &Entry,
        body: Body,
        give: &mut dyn FnMut(SearchText),
    ) {
        let mut texts = EntryTexts {
            entry: u32::try_from(ix.get() + 1).unwrap_or(u32::MAX),
            ordinal: 0,
            time: entry.time.map(rethread_model::Moment::millis),
            has_image: false,
            give,
        };
        match body {
            Body::Message(message) => self.read_message(entry, &message, &mut texts),
            Body::Compaction(compaction) => {
                if let Some(summary) = &compaction.summary {
                    texts.push(TextKind::Summary, &summary.value);
                }
            }
            Body::BranchSummary(branch) => texts.push(TextKind::Summary, &branch.summary.value),
            Body::Label(label) => {
                texts.push(TextKind::Event, label.label.as_deref().unwrap_or_default());
            }
            Body::Event(event) => {
                let is_error = event.level == Level::Error;
                let text = event.text.as_ref().map_or("", |text| text.value.as_str());
                texts.push_with(TextKind::Event, text, |text| text.is_error = is_error);
            }
            Body::ModelChange(_)
            | Body::ThinkingChange(_)
            | Body::Title(_)
            | Body::ContextEdit(_)
            | Body::Usage(_)
            | Body::Unknown(_) => {}
        }
    }

    fn read_message(&mut self, entry: &Entry, message: &Message, texts: &mut EntryTexts<'_>) {
        let is_injected = matches!(entry.visibility, Visibility::Injected | Visibility::Hidden);
        let words = match message.role {
            Role::Assistant => TextKind::Answer,
            Role::Tool => TextKind::ToolOutput,
            Role::System => TextKind::Injected,
            Role::User if is_injected => TextKind::Injected,
            Role::User => TextKind::Prompt,
        };
        texts.has_image = message.blocks.iter().any(is_image);
        let mut said = String::new();
        let mut aside = String::new();
        let mut thought = String::new();
        for block in &message.blocks {
            match block {
                Block::Aside {
                    text,
                    visibility: Visibility::Injected | Visibility::Hidden,
                } => add_paragraph(&mut aside, &text.value),
                Block::Text(text) | Block::Aside { text, .. } => {
                    add_paragraph(&mut said, &text.value);
                }
                Block::Thinking(thinking) => add_paragraph(&mut thought, &thinking.text.value),
                Block::Image(media) | Block::File(media) => add_media(&mut said, media),
                Block::ToolCall(_) | Block::ToolResult(_) | Block::Unknown { .. } => {}
            }
        }
        if !said.is_empty() || texts.has_image {
            texts.push(words, &said);
        }
        texts.has_image = false;
        texts.push(TextKind::Injected, &aside);
        texts.push(TextKind::Thinking, &thought);
        for block in &message.blocks {
            match block {
                Block::ToolCall(call) => self.read_call(call, texts),
                Block::ToolResult(result) => self.read_result(result, texts),
                _ => {}
            }
        }
        if let Some(error) = &message.error {
            texts.push_with(TextKind::Event, error, |text| text.is_error = true);
        }
    }

    fn read_call(&mut self, call: &ToolCall, texts: &mut EntryTexts<'_>) {
        let tool: Rc<str> = call.name.as_str().into();
        if self
            .calls
            .insert(call.id.clone(), Rc::clone(&tool))
            .is_none()
        {
            self.order.push_back(call.id.clone());
        }
        while self.order.len() > WAITING_CALLS {
            if let Some(oldest) = self.order.pop_front() {
                self.calls.remove(&oldest);
            }
        }
        let files = touched_files(call);
        let mut value = input_text(call);
        if let Some(title) = call.title.as_ref().filter(|title| **title != call.name) {
            add_paragraph(&mut value, title);
        }
        texts.push_with(TextKind::ToolCall, &value, |text| {
            text.tool = Some(Rc::clone(&tool));
            text.files.clone_from(&files);
        });
    }

    fn read_result(&mut self, result: &ToolResult, texts: &mut EntryTexts<'_>) {
        let known = self.calls.get(&result.call_id).cloned();
        self.has_strange_results |= known.is_none();
        let named = result
            .name
            .as_deref()
            .filter(|name| !name.trim().is_empty());
        let tool = known.or_else(|| named.map(Rc::from));
        let mut value = String::new();
        for block in &result.blocks {
            match block {
                Block::Text(text) | Block::Aside { text, .. } => {
                    add_paragraph(&mut value, &text.value);
                }
                Block::Image(media) | Block::File(media) => add_media(&mut value, media),
                _ => {}
            }
        }
        let has_image = result.blocks.iter().any(is_image);
        texts.push_with(TextKind::ToolOutput, &value, |text| {
            text.tool.clone_from(&tool);
            text.is_error = result.is_error;
            text.has_image = has_image;
        });
    }
}

fn is_image(block: &Block) -> bool {
    matches!(block, Block::Image(_))
}

fn add_paragraph(all: &mut String, text: &str) {
    if text.trim().is_empty() {
        return;
    }
    if !all.is_empty() {
        all.push('\n');
    }
    all.push_str(text);
}

/// The name of a file, and what it says where that is text.
fn add_media(all: &mut String, media: &Media) {
    if let Some(name) = &media.name {
        add_paragraph(all, name);
    }
    match &media.blob {
        Blob::Text(text) => add_paragraph(all, &text.value),
        Blob::Outside(path) => add_paragraph(all, &path.to_string_lossy()),
        Blob::Url(url) => add_paragraph(all, url),
        Blob::File(_) | Blob::Inline { .. } | Blob::Missing(_) => {}
    }
}
