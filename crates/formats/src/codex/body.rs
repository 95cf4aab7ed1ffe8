//! What an entry says, decoded from its records.

use rethread_json::{Tree, Value};
use rethread_model::{
    Block, Body, Compaction, EntryIx, Event, Json, Kept, Kind, Level, Message, ModelRef, RawRef,
    Role, Session, Text, Thinking, TitleChange, TitleSource, Usage, UsageRecord,
};

use super::calls::{add_to_call, add_to_result, call_id, spawned_thread};
use super::line_head::read_line_head;
use super::record::{Ev, Item, RolloutRecord, RolloutType};
use super::{Codex, blocks, document, meter, own, quick};
use crate::few::{MOST, few_items, more_records};
use crate::fields::{filled_of, filled_others, string_of, text_of};
use crate::kit::{CHANGED, giant_block, unreadable_body};
use crate::{BodyReader, Native, OwnWords, PartKind, RecordKind};

impl BodyReader for Codex {
    /// What an entry says.
    fn body(&self, native: &Native, session: &Session, entry: EntryIx) -> Body {
        let kind = session.entry(entry).kind;
        let mut found = EntryContent::default();
        let mut buffer = Vec::new();
        let mut tree = Tree::default();
        let origin = session.origin(entry);
        for (at, raw) in origin.iter().enumerate() {
            if native.record_kind(*raw) == Some(RecordKind::Giant) {
                found.blocks.push(giant_block(native, *raw, "record"));
                continue;
            }
            if found.blocks.len() > MOST {
                found.blocks.push(more_records(origin.len() - at));
                break;
            }
            if kind.is_message()
                && let Some(id) = native.noted_word(*raw)
            {
                found.answered_by(&id);
                continue;
            }
            let bytes = match native.view(*raw, &mut buffer) {
                Ok(bytes) => bytes,
                Err(e) => return unreadable_body(&e.to_string()),
            };
            if native.part_kind(*raw) == Some(PartKind::Document) {
                // What separates it from the next item may follow.
                return match tree.parse_prefix(bytes, 0) {
                    Ok(_) => document::item_body(tree.root(bytes), *raw, kind),
                    Err(_) => unreadable_body(CHANGED),
                };
            }
            if found.quick(bytes, kind, &mut tree) {
                continue;
            }
            if tree.parse_into(bytes).is_err() {
                return unreadable_body(CHANGED);
            }
            let record = RolloutRecord::of(tree.root(bytes));
            match kind {
                Kind::Message(role) => {
                    found.message(&record, *raw, role);
                    if record.what == RolloutType::TurnContext {
                        native.note_word(*raw, found.model.as_ref().map_or("", |m| &m.id));
                    }
                }
                Kind::Compaction => found.compaction(&record, *raw),
                _ => match other(kind, &record) {
                    Some(body) => return body,
                    None => found.tokens(&record),
                },
            }
        }
        found.finish(kind)
    }

    fn own_words(&self) -> Option<OwnWords> {
        Some(OwnWords::new(own::native_messages))
    }
}

/// What the records of an entry say together.
#[derive(Default)]
struct EntryContent {
    blocks: Vec<Block>,
    /// What was shown, for an entry that no item belongs to.
    shown: Vec<Block>,
    model: Option<ModelRef>,
    usage: Option<Usage>,
    /// A total that the next one is to be compared with.
    before: Option<Usage>,
    response_id: Option<String>,
    author: Option<String>,
    stop_reason: Option<String>,
    details: Option<Json>,
    compaction: Compaction,
    type_name: Option<String>,
}

impl EntryContent {
    /// Takes a record into account that needs not be parsed as a whole; whether it is one.
    fn quick(&mut self, record: &[u8], kind: Kind, tree: &mut Tree) -> bool {
        let Some(found) = read_line_head(record) else {
            return false;
        };
        if quick::is_shown(&found) && !self.blocks.is_empty() {
            return true;
        }
        if let Some(info) = quick::info(&found, record, tree) {
            self.total(info);
            return true;
        }
        if kind != Kind::Message(Role::Tool) {
            return false;
        }
        if let Some(output) = quick::output(&found, record, tree) {
            self.blocks.push(Block::ToolResult(output));
            return true;
        }
        // An answer is claimed together with its own call.
        if let [Block::ToolResult(result)] = self.blocks.as_mut_slice()
            && result.name.is_none()
            && let Some(name) = quick::called(&found, record)
        {
            result.name = Some(name.to_owned());
            return true;
        }
        false
    }

    fn message(&mut self, record: &RolloutRecord<'_>, raw: RawRef, role: Role) {
        let payload = record.payload;
        match record.what {
            RolloutType::Item(Item::Message) => {
                let blocks = blocks::message_blocks(payload, raw, role == Role::User);
                self.blocks.extend(blocks);
                self.stop_reason = filled_of(payload, "phase").or(self.stop_reason.take());
                if role != Role::Assistant {
                    let known = ["type", "id", "role", "content", "message"];
                    self.details = filled_others(payload, &known);
                }
            }
            RolloutType::Item(Item::AgentMessage) => {
                self.blocks
                    .extend(blocks::message_blocks(payload, raw, false));
                self.author = filled_of(payload, "author");
            }
            RolloutType::Item(Item::Reasoning) => {
                self.blocks
                    .push(Block::Thinking(blocks::read_reasoning(payload)));
            }
            RolloutType::Item(Item::Call) if role == Role::Tool => self.answered(payload),
            RolloutType::Item(Item::Call) => self
                .blocks
                .push(Block::ToolCall(blocks::tool_call(payload))),
            RolloutType::Item(Item::HostedCall) => {
                self.blocks
                    .push(Block::ToolCall(blocks::hosted_call(payload)));
                self.blocks.extend(blocks::made_picture(payload, raw));
            }
            RolloutType::Item(Item::Output) if role == Role::Assistant => self.spawned(payload),
            RolloutType::Item(Item::Output) => {
                self.blocks
                    .push(Block::ToolResult(blocks::tool_output(payload, raw)));
            }
            RolloutType::TurnContext => {
                let model = filled_of(payload, "model");
                self.answered_by(model.as_deref().unwrap_or_default());
            }
            RolloutType::Usage | RolloutType::Event(Ev::Tokens) => self.tokens(record),
            RolloutType::Event(Ev::User | Ev::Agent | Ev::Thought) if !self.blocks.is_empty() => {}
            RolloutType::Event(Ev::User | Ev::Agent) => {
                self.shown
                    .extend(blocks::message_blocks(payload, raw, false));
            }
            RolloutType::Event(Ev::Thought) => {
                self.shown
                    .push(Block::Thinking(blocks::read_reasoning(payload)));
            }
            RolloutType::Event(Ev::Call) => self.call_event(payload),
            _ => {}
        }
    }

    /// The call that a result of this entry answers.
    fn answered(&mut self, call: Value<'_>) {
        let id = call_id(call).unwrap_or_default();
        for block in &mut self.blocks {
            if let Block::ToolResult(result) = block
                && result.call_id == id
                && result.name.is_none()
            {
                result.name = Some(blocks::name_of_call(call));
            }
        }
    }

    /// The sub-agent that a call of this entry started.
    fn spawned(&mut self, output: Value<'_>) {
        let id = call_id(output);
        for block in &mut self.blocks {
            if let Block::ToolCall(call) = block
                && Some(&call.id) == id.as_ref()
                && call.child_session.is_none()
            {
                call.child_session = spawned_thread(output);
            }
        }
    }

    fn call_event(&mut self, event: Value<'_>) {
        let Some(id) = call_id(event) else { return };
        for block in &mut self.blocks {
            match block {
                Block::ToolCall(call) if call.id == id => add_to_call(call, event),
                Block::ToolResult(result) if result.call_id == id => add_to_result(result, event),
                _ => {}
            }
        }
    }

    /// Tokens: of one response, or totals after it and before it.
    fn tokens(&mut self, record: &RolloutRecord<'_>) {
        let payload = record.payload;
        match record.what {
            RolloutType::Usage => {
                self.usage = payload.get("usage").and_then(meter::read_usage);
                self.response_id = filled_of(payload, "response_id");
            }
            RolloutType::Event(Ev::Tokens) => {
                if let Some(info) = payload.get("info") {
                    self.total(info);
                }
            }
            _ => {}
        }
    }

    /// The total after a response, or before it.
    fn total(&mut self, info: Value<'_>) {
        if self.response_id.is_some() {
            return;
        }
        self.usage = meter::added_usage(info, self.before);
        self.before = meter::total(info);
        if let Some(id) = info.get("model").and_then(Value::str) {
            self.answered_by(&id);
        }
    }

    /// The model that answered.
    fn answered_by(&mut self, id: &str) {
        self.model = (!id.is_empty()).then(|| ModelRef {
            provider: None,
            id: id.to_owned(),
        });
    }

    fn compaction(&mut self, record: &RolloutRecord<'_>, raw: RawRef) {
        let payload = record.payload;
        if record.what != RolloutType::Compacted {
            return;
        }
        self.compaction.summary = text_of(payload, "message").filter(|t| !t.value.is_empty());
        self.compaction.kept = match payload.get("replacement_history") {
            Some(history) if history.is_array() => {
                let (items, rest) = few_items(history);
                let items = items.map(|item| replaced(item, raw));
                let more = rest.map(|rest| Message::new(Role::System, vec![rest.block()]));
                Kept::Replacement(items.chain(more).collect())
            }
            _ => Kept::UserMessages,
        };
        self.compaction.details = filled_others(payload, &["message", "replacement_history"]);
    }

    fn finish(self, kind: Kind) -> Body {
        match kind {
            Kind::Message(role) => {
                let blocks = if self.blocks.is_empty() {
                    self.shown
                } else {
                    self.blocks
                };
                let mut message = Message::new(role, blocks);
                message.model = self.model;
                message.usage = self.usage;
                message.response_id = self.response_id;
                message.extension = self.author;
                message.stop_reason = self.stop_reason;
                message.details = self.details;
                Body::Message(message)
            }
            Kind::Compaction => Body::Compaction(self.compaction),
            Kind::Usage => Body::Usage(UsageRecord {
                usage: self.usage.unwrap_or_default(),
                model: self.model,
                purpose: None,
            }),
            _ => Body::Unknown(self.type_name),
        }
    }
}

/// One item of a past that was put in the place of another.
fn replaced(item: Value<'_>, raw: RawRef) -> Message {
    let record = RolloutRecord::of(item);
    let role = match (record.what, string_of(item, "role").as_deref()) {
        (RolloutType::Item(Item::Message), Some("user"))
        | (RolloutType::Item(Item::AgentMessage), _) => Role::User,
        (RolloutType::Item(Item::Message), Some("developer" | "system")) => Role::System,
        (RolloutType::Item(Item::Output), _) => Role::Tool,
        _ => Role::Assistant,
    };
    if record.what == RolloutType::Item(Item::Compaction) {
        let encrypted = filled_of(item, "encrypted_content");
        let thinking = Thinking {
            redacted: true,
            summary: true,
            encrypted,
            ..Thinking::default()
        };
        return Message::new(role, vec![Block::Thinking(thinking)]);
    }
    let mut found = EntryContent::default();
    found.message(&record, raw, role);
    if found.blocks.is_empty() && !matches!(record.what, RolloutType::Item(_)) {
        found.blocks.push(Block::Unknown {
            type_name: record.name(),
            raw: Json::new(item.raw()),
        });
    }
    Message::new(role, found.blocks)
}

/// What an entry says that comes from one record.
fn other(kind: Kind, record: &RolloutRecord<'_>) -> Option<Body> {
    let payload = record.payload;
    match kind {
        Kind::ModelChange => Some(Body::ModelChange(ModelRef {
            provider: None,
            id: string_of(payload, "model").unwrap_or_default(),
        })),
        Kind::ThinkingChange => Some(Body::ThinkingChange(
            string_of(payload, "effort").unwrap_or_default(),
        )),
        Kind::Title => Some(Body::Title(TitleChange {
            text: string_of(payload, "thread_name")
                .map(|n| n.trim().to_owned())
                .filter(|n| !n.is_empty()),
            source: TitleSource::User,
        })),
        Kind::Event => Some(Body::Event(event(record))),
        Kind::Usage => None,
        _ => Some(Body::Unknown(Some(record.name()))),
    }
}

/// Something that happened.
fn event(record: &RolloutRecord<'_>) -> Event {
    let payload = record.payload;
    let name = string_of(payload, "type").unwrap_or_else(|| record.name());
    let error = payload.get("error").filter(|e| !e.is_null());
    let text = error
        .and_then(|e| crate::fields::text_from(e).or_else(|| text_of(e, "message")))
        .or_else(|| text_of(payload, "message"))
        .or_else(|| text_of(payload, "text"))
        .or_else(|| text_of(payload, "user_facing_hint"))
        .or_else(|| goal(payload))
        .or_else(|| review(payload))
        .or_else(|| turns(payload))
        .or_else(|| text_of(payload, "reason"));
    let level = match name.as_str() {
        "error" | "stream_error" => Level::Error,
        _ if error.is_some() => Level::Error,
        "warning" | "guardian_warning" | "turn_aborted" | "deprecation_notice" => Level::Warning,
        _ => Level::Info,
    };
    Event {
        details: filled_others(payload, &["type"]),
        name,
        text,
        level,
    }
}

fn goal(payload: Value<'_>) -> Option<Text> {
    text_of(payload.get("goal")?, "objective")
}

fn review(payload: Value<'_>) -> Option<Text> {
    text_of(payload.get("review_output")?, "overall_explanation")
}

fn turns(payload: Value<'_>) -> Option<Text> {
    let turns = payload.get("num_turns")?.u64()?;
    Some(Text::new(match turns {
        1 => "the last turn was taken back".to_owned(),
        n => format!("the last {n} turns were taken back"),
    }))
}
