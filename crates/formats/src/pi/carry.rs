//! What travels along in a session, and where sessions go.

use std::path::PathBuf;

use rethread_json::Value;

use super::{Flavour, session_folder, write};
use crate::carry::{Place, in_lines};
use crate::{Conversation, OpenError, Source, WriteError, Writing};

/// The type of the custom entries that hold it; those are never part of a context.
pub(crate) const OURS: &str = "rethread";

/// The folder for the sessions of a working folder.
pub(crate) fn shelf(
    flavour: &Flavour,
    w: &Writing<'_>,
    place: &Place,
) -> Result<PathBuf, WriteError> {
    let host = write::host(flavour, w);
    let cwd = host.resolve(&place.cwd);
    match (&place.root, host.custom_session_dir()) {
        (Some(root), _) => {
            let folder = root.join("sessions").join(session_folder(&cwd));
            Ok(place.or_before(folder))
        }
        (None, Some(folder)) => Ok(folder),
        (None, None) => {
            let folder = host.default_session_dir(&cwd);
            let folder = folder.map_err(|e| write::refused(e, flavour, &cwd))?;
            Ok(place.or_before(folder))
        }
    }
}

/// Keeps values in custom entries.
pub(crate) fn stow(
    flavour: &Flavour,
    w: &Writing<'_>,
    source: &Source,
    items: &[Vec<u8>],
) -> Result<(), WriteError> {
    write::stow(flavour, w, source, (OURS, items))
}

/// The values that travel in a session.
pub(crate) fn stowed(conversation: &Conversation) -> Result<Vec<Vec<u8>>, OpenError> {
    fn find(entry: Value<'_>) -> Option<Value<'_>> {
        let is_ours = entry.get("customType")?.is_str(OURS);
        entry.get("data").filter(|_| is_ours)
    }
    in_lines(conversation, find)
}
