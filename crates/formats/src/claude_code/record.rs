//! The fields of a record that say what it is, found in one pass.

use std::borrow::Cow;

use rethread_json::Value;
use rethread_model::Moment;

use crate::kit::{HeadField, HeadOwner, HeadValue, head_fields};

/// What a record says of itself. Each field is what the record holds, of whatever kind.
#[derive(Clone, Copy, Default)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a field that the client writes"
)]
pub(super) struct TranscriptRecord<'a> {
    pub(super) type_: Option<Value<'a>>,
    pub(super) subtype: Option<Value<'a>>,
    pub(super) uuid: Option<Value<'a>>,
    pub(super) parent: Option<Value<'a>>,
    pub(super) logical_parent: Option<Value<'a>>,
    pub(super) session: Option<Value<'a>>,
    pub(super) time: Option<Value<'a>>,
    pub(super) message: Option<Value<'a>>,
    pub(super) attachment: Option<Value<'a>>,
    pub(super) rendered: Option<Value<'a>>,
    pub(super) data: Option<Value<'a>>,
    pub(super) cwd: Option<Value<'a>>,
    pub(super) version: Option<Value<'a>>,
    pub(super) branch: Option<Value<'a>>,
    pub(super) agent: Option<Value<'a>>,
    pub(super) request: Option<Value<'a>>,
    pub(super) result: Option<Value<'a>>,
    pub(super) leaf: Option<Value<'a>>,
    pub(super) text: Option<Value<'a>>,
    pub(super) entrypoint: Option<Value<'a>>,
    pub(super) parent_call: Option<Value<'a>>,
    pub(super) cost: Option<Value<'a>>,
    pub(super) side: bool,
    pub(super) meta: bool,
    pub(super) compact_summary: bool,
    pub(super) api_error: bool,
    pub(super) explicit: bool,
    pub(super) team: bool,
}

impl<'a> TranscriptRecord<'a> {
    /// Looks at the members of a record once.
    pub(super) fn of(value: Value<'a>) -> Self {
        let mut record = Self::default();
        for (key, member) in value.members() {
            let is_true = || member.bool() == Some(true);
            let slot = match key.content().unwrap_or_default() {
                b"type" => &mut record.type_,
                b"subtype" => &mut record.subtype,
                b"uuid" => &mut record.uuid,
                b"parentUuid" => &mut record.parent,
                b"logicalParentUuid" => &mut record.logical_parent,
                b"sessionId" => &mut record.session,
                b"timestamp" => &mut record.time,
                b"message" => &mut record.message,
                b"attachment" => &mut record.attachment,
                b"rendered" => &mut record.rendered,
                b"data" => &mut record.data,
                b"cwd" => &mut record.cwd,
                b"version" => &mut record.version,
                b"gitBranch" => &mut record.branch,
                b"agentId" => &mut record.agent,
                b"requestId" => &mut record.request,
                b"toolUseResult" => &mut record.result,
                b"leafUuid" => &mut record.leaf,
                b"customTitle"
                | b"aiTitle"
                | b"lastPrompt"
                | b"summary"
                | b"relocatedCwd"
                | b"continuedInSessionId" => &mut record.text,
                b"entrypoint" => &mut record.entrypoint,
                b"parentToolUseID" => &mut record.parent_call,
                b"costUSD" => &mut record.cost,
                b"isSidechain" => {
                    record.side = is_true();
                    continue;
                }
                b"isMeta" => {
                    record.meta = is_true();
                    continue;
                }
                b"isCompactSummary" => {
                    record.compact_summary = is_true();
                    continue;
                }
                b"isApiErrorMessage" => {
                    record.api_error = is_true();
                    continue;
                }
                b"explicit" => {
                    record.explicit = is_true();
                    continue;
                }
                b"teamName" | b"sessionKind" => {
                    record.team |= member.str().is_some();
                    continue;
                }
                _ => continue,
            };
            *slot = Some(member);
        }
        record
    }

    /// The type, if it is text.
    pub(super) fn type_name(&self) -> Option<Cow<'a, str>> {
        self.type_?.str()
    }

    /// What it says of the record before it.
    pub(super) fn parent(&self) -> RecordParent {
        match self.parent {
            None => RecordParent::Unsaid,
            Some(id) => id
                .str()
                .map_or(RecordParent::Root, |id| RecordParent::Id(id.into())),
        }
    }

    /// When it was written.
    pub(super) fn moment(&self) -> Option<Moment> {
        self.time?.str()?.parse().ok()
    }

    /// The type of what a record is about: its subtype, or that of its attachment.
    pub(super) fn inner_type(&self) -> Option<Cow<'a, str>> {
        self.subtype
            .or_else(|| self.attachment?.get("type"))
            .or_else(|| self.data?.get("type"))?
            .str()
    }

    /// The blocks or the text of its message.
    pub(super) fn content(&self) -> Option<Value<'a>> {
        self.message?.get("content")
    }
}

/// What a record says of the one before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum RecordParent {
    /// Nothing: it follows the record before it.
    #[default]
    Unsaid,
    /// There is none.
    Root,
    /// The one with this id.
    Id(String),
}

/// What can be known of a record from the beginning of its line, when the line is too long to be
/// held in memory.
#[derive(Clone, Debug, Default)]
pub(super) struct GiantHead {
    pub(super) type_name: Option<String>,
    pub(super) uuid: Option<String>,
    pub(super) parent: RecordParent,
    pub(super) role: Option<String>,
    pub(super) message_id: Option<String>,
    pub(super) time: Option<Moment>,
    pub(super) side: bool,
}

impl GiantHead {
    /// Reads the beginning of a line.
    pub(super) fn of(start: &[u8]) -> Self {
        let mut head = Self::default();
        // That the bytes end before the line does is why only they are looked at.
        let _ = head_fields(start, "message", usize::MAX, |field| head.set(&field));
        head
    }

    fn set(&mut self, field: &HeadField<'_>) {
        match (field.owner, field.value) {
            (HeadOwner::Record, HeadValue::Text(text)) => match field.key {
                "type" => self.type_name = Some(text.to_owned()),
                "uuid" => self.uuid = Some(text.to_owned()),
                "parentUuid" => self.parent = RecordParent::Id(text.to_owned()),
                "timestamp" => self.time = text.parse().ok(),
                _ => {}
            },
            (HeadOwner::Record, HeadValue::Bool(truth)) => {
                self.side |= truth && field.key == "isSidechain";
            }
            (HeadOwner::Record, HeadValue::Other) if field.key == "parentUuid" => {
                self.parent = RecordParent::Root;
            }
            (HeadOwner::Inner, HeadValue::Text(text)) => match field.key {
                "role" => self.role = Some(text.to_owned()),
                "id" => self.message_id = Some(text.to_owned()),
                _ => {}
            },
            _ => {}
        }
    }
}
