//! The verbs that write, on top of [`SessionManager`].

pub(super) mod addition;
pub(super) mod create;
pub(super) mod edit;
pub(super) mod fork;
pub(super) mod message;
pub(super) mod transcript;

use std::path::Path;

use rethread_disk::DiskError;

use super::manager::{Host, SessionError, SessionManager};
use super::{Flavour, VERSION};
use crate::{OpenError, Source, WriteError, Writing};

/// Whose sessions, and how they are written.
pub(super) fn host_of(flavour: &Flavour, w: &Writing<'_>) -> Host {
    Host::new(w.env.clone(), flavour.program)
        .durability(w.durability)
        .lock_timeout(w.lock_timeout)
}

/// The session, which must be there. An empty file is none: to begin one in it would give it another
/// id than its name says.
pub(super) fn open(
    flavour: &Flavour,
    w: &Writing<'_>,
    source: &Source,
) -> Result<SessionManager, WriteError> {
    let path = &source.path;
    match std::fs::metadata(path).map(|meta| (meta.is_file(), meta.len())) {
        Ok((true, 0)) => return Err(not_ours(flavour, path).into()),
        Ok((true, _)) => {}
        _ => return Err(DiskError::NotFound { path: path.clone() }.into()),
    }
    SessionManager::open(&host_of(flavour, w), &source.path, None)
        .map_err(|e| refused(e, flavour, &source.path))
}

pub(super) fn not_ours(flavour: &Flavour, path: &Path) -> OpenError {
    OpenError::NotOurs {
        path: path.to_owned(),
        format: flavour.slug,
    }
}

/// A refusal, in the words of all formats.
pub(super) fn refused(e: SessionError, flavour: &Flavour, path: &Path) -> WriteError {
    let path = path.to_owned();
    match e {
        SessionError::Disk(e) => e.into(),
        SessionError::NotASession { path } | SessionError::CannotFork { path } => {
            not_ours(flavour, &path).into()
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
