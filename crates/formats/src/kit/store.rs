//! What stores have in common: where they are, what is in their folders, and files that are absent or
//! unreadable.

use std::fs::DirEntry;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use rethread_disk::{DiskError, open_read};
use rethread_json::{Tree, Value};
use rethread_model::Note;

use crate::{Env, FormatRef, OpenError, Removal, Root, Source};

/// Takes sessions that were found, and notes on what could not be looked at.
pub(crate) type SourceSink<'a> = dyn FnMut(Result<Source, Note>) + 'a;

/// The folders of an agent: the one that a variable names, else one in each home.
pub(crate) fn agent_folders(env: &Env, variable: &str, in_home: &str) -> Vec<PathBuf> {
    match env.agent_variable(variable) {
        Some(folder) => vec![env.cwd.join(folder)],
        None => env.homes.iter().map(|home| home.join(in_home)).collect(),
    }
}

/// The stores in these folders, each once.
pub(crate) fn known_roots(
    format: FormatRef,
    folders: impl IntoIterator<Item = PathBuf>,
) -> Vec<Root> {
    let mut roots: Vec<Root> = Vec::new();
    for path in folders {
        if roots.iter().all(|root| root.path != path) {
            roots.push(Root::known(format, path));
        }
    }
    roots
}

/// The paths in a folder, in their order. An absent folder has none; what cannot be read is noted.
pub(crate) fn folder_entries(folder: &Path, out: &mut SourceSink<'_>) -> Vec<PathBuf> {
    let entries = sorted_entries(folder, out).into_iter();
    entries.map(|entry| entry.path()).collect()
}

/// What is in a folder, in the order of names. An absent folder has nothing; what cannot be read is noted.
pub(crate) fn sorted_entries(folder: &Path, out: &mut SourceSink<'_>) -> Vec<DirEntry> {
    let unreadable = |e: &io::Error| Note::damage(format!("cannot be read: {e}")).at(folder);
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if is_absent(&e) => return Vec::new(),
        Err(e) => {
            out(Err(unreadable(&e)));
            return Vec::new();
        }
    };
    let mut found = Vec::new();
    for entry in entries {
        match entry {
            Ok(entry) => found.push(entry),
            Err(e) => out(Err(unreadable(&e))),
        }
    }
    found.sort_by_cached_key(DirEntry::file_name);
    found
}

/// Whether an error says that there is nothing.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// The error for a folder or a file that cannot be read.
pub(crate) fn read_error(path: &Path, cause: io::Error) -> OpenError {
    let path = path.to_owned();
    if is_absent(&cause) {
        return DiskError::NotFound { path }.into();
    }
    DiskError::Read { path, cause }.into()
}

/// Says why a session whose main file is a file has none.
pub(crate) fn require_file(source: &Source) -> Result<(), OpenError> {
    let path = source.path.clone();
    match std::fs::metadata(&path) {
        Ok(meta) if meta.is_file() => Ok(()),
        Ok(_) => Err(OpenError::NotOurs {
            path,
            format: source.format.slug(),
        }),
        Err(cause) => Err(read_error(&path, cause)),
    }
}

/// How much of a file is looked at to know whose it is.
const LOOK: u64 = 64 * 1024;

/// Whether the first line of a file is a JSON value that fits.
pub(crate) fn begins_with(path: &Path, fits: impl FnOnce(Value<'_>) -> bool) -> bool {
    let mut start = Vec::new();
    let read = open_read(path).map(|file| file.take(LOOK).read_to_end(&mut start));
    let line = start.split(|byte| *byte == b'\n').next();
    match (read, line) {
        (Ok(Ok(_)), Some(line)) => Tree::parse(line).is_ok_and(|tree| fits(tree.root(line))),
        _ => false,
    }
}

/// A store that is a folder with a log for each session: a file, or in a folder of the session's own.
/// Their names are the ids.
pub(crate) struct LogFolders {
    pub(crate) format: FormatRef,
    /// The variable that names the agent's folder, and its name in a home.
    pub(crate) variable: &'static str,
    pub(crate) in_home: &'static str,
    /// The folder of sessions in the agent's folder.
    pub(crate) sessions: &'static str,
    /// The log in a session's own folder.
    pub(crate) log: &'static str,
    /// Whether a file begins as such logs do.
    pub(crate) is_log: fn(&Path) -> bool,
}

impl LogFolders {
    /// The folders of sessions that are there.
    pub(crate) fn locate(&self, env: &Env) -> Vec<Root> {
        let folders = agent_folders(env, self.variable, self.in_home).into_iter();
        let folders = folders.map(|folder| folder.join(self.sessions));
        known_roots(self.format, folders.filter(|folder| folder.is_dir()))
    }

    /// The sessions in a folder.
    pub(crate) fn list(&self, folder: &Path, out: &mut SourceSink<'_>) {
        for path in folder_entries(folder, out) {
            // By their names: what else lies in a folder is not looked at.
            let is_named = path.extension() == Path::new(self.log).extension();
            let log = if is_named { path } else { path.join(self.log) };
            if let Some(source) = self.source(&log).filter(|_| log.is_file()) {
                out(Ok(source));
            }
        }
    }

    /// The sessions at a path that the user named: a log, a session's folder, the folder of all of
    /// them, or the agent's.
    pub(crate) fn at_path(&self, path: &Path) -> Vec<Source> {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let (inner, log) = (path.join(self.sessions), path.join(self.log));
        let mut sources = Vec::new();
        if path.is_file() || log.is_file() {
            let log = if path.is_file() { path } else { log };
            sources.extend(self.source(&log));
        } else {
            let folder = if inner.is_dir() { inner } else { path };
            self.list(&folder, &mut |found| sources.extend(found.ok()));
        }
        // Others, too, have files with these names.
        sources.retain(|s| self.is_in_store(&s.path) || (self.is_log)(&s.path));
        sources
    }

    /// The folder that a session has for itself.
    pub(crate) fn own_folder<'a>(&self, log: &'a Path) -> Option<&'a Path> {
        let is_in_one = log.file_name().is_some_and(|name| name == self.log);
        log.parent().filter(|_| is_in_one)
    }

    /// Whether a log is where the agent keeps them.
    pub(crate) fn is_in_store(&self, log: &Path) -> bool {
        let own = self.own_folder(log).unwrap_or(log);
        let sessions = own.parent().and_then(Path::file_name);
        sessions.is_some_and(|name| name == self.sessions)
    }

    /// The folder in which sessions are, with folders of their own or without.
    pub(crate) fn base_folder(&self, log: &Path) -> PathBuf {
        let own = self.own_folder(log).unwrap_or(log);
        own.parent().unwrap_or(own).to_owned()
    }

    /// What goes with a session: in the store its own folder, with all that the agent keeps in it.
    pub(crate) fn removal(&self, log: &Path) -> Removal {
        let own = self.own_folder(log).filter(|_| self.is_in_store(log));
        Removal::Files(vec![own.unwrap_or(log).to_owned()])
    }

    /// The session whose log is at a path, by its name.
    fn source(&self, log: &Path) -> Option<Source> {
        let id = match self.own_folder(log) {
            Some(folder) => folder.file_name()?,
            None => log
                .file_stem()
                .filter(|_| log.extension() == Path::new(self.log).extension())?,
        };
        let id = id.to_string_lossy();
        let source = || Source::new(self.format, id.clone().into_owned(), log.to_owned());
        (!id.starts_with('.')).then(source)
    }
}
