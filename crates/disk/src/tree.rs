//! A folder that appears with all that is in it.

use std::{
    io,
    path::{Path, PathBuf},
};

use crate::{
    create::{Created, is_taken},
    durability::Durability,
    error::DiskError,
    folder,
    mode::Mode,
    sync::{Folder, folder_of},
    temp::{RANDOM, SUFFIX, prefix},
};

/// Makes a new folder with what `fill` puts into it. It appears whole or not at all, and never
/// replaces anything: not a folder, even an empty one, not a file, not a link that leads nowhere.
///
/// `fill` gets the folder under a temporary name, and only for this user: it gets its `mode` when
/// it is full. `fill` syncs what it writes; this syncs the folder and its name. `fill` is not
/// called if something is there already; an error of it leaves nothing behind. A process killed in
/// between leaves at most a folder for which [`is_temporary`](crate::is_temporary) is true.
///
/// ```
/// use rethread_disk::{Created, DiskError, Durability, Mode, create, create_folder_with};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("thread");
/// let made = create_folder_with(&path, Mode::Private, Durability::Close, |inside| {
///     let made = create(&inside.join("log.jsonl"), b"", Mode::Private, Durability::Close)?;
///     assert_eq!(made, Created::New);
///     Ok::<(), DiskError>(())
/// })?;
/// assert_eq!(made, Created::New);
/// assert!(path.join("log.jsonl").exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn create_folder_with<E: From<DiskError>>(
    path: &Path,
    mode: Mode,
    d: Durability,
    fill: impl FnOnce(&Path) -> Result<(), E>,
) -> Result<Created, E> {
    if is_taken(path)? {
        return Ok(Created::Existed);
    }
    let failed = |e| DiskError::write(path, e);
    let parent = Folder::of(path, d.syncs()).map_err(failed)?;
    let temp = TempFolder::new(path, mode).map_err(failed)?;
    fill(&temp.0)?;
    temp.finish(path, mode, d)?;
    if !temp.rename_if_free(path).map_err(failed)? {
        return Ok(Created::Existed);
    }
    parent.map_or(Ok(()), |parent| parent.sync(path))?;
    Ok(Created::New)
}

/// A folder with a temporary name, removed unless it is put in place.
struct TempFolder(PathBuf);

impl TempFolder {
    /// An empty folder beside `target` that only this user can look into. It has the special bits
    /// from the start: what is made in it takes after them.
    fn new(target: &Path, mode: Mode) -> io::Result<TempFolder> {
        let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let bits = mode.folder_bits() & 0o7000 | 0o700;
        let temp = tempfile::Builder::new()
            .prefix(&prefix(name))
            .suffix(SUFFIX)
            .rand_bytes(RANDOM)
            // That would remove a file.
            .disable_cleanup(true)
            .make_in(folder_of(target), |path| folder::make(path, bits))?;
        Ok(TempFolder(temp.path().to_owned()))
    }

    /// Gives it its mode, now that it is full, and syncs it.
    fn finish(&self, target: &Path, mode: Mode, d: Durability) -> Result<(), DiskError> {
        let failed = |e| DiskError::write(target, e);
        // Opened first: the mode may not allow it.
        let opened = Folder::at(&self.0, d.syncs()).map_err(failed)?;
        folder::adjust(&self.0, mode.folder_bits()).map_err(failed)?;
        opened
            .map_or(Ok(()), |opened| opened.sync_itself())
            .map_err(|e| DiskError::sync(target, e))
    }

    /// Puts it in place unless something is there; says whether it did.
    fn rename_if_free(mut self, target: &Path) -> io::Result<bool> {
        match rename_noreplace(&self.0, target) {
            Ok(()) => {
                // Nothing is left to remove.
                self.0.clear();
                Ok(true)
            }
            Err(e) if is_taken_error(&e) => Ok(false),
            Err(e) => Err(e),
        }
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        if !self.0.as_os_str().is_empty() {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }
}

fn is_taken_error(e: &io::Error) -> bool {
    use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty, NotADirectory};
    matches!(e.kind(), AlreadyExists | DirectoryNotEmpty | NotADirectory)
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn rename_noreplace(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::{
        fs::{CWD, RenameFlags, renameat_with},
        io::Errno,
    };
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // Some file systems cannot promise it.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => look_and_rename(from, to),
        other => Ok(other?),
    }
}

#[cfg(all(unix, not(any(target_os = "linux", target_vendor = "apple"))))]
fn rename_noreplace(from: &Path, to: &Path) -> io::Result<()> {
    look_and_rename(from, to)
}

#[cfg(windows)]
fn rename_noreplace(from: &Path, to: &Path) -> io::Result<()> {
    crate::windows::rename_noreplace(from, to)
}

/// Could at most replace an empty folder that appears after the look: the system refuses the rest.
#[cfg(unix)]
fn look_and_rename(from: &Path, to: &Path) -> io::Result<()> {
    match std::fs::symlink_metadata(to) {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => std::fs::rename(from, to),
        Err(e) => Err(e),
    }
}
