//! Reading a session in one pass over its file, and before it over those that it goes on from.

use std::collections::HashSet;
use std::path::Path;

use rethread_json::{SyntaxError, Value};
use rethread_model::{Head, LinkKind, ModelRef, Note, Role, Summary, UsageRecord};

use super::agents::{near_subagents, parent_of};
use super::base::{Bases, find_bases};
use super::entries::Grow;
use super::line_head::read_line_head;
use super::meta::{Base, Beginning, SessionMeta, beginning_of};
use super::packed::OpenedRollout;
use super::prefix::Prefix;
use super::record::{RolloutRecord, RolloutType};
use super::said::{has_lone_surrogate, is_frame};
use super::store::{home_of, list_folder, store_of};
use super::summary::summarize_with;
use super::{Codex, SLUG, document, names, packed};
use crate::kit::{Flow, LogLine, LogRecords, LogVisitor, SaveScan, read_log, salvage_line};
use crate::times::with_times;
use crate::{
    BodyReader, Conversation, Native, OpenError, Part, RecordKind, SavedScan, Source, Want,
};

impl crate::Reader for Codex {
    /// What a list shows of a session.
    fn summarize(&self, source: &Source, want: Want) -> Summary {
        summarize_with(source, want, None, SaveScan::Never).0
    }

    /// What a list shows of a session, going on from where an earlier scan of it ended; and where the next
    /// one can go on. None does with a compressed file or a document: these are written anew.
    fn summarize_from(
        &self,
        source: &Source,
        want: Want,
        from: Option<&SavedScan>,
    ) -> (Summary, Option<SavedScan>) {
        summarize_with(source, want, from, SaveScan::Always)
    }

    /// Reads a session.
    fn read(&self, source: &Source) -> Result<Conversation, OpenError> {
        let path = &source.path;
        if document::is_document(path) {
            return document::read_source(source);
        }
        let opened = packed::open_in(path, source.window)?;
        let meta = match beginning_of(opened.part.reader()) {
            Beginning::Session(meta) => Some(*meta),
            Beginning::Nameless | Beginning::Other => None,
        };
        let mut grow = Grow::default();
        let mut notes = Vec::new();
        let base = meta.as_ref().and_then(|m| m.base.clone());
        let Bases { parts, missing } = find_bases(path, base);
        notes.extend(missing);
        let mut borrowed = Vec::new();
        // The oldest first; the session's own file is part 0.
        let numbered: Vec<_> = (1_u32..).zip(&parts).collect();
        for (number, (file, end)) in numbered.into_iter().rev() {
            let mut reader = RolloutReader::new(file, number, Some(end), &mut grow);
            match reader.file() {
                Ok(part) => borrowed.push(part),
                Err(e) => {
                    borrowed.push(Part::missing(file.clone(), crate::PartKind::Lines));
                    let note = Note::damage(e.to_string()).at(file);
                    reader.records.notes.push(note);
                }
            }
            notes.append(&mut reader.records.notes);
        }
        grow.facts.own();
        let mut reader = RolloutReader::new(path, 0, None, &mut grow);
        let part = reader.part(opened)?;
        if reader.ours == 0 {
            return Err(OpenError::NotOurs {
                path: path.clone(),
                format: SLUG,
            });
        }
        notes.append(&mut reader.records.notes);
        let mut parts = vec![part];
        parts.extend(borrowed.into_iter().rev());
        let meta = meta.or_else(|| grow.meta.take());
        let head = document_head(path, meta, &mut grow);
        let mut builder = grow.finish();
        *builder.head() = head;
        Ok(Conversation {
            source: source.clone(),
            native: Native { parts },
            session: with_times(builder.finish()),
            notes,
        })
    }

    fn bodies(&self) -> &dyn BodyReader {
        self
    }

    /// The sub-agents that a session started: those that it names, wherever they are in its home, and
    /// those that were made while it went on and name it.
    fn subagents(&self, session: &Conversation) -> Vec<Source> {
        let head = &session.session.head;
        let path = &session.source.path;
        let mut near = near_subagents(session);
        near.retain(|source| source.path != *path);
        let is_child = |source: &&Source| parent_of(&source.path).as_deref() == Some(&head.id);
        let mut found: Vec<Source> = near.iter().filter(is_child).cloned().collect();
        let links = head.links.iter().filter(|l| l.kind == LinkKind::SubAgent);
        let mut wanted: HashSet<&str> = links.map(|link| link.session.as_str()).collect();
        for source in &found {
            wanted.remove(source.id.as_str());
        }
        if !wanted.is_empty()
            && let Some(store) = store_of(path)
        {
            list_folder(&store, &mut |source| near.extend(source.ok()));
        }
        for source in near.into_iter().filter(|source| source.path != *path) {
            // What a fork names is the other session's, and says so.
            let is_ours = || parent_of(&source.path).is_none_or(|parent| parent == head.id);
            if wanted.contains(source.id.as_str()) && is_ours() {
                wanted.remove(source.id.as_str());
                found.push(source);
            }
        }
        found
    }

    fn is_own_frame(&self, role: Role, text: &str) -> bool {
        role == Role::System || is_frame(text)
    }
}

/// The facts about the whole session.
fn document_head(path: &Path, meta: Option<SessionMeta>, grow: &mut Grow) -> Head {
    let mut meta = meta.unwrap_or_default();
    if meta.id.is_empty() {
        meta.id = SessionMeta::unsaid(path).id;
    }
    let mut head = meta.head(path);
    grow.facts.fill(&mut head, path, || {
        names::name_of(&home_of(path)?, &meta.id)
    });
    head.model = grow.model().map(|id| ModelRef {
        provider: meta.provider.clone(),
        id: id.to_owned(),
    });
    head.links.extend(grow.children.iter().cloned());
    let last_inherited = Some(grow.drafts.last_inherited()).filter(|id| !id.is_empty());
    for link in &mut head.links {
        if link.kind == LinkKind::ForkOf {
            link.entry = last_inherited.map(str::to_owned);
        }
    }
    let total = grow.meter.total().map(|usage| UsageRecord {
        usage,
        ..UsageRecord::default()
    });
    head.recorded_usage.extend(total);
    head
}

/// Reads one file.
struct RolloutReader<'a> {
    path: &'a Path,
    records: LogRecords<'a>,
    /// How much of the file is meant, where it is another session's.
    end: Option<&'a Base>,
    grow: &'a mut Grow,
    prefix: Prefix,
    /// How many records were met that are this format's.
    ours: u64,
    /// The last number of a record.
    last_ordinal: Option<u64>,
}

impl<'a> RolloutReader<'a> {
    fn new(path: &'a Path, number: u32, end: Option<&'a Base>, grow: &'a mut Grow) -> Self {
        Self {
            path,
            records: LogRecords::new(path, number),
            end,
            grow,
            prefix: Prefix::default(),
            ours: 0,
            last_ordinal: None,
        }
    }

    /// Opens the file, and reads all lines that are meant.
    fn file(&mut self) -> Result<Part, OpenError> {
        self.part(packed::open_rollout(self.path)?)
    }

    /// Reads all lines that are meant.
    fn part(&mut self, opened: OpenedRollout) -> Result<Part, OpenError> {
        self.records.notes.extend(opened.damage);
        let part = opened.part;
        let end = read_log(&part, self)?;
        self.grow.unclaimed.append(&mut self.records.unclaimed);
        self.ends_early();
        let part = match self.end {
            Some(_) => part.borrowed(end.offset),
            None => part,
        };
        Ok(part.with_records(std::mem::take(&mut self.records.marks)))
    }

    /// Says so when the file of another session does not hold all that this one has from it.
    fn ends_early(&mut self) {
        let Some(end) = self.end.and_then(|end| end.end_ordinal) else {
            return;
        };
        if self.last_ordinal.is_none_or(|last| last + 1 < end) {
            let message = format!("the fork goes on from record {end}, and the file ends before");
            let note = Note::damage(message).at(self.path);
            self.records.notes.push(note);
        }
    }

    /// Says so when the client itself could not read a line that we can.
    fn unread_by_the_client(&mut self, line: &LogLine<'_>) {
        let message = if line.bytes.starts_with(b"\xef\xbb\xbf") {
            "begins with a byte order mark, with which the client does not read the session"
        } else if line.has_numbered_escapes && has_lone_surrogate(line.bytes) {
            "holds half of a surrogate pair; the client passes over the record"
        } else {
            return;
        };
        self.records.note_remark(line.span, message);
    }

    /// Whether a record is behind those that are meant.
    fn is_beyond(&self, ordinal: Option<u64>, offset: u64) -> bool {
        self.end.is_some_and(|end| end.ends_before(ordinal, offset))
    }

    fn record(&mut self, at: u64, record: &RolloutRecord<'_>) {
        let Some(raw) = self.records.add(at, RecordKind::Value) else {
            return;
        };
        self.ours += u64::from(record.is_ours());
        self.last_ordinal = record.ordinal().or(self.last_ordinal);
        let inherited = self.prefix.is_copy(record) || self.end.is_some();
        if record.what == RolloutType::Meta && self.end.is_none() && self.grow.meta.is_none() {
            let is_bare = record.name() == "bare/header";
            self.grow.meta = Some(SessionMeta::of(record.payload, is_bare));
        }
        self.grow.record(record, raw, inherited);
    }
}

impl<'a> LogVisitor<'a> for RolloutReader<'a> {
    fn records(&mut self) -> Option<&mut LogRecords<'a>> {
        Some(&mut self.records)
    }

    fn object(&mut self, line: &LogLine<'_>, value: Value<'_>) -> Flow {
        let record = RolloutRecord::of(value);
        if !line.is_salvaged {
            if self.is_beyond(record.ordinal(), line.at) {
                return Flow::Break(());
            }
            self.unread_by_the_client(line);
        }
        self.record(line.at, &record);
        Flow::Continue(())
    }

    fn damaged(&mut self, line: &LogLine<'_>, error: &SyntaxError) -> Flow {
        if self.is_beyond(None, line.at) {
            return Flow::Break(());
        }
        salvage_line(self, line, error);
        Flow::Continue(())
    }

    fn giant(&mut self, line: &LogLine<'_>) -> Flow {
        if self.is_beyond(None, line.at) {
            return Flow::Break(());
        }
        let found = read_line_head(line.bytes);
        let len = line.span.len;
        let message = match &found {
            Some(_) => format!("a record of {len} bytes, too long to be shown"),
            None => format!("a line of {len} bytes that is no record; skipped"),
        };
        self.records.note_damage(line.span, message);
        if let Some(raw) = self.records.add(line.at, RecordKind::Giant) {
            match found {
                Some(found) => self.grow.add_giant(&found, raw, self.end.is_some()),
                None => self.grow.unclaimed.push(raw),
            }
            self.ours += 1;
        }
        Flow::Continue(())
    }
}
