//! The real pi as judge of what the command line says: `context --native` is its own context.

use std::path::{Path, PathBuf};

use rethread_formats::Env;
use rethread_formats::pi::{Host, SessionEntry, SessionManager};
use rethread_judges::{JsonLineProcess, PiVersion};
use serde_json::{Value, json as value};

use crate::world::{World, json, tree};

/// At how many entries of a session the context is compared, beside its end.
const PLACES: usize = 4;

#[test]
fn context_of_every_real_session_is_that_of_pi() {
    let Some(corpus) = rethread_judges::corpus() else {
        return;
    };
    let Some(pi) = PiVersion::V0_87.running_process() else {
        return;
    };
    let w = World::new();
    let env = Env::from_variables(
        std::collections::BTreeMap::new(),
        Some(w.home.clone()),
        w.project.clone(),
    );
    let host = Host::pi(env.unwrap());
    let mut compared = 0;
    for (file, _) in tree(&corpus.join("pi")) {
        let is_jsonl = file.extension().is_some_and(|e| e == "jsonl");
        let Some(session) = is_jsonl.then(|| SessionManager::open(&host, copied(&w, &file), None))
        else {
            continue;
        };
        let Ok(session) = session else { continue };
        let ids: Vec<&str> = session.entries().iter().map(SessionEntry::id).collect();
        let step = ids.len().div_ceil(PLACES).max(1);
        let places: Vec<usize> = (0..ids.len()).step_by(step).collect();
        let question = value!({ "file": file, "look": places, "ids": ids });
        let told =
            json(std::str::from_utf8(&pi.send_request(question.to_string().as_bytes())).unwrap());
        let path = session.session_file().unwrap().to_str().unwrap();
        assert_same(&w, &told["told"]["context"], &["context", path]);
        for (n, place) in places.iter().enumerate() {
            // An id that is there twice names the later entry to both; empty ones name nothing.
            if ids[*place].is_empty() {
                continue;
            }
            let at = ["context", path, "--at", ids[*place]];
            assert_same(&w, &told["told"]["at"][n]["context"], &at);
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared}");
}

#[test]
fn what_the_commands_write_is_to_pi_what_it_is_to_us() {
    let w = World::new();
    let made = w.ok(&["new", "--format", "pi", "--title", "Prices"]);
    let path = second(&made);
    w.ok(&["append", path, "--role", "user", "What does it cost?"]);
    let lines = [
        value!({"role": "assistant", "content": [
            {"type": "text", "text": "Looking."},
            {"type": "tool_use", "tool_id": "c1", "tool_name": "bash", "input": {"command": "ls"}}],
            "metadata": {"model": {"name": "m-2"}}}),
        value!({"role": "user", "content": [
            {"type": "tool_result", "tool_id": "c1", "output": "a.txt", "is_error": true}]}),
        value!({"role": "assistant", "content": [{"type": "text", "text": "Three euros."}]}),
    ];
    let lines = lines.map(|line| line.to_string()).join("\n");
    w.pipe(&["append", path, "--message-json", "-"], lines);
    w.ok(&["label", path, "#3", "the price"]);
    w.ok(&[
        "branch",
        path,
        "#2",
        "--summary",
        "It was dear.",
        "In cents, please.",
    ]);
    w.ok(&["rename", path, "Prices in cents"]);
    let forked = w.ok(&["fork", path]);
    for pi in PiVersion::ALL {
        let Some(judge) = pi.running_process() else {
            continue;
        };
        for path in [path, second(&forked)] {
            assert_seen_alike(&w, judge, path);
        }
    }
}

#[test]
fn entries_that_are_no_messages_are_to_pi_what_they_are_to_us() {
    let w = World::new();
    let made = w.ok(&["new", "--format", "pi"]);
    let path = second(&made);
    w.ok(&["append", path, "What does it cost?"]);
    let kept = w.ok(&["append", path, "--role", "agent", "Three euros."]);
    let lines = [
        value!({"type": "model_change", "provider": "acme", "modelId": "m-2"}),
        value!({"type": "thinking_level_change", "thinkingLevel": "high"}),
        value!({"type": "custom", "customType": "todo", "data": {"open": 3}}),
        value!({"type": "compaction", "summary": "A price.", "firstKeptEntryId": kept.trim()}),
        value!({"type": "custom_message", "customType": "weather", "content": "It rains.",
            "display": true}),
        value!({"type": "session_info", "name": "Prices"}),
    ];
    let lines = lines.map(|line| line.to_string()).join("\n");
    let answer = w.pipe(&["append", path, "--message-json", "-"], lines);
    assert_eq!(answer.out.lines().count(), 6, "{answer:?}");
    w.ok(&["append", path, "And in cents?"]);
    let seen = json(&w.ok(&["context", path, "--native", "--json"]));
    assert_eq!(seen["messages"].as_array().unwrap().len(), 4, "{seen}");
    assert_eq!(seen["model"]["modelId"], "m-2");
    assert_eq!(seen["thinking_level"], "high");
    for pi in PiVersion::ALL {
        let Some(judge) = pi.running_process() else {
            continue;
        };
        assert_seen_alike(&w, judge, path);
    }
}

/// Whether pi and we see the same in a file, at its end and at each of its entries.
fn assert_seen_alike(w: &World, pi: &JsonLineProcess, path: &str) {
    let entries = std::fs::read_to_string(path).unwrap();
    let ids: Vec<Value> = entries
        .lines()
        .skip(1)
        .map(|line| json(line)["id"].clone())
        .collect();
    let places: Vec<usize> = (0..ids.len()).collect();
    let question = value!({ "file": path, "look": places, "ids": ids });
    let told =
        json(std::str::from_utf8(&pi.send_request(question.to_string().as_bytes())).unwrap());
    assert_same(w, &told["told"]["context"], &["context", path]);
    for (n, id) in ids.iter().enumerate() {
        let at = ["context", path, "--at", id.as_str().unwrap()];
        assert_same(w, &told["told"]["at"][n]["context"], &at);
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), entries);
}

/// The path in an answer of id and path.
fn second(answer: &str) -> &str {
    answer.trim_end().split_once('\t').unwrap().1
}

/// A copy, because the corpus may be read-only and must not change.
fn copied(w: &World, file: &Path) -> PathBuf {
    let copy = w.root.join("session.jsonl");
    let _ = std::fs::remove_file(&copy);
    std::fs::write(&copy, std::fs::read(file).unwrap()).unwrap();
    copy
}

#[track_caller]
fn assert_same(w: &World, theirs: &Value, args: &[&str]) {
    let mut args = args.to_vec();
    args.extend(["--native", "--json"]);
    let answer = w.run(&args);
    // Some real sessions have lost entries.
    assert!([0, 3].contains(&answer.code), "{args:?}: {answer:?}");
    let ours = json(&answer.out);
    assert!(ours["messages"] == theirs["messages"], "{args:?}");
    assert_eq!(ours["model"], theirs["model"], "{args:?}");
    assert_eq!(ours["thinking_level"], theirs["thinkingLevel"], "{args:?}");
}
