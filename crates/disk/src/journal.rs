//! Notes of what takes several steps, so that somebody else can undo it if the process dies in between.

use std::{
    ffi::OsStr,
    fs::File,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use crate::{
    durability::Durability,
    error::DiskError,
    folder::ensure_folder,
    leftover::is_abandoned,
    lock::{is_still_at, try_lock},
    mode::Mode,
    open::open_existing,
    read::read_small,
    remove::remove_file,
    sync::{self, SyncFolder},
};

/// How the name of a journal ends.
const SUFFIX: &str = ".journal";
/// The random part of a name.
const RANDOM: usize = 12;
/// How often one is made anew because somebody took it for an abandoned one.
const TRIES: usize = 32;

/// A note that is removed by [`finish`](Journal::finish), or when this is dropped, so that it stays only
/// if the process is killed. It is locked as long as its owner lives: that is how
/// [`abandoned_journals`] knows those of the dead.
///
/// ```
/// use rethread_disk::{Durability, Journal, abandoned_journals};
///
/// let folder = tempfile::tempdir()?;
/// let journal = Journal::begin(folder.path(), b"two files", Durability::Close)?;
/// assert!(abandoned_journals(folder.path()).is_empty(), "its owner is here");
/// journal.finish()?;
///
/// std::fs::write(folder.path().join("4711.journal"), "two files")?;
/// let found = abandoned_journals(folder.path());
/// assert_eq!(found[0].read()?, b"two files");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    /// Keeps it locked, where files can be.
    _locked: File,
}

impl Journal {
    /// Writes one into a folder that holds nothing else, which is made if it is missing. When this
    /// returns, the note is there to stay, as far as `d` says.
    pub fn begin(folder: &Path, content: &[u8], d: Durability) -> Result<Self, DiskError> {
        ensure_folder(folder, &Mode::Private, d)?;
        let failed = |e| DiskError::while_writing(folder, e);
        let opened = SyncFolder::open_at(folder, d.syncs()).map_err(failed)?;
        for _ in 0..TRIES {
            let made = tempfile::Builder::new()
                .prefix("")
                .suffix(SUFFIX)
                .rand_bytes(RANDOM)
                .tempfile_in(folder)
                .map_err(failed)?;
            let is_locked = try_lock(made.as_file()).unwrap_or(true);
            if !is_locked || !is_still_at(made.path(), made.as_file())? {
                continue;
            }
            made.as_file().write_all(content).map_err(failed)?;
            if d.syncs() {
                sync::sync_file(made.as_file())
                    .map_err(|e| DiskError::while_syncing(made.path(), e))?;
            }
            let (locked, path) = made.keep().map_err(|e| failed(e.error))?;
            let journal = Self {
                path,
                _locked: locked,
            };
            opened.map_or(Ok(()), |opened| opened.sync(&journal.path))?;
            return Ok(journal);
        }
        Err(failed(io::ErrorKind::ResourceBusy.into()))
    }

    /// All is done: nobody needs it any more.
    pub fn finish(mut self) -> Result<(), DiskError> {
        remove_file(&std::mem::take(&mut self.path))
    }

    /// What it says.
    pub fn read(&self) -> Result<Vec<u8>, DiskError> {
        read_small(&self.path)
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            let _ = remove_file(&self.path);
        }
    }
}

/// The journals in a folder whose owners are gone, which belong to the caller now. Only regular files
/// of this user count. One may be cut short: then its owner died before it had begun.
pub fn abandoned_journals(folder: &Path) -> Vec<Journal> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension() == Some(OsStr::new(&SUFFIX[1..])));
    paths.sort();
    let claimed = paths.into_iter().filter_map(|path| {
        let file = open_existing(&path).ok()?;
        let is_ours = is_abandoned(&file)? && is_still_at(&path, &file).ok()?;
        // Made only then: one that is dropped removes its file.
        is_ours.then(|| Journal {
            path,
            _locked: file,
        })
    });
    claimed.collect()
}
