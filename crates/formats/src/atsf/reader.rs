//! Reading a thread in one pass over its log.

use std::fs::Metadata;
use std::path::Path;

use memchr::memmem;
use rethread_disk::{DiskError, open_read, open_sized};
use rethread_json::Value;
use rethread_model::{
    EntryIx, Kind, NewEntry, Note, RawRef, Role, SessionBuilder, State, Summary, Visibility,
};

use super::config::Config;
use super::manifest::Manifest;
use super::message::{ThreadMessageHead, message_head, role_of_word};
use super::store::{LOG, conflict_copies};
use super::summary::{damaged_summary, refusal_of};
use super::tally::{LogTally, giant_head};
use super::{Atsf, assets};
use crate::kit::{Flow, LogLine, LogRecords, LogVisitor, read_log};
use crate::times::with_times;
use crate::{
    BodyReader, Conversation, Native, OpenError, Part, PartKind, Projects, Reader, RecordKind,
    Source, Want,
};

/// The parts of a thread, by their numbers.
const MANIFEST_PART: u32 = 0;
const LOG_PART: u32 = 1;

impl Reader for Atsf {
    /// What a list shows of a thread.
    fn summarize(&self, source: &Source, want: Want) -> Summary {
        let manifest = match Manifest::read_any_version(&source.path) {
            Ok(manifest) => manifest,
            Err(e) => return damaged_summary(source, &e),
        };
        let head = manifest.head(&source.id);
        let mut summary = Summary {
            head,
            path: source.path.clone(),
            counts: manifest.counts(),
            size: manifest.bytes().len() as u64,
            ..Summary::default()
        };
        if let Some(version) = refusal_of(source, &manifest) {
            summary.state = State::Unsupported { version };
            return summary;
        }
        let path = source.path.join(LOG);
        let Some(len) = std::fs::metadata(&path)
            .ok()
            .filter(Metadata::is_file)
            .map(|m| m.len())
        else {
            return summary;
        };
        summary.size += len;
        let stale = manifest.noted_log_len().is_some_and(|noted| noted != len);
        // Messages that are older than the thread were brought along: only they say when it began.
        let is_copied = summary.head.created > summary.head.updated;
        if stale || want.usage || is_copied {
            let counted = open_read(&path)
                .map_err(|e| e.to_string())
                .and_then(|log| LogTally::of(log, want.usage).map_err(|e| e.to_string()));
            match counted {
                Ok(tally) => {
                    summary.counts = tally.counts;
                    summary.activity = tally.activity;
                    let last = tally.last_time.and_then(|t| t.parse().ok());
                    summary.head.updated = last.or(summary.head.created).or(summary.head.updated);
                    if summary.head.created > summary.head.updated {
                        summary.head.made = summary.head.created;
                        summary.head.created = tally.first_time;
                    }
                }
                Err(e) => summary.notes.push(Note::damage(e).at(path)),
            }
        }
        summary
    }

    /// Reads a thread.
    fn read(&self, source: &Source) -> Result<Conversation, OpenError> {
        let folder = &source.path;
        let mut notes = Vec::new();
        if let Some(project) = Atsf.holder_of(folder) {
            notes.extend(Config::read(project)?.notes);
        }
        let manifest = Manifest::read(folder)?;
        notes.extend(manifest.version().note(&manifest.path));
        let head = manifest.head(&source.id);
        notes.extend(conflict_copies(folder).into_iter().map(|copy| {
            let note = Note::damage("a copy that a sync tool left; it is not read").at(copy);
            note.hint("compare it with the original, then remove one of them")
        }));

        let path = folder.join(LOG);
        let mut reader = LogReader {
            folder,
            records: LogRecords::new(&path, LOG_PART),
            builder: SessionBuilder::new(head),
            last: None,
        };
        reader.records.notes = notes;
        let log = match open_sized(&path) {
            Ok((file, len)) => {
                let part = Part::lines_in(source.window, path.clone(), file, len);
                read_log(&part, &mut reader)?;
                part.with_records(std::mem::take(&mut reader.records.marks))
            }
            Err(DiskError::NotFound { .. }) => {
                let note = no_log(&path, manifest.counts().messages);
                reader.records.notes.push(note);
                Part::missing(path.clone(), PartKind::Lines)
            }
            Err(e) => return Err(e.into()),
        };
        let mut builder = reader.builder;
        builder.unclaimed(RawRef {
            part: MANIFEST_PART,
            record: 0,
        });
        for raw in reader.records.unclaimed {
            builder.unclaimed(raw);
        }
        let document = Part::document(manifest.path.clone(), manifest.into_bytes());
        Ok(Conversation {
            source: source.clone(),
            native: Native {
                parts: vec![document, log],
            },
            session: with_times(builder.finish()),
            notes: reader.records.notes,
        })
    }

    fn bodies(&self) -> &dyn BodyReader {
        self
    }

    fn is_own_frame(&self, _: Role, _: &str) -> bool {
        // Its messages of the system are context that nobody typed; there is no client.
        false
    }
}

/// A project's default ignore file keeps logs out of git, so a clone has descriptions alone.
fn no_log(path: &Path, expected: u64) -> Note {
    let message = match expected {
        0 => "the log is not there".to_owned(),
        n => format!("the log is not there; `thread.json` counts {n} messages in it"),
    };
    Note::remark(message)
        .at(path)
        .hint("git ignores logs by default; copy it from where it was written")
}

struct LogReader<'a> {
    folder: &'a Path,
    records: LogRecords<'a>,
    builder: SessionBuilder,
    /// The message before: threads are linear.
    last: Option<EntryIx>,
}

impl<'a> LogVisitor<'a> for LogReader<'a> {
    const CALLED: &'static str = "log";

    fn records(&mut self) -> Option<&mut LogRecords<'a>> {
        Some(&mut self.records)
    }

    fn object(&mut self, line: &LogLine<'_>, value: Value<'_>) -> Flow {
        if memmem::find(value.raw(), b"assetRef").is_some() {
            for name in assets::asset_references(value) {
                if assets::find_asset(self.folder, &name).is_none() {
                    let message = format!("the asset `{name}` is missing");
                    self.records.note_damage(line.span, message);
                }
            }
        }
        self.entry(line.at, RecordKind::Value, &message_head(value));
        Flow::Continue(())
    }

    fn giant(&mut self, line: &LogLine<'_>) -> Flow {
        let head = giant_head(line.bytes);
        let len = line.span.len;
        if head.role.is_none() {
            let message = format!("a line of {len} bytes that is no message; skipped");
            self.records.note_damage(line.span, message);
            self.records.add_unclaimed(line.at, RecordKind::Giant);
        } else {
            let message = format!("a message of {len} bytes, too long to be shown");
            self.records.note_damage(line.span, message);
            self.entry(line.at, RecordKind::Giant, &head);
        }
        Flow::Continue(())
    }
}

impl LogReader<'_> {
    fn entry(&mut self, at: u64, kind: RecordKind, head: &ThreadMessageHead) {
        let Some(raw) = self.records.add(at, kind) else {
            return;
        };
        let added = self.builder.add(&NewEntry {
            id: head.id.as_deref().unwrap_or_default(),
            parent: self.last,
            kind: head
                .role
                .as_deref()
                .map_or(Kind::Unknown, |word| Kind::Message(role_of_word(word))),
            time: head.time,
            visibility: if head.role.as_deref() == Some("system") {
                // The role is there for context that nobody wrote.
                Visibility::Injected
            } else {
                Visibility::Visible
            },
            origin: &[raw],
        });
        match added {
            Some(ix) => self.last = Some(ix),
            None => self.records.unclaimed.push(raw),
        }
    }
}
