//! What killed processes left behind, and who removes it.

use std::{
    collections::VecDeque,
    fs::{File, Metadata},
    io,
    path::{Path, PathBuf},
    sync::Mutex,
    time::Duration,
};

use crate::{
    identity::age_of,
    lock::{is_still_at, try_lock},
    temp::{NameKind, name_kind, open_folder},
};

/// From when on something is a leftover that has no lock to tell it.
const OLD: Duration = Duration::from_hours(24);

/// How many folders are remembered in which nothing is left.
const REMEMBERED: usize = 64;

/// The folders that this process looked through last.
static LOOKED_THROUGH: Mutex<VecDeque<PathBuf>> = Mutex::new(VecDeque::new());

/// Removes the temporary files and folders that killed processes of ours left in a folder, not those
/// below it. Everything in this crate that writes does this first for the folder that it writes in.
///
/// Something is removed only if all of this holds: its name is one that
/// [`is_temporary`](crate::is_temporary) knows, it is a regular file or a folder and belongs to this
/// user, and its owner is gone, which is known by a lock that ends with the process. Where there are
/// no locks (folders on Windows, some network drives), it must be a day old instead. What cannot be
/// removed stays: nobody asked for it.
///
/// ```
/// use rethread_disk::remove_leftovers;
///
/// let folder = tempfile::tempdir()?;
/// let left = folder.path().join(".log.jsonl.4711.Ab3dEf6hIj9lM.tmp");
/// std::fs::write(&left, "half a lo")?;
/// remove_leftovers(folder.path());
/// assert!(!left.exists());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn remove_leftovers(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        if let Some(kind) = name_kind(&entry.file_name()) {
            let _ = remove_if_left(&entry.path(), kind);
        }
    }
}

/// As [`remove_leftovers`], unless this process did so a moment ago: who writes many files into one
/// folder looks through it once.
pub(crate) fn remove_leftovers_once(folder: &Path) {
    if let Ok(mut known) = LOOKED_THROUGH.lock() {
        if known.iter().any(|known| known == folder) {
            return;
        }
        if known.len() == REMEMBERED {
            known.pop_front();
        }
        known.push_back(folder.to_owned());
    }
    remove_leftovers(folder);
}

/// Removes one of them if its owner is gone.
fn remove_if_left(path: &Path, kind: NameKind) -> io::Result<()> {
    let facts = std::fs::symlink_metadata(path)?;
    let is_folder = facts.is_dir();
    if !(is_folder || facts.is_file()) || !is_own(&facts) {
        return Ok(());
    }
    let opened = if is_folder {
        open_folder(path)
    } else {
        open_file(path)
    };
    // Held until it is gone, so that nobody claims it meanwhile.
    let is_left = match opened.as_ref().map(try_lock) {
        Ok(Ok(true)) => kind == NameKind::Locked || is_old(&facts),
        Ok(Ok(false)) => false,
        Ok(Err(_)) | Err(_) => is_old(&facts),
    };
    let is_it = match &opened {
        Ok(file) => is_still_at(path, file).unwrap_or(false),
        Err(_) => true,
    };
    match (is_left && is_it, is_folder) {
        (false, _) => Ok(()),
        (true, true) => std::fs::remove_dir_all(path),
        (true, false) => std::fs::remove_file(path),
    }
}

/// Whether whoever keeps an open file of this user locked is gone; the lock is ours then. Where there
/// are no locks it must be old. Nothing is said of files that are no regular ones of this user.
pub(crate) fn is_abandoned(file: &File) -> Option<bool> {
    let facts = file.metadata().ok()?;
    if !facts.is_file() || !is_own(&facts) {
        return None;
    }
    Some(try_lock(file).unwrap_or_else(|_| is_old(&facts)))
}

fn is_old(facts: &Metadata) -> bool {
    age_of(facts).is_ok_and(|age| age > OLD)
}

#[cfg(unix)]
fn is_own(facts: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    facts.uid() == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_own(_: &Metadata) -> bool {
    true
}

/// Follows no link and waits for no pipe.
#[cfg(unix)]
fn open_file(path: &Path) -> io::Result<File> {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt as _;
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    File::options()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)
}

#[cfg(not(unix))]
fn open_file(path: &Path) -> io::Result<File> {
    // Only who may write can lock here.
    File::options().read(true).write(true).open(path)
}
