//! Where sessions live: databases, trees of JSON files, and exported files.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use rethread_disk::{open_read, open_sized, read_at};
use rethread_model::{Note, Summary};

use super::carrier::SESSIONS;
use super::database::{begins_like_one, is_database, path_beside};
use super::remove::remove_rows;
use super::session_rows::Make;
use super::{FORMAT, OpenCode, SLUG, session_rows, tree};
use crate::error::unreadable_file;
use crate::{Dependencies, Env, OpenError, Removal, Root, Source, Store, WriteError};

/// The folder of OpenCode in a folder of data.
const FOLDER: &str = "opencode";
/// The folder of an old store.
const STORAGE: &str = "storage";
/// The folder of sessions in an old store.
const SESSION: &str = "session";
/// The folder that the first stores kept descriptions in.
const INFO: &str = "info";

impl Store for OpenCode {
    /// The folders and databases that are there.
    fn locate(&self, env: &Env, _known: &[PathBuf]) -> Vec<Root> {
        let named = env.agent_variable("XDG_DATA_HOME").map(PathBuf::from);
        let folders: Vec<PathBuf> = match named.filter(|p| p.is_absolute()) {
            Some(data) => vec![data.join(FOLDER)],
            None => env
                .homes
                .iter()
                .map(|home| home.join(".local").join("share").join(FOLDER))
                .collect(),
        };
        let own = folders.first().and_then(|f| named_database(env, f));
        let is_inside = |p: &PathBuf| p.parent().is_some_and(|f| folders.iter().any(|g| g == f));
        let own = own.filter(|p| p.is_file() && !(is_inside(p) && is_named_like_ours(p)));
        let folders = folders.into_iter().filter(|f| f.is_dir());
        let root = |path| Root::known(FORMAT, path);
        folders.chain(own).map(root).collect()
    }

    fn watched_folders(&self, root: &Root) -> Vec<(PathBuf, bool)> {
        // Beside the database are copies of whole projects, which are nobody's sessions.
        let is_file = root.path.is_file();
        let folder = if is_file { root.path.parent() } else { None };
        let folder = folder.unwrap_or(&root.path);
        let storage = folder.join(STORAGE);
        let storage = (!is_file && storage.is_dir()).then_some((storage, true));
        storage
            .into_iter()
            .chain([(folder.to_owned(), false)])
            .collect()
    }

    fn list(&self, root: &Root, out: &mut dyn FnMut(Result<Source, Note>)) {
        list_folder(&root.path, out);
    }

    /// The sessions at a path that the user named: a database, a file of an old store, an export, or a
    /// folder with such things.
    fn at_path(&self, path: &Path) -> Vec<Source> {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let mut sources = Vec::new();
        if path.is_dir() {
            list_folder(&path, &mut |found| sources.extend(found.ok()));
            let exports = list_names(&path, &mut |_| {});
            sources.extend(exports.iter().filter_map(|p| export_at(p)));
            return sources;
        }
        if is_database(&path) {
            list_folder(&path, &mut |found| sources.extend(found.ok()));
        } else if let Some(export) = export_at(&path) {
            sources.push(export);
        } else if let Some(place) = place(&path)
            && place.looks_right()
        {
            let id = place.id().unwrap_or_else(|| file_stem(&path));
            sources.push(Source::new(FORMAT, id, path));
        }
        sources
    }

    /// The files of a session: for one in a database that and its log, for an old store all its files.
    fn files(&self, source: &Source) -> Result<Vec<PathBuf>, OpenError> {
        match storage_of(&source.path)? {
            SessionStorage::Database => {
                let log = path_beside(&source.path, "-wal");
                let there = [source.path.clone(), log];
                Ok(there.into_iter().filter(|p| p.is_file()).collect())
            }
            SessionStorage::Tree(place) => Ok(place.files()),
            SessionStorage::Export(..) => Ok(vec![source.path.clone()]),
        }
    }

    /// Of one in a database its rows, which the database is asked for where it changed; of one in an old
    /// store the files of its messages.
    fn dependencies(&self, source: &Source, _: &Summary) -> Dependencies {
        match storage_of(&source.path) {
            Ok(SessionStorage::Database) => Dependencies {
                shared: vec![source.path.clone(), path_beside(&source.path, "-wal")],
                ..Dependencies::default()
            },
            Ok(SessionStorage::Tree(place)) => Dependencies::on(place.watched()),
            Ok(SessionStorage::Export(..)) | Err(_) => Dependencies::on(vec![source.path.clone()]),
        }
    }

    /// What changes with each change of a session's rows.
    fn shared_facts(&self, source: &Source, _: &str) -> Option<Vec<u8>> {
        session_rows::row_marks(&source.path, &source.id).ok()
    }

    /// The folder that the names of a session's files are counted from.
    fn base_folder(&self, source: &Source) -> PathBuf {
        let store = source.path.ancestors().find(|f| f.ends_with(SESSIONS));
        let base = store.unwrap_or(&source.path).parent();
        base.unwrap_or(&source.path).to_owned()
    }

    /// What of a session goes. Rows go at once, and only for good.
    fn remove(&self, source: &Source, for_good: bool) -> Result<Removal, WriteError> {
        match storage_of(&source.path)? {
            SessionStorage::Export(..) => Ok(Removal::Files(vec![source.path.clone()])),
            SessionStorage::Tree(place) => Ok(Removal::Files(place.removed())),
            SessionStorage::Database if !for_good => Err(WriteError::BadInput(format!(
                "`{}` is in a database, and no trash takes that; `--force` deletes the session for good",
                source.id
            ))),
            SessionStorage::Database => {
                remove_rows(&source.path, &source.id)?;
                Ok(Removal::Done)
            }
        }
    }
}

/// How a session is kept.
pub(super) enum SessionStorage {
    /// As rows.
    Database,
    /// As files of an old store.
    Tree(tree::TreePlace),
    /// As one file that `opencode export` wrote: open, and with its length.
    Export(File, u64),
}

/// How the session at this path is kept.
pub(super) fn storage_of(path: &Path) -> Result<SessionStorage, OpenError> {
    let not_ours = || OpenError::NotOurs {
        path: path.to_owned(),
        format: SLUG,
    };
    // Trouble with the file is said before it is called not ours.
    let (file, len) = open_sized(path)?;
    let start = beginning(path, &file)?;
    if begins_like_one(&start) {
        return Ok(SessionStorage::Database);
    }
    if is_export(&start) {
        return Ok(SessionStorage::Export(file, len));
    }
    place(path).map(SessionStorage::Tree).ok_or_else(not_ours)
}

/// The database that a variable names.
pub(super) fn named_database(env: &Env, folder: &Path) -> Option<PathBuf> {
    let named = env.agent_variable("OPENCODE_DB")?;
    // A database in memory is nobody's.
    (named != ":memory:").then(|| folder.join(named))
}

/// Where sessions are kept that are written now.
pub(super) fn database_for_writing(env: &Env) -> Option<PathBuf> {
    let data = env.agent_variable("XDG_DATA_HOME").map(PathBuf::from);
    let data = data.filter(|p| p.is_absolute());
    let data = data.or_else(|| Some(env.homes.first()?.join(".local").join("share")))?;
    let folder = data.join(FOLDER);
    Some(named_database(env, &folder).unwrap_or_else(|| folder.join("opencode.db")))
}

/// Whether a file is named like a database of ours: `opencode.db`, `opencode-<channel>.db`.
fn is_named_like_ours(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let middle = name
        .strip_prefix("opencode")
        .and_then(|n| n.strip_suffix(".db"));
    middle.is_some_and(|m| m.is_empty() || m.starts_with('-'))
}

/// The sessions of a folder of data, of an old store, or of a database.
pub(super) fn list_folder(root: &Path, out: &mut dyn FnMut(Result<Source, Note>)) {
    if root.is_file() {
        list_database(root, out);
        return;
    }
    let mut known = HashMap::new();
    for path in list_names(root, out) {
        if is_named_like_ours(&path) && path.is_file() {
            known.extend(list_database(&path, out));
        }
    }
    let mut stores = vec![root.to_owned(), root.join(STORAGE)];
    let projects = list_names(&root.join("project"), out).into_iter();
    stores.extend(projects.map(|p| p.join(STORAGE)));
    for store in stores {
        for path in described(&store, out) {
            let Some(place) = place(&path) else { continue };
            let id = file_stem(&path);
            // The client moved its old sessions into the database, and lost some of what was in
            // them on the way: such a one is worth showing twice.
            let moved = known
                .get(&id)
                .is_some_and(|n| *n >= place.message_count(&id));
            if !moved {
                out(Ok(Source::new(FORMAT, id, path)));
            }
        }
    }
}

/// Lists the sessions of a database, and gives how many messages each has.
fn list_database(path: &Path, out: &mut dyn FnMut(Result<Source, Note>)) -> Vec<(String, u64)> {
    let found = session_rows::database_make(path).and_then(|make| match make {
        Make::Ours => session_rows::session_ids(path),
        Make::Empty => Ok(Vec::new()),
        Make::Without(table) => {
            let why = format!("a SQLite database, but not OpenCode's: it has no table `{table}`");
            out(Err(Note::remark(why).at(path)));
            Ok(Vec::new())
        }
    });
    match found {
        Ok(found) => {
            for (id, _) in &found {
                out(Ok(Source::new(FORMAT, id.clone(), path.to_owned())));
            }
            found
        }
        Err(e) => {
            // The path is said by the note.
            let why = match e {
                OpenError::NotOurs { .. } => "not a SQLite database".to_owned(),
                OpenError::Damaged { why, .. } => format!("cannot be listed: {why}"),
                other => format!("cannot be listed: {other}"),
            };
            out(Err(Note::damage(why).at(path)));
            Vec::new()
        }
    }
}

/// The files that describe sessions in an old store of either generation.
fn described(store: &Path, out: &mut dyn FnMut(Result<Source, Note>)) -> Vec<PathBuf> {
    let sessions = store.join(SESSION);
    let has_messages = |folder: &Path| folder.join("message").is_dir();
    let folders = if has_messages(store) {
        list_names(&sessions, out)
    } else if has_messages(&sessions) {
        vec![sessions.join(INFO)]
    } else {
        Vec::new()
    };
    let mut found = Vec::new();
    for folder in folders.into_iter().filter(|f| f.is_dir()) {
        let files = list_names(&folder, out).into_iter();
        found.extend(files.filter(|f| is_json(f) && f.is_file()));
    }
    found
}

fn is_json(path: &Path) -> bool {
    path.extension() == Some(OsStr::new("json"))
}

/// A file's name without its ending.
pub(super) fn file_stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

/// The names in a folder, in order; none where it is not there.
pub(super) fn list_names(folder: &Path, out: &mut dyn FnMut(Result<Source, Note>)) -> Vec<PathBuf> {
    let mut names = Vec::new();
    match std::fs::read_dir(folder) {
        Ok(entries) => names.extend(entries.flatten().map(|e| e.path())),
        Err(e)
            if matches!(
                e.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) => {}
        Err(e) => out(Err(Note::damage(format!("cannot be read: {e}")).at(folder))),
    }
    names.sort();
    names
}

/// The place of a session in an old store, by the path of the file that describes it.
fn place(path: &Path) -> Option<tree::TreePlace> {
    if !is_json(path) {
        return None;
    }
    let folder = path.parent()?;
    let sessions = folder.parent()?;
    if sessions.file_name() != Some(OsStr::new(SESSION)) {
        return None;
    }
    let is_first =
        folder.file_name() == Some(OsStr::new(INFO)) && sessions.join("message").is_dir();
    let base = if is_first {
        sessions
    } else {
        sessions.parent()?
    };
    // Others have folders of that name as well.
    if !base.join("message").is_dir() && !file_stem(path).starts_with("ses_") {
        return None;
    }
    Some(tree::TreePlace {
        info: path.to_owned(),
        base: base.to_owned(),
        is_first,
    })
}

/// The first bytes of a file.
fn beginning(path: &Path, file: &File) -> Result<Vec<u8>, OpenError> {
    let mut start = vec![0; 256];
    let filled = read_at(file, 0, &mut start).map_err(|e| unreadable_file(path, e))?;
    start.truncate(filled);
    Ok(start)
}

/// Whether this is the beginning of an export: an object whose first member is `info`.
fn is_export(start: &[u8]) -> bool {
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let inside = start.trim_ascii_start().strip_prefix(b"{");
    let key = inside.map(|i| i.trim_ascii_start().strip_prefix(b"\"info\""));
    let value = key
        .flatten()
        .and_then(|k| k.trim_ascii_start().strip_prefix(b":"));
    value.is_some_and(|v| v.trim_ascii_start().starts_with(b"{"))
}

fn export_at(path: &Path) -> Option<Source> {
    // Nothing else is touched.
    if !is_json(path) {
        return None;
    }
    let file = open_read(path).ok()?;
    if !beginning(path, &file).is_ok_and(|start| is_export(&start)) {
        return None;
    }
    // Reading one that does not say its id says what is wrong with it.
    let id = super::export::id(&file).unwrap_or_else(|| file_stem(path));
    Some(Source::new(FORMAT, id, path.to_owned()))
}
