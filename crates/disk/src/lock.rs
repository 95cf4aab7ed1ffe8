//! Exclusive locks that readers never notice.

use std::{
    fs::File,
    io,
    path::Path,
    thread::sleep,
    time::{Duration, Instant},
};

use crate::{
    error::DiskError,
    identity::{FileId, file_id},
};

const FIRST_NAP: Duration = Duration::from_millis(1);
const LONGEST_NAP: Duration = Duration::from_millis(50);

/// Opens with `open` and locks, until the locked file is the one at `path`: a file that was
/// replaced while we waited for it is nobody's log any more.
pub(crate) fn open_locked<T>(
    path: &Path,
    timeout: Duration,
    open: impl Fn() -> Result<T, DiskError>,
    file_of: impl Fn(&T) -> &File,
) -> Result<T, DiskError> {
    let begun = Instant::now();
    let mut nap = FIRST_NAP;
    loop {
        let opened = open()?;
        loop {
            if try_lock(file_of(&opened)).map_err(|cause| lock_failed(path, cause))? {
                if is_still_at(path, file_of(&opened))? {
                    return Ok(opened);
                }
                break;
            }
            let waited = begun.elapsed();
            if waited >= timeout {
                return Err(DiskError::Busy {
                    path: path.to_owned(),
                    waited,
                });
            }
            sleep(nap.min(timeout.saturating_sub(waited)));
            nap = (nap * 3 / 2).min(LONGEST_NAP);
            if !is_still_at(path, file_of(&opened))? {
                break;
            }
        }
    }
}

fn lock_failed(path: &Path, cause: io::Error) -> DiskError {
    DiskError::Lock {
        path: path.to_owned(),
        cause,
    }
}

/// Whether this is what is at `path` now.
pub(crate) fn is_still_at(path: &Path, file: &File) -> Result<bool, DiskError> {
    let ours = FileId::of(file).map_err(|e| DiskError::while_reading(path, e))?;
    match file_id(path) {
        Ok(there) => Ok(there == ours),
        Err(DiskError::NotFound { .. }) => Ok(false),
        Err(e) => Err(e),
    }
}

/// Whether we have the lock now. It ends when the file is closed, however the process ends.
#[cfg(unix)]
pub(crate) fn try_lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(std::fs::TryLockError::WouldBlock) => Ok(false),
        Err(std::fs::TryLockError::Error(e)) => Err(e),
    }
}

/// Lets go of the lock now: a process that is just being started may hold the file open for a
/// moment longer.
#[cfg(unix)]
pub(crate) fn unlock_file(file: &File) {
    let _ = file.unlock();
}

/// Closing the file, which follows, is enough here.
#[cfg(windows)]
pub(crate) fn unlock_file(_: &File) {}

/// Whether we have the lock now. Locks hinder readers here, so it is on a byte beyond the end.
#[cfg(windows)]
pub(crate) fn try_lock(file: &File) -> io::Result<bool> {
    crate::windows::try_lock_far_byte(file)
}
