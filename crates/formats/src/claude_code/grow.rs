//! Giving a record its place in the thread while a transcript is read.

use rethread_json::Value;
use rethread_model::{Kind, Role, Visibility};

use super::kinds::{Part, giant_part, part};
use super::nodes::NewNode;
use super::read::Reader;
use super::record::{GiantHead, Record};
use super::responses::Response;
use super::sniff::is_ours;
use crate::RecordKind;
use crate::kit::LogLine;

/// So many replaced results of one record are entries of their own.
const EDITS: usize = 1000;

impl Reader<'_> {
    /// Takes an object of the transcript.
    pub(super) fn add_record(&mut self, line: &LogLine<'_>, value: Value<'_>) {
        let record = Record::of(value);
        let part = part(&record);
        if !self.is_ours {
            self.is_ours = is_ours(value) == Some(true);
        }
        let repeats = match part {
            Part::Title(source) => self.facts.repeats_title(source, &record),
            _ => false,
        };
        self.facts.add(value, &record, part);
        let uuid = record.uuid.and_then(Value::str);
        let edits = match part {
            Part::Edits => value
                .get("replacements")
                .map_or(0, |r| r.items().take(EDITS).count()),
            _ => 0,
        };
        let beside = match part {
            Part::Title(_) if !repeats => Some(Kind::Title),
            Part::Edits if edits > 0 => Some(Kind::ContextEdit),
            Part::Unknown if uuid.is_none() => Some(Kind::Unknown),
            _ => None,
        };
        let (kind, visibility) = match part {
            Part::Entry(kind, visibility) => (kind, visibility),
            Part::Response(visibility) => (Kind::Message(Role::Assistant), visibility),
            Part::Boundary | Part::Summary => (Kind::Compaction, Visibility::Visible),
            Part::Bridge => {
                if let Some(id) = &uuid {
                    self.nodes.bridge(id, &record.parent(), record.side);
                }
                self.records.add_unclaimed(line.at, RecordKind::Value);
                return;
            }
            _ => match beside {
                Some(kind) => (kind, Visibility::Visible),
                None if part == Part::Unknown => (Kind::Unknown, Visibility::Visible),
                None => {
                    if record.type_.is_some_and(|t| t.is_str("last-prompt")) {
                        let nodes = self.nodes.list.len();
                        self.facts.last_prompt.nodes = u32::try_from(nodes).unwrap_or(u32::MAX);
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
            session: self.session(&record),
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
            self.join(node, (part, value), &record, was_there);
        }
    }

    /// Joins the parts of one response, and the two records of a compaction.
    fn join(
        &mut self,
        node: u32,
        (part, value): (Part, Value<'_>),
        record: &Record<'_>,
        again: bool,
    ) {
        let logical = record.logical_parent.and_then(Value::str);
        if let Some(logical) = logical {
            self.nodes.continues(node, &logical);
        }
        match part {
            Part::Response(_) => {
                let side = record.side && !self.is_agent;
                if let Some(response) = Response::of(record, side) {
                    let keys = &mut self.builder;
                    self.nodes.join_response(node, &response, again, keys);
                }
            }
            Part::Boundary => {
                let tail = ["compactMetadata", "preservedSegment", "tailUuid"];
                if let Some(tail) = value.at(&tail).and_then(Value::str) {
                    self.nodes.keeps_up_to(node, &tail);
                }
            }
            Part::Summary => self.nodes.join_compaction(node),
            _ => {}
        }
    }

    /// Which of the session ids of the file a record has.
    fn session(&self, record: &Record<'_>) -> u16 {
        let Some(session) = record.session else {
            return u16::MAX;
        };
        let found = self.facts.sessions.iter().rposition(|s| session.is_str(s));
        found
            .and_then(|i| u16::try_from(i).ok())
            .unwrap_or(u16::MAX)
    }

    /// Takes a record of which only the beginning is known.
    pub(super) fn add_giant(&mut self, line: &LogLine<'_>) {
        let head = GiantHead::of(line.bytes);
        let len = line.span.len;
        let Some(part) = giant_part(&head) else {
            let message = format!("a line of {len} bytes that is no record; skipped");
            self.records.note_damage(line.span, message);
            self.records.add_unclaimed(line.at, RecordKind::Giant);
            return;
        };
        self.is_ours |= part != Part::Unknown;
        let (kind, visibility) = match part {
            Part::Entry(kind, visibility) => (kind, visibility),
            Part::Response(visibility) => (Kind::Message(Role::Assistant), visibility),
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
        if let Some(id) = head.message_id.filter(|_| part != Part::Unknown) {
            let response = Response {
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
