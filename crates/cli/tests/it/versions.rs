//! A higher MAJOR is refused by every verb, and everything else is read.

use std::fs;

use crate::world::{World, json};

fn id_of(w: &World) -> String {
    let entry = fs::read_dir(w.project.join(".agent/threads"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    entry.file_name().into_string().unwrap()
}

#[test]
fn every_verb_refuses_a_higher_major() {
    for case in ["2.0/refused", "2.0/config-refused"] {
        let w = World::new();
        w.fixture(case);
        let id = id_of(&w);
        let before = crate::world::tree(&w.root);
        for args in [
            &["show", &id][..],
            &["show", &id, "--json"],
            &["append", &id, "x"],
            &["append", &id, "--replace", "#1", "x"],
            &["rename", &id, "x"],
            &["fork", &id],
        ] {
            let answer = w.run(args);
            assert_eq!(answer.code, 1, "{case} {args:?}: {answer:?}");
            assert!(
                answer.err.contains("version 2.0 of atsf"),
                "{args:?}: {}",
                answer.err
            );
            assert!(answer.err.contains("hint"), "{}", answer.err);
        }
        if case.contains("config") {
            for args in [&["new", "--format", "atsf"][..], &["init"]] {
                assert_eq!(w.run(args).code, 1, "{args:?}");
            }
        }
        let listed = w.run(&["list", "--json"]);
        assert_eq!(json(&listed.out)["state"], "unsupported", "{listed:?}");
        assert!(w.run(&["list"]).out.contains("[unsupported version 2.0]"));
        let raw = w.command(&["show", &id, "--to", "raw"]).output().unwrap();
        assert_eq!(
            raw.stdout,
            fs::read(w.folder(&id).join("messages.jsonl")).unwrap()
        );
        assert_eq!(crate::world::tree(&w.root), before, "nothing was changed");
    }
}

#[test]
fn lower_and_later_minors_are_read_and_kept() {
    for case in ["1.0/minimal", "1.7/future-fields"] {
        let w = World::new();
        w.fixture(case);
        let id = id_of(&w);
        let answer = w.run(&["show", &id]);
        assert_eq!(answer.code, 0, "{case}: {answer:?}");
        let before = fs::read_to_string(w.folder(&id).join("thread.json")).unwrap();
        w.ok(&["append", &id, "one more"]);
        let after = fs::read_to_string(w.folder(&id).join("thread.json")).unwrap();
        let version = |t: &str| {
            t.split("\"specVersion\"")
                .nth(1)
                .unwrap()
                .chars()
                .take(12)
                .collect::<String>()
        };
        assert_eq!(
            version(&before),
            version(&after),
            "the version of a file is not changed"
        );
    }
}

#[test]
fn unknown_fields_survive_append_rename_and_fork() {
    let w = World::new();
    w.fixture("1.7/future-fields");
    let id = id_of(&w);
    let log_before = fs::read(w.folder(&id).join("messages.jsonl")).unwrap();
    let manifest_before = fs::read_to_string(w.folder(&id).join("thread.json")).unwrap();
    w.ok(&["append", &id, "one more"]);
    w.ok(&["rename", &id, "another title"]);
    let log_after = fs::read(w.folder(&id).join("messages.jsonl")).unwrap();
    assert!(
        log_after.starts_with(&log_before),
        "all lines keep their bytes"
    );
    let manifest_after = fs::read_to_string(w.folder(&id).join("thread.json")).unwrap();
    // What was changed on purpose aside, every line of the description is still there.
    let changed = [
        "\"title\"",
        "\"updatedAt\"",
        "Count\"",
        "\"rethread\"",
        "\"logBytes\"",
        "}",
    ];
    for line in manifest_before
        .lines()
        .filter(|l| !changed.iter().any(|c| l.contains(c)))
    {
        let kept = manifest_after
            .lines()
            .any(|l| l.trim_end_matches(',') == line.trim_end_matches(','));
        assert!(kept, "{line}\n{manifest_after}");
    }
    let fork = json(&w.ok(&["fork", &id, "--json"]));
    let forked = fs::read(
        w.folder(fork["id"].as_str().unwrap())
            .join("messages.jsonl"),
    )
    .unwrap();
    assert_eq!(forked, log_after);
}

#[test]
fn a_missing_version_is_a_note() {
    let w = World::new();
    w.fixture("1.1/no-version");
    let id = id_of(&w);
    let answer = w.run(&["show", &id]);
    assert_eq!(answer.code, 0, "{answer:?}");
    assert!(answer.err.contains("note: "), "{}", answer.err);
    assert!(
        answer.err.contains("no `specVersion`; read as 1.x"),
        "{}",
        answer.err
    );
}
