//! A folder that appears with all that is in it.

use std::{io, path::Path};

use crate::{
    create::{Created, is_taken},
    durability::Durability,
    error::DiskError,
    leftover::remove_leftovers_once,
    mode::Mode,
    sync::{SyncFolder, folder_of},
    temp::TempFolder,
};

/// Makes a new folder with what `fill` puts into it. It appears whole or not at all, and never
/// replaces anything: not a folder, even an empty one, not a file, not a link that leads nowhere.
///
/// `fill` gets the folder under a temporary name, and only for this user: it gets its `mode` when
/// it is full. `fill` syncs what it writes; this syncs the folder and its name. `fill` is not
/// called if something is there already; an error of it leaves nothing behind. A process killed in
/// between leaves at most a folder for which [`is_temporary`](crate::is_temporary) is true, and the
/// next one that writes there removes it.
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
    remove_leftovers_once(&folder_of(path));
    if is_taken(path)? {
        return Ok(Created::Existed);
    }
    let failed = |e| DiskError::while_writing(path, e);
    let parent = SyncFolder::parent_of(path, d.syncs()).map_err(failed)?;
    let mut temp = TempFolder::new(path, mode).map_err(failed)?;
    fill(temp.path())?;
    temp.finish(path, mode, d)?;
    match temp.put_in_place(|temp| rename_noreplace(temp, path)) {
        Ok(()) => {}
        Err(e) if is_taken_error(&e) => return Ok(Created::Existed),
        Err(e) => return Err(failed(e).into()),
    }
    parent.map_or(Ok(()), |parent| parent.sync(path))?;
    Ok(Created::New)
}

fn is_taken_error(e: &io::Error) -> bool {
    use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty, NotADirectory};
    matches!(e.kind(), AlreadyExists | DirectoryNotEmpty | NotADirectory)
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
pub(crate) fn rename_noreplace(from: &Path, to: &Path) -> io::Result<()> {
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
pub(crate) fn rename_noreplace(from: &Path, to: &Path) -> io::Result<()> {
    look_and_rename(from, to)
}

#[cfg(windows)]
pub(crate) fn rename_noreplace(from: &Path, to: &Path) -> io::Result<()> {
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
