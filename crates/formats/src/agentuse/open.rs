//! A session that nobody else of ours writes to, and what is to be written to it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rethread_disk::{
    Created, DiskError, LockedLog, Mode, create, create_folder_with, ensure_folder, read_small,
    replace,
};
use rethread_json::{Document, Patch, Tree, Value};
use rethread_model::{Moment, Note};

use super::fields::{moment, string};
use super::files::{ExchangeFiles, SessionFiles, stem};
use super::layout::{MESSAGE_JSON, PART, SESSION_JSON};
use super::ulid::{self, Ids};
use crate::{OpenError, Source, WriteError, Writing};

/// One thing to be written.
#[derive(Debug)]
pub(super) enum Step {
    /// A new exchange: its folder appears whole or not at all.
    Exchange {
        folder: PathBuf,
        message: Vec<u8>,
        parts: Vec<(String, Vec<u8>)>,
    },
    /// A new file.
    Create(PathBuf, Vec<u8>),
    /// A file with other bytes.
    Replace(PathBuf, Vec<u8>),
}

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
pub(super) struct OpenSession<'a> {
    pub(super) w: &'a Writing<'a>,
    folder: &'a Path,
    /// The id in the name of its folder.
    pub(super) id: String,
    pub(super) description: Document,
    mode: Mode,
    /// In their order.
    pub(super) exchanges: Vec<Exchange>,
    pub(super) ids: Ids,
    /// What will be in files that are to be written.
    planned: BTreeMap<PathBuf, Vec<u8>>,
    pub(super) notes: Vec<Note>,
    /// The time of what is written: never before that of the last exchange.
    clock: Moment,
    _lock: LockedLog,
}

impl<'a> OpenSession<'a> {
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
        let files = SessionFiles::scan(folder)?;
        let mut salt = source.id.clone().into_bytes();
        salt.extend(files.size().to_le_bytes());
        let mut session = Self {
            w,
            folder,
            id: super::layout::source(folder.to_owned()).id,
            description,
            mode: Mode::like(folder)?,
            exchanges: Vec::new(),
            ids: Ids::new(w.env, &salt),
            planned: BTreeMap::new(),
            notes: Vec::new(),
            clock: w.env.now(),
            _lock: lock,
        };
        session.in_order(files.exchanges);
        session.ids = Ids::at(session.clock, w.env, &salt);
        if let Some(last) = session.last() {
            session.ids.follow(&last.id);
            for part in session.parts(&last) {
                let id = part.file_stem().unwrap_or_default().to_string_lossy();
                session.ids.follow(&id);
            }
        }
        Ok(session)
    }

    /// Exchanges by their time, then their id. One whose message is damaged is not written to.
    fn in_order(&mut self, files: Vec<ExchangeFiles>) {
        let mut dated = Vec::new();
        for files in files {
            let exchange = Exchange {
                id: files.id,
                folder: files.folder,
            };
            match self.read(&exchange.message()) {
                Ok(message) => {
                    let created = moment(message.root(), &["time", "created"]);
                    let created = created.or_else(|| ulid::made_at(&exchange.id));
                    dated.push((created, exchange.id.clone(), exchange));
                }
                Err(e) => self
                    .notes
                    .push(Note::remark(format!("not written to: {e}"))),
            }
        }
        dated.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        let last = dated.last().and_then(|(created, _, _)| *created);
        self.clock = self.clock.max(last.unwrap_or(self.clock));
        self.exchanges = dated.into_iter().map(|(_, _, e)| e).collect();
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

    /// The exchange that is the last one.
    pub(super) fn last(&self) -> Option<Exchange> {
        self.exchanges.last().cloned()
    }

    /// Whether a message has an answer, or at least the beginning of one.
    pub(super) fn is_answered(&self, exchange: &Exchange, message: Value<'_>) -> bool {
        message.at(&["time", "completed"]).is_some() || !self.parts(exchange).is_empty()
    }

    /// The files of an exchange's parts, with those to come.
    pub(super) fn parts(&self, exchange: &Exchange) -> BTreeSet<PathBuf> {
        let folder = exchange.folder.join(PART);
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let is_part = |p: &PathBuf| {
            let name = p.file_name().unwrap_or_default().to_string_lossy();
            stem(&name).is_some()
        };
        let mut parts: BTreeSet<PathBuf> = entries.map(|e| e.path()).filter(is_part).collect();
        let planned = self.planned.keys().filter(|p| p.starts_with(&folder));
        parts.extend(planned.cloned());
        parts
    }

    /// The exchange and the file of the call with this id; the latest where there are several.
    pub(super) fn call(&self, call_id: &str) -> Option<(Exchange, PathBuf)> {
        let mut tree = Tree::default();
        for exchange in self.exchanges.iter().rev() {
            for path in self.parts(exchange).into_iter().rev() {
                let bytes = match self.planned.get(&path) {
                    Some(bytes) => bytes.clone(),
                    None => read_small(&path).unwrap_or_default(),
                };
                if memchr::memmem::find(&bytes, call_id.as_bytes()).is_none()
                    || tree.parse_into(&bytes).is_err()
                {
                    continue;
                }
                let call = tree.root(&bytes).get("callID");
                if call.is_some_and(|c| c.is_str(call_id)) {
                    return Some((exchange.clone(), path));
                }
            }
        }
        None
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
    pub(super) fn task(&self) -> Option<String> {
        let first = self.exchanges.first()?;
        let message = self.read(&first.message()).ok()?;
        string(message.root().at(&["user", "prompt"])?, "task")
    }

    /// Notes what a step will make of the files.
    pub(super) fn plan(&mut self, step: &Step) {
        match step {
            Step::Exchange {
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
            }
            Step::Create(path, bytes) | Step::Replace(path, bytes) => {
                self.planned.insert(path.clone(), bytes.clone());
            }
        }
    }

    /// The folder of a new exchange.
    pub(super) fn exchange_folder(&self, id: &str) -> PathBuf {
        self.folder.join(id)
    }

    /// Carries a step out.
    pub(super) fn carry_out(&self, step: Step) -> Result<(), WriteError> {
        let (mode, d) = (self.mode, self.w.durability);
        match step {
            Step::Exchange {
                folder,
                message,
                parts,
            } => {
                let made = create_folder_with(&folder, mode, d, |temp| {
                    let _ = create(&temp.join(MESSAGE_JSON), &message, mode, d)?;
                    if !parts.is_empty() {
                        ensure_folder(&temp.join(PART), &mode, d)?;
                    }
                    for (id, bytes) in &parts {
                        let path = temp.join(PART).join(format!("{id}.json"));
                        let _ = create(&path, bytes, mode, d)?;
                    }
                    Ok::<(), WriteError>(())
                })?;
                exists_already(made, &folder)
            }
            Step::Create(path, bytes) => {
                if let Some(folder) = path.parent() {
                    refuse_link(folder)?;
                    ensure_folder(folder, &mode, d)?;
                }
                exists_already(create(&path, &bytes, mode, d)?, &path)
            }
            Step::Replace(path, bytes) => Ok(replace(&path, &bytes, mode, d)?),
        }
    }

    /// Notes in the description that something changed. Comes last, because the lock goes with it.
    pub(super) fn touch(self) -> Result<Vec<Note>, WriteError> {
        let root = self.description.root();
        let now = self.now();
        let known = moment(root, &["time", "updated"]).map(Moment::millis);
        if known.is_none_or(|known| known < now) {
            let mut patch = Patch::new(root);
            match root.get("time").filter(|t| t.is_object()) {
                Some(time) => patch.set(time, "updated", now.to_string().as_bytes()),
                None => patch.set(root, "time", format!("{{\"updated\":{now}}}").as_bytes()),
            }
            let path = self.folder.join(SESSION_JSON);
            replace(&path, &patch.finish(), self.mode, self.w.durability)?;
        }
        Ok(self.notes)
    }
}

fn exists_already(made: Created, path: &Path) -> Result<(), WriteError> {
    match made {
        Created::New => Ok(()),
        Created::Existed => Err(WriteError::Exists {
            id: path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            path: path.to_owned(),
        }),
    }
}

/// A folder that is a link may lead out of the store.
pub(super) fn refuse_link(folder: &Path) -> Result<(), WriteError> {
    let is_link = std::fs::symlink_metadata(folder).is_ok_and(|m| m.file_type().is_symlink());
    if !is_link {
        return Ok(());
    }
    let cause = std::io::Error::other("it is a link, and links are not followed out of a session");
    Err(DiskError::Write {
        path: folder.to_owned(),
        cause,
    }
    .into())
}
