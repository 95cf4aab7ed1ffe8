//! Every file of a session in turn is damaged: the rest is shown, and the damage is named.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;

use super::{LATER, PLANNER, data, folder, world};
use crate::world::{Answer, World};

/// What a file can be made of.
fn damages(original: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let noise = (0_u32..997)
        .map(|i| i.wrapping_mul(2_654_435_761).to_be_bytes()[1])
        .collect();
    vec![
        ("empty", Vec::new()),
        ("cut", original[..original.len() / 2].to_vec()),
        ("null", b"null".to_vec()),
        ("array", b"[]".to_vec()),
        ("string", b"\"x\"".to_vec()),
        ("noise", noise),
    ]
}

fn assert_named(answer: &Answer, path: &Path, damage: &str) {
    let name = path.file_name().unwrap().to_str().unwrap();
    assert_eq!(answer.code, 3, "{damage} {name}: {answer:?}");
    let line = answer.err.lines().find(|l| l.contains(name));
    assert!(
        line.is_some_and(|l| l.starts_with("warning: ")),
        "{damage} {name}: {}",
        answer.err
    );
}

/// The lines of the first text that the second lacks.
fn missing(before: &str, after: &str) -> Vec<String> {
    let has = |line: &&str| !after.lines().any(|l| l == *line);
    before.lines().filter(has).map(str::to_owned).collect()
}

fn every_file(w: &World, id: &str, mut check: impl FnMut(&Path, &str, &Answer)) {
    let session = folder(&data(w), id);
    let files = crate::world::tree(&session).into_iter();
    // A text that no call names may be made of any bytes.
    let files = files.filter(|(p, _)| {
        let inner = p.strip_prefix(&session).unwrap();
        !inner.starts_with("subagent") && p.extension().is_some_and(|e| e == "json")
    });
    for (path, original) in files {
        for (damage, bytes) in damages(&original) {
            fs::write(&path, &bytes).unwrap();
            let answer = w.run(&["show", session.to_str().unwrap(), "--thinking"]);
            assert_named(&answer, &path, damage);
            let before = crate::world::tree(&session);
            check(&path, damage, &answer);
            assert_eq!(
                crate::world::tree(&session),
                before,
                "reading writes nothing"
            );
        }
        fs::write(&path, &original).unwrap();
    }
}

#[test]
fn each_file_in_turn_is_damaged_and_the_rest_is_shown() {
    let w = world(&["document/full", "0.30/everything"]);
    for id in [PLANNER, LATER] {
        let whole = w.ok(&["show", id, "--thinking"]);
        every_file(&w, id, |path, damage, answer| {
            let name = path.file_name().unwrap().to_str().unwrap();
            let lost = missing(&whole, &answer.out);
            let most = match name {
                // The facts of the header; the agent is known by the folder's name.
                "session.json" => 9,
                // The prompts, the error, the model and the sums.
                "message.json" => 24,
                // One call with what it answered, or one text; and the headings of what follows.
                _ => 12,
            };
            assert!(
                lost.len() <= most,
                "{damage} {name} lost {}: {lost:#?}",
                lost.len()
            );
            assert!(
                answer.out.lines().count() > 10,
                "{damage} {name}: {}",
                answer.out
            );
        });
    }
}

#[test]
fn a_damaged_description_is_still_listed_by_its_folder_s_name() {
    let w = world(&["document/full"]);
    let path = folder(&data(&w), PLANNER).join("session.json");
    let original = fs::read(&path).unwrap();
    for (damage, bytes) in damages(&original) {
        fs::write(&path, &bytes).unwrap();
        let answer = w.run(&["list"]);
        assert_named(&answer, &path, damage);
        assert!(
            answer.out.contains("[damaged] daily-planner"),
            "{damage}: {}",
            answer.out
        );
        let answer = w.run(&["show", PLANNER]);
        assert!(answer.out.contains("Plan the day."), "{damage}: {answer:?}");
    }
    fs::remove_file(&path).unwrap();
    let answer = w.run(&["list", "--tsv"]);
    assert_eq!(answer.code, 3);
    assert!(answer.out.starts_with(PLANNER), "{}", answer.out);
}

#[test]
fn damage_is_named_with_file_and_line() {
    let w = world(&["0.30/damaged"]);
    let answer = w.run(&["show", "01KA3J1000S000000000000008"]);
    assert_eq!(answer.code, 3);
    assert_snapshot!(w.plain(&answer.err), @r"
    warning: [ROOT]/home/.local/share/agentuse/project/global/session/01KA3J1000S000000000000008-broken/01KA3J1000M000000000000009/part/01KA3J1000P000000000000043.json:3: not JSON: unexpected end, at column 17; skipped
    warning: [ROOT]/home/.local/share/agentuse/project/global/session/01KA3J1000S000000000000008-broken/01KA3J1000M000000000000009/part/01KA3J1000P000000000000044.json: not a JSON object; skipped
    warning: [ROOT]/home/.local/share/agentuse/project/global/session/01KA3J1000S000000000000008-broken/01KA3J1000M000000000000010/message.json: an empty file; skipped
    warning: [ROOT]/home/.local/share/agentuse/project/global/session/01KA3J1000S000000000000008-broken/01KA3J1000M000000000000011: no `message.json`
    ");
    assert_snapshot!(w.plain(&answer.out), @r"
    Broken
    agentuse · loose · 15 Nov 2025 09:46 · 4 messages · 01KA3J1000S000000000000008

    #1  You  09:46
        Go on.

    #2  Broken  sonnet-4-5  09:46
        Whole.

        An answer without its prompt.

        Nor a message at all.
    ");
    let strict = w.run(&["show", "01KA3J1000S000000000000008", "--strict"]);
    assert_eq!(strict.code, 1);
    let list = w.run(&["list"]);
    assert_eq!(list.code, 3);
    assert_snapshot!(w.plain(&list.out), @r"
    01KA3J10..0010  agentuse  2025-11-15 09:46  1  -      [damaged] no-description
    01KA3J10..0008  agentuse  2025-11-15 09:46  4  loose  Broken
    01KA3J10..0009  agentuse  -                 0  -      [damaged] lost-name
    ");
}

#[test]
fn an_artifact_that_is_not_as_long_as_its_call_says_is_named() {
    let w = world(&["0.30/everything"]);
    let session = folder(&data(&w), LATER);
    let mut files = crate::world::tree(&session).into_iter();
    let (path, bytes) = files
        .find(|(p, _)| p.to_str().unwrap().contains("artifact"))
        .unwrap();
    let text = String::from_utf8(bytes).unwrap();
    fs::write(&path, text.replace("drop\\n", "")).unwrap();
    let answer = w.run(&["show", LATER]);
    assert_named(&answer, &path, "shortened");
    assert!(
        answer.err.contains("bytes, but its call says"),
        "{}",
        answer.err
    );
}

#[test]
fn a_file_cut_at_every_byte_is_read_up_to_there_or_named() {
    let w = world(&["document/minimal"]);
    let session = folder(&data(&w), super::MINIMAL);
    let path = session.join("01KA3J1000M000000000000004/message.json");
    let original = fs::read(&path).unwrap();
    for len in 0..original.len() {
        fs::write(&path, &original[..len]).unwrap();
        let conversation = super::assert_lossless(&session);
        assert_eq!(conversation.notes.len(), 1, "cut to {len} bytes");
        assert_eq!(conversation.notes[0].path.as_deref(), Some(path.as_path()));
    }
}
