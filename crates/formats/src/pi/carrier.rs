//! What travels along in a session, and where sessions go.

use std::path::PathBuf;

use rethread_json::Value;

use super::write::addition::Addition;
use super::write::refused;
use super::{Flavour, session_folder, write};
use crate::carry::{InstallTarget, in_lines};
use crate::{Carrier, Conversation, OpenError, Source, WriteError, Writing};

/// The type of the custom entries that hold it; those are never part of a context.
pub(crate) const OURS: &str = "rethread";

impl Carrier for Flavour {
    /// Keeps values in custom entries.
    fn embed_original(
        &self,
        w: &Writing<'_>,
        source: &Source,
        items: &[Vec<u8>],
    ) -> Result<(), WriteError> {
        let mut addition = Addition::open(self, w, source)?;
        for item in items {
            let added = addition.session.append_custom_entry(OURS, Some(item));
            added.map_err(|e| refused(e, self, &source.path))?;
        }
        addition.write()?;
        Ok(())
    }

    /// The values that travel in a session.
    fn embedded_original(&self, conversation: &Conversation) -> Result<Vec<Vec<u8>>, OpenError> {
        fn find(entry: Value<'_>) -> Option<Value<'_>> {
            let is_ours = entry.get("customType")?.is_str(OURS);
            entry.get("data").filter(|_| is_ours)
        }
        in_lines(conversation, find)
    }

    /// The folder for the sessions of a working folder.
    fn destination_folder(
        &self,
        w: &Writing<'_>,
        place: &InstallTarget,
        _main: &str,
    ) -> Result<PathBuf, WriteError> {
        let host = write::host_of(self, w);
        let cwd = host.resolve(&place.cwd);
        match (&place.root, host.custom_session_dir()) {
            (Some(root), _) => {
                let folder = root.join("sessions").join(session_folder(&cwd));
                Ok(place.or_before(folder))
            }
            (None, Some(folder)) => Ok(folder),
            (None, None) => {
                let folder = host.default_session_dir(&cwd);
                let folder = folder.map_err(|e| write::refused(e, self, &cwd))?;
                Ok(place.or_before(folder))
            }
        }
    }
}
