//! The real OpenCode as judge of what we write, and writing while we read.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use rethread_judges::{ClientKind, InstalledClient, Turn};
use serde_json::{Value, json as value};

use super::store::{assert_accounted, data, integrity, names, read};
use super::written::PNG;
use crate::seen::seen;
use crate::world::{Answer, World, json, run_with};

pub(super) const MODEL: &str = "standin/model";

/// Runs a command by the clock of the client, whose ids hold the time.
pub(super) fn now(w: &World, args: &[&str], input: &str) -> Answer {
    let mut command = w.command(args);
    command.env_remove("RETHREAD_NOW");
    let answer = run_with(command, input.as_bytes());
    assert_eq!(answer.code, 0, "{args:?}: {answer:?}");
    answer
}

pub(super) fn words(args: &[&str]) -> Vec<OsString> {
    args.iter().map(OsString::from).collect()
}

pub(super) fn user(text: &str) -> Turn {
    Turn::Text("user".to_owned(), text.to_owned())
}

pub(super) fn answer(text: &str) -> Turn {
    Turn::Text("assistant".to_owned(), text.to_owned())
}

/// A conversation of three turns: a picture, two calls at once, an error.
fn talk() -> [Value; 6] {
    [
        value!({"role": "user", "content": [
            {"type": "text", "text": "Which tests fail?"},
            {"type": "image", "data": PNG, "mimeType": "image/png"},
        ], "metadata": {"model": {"name": MODEL}}}),
        value!({"role": "assistant", "content": [
            {"type": "text", "text": "I will run them."},
            {"type": "tool_use", "tool_id": "toolu_1", "tool_name": "Foreign", "input": {"command": "npm test"}},
            {"type": "tool_use", "tool_id": "call_foreign.2", "tool_name": "read", "input": {"filePath": "a.js"}},
        ]}),
        value!({"role": "user", "content": [
            {"type": "tool_result", "tool_id": "toolu_1", "output": "1 failing", "is_error": true},
            {"type": "tool_result", "tool_id": "call_foreign.2", "output": "let a"},
        ]}),
        value!({"role": "assistant", "content": "One fails."}),
        value!({"role": "user", "content": "Mend it."}),
        value!({"role": "assistant", "content": "Done."}),
    ]
}

fn talk_as_turns() -> Vec<Turn> {
    let call = |id: &str, name: &str, input| Turn::ToolCall(id.to_owned(), name.to_owned(), input);
    let result = |id: &str, text: &str| Turn::ToolResult(id.to_owned(), text.to_owned());
    vec![
        user("Which tests fail?"),
        Turn::Image("user".to_owned()),
        answer("I will run them."),
        call("toolu_1", "Foreign", value!({"command": "npm test"})),
        call("call_foreign.2", "read", value!({"filePath": "a.js"})),
        result("toolu_1", "1 failing"),
        result("call_foreign.2", "let a"),
        answer("One fails."),
        user("Mend it."),
        answer("Done."),
        user("And a third turn?"),
        answer("That was it."),
    ]
}

/// A session that we wrote into the database that the client made.
pub(super) fn written(w: &World, desk: &InstalledClient) -> String {
    desk.run_client(&words(&["session", "list"]));
    let made = [
        "new",
        "--format",
        "opencode",
        "--title",
        "Which tests",
        "--json",
    ];
    let id = json(&now(w, &made, "").out)["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let talk: String = talk().iter().map(|m| format!("{m}\n")).collect();
    now(w, &["append", &id, "--message-json", "-"], &talk);
    now(w, &["append", &id, "And a third turn?"], "");
    now(w, &["append", &id, "That was it.", "--role", "agent"], "");
    id
}

#[test]
fn the_real_client_lists_exports_and_resumes_what_we_wrote() {
    let w = World::new();
    let Some(desk) = ClientKind::OpenCode.set_up(&w.home, &w.project) else {
        return;
    };
    let id = written(&w, &desk);
    let mut expected = talk_as_turns();
    assert_eq!(seen(&w, &id), expected);
    let listed = json(&desk.list_sessions().unwrap());
    let ours = listed.as_array().unwrap().iter().find(|s| s["id"] == *id);
    let ours = ours.unwrap_or_else(|| panic!("{listed}"));
    assert_eq!(ours["title"], "Which tests");
    let export = w.root.join("export.json");
    fs::write(&export, desk.run_client(&words(&["export", &id])).stdout).unwrap();
    assert_eq!(seen(&w, export.to_str().unwrap()), expected);
    let exported = json(&fs::read_to_string(&export).unwrap());
    let own = json(&w.ok(&["context", &id, "--native", "--json"]));
    assert_eq!(own["messages"], exported["messages"]);
    let sent = desk.resume_session(&id, "NEW-PROMPT");
    expected.push(user("NEW-PROMPT"));
    assert_eq!(sent, expected);
    // What the client made of it is the same conversation, gone on with.
    let after = seen(&w, &id);
    let (said, more) = after.split_at(expected.len());
    assert_eq!(said, expected);
    assert!(
        matches!(more, [Turn::Text(role, _)] if role == "assistant"),
        "{more:?}"
    );
    let path = data(&w).join("opencode.db");
    assert_accounted(&read(&path, &id));
    assert_eq!(integrity(&path), "ok");
    let checked = w.run(&["check", path.to_str().unwrap()]);
    assert_eq!(checked.code, 0, "{checked:?}");
}

#[test]
fn what_the_real_client_records_is_read() {
    let w = World::new();
    let Some(desk) = ClientKind::OpenCode.set_up(&w.home, &w.project) else {
        return;
    };
    fs::write(w.project.join("a.txt"), "one apple\n").unwrap();
    let read_tool = |name: &str| {
        let path = w.project.join(name);
        format!("[[tool:read {}]]", value!({ "filePath": path }))
    };
    let prompt = format!(
        "count the apples {} {}",
        read_tool("a.txt"),
        read_tool("gone.txt")
    );
    let sent = desk.begin_session(&prompt);
    let found = json(
        w.ok(&["list", "--json", "--sort", "tokens"])
            .lines()
            .next()
            .unwrap(),
    );
    let id = found["id"].as_str().unwrap();
    assert_eq!(found["workspace"], w.project.to_str().unwrap());
    let recorded = seen(&w, id);
    let calls = recorded.iter().filter(|t| matches!(t, Turn::ToolCall(..)));
    assert_eq!(calls.count(), 2, "{recorded:#?}");
    assert_eq!(recorded[..sent.len()], sent);
    // It stands when the client goes on with it, and that is what it sends.
    let again = desk.resume_session(id, "NEW-PROMPT");
    let after = seen(&w, id);
    assert_eq!(after[..recorded.len()], recorded);
    assert_eq!(after[..again.len()], again);
    // What was used is what the client noted with the session.
    let conversation = read(&data(&w).join("opencode.db"), id);
    assert_accounted(&conversation);
    let head = &conversation.session.head;
    let noted = head.recorded_usage[0].usage;
    let mut used = rethread_model::Usage::default();
    for (ix, _) in conversation.session.indexed() {
        if let rethread_model::Body::Message(message) =
            rethread_model::Bodies::body(&conversation, ix)
            && let Some(usage) = &message.usage
        {
            used += usage;
        }
    }
    assert!(used.total() > 0);
    assert_eq!((used.input, used.output), (noted.input, noted.output));
    assert_eq!(
        (used.cache_read, used.cache_write, used.reasoning),
        (noted.cache_read, noted.cache_write, noted.reasoning)
    );
}

/// What we read of a database that a client has open, over and over.
struct Reading<'a> {
    w: &'a World,
    id: &'a str,
    folder: PathBuf,
    messages: usize,
}

impl Reading<'_> {
    /// Lists and shows: without an error, without losing sight of what was there, and without
    /// leaving a file.
    fn look(&mut self) {
        let listed = self.w.run(&["list", "--json", "--sort", "tokens"]);
        assert_eq!((listed.code, listed.err.as_str()), (0, ""), "{listed:?}");
        assert!(listed.out.contains(self.id), "{listed:?}");
        let shown = self.w.run(&["show", self.id, "--json"]);
        assert_eq!((shown.code, shown.err.as_str()), (0, ""), "{shown:?}");
        let messages = json(&shown.out)["messages"].as_array().unwrap().len();
        assert!(messages >= self.messages, "what was there stays");
        self.messages = messages;
        let mut beside = names(&self.folder);
        beside.retain(|name| name.starts_with("opencode"));
        beside.retain(|name| {
            !["opencode.db", "opencode.db-shm", "opencode.db-wal"].contains(&name.as_str())
        });
        assert_eq!(beside, Vec::<String>::new());
    }
}

#[test]
fn a_running_client_is_read_without_a_trace() {
    let w = World::new();
    let Some(desk) = ClientKind::OpenCode.set_up(&w.home, &w.project) else {
        return;
    };
    let id = written(&w, &desk);
    let mut prompt = "count the apples".to_owned();
    for number in 0..8 {
        let file = w.project.join(format!("{number}.txt"));
        fs::write(&file, "one apple\n").unwrap();
        prompt += &format!(" [[tool:read {}]]", value!({ "filePath": file }));
    }
    let folder = data(&w);
    let mut reading = Reading {
        w: &w,
        id: &id,
        folder: folder.clone(),
        messages: 0,
    };
    let mut held = 0;
    std::thread::scope(|scope| {
        let calls = desk.model().hold_calls();
        let running = scope.spawn(|| {
            let outputs = [
                desk.run_client(&words(&["run", "-m", MODEL, "-s", &id, &prompt])),
                desk.run_client(&words(&["run", "-m", MODEL, &prompt])),
            ];
            desk.model().release_calls();
            outputs
        });
        // While a call waits, the client has the database open and what it said before is in it.
        // Once it is answered, the client writes on while we read.
        while let Ok(call) = calls.recv() {
            reading.look();
            drop(call);
            reading.look();
            held += 1;
        }
        for output in running.join().unwrap() {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{output:?}");
            assert!(!said.to_lowercase().contains("locked"), "{said}");
        }
    });
    assert!(held >= 4, "both runs ask twice: {held}");
    assert!(
        reading.messages > 8,
        "what it wrote was seen: {}",
        reading.messages
    );
    // Nobody is there any more: what the client left stays as it is, and nothing is added.
    let before = names(&folder);
    assert_eq!(w.ok(&["list", "--tsv"]).lines().count(), 2);
    assert_eq!(names(&folder), before);
    assert_eq!(integrity(&folder.join("opencode.db")), "ok");
}
