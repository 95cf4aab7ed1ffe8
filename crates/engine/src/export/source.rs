//! The originals, with their folders, and a manifest of what they are.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rethread_disk::SafeName;
use rethread_formats::Env;
use rethread_json::{Array, Object, pretty};
use rethread_model::Note;
use sha2::{Digest, Sha256};

use super::choose::Chosen;
use super::ndjson::to_file;
use super::original::{OriginalFile, files};
use super::{ExportForms, Exported, stamp};
use crate::Error;
use crate::show::open;

/// Copies the files of sessions into a folder `source_…` below the one that is named, under the paths
/// that they had, with a `manifest.json` that names each with its SHA-256.
pub fn export_source(
    env: &Env,
    chosen: &Chosen,
    forms: ExportForms,
    folder: &Path,
    progress: &dyn Fn(u64, u64),
) -> Result<Exported, Error> {
    let mut done = Exported::default();
    let root = folder.join(format!("source_{}", stamp(env.now())));
    let all = chosen.len() as u64;
    let mut list = Array::new();
    let mut seen = std::collections::BTreeSet::new();
    for (at, choice) in (1..).zip(&chosen.sessions) {
        let conversation = match open(&choice.source) {
            Ok(conversation) => conversation,
            Err(e) => {
                let note = Note::damage(format!("{e}; left out")).at(&choice.source.path);
                done.notes.push(note);
                done.skipped += 1;
                continue;
            }
        };
        for file in files(&conversation)? {
            let Some(below) = below(&file.folder, &file.name) else {
                let note = Note::damage(format!("`{}` is no safe name; left out", file.name));
                done.notes.push(note.at(&choice.source.path));
                continue;
            };
            if !seen.insert(below.clone()) {
                continue;
            }
            let path = root.join(&below);
            let (digest, size) = copy(&file, &path, forms)?;
            let names = below.components().map(|c| c.as_os_str().to_string_lossy());
            let name = names.collect::<Vec<_>>().join("/");
            let entry = Object::new()
                .str("path", &name)
                .str("agent", conversation.session.head.held_by())
                .str("session", &conversation.session.head.id)
                .u64("size", size)
                .str("sha256", &digest);
            list = list.raw(&entry.finish());
        }
        done.sessions += 1;
        progress(at, all);
    }
    let manifest = Object::new().raw("files", &list.finish()).finish();
    let path = root.join("manifest.json");
    to_file(&path, forms, |out| {
        out.write_all(&pretty(&manifest, 2, 0))?;
        out.write_all(b"\n")
    })?;
    done.files.push(root);
    Ok(done)
}

/// The path of a file below the folder of the export: each name is checked, because it may come from
/// somebody else's file.
fn below(base: &str, name: &str) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    let drive = |n: &str| n.trim_end_matches(':').to_owned();
    for one in base
        .split('/')
        .chain(name.split('/'))
        .filter(|n| !n.is_empty())
    {
        let one = drive(one);
        let safe = SafeName::new(&one).ok()?;
        path = rethread_disk::join(&path, &safe);
    }
    Some(path)
}

/// Copies one file; gives its digest and its size.
fn copy(file: &OriginalFile<'_>, path: &Path, forms: ExportForms) -> Result<(String, u64), Error> {
    let mut hash = Sha256::new();
    let mut size = 0;
    to_file(path, forms, |out| {
        let mut both = Hashing {
            out,
            hash: &mut hash,
        };
        size = file.copy(&mut both)?;
        Ok(())
    })?;
    let digest: Vec<String> = hash.finalize().iter().map(|b| format!("{b:02x}")).collect();
    Ok((digest.concat(), size))
}

struct Hashing<'a> {
    out: &'a mut dyn Write,
    hash: &'a mut Sha256,
}

impl Write for Hashing<'_> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let n = self.out.write(buf)?;
        self.hash.update(&buf[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
