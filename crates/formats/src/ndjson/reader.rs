//! Reading one session of a file.
//!
//! The part is the whole file. Its records are what stands before the session's line, the line in
//! pieces (its beginning, each message, its end), and what stands behind it. So a session costs no
//! more memory than its longest message, however long its line is.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io;
use std::ops::Range as Bytes;
use std::path::{Path, PathBuf};

use rethread_json::{Event, LineSpan, Pull, PullError, Tree, Value};
use rethread_model::{
    EntryIx, Head, Kind, LinkKind, NewEntry, Note, Provenance, RawRef, Role, SessionBuilder, State,
    Summary,
};

use super::entry::{UnifiedHead, entry_head};
use super::fields::message_extensions;
use super::head::read_head;
use super::index::{FileIndex, FileShape, SessionLine, file_index, next_key};
use super::message::{message_head, only_results};
use super::packed::{OpenedExport, open_export};
use super::pieces::{pass_value, value_bytes};
use super::store::file_stem;
use super::summary::{change_time, entry_counts, record_bytes};
use super::{Ndjson, SLUG, flat};
use crate::error::unreadable_file;
use crate::fields::{count_of, string_of};
use crate::file_range::FileRange;
use crate::first_prompt::FirstPrompt;
use crate::unusable::cannot_be_opened;
use crate::{
    BodyReader, Conversation, ExportReader, Native, OpenError, RecordKind, RecordTable, Source,
    Store, Want,
};

/// The one part.
pub(super) const FILE: u32 = 0;

/// What other lines of the file are to a session: not looked at.
pub(super) const OTHERS: RecordKind = RecordKind::Giant;

/// Lines of unknown types that go with a session.
pub(super) const AROUND: RecordKind = RecordKind::Frame;

/// Where an original stands in a message, and in the session object.
const IN_MESSAGE: [&str; 3] = ["metadata", "extensions", "original"];
const IN_SESSION: [&str; 2] = ["extensions", "original"];

/// A message that is longer is not held in memory.
const LONGEST: u64 = 1 << 30;

impl crate::Reader for Ndjson {
    /// What a list shows of a session.
    fn summarize(&self, source: &Source, want: Want) -> Summary {
        let mut summary = Summary {
            path: source.path.clone(),
            head: Head {
                id: source.id.clone(),
                format: SLUG,
                ..Head::default()
            },
            ..Summary::default()
        };
        match self.read(source) {
            Ok(conversation) => {
                (summary.counts, summary.activity) = entry_counts(&conversation, want);
                summary.size = record_bytes(&conversation);
                summary.head = conversation.session.head;
                summary.notes = conversation.notes;
                if summary.head.updated.is_none() {
                    let there = summary.head.provenance.as_ref();
                    let there = there.and_then(|p| p.file_time);
                    summary.head.updated = there.or_else(|| change_time(source));
                }
            }
            Err(OpenError::Unsupported { version, .. }) => {
                summary.head.provenance = Some(Provenance {
                    kind: "local".to_owned(),
                    ..Provenance::default()
                });
                summary.state = State::Unsupported { version };
                summary.head.updated = change_time(source);
            }
            Err(e) => cannot_be_opened(&mut summary, &e),
        }
        summary
    }

    /// Reads a session.
    fn read(&self, source: &Source) -> Result<Conversation, OpenError> {
        let path = &source.path;
        let opened = open_export(path)?;
        let failed = |e| unreadable_file(path, e);
        let not_ours = || OpenError::NotOurs {
            path: path.clone(),
            format: SLUG,
        };
        let index = file_index(path, &opened)
            .map_err(failed)?
            .ok_or_else(not_ours)?;
        let version = match index.shape.clone() {
            FileShape::Records { version } => version,
            FileShape::Flat { version } => return flat::read_flat(source, opened, version),
            FileShape::Refused { version } => {
                return Err(OpenError::Unsupported {
                    path: path.clone(),
                    format: "Unified NDJSON",
                    version,
                    supported: "1.x and flat 2.x",
                });
            }
        };
        let found = find_session(&index, source).ok_or_else(|| OpenError::NoSession {
            path: path.clone(),
            id: source.id.clone(),
            format: SLUG,
        })?;
        let mut reader = SessionReader::new(path, found);
        reader.read_pieces(&opened, found).map_err(failed)?;
        Ok(reader.finish_session(source, opened, version))
    }

    fn bodies(&self) -> &dyn BodyReader {
        self
    }

    /// The sub-agents of a session: in the same file, and in files beside it whose names go on from its own.
    fn subagents(&self, session: &Conversation) -> Vec<Source> {
        let path = &session.source.path;
        let head = &session.session.head;
        let is_named = |id: &str| {
            let mut links = head.links.iter();
            links.any(|l| l.kind == LinkKind::SubAgent && l.session == id)
        };
        let parent = |source: &Source| {
            let links = self.summarize(source, Want::default()).head.links;
            let link = links.into_iter().find(|l| l.kind == LinkKind::Parent);
            link.map(|link| link.session)
        };
        let mut found = self.at_path(path);
        found
            .retain(|s| s.id != head.id && is_named(&s.id) && parent(s).as_ref() == Some(&head.id));
        let start = format!("{}.", file_stem(path));
        let beside = path
            .parent()
            .and_then(|folder| std::fs::read_dir(folder).ok());
        let beside = beside.into_iter().flatten().flatten();
        let mut beside: Vec<PathBuf> = beside
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(&start))
            .map(|entry| entry.path())
            .collect();
        beside.sort();
        beside.retain(|file| file != path);
        let beside = beside.iter().flat_map(|file| self.at_path(file));
        found.extend(beside.filter(|source| parent(source).is_some()));
        found
    }

    fn exports(&self) -> Option<&dyn ExportReader> {
        Some(self)
    }
}

/// The line of a session: where the source says it is, else the first with its id.
fn find_session<'a>(index: &'a FileIndex, source: &Source) -> Option<&'a SessionLine> {
    let all = &index.sessions;
    let there = source.place.and_then(|place| {
        let at = all.binary_search_by_key(&place, |f| f.span.offset).ok()?;
        all.get(at).filter(|f| f.id == source.id)
    });
    there.or_else(|| all.iter().find(|f| f.id == source.id))
}

struct SessionReader<'a> {
    path: &'a Path,
    span: LineSpan,
    builder: SessionBuilder,
    marks: RecordTable,
    notes: Vec<Note>,
    tree: Tree,
    head: Head,
    /// Whether the export says where entries hang in the tree.
    is_whole: bool,
    leaf_entry: Option<u64>,
    active: Option<String>,
    links: Vec<(EntryIx, EntryParent)>,
    /// The first messages of branches, as the graph says.
    branches: HashSet<String>,
    /// For each entry, whether it goes on with what the model began: an answer, or results of its
    /// calls.
    goes_on: Vec<bool>,
    /// Messages by their ids, where the export does not say where they hang.
    ids: HashMap<String, EntryIx>,
    /// The record with the beginning of the line.
    front: u32,
    /// The entry that stands last in the tree.
    last: Option<EntryIx>,
    messages: u64,
    titled: bool,
    /// What the person said first, for want of a title.
    prompt: FirstPrompt,
}

/// What a message hangs on that names another one as its parent: if all that stands between them
/// is the model's answer and results of its calls, what stands right before it.
fn end_of_turn(goes_on: &[bool], parent: EntryIx, ix: EntryIx) -> EntryIx {
    let before = ix.get().checked_sub(1).and_then(EntryIx::new);
    let between = if parent < ix {
        goes_on.get(parent.get() + 1..ix.get())
    } else {
        // It names one that comes later: a result of a call before it in the same turn.
        goes_on.get(ix.get()..=ix.get())
    };
    let is_one_turn = between.is_some_and(|between| between.iter().all(|goes_on| *goes_on));
    before.filter(|_| is_one_turn).unwrap_or(parent)
}

/// What an entry hangs on.
enum EntryParent {
    /// The entry with this number, counted from 1; 0 is none.
    Number(u64),
    /// The message with this id.
    Message(String),
}

impl<'a> SessionReader<'a> {
    fn new(path: &'a Path, found: &SessionLine) -> Self {
        Self {
            path,
            span: found.span,
            builder: SessionBuilder::default(),
            marks: RecordTable::default(),
            notes: found.notes.clone(),
            tree: Tree::default(),
            head: Head::default(),
            is_whole: false,
            leaf_entry: None,
            active: None,
            links: Vec::new(),
            branches: HashSet::new(),
            goes_on: Vec::new(),
            ids: HashMap::new(),
            front: 0,
            last: None,
            messages: 0,
            titled: false,
            prompt: FirstPrompt::default(),
        }
    }

    /// Cuts the line into its pieces, and reads them.
    fn read_pieces(&mut self, opened: &OpenedExport, found: &SessionLine) -> io::Result<()> {
        let start = self.span.offset;
        let end = start + self.span.len;
        if found.from > 0 {
            self.add_unclaimed(0, OTHERS);
        }
        if found.from < start {
            self.add_unclaimed(found.from, AROUND);
        }
        let mut pull = Pull::new(FileRange {
            file: &opened.file,
            at: start,
            end,
        });
        self.front = self.add_unclaimed(start, RecordKind::Value);
        let mut done = start;
        match self.read_members(&mut pull, opened, &mut done) {
            Ok(()) => {}
            Err(PullError::Io(e)) => return Err(e),
            Err(PullError::Syntax { offset, kind }) => {
                let note =
                    Note::damage(format!("the line is damaged: {kind}; the rest is skipped"));
                let note = note.at(self.path).line(self.span.number);
                self.notes.push(note.offset(start + offset));
                self.add_unclaimed(done, RecordKind::Junk);
            }
        }
        let rest = end + u64::from(self.span.terminated);
        if rest < found.to {
            self.add_unclaimed(rest, AROUND);
        }
        if found.to < opened.len {
            self.add_unclaimed(found.to, OTHERS);
        }
        Ok(())
    }

    fn read_members(
        &mut self,
        pull: &mut Pull<FileRange<'_>>,
        opened: &OpenedExport,
        done: &mut u64,
    ) -> Result<(), PullError> {
        let start = self.span.offset;
        pull.next_event()?;
        while let Some(name) = next_key(pull)? {
            let from = start + pull.offset();
            match name.as_str() {
                "messages" => self.message_list(pull, opened, done)?,
                "session" => {
                    let original = pass_value(pull, &IN_SESSION)?;
                    let original = original.map(|o| start + o.start..start + o.end);
                    let range = from..start + pull.offset();
                    self.read_session(&opened.file, range, original)?;
                }
                "graph" => {
                    pull.skip_value()?;
                    self.read_graph(&opened.file, from..start + pull.offset())?;
                }
                _ => pull.skip_value()?,
            }
        }
        Ok(())
    }

    fn message_list(
        &mut self,
        pull: &mut Pull<FileRange<'_>>,
        opened: &OpenedExport,
        done: &mut u64,
    ) -> Result<(), PullError> {
        let start = self.span.offset;
        if pull.next_event()? != Event::BeginArray {
            return Ok(());
        }
        let depth = pull.depth();
        *done = start + pull.offset();
        loop {
            let original = if self.messages == 0 {
                pass_value(pull, &IN_MESSAGE)?
            } else {
                pull.skip_value()?;
                None
            };
            if pull.depth() < depth {
                self.add_unclaimed(*done, RecordKind::Value);
                return Ok(());
            }
            let end = start + pull.offset();
            let original = original.map(|o| start + o.start..start + o.end);
            self.read_message(&opened.file, *done..end, original)?;
            *done = end;
        }
    }

    fn read_session(
        &mut self,
        file: &File,
        range: Bytes<u64>,
        original: Option<Bytes<u64>>,
    ) -> io::Result<()> {
        let bytes = value_bytes(file, range, original.clone())?;
        if let Some(original) = original {
            self.mark_original(original);
        }
        let mut tree = std::mem::take(&mut self.tree);
        if tree.parse_into(&bytes).is_ok() {
            let session = tree.root(&bytes);
            read_head(session, &mut self.head);
            if let Some(extensions) = session.get("extensions") {
                self.read_facts(extensions);
                if let Some(entries) = extensions.get("entries") {
                    self.read_entries(entries, self.front);
                }
            }
        }
        self.tree = tree;
        Ok(())
    }

    /// What an export says about the session as a whole.
    fn read_facts(&mut self, extensions: Value<'_>) {
        let Some(facts) = extensions.get("session").filter(|s| s.is_object()) else {
            return;
        };
        self.is_whole = facts.get("entries").is_some();
        self.leaf_entry = count_of(facts, "leaf_entry");
        self.titled = self.is_whole;
        super::head::read_facts(facts, &mut self.head);
    }

    fn read_graph(&mut self, file: &File, range: Bytes<u64>) -> io::Result<()> {
        let bytes = value_bytes(file, range, None)?;
        let mut tree = std::mem::take(&mut self.tree);
        if tree.parse_into(&bytes).is_ok() {
            let graph = tree.root(&bytes);
            let path = graph.get("active_path");
            let last = path.and_then(|p| p.items().last());
            self.active = last.and_then(|id| Some(id.str()?.into_owned()));
            let forks = graph.get("fork_points").into_iter().flat_map(Value::items);
            let ways = forks.filter_map(|fork| fork.get("branches"));
            let ways = ways.flat_map(Value::items);
            self.branches = ways.filter_map(|way| string_of(way, "uuid")).collect();
        }
        self.tree = tree;
        Ok(())
    }

    /// Marks an original, and what goes on behind it.
    fn mark_original(&mut self, original: Bytes<u64>) {
        self.add_unclaimed(original.start, RecordKind::Carried);
        self.add_unclaimed(original.end, RecordKind::Value);
    }

    fn read_message(
        &mut self,
        file: &File,
        range: Bytes<u64>,
        original: Option<Bytes<u64>>,
    ) -> io::Result<()> {
        self.messages += 1;
        let carried = original.as_ref().map_or(0, |o| o.end - o.start);
        let is_giant = range.end - range.start - carried > LONGEST;
        let kind = if is_giant {
            RecordKind::Giant
        } else {
            RecordKind::Value
        };
        let Some(record) = self.marks.add(range.start, kind) else {
            return Ok(());
        };
        let bytes = if is_giant {
            Vec::new()
        } else {
            value_bytes(file, range, original.clone())?
        };
        // A giant stays one record.
        if let Some(original) = original.filter(|_| !is_giant) {
            self.mark_original(original);
        }
        let mut tree = std::mem::take(&mut self.tree);
        if tree.parse_into(&bytes).is_ok() && tree.root(&bytes).is_object() {
            self.read_object(tree.root(&bytes), record);
        } else {
            let what = format!("message {} is no object; skipped", self.messages);
            self.notes
                .push(Note::damage(what).at(self.path).line(self.span.number));
            self.builder.unclaimed(RawRef { part: FILE, record });
        }
        self.tree = tree;
        Ok(())
    }

    fn read_object(&mut self, value: Value<'_>, record: u32) {
        let more = message_extensions(value);
        if let Some(more) = more {
            if self.messages == 1 {
                self.read_facts(more);
            }
            if let Some(before) = more.get("preceded_by") {
                self.read_entries(before, record);
            }
        }
        let joins = more.is_some_and(|m| crate::fields::is_true(m, "joined"));
        let owner = self.last.filter(|_| joins);
        let head = message_head(value);
        if let Some(ix) = owner {
            // One message came in several: this is the rest of the one before.
            self.builder.claim(ix, RawRef { part: FILE, record });
            self.builder.alias(ix, &head.id);
            if !self.is_whole && !head.id.is_empty() {
                self.ids.insert(head.id, ix);
            }
        } else {
            let hangs = self.parent_of(value, more);
            if self.add_entry(&head, hangs, record) && !self.is_whole {
                let is_answer = matches!(head.kind, Kind::Message(Role::Assistant));
                self.goes_on.push(is_answer || only_results(value));
            }
        }
        if !self.titled
            && let Some(text) = super::message::prompt_text(value)
        {
            self.prompt.add(&text);
            self.titled = self.prompt.has_words();
            self.head.title = self.prompt.title();
        }
        if let Some(after) = more.and_then(|m| m.get("followed_by")) {
            self.read_entries(after, record);
        }
    }

    /// What a message hangs on, where that is not what stands before it.
    fn parent_of(&self, value: Value<'_>, more: Option<Value<'_>>) -> Option<EntryParent> {
        if let Some(number) = more.and_then(|m| count_of(m, "parent_entry")) {
            return Some(EntryParent::Number(number));
        }
        if self.is_whole {
            return None;
        }
        match value.get("parent_uuid") {
            Some(parent) if parent.is_null() && value.get("uuid").is_some() => {
                Some(EntryParent::Number(0))
            }
            Some(_) => string_of(value, "parent_uuid").map(EntryParent::Message),
            None => None,
        }
    }

    fn read_entries(&mut self, list: Value<'_>, record: u32) {
        for value in list.items() {
            let head = entry_head(value);
            let hangs = count_of(value, "parent_entry").map(EntryParent::Number);
            self.add_entry(&head, hangs, record);
        }
    }

    /// Adds an entry; whether that could be done.
    fn add_entry(&mut self, head: &UnifiedHead, hangs: Option<EntryParent>, record: u32) -> bool {
        let raw = RawRef { part: FILE, record };
        let new = NewEntry {
            id: &head.id,
            parent: self.last,
            kind: head.kind,
            time: head.time,
            visibility: head.visibility,
            origin: &[raw],
        };
        let added = if head.beside {
            self.builder.add_beside(&new)
        } else {
            self.builder.add(&new)
        };
        let Some(ix) = added else {
            self.builder.unclaimed(raw);
            return false;
        };
        let entry = self.builder.entry(ix);
        entry.inherited = head.inherited;
        entry.side = head.side;
        if let Some(key) = &head.usage_key {
            self.builder.set_usage_key(ix, key);
        }
        if let (Some(hangs), false) = (hangs, head.beside) {
            self.links.push((ix, hangs));
        }
        if !head.beside {
            self.last = Some(ix);
        }
        if !self.is_whole && !head.id.is_empty() {
            self.ids.insert(head.id.clone(), ix);
        }
        true
    }

    fn add_unclaimed(&mut self, at: u64, kind: RecordKind) -> u32 {
        let Some(record) = self.marks.add(at, kind) else {
            return u32::MAX;
        };
        self.builder.unclaimed(RawRef { part: FILE, record });
        record
    }

    fn finish_session(
        mut self,
        source: &Source,
        opened: OpenedExport,
        version: Option<String>,
    ) -> Conversation {
        if let Some(damage) = &opened.damage {
            self.notes.push(Note::damage(damage).at(self.path));
        }
        self.head.format = SLUG;
        if self.head.id.is_empty() {
            self.head.id.clone_from(&source.id);
        }
        if self.head.dialect.is_none() {
            self.head.dialect = version;
        }
        *self.builder.head() = self.head;
        let len = self.builder.len();
        let numbered = |n: u64| {
            let at = usize::try_from(n).ok()?.checked_sub(1)?;
            EntryIx::new(at).filter(|_| at < len)
        };
        let branches = self.branches.iter().filter_map(|id| self.ids.get(id));
        let branches: HashSet<EntryIx> = branches.copied().collect();
        for (ix, hangs) in self.links {
            let parent = match hangs {
                EntryParent::Number(n) => numbered(n),
                EntryParent::Message(id) => {
                    let found = self.ids.get(&id).copied();
                    if found.is_none() {
                        let what = format!("the parent `{id}` is missing; the message is a root");
                        let note = Note::damage(what).at(self.path);
                        self.notes.push(note.line(self.span.number));
                    }
                    // Clients name for each result its own call, and forks are what the graph says.
                    found.map(|parent| {
                        if branches.contains(&ix) {
                            parent
                        } else {
                            end_of_turn(&self.goes_on, parent, ix)
                        }
                    })
                }
            };
            self.builder.entry(ix).parent = parent.filter(|p| *p != ix);
        }
        let active = self.active.and_then(|id| self.ids.get(&id).copied());
        match (self.leaf_entry, active) {
            (Some(number), _) => self.builder.set_leaf(numbered(number)),
            (None, Some(leaf)) => self.builder.set_leaf(Some(leaf)),
            (None, None) => {}
        }
        let part = opened.into_part(&source.path);
        Conversation {
            source: source.clone(),
            native: Native {
                parts: vec![part.with_records(self.marks)],
            },
            session: self.builder.finish(),
            notes: self.notes,
        }
    }
}
