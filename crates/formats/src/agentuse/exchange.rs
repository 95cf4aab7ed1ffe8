//! One exchange as entries: system prompts, prompt, answer, and what happened meanwhile.

use std::collections::BTreeMap;

use rethread_model::{Kind, Link, LinkKind, Moment, NewEntry, Note, RawRef, Role, Visibility};

use super::files::FileHere;
use super::load::{LoadedExchange, LoadedPart, MOST_PROMPTS, MessageFacts, PartFacts, Says, load};
use super::reader::ExchangeReader;
use crate::{Part, PartKind};

/// Adds the entries of an exchange.
pub(super) fn add_exchange(reader: &mut ExchangeReader, mut exchange: LoadedExchange) {
    reader.usage += &exchange.usage();
    let facts = exchange.facts.take();
    if let Some(ms) = facts.as_ref().and_then(MessageFacts::duration_ms) {
        reader.duration_ms = Some(reader.duration_ms.unwrap_or(0).saturating_add(ms));
    }
    let message = exchange.message.take().map(|loaded| reader.part(loaded));
    if let Some(raw) = message.filter(|_| facts.is_none()) {
        reader.builder.unclaimed(raw);
    }
    let mut artifacts: BTreeMap<String, Artifact> = BTreeMap::new();
    for file in &exchange.artifacts {
        let (name, artifact) = Artifact::of(reader, file);
        artifacts.insert(name, artifact);
    }
    let mut answer = Answer {
        reader,
        message: message.filter(|_| facts.is_some()),
        facts: facts.unwrap_or_default(),
        key: exchange.id,
        artifacts,
        open: Vec::new(),
        waiting: Vec::new(),
        is_there: false,
    };
    answer.prompt();
    for part in exchange.parts {
        answer.part(part);
    }
    answer.end();
}

/// A file with a tool's whole answer.
struct Artifact {
    raw: RawRef,
    file: FileHere,
    len: u64,
    is_claimed: bool,
    is_sound: bool,
}

impl Artifact {
    /// Looks at the file: one that is called JSON must be some.
    fn of(reader: &mut ExchangeReader, file: &FileHere) -> (String, Self) {
        let name = file.path.file_name().unwrap_or_default().to_string_lossy();
        let is_json = file.path.extension().is_some_and(|e| e == "json");
        let (tree, notes) = (&mut reader.tree, &mut reader.notes);
        let is_sound = !is_json || load(file, None, tree, notes, &mut |_| {}).is_sound;
        let len = file.len();
        let part = Part::closed(file.path.clone(), PartKind::Opaque, len);
        let artifact = Self {
            raw: reader.push(part),
            file: file.clone(),
            len,
            is_claimed: false,
            is_sound,
        };
        (name.into_owned(), artifact)
    }
}

/// A part that was said, by its records.
struct SaidPart {
    raw: RawRef,
    artifact: Option<RawRef>,
    id: String,
    stem: String,
    time: Option<Moment>,
}

/// The answer of an exchange while its parts go by.
struct Answer<'a> {
    reader: &'a mut ExchangeReader,
    /// The record of the message; none where it is damaged.
    message: Option<RawRef>,
    facts: MessageFacts,
    /// What all its entries share: their usage is counted once.
    key: String,
    artifacts: BTreeMap<String, Artifact>,
    /// Parts of the entry that is open.
    open: Vec<SaidPart>,
    /// Events since that entry began.
    waiting: Vec<SaidPart>,
    /// Whether there is an entry already.
    is_there: bool,
}

impl Answer<'_> {
    /// The system prompts, hidden, and the prompt.
    fn prompt(&mut self) {
        let Some(raw) = self.message else { return };
        for _ in 0..self.facts.system.min(MOST_PROMPTS) {
            self.reader.add(&NewEntry {
                time: self.facts.created,
                visibility: Visibility::Hidden,
                ..NewEntry::message("", Role::System, &[raw])
            });
        }
        let id = self.facts.id.as_ref().unwrap_or(&self.key);
        let ix = self.reader.add(&NewEntry {
            time: self.facts.created,
            ..NewEntry::message(id, Role::User, &[raw])
        });
        if let Some(ix) = ix.filter(|_| *id != self.key) {
            self.reader.builder.alias(ix, &self.key);
        }
    }

    /// One part: the answer goes on, or something else stands between.
    fn part(&mut self, part: LoadedPart) {
        let (id, stem) = (part.id(), part.stem());
        let raw = self.reader.part(part.file);
        let Some(facts) = part.facts else {
            self.reader.builder.unclaimed(raw);
            return;
        };
        self.link(&facts);
        let said = SaidPart {
            raw,
            artifact: self.artifact(&facts),
            id,
            stem,
            time: facts.start,
        };
        match facts.says {
            Says::Answer => self.open.push(said),
            Says::Event if !self.open.is_empty() => self.waiting.push(said),
            Says::Event => self.alone(&said, Kind::Event, Visibility::UiOnly),
            Says::User => {
                self.close(false);
                self.alone(&said, Kind::Message(Role::User), Visibility::Visible);
            }
            Says::Compaction => {
                self.close(false);
                self.alone(&said, Kind::Compaction, Visibility::Visible);
            }
        }
    }

    /// Notes which call started a sub-agent.
    fn link(&mut self, facts: &PartFacts) {
        let Some((child, call)) = &facts.child else {
            return;
        };
        let fits =
            |l: &&mut Link| l.kind == LinkKind::SubAgent && l.session.eq_ignore_ascii_case(child);
        let links = &mut self.reader.builder.head().links;
        if let Some(link) = links.iter_mut().find(fits) {
            link.tool_call = Some(call.clone());
        }
    }

    /// The record of the file that a call names. It must be as long as the call says.
    fn artifact(&mut self, facts: &PartFacts) -> Option<RawRef> {
        let (name, len) = facts.artifact.as_ref()?;
        let artifact = self.artifacts.get_mut(name)?;
        artifact.is_claimed = true;
        if let Some(len) = len.filter(|len| *len != artifact.len && artifact.is_sound) {
            let message = format!("has {} bytes, but its call says {len}", artifact.len);
            let note = Note::damage(message).at(&artifact.file.path);
            self.reader.notes.push(note);
        }
        Some(artifact.raw)
    }

    /// A part that is an entry by itself.
    fn alone(&mut self, said: &SaidPart, kind: Kind, visibility: Visibility) {
        let ix = self.reader.add(&NewEntry {
            kind,
            time: said.time,
            visibility,
            ..NewEntry::message(&said.id, Role::System, &[said.raw])
        });
        if let Some(ix) = ix.filter(|_| said.id != said.stem) {
            self.reader.builder.alias(ix, &said.stem);
        }
        // Nothing but an answer shows it.
        if let Some(raw) = said.artifact {
            self.reader.builder.unclaimed(raw);
        }
    }

    /// Ends the entry that is open, if there is one or must be one, and adds what happened
    /// meanwhile.
    fn close(&mut self, must: bool) {
        let parts = std::mem::take(&mut self.open);
        if !parts.is_empty() || must {
            let of_parts = parts
                .iter()
                .flat_map(|p| [Some(p.raw), p.artifact])
                .flatten();
            let origin: Vec<RawRef> = self.message.into_iter().chain(of_parts).collect();
            let started = parts.iter().find_map(|p| p.time);
            let id = parts.first().map_or("", |p| &p.id);
            let ix = self.reader.add(&NewEntry {
                time: started.or(self.facts.created),
                ..NewEntry::message(id, Role::Assistant, &origin)
            });
            self.is_there = true;
            if let Some(ix) = ix {
                let builder = &mut self.reader.builder;
                builder.set_usage_key(ix, &self.key);
                for part in &parts {
                    for name in [&part.id, &part.stem] {
                        if name != id {
                            builder.alias(ix, name);
                        }
                    }
                }
            }
        }
        for event in std::mem::take(&mut self.waiting) {
            self.alone(&event, Kind::Event, Visibility::UiOnly);
        }
    }

    /// The end of the exchange, with the error that ended it.
    fn end(mut self) {
        let must = !self.is_there && self.message.is_some() && self.facts.is_answered();
        self.close(must);
        if let Some(raw) = self.message.filter(|_| self.facts.has_error) {
            self.reader.add(&NewEntry {
                kind: Kind::Event,
                time: self.facts.completed.or(self.facts.created),
                visibility: Visibility::UiOnly,
                ..NewEntry::message("", Role::System, &[raw])
            });
        }
        for artifact in self.artifacts.into_values().filter(|a| !a.is_claimed) {
            self.reader.builder.unclaimed(artifact.raw);
        }
    }
}
