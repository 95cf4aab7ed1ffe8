//! Real threads, where a folder of them is at hand: `RETHREAD_CORPUS`.

use std::fs;
use std::path::{Path, PathBuf};

use rethread_formats::{Source, atsf::FORMAT};
use rethread_model::Bodies;

use crate::world::World;

/// Reads a thread and saves every part of it: the same bytes, every record accounted for.
pub(crate) fn assert_lossless(folder: &Path) {
    let id = folder.file_name().unwrap().to_str().unwrap().to_owned();
    let source = Source::new(FORMAT, id, folder.to_owned());
    let conversation = FORMAT.reader().read(&source).unwrap();
    let mut records = Vec::new();
    for (number, part) in (0_u32..).zip(&conversation.native.parts) {
        let mut saved = Vec::new();
        conversation.native.save(number, &mut saved).unwrap();
        let original = fs::read(&part.path).unwrap_or_default();
        assert_eq!(saved, original, "{}", part.path.display());
        let mut tiled = Vec::new();
        let count = u32::try_from(part.record_count()).unwrap();
        for record in 0..count {
            tiled.extend(part.read(record).unwrap());
        }
        assert_eq!(tiled, original, "records tile {}", part.path.display());
        records.push(count);
    }
    assert_eq!(conversation.session.unaccounted(&records), None);
    for (ix, _) in conversation.session.indexed() {
        conversation.body(ix);
    }
}

fn threads(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        if at.join("thread.json").is_file() {
            found.push(at);
            continue;
        }
        for entry in fs::read_dir(&at).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            }
        }
    }
    found
}

#[test]
fn all_threads_of_the_corpus_are_read_shown_and_rewritten() {
    let Some(corpus) = rethread_judges::corpus() else {
        return;
    };
    let found = threads(&corpus.join("atsf"));
    assert!(!found.is_empty(), "no threads under {}", corpus.display());
    let w = World::new();
    for folder in found {
        assert_lossless(&folder);
        for args in [
            &["show"][..],
            &["show", "--to", "markdown"],
            &["show", "--json"],
        ] {
            let mut args = args.to_vec();
            args.insert(1, folder.to_str().unwrap());
            let answer = w.run(&args);
            assert_eq!(answer.code, 0, "{args:?}: {answer:?}");
            assert!(!answer.out.is_empty());
        }
        // A change and its opposite in a copy give back every byte.
        let id = folder.file_name().unwrap().to_str().unwrap();
        let copy = w.folder(id);
        crate::world::copy(&folder, &copy);
        let before = fs::read(copy.join("thread.json")).unwrap();
        let title = crate::world::json(&String::from_utf8(before.clone()).unwrap())["title"]
            .as_str()
            .unwrap()
            .to_owned();
        w.ok(&["rename", copy.to_str().unwrap(), "another"]);
        assert_ne!(fs::read(copy.join("thread.json")).unwrap(), before);
        w.ok(&["rename", copy.to_str().unwrap(), &title]);
        assert_eq!(fs::read(copy.join("thread.json")).unwrap(), before);
    }
}
