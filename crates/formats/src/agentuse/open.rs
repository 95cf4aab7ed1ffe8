//! A session that nobody else of ours writes to, and what is to be written to it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rethread_disk::{DiskError, LockedLog, Mode, read_small, replace};
use rethread_json::{Document, Patch, Tree, Value};
use rethread_model::{Moment, Note};

use super::fields::moment_at_path;
use super::files::{ExchangeFiles, FilesHere, json_stem};
use super::steps::{self, WriteStep};
use super::store::{MESSAGE_JSON, PART, SESSION_JSON};
use super::ulid::{self, UlidSource};
use crate::fields::string_of;
use crate::kit::{bad_message, is_absent, read_error};
use crate::{OpenError, Source, WriteError, Writing};

/// So many exchanges, the newest by their ids, are opened to find the last one: its time decides,
/// and ids are made at about that time.
const NEWEST: usize = 16;

/// An exchange to be added to.
#[derive(Clone, Debug)]
pub(super) struct Exchange {
    pub(super) id: String,
    pub(super) folder: PathBuf,
}

impl Exchange {
    pub(super) fn message(&self) -> PathBuf {
        self.folder.join(MESSAGE_JSON)
    }

    pub(super) fn part(&self, id: &str) -> PathBuf {
        self.folder.join(PART).join(format!("{id}.json"))
    }
}

/// A session under its lock.
pub(super) struct LockedExchanges<'a> {
    pub(super) w: &'a Writing<'a>,
    folder: &'a Path,
    /// The id in the name of its folder.
    pub(super) id: String,
    pub(super) description: Document,
    mode: Mode,
    /// In their order, without those that were opened and whose message is damaged.
    pub(super) exchanges: Vec<Exchange>,
    /// The last exchange, where its message is damaged.
    damaged_last: Option<Exchange>,
    pub(super) ids: UlidSource,
    /// What will be in files that are to be written.
    planned: BTreeMap<PathBuf, Vec<u8>>,
    pub(super) notes: Vec<Note>,
    /// The time of what is written: never before that of the last exchange.
    clock: Moment,
    _lock: LockedLog,
}

impl<'a> LockedExchanges<'a> {
    /// Locks a session for writing. The lock is on its description.
    pub(super) fn lock(w: &'a Writing<'a>, source: &'a Source) -> Result<Self, WriteError> {
        let folder = source.path.as_path();
        let path = folder.join(SESSION_JSON);
        let lock = LockedLog::open(&path, w.lock_timeout)?;
        let bytes = read_small(&path)?;
        let damaged = |line, why| OpenError::Damaged {
            path: path.clone(),
            line,
            why,
        };
        let description =
            Document::parse(bytes).map_err(|e| damaged(Some(e.line as u64), e.to_string()))?;
        if !description.root().is_object() {
            return Err(damaged(None, "not a JSON object".to_owned()).into());
        }
        let mut files = FilesHere::scan(folder)?;
        if let Some(e) = files.failed.take() {
            return Err(e.into());
        }
        let mut salt = source.id.clone().into_bytes();
        salt.extend(files.size().to_le_bytes());
        let mut session = Self {
            w,
            folder,
            id: super::store::source_at(folder.to_owned()).id,
            description,
            mode: Mode::like(folder)?,
            exchanges: Vec::new(),
            damaged_last: None,
            ids: UlidSource::new(w.env, &salt),
            planned: BTreeMap::new(),
            notes: Vec::new(),
            clock: w.env.now(),
            _lock: lock,
        };
        session.in_order(files.exchanges)?;
        session.ids = UlidSource::at(session.clock, w.env, &salt);
        if let Some(damaged) = &session.damaged_last {
            session.ids.follow(&damaged.id);
        }
        if let Some(last) = session.exchanges.last().cloned() {
            session.ids.follow(&last.id);
            for part in session.parts(&last)? {
                let id = part.file_stem().unwrap_or_default().to_string_lossy();
                session.ids.follow(&id);
            }
        }
        Ok(session)
    }

    /// The newest exchanges by their time, then their id, behind the others by their ids. One whose
    /// message is damaged is not written to; one whose message cannot be read could be the last, so
    /// nothing is written then.
    fn in_order(&mut self, files: Vec<ExchangeFiles>) -> Result<(), WriteError> {
        let older = files.len().saturating_sub(NEWEST);
        let mut all = files.into_iter().map(|files| Exchange {
            id: files.id,
            folder: files.folder,
        });
        self.exchanges = all.by_ref().take(older).collect();
        let mut dated = Vec::new();
        for exchange in all {
            let by_id = ulid::made_at(&exchange.id);
            let (created, is_sound) = match self.read(&exchange.message()) {
                Ok(message) => {
                    let created = moment_at_path(message.root(), &["time", "created"]);
                    (created.or(by_id), true)
                }
                Err(e) if is_damage(&e) => {
                    self.notes
                        .push(Note::remark(format!("not written to: {e}")));
                    (by_id, false)
                }
                Err(e) => return Err(e),
            };
            dated.push(((created, exchange.id.clone()), exchange, is_sound));
        }
        dated.sort_by(|a, b| a.0.cmp(&b.0));
        self.damaged_last = match dated.last() {
            Some((_, exchange, false)) => Some(exchange.clone()),
            _ => None,
        };
        let last = dated.last().and_then(|((created, _), _, _)| *created);
        self.clock = self.clock.max(last.unwrap_or(self.clock));
        dated.retain(|(_, _, is_sound)| *is_sound);
        self.exchanges.extend(dated.into_iter().map(|(_, e, _)| e));
        Ok(())
    }

    pub(super) fn now(&self) -> i64 {
        self.clock.millis()
    }

    /// An object as it is, or as it will be.
    pub(super) fn read(&self, path: &Path) -> Result<Document, WriteError> {
        let bytes = match self.planned.get(path) {
            Some(bytes) => bytes.clone(),
            None => read_small(path)?,
        };
        let damaged = |line, why| OpenError::Damaged {
            path: path.to_owned(),
            line,
            why,
        };
        let document =
            Document::parse(bytes).map_err(|e| damaged(Some(e.line as u64), e.to_string()))?;
        if !document.root().is_object() {
            return Err(damaged(None, "not a JSON object".to_owned()).into());
        }
        Ok(document)
    }

    /// The exchange that is the last one; none where that is damaged.
    pub(super) fn last(&self) -> Option<Exchange> {
        match self.damaged_last {
            Some(_) => None,
            None => self.exchanges.last().cloned(),
        }
    }

    /// The exchange that an answer belongs to.
    pub(super) fn asked(&self) -> Result<Exchange, WriteError> {
        if let Some(damaged) = &self.damaged_last {
            let why = "the message to be answered cannot be read".to_owned();
            return Err(OpenError::Damaged {
                path: damaged.message(),
                line: None,
                why,
            }
            .into());
        }
        let none = || bad_message("nothing was asked yet; add a message of the user first");
        self.last().ok_or_else(none)
    }

    /// Whether a message has an answer, or at least the beginning of one.
    pub(super) fn is_answered(
        &self,
        exchange: &Exchange,
        message: Value<'_>,
    ) -> Result<bool, WriteError> {
        let is_completed = message.at(&["time", "completed"]).is_some();
        Ok(is_completed || !self.parts(exchange)?.is_empty())
    }

    /// The files of an exchange's parts, with those to come.
    pub(super) fn parts(&self, exchange: &Exchange) -> Result<BTreeSet<PathBuf>, WriteError> {
        let folder = exchange.folder.join(PART);
        let mut parts = BTreeSet::new();
        match std::fs::read_dir(&folder) {
            Ok(entries) => {
                for entry in entries {
                    let path = entry.map_err(|e| read_error(&folder, e))?.path();
                    let name = path.file_name().unwrap_or_default().to_string_lossy();
                    if json_stem(&name).is_some() {
                        parts.insert(path);
                    }
                }
            }
            Err(e) if is_absent(&e) => {}
            Err(e) => return Err(read_error(&folder, e).into()),
        }
        let planned = self.planned.keys().filter(|p| p.starts_with(&folder));
        parts.extend(planned.cloned());
        Ok(parts)
    }

    /// The exchange and the file of the call with this id; the latest where there are several.
    pub(super) fn call(&self, call_id: &str) -> Result<Option<(Exchange, PathBuf)>, WriteError> {
        let mut tree = Tree::default();
        for exchange in self.exchanges.iter().rev() {
            for path in self.parts(exchange)?.into_iter().rev() {
                let bytes = match self.planned.get(&path) {
                    Some(bytes) => bytes.clone(),
                    None => read_small(&path)?,
                };
                if memchr::memmem::find(&bytes, call_id.as_bytes()).is_none()
                    || tree.parse_into(&bytes).is_err()
                {
                    continue;
                }
                let call = tree.root(&bytes).get("callID");
                if call.is_some_and(|c| c.is_str(call_id)) {
                    return Ok(Some((exchange.clone(), path)));
                }
            }
        }
        Ok(None)
    }

    /// The exchange and the file of the part with this id.
    pub(super) fn part(&self, id: &str) -> Option<(Exchange, PathBuf)> {
        let found = self.exchanges.iter().find_map(|exchange| {
            let path = exchange.part(id);
            let is_there = self.planned.contains_key(&path) || path.is_file();
            is_there.then(|| (exchange.clone(), path))
        });
        found.filter(|_| ulid::is_id(id))
    }

    /// The task of the session: that of its first exchange.
    pub(super) fn task(&self) -> Result<Option<String>, WriteError> {
        for exchange in &self.exchanges {
            let message = match self.read(&exchange.message()) {
                Ok(message) => message,
                Err(e) if is_damage(&e) => continue,
                Err(e) => return Err(e),
            };
            let prompt = message.root().at(&["user", "prompt"]);
            return Ok(prompt.and_then(|prompt| string_of(prompt, "task")));
        }
        Ok(None)
    }

    /// Notes what a step will make of the files.
    pub(super) fn plan(&mut self, step: &WriteStep) {
        match step {
            WriteStep::Exchange {
                folder,
                message,
                parts,
            } => {
                let exchange = Exchange {
                    id: folder
                        .file_name()
                        .unwrap_or_default()
                        .to_string_lossy()
                        .into_owned(),
                    folder: folder.clone(),
                };
                self.planned.insert(exchange.message(), message.clone());
                for (id, bytes) in parts {
                    self.planned.insert(exchange.part(id), bytes.clone());
                }
                self.exchanges.push(exchange);
                self.damaged_last = None;
            }
            WriteStep::Create(path, bytes) | WriteStep::Replace(path, bytes) => {
                self.planned.insert(path.clone(), bytes.clone());
            }
        }
    }

    /// The folder of a new exchange.
    pub(super) fn exchange_folder(&self, id: &str) -> PathBuf {
        self.folder.join(id)
    }

    /// Carries out what belongs together.
    pub(super) fn carry_out(&self, steps: Vec<WriteStep>) -> Result<(), WriteError> {
        steps::carry_out(steps, self.mode, self.w.durability)
    }

    /// Notes in the description that something changed. Comes last, because the lock goes with it.
    /// What changed is saved by then, so trouble with that is a note.
    pub(super) fn touch(mut self) -> Vec<Note> {
        let root = self.description.root();
        let now = self.now();
        let known = moment_at_path(root, &["time", "updated"]).map(Moment::millis);
        if known.is_none_or(|known| known < now) {
            let mut patch = Patch::new(root);
            match root.get("time").filter(|t| t.is_object()) {
                Some(time) => patch.set(time, "updated", now.to_string().as_bytes()),
                None => patch.set(root, "time", format!("{{\"updated\":{now}}}").as_bytes()),
            }
            let path = self.folder.join(SESSION_JSON);
            if let Err(e) = replace(&path, &patch.finish(), self.mode, self.w.durability) {
                self.notes.push(crate::write::saved_but(&path, &e));
            }
        }
        self.notes
    }
}

/// Whether a message is damaged or missing, rather than kept from us.
fn is_damage(e: &WriteError) -> bool {
    matches!(
        e,
        WriteError::Open(OpenError::Damaged { .. }) | WriteError::Disk(DiskError::NotFound { .. })
    )
}
