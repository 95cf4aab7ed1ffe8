//! What the real OpenCode sends when it goes on with a session is what `context` shows: after
//! compactions, with what was taken back, with tasks, attachments and answers that failed.

use std::fs;
use std::path::Path;

use rethread_judges::{ClientKind, InstalledClient, Turn};
use rusqlite::Connection;
use serde_json::{Value, json as value};

use super::judged::{MODEL, answer, now, user, words, written};
use super::store::{assert_accounted, data, read};
use super::written::PNG;
use crate::seen::seen;
use crate::world::{World, json};

const QUESTION: &str = "What did we do so far?";

/// The first thing in the columns that a question about the database names.
fn asked(w: &World, sql: &str, about: &str) -> String {
    let db = Connection::open(data(w).join("opencode.db")).unwrap();
    db.query_row(sql, [about], |row| row.get(0)).unwrap()
}

/// Lets the client go on, and compares what it sends with what `context` shows.
#[track_caller]
fn assert_sent(w: &World, desk: &InstalledClient, id: &str) -> Vec<Turn> {
    let shown = seen(w, id);
    let prompt = format!("PROMPT-{}", desk.model().calls().len());
    let mut sent = desk.resume_by_server(id, &prompt);
    assert_eq!(sent.pop(), Some(user(&prompt)));
    assert_eq!(sent, shown);
    assert_accounted(&read(&data(w).join("opencode.db"), id));
    shown
}

fn summarize(desk: &InstalledClient, id: &str) {
    let body = value!({"providerID": "standin", "modelID": "model"});
    desk.post_to_server(&format!("/session/{id}/summarize"), &body);
}

#[test]
fn a_compaction_leaves_what_the_real_client_sends() {
    let w = World::new();
    let Some(desk) = ClientKind::OpenCode.set_up(&w.home, &w.project) else {
        return;
    };
    let id = written(&w, &desk);
    let before = seen(&w, &id);
    summarize(&desk, &id);
    let shown = assert_sent(&w, &desk, &id);
    assert!(
        matches!(shown.as_slice(), [question, Turn::Text(role, _)]
            if *question == user(QUESTION) && role == "assistant"),
        "{shown:?}"
    );
    // What it stands for is still there.
    let tree = w.ok(&["show", &id, "--all-branches"]);
    assert!(tree.contains("One fails."), "{before:?} {tree}");
}

#[test]
fn a_compaction_keeps_what_the_real_client_keeps() {
    let w = World::new();
    let Some(desk) = ClientKind::OpenCode.set_up(&w.home, &w.project) else {
        return;
    };
    let desk = desk.with_settings(value!({"compaction": {"tail_turns": 2}}));
    let id = written(&w, &desk);
    summarize(&desk, &id);
    let shown = assert_sent(&w, &desk, &id);
    let kept = [
        user("Mend it."),
        answer("Done."),
        user("And a third turn?"),
        answer("That was it."),
    ];
    assert_eq!(shown[0], user(QUESTION));
    assert_eq!(shown[2..], kept);
    // The next one keeps more than that: the first summary is in the midst of it.
    let desk = desk.with_settings(value!({"compaction": {"tail_turns": 3}}));
    now(&w, &["append", &id, "A fifth turn"], "");
    now(&w, &["append", &id, "Fine.", "--role", "agent"], "");
    summarize(&desk, &id);
    let shown = assert_sent(&w, &desk, &id);
    let questions = shown.iter().filter(|t| **t == user(QUESTION)).count();
    assert_eq!(questions, 2, "{shown:?}");
}

/// Takes back what the client's own window would.
fn revert(desk: &InstalledClient, id: &str, body: &Value) {
    desk.post_to_server(&format!("/session/{id}/revert"), body);
}

#[test]
fn what_was_taken_back_is_not_sent() {
    let w = World::new();
    let Some(desk) = ClientKind::OpenCode.set_up(&w.home, &w.project) else {
        return;
    };
    let id = written(&w, &desk);
    let sql = "SELECT message_id FROM part WHERE data LIKE ?1";
    let message = asked(&w, sql, "%Mend it.%");
    revert(&desk, &id, &value!({"messageID": message}));
    assert!(w.ok(&["show", &id, "--all-branches"]).contains("Mend it."));
    let shown = assert_sent(&w, &desk, &id);
    assert_eq!(shown.last(), Some(&answer("One fails.")));
    // The client has made it true now.
    assert!(!w.ok(&["show", &id, "--all-branches"]).contains("Mend it."));
}

#[test]
fn of_a_message_that_was_taken_back_in_part_the_rest_is_sent() {
    let w = World::new();
    let Some(desk) = ClientKind::OpenCode.set_up(&w.home, &w.project) else {
        return;
    };
    let id = written(&w, &desk);
    let part = asked(
        &w,
        "SELECT id FROM part WHERE data LIKE ?1",
        "%call_foreign.2%",
    );
    let message = asked(&w, "SELECT message_id FROM part WHERE id = ?1", &part);
    revert(&desk, &id, &value!({"messageID": message, "partID": part}));
    assert!(w.ok(&["show", &id, "--all-branches"]).contains("a.js"));
    // A copy of it has no more than that, either.
    let fork = json(&now(&w, &["fork", &id, "--json"], "").out);
    let fork = fork["id"].as_str().unwrap().to_owned();
    let shown = assert_sent(&w, &desk, &id);
    let is_call = |t: &&Turn| matches!(t, Turn::ToolCall(..));
    assert_eq!(shown.iter().filter(is_call).count(), 1, "{shown:?}");
    assert_eq!(assert_sent(&w, &desk, &fork), shown);
}

/// What the client sent for a conversation that begins with this prompt.
fn sent_for(desk: &InstalledClient, prompt: &str) -> Vec<Turn> {
    let calls = desk.model().calls();
    let all = calls.iter().map(rethread_judges::turns_of_call);
    let mut all = all.filter(|turns| turns.first() == Some(&user(prompt)));
    let first = all.next().unwrap();
    all.fold(first, |a, b| if b.len() > a.len() { b } else { a })
}

/// The session of a task, which names the one that it was for.
fn child_of(w: &World, id: &str) -> String {
    let listed = w.ok(&["list", "--json", "--subagents"]);
    let all: Vec<Value> = listed.lines().map(json).collect();
    let child = all.iter().find(|s| s["id"] != id).unwrap();
    let child = child["id"].as_str().unwrap();
    let path = data(w).join("opencode.db");
    let parent = read(&path, id).session.head.links;
    let back = read(&path, child).session.head.links;
    assert_eq!(parent[0].session, child);
    assert_eq!(back[0].session, id);
    assert!(parent[0].tool_call.is_some());
    assert_eq!(parent[0].tool_call, back[0].tool_call);
    child.to_owned()
}

#[test]
fn tasks_are_sent_as_they_are_shown() {
    let w = World::new();
    let Some(desk) = ClientKind::OpenCode.set_up(&w.home, &w.project) else {
        return;
    };
    let task =
        value!({"description": "count", "prompt": "Count the eggs", "subagent_type": "general"});
    let sent = desk.begin_session(&format!("Have them counted [[tool:task {task}]]"));
    let listed = json(w.ok(&["list", "--json"]).lines().next().unwrap());
    let id = listed["id"].as_str().unwrap();
    assert_eq!(seen(&w, id)[..sent.len()], sent);
    let child = child_of(&w, id);
    let sent = sent_for(&desk, "Count the eggs");
    assert_eq!(seen(&w, &child)[..sent.len()], sent);
    assert_sent(&w, &desk, id);
    assert_sent(&w, &desk, &child);
}

#[test]
fn a_task_that_the_user_asked_for_is_sent_as_it_is_shown() {
    let w = World::new();
    let Some(desk) = ClientKind::OpenCode.set_up(&w.home, &w.project) else {
        return;
    };
    let desk = desk.with_settings(value!({"command": {"count": {"template": "Count the ducks",
        "description": "count", "agent": "general", "subtask": true}}}));
    let output = desk.run_client(&words(&["run", "-m", MODEL, "--command", "count", "now"]));
    assert!(output.status.success(), "{output:?}");
    let listed = json(w.ok(&["list", "--json"]).lines().next().unwrap());
    let id = listed["id"].as_str().unwrap();
    child_of(&w, id);
    let shown = assert_sent(&w, &desk, id);
    assert_eq!(
        shown[0],
        user("The following tool was executed by the user")
    );
}

/// What was sent, without the way in which pictures that a tool gave go to models that take none
/// from tools: as words of the user behind the result.
fn without_detours(sent: Vec<Turn>) -> Vec<Turn> {
    let mut plain: Vec<Turn> = Vec::new();
    let mut sent = sent.into_iter();
    while let Some(turn) = sent.next() {
        if turn == user("Attached media from tool result:") {
            assert_eq!(sent.next(), Some(Turn::Image("user".to_owned())));
        } else {
            plain.push(turn);
        }
    }
    plain
}

fn picture(path: &Path) {
    let bytes = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, PNG);
    fs::write(path, bytes.unwrap()).unwrap();
}

#[test]
fn attachments_are_sent_in_the_order_that_is_shown() {
    let w = World::new();
    let Some(desk) = ClientKind::OpenCode.set_up(&w.home, &w.project) else {
        return;
    };
    let (seen_by_user, seen_by_tool) = (w.project.join("a.png"), w.project.join("b.png"));
    picture(&seen_by_user);
    picture(&seen_by_tool);
    fs::write(w.project.join("notes.txt"), "two apples\n").unwrap();
    let prompt = format!("Look [[tool:read {}]]", value!({"filePath": seen_by_tool}));
    let run = [
        "run",
        "-m",
        MODEL,
        &prompt,
        "-f",
        "a.png",
        "-f",
        "notes.txt",
    ];
    let output = desk.run_client(&words(&run));
    assert!(output.status.success(), "{output:?}");
    let listed = json(w.ok(&["list", "--json"]).lines().next().unwrap());
    let id = listed["id"].as_str().unwrap();
    let shown = seen(&w, id);
    let said = format!("{shown:?}");
    assert!(
        said.contains("two apples") && said.contains("Image"),
        "{said}"
    );
    let mut sent = without_detours(desk.resume_by_server(id, "NEW-PROMPT"));
    assert_eq!(sent.pop(), Some(user("NEW-PROMPT")));
    assert_eq!(sent, shown);
    let context = w.ok(&["context", id, "--json"]);
    assert_eq!(context.matches("\"image\"").count(), 2, "{context}");
}

#[test]
fn what_failed_was_stopped_waits_or_was_cleared_is_sent_as_it_is_shown() {
    let w = World::new();
    let Some(desk) = ClientKind::OpenCode.set_up(&w.home, &w.project) else {
        return;
    };
    let id = written(&w, &desk);
    let failed = |name: &str| value!({"role": "assistant", "error": {"name": name, "data": {"message": "no"}}});
    let text = |text: &str| value!({"type": "text", "text": text});
    let time = value!({"start": 1, "end": 2});
    let messages = [
        value!({"role": "user", "content": "Try it."}),
        value!({"info": failed("UnknownError"), "parts": [text("It breaks off he")]}),
        value!({"info": failed("MessageAbortedError"), "parts": [
            text("Stopped."),
            {"type": "tool", "callID": "c1", "tool": "bash", "state": {"status": "error",
                "input": {"command": "make"}, "error": "Tool execution aborted",
                "metadata": {"interrupted": true, "output": "half of it"}, "time": time}},
        ]}),
        value!({"info": failed("MessageAbortedError"), "parts": [
            {"type": "step-start"},
            {"type": "reasoning", "text": "Hm.", "time": time},
        ]}),
        value!({"info": {"role": "assistant"}, "parts": [
            {"type": "tool", "callID": "c2", "tool": "bash", "state": {"status": "completed",
                "input": {"command": "cat"}, "output": "long ago", "title": "", "metadata": {},
                "time": {"start": 1, "end": 2, "compacted": 3}}},
            {"type": "tool", "callID": "c3", "tool": "bash", "state": {"status": "running",
                "input": {"command": "sleep"}, "time": {"start": 1}}},
        ]}),
    ];
    let lines: String = messages.iter().map(|m| format!("{m}\n")).collect();
    now(&w, &["append", &id, "--message-json", "-"], &lines);
    let shown = assert_sent(&w, &desk, &id);
    let call = |id: &str, command: &str| {
        let input = value!({"command": command});
        Turn::ToolCall(id.to_owned(), "bash".to_owned(), input)
    };
    let result = |id: &str, text: &str| Turn::ToolResult(id.to_owned(), text.to_owned());
    let mut last: Vec<Turn> = vec![user("Try it."), answer("Stopped."), call("c1", "make")];
    last.push(result("c1", "half of it"));
    for turn in [
        call("c2", "cat"),
        result("c2", "[Old tool result content cleared]"),
        call("c3", "sleep"),
        result("c3", "[Tool execution was interrupted]"),
    ] {
        assert!(shown.contains(&turn), "{turn:?}: {shown:#?}");
    }
    assert!(
        shown.windows(last.len()).any(|turns| turns == last),
        "{shown:#?}"
    );
    // A person sees what is there.
    let all = w.ok(&["show", &id]);
    assert!(
        all.contains("It breaks off he") && all.contains("long ago"),
        "{all}"
    );
    assert!(!all.contains("interrupted]"), "{all}");
}
