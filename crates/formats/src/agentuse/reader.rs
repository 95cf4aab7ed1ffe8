//! Reading a session: every file once.

use std::path::Path;

use rethread_json::Tree;
use rethread_model::{
    EntryIx, NewEntry, Note, RawRef, Role, SessionBuilder, Summary, Usage, UsageRecord,
};

use super::carrier::OURS;
use super::exchange::add_exchange;
use super::fields::counts_nothing;
use super::files::{FileHere, FileNames, FilesHere};
use super::load::{LoadedExchange, LoadedObject, load};
use super::store::{CONTEXT_JSON, SESSION_JSON, SUBAGENT, TOOLS_JSON, list_sessions};
use super::summary::{count_names, fill_summary, first_carried, read_description};
use super::{AgentUse, SLUG, info};
use crate::times::with_times;
use crate::{
    BodyReader, Conversation, Native, OpenError, Part, PartKind, RecordKind, RecordTable, Source,
    Want,
};

/// So many bytes of small files are kept in memory; what comes after is read again when it is
/// asked for.
const KEPT: u64 = 32 * 1024 * 1024;

impl crate::Reader for AgentUse {
    /// What a list shows of a session. Messages and parts are opened only where usage is wanted.
    fn summarize(&self, source: &Source, want: Want) -> Summary {
        let folder = &source.path;
        let mut summary = Summary {
            path: folder.clone(),
            ..Summary::default()
        };
        let mut tree = Tree::default();
        let is_brief = !want.usage && !want.size;
        let looked = is_brief.then(|| FileNames::look(folder));
        let at_hand = looked.as_ref().and_then(|looked| looked.as_ref().ok());
        match read_description(source, at_hand, &mut tree) {
            Ok(head) => summary.head = head,
            Err(unusable) => {
                summary.head = info::head_by_name(folder, &source.id);
                let (state, note) = *unusable;
                summary.state = state;
                summary.notes.push(note);
            }
        }
        let carries = at_hand.is_none_or(|(names, _)| names.carries);
        if carries {
            summary.head.converted_from = first_carried(&folder.join(OURS));
        }
        let filled = match looked {
            Some(looked) => looked.map(|(names, _)| count_names(&mut summary, &names)),
            None => FilesHere::scan(folder)
                .map(|files| fill_summary(&mut summary, files, want, &mut tree)),
        };
        if let Err(e) = filled {
            summary.notes.push(Note::damage(e.to_string()));
        }
        summary
    }

    /// Reads a session.
    fn read(&self, source: &Source) -> Result<Conversation, OpenError> {
        let folder = &source.path;
        let mut files = FilesHere::scan(folder)?;
        if files.all().next().is_none() && files.children.is_empty() {
            return Err(OpenError::NotOurs {
                path: folder.clone(),
                format: SLUG,
            });
        }
        let mut reader = ExchangeReader {
            notes: std::mem::take(&mut files.notes),
            ..ExchangeReader::default()
        };
        reader.description(folder, &source.id, files.description.take());
        let children = files.children.iter().filter_map(|f| info::link_to_child(f));
        reader.builder.head().links.extend(children);
        let mut exchanges = Vec::with_capacity(files.exchanges.len());
        for exchange in files.exchanges {
            exchanges.push(LoadedExchange::load(
                exchange,
                &mut reader.tree,
                &mut reader.notes,
            ));
        }
        exchanges.sort_by_cached_key(LoadedExchange::place);
        for exchange in exchanges {
            add_exchange(&mut reader, exchange);
        }
        for file in files.others {
            reader.other(&file);
        }
        Ok(reader.finish(source))
    }

    fn bodies(&self) -> &dyn BodyReader {
        self
    }

    fn subagents(&self, session: &Conversation) -> Vec<Source> {
        let mut found = Vec::new();
        list_sessions(&session.source.path.join(SUBAGENT), &mut |agent| {
            found.extend(agent.ok());
        });
        found
    }

    fn is_own_frame(&self, _: Role, _: &str) -> bool {
        // Nobody but its client says what a person did not: it repeats the task each time.
        true
    }
}

/// A session while it is read.
#[derive(Default)]
pub(super) struct ExchangeReader {
    pub(super) builder: SessionBuilder,
    parts: Vec<Part>,
    pub(super) notes: Vec<Note>,
    pub(super) tree: Tree,
    /// Bytes that are kept in memory.
    kept: u64,
    /// The entry before: sessions are linear.
    last: Option<EntryIx>,
    /// What all exchanges cost together.
    pub(super) usage: Usage,
    /// How long all answers took together.
    pub(super) duration_ms: Option<u64>,
}

impl ExchangeReader {
    fn description(&mut self, folder: &Path, id: &str, file: Option<FileHere>) {
        let mut head = None;
        let loaded = file.map(|file| {
            load(&file, None, &mut self.tree, &mut self.notes, &mut |root| {
                head = Some(info::session_head(root, folder, id));
            })
        });
        *self.builder.head() = head.unwrap_or_else(|| info::head_by_name(folder, id));
        if let Some(loaded) = loaded {
            let raw = self.part(loaded);
            self.builder.unclaimed(raw);
        } else {
            let note = Note::damage(format!("no `{SESSION_JSON}`"));
            self.notes.push(note.at(folder));
        }
    }

    /// Adds a file as a part with one record.
    pub(super) fn part(&mut self, loaded: LoadedObject) -> RawRef {
        let kind = if loaded.is_sound {
            RecordKind::Value
        } else {
            RecordKind::Junk
        };
        let fits = |bytes: &Vec<u8>| self.kept + bytes.len() as u64 <= KEPT;
        let part = match loaded.bytes.filter(fits) {
            Some(bytes) => {
                self.kept += bytes.len() as u64;
                Part::document(loaded.path, bytes)
            }
            None => Part::closed(loaded.path, PartKind::Document, loaded.len),
        };
        let mut marks = RecordTable::default();
        marks.add(0, kind);
        self.push(part.with_records(marks))
    }

    /// Adds a part of one record.
    pub(super) fn push(&mut self, part: Part) -> RawRef {
        let number = u32::try_from(self.parts.len()).unwrap_or(u32::MAX);
        self.parts.push(part);
        RawRef {
            part: number,
            record: 0,
        }
    }

    /// A file that says nothing of the conversation; it must still be whole.
    fn other(&mut self, file: &FileHere) {
        let name = file.path.file_name().unwrap_or_default();
        let raw = if name == TOOLS_JSON || name == CONTEXT_JSON {
            let loaded = load(file, None, &mut self.tree, &mut self.notes, &mut |_| {});
            self.part(loaded)
        } else {
            self.push(Part::closed(
                file.path.clone(),
                PartKind::Opaque,
                file.len(),
            ))
        };
        self.builder.unclaimed(raw);
    }

    /// Adds an entry behind the one before.
    pub(super) fn add(&mut self, new: &NewEntry<'_>) -> Option<EntryIx> {
        let ix = self.builder.add(&NewEntry {
            parent: self.last,
            ..new.clone()
        });
        match ix {
            Some(_) => self.last = ix,
            None => new
                .origin
                .iter()
                .for_each(|raw| self.builder.unclaimed(*raw)),
        }
        ix
    }

    fn finish(mut self, source: &Source) -> Conversation {
        let head = self.builder.head();
        head.duration_ms = self.duration_ms;
        if !counts_nothing(&self.usage) {
            head.recorded_usage.push(UsageRecord {
                usage: self.usage,
                ..UsageRecord::default()
            });
        }
        Conversation {
            source: source.clone(),
            native: Native { parts: self.parts },
            session: with_times(self.builder.finish()),
            notes: self.notes,
        }
    }
}
