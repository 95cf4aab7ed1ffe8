//! The files in a session's folder, by their names alone.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use rethread_disk::{Entry, EntryKind, OpenFolder, is_temporary};
use rethread_model::Note;

use super::carrier::OURS;
use super::store::{ARTIFACT, MESSAGE_JSON, PART, SESSION_JSON, SUBAGENT, split_name};
use super::ulid::is_id;
use crate::OpenError;
use crate::kit::read_error;

/// How deep folders are looked into; the format itself needs two levels.
const DEEPEST: usize = 16;

/// A file that was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileHere {
    pub(super) path: PathBuf,
}

impl FileHere {
    /// Its name: whole paths are compared piece by piece, and those in a folder begin alike.
    fn name(&self) -> OsString {
        self.path.file_name().unwrap_or_default().to_owned()
    }

    /// How long it is now.
    pub(super) fn len(&self) -> u64 {
        std::fs::metadata(&self.path).map_or(0, |m| m.len())
    }
}

/// The files of one exchange.
#[derive(Debug, Default)]
pub(super) struct ExchangeFiles {
    /// The name of its folder.
    pub(super) id: String,
    pub(super) folder: PathBuf,
    pub(super) message: Option<FileHere>,
    pub(super) parts: Vec<FileHere>,
    pub(super) artifacts: Vec<FileHere>,
}

/// The files of a session, without those of its sub-agents.
#[derive(Debug, Default)]
pub(super) struct FilesHere {
    pub(super) description: Option<FileHere>,
    /// In the order of their names.
    pub(super) exchanges: Vec<ExchangeFiles>,
    /// Tools, context, and whatever else is there.
    pub(super) others: Vec<FileHere>,
    /// Folders of sub-agents, in the order of their names.
    pub(super) children: Vec<PathBuf>,
    /// All folders whose names were looked at.
    pub(super) folders: Vec<PathBuf>,
    /// What could not be looked at.
    pub(super) notes: Vec<Note>,
    /// The first folder that could not be read: then there may be more than was found.
    pub(super) failed: Option<OpenError>,
}

impl FilesHere {
    /// Looks at the names in a session's folder. Nothing is opened.
    pub(super) fn scan(folder: &Path) -> Result<Self, OpenError> {
        let mut found = Self::default();
        let mut exchanges: BTreeMap<String, ExchangeFiles> = BTreeMap::new();
        let entries = std::fs::read_dir(folder).map_err(|e| read_error(folder, e))?;
        found.folders.push(folder.to_owned());
        let mut waiting: Vec<(PathBuf, usize)> = Vec::new();
        found.look(folder, entries, |found, entry| match entry {
            SeenFile::Folder(path, name) if name == SUBAGENT => {
                found.children = children(&path);
                found.folders.push(path);
            }
            SeenFile::Folder(path, name) if is_id(&name) => {
                let exchange = exchanges.entry(name.clone()).or_default();
                exchange.id = name;
                exchange.folder = path;
            }
            SeenFile::Folder(path, _) => waiting.push((path, 1)),
            SeenFile::File(file, name) if name == SESSION_JSON => found.description = Some(file),
            SeenFile::File(file, _) => found.others.push(file),
        });
        for exchange in exchanges.values_mut() {
            found.exchange(exchange, &mut waiting);
        }
        while let Some((folder, depth)) = waiting.pop() {
            found.folders.push(folder.clone());
            match std::fs::read_dir(&folder) {
                Ok(entries) => found.look(&folder, entries, |found, entry| match entry {
                    SeenFile::File(file, _) => found.others.push(file),
                    SeenFile::Folder(path, _) if depth < DEEPEST => waiting.push((path, depth + 1)),
                    SeenFile::Folder(path, _) => found.notes.push(too_deep(&path)),
                }),
                Err(e) => found.cannot(&folder, e),
            }
        }
        found.others.sort_by(|a, b| a.path.cmp(&b.path));
        found.exchanges = exchanges.into_values().collect();
        Ok(found)
    }

    fn exchange(&mut self, exchange: &mut ExchangeFiles, waiting: &mut Vec<(PathBuf, usize)>) {
        let folder = exchange.folder.clone();
        let (mut parts, mut artifacts) = (None, None);
        self.folder(&folder, |found, entry| match entry {
            SeenFile::File(file, name) if name == MESSAGE_JSON => exchange.message = Some(file),
            SeenFile::File(file, _) => found.others.push(file),
            SeenFile::Folder(path, name) if name == PART => parts = Some(path),
            SeenFile::Folder(path, name) if name == ARTIFACT => artifacts = Some(path),
            SeenFile::Folder(path, _) => waiting.push((path, 2)),
        });
        for (folder, is_part) in [(parts, true), (artifacts, false)] {
            let Some(folder) = folder else { continue };
            self.folder(&folder, |found, entry| match entry {
                SeenFile::File(file, name) if is_part && json_stem(&name).is_some() => {
                    exchange.parts.push(file);
                }
                SeenFile::File(file, _) if !is_part => exchange.artifacts.push(file),
                SeenFile::File(file, _) => found.others.push(file),
                SeenFile::Folder(path, _) => waiting.push((path, 3)),
            });
        }
        exchange.parts.sort_by_cached_key(FileHere::name);
        exchange.artifacts.sort_by_cached_key(FileHere::name);
    }

    fn folder(&mut self, folder: &Path, take: impl FnMut(&mut Self, SeenFile)) {
        self.folders.push(folder.to_owned());
        match std::fs::read_dir(folder) {
            Ok(entries) => self.look(folder, entries, take),
            Err(e) => self.cannot(folder, e),
        }
    }

    fn cannot(&mut self, folder: &Path, e: io::Error) {
        let note = Note::damage(format!("cannot be read: {e}"));
        self.notes.push(note.at(folder));
        self.failed.get_or_insert_with(|| read_error(folder, e));
    }

    /// Hands over what is in a folder. Links are named and left alone; what a program left behind
    /// in the middle of writing is nothing.
    fn look(
        &mut self,
        folder: &Path,
        entries: std::fs::ReadDir,
        mut take: impl FnMut(&mut Self, SeenFile),
    ) {
        for entry in entries {
            let seen = entry.and_then(|entry| Ok((entry.file_type()?, entry)));
            let (kind, entry) = match seen {
                Ok(seen) => seen,
                Err(e) => {
                    self.cannot(folder, e);
                    continue;
                }
            };
            let name = entry.file_name();
            if is_temporary(&name) || Path::new(&name).extension().is_some_and(|e| e == "tmp") {
                continue;
            }
            let text = name.to_string_lossy().into_owned();
            if kind.is_dir() {
                take(self, SeenFile::Folder(entry.path(), text));
            } else if kind.is_file() {
                let path = entry.path();
                take(self, SeenFile::File(FileHere { path }, text));
            } else {
                let note = Note::damage("neither a file nor a folder; skipped");
                self.notes.push(note.at(entry.path()));
            }
        }
    }

    /// All files, the description first.
    pub(super) fn all(&self) -> impl Iterator<Item = &FileHere> {
        let exchanges = self.exchanges.iter().flat_map(|e| {
            let message = e.message.iter();
            message.chain(&e.parts).chain(&e.artifacts)
        });
        self.description.iter().chain(exchanges).chain(&self.others)
    }

    /// The bytes of all files.
    pub(super) fn size(&self) -> u64 {
        self.all().map(FileHere::len).fold(0, u64::saturating_add)
    }
}

/// What a list needs to know of a session, from as few names as will do.
#[derive(Debug, Default)]
pub(super) struct FileNames {
    /// Whether there is a description.
    pub(super) described: bool,
    /// Whether something travels along.
    pub(super) carries: bool,
    /// Exchanges.
    pub(super) exchanges: u64,
    /// Exchanges that have parts.
    pub(super) answered: u64,
    /// Folders of sub-agents, in the order of their names.
    pub(super) children: Vec<PathBuf>,
}

impl FileNames {
    /// Looks at the names in a session's folder, and whether its exchanges have parts. The folder
    /// is still open then.
    pub(super) fn look(path: &Path) -> Result<(Self, OpenFolder), OpenError> {
        let mut folder = OpenFolder::open(path).map_err(|e| read_error(path, e))?;
        let mut names = Self::default();
        let mut exchanges = Vec::new();
        for entry in folder.entries() {
            let Entry { name, kind } = entry.map_err(|e| read_error(path, e))?;
            if kind == EntryKind::File {
                names.described |= name == SESSION_JSON;
                names.carries |= name == OURS;
            } else if kind == EntryKind::Folder && name == SUBAGENT {
                names.children = children(&path.join(SUBAGENT));
            } else if kind == EntryKind::Folder && name.to_str().is_some_and(is_id) {
                exchanges.push(Path::new(&name).join(PART));
            }
        }
        names.exchanges = exchanges.len() as u64;
        let answered = exchanges.iter().filter(|part| folder.may_have(part));
        names.answered = answered.count() as u64;
        Ok((names, folder))
    }
}

enum SeenFile {
    Folder(PathBuf, String),
    File(FileHere, String),
}

/// The folders of sub-agents. What cannot be read is told when sessions are listed.
fn children(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_session = |name: &str| split_name(name).is_some();
    let mut children: Vec<PathBuf> = entries
        .filter(|e| e.file_type().is_ok_and(|t| t.is_dir()))
        .filter(|e| is_session(&e.file_name().to_string_lossy()))
        .map(|e| e.path())
        .collect();
    children.sort();
    children
}

/// The id in the name of a part's file.
pub(super) fn json_stem(name: &str) -> Option<&str> {
    name.strip_suffix(".json").filter(|s| !s.is_empty())
}

fn too_deep(folder: &Path) -> Note {
    Note::damage("nested too deep; not looked into").at(folder)
}
