//! The agents' own clients go on with a conversation that was compacted, and that left a branch, in
//! another agent.

use rethread_judges::Client;
use serde_json::json as value;

use super::judges::{line, now};
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
fn resumed(client: Client, agent: &str) -> Option<Vec<String>> {
    let w = World::new();
    let desk = client.at(&w.home, &w.project)?;
    if agent == "opencode" {
        desk.run(&["session", "list"].map(Into::into));
    } else {
        drop(empty_database(&data(&w).join("opencode.db")));
    }
    let print = ["resume", &session(&w), "--in", agent, "--print", "--json"];
    let how = json(&now(&w, &print, ""));
    let id = how["command"].as_array().unwrap().last().unwrap();
    let sent = desk.resume(id.as_str().unwrap(), "NEXT");
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
    if let Some(sent) = resumed(Client::Claude, "claude-code") {
        let summary = format!("user: {SUMMARY}");
        assert_eq!(sent, [&[summary.as_str()][..], &KEPT].concat());
    }
}

#[test]
fn codex_goes_on_behind_the_summary() {
    if let Some(sent) = resumed(Client::Codex, "codex") {
        let summary = format!("user: {SUMMARY}");
        assert_eq!(sent, [&[summary.as_str()][..], &KEPT].concat());
    }
}

#[test]
fn opencode_goes_on_behind_the_summary() {
    if let Some(sent) = resumed(Client::OpenCode, "opencode") {
        let question = "user: What did we do so far?";
        let summary = format!("assistant: {SUMMARY}");
        assert_eq!(sent, [&[question, summary.as_str()][..], &KEPT].concat());
    }
}

#[test]
fn gemini_goes_on_behind_the_summary() {
    if let Some(sent) = resumed(Client::Gemini, "gemini") {
        let summary = format!("user: {SUMMARY}");
        let thanks = "assistant: Got it. Thanks for the additional context!";
        assert_eq!(sent, [&[summary.as_str(), thanks][..], &KEPT].concat());
    }
}
