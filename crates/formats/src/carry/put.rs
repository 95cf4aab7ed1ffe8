//! Putting the files of a session into a store.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rethread_disk::{
    Created, DiskError, Journal, Mode, SafeName, create_folder_with, create_with, ensure_folder,
    join, open_read, sync_tree,
};

use super::put_journal::UnfinishedInstall;
use crate::{FormatRef, Source, WriteError, Writing};

/// Where a session is to go.
#[derive(Clone, Debug, Default)]
pub struct InstallTarget {
    /// The folder to write to as if it were the agent's root, where the user named one.
    pub root: Option<PathBuf>,
    /// The folder that the work is done in.
    pub cwd: PathBuf,
    /// The folder that the files were in before, maybe on another machine, if they are to be in one of
    /// that name again. Agents that name such folders after the one that the work is done in do not
    /// always say which one that was.
    pub before: Option<PathBuf>,
}

impl InstallTarget {
    /// A folder of a store that is named after [`cwd`](Self::cwd), or the one beside it that has the name
    /// of before, where that was in such a store.
    pub(crate) fn or_before(&self, named: PathBuf) -> PathBuf {
        let Some((before, store)) = self.before.as_deref().zip(named.parent()) else {
            return named;
        };
        let is_store = before.parent().and_then(Path::file_name) == store.file_name();
        let name = before.file_name().and_then(|name| name.to_str());
        match name.filter(|_| is_store).map(SafeName::new) {
            Some(Ok(name)) => join(store, &name),
            _ => named,
        }
    }
}

/// The files of a session as they lie in a folder.
#[derive(Clone, Debug)]
pub struct SessionFiles {
    /// The session's id.
    pub id: String,
    /// The folder.
    pub folder: PathBuf,
    /// The session's main file or folder, by its name.
    pub path: String,
    /// The files, by their names, with `/` between folders; the main one first.
    pub names: Vec<String>,
}

impl SessionFiles {
    /// The name of the main file.
    pub fn main(&self) -> &str {
        self.names.first().map(String::as_str).unwrap_or_default()
    }

    /// The session in them, where they are those of this format.
    pub fn session_source(&self, format: FormatRef) -> Result<Source, WriteError> {
        if let Some(carrier) = format.carrier()
            && let Some(source) = carrier.unpacked(self)?
        {
            return Ok(source);
        }
        let path = join_checked(&self.folder, &self.path)?;
        Ok(Source::new(format, self.id.clone(), path))
    }
}

/// What came of putting a session into a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Put {
    /// It is there now: its main file or folder.
    New(PathBuf),
    /// The same; and it says that it changed now, because its client would delete it.
    Renewed(PathBuf),
    /// It was there before, with the same bytes, or renewed.
    There(PathBuf),
    /// There is no store yet, and only the client makes one: it is a document that the client takes in.
    Document {
        /// The document.
        path: PathBuf,
        /// The command that takes it in; the document is its argument.
        command: &'static str,
    },
}

impl Put {
    /// Its main file or folder.
    pub fn main_path(&self) -> &Path {
        match self {
            Self::New(path)
            | Self::Renewed(path)
            | Self::There(path)
            | Self::Document { path, .. } => path,
        }
    }
}

/// Copies files from a folder to a shelf, under the same names, the first of them last: a session
/// is there when its main file is. Where they are all in one folder that is not on the shelf yet,
/// that appears whole. Nothing that is there is touched: where something else has one of the names,
/// nothing is copied, and what is there as it was is left alone. Of several, it is noted that they are
/// on their way; what is left of them if the process is killed,
/// [`remove_unfinished`](super::remove_unfinished) removes.
pub(crate) fn put_files(
    w: &Writing<'_>,
    goods: &SessionFiles,
    shelf: &Path,
) -> Result<Put, WriteError> {
    let files = goods
        .names
        .iter()
        .map(|name| {
            let from = goods.folder.join(name);
            let to = join_checked(shelf, name)?;
            Ok(FileToPut { from, to })
        })
        .collect::<Result<Vec<_>, WriteError>>()?;
    let Some(FileToPut { to: main, .. }) = files.first() else {
        return Err(WriteError::BadInput("a session without files".to_owned()));
    };
    let folder = common_folder(shelf, &goods.names);
    let path = join_checked(shelf, &goods.path)?;
    let is_there = |to: &Path| std::fs::symlink_metadata(to).is_ok();
    let is_other = |file: &&FileToPut| is_there(&file.to) && !is_same_file(&file.from, &file.to);
    if let Some(FileToPut { to: other, .. }) = files.iter().find(is_other) {
        let is_own = other == main || is_there(main);
        return Err(exists_error(if is_own { &path } else { other }));
    }
    if files.iter().all(|file| is_there(&file.to)) {
        return Ok(Put::There(path));
    }
    let near = shelf.ancestors().find(|f| f.is_dir()).unwrap_or(shelf);
    let mode = Mode::like(near)?;
    ensure_folder(shelf, &mode, w.durability)?;
    if let Some(folder) = folder.filter(|f| std::fs::symlink_metadata(f).is_err()) {
        let made = create_folder_with(&folder, mode, w.durability, |inside| {
            for FileToPut { from, to } in &files {
                let name = to.strip_prefix(&folder).unwrap_or(to);
                let _ = copy_file(&w.unsynced(), from, &inside.join(name), mode)?;
            }
            // A session can be thousands of small files.
            if w.durability.syncs() {
                sync_tree(inside)?;
            }
            Ok::<(), WriteError>(())
        })?;
        return match made {
            Created::New => Ok(Put::New(path)),
            Created::Existed => Err(exists_error(&path)),
        };
    }
    let unfinished = UnfinishedInstall::of_files(&files)?;
    let journal = unfinished.note_begin(w)?;
    for FileToPut { from, to } in files.iter().rev() {
        let copied = match copy_file(w, from, to, mode) {
            Ok(Created::Existed) if !is_same_file(from, to) => Err(exists_error(to)),
            copied => copied,
        };
        if let Err(e) = copied {
            // What is there of it is no session without the rest.
            unfinished.undo_install();
            return Err(e);
        }
    }
    // The session is whole, so the note means nothing any more, even if it stays.
    let _ = journal.map(Journal::finish);
    Ok(Put::New(path))
}

/// A file of a session, and where it is to go.
#[derive(Debug)]
pub(super) struct FileToPut {
    pub(super) from: PathBuf,
    pub(super) to: PathBuf,
}

fn exists_error(path: &Path) -> WriteError {
    let name = path.file_name().unwrap_or_default();
    WriteError::Exists {
        id: name.to_string_lossy().into_owned(),
        path: path.to_owned(),
    }
}

/// A name that came from a file, below a folder. Each part of it is checked.
pub fn join_checked(folder: &Path, name: &str) -> Result<PathBuf, WriteError> {
    let bad = |e: &dyn std::fmt::Display| {
        WriteError::BadInput(format!("`{name}` cannot be the name of a file: {e}"))
    };
    let mut path = folder.to_owned();
    for part in name.split('/') {
        let part = SafeName::new(part).map_err(|e| bad(&e))?;
        path = join(&path, &part);
    }
    Ok(path)
}

/// The one folder on the shelf that holds all files.
fn common_folder(shelf: &Path, names: &[String]) -> Option<PathBuf> {
    let (first, _) = names.first()?.split_once('/')?;
    let inside = |name: &String| {
        name.split_once('/')
            .is_some_and(|(folder, _)| folder == first)
    };
    names.iter().all(inside).then(|| shelf.join(first))
}

/// How much is copied at once.
const BUFFER: usize = 256 * 1024;

fn copy_file(w: &Writing<'_>, from: &Path, to: &Path, mode: Mode) -> Result<Created, WriteError> {
    if let Some(folder) = to.parent() {
        ensure_folder(folder, &mode, w.durability)?;
    }
    // Sessions are long, and one piece after the other is read and written.
    let mut file = io::BufReader::with_capacity(BUFFER, open_read(from)?);
    let made = create_with(to, mode, w.durability, |out| {
        io::copy(&mut file, out).map(drop)
    })?;
    Ok(made)
}

/// Whether two files hold the same bytes.
pub fn is_same_file(one: &Path, two: &Path) -> bool {
    let same = || -> Result<bool, DiskError> {
        let (one, two) = (open_read(one)?, open_read(two)?);
        Ok(same_bytes(&one, &two).unwrap_or(false))
    };
    same().unwrap_or(false)
}

fn same_bytes(mut one: &File, mut two: &File) -> io::Result<bool> {
    if one.metadata()?.len() != two.metadata()?.len() {
        return Ok(false);
    }
    let (mut a, mut b) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    loop {
        let n = one.read(&mut a)?;
        if n == 0 {
            return Ok(two.read(&mut b)? == 0);
        }
        two.read_exact(&mut b[..n])?;
        if a[..n] != b[..n] {
            return Ok(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use rethread_disk::Durability;

    use super::*;
    use crate::Env;

    #[test]
    #[allow(clippy::disallowed_methods, reason = "files are laid out for the test")]
    fn what_cannot_be_put_whole_leaves_nothing() {
        let temp = tempfile::tempdir().unwrap();
        let (folder, shelf) = (temp.path().join("goods"), temp.path().join("shelf"));
        std::fs::create_dir_all(folder.join("a")).unwrap();
        std::fs::create_dir_all(shelf.join("a")).unwrap();
        std::fs::write(folder.join("a/child"), "child").unwrap();
        std::fs::write(folder.join("known"), "known").unwrap();
        std::fs::write(shelf.join("known"), "known").unwrap();
        let goods = SessionFiles {
            id: "main".to_owned(),
            folder,
            path: "main".to_owned(),
            // The main file comes last, and is not there.
            names: ["main", "a/child", "known"].map(str::to_owned).to_vec(),
        };
        let home = temp.path().to_owned();
        let env = Env::from_variables(BTreeMap::new(), Some(home.clone()), home).unwrap();
        let w = Writing {
            env: &env,
            durability: Durability::None,
            lock_timeout: Duration::ZERO,
            strict: false,
        };
        assert!(put_files(&w, &goods, &shelf).is_err());
        assert!(!shelf.join("a/child").exists());
        assert!(shelf.join("known").exists(), "it was there before");
    }
}
