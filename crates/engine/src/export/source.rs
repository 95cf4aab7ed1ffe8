//! The originals, with their folders, and a manifest of what they are.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rethread_disk::SafeName;
use rethread_formats::carry::{OriginalFile, original_files};
use rethread_formats::{Conversation, Env};
use rethread_json::{Array, Object, pretty};
use rethread_model::Note;
use sha2::{Digest, Sha256};

use super::choose::{ChosenSession, ChosenSessions};
use super::ndjson::to_file;
use super::progress::ExportProgress;
use super::record::original_damage;
use super::{ExportForms, Exported, left_out, time_stamp};
use crate::Error;
use crate::show::open;

/// Copies the files of sessions into a folder `source_…` below the one that is named, under the paths
/// that they had, with a `manifest.json` that names each with its SHA-256.
///
/// Of sessions in an export, these are the files that came along in it. Those of other machines are
/// in a folder that is named like their home.
pub fn export_source(
    env: &Env,
    chosen: &ChosenSessions,
    forms: ExportForms,
    folder: &Path,
    progress: &dyn Fn(u64, u64),
) -> Result<Exported, Error> {
    let root = folder.join(format!("source_{}", time_stamp(env.now())));
    let mut copying = SourceCopy {
        root: &root,
        forms,
        list: BTreeMap::new(),
        seen: BTreeSet::new(),
        done: Exported::default(),
    };
    let progress = ExportProgress::new(chosen, progress);
    for choice in &chosen.sessions {
        match open(&choice.source) {
            Ok(conversation) => copying.copy_session(choice, &conversation)?,
            Err(e) => {
                copying.done.notes.push(left_out(choice, &e));
                copying.done.skipped += 1;
            }
        }
        progress.session_done(choice);
    }
    let SourceCopy { list, mut done, .. } = copying;
    if done.sessions == 0 {
        return Ok(done);
    }
    let list = list.values().fold(Array::new(), |list, one| list.raw(one));
    let manifest = Object::new().raw("files", &list.finish()).finish();
    let path = root.join("manifest.json");
    to_file(&path, forms, |out| {
        out.write_all(&pretty(&manifest, 2, 0))?;
        out.write_all(b"\n")
    })?;
    done.files.push(root);
    Ok(done)
}

struct SourceCopy<'a> {
    root: &'a Path,
    forms: ExportForms,
    /// What the manifest says, by the paths of the files.
    list: BTreeMap<String, Vec<u8>>,
    /// Sessions may share files.
    seen: BTreeSet<PathBuf>,
    done: Exported,
}

impl SourceCopy<'_> {
    fn copy_session(
        &mut self,
        choice: &ChosenSession,
        conversation: &Conversation,
    ) -> Result<(), Error> {
        let head = &conversation.session.head;
        let home = head
            .provenance
            .as_ref()
            .map(rethread_model::Provenance::home);
        let home = home.filter(|home| home != "local").unwrap_or_default();
        if conversation.carried()?.is_empty() {
            // Those of an export are compared as they are unpacked.
            self.done.notes.extend(original_damage(conversation));
        }
        for file in original_files(conversation, None)? {
            let Some(below) = checked_path(&[&home, &file.folder, &file.name]) else {
                let note = Note::damage(format!("`{}` is no safe name; left out", file.name));
                self.done.notes.push(note.at(&choice.source.path));
                continue;
            };
            if !self.seen.insert(below.clone()) {
                continue;
            }
            match copy_file(&file, &self.root.join(&below), self.forms)? {
                CopyOutcome::Whole { digest, size } => {
                    let names = below.components().map(|c| c.as_os_str().to_string_lossy());
                    let name = names.collect::<Vec<_>>().join("/");
                    let entry = Object::new()
                        .str("path", &name)
                        .str("agent", head.held_by())
                        .str("session", &head.id)
                        .u64("size", size)
                        .str("sha256", &digest);
                    let entry = entry.finish();
                    self.list.insert(name, entry);
                }
                CopyOutcome::Unreadable(e) => {
                    let what = format!("`{}` cannot be read: {e}; left out", file.name);
                    let note = Note::damage(what).at(&choice.source.path);
                    self.done.notes.push(note);
                }
            }
        }
        self.done.sessions += 1;
        Ok(())
    }
}

/// The path of a file below the folder of the export: each name is checked, because it may come from
/// somebody else's file.
fn checked_path(parts: &[&str]) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    let names = parts.iter().flat_map(|part| part.split('/'));
    for name in names.filter(|n| !n.is_empty()) {
        // `C:` is a name on other platforms only.
        let safe = SafeName::new(name.trim_end_matches(':')).ok()?;
        path = rethread_disk::join(&path, &safe);
    }
    Some(path)
}

/// What came of a file.
enum CopyOutcome {
    Whole { digest: String, size: u64 },
    Unreadable(io::Error),
}

/// Copies one file, whole or not at all.
fn copy_file(
    file: &OriginalFile<'_>,
    path: &Path,
    forms: ExportForms,
) -> Result<CopyOutcome, Error> {
    let mut hash = Sha256::new();
    let mut size = 0;
    let mut unreadable = None;
    let written = to_file(path, forms, |out| {
        let mut fail = |e: io::Error| {
            let kind = e.kind();
            unreadable = Some(e);
            io::Error::from(kind)
        };
        let mut reader = file.content_reader().map_err(&mut fail)?;
        let mut buffer = vec![0; 256 * 1024];
        loop {
            let n = match reader.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(n) => n,
                Err(e) => return Err(fail(e)),
            };
            let bytes = buffer.get(..n).unwrap_or_default();
            hash.update(bytes);
            size += n as u64;
            out.write_all(bytes)?;
        }
    });
    if let Some(e) = unreadable {
        return Ok(CopyOutcome::Unreadable(e));
    }
    written?;
    let digest: Vec<String> = hash.finalize().iter().map(|b| format!("{b:02x}")).collect();
    Ok(CopyOutcome::Whole {
        digest: digest.concat(),
        size,
    })
}
