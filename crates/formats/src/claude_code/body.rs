//! What an entry says, decoded from its records.

use std::borrow::Cow;
use std::collections::HashMap;

use rethread_json::{Tree, Value};
use rethread_model::{
    Block, Body, ContextEdit, EntryIx, Event, Kind, Level, Message, Piece, Place, RawRef, Role,
    Session, TitleChange, TitleSource, Visibility,
};

use super::blocks::{Around, add_structured, read_blocks};
use super::compaction::read_compaction;
use super::kinds::{SYNTHETIC, is_command};
use super::record::TranscriptRecord;
use super::usage::{fuller_usage, read_usage};
use super::{ClaudeCode, own};
use crate::few::{MOST, Rest, few_items, more_records};
use crate::fields::{other_members, string_of, text_from, text_of};
use crate::kit::{CHANGED, giant_block, unreadable_body};
use crate::{BodyReader, Native, OwnWords, RecordKind};

/// The fields around what a record says, which every record has.
const ENVELOPE: [&str; 15] = [
    "parentUuid",
    "logicalParentUuid",
    "isSidechain",
    "type",
    "subtype",
    "uuid",
    "timestamp",
    "sessionId",
    "session_id",
    "version",
    "cwd",
    "gitBranch",
    "userType",
    "entrypoint",
    "isMeta",
];

impl BodyReader for ClaudeCode {
    /// What an entry says.
    fn body(&self, native: &Native, session: &Session, entry: EntryIx) -> Body {
        let mut records = Vec::new();
        for raw in session.origin(entry) {
            if native.record_kind(*raw) == Some(RecordKind::Giant) {
                records.push((*raw, Vec::new(), Tree::default()));
                continue;
            }
            let bytes = match native.read(*raw) {
                Ok(bytes) => bytes,
                Err(e) => return unreadable_body(&e.to_string()),
            };
            match Tree::parse(&bytes) {
                Ok(tree) => records.push((*raw, bytes, tree)),
                Err(_) => return unreadable_body(CHANGED),
            }
        }
        let path = native.parts.first().map(|p| p.path.clone());
        let path = path.unwrap_or_default();
        let open = BodyContext {
            native,
            session,
            path: &path,
            asides: session.entry(entry).visibility == Visibility::Visible,
        };
        let values: Vec<EntryRecord<'_>> = records
            .iter()
            .map(|(raw, bytes, tree)| EntryRecord {
                raw: *raw,
                value: tree.root(bytes),
            })
            .collect();
        let Some(EntryRecord { raw, value: first }) = values.first().copied() else {
            return Body::Unknown(None);
        };
        match session.entry(entry).kind {
            Kind::Message(Role::Assistant) => Body::Message(open.response(&values)),
            Kind::Message(Role::System) => Body::Message(attachment(first)),
            Kind::Message(role) => Body::Message(open.message(raw, first, role)),
            Kind::Compaction => Body::Compaction(read_compaction(&values)),
            Kind::Title => title(first),
            Kind::ContextEdit => Body::ContextEdit(edit(first, nth(session, entry))),
            Kind::Event => Body::Event(event(first)),
            _ => Body::Unknown(string_of(first, "type")),
        }
    }

    /// The records that a response came in; of a compaction, the one with the summary. Of records with
    /// one id the last counts.
    fn pieces(&self, native: &Native, session: &Session, entry: EntryIx) -> Vec<Piece> {
        let origin = session.origin(entry);
        let kind = session.entry(entry).kind;
        let is_said = matches!(kind, Kind::Message(Role::Assistant) | Kind::Compaction);
        if origin.len() < 2 || !is_said {
            return Vec::new();
        }
        let path = native.parts.first().map(|p| p.path.clone());
        let path = path.unwrap_or_default();
        let open = BodyContext {
            native,
            session,
            path: &path,
            asides: false,
        };
        let mut pieces: Vec<Piece> = Vec::new();
        for (record, raw) in origin.iter().enumerate() {
            let Ok(bytes) = native.read(*raw) else {
                return Vec::new();
            };
            let Ok(tree) = Tree::parse(&bytes) else {
                return Vec::new();
            };
            let value = tree.root(&bytes);
            let Some(id) = own_id(value) else {
                return Vec::new();
            };
            let said = value.get("message");
            if kind == Kind::Compaction && said.is_none() {
                continue;
            }
            let of_said = |key| said.and_then(|said| string_of(said, key));
            pieces.retain(|piece| piece.id != id);
            pieces.push(Piece {
                id: id.into_owned(),
                record,
                time: string_of(value, "timestamp").and_then(|t| t.parse().ok()),
                blocks: read_blocks(TranscriptRecord::of(value).content(), &open.around(*raw))
                    .len(),
                place: place(value),
                stop_reason: of_said("stop_reason"),
                stop_sequence: of_said("stop_sequence"),
            });
        }
        pieces
    }

    fn own_words(&self) -> Option<OwnWords> {
        Some(OwnWords::new(own::native_messages))
    }
}

/// A record of an entry, and where it is.
#[derive(Clone, Copy)]
pub(super) struct EntryRecord<'a> {
    pub(super) raw: RawRef,
    pub(super) value: Value<'a>,
}

struct BodyContext<'a> {
    native: &'a Native,
    session: &'a Session,
    path: &'a std::path::Path,
    asides: bool,
}

impl BodyContext<'_> {
    fn around(&self, raw: RawRef) -> Around<'_> {
        Around {
            raw,
            path: self.path,
            links: &self.session.head.links,
            asides: self.asides,
        }
    }

    /// A record too long to be held, as a block.
    fn giant(&self, raw: RawRef) -> Option<Block> {
        let is_giant = self.native.record_kind(raw) == Some(RecordKind::Giant);
        is_giant.then(|| giant_block(self.native, raw, "record"))
    }

    /// What a person or a tool said.
    fn message(&self, raw: RawRef, value: Value<'_>, role: Role) -> Message {
        if let Some(giant) = self.giant(raw) {
            return Message::new(role, vec![giant]);
        }
        let record = TranscriptRecord::of(value);
        let around = self.around(raw);
        let queued = || record.attachment?.get("prompt");
        // A record of the system says it by itself.
        let noted = || value.get("content").filter(|_| is_command(&record));
        let content = record.content().or_else(queued).or_else(noted);
        let mut blocks = read_blocks(content, &around);
        add_structured(&mut blocks, &record, &around);
        let mut message = Message::new(role, blocks);
        message.place = place(value);
        message
    }

    /// A response, from all of its records. A record that was written twice counts once.
    fn response(&self, values: &[EntryRecord<'_>]) -> Message {
        let mut message = Message::new(Role::Assistant, Vec::new());
        let mut used = None;
        // Of records with one id the last counts.
        let places = values.iter().enumerate();
        let last: HashMap<_, _> = places
            .filter_map(|(at, record)| Some((own_id(record.value)?, at)))
            .collect();
        for (at, EntryRecord { raw, value }) in values.iter().enumerate() {
            if message.blocks.len() > MOST {
                message.blocks.push(more_records(values.len() - at));
                break;
            }
            if let Some(giant) = self.giant(*raw) {
                message.blocks.push(giant);
                continue;
            }
            if own_id(*value).is_some_and(|id| last.get(&id) != Some(&at)) {
                continue;
            }
            let record = TranscriptRecord::of(*value);
            let around = Around {
                asides: false,
                ..self.around(*raw)
            };
            message
                .blocks
                .extend(read_blocks(record.content(), &around));
            used = match (used, read_usage(&record)) {
                (Some(one), Some(other)) => Some(fuller_usage(one, other)),
                (one, other) => one.or(other),
            };
            response_fields(&mut message, *value, &record);
        }
        message.usage = used;
        message
    }
}

fn own_id(record: Value<'_>) -> Option<Cow<'_, str>> {
    record.get("uuid")?.str()
}

fn response_fields(message: &mut Message, value: Value<'_>, record: &TranscriptRecord<'_>) {
    let said = record.message.unwrap_or(value);
    let set = |slot: &mut Option<String>, key| *slot = string_of(said, key).or(slot.take());
    set(&mut message.stop_reason, "stop_reason");
    set(&mut message.stop_sequence, "stop_sequence");
    set(&mut message.response_id, "id");
    message.request_id = string_of(value, "requestId").or(message.request_id.take());
    let model = string_of(said, "model").filter(|m| m != SYNTHETIC);
    let model = model.map(|id| rethread_model::ModelRef { provider: None, id });
    message.model = model.or(message.model.take());
    if record.api_error {
        let error = string_of(value, "error").or_else(|| string_of(value, "apiErrorType"));
        message.error = Some(error.unwrap_or_else(|| "the API answered with an error".to_owned()));
    }
    if message.place.is_none() {
        message.place = place(value);
    }
}

fn place(value: Value<'_>) -> Option<Box<Place>> {
    let place = Place {
        cwd: string_of(value, "cwd"),
        branch: string_of(value, "gitBranch").filter(|b| !b.is_empty()),
        agent_version: string_of(value, "version"),
        user_type: string_of(value, "userType"),
    };
    (place != Place::default()).then(|| Box::new(place))
}

/// What was shown to the model beside the conversation.
fn attachment(value: Value<'_>) -> Message {
    let mut said = Vec::new();
    let (rendered, more) = value.get("rendered").map(few_items).unzip();
    let rendered = rendered.into_iter().flatten();
    for content in rendered.filter_map(|r| r.get("content")) {
        let lone = text_from(content);
        let (items, rest) = few_items(content);
        let items = items.filter_map(|b| text_of(b, "text"));
        said.extend(lone.into_iter().chain(items).map(Block::Text));
        said.extend(rest.map(Rest::block));
    }
    said.extend(more.flatten().map(Rest::block));
    let mut message = Message::new(Role::System, said);
    message.extension = value
        .at(&["attachment", "type"])
        .and_then(|t| Some(t.str()?.into_owned()));
    message.place = place(value);
    message
}

/// What happened: a record of the system, or an attachment that was not shown as text.
fn event(value: Value<'_>) -> Event {
    if let Some(attached) = value.get("attachment") {
        let name = string_of(attached, "type").unwrap_or_default();
        let is_error = name.ends_with("error");
        return Event {
            name,
            text: text_of(attached, "content").filter(|t| !t.value.trim().is_empty()),
            level: if is_error {
                Level::Warning
            } else {
                Level::Info
            },
            details: other_members(attached, &["type", "content"]),
        };
    }
    let name = string_of(value, "subtype").or_else(|| string_of(value, "type"));
    let level = match string_of(value, "level").as_deref() {
        Some("error") => Level::Error,
        Some("warning") => Level::Warning,
        _ => Level::Info,
    };
    let known: Vec<&str> = ENVELOPE.into_iter().chain(["content", "level"]).collect();
    Event {
        name: name.unwrap_or_default(),
        text: text_of(value, "content"),
        level,
        details: other_members(value, &known),
    }
}

fn title(value: Value<'_>) -> Body {
    let by_person = string_of(value, "customTitle");
    let source = match by_person {
        Some(_) => TitleSource::User,
        None => TitleSource::Model,
    };
    let text = by_person.or_else(|| string_of(value, "aiTitle"));
    Body::Title(TitleChange {
        text: text.map(|t| t.trim().to_owned()).filter(|t| !t.is_empty()),
        source,
    })
}

/// Which of the entries of one record this is.
fn nth(session: &Session, entry: EntryIx) -> usize {
    let before = session.entries().get(..entry.get()).unwrap_or_default();
    let own = session.origin(entry);
    let same = |back: &usize| EntryIx::new(*back).is_some_and(|ix| session.origin(ix) == own);
    (0..before.len()).rev().take_while(same).count()
}

/// A result of a tool that the model sees otherwise from then on. The record names only the call.
fn edit(value: Value<'_>, nth: usize) -> ContextEdit {
    let mut replacements = value.get("replacements").into_iter().flat_map(Value::items);
    let one = replacements.nth(nth);
    let call = one.and_then(|r| string_of(r, "toolUseId"));
    ContextEdit {
        target: String::new(),
        tool_call: call,
        replacement: one
            .and_then(|r| text_of(r, "replacement"))
            .map(|text| vec![Block::Text(text)]),
    }
}
