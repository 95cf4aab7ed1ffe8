//! Every reader, through the registry: any bytes in the place of each file that a format keeps.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

use rethread_formats::{Conversation, FORMATS, FormatRef, Want};
use rethread_model::Bodies as _;
use tempfile::TempDir;

use crate::seeds::{files, fixtures};

/// A file of a fixture that bytes are put in the place of.
pub(crate) struct Slot {
    format: FormatRef,
    /// The folder of the fixture.
    case: PathBuf,
    /// The file.
    pub(crate) file: PathBuf,
}

/// All files of all fixtures that a format reads. A database is left to SQLite.
pub(crate) static SLOTS: LazyLock<Vec<Slot>> = LazyLock::new(|| {
    let mut slots = Vec::new();
    for format in FORMATS.iter().copied() {
        let folder = fixtures().join(format.about().slug);
        for file in files(&folder) {
            let name = file.strip_prefix(&folder).unwrap();
            let case: PathBuf = name.components().take(2).collect();
            let is_one = matches!(
                name.extension().and_then(|e| e.to_str()),
                Some("json" | "jsonl" | "ndjson")
            );
            let case = folder.join(case);
            if is_one {
                slots.push(Slot { format, case, file });
            }
        }
    }
    slots
});

/// A copy of each fixture that was asked for, which one file is exchanged of and put back again.
static COPIES: LazyLock<Mutex<HashMap<PathBuf, TempDir>>> = LazyLock::new(Mutex::default);

/// A session of any bytes is listed and read without an end to it, loses nothing, and every entry of
/// it says something. The first two bytes say which file of which fixture the others are put in the
/// place of.
pub fn readers(data: &[u8]) {
    let Some((number, content)) = data.split_first_chunk() else {
        return;
    };
    let Some(slot) = SLOTS.get(usize::from(u16::from_le_bytes(*number)) % SLOTS.len()) else {
        return;
    };
    let mut copies = COPIES.lock().unwrap_or_else(PoisonError::into_inner);
    let copy = copies
        .entry(slot.case.clone())
        .or_insert_with(|| copied(&slot.case));
    let root = if slot.case.is_dir() {
        copy.path().join("case")
    } else {
        copy.path().to_owned()
    };
    let above = if slot.case.is_dir() {
        slot.case.as_path()
    } else {
        slot.case.parent().unwrap()
    };
    let file = root.join(slot.file.strip_prefix(above).unwrap());
    std::fs::write(&file, content).unwrap();
    read_all(slot.format, &file, &root);
    std::fs::copy(&slot.file, &file).unwrap();
}

fn copied(case: &Path) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let above = case.parent().unwrap();
    for file in files(case) {
        let name = if case.is_dir() {
            Path::new("case").join(file.strip_prefix(case).unwrap())
        } else {
            file.strip_prefix(above).unwrap().to_owned()
        };
        let to = folder.path().join(name);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(&file, to).unwrap();
    }
    folder
}

/// Reads what a format finds at a file, else in the folder of the fixture.
fn read_all(format: FormatRef, file: &Path, root: &Path) {
    let (store, reader) = (format.store(), format.reader());
    let mut sources = store.at_path(file);
    if sources.is_empty() && root != file {
        sources = store.at_path(root);
    }
    for source in sources {
        reader.summarize(&source, Want::default());
        let Ok(conversation) = reader.read(&source) else {
            continue;
        };
        assert_lossless(&conversation);
        for (ix, _) in conversation.session.indexed() {
            conversation.body(ix);
        }
    }
}

/// What is saved is what was there, and every record of it is an entry's, or known to be nobody's.
fn assert_lossless(conversation: &Conversation) {
    let mut records = Vec::new();
    for (number, part) in (0_u32..).zip(&conversation.native.parts) {
        records.push(u32::try_from(part.record_count()).unwrap());
        if !part.borrowed {
            let mut saved = Vec::new();
            conversation.native.save(number, &mut saved).unwrap();
            let original = std::fs::read(&part.path).unwrap();
            assert!(
                saved == original,
                "{} is saved otherwise",
                part.path.display()
            );
        }
    }
    assert_eq!(conversation.session.unaccounted(&records), None);
}
