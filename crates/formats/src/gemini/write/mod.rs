//! The verbs that write: whole records at the end of a log, or a document anew.

pub(super) mod agent;
pub(super) mod create;
pub(super) mod edit;
pub(super) mod fork;
pub(super) mod message;
pub(super) mod place;
pub(super) mod results;
pub(super) mod transcript;

use std::io::Read;
use std::path::Path;

use rethread_disk::{DiskError, SMALL};
use rethread_json::{Document, Object, Patch, quote};
use rethread_model::Note;

use super::SLUG;
use super::scan::{Scanned, scan_file};
use super::sniff::{ClientFile, has_lines};
use crate::kit::ScanDepth;
use crate::session_log::SessionLog;
use crate::{OpenError, Source, WriteError, Writing};

pub(super) use create::project_folder;
pub(super) use edit::renew_session;

/// A session that nobody else of us writes to while this exists.
pub(in crate::gemini) struct LockedSession<'a> {
    pub(in crate::gemini) w: &'a Writing<'a>,
    pub(in crate::gemini) path: &'a Path,
    pub(in crate::gemini) log: SessionLog<'a>,
    pub(in crate::gemini) found: Scanned,
}

/// What is to change in a session.
#[derive(Default)]
pub(in crate::gemini) struct SessionChanges {
    /// New messages, in order.
    pub(in crate::gemini) added: Vec<Vec<u8>>,
    /// Messages that are there, anew, by their ids.
    pub(in crate::gemini) again: Vec<(String, Vec<u8>)>,
    /// A new title.
    pub(in crate::gemini) title: Option<String>,
}

impl<'a> LockedSession<'a> {
    /// Locks a chat for writing. Checkpoints and prompts are the client's alone.
    pub(in crate::gemini) fn lock(
        w: &'a Writing<'a>,
        source: &'a Source,
    ) -> Result<Self, WriteError> {
        let path = source.path.as_path();
        let log = if has_lines(path) {
            SessionLog::open(w, path)?
        } else {
            SessionLog::of_document(w, path)?
        };
        let found = scan_file(path, ScanDepth::Whole)?;
        if !matches!(found.what, ClientFile::Log | ClientFile::Document) {
            return Err(WriteError::Unsupported {
                format: SLUG,
                what: "way to change a checkpoint or the log of prompts",
            });
        }
        Ok(Self {
            w,
            path,
            log,
            found,
        })
    }

    /// Makes changes. The session is as of now, for the client deletes old ones when it starts.
    pub(in crate::gemini) fn save(
        &mut self,
        changes: &SessionChanges,
    ) -> Result<Vec<Note>, WriteError> {
        if has_lines(self.path) {
            let note = self.add_lines(changes)?;
            return Ok(note.into_iter().collect());
        }
        self.write_anew(changes)?;
        Ok(Vec::new())
    }

    fn add_lines(&mut self, changes: &SessionChanges) -> Result<Option<Note>, WriteError> {
        let again = changes.again.iter().map(|(_, json)| json);
        let mut lines = Vec::new();
        for json in again.chain(&changes.added) {
            lines.extend_from_slice(json);
            lines.push(b'\n');
        }
        let set = Object::new().opt_str("summary", changes.title.as_deref());
        let set = set.str("lastUpdated", &self.w.env.now().to_string());
        let set = Object::new().raw("$set", &set.finish()).finish();
        lines.extend_from_slice(&set);
        lines.push(b'\n');
        self.log.append(&lines)
    }

    fn write_anew(&mut self, changes: &SessionChanges) -> Result<(), WriteError> {
        let document = self.document()?;
        let root = document.root();
        let list = root.get("messages").filter(|m| m.is_array());
        let list = list.ok_or_else(|| self.damaged("`messages` is missing".to_owned()))?;
        let mut patch = Patch::new(root);
        for (id, json) in &changes.again {
            let is_it = |m: &rethread_json::Value<'_>| m.get("id").is_some_and(|v| v.is_str(id));
            if let Some(old) = list.items().filter(is_it).last() {
                patch.replace(old, json);
            }
        }
        for json in &changes.added {
            patch.push(list, json);
        }
        if let Some(title) = &changes.title {
            patch.set(root, "summary", &quote(title));
        }
        patch.set(root, "lastUpdated", &quote(&self.w.env.now().to_string()));
        let bytes = patch.finish();
        self.log
            .whole()
            .rewrite(self.w.durability, |_, new| new.write_all(&bytes))?;
        Ok(())
    }

    fn document(&self) -> Result<Document, WriteError> {
        let path = self.path.to_owned();
        if self.log.len()? > SMALL {
            return Err(self
                .damaged("too long to be written anew".to_owned())
                .into());
        }
        let mut bytes = Vec::new();
        let read = self.log.reader(0).take(SMALL).read_to_end(&mut bytes);
        read.map_err(|cause| DiskError::Read { path, cause })?;
        let document = Document::parse(bytes);
        document.map_err(|e| self.damaged(format!("not JSON: {e}")).into())
    }

    fn damaged(&self, why: String) -> OpenError {
        OpenError::Damaged {
            path: self.path.to_owned(),
            line: None,
            why,
        }
    }
}
