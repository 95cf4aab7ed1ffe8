//! Real sessions, where a folder of them is at hand: `RETHREAD_CORPUS`.

use std::path::{Path, PathBuf};

use rethread_formats::pi::SessionError;

use super::world::world;

pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in std::fs::read_dir(&at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "jsonl") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn every_real_session_opens_and_has_a_context() {
    let Some(corpus) = rethread_judges::corpus() else {
        return;
    };
    let w = world();
    let mut largest = Vec::new();
    let mut opened = 0;
    for file in files(&corpus.join("pi")) {
        // A copy: what is real stays as it is.
        let copy = w.path("copy.jsonl");
        let before = std::fs::read(&file).unwrap();
        std::fs::write(&copy, &before).unwrap();
        let manager = match rethread_formats::pi::SessionManager::open(&w.host, &copy, None) {
            Ok(manager) => manager,
            Err(SessionError::NotASession { .. }) => continue,
            Err(e) => panic!("{}: {e}", file.display()),
        };
        opened += 1;
        let context = manager.build_session_context();
        if file.ends_with("fixtures/before-compaction.jsonl")
            || file.ends_with("fixtures/large-session.jsonl")
        {
            largest.push(context.messages.len());
        }
        assert_eq!(
            manager.tree().walk().count(),
            manager.entries().len(),
            "{}",
            file.display()
        );
        assert_eq!(
            std::fs::read(&copy).unwrap(),
            before,
            "reading writes nothing"
        );
    }
    assert!(opened > 0);
    largest.sort_unstable();
    assert_eq!(largest, [446, 914], "as the real program gives");
}
