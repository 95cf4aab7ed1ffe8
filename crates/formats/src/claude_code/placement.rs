//! Giving a record its place in the thread while a transcript is read.

use std::path::Path;

use rethread_json::Value;
use rethread_model::{Kind, Role, SessionBuilder, Visibility};

use super::facts::TranscriptFacts;
use super::kinds::RecordUse;
use super::nodes::{NewNode, Nodes};
use super::reader::TRANSCRIPT;
use super::record::{GiantHead, TranscriptRecord};
use super::responses::ResponseKey;
use crate::RecordKind;
use crate::kit::{LogLine, LogRecords};

/// So many replaced results of one record are entries of their own.
const EDITS: usize = 1000;

/// The thread of a transcript that is read as a whole.
pub(super) struct TranscriptThread<'p> {
    pub(super) records: LogRecords<'p>,
    pub(super) nodes: Nodes,
    /// The session, which holds nothing yet but what identifies the responses.
    pub(super) builder: SessionBuilder,
    pub(super) is_agent: bool,
}

/// An object of the transcript, and what it is.
#[derive(Clone, Copy)]
pub(super) struct ThreadRecord<'a> {
    pub(super) value: Value<'a>,
    pub(super) record: &'a TranscriptRecord<'a>,
    pub(super) part: RecordUse,
    /// Whether it is a title that says the same as the one before it.
    pub(super) repeats_title: bool,
}

impl<'p> TranscriptThread<'p> {
    /// The thread of a transcript of which nothing was read.
    pub(super) fn new(path: &'p Path, is_agent: bool) -> Self {
        Self {
            records: LogRecords::new(path, TRANSCRIPT),
            nodes: Nodes::default(),
            builder: SessionBuilder::default(),
            is_agent,
        }
    }

    /// Takes an object of the transcript. `facts` knows it already.
    pub(super) fn add_record(
        &mut self,
        line: &LogLine<'_>,
        read: ThreadRecord<'_>,
        facts: &mut TranscriptFacts,
    ) {
        let ThreadRecord {
            value,
            record,
            part,
            repeats_title,
        } = read;
        let uuid = record.uuid.and_then(Value::str);
        let edits = match part {
            RecordUse::Edits => value
                .get("replacements")
                .map_or(0, |r| r.items().take(EDITS).count()),
            _ => 0,
        };
        let beside = match part {
            RecordUse::Title(_) if !repeats_title => Some(Kind::Title),
            RecordUse::Edits if edits > 0 => Some(Kind::ContextEdit),
            RecordUse::Unknown if uuid.is_none() => Some(Kind::Unknown),
            _ => None,
        };
        let (kind, visibility) = match part {
            RecordUse::Entry(kind, visibility) => (kind, visibility),
            RecordUse::Response(visibility) => (Kind::Message(Role::Assistant), visibility),
            RecordUse::Boundary | RecordUse::Summary => (Kind::Compaction, Visibility::Visible),
            RecordUse::Bridge => {
                if let Some(id) = &uuid {
                    self.nodes.bridge(id, &record.parent(), record.side);
                }
                self.records.add_unclaimed(line.at, RecordKind::Value);
                return;
            }
            _ => match beside {
                Some(kind) => (kind, Visibility::Visible),
                None if part == RecordUse::Unknown => (Kind::Unknown, Visibility::Visible),
                None => {
                    if record.type_.is_some_and(|t| t.is_str("last-prompt")) {
                        let nodes = self.nodes.list.len();
                        facts.last_prompt.nodes = u32::try_from(nodes).unwrap_or(u32::MAX);
                    }
                    self.records.add_unclaimed(line.at, RecordKind::Value);
                    return;
                }
            },
        };
        let Some(raw) = self.records.add(line.at, RecordKind::Value) else {
            return;
        };
        let new = NewNode {
            id: uuid.as_deref(),
            parent: &record.parent(),
            record: raw.record,
            time: record.moment(),
            kind,
            visibility,
            session: session_of(facts, record),
            side: record.side && !self.is_agent,
            beside: beside.is_some(),
        };
        for _ in 0..edits.max(1) {
            let Some((node, was_there)) = self.nodes.add(&new, line.value_pos()) else {
                self.records.unclaimed.push(raw);
                return;
            };
            if was_there && beside.is_none() {
                let message = "its id was there before; both are kept";
                self.records.note_remark(line.value_pos(), message);
            }
            self.join(node, read, was_there);
        }
    }

    /// Joins the parts of one response, and the two records of a compaction.
    fn join(&mut self, node: u32, read: ThreadRecord<'_>, again: bool) {
        let ThreadRecord { value, record, .. } = read;
        let logical = record.logical_parent.and_then(Value::str);
        if let Some(logical) = logical {
            self.nodes.continues(node, &logical);
        }
        match read.part {
            RecordUse::Response(_) => {
                let side = record.side && !self.is_agent;
                if let Some(response) = ResponseKey::of(record, side) {
                    let keys = &mut self.builder;
                    self.nodes.join_response(node, &response, again, keys);
                }
            }
            RecordUse::Boundary => {
                let tail = ["compactMetadata", "preservedSegment", "tailUuid"];
                if let Some(tail) = value.at(&tail).and_then(Value::str) {
                    self.nodes.keeps_up_to(node, &tail);
                }
            }
            RecordUse::Summary => self.nodes.join_compaction(node),
            _ => {}
        }
    }

    /// Takes a record of which only the beginning is known; none if it is no record.
    pub(super) fn add_giant(
        &mut self,
        line: &LogLine<'_>,
        head: GiantHead,
        part: Option<RecordUse>,
    ) {
        let len = line.span.len;
        let Some(part) = part else {
            let message = format!("a line of {len} bytes that is no record; skipped");
            self.records.note_damage(line.span, message);
            self.records.add_unclaimed(line.at, RecordKind::Giant);
            return;
        };
        let (kind, visibility) = match part {
            RecordUse::Entry(kind, visibility) => (kind, visibility),
            RecordUse::Response(visibility) => (Kind::Message(Role::Assistant), visibility),
            _ => {
                self.records.add_unclaimed(line.at, RecordKind::Giant);
                return;
            }
        };
        let message = format!("a record of {len} bytes, too long to be shown");
        self.records.note_damage(line.span, message);
        let Some(raw) = self.records.add(line.at, RecordKind::Giant) else {
            return;
        };
        let side = head.side && !self.is_agent;
        let new = NewNode {
            id: head.uuid.as_deref(),
            parent: &head.parent,
            record: raw.record,
            time: head.time,
            kind,
            visibility,
            session: u16::MAX,
            side,
            beside: false,
        };
        let Some((node, _)) = self.nodes.add(&new, line.value_pos()) else {
            self.records.unclaimed.push(raw);
            return;
        };
        if let Some(id) = head.message_id.filter(|_| part != RecordUse::Unknown) {
            let response = ResponseKey {
                id: id.into(),
                request: None,
                side,
            };
            let keys = &mut self.builder;
            self.nodes.join_response(node, &response, false, keys);
        }
        if head.uuid.is_none() {
            self.nodes.hides_its_id(node);
        }
    }
}

/// Which of the session ids of the file a record has.
fn session_of(facts: &TranscriptFacts, record: &TranscriptRecord<'_>) -> u16 {
    let Some(session) = record.session else {
        return u16::MAX;
    };
    let found = facts.sessions.iter().rposition(|s| session.is_str(s));
    found
        .and_then(|i| u16::try_from(i).ok())
        .unwrap_or(u16::MAX)
}
