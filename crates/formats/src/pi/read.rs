//! Reading a session in one pass over its file.

use rethread_disk::open_sized;
use rethread_json::Value;
use rethread_model::{EntryIx, Kind, Note, SessionBuilder};

use super::Flavour;
use super::facts::Facts;
use super::header::{Header, is_header_line};
use super::kinds::{entry_head, giant_head};
use super::links::{Links, Wrong};
use crate::kit::{Flow, LogLine, LogRecords, LogVisitor, read_log};
use crate::{Conversation, Native, OpenError, Part, RecordKind, Source};

/// The one part of a session.
pub(super) const LOG_PART: u32 = 0;

/// Reads a session.
pub(crate) fn read(flavour: &'static Flavour, source: &Source) -> Result<Conversation, OpenError> {
    let path = &source.path;
    let (file, len) = open_sized(path)?;
    let part = Part::lines(path.clone(), file, len);
    let mut reader = Reader {
        records: LogRecords::new(path, LOG_PART),
        builder: SessionBuilder::default(),
        links: Links::default(),
        facts: Facts::default(),
        header: None,
        values: 0,
        salvaged: 0,
        nameless: None,
    };
    let end = read_log(&part, &mut reader)?;
    if end.is_stopped || reader.header.is_none() {
        return Err(OpenError::NotOurs {
            path: path.clone(),
            format: flavour.slug,
        });
    }
    let Reader {
        mut builder,
        records,
        links,
        facts,
        header,
        ..
    } = reader;
    let mut notes = records.notes;
    for raw in records.unclaimed {
        builder.unclaimed(raw);
    }
    let header = header.unwrap_or_default();
    notes.extend(header.note(path));
    *builder.head() = header.head(flavour, path);
    facts.fill(builder.head(), path);
    for (at, wrong) in links.settle(&mut builder) {
        notes.push(at.note(Note::damage(wrong_parent(&wrong)), path));
    }
    Ok(Conversation {
        source: source.clone(),
        native: Native {
            parts: vec![part.with_records(records.marks)],
        },
        session: builder.finish(),
        notes,
    })
}

fn wrong_parent(wrong: &Wrong) -> String {
    match wrong {
        Wrong::Itself => "the entry is its own parent; it counts as a root".to_owned(),
        Wrong::Missing(id) => format!("the parent `{id}` is missing; the entry counts as a root"),
        Wrong::Circle => "its parents form a circle; the entry counts as a root".to_owned(),
    }
}

pub(super) struct Reader<'a> {
    pub(super) records: LogRecords<'a>,
    pub(super) builder: SessionBuilder,
    pub(super) links: Links,
    facts: Facts,
    pub(super) header: Option<Header>,
    /// How many values were met that stand on a line of their own: the first version names entries
    /// by this number.
    values: u32,
    /// How many values were saved from damaged lines.
    salvaged: u32,
    /// A giant entry whose id lies beyond what is held of it.
    pub(super) nameless: Option<EntryIx>,
}

impl<'a> LogVisitor<'a> for Reader<'a> {
    fn records(&mut self) -> Option<&mut LogRecords<'a>> {
        Some(&mut self.records)
    }

    fn object(&mut self, line: &LogLine<'_>, value: Value<'_>) -> Flow {
        if self.header.is_none() {
            return self.first_value(line, value);
        }
        let number = if line.is_salvaged {
            self.salvaged = self.salvaged.saturating_add(1);
            // Others do not see these, so they are counted from the other end.
            u32::MAX - self.salvaged
        } else {
            self.values = self.values.saturating_add(1);
            self.values
        };
        if is_header_line(value) {
            let message = "another header; ignored, as by its agent";
            self.records.note_remark(line.value_pos(), message);
            self.records.add_unclaimed(line.at, RecordKind::Value);
        } else {
            self.facts.add(value);
            self.entry(line, RecordKind::Value, entry_head(value), number);
        }
        Flow::Continue(())
    }

    fn other_value(&mut self, line: &LogLine<'_>, value: Value<'_>) -> Flow {
        if self.header.is_none() {
            return self.first_value(line, value);
        }
        self.values = self.values.saturating_add(1);
        self.records.skip_other_value(line)
    }

    fn giant(&mut self, line: &LogLine<'_>) -> Flow {
        if self.header.is_none() {
            return Flow::Break(());
        }
        self.values = self.values.saturating_add(1);
        let head = giant_head(line.bytes);
        let len = line.span.len;
        if head.kind.is_none() {
            let message = format!("a line of {len} bytes that is no entry; skipped");
            self.records.note_damage(line.span, message);
            self.records.add_unclaimed(line.at, RecordKind::Giant);
            return Flow::Continue(());
        }
        let message = format!("an entry of {len} bytes, too long to be shown");
        self.records.note_damage(line.span, message);
        if head.kind.is_some_and(Kind::is_message) {
            self.facts.add_other_message(head.time);
        }
        self.entry(line, RecordKind::Giant, head, self.values);
        Flow::Continue(())
    }

    fn may_be_torn(&self) -> bool {
        self.header.is_some()
    }
}

impl Reader<'_> {
    /// Takes the first value, which decides whether this is a session.
    fn first_value(&mut self, line: &LogLine<'_>, value: Value<'_>) -> Flow {
        self.header = Header::of(value);
        self.records.add_unclaimed(line.at, RecordKind::Value);
        match self.header {
            Some(_) => Flow::Continue(()),
            None => Flow::Break(()),
        }
    }
}
