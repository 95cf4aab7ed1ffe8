//! The agents' own clients go on with a conversation that was compacted, and that left a branch, in
//! another agent.

use rethread_judges::ClientKind;
use serde_json::json as value;

use super::judges::{client_in, id_to_resume, line, now};
use crate::opencode::store::{data, empty_database};
use crate::world::{World, json};

const SUMMARY: &str = "The tests were looked at, and one fails.";

/// A pi session: two turns, a way that was left, and a compaction that keeps the second turn.
fn session(w: &World) -> String {
    let made = json(&now(w, &["new", "--format", "pi", "--json"], ""));
    let path = made["path"].as_str().unwrap().to_owned();
    let say = |args: &[&str], role: &str, text: &str| {
        let message =
            value!({"index": 1, "role": role, "content": [{"type": "text", "text": text}]});
        let mut all = vec![
            "append",
            &path,
            "--model",
            "acme/m-1",
            "--message-json",
            "-",
        ];
        all.extend(args);
        now(w, &all, &message.to_string()).trim().to_owned()
    };
    say(&[], "user", "Which tests fail?");
    let first = say(&[], "assistant", "One fails.");
    say(&[], "user", "Leave it.");
    say(&[], "assistant", "Left.");
    let kept = say(&["--at", &first], "user", "Mend it.");
    say(&[], "assistant", "Mended.");
    let compaction = value!({
        "type": "compaction", "summary": SUMMARY, "firstKeptEntryId": kept, "tokensBefore": 1000,
    });
    let add = ["append", &path, "--message-json", "-"];
    now(w, &add, &compaction.to_string());
    say(&[], "user", "Why?");
    say(&[], "assistant", "A typo.");
    path
}

/// Lets a client go on with it, and gives what it sends.
fn resumed(client: ClientKind, agent: &str) -> Option<Vec<String>> {
    let w = World::new();
    let desk = client_in(&w, client, agent)?;
    let sent = desk.resume_session(&id_to_resume(&w, &session(&w), agent), "NEXT");
    Some(
        sent.iter()
            .map(|turn| line(turn).trim().to_owned())
            .collect(),
    )
}

const KEPT: [&str; 5] = [
    "user: Mend it.",
    "assistant: Mended.",
    "user: Why?",
    "assistant: A typo.",
    "user: NEXT",
];

#[test]
fn claude_code_goes_on_behind_the_summary() {
    if let Some(sent) = resumed(ClientKind::Claude, "claude-code") {
        let summary = format!("user: {SUMMARY}");
        assert_eq!(sent, [&[summary.as_str()][..], &KEPT].concat());
    }
}

#[test]
fn codex_goes_on_behind_the_summary() {
    if let Some(sent) = resumed(ClientKind::Codex, "codex") {
        let summary = format!("user: {SUMMARY}");
        assert_eq!(sent, [&[summary.as_str()][..], &KEPT].concat());
    }
}

#[test]
fn opencode_goes_on_behind_the_summary() {
    if let Some(sent) = resumed(ClientKind::OpenCode, "opencode") {
        let question = "user: What did we do so far?";
        let summary = format!("assistant: {SUMMARY}");
        assert_eq!(sent, [&[question, summary.as_str()][..], &KEPT].concat());
    }
}

#[test]
fn gemini_goes_on_behind_the_summary() {
    if let Some(sent) = resumed(ClientKind::Gemini, "gemini") {
        let summary = format!("user: {SUMMARY}");
        let thanks = "assistant: Got it. Thanks for the additional context!";
        assert_eq!(sent, [&[summary.as_str(), thanks][..], &KEPT].concat());
    }
}

/// A pi session that begins with a compaction, and says something then or nothing.
fn summed_up(w: &World, says_more: bool) -> String {
    let made = json(&now(w, &["new", "--format", "pi", "--json"], ""));
    let path = made["path"].as_str().unwrap().to_owned();
    let compaction = value!({"type": "compaction", "summary": SUMMARY});
    let add = ["append", &path, "--message-json", "-"];
    now(w, &add, &compaction.to_string());
    if says_more {
        now(w, &["append", &path, "Why?"], "");
        let answer = ["append", &path, "--role", "agent", "A typo."];
        now(w, &answer, "");
    }
    path
}

#[test]
fn a_session_that_begins_with_a_compaction_goes_to_every_format() {
    for to in [
        "opencode", "claude", "codex", "gemini", "atomic", "agentuse", "atsf", "ndjson",
    ] {
        for says_more in [true, false] {
            let w = World::new();
            drop(empty_database(&data(&w).join("opencode.db")));
            let path = summed_up(&w, says_more);
            let made = json(&w.ok(&["convert", &path, "--to", to, "--json", "-o", out(&w, to)]));
            let made = made["path"].as_str().unwrap();
            let context = w.ok(&["context", made, "--json"]);
            assert!(context.contains(SUMMARY), "{to}: {context}");
            assert_eq!(context.contains("A typo."), says_more, "{to}: {context}");
        }
    }
}

/// A folder that is an agent's own.
fn out(w: &World, to: &str) -> &'static str {
    if to == "opencode" {
        drop(empty_database(&w.project.join("out/opencode.db")));
    }
    "out"
}

#[test]
fn opencode_goes_on_where_all_that_there_was_is_summed_up() {
    let w = World::new();
    let Some(desk) = client_in(&w, ClientKind::OpenCode, "opencode") else {
        return;
    };
    let path = summed_up(&w, true);
    let sent = desk.resume_by_server(&id_to_resume(&w, &path, "opencode"), "NEXT");
    let lines: Vec<String> = sent.iter().map(line).collect();
    let place = |text: &str| lines.iter().position(|line| line.contains(text));
    let order = [SUMMARY, "Why?", "A typo.", "NEXT"].map(|text| place(text).expect(text));
    assert!(order.is_sorted(), "{lines:#?}");
}

#[test]
fn a_message_for_opencode_that_is_of_no_model_is_told_how_to_name_one() {
    let w = World::new();
    drop(empty_database(&data(&w).join("opencode.db")));
    let made = json(&w.ok(&["new", "--format", "opencode", "--json"]));
    let (path, id) = (made["path"].as_str().unwrap(), made["id"].as_str().unwrap());
    let name = format!("{path}#{id}");
    let refused = w.run(&["append", &name, "hello"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(
        refused.err.contains("--model PROVIDER/MODEL"),
        "{refused:?}"
    );
    w.ok(&["append", &name, "--model", "acme/m-1", "hello"]);
    w.ok(&["append", &name, "and again"]);
}
