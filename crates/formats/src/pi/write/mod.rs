//! The verbs that write, on top of [`SessionManager`].

mod create;
mod edit;
mod message;
mod tell;

use std::path::Path;

use rethread_disk::DiskError;

use super::manager::{Host, SessionError, SessionManager};
use super::{Flavour, VERSION};
use crate::{OpenError, Source, WriteError, Writing};

pub(crate) use create::{create, fork};
pub(crate) use edit::{append, branch, label, migrate, rename};
pub(crate) use tell::{KEEPS, tell};

/// Whose sessions, and how they are written.
pub(super) fn host(flavour: &Flavour, w: &Writing<'_>) -> Host {
    Host::new(w.env.clone(), flavour.program)
        .durability(w.durability)
        .lock_timeout(w.lock_timeout)
}

/// The session, which must be there.
pub(super) fn open(
    flavour: &Flavour,
    w: &Writing<'_>,
    source: &Source,
) -> Result<SessionManager, WriteError> {
    if !source.path.is_file() {
        let path = source.path.clone();
        return Err(DiskError::NotFound { path }.into());
    }
    SessionManager::open(&host(flavour, w), &source.path, None)
        .map_err(|e| refused(e, flavour, &source.path))
}

/// A refusal, in the words of all formats.
pub(super) fn refused(e: SessionError, flavour: &Flavour, path: &Path) -> WriteError {
    let path = path.to_owned();
    match e {
        SessionError::Disk(e) => e.into(),
        SessionError::NotASession { path } | SessionError::CannotFork { path } => {
            let format = flavour.slug;
            OpenError::NotOurs { path, format }.into()
        }
        SessionError::EntryNotFound { id } => WriteError::NoEntry { id, path },
        SessionError::Exists { path } => {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let id = name.into_owned();
            WriteError::Exists { id, path }
        }
        SessionError::TooNew { version } => OpenError::Unsupported {
            path,
            format: flavour.slug,
            version: version.to_string(),
            supported: SUPPORTED,
        }
        .into(),
        SessionError::NotJson { .. }
        | SessionError::BadMessage { .. }
        | SessionError::BadEntry { .. } => WriteError::BadMessage {
            line: None,
            why: e.to_string(),
        },
        other => WriteError::BadInput(other.to_string()),
    }
}

/// The versions that can be written.
const SUPPORTED: &str = "and writes versions 1 to 3";
const _: () = assert!(VERSION == 3);
