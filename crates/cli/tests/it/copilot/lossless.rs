//! Every byte is kept, and what is damaged is read as far as possible.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use rethread_formats::Conversation;
use rethread_formats::copilot::FORMAT;
use rethread_model::Bodies;

use super::{DAMAGED, EVERYTHING, fixtures, read, world};
use crate::world::{World, json, tree};

/// Reads a session and saves it: the same bytes, every record accounted for.
fn assert_lossless(path: &Path) -> Conversation {
    let c = read(path);
    let original = fs::read(path).unwrap();
    let mut saved = Vec::new();
    c.native.save(0, &mut saved).unwrap();
    assert_eq!(saved, original, "{}", path.display());
    let part = &c.native.parts[0];
    let count = u32::try_from(part.record_count()).unwrap();
    let tiled: Vec<u8> = (0..count).flat_map(|i| part.read(i).unwrap()).collect();
    assert_eq!(tiled, original, "records tile {}", path.display());
    assert_eq!(c.session.unaccounted(&[count]), None);
    for (ix, _) in c.session.indexed() {
        c.body(ix);
    }
    c
}

fn logs(folder: &Path) -> Vec<std::path::PathBuf> {
    let files = tree(folder).into_iter().map(|(path, _)| path);
    files
        .filter(|path| path.extension().is_some_and(|e| e == "jsonl"))
        .collect()
}

#[test]
fn fixtures_are_read_and_saved_byte_for_byte() {
    let found = logs(&fixtures());
    assert_eq!(found.len(), 5);
    for path in found {
        assert_lossless(&path);
    }
}

#[test]
fn a_log_cut_at_any_byte_is_read_up_to_there() {
    let w = World::new();
    let path = w.project.join("events.jsonl");
    for case in ["1.0/damaged", "1.0/resumed"] {
        let whole = fs::read(fixtures().join(case).join("events.jsonl")).unwrap();
        let first = whole.iter().position(|b| *b == b'\n').unwrap();
        let mut most = 0;
        for len in first..whole.len() {
            fs::write(&path, &whole[..len]).unwrap();
            let count = assert_lossless(&path).session.entries().len();
            assert!(count >= most, "{case}: cut at {len}");
            most = count;
        }
    }
}

#[test]
fn damage_is_named_and_the_rest_is_read() {
    let w = world();
    let answer = w.run(&["show", DAMAGED, "--verbose"]);
    assert_eq!(answer.code, 3, "{answer:?}");
    assert_snapshot!("copilot_damage", w.plain(&answer.err));
    for said in ["Count the eggs", "Twelve.", "Sure?", "Yes."] {
        assert!(answer.out.contains(said), "{said}: {}", answer.out);
    }
}

/// An export has all files that belong to a session.
#[test]
fn files_travel_along() {
    let w = world();
    let file = w.root.join("all.ndjson");
    let name = format!("copilot:{EVERYTHING}");
    w.ok(&["export", &name, "-o", file.to_str().unwrap()]);
    let record = json(fs::read_to_string(&file).unwrap().lines().nth(1).unwrap());
    let first = &record["messages"][0]["metadata"]["extensions"];
    let files = first["original"]["files"].as_array();
    let paths = files
        .unwrap()
        .iter()
        .map(|file| file["path"].as_str().unwrap());
    let names = [
        "events.jsonl",
        "workspace.yaml",
        "checkpoints/001.md",
        "checkpoints/index.md",
    ];
    assert_eq!(paths.collect::<Vec<_>>(), names);
}

#[test]
fn all_sessions_of_the_corpus_are_read() {
    let Some(corpus) = rethread_judges::corpus() else {
        return;
    };
    let mut found = logs(&corpus.join("copilot"));
    found.extend(logs(&corpus.join("recorded/copilot-1.0.102-tools")));
    assert!(found.len() > 10, "no sessions under {}", corpus.display());
    let w = World::new();
    for path in found {
        let c = assert_lossless(&path);
        assert!(c.notes.is_empty(), "{}: {:?}", path.display(), c.notes);
        assert!(c.session.message_count() > 1, "{}", path.display());
        let path = path.to_str().unwrap();
        let record = json(&w.ok(&["show", path, "--json"]));
        assert_eq!(record["session"]["agent"], FORMAT.slug());
        for to in ["text", "markdown", "html"] {
            assert!(!w.ok(&["show", path, "--to", to]).is_empty());
        }
        assert_eq!(w.run(&["check", path]).code, 0, "{path}");
    }
}
