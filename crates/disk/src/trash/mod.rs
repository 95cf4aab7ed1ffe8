//! Throwing away in a way that can be undone.

#[cfg(all(unix, not(target_vendor = "apple")))]
mod freedesktop;

use std::{
    path::Path,
    process::{Command, Stdio},
};

use crate::error::DiskError;

#[cfg(all(unix, not(target_vendor = "apple")))]
use freedesktop as platform;

/// The program of `trash-cli`, macOS and others.
const PROGRAM: &str = "trash";

/// Who took it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TrashedBy {
    /// The program `trash`.
    Program,
    /// The trash of this platform.
    Platform,
}

/// Moves a file, link or folder to the trash: with the program `trash` if there is one and it
/// succeeds, else to the platform's trash, else [`DiskError::NoTrash`].
///
/// The program is looked for as the system does, on `PATH`, and gets one absolute path, which
/// cannot be taken for an option. Where the platform's trash is, `XDG_DATA_HOME` and `HOME` say on
/// Linux; these are the only ways in which the environment reaches this crate. It counts as thrown
/// away only if it is gone afterwards, and if that is on the disk. An error leaves it where it was,
/// and nothing of it in the trash.
pub fn trash(path: &Path) -> Result<TrashedBy, DiskError> {
    let read_failed = |e| DiskError::while_reading(path, e);
    let absolute = std::path::absolute(path).map_err(read_failed)?;
    std::fs::symlink_metadata(&absolute).map_err(read_failed)?;
    let said = match run_program(&absolute) {
        Ok(()) if is_gone(&absolute) => {
            platform::sync_removal(&absolute)?;
            return Ok(TrashedBy::Program);
        }
        Ok(()) => Some(format!("the program `{PROGRAM}` left it where it was")),
        Err(said) => said,
    };
    match platform::trash_entry(&absolute) {
        Ok(()) if is_gone(&absolute) => Ok(TrashedBy::Platform),
        // It is there, and only its name may not last.
        Err(e @ DiskError::Unsettled { .. }) => Err(e),
        // The program was slow to say what it did.
        Err(_) if is_gone(&absolute) => {
            platform::sync_removal(&absolute)?;
            Ok(TrashedBy::Program)
        }
        Ok(()) => Err(no_trash(path, said, "it is still there", None)),
        Err(e) => {
            let words = printable_line(&e.to_string());
            Err(no_trash(path, said, &words, Some(e)))
        }
    }
}

/// Runs the program; an error is what it said, if it is there at all.
fn run_program(path: &Path) -> Result<(), Option<String>> {
    let ran = Command::new(PROGRAM)
        .arg(path)
        .stdin(Stdio::null())
        .output()
        .map_err(|_| None)?;
    if ran.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&ran.stderr);
    let first = said.lines().map(str::trim).find(|line| !line.is_empty());
    let first = first.map_or_else(|| ran.status.to_string(), printable_line);
    Err(Some(format!("the program `{PROGRAM}` said: {first}")))
}

fn is_gone(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_err_and(|e| e.kind() == std::io::ErrorKind::NotFound)
}

fn no_trash(
    path: &Path,
    said: Option<String>,
    platform: &str,
    cause: Option<DiskError>,
) -> DiskError {
    let platform = format!("the platform's trash said: {platform}");
    let reason = match (said, &cause) {
        (Some(said), _) => format!("{said}; {platform}"),
        (None, Some(cause)) => printable_line(&cause.to_string()),
        (None, None) => platform,
    };
    DiskError::NoTrash {
        path: path.to_owned(),
        reason,
        cause: cause.map(Box::new),
    }
}

/// The trash of other systems, which the crate `trash` knows.
#[cfg(any(windows, target_vendor = "apple"))]
mod platform {
    use std::{io, path::Path};

    use crate::{error::DiskError, sync};

    pub(super) fn trash_entry(path: &Path) -> Result<(), DiskError> {
        ::trash::delete(path).map_err(|e| {
            let words = match e {
                ::trash::Error::Unknown { description } => description,
                ::trash::Error::Os { code, .. } => {
                    return DiskError::while_writing(path, io::Error::from_raw_os_error(code));
                }
                other => other.to_string(),
            };
            DiskError::while_writing(path, io::Error::other(words))
        })?;
        sync_removal(path)
    }

    /// Makes it last that something is no longer at a path.
    pub(super) fn sync_removal(path: &Path) -> Result<(), DiskError> {
        sync::folder_at(path)
    }
}

/// One line of at most 200 characters that does nothing to a terminal.
fn printable_line(text: &str) -> String {
    text.chars()
        .take(200)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}
