//! Ways that a conversation left again: as the target's own, to its client, and back.

use std::fs;
use std::path::Path;

use rethread_engine::{ConvertOutcome, FORMATS, Source, by_name};
use rethread_judges::ClientKind;
use serde_json::json as value;

use super::judges::{client_in, id_to_resume, line, now};
use super::matrix::fixture_sessions;
use super::native::{context, named};
use super::parted::{KEEPERS, answer, parted, question, said, say, session, taken_back, ways};
use super::{Desk, contents};
use crate::world::{World, json};

#[test]
fn every_way_is_one_where_the_target_can_go_back() {
    let desk = Desk::new();
    for from in ["pi", "claude-code"] {
        let source = parted(&desk, from);
        let wanted = ways(&source);
        assert_eq!(wanted.len(), 3, "{wanted:?}");
        for to in KEEPERS.into_iter().filter(|to| *to != from) {
            let (done, made) = desk.convert(&source, by_name(to).unwrap()).unwrap();
            assert_eq!(ways(&made), wanted, "{from} -> {to}");
            assert_eq!(context(&made), context(&source), "{from} -> {to}");
            let branches = done.fates.iter().find(|fate| fate.what == "branches");
            assert!(
                branches.unwrap().is_native(),
                "{from} -> {to}: {branches:?}"
            );
        }
        // A session there is one row of messages.
        let (_, made) = desk.convert(&source, by_name("opencode").unwrap()).unwrap();
        assert_eq!(ways(&made).len(), 1);
        assert_eq!(context(&made), context(&source), "{from} -> opencode");
    }
}

#[test]
fn a_way_that_parts_inside_a_turn_travels_along_to_codex() {
    let desk = Desk::new();
    let source = session(&desk, "pi");
    let asked = say(&desk, &source, None, &[question("Which tests fail?")]);
    say(&desk, &source, None, &[answer("None.")]);
    say(&desk, &source, Some(&asked), &[answer("One fails.")]);
    for (to, count) in [("codex", 1), ("gemini", 2), ("claude-code", 2)] {
        let (_, made) = desk.convert(&source, by_name(to).unwrap()).unwrap();
        assert_eq!(ways(&made).len(), count, "{to}: {:?}", ways(&made));
        assert_eq!(context(&made), context(&source), "{to}");
        let (done, back) = desk.convert(&made, by_name("pi").unwrap()).unwrap();
        assert!(
            matches!(done.way, ConvertOutcome::Back { .. }),
            "{to}: {:?}",
            done.notes
        );
        assert_eq!(contents(&back), contents(&source), "{to}");
    }
}

#[test]
fn a_result_that_two_ways_share_a_call_of_stays_on_its_way() {
    let desk = Desk::new();
    let source = session(&desk, "pi");
    let call = value!([{"type": "tool_use", "tool_id": "c1", "tool_name": "look", "input": {}}]);
    let result = |output: &str| {
        said(
            "user",
            &value!([{"type": "tool_result", "tool_id": "c1", "output": output}]),
        )
    };
    let asked = say(
        &desk,
        &source,
        None,
        &[question("Look."), said("assistant", &call)],
    );
    say(
        &desk,
        &source,
        None,
        &[result("nothing"), answer("Nothing.")],
    );
    say(
        &desk,
        &source,
        Some(&asked),
        &[result("all"), answer("All.")],
    );
    for to in ["codex", "gemini", "opencode"] {
        let (_, made) = desk.convert(&source, by_name(to).unwrap()).unwrap();
        assert_eq!(context(&made), context(&source), "{to}");
        assert_eq!(ways(&made).len(), 1, "{to}");
    }
}

#[test]
fn what_was_taken_back_last_is_not_where_the_conversation_is() {
    let desk = Desk::new();
    for from in ["gemini", "codex"] {
        let source = taken_back(&desk, from);
        assert_eq!(context(&source), ["Which tests fail?", "One fails."]);
        for to in KEEPERS
            .into_iter()
            .chain(["opencode"])
            .filter(|to| *to != from)
        {
            let (_, made) = desk.convert(&source, by_name(to).unwrap()).unwrap();
            assert_eq!(context(&made), context(&source), "{from} -> {to}");
            assert_eq!(ways(&made).len(), 1, "{from} -> {to}: {:?}", ways(&made));
            assert_eq!(ways(&made), ways(&source), "{from} -> {to}");
            let (done, back) = desk.convert(&made, by_name(from).unwrap()).unwrap();
            assert!(
                matches!(done.way, ConvertOutcome::Back { .. }),
                "{:?}",
                done.notes
            );
            assert_eq!(contents(&back), contents(&source), "{from} -> {to}");
        }
    }
}

/// Lets a client go on with a session, and gives what it sends. What it says then comes back.
fn resumed(
    client: ClientKind,
    agent: &str,
    make: impl Fn(&World) -> String,
) -> Option<Vec<String>> {
    let w = World::new();
    let desk = client_in(&w, client, agent)?;
    let path = make(&w);
    let id = &id_to_resume(&w, &path, agent);
    let sent = desk.resume_session(id, "NEXT");
    let format = by_path(&path);
    let out = w.root.join("back");
    let back = ["convert", id, "--to", format, "--json", "-o"];
    let back = [&back[..], &[out.to_str().unwrap()]].concat();
    let back = json(&now(&w, &back, ""));
    assert_eq!(back["way"], "continued", "{agent}: {back}");
    let now = fs::read(back["path"].as_str().unwrap()).unwrap();
    assert!(now.starts_with(&fs::read(&path).unwrap()), "{agent}");
    assert!(String::from_utf8_lossy(&now).contains("NEXT"), "{agent}");
    Some(
        sent.iter()
            .map(|turn| line(turn).trim().to_owned())
            .collect(),
    )
}

fn by_path(path: &str) -> &'static str {
    let path = Path::new(path);
    let found = FORMATS
        .iter()
        .find_map(|f| f.store().at_path(path).into_iter().next());
    found.unwrap().format.slug()
}

/// Copies a session that was made on a desk into the home of a world.
fn placed(w: &World, make: fn(&Desk, &str) -> Source, format: &str) -> String {
    let desk = Desk::new();
    let source = make(&desk, format);
    let path = w.root.join(source.path.file_name().unwrap());
    let folder = |folder: &Path| folder.to_str().unwrap().to_owned();
    let text = fs::read_to_string(&source.path).unwrap();
    let text = text.replace(&folder(&desk.world.project), &folder(&w.project));
    fs::write(&path, text).unwrap();
    folder(&path)
}

const ACTIVE: [&str; 7] = [
    "user: Which tests fail?",
    "assistant: One fails.",
    "user: Mend it.",
    r#"call mend {"a":1}"#,
    "result done",
    "assistant: Mended.",
    "user: NEXT",
];

#[test]
fn codex_goes_on_with_the_active_way() {
    let sent = resumed(ClientKind::Codex, "codex", |w| placed(w, parted, "pi"));
    if let Some(sent) = sent {
        assert_eq!(sent, ACTIVE);
    }
    let sent = resumed(ClientKind::Codex, "codex", |w| {
        placed(w, taken_back, "gemini")
    });
    if let Some(sent) = sent {
        assert_eq!(sent, [ACTIVE[0], ACTIVE[1], ACTIVE[6]]);
    }
}

#[test]
fn gemini_goes_on_with_the_active_way() {
    if let Some(sent) = resumed(ClientKind::Gemini, "gemini", |w| placed(w, parted, "pi")) {
        assert_eq!(sent, ACTIVE);
    }
    let sent = resumed(ClientKind::Gemini, "gemini", |w| {
        placed(w, taken_back, "codex")
    });
    if let Some(sent) = sent {
        assert_eq!(sent, [ACTIVE[0], ACTIVE[1], ACTIVE[6]]);
    }
}

#[test]
fn claude_code_goes_on_where_the_conversation_went_back_to() {
    let sent = resumed(ClientKind::Claude, "claude-code", |w| {
        placed(w, taken_back, "gemini")
    });
    if let Some(sent) = sent {
        assert_eq!(sent, [ACTIVE[0], ACTIVE[1], ACTIVE[6]]);
    }
}

#[test]
fn opencode_goes_on_where_the_conversation_went_back_to() {
    let sent = resumed(ClientKind::OpenCode, "opencode", |w| {
        placed(w, taken_back, "gemini")
    });
    if let Some(sent) = sent {
        assert_eq!(sent, [ACTIVE[0], ACTIVE[1], ACTIVE[6]]);
    }
}

#[test]
fn branches_of_fixtures_are_branches() {
    let temp = tempfile::tempdir().unwrap();
    let all = fixture_sessions(temp.path());
    let desk = Desk::new();
    for (name, to) in [
        ("claude-code/2.1/two-branches/", "codex"),
        ("claude-code/2.1/two-branches/", "gemini"),
        ("pi/3/everything/", "gemini"),
        ("gemini/0.61/rewound/", "codex"),
    ] {
        let source = named(&all, name);
        let (_, made) = desk.convert(source, by_name(to).unwrap()).unwrap();
        assert_eq!(context(&made), context(source), "{name} -> {to}");
        assert!(ways(&made).len() > 1, "{name} -> {to}");
    }
}
