//! What an entry says, decoded from its record.

use rethread_json::{Key, Object, Passed, Skim, Strayed};
use rethread_model::{
    Blob, Block, Body, Compaction, EntryIx, Event, Json, Kept, Kind, Level, Message, ModelRef,
    RawRef, Role, Session, Text, Thinking, ToolCall, Usage, Visibility,
};

use super::calls::{ListedCall, Outputs};
use super::content::part_block;
use super::fields::read_usage;
use super::head::{MessageContent, part_text};
use super::message::is_context;
use super::{Gemini, own};
use crate::few::{Rest, few_next};
use crate::kit::{CHANGED, giant_body, unreadable_body};
use crate::passed::{passed_string, passed_text};
use crate::{BodyReader, Native, OwnWords, PartKind, RecordKind};

impl BodyReader for Gemini {
    /// What an entry says.
    fn body(&self, native: &Native, session: &Session, entry: EntryIx) -> Body {
        // The version that speaks stands first.
        let Some(raw) = session.origin(entry).first().copied() else {
            return Body::Unknown(None);
        };
        let kind = session.entry(entry).kind;
        if native.record_kind(raw) == Some(RecordKind::Giant) {
            return giant_body(native, kind, raw, "message");
        }
        let mut buffer = Vec::new();
        let bytes = match native.view(raw, &mut buffer) {
            Ok(bytes) => bytes,
            Err(e) => return unreadable_body(&e.to_string()),
        };
        let Some(fields) = RecordFields::of(bytes, is_checked(native, raw)) else {
            return unreadable_body(CHANGED);
        };
        let mut body = fields.body(kind, raw, &|name| saved(native, name));
        if let Body::Message(message) = &mut body
            && message.role == Role::Assistant
            && message.usage.is_none()
        {
            remember(native, session.origin(entry), message);
        }
        body
    }

    fn own_words(&self) -> Option<OwnWords> {
        Some(OwnWords::new(own::native_messages))
    }
}

/// Adds what earlier versions of a message say of its cost and its model, and the last one does not.
fn remember(native: &Native, versions: &[RawRef], message: &mut Message) {
    // The version that speaks is first, then come the others, the oldest first.
    for raw in versions.iter().skip(1).rev() {
        if native.part_kind(*raw) == Some(PartKind::Opaque)
            || native.record_kind(*raw) == Some(RecordKind::Giant)
        {
            continue;
        }
        let mut buffer = Vec::new();
        let Ok(bytes) = native.view(*raw, &mut buffer) else {
            continue;
        };
        let Some(fields) = RecordFields::of(bytes, is_checked(native, *raw)) else {
            continue;
        };
        if fields.usage.is_some() {
            message.usage = fields.usage;
            message.model = message.model.take().or_else(|| fields.model());
            return;
        }
    }
}

/// What the client put before what the person said is no part of that.
fn aside_if_context(block: &mut Block) {
    if let Block::Text(text) = block
        && is_context(&text.value)
    {
        *block = Block::Aside {
            text: std::mem::take(text),
            visibility: Visibility::Injected,
        };
    }
}

/// Whether the bytes of a record are those that were checked when the session was read: they were
/// held in memory since.
fn is_checked(native: &Native, raw: RawRef) -> bool {
    let part = native.parts.get(raw.part as usize);
    part.is_some_and(|part| part.held().is_some())
}

/// The file in which an answer was saved.
fn saved(native: &Native, name: &str) -> Option<Blob> {
    let fits = |part: &crate::Part| {
        part.kind == PartKind::Opaque && part.path.file_stem().is_some_and(|stem| stem == name)
    };
    let part = native.parts.iter().find(|part| fits(part))?;
    Some(Blob::File(part.path.clone()))
}

/// The fields of a record.
#[derive(Default)]
struct RecordFields<'a> {
    type_word: Option<Passed<'a>>,
    role: Option<Passed<'a>>,
    content: MessageContent<'a>,
    calls: Vec<ListedCall<'a>>,
    /// What stands behind the calls that are told apart, and behind the thoughts.
    more_calls: Option<Rest<'a>>,
    more_thoughts: Option<Rest<'a>>,
    thoughts: Vec<Thought<'a>>,
    usage: Option<Usage>,
    model: Option<Passed<'a>>,
    first_key: Option<Key<'a>>,
    /// Those that have no place in the model.
    others: Object,
}

impl<'a> RecordFields<'a> {
    /// The fields of the object that some bytes begin with: what separates it from the next item of
    /// a list may follow.
    fn of(bytes: &'a [u8], is_checked: bool) -> Option<Self> {
        let mut skim = if is_checked {
            Skim::trusting(bytes)
        } else {
            Skim::checking(bytes)
        };
        let mut fields = Self::default();
        if !skim.enter_object() {
            skim.pass().ok()?;
            return Some(fields);
        }
        fields.fill(&mut skim).ok()?;
        Some(fields)
    }

    fn fill(&mut self, skim: &mut Skim<'a>) -> Result<(), Strayed> {
        while let Some(key) = skim.next_key()? {
            self.first_key = self.first_key.or(Some(key));
            match &*key.bytes() {
                b"type" => self.type_word = Some(skim.pass()?),
                b"role" => self.role = Some(skim.pass()?),
                b"content" => self.content.said = Some(skim.pass()?),
                b"parts" => self.content.parts = Some(skim.pass()?),
                b"message" => self.content.message = Some(skim.pass()?),
                b"toolCalls" => (self.calls, self.more_calls) = ListedCall::all(skim)?,
                b"thoughts" => (self.thoughts, self.more_thoughts) = thoughts(skim)?,
                b"tokens" => self.usage = read_usage(skim)?,
                b"model" => self.model = Some(skim.pass()?),
                b"id" | b"timestamp" | b"messageId" | b"sessionId" | b"displayContent" | b"ts" => {
                    skim.pass()?;
                }
                _ => {
                    let others = std::mem::take(&mut self.others);
                    self.others = others.raw(&key.text(), skim.pass()?.raw());
                }
            }
        }
        Ok(())
    }

    fn word(&self) -> Option<String> {
        passed_string(self.type_word).or_else(|| passed_string(self.role))
    }

    fn model(&self) -> Option<ModelRef> {
        passed_string(self.model).map(|id| ModelRef { provider: None, id })
    }

    fn details(self) -> Option<Json> {
        (!self.others.is_empty()).then(|| Json::new(&self.others.finish()))
    }

    fn body(self, kind: Kind, raw: RawRef, outputs: Outputs<'_>) -> Body {
        match kind {
            Kind::Message(role) => Body::Message(self.message(role, raw, outputs)),
            Kind::Event => Body::Event(self.event()),
            Kind::Compaction => Body::Compaction(self.compaction(raw)),
            _ => {
                let first = || Some(self.first_key?.text().into_owned());
                Body::Unknown(self.word().or_else(first))
            }
        }
    }

    /// A summary in the place of the past. What is kept of that stands behind it.
    fn compaction(self, raw: RawRef) -> Compaction {
        let texts = self
            .content
            .parts()
            .filter_map(|part| match part_block(part, raw) {
                Block::Text(text) => Some(text.value),
                _ => None,
            });
        Compaction {
            summary: Some(texts.collect::<Vec<_>>().join("\n").as_str().into()),
            kept: Kept::Nothing,
            details: self.details(),
            ..Compaction::default()
        }
    }

    fn message(mut self, role: Role, raw: RawRef, outputs: Outputs<'_>) -> Message {
        let mut blocks = Vec::new();
        if role == Role::Assistant {
            self.said_by_the_model(raw, outputs, &mut blocks);
        } else {
            blocks.extend(self.content.parts().map(|part| part_block(part, raw)));
            blocks.extend(self.content.more_parts().map(Rest::block));
            if blocks.len() > 1 {
                blocks.iter_mut().take(1).for_each(aside_if_context);
            }
        }
        let mut message = Message::new(role, blocks);
        message.model = self.model();
        message.usage = self.usage;
        message.details = self.details();
        message
    }

    /// Thoughts, text and calls. Where the content itself holds thoughts or calls, it says in which
    /// order they came; else thoughts come first and calls last.
    fn said_by_the_model(&mut self, raw: RawRef, outputs: Outputs<'_>, out: &mut Vec<Block>) {
        // The client writes an empty text where there is none.
        let is_empty = |part: &Passed<'_>| {
            part_text(*part).is_some_and(|text| text.content().is_some_and(<[u8]>::is_empty))
        };
        let parts = self.content.parts().filter(|part| !is_empty(part));
        let content: Vec<Block> = parts.map(|part| part_block(part, raw)).collect();
        let has_thoughts = content.iter().any(|b| matches!(b, Block::Thinking(_)));
        if !has_thoughts {
            let thoughts = self.thoughts.iter();
            out.extend(thoughts.map(|thought| Block::Thinking(thinking(*thought))));
            out.extend(self.more_thoughts.map(Rest::block));
        }
        let calls = std::mem::take(&mut self.calls).into_iter();
        let mut calls: Vec<Option<ListedCall<'_>>> = calls.map(Some).collect();
        for block in content {
            let Block::ToolCall(call) = &block else {
                out.push(block);
                continue;
            };
            let is_this = |known: &Option<ListedCall<'_>>| {
                let id = known.as_ref().and_then(|known| known.id);
                id.is_some_and(|id| id.is_str(&call.id))
            };
            let kept = calls.iter_mut().find(|known| is_this(known));
            match kept.and_then(Option::take) {
                Some(kept) => out.extend(joined(call, kept.blocks(raw, outputs))),
                None => out.push(block),
            }
        }
        for call in calls.into_iter().flatten() {
            out.extend(call.blocks(raw, outputs));
        }
        out.extend(self.content.more_parts().map(Rest::block));
        out.extend(self.more_calls.map(Rest::block));
    }

    fn event(self) -> Event {
        let name = self.word().unwrap_or_default();
        let texts: Vec<String> = self
            .content
            .parts()
            .filter_map(|part| passed_string(part_text(part)))
            .collect();
        Event {
            level: match name.as_str() {
                "warning" => Level::Warning,
                "error" => Level::Error,
                _ => Level::Info,
            },
            name,
            text: (!texts.is_empty()).then(|| Text::new(texts.join("\n"))),
            details: self.details(),
        }
    }
}

/// A call in the content with what the client keeps beside it; the vendor's signature is only in
/// the content.
fn joined(call: &ToolCall, mut blocks: Vec<Block>) -> Vec<Block> {
    if let Some(Block::ToolCall(kept)) = blocks.first_mut() {
        kept.signature.clone_from(&call.signature);
        if kept.input.is_none() {
            kept.input.clone_from(&call.input);
        }
    }
    blocks
}

/// A thought: its subject, then what it says.
type Thought<'a> = [Option<Passed<'a>>; 2];

/// Thoughts, and what stands behind those that are told apart.
type Thoughts<'a> = (Vec<Thought<'a>>, Option<Rest<'a>>);

fn thoughts<'a>(skim: &mut Skim<'a>) -> Result<Thoughts<'a>, Strayed> {
    let mut thoughts = Vec::new();
    if !skim.enter_array() {
        skim.pass()?;
        return Ok((thoughts, None));
    }
    let rest = few_next(skim, |skim| {
        let mut thought = [None; 2];
        if skim.enter_object() {
            while let Some(key) = skim.next_key()? {
                let value = skim.pass()?;
                match &*key.bytes() {
                    b"subject" => thought[0] = Some(value),
                    b"description" => thought[1] = Some(value),
                    _ => {}
                }
            }
        } else {
            skim.pass()?;
        }
        thoughts.push(thought);
        Ok(1)
    })?;
    Ok((thoughts, rest))
}

fn thinking(thought: Thought<'_>) -> Thinking {
    let texts: Vec<Text> = thought
        .into_iter()
        .filter_map(|said| said.and_then(passed_text))
        .filter(|t| !t.value.is_empty())
        .collect();
    Thinking {
        text: Text::joined(&texts, "\n"),
        summary: true,
        ..Thinking::default()
    }
}
