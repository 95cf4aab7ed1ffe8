//! What travels along in a session's folder, and where sessions go.

use std::path::PathBuf;

use rethread_disk::{Mode, append_line, read_small};

use super::AgentUse;
use super::create::sessions_of;
use crate::carry::InstallTarget;
use crate::{Carrier, Conversation, OpenError, Source, WriteError, Writing};

/// The file that holds it. The program reads files of other names only.
pub(super) const OURS: &str = "rethread.jsonl";

impl Carrier for AgentUse {
    /// Keeps values in a file of their own, a line each.
    fn embed_original(
        &self,
        w: &Writing<'_>,
        source: &Source,
        items: &[Vec<u8>],
    ) -> Result<(), WriteError> {
        let path = source.path.join(OURS);
        let mode = Mode::like(&source.path)?;
        for item in items {
            append_line(&path, item, mode, w.durability)?;
        }
        Ok(())
    }

    /// The values in that file.
    fn embedded_original(&self, conversation: &Conversation) -> Result<Vec<Vec<u8>>, OpenError> {
        let path = conversation.source.path.join(OURS);
        if !path.is_file() {
            return Ok(Vec::new());
        }
        let bytes = read_small(&path)?;
        let lines = bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty());
        Ok(lines.map(<[u8]>::to_vec).collect())
    }

    fn destination_folder(
        &self,
        w: &Writing<'_>,
        place: &InstallTarget,
        _main: &str,
    ) -> Result<PathBuf, WriteError> {
        sessions_of(w, place)
    }
}
