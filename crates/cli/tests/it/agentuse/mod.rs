//! Sessions of AgentUse as a user meets them.

mod append;
mod checked;
mod corpus;
mod damage;
mod listed;
mod meaning;
mod new;
mod properties;
mod show;
mod written;

use std::fs;
use std::path::{Path, PathBuf};

use rethread_formats::{Conversation, Source, agentuse::FORMAT};
use rethread_model::Bodies;

use crate::world::{World, copy};

/// The session of the document with every field, its sub-agent, and the sub-agent of that.
pub(crate) const PLANNER: &str = "01KA3J1000S000000000000001";
pub(crate) const CODER: &str = "01KA3J1000S000000000000002";
pub(crate) const TESTER: &str = "01KA3J1000S000000000000003";
/// The session of the document without any optional field.
pub(crate) const MINIMAL: &str = "01KA3J1000S000000000000004";
/// The session of a later program.
pub(crate) const LATER: &str = "01KA3J1000S000000000000005";

pub(crate) const CASES: [&str; 4] = [
    "document/full",
    "document/minimal",
    "0.30/everything",
    "0.30/damaged",
];

pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/agentuse")
}

/// The data folder of the program in a test's home.
pub(crate) fn data(w: &World) -> PathBuf {
    w.home.join(".local/share/agentuse")
}

/// A world with these cases in its home.
pub(crate) fn world(cases: &[&str]) -> World {
    let w = World::new();
    for case in cases {
        copy(&fixtures().join(case), &data(&w));
    }
    w
}

/// All sessions below a folder, by their folders.
pub(crate) fn sessions(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(at) = waiting.pop() {
        let holder = at.parent().and_then(Path::file_name);
        if holder.is_some_and(|n| n == "session" || n == "subagent") {
            found.push(at.clone());
        }
        let entries = fs::read_dir(&at).unwrap().map(|e| e.unwrap().path());
        waiting.extend(entries.filter(|p| p.is_dir()));
    }
    found.sort();
    found
}

/// The folder of a session, wherever it is nested.
pub(crate) fn folder(below: &Path, id: &str) -> PathBuf {
    let all = sessions(below);
    let is_it = |p: &&PathBuf| p.file_name().unwrap().to_str().unwrap().starts_with(id);
    all.iter()
        .find(is_it)
        .unwrap_or_else(|| panic!("{id}: {all:?}"))
        .clone()
}

pub(crate) fn read(folder: &Path) -> Conversation {
    let mut sources = FORMAT.store().at_path(folder);
    assert_eq!(sources.len(), 1, "{}", folder.display());
    let source: Source = sources.remove(0);
    FORMAT.reader().read(&source).unwrap()
}

/// Reads a session and saves every part of it: the same bytes, every record accounted for, and no
/// file left out.
pub(crate) fn assert_lossless(folder: &Path) -> Conversation {
    let conversation = read(folder);
    let mut records = Vec::new();
    let mut files = Vec::new();
    for (number, part) in (0_u32..).zip(&conversation.native.parts) {
        let mut saved = Vec::new();
        conversation.native.save(number, &mut saved).unwrap();
        let original = fs::read(&part.path).unwrap();
        assert!(saved == original, "{}", part.path.display());
        let count = u32::try_from(part.record_count()).unwrap();
        let tiled: Vec<u8> = (0..count).flat_map(|r| part.read(r).unwrap()).collect();
        assert!(tiled == original, "records tile {}", part.path.display());
        records.push(count);
        files.push(part.path.clone());
    }
    assert_eq!(conversation.session.unaccounted(&records), None);
    files.sort();
    let own = crate::world::tree(folder).into_iter().map(|(path, _)| path);
    let own: Vec<PathBuf> = own
        .filter(|p| !p.strip_prefix(folder).unwrap().starts_with("subagent"))
        .collect();
    assert_eq!(files, own);
    let mut listed = FORMAT.store().files(&conversation.source).unwrap();
    listed.sort();
    assert_eq!(listed, own);
    for (ix, _) in conversation.session.indexed() {
        conversation.body(ix);
    }
    conversation
}

#[test]
fn fixtures_are_read_and_saved_byte_for_byte() {
    let mut count = 0;
    for case in CASES {
        for folder in sessions(&fixtures().join(case)) {
            let conversation = assert_lossless(&folder);
            assert_eq!(
                conversation.notes.is_empty(),
                case != "0.30/damaged",
                "{case}"
            );
            count += 1;
        }
    }
    assert_eq!(count, 10);
}
