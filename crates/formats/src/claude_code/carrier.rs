//! What travels along in a transcript, and where transcripts go.

use std::path::PathBuf;

use rethread_json::{Object, Tree, Value};

use super::create::{project_folder, real_folder};
use super::record_writer::OURS;
use super::{ClaudeCode, FORMAT};
use crate::carry::{InstallTarget, in_lines};
use crate::session_log::SessionLog;
use crate::{Carrier, Conversation, OpenError, Source, WriteError, Writing};

impl Carrier for ClaudeCode {
    /// Keeps values in records of a type that the client skips. It lists sessions by the beginning and
    /// the end of a file, so what stood last stands last again.
    fn embed_original(
        &self,
        w: &Writing<'_>,
        source: &Source,
        items: &[Vec<u8>],
    ) -> Result<(), WriteError> {
        let mut log = SessionLog::open(w, &source.path)?;
        let conversation = FORMAT.reader().read(source)?;
        let mut lines = Vec::new();
        for item in items {
            let record = Object::new()
                .str("type", OURS)
                .str("timestamp", &w.env.now().to_string())
                .raw("carried", item)
                .str("sessionId", &conversation.session.head.id);
            lines.extend(record.finish());
            lines.push(b'\n');
        }
        for line in closing(&conversation) {
            lines.extend(line);
        }
        log.append(&lines)?;
        Ok(())
    }

    /// The values that travel in a transcript.
    fn embedded_original(&self, conversation: &Conversation) -> Result<Vec<Vec<u8>>, OpenError> {
        fn find(record: Value<'_>) -> Option<Value<'_>> {
            let is_ours = record.get("type")?.is_str(OURS);
            record.get("carried").filter(|_| is_ours)
        }
        in_lines(conversation, find)
    }

    /// The folder for the transcripts of a working folder.
    fn destination_folder(
        &self,
        w: &Writing<'_>,
        place: &InstallTarget,
        _main: &str,
    ) -> Result<PathBuf, WriteError> {
        let folder = project_folder(w.env, place.root.as_deref(), &real_folder(&place.cwd))?;
        Ok(place.or_before(folder))
    }
}

/// The lines behind the last message: the title, and what was said last.
fn closing(conversation: &Conversation) -> Vec<Vec<u8>> {
    let mut lines = Vec::new();
    let Some(part) = conversation.native.parts.first() else {
        return lines;
    };
    let count = u32::try_from(part.record_count()).unwrap_or_default();
    for record in (0..count).rev() {
        let Ok(line) = part.read(record) else { break };
        let Ok(tree) = Tree::parse(&line) else { break };
        let kind = tree.root(&line).get("type");
        if !kind.is_some_and(|t| t.is_str("custom-title") || t.is_str("last-prompt")) {
            break;
        }
        lines.insert(0, line);
    }
    lines
}
