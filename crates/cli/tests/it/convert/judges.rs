//! The agents' own clients go on with conversations that came from other agents.

use jiff::Timestamp;
use rethread_judges::{ClientKind, InstalledClient, PiVersion, Turn};
use serde_json::{Value, json as value};

use crate::opencode::store::{data, empty_database};
use crate::opencode::written::PNG;
use crate::world::{World, json, run_with};

const SOURCES: [&str; 10] = [
    "atsf",
    "agentuse",
    "pi",
    "atomic",
    "claude-code",
    "codex",
    "copilot",
    "gemini",
    "opencode",
    "ndjson",
];

/// A conversation of three turns: two calls at once, an error, a picture.
fn talk(has_picture: bool) -> Vec<Value> {
    let mut asked = vec![value!({"type": "text", "text": "Which tests fail?"})];
    if has_picture {
        asked.push(value!({"type": "image", "data": PNG, "mimeType": "image/png"}));
    }
    vec![
        value!({"index": 1, "role": "user", "content": asked}),
        value!({"index": 2, "role": "assistant", "content": [
            {"type": "text", "text": "I will run them."},
            {"type": "tool_use", "tool_id": "toolu_1", "tool_name": "Foreign", "input": {"command": "npm test"}},
            {"type": "tool_use", "tool_id": "toolu_2", "tool_name": "read", "input": {"filePath": "a.js"}},
        ], "metadata": {"model": {"name": "m-1"}}}),
        value!({"index": 3, "role": "user", "content": [
            {"type": "tool_result", "tool_id": "toolu_1", "output": "1 failing", "is_error": true},
            {"type": "tool_result", "tool_id": "toolu_2", "output": "let a"},
        ]}),
        value!({"index": 4, "role": "assistant", "content": [{"type": "text", "text": "One fails."}]}),
        value!({"index": 5, "role": "user", "content": [{"type": "text", "text": "Mend it: <b>\"now\"</b> ü 🍎"}]}),
        value!({"index": 6, "role": "assistant", "content": [{"type": "text", "text": "Done."}]}),
        value!({"index": 7, "role": "user", "content": [{"type": "text", "text": "Why?"}]}),
        value!({"index": 8, "role": "assistant", "content": [{"type": "text", "text": "A typo."}]}),
    ]
}

/// What the model is to see of it. Ids are each client's own; a result belongs to the call before.
fn expected(has_picture: bool, prompt: &str) -> Vec<String> {
    let mut all = vec!["user: Which tests fail?"];
    if has_picture {
        all.push("picture");
    }
    all.extend([
        "assistant: I will run them.",
        r#"call Foreign {"command":"npm test"}"#,
        r#"call read {"filePath":"a.js"}"#,
        "result 1 failing",
        "result let a",
        "assistant: One fails.",
        "user: Mend it: <b>\"now\"</b> ü 🍎",
        "assistant: Done.",
        "user: Why?",
        "assistant: A typo.",
    ]);
    let mut all: Vec<String> = all.into_iter().map(str::to_owned).collect();
    all.push(format!("user: {prompt}"));
    all
}

pub(super) fn line(turn: &Turn) -> String {
    match turn {
        Turn::Text(role, text) => format!("{role}: {text}"),
        Turn::Thinking(text) => format!("thinking: {text}"),
        Turn::ToolCall(_, name, input) => format!("call {name} {input}"),
        Turn::ToolResult(_, text) => format!("result {text}"),
        Turn::Image(_) => "picture".to_owned(),
        Turn::File(_) => "file".to_owned(),
    }
}

/// Runs a command by the clock of the clients, some of which delete what looks old.
pub(super) fn now(w: &World, args: &[&str], input: &str) -> String {
    at(w, jiff::Timestamp::now(), args, input)
}

pub(super) fn at(w: &World, time: jiff::Timestamp, args: &[&str], input: &str) -> String {
    let mut command = w.command(args);
    command.env("RETHREAD_NOW", time.to_string());
    let answer = run_with(command, input.as_bytes());
    assert_eq!(answer.code, 0, "{args:?}: {answer:?}");
    answer.out
}

/// A session of some agent; its path, or how it is named in its database. Of exports, the file.
fn session(w: &World, format: &str) -> String {
    if format == "ndjson" {
        let file = w.root.join("talk.ndjson").to_str().unwrap().to_owned();
        now(w, &["export", &session(w, "atomic"), "-o", &file], "");
        return file;
    }
    if format == "copilot" {
        return crate::copilot::written(w, &talk(true));
    }
    let mut new = vec!["new", "--format", format, "--json"];
    if format != "agentuse" {
        new.extend(["--title", "Which tests"]);
    }
    let made = json(&now(w, &new, ""));
    let path = made["path"].as_str().unwrap();
    let name = match format {
        "opencode" => format!("{path}#{}", made["id"].as_str().unwrap()),
        _ => path.to_owned(),
    };
    let talk: String = talk(format != "agentuse")
        .iter()
        .map(|message| format!("{message}\n"))
        .collect();
    let append = [
        "append",
        &name,
        "--model",
        "acme/m-1",
        "--message-json",
        "-",
    ];
    now(w, &append, &talk);
    name
}

/// A client in a world, if it is installed: with a database of OpenCode, its own where it is that
/// client.
pub(super) fn client_in(w: &World, client: ClientKind, agent: &str) -> Option<InstalledClient> {
    let desk = client.set_up(&w.home, &w.project)?;
    if agent == "opencode" {
        desk.run_client(&["session", "list"].map(Into::into));
    } else {
        drop(empty_database(&data(w).join("opencode.db")));
    }
    Some(desk)
}

/// What an agent is started with by `resume`, as of a moment: where, and with the id that comes last.
fn resume_at(w: &World, moment: Timestamp, name: &str, agent: &str) -> (Value, String) {
    let print = ["resume", name, "--in", agent, "--print", "--json"];
    let how = json(&at(w, moment, &print, ""));
    let id = how["command"].as_array().unwrap().last().unwrap();
    let id = id.as_str().unwrap().to_owned();
    (how, id)
}

/// The id with which an agent goes on with a session of another one.
pub(super) fn id_to_resume(w: &World, name: &str, agent: &str) -> String {
    resume_at(w, Timestamp::now(), name, agent).1
}

/// One client deletes what it resumes in another minute than the one it was written in, unless it is
/// called otherwise.
fn hour_ago() -> Timestamp {
    Timestamp::now() - jiff::SignedDuration::from_hours(1)
}

/// Lets a client go on with what came from every other agent.
fn assert_resumed(client: ClientKind, agent: &str) {
    let w = World::new();
    let Some(desk) = client_in(&w, client, agent) else {
        return;
    };
    let mut names = Vec::new();
    for source in SOURCES.into_iter().filter(|s| *s != agent) {
        let name = session(&w, source);
        let (how, id) = resume_at(&w, hour_ago(), &name, agent);
        assert_eq!(how["cwd"], w.project.to_str().unwrap(), "{source}");
        let prompt = format!("NEXT-AFTER-{source}");
        let sent = desk.resume_by_server(&id, &prompt);
        let lines: Vec<String> = sent.iter().map(line).collect();
        assert_eq!(
            lines,
            expected(source != "agentuse", &prompt),
            "from {source}"
        );
        names.push((name, id));
    }
    // Asked for again, it is the same session, which the client went on with, whatever it was started
    // for meanwhile.
    for (name, id) in names {
        assert_eq!(id_to_resume(&w, &name, agent), id, "{name}");
    }
}

#[test]
fn claude_code_goes_on_with_all_others() {
    assert_resumed(ClientKind::Claude, "claude-code");
}

#[test]
fn codex_goes_on_with_all_others() {
    assert_resumed(ClientKind::Codex, "codex");
}

#[test]
fn gemini_goes_on_with_all_others() {
    assert_resumed(ClientKind::Gemini, "gemini");
}

#[test]
fn opencode_goes_on_with_all_others() {
    assert_resumed(ClientKind::OpenCode, "opencode");
}

#[test]
fn pi_sees_all_others_as_it_would_have_written_them() {
    let Some(pi) = PiVersion::V0_87.running_process() else {
        return;
    };
    let w = World::new();
    drop(empty_database(&data(&w).join("opencode.db")));
    for source in SOURCES.into_iter().filter(|s| *s != "pi") {
        let name = session(&w, source);
        let made = json(&now(&w, &["convert", &name, "--to", "pi", "--json"], ""));
        let file = made["path"].as_str().unwrap();
        let question = value!({ "file": file, "look": [], "ids": [] });
        let told = pi.send_request(question.to_string().as_bytes());
        let told = json(std::str::from_utf8(&told).unwrap());
        let mut lines = Vec::new();
        for message in told["told"]["context"]["messages"].as_array().unwrap() {
            let role = message["role"].as_str().unwrap();
            if let Some(text) = message["content"].as_str() {
                lines.push(format!("{role}: {text}"));
            }
            for block in message["content"].as_array().into_iter().flatten() {
                lines.push(match block["type"].as_str().unwrap() {
                    "toolCall" => format!(
                        "call {} {}",
                        block["name"].as_str().unwrap(),
                        block["arguments"]
                    ),
                    "image" => "picture".to_owned(),
                    _ if role == "toolResult" => {
                        format!("result {}", block["text"].as_str().unwrap())
                    }
                    _ => format!("{role}: {}", block["text"].as_str().unwrap()),
                });
            }
        }
        let mut expected = expected(source != "agentuse", "");
        expected.pop();
        assert_eq!(lines, expected, "from {source}");
    }
}

/// A prompt with a document, a thought, and a tool that gives a picture.
fn shown() -> Vec<Value> {
    let pdf = "JVBERi0xLjQKJSVFT0YK";
    vec![
        value!({"index": 1, "role": "user", "content": [
            {"type": "text", "text": "What is in it?"},
            {"type": "file", "name": "plan.pdf", "mimeType": "application/pdf", "data": pdf},
        ]}),
        value!({"index": 2, "role": "assistant", "content": [
            {"type": "thinking", "text": "It is short."},
            {"type": "tool_use", "tool_id": "toolu_1", "tool_name": "draw", "input": {"page": 1}},
        ], "metadata": {"model": {"name": "m-1"}}}),
        value!({"index": 3, "role": "user", "content": [
            {"type": "tool_result", "tool_id": "toolu_1", "output": "The first page", "content": [
                {"type": "text", "text": "The first page"},
                {"type": "image", "data": PNG, "mimeType": "image/png"},
            ]},
        ]}),
        value!({"index": 4, "role": "assistant", "content": [{"type": "text", "text": "A plan."}]}),
    ]
}

fn assert_shown(client: ClientKind, agent: &str, from: &str, expected: &[&str]) {
    let w = World::new();
    let Some(desk) = client_in(&w, client, agent) else {
        return;
    };
    let made = json(&now(&w, &["new", "--format", from, "--json"], ""));
    let path = made["path"].as_str().unwrap();
    let name = match from {
        "opencode" => &format!("{path}#{}", made["id"].as_str().unwrap()),
        _ => path,
    };
    let lines: String = shown().iter().map(|m| format!("{m}\n")).collect();
    let append = ["append", name, "--model", "acme/m-1", "--message-json", "-"];
    now(&w, &append, &lines);
    let (_, id) = resume_at(&w, hour_ago(), name, agent);
    let sent = desk.resume_by_server(&id, "Go on");
    let lines: Vec<String> = sent.iter().map(line).collect();
    assert_eq!(lines, expected, "from {from}");
}

#[test]
fn claude_code_sees_documents_and_the_pictures_of_tools() {
    let expected = [
        "user: What is in it?",
        "file",
        // No other model's thoughts are taken as such.
        "assistant: It is short.",
        r#"call draw {"page":1}"#,
        "result The first page",
        "picture",
        "assistant: A plan.",
        "user: Go on",
    ];
    assert_shown(ClientKind::Claude, "claude-code", "gemini", &expected);
}

#[test]
fn gemini_sees_documents_and_the_pictures_of_tools() {
    let expected = [
        "user: What is in it?",
        "file",
        r#"call draw {"page":1}"#,
        "result The first page",
        "picture",
        "assistant: A plan.",
        "user: Go on",
    ];
    assert_shown(ClientKind::Gemini, "gemini", "opencode", &expected);
}

#[test]
fn opencode_sees_documents_and_the_pictures_of_tools() {
    // The client itself says so of the model that it talks to here, and where pictures come from.
    let expected = [
        "user: What is in it?",
        "user: ERROR: Cannot read pdf (this model does not support pdf input). Inform the user.",
        "assistant: It is short.",
        r#"call draw {"page":1}"#,
        "result The first page",
        "user: Attached media from tool result:",
        "picture",
        "assistant: A plan.",
        "user: Go on",
    ];
    assert_shown(ClientKind::OpenCode, "opencode", "gemini", &expected);
}

/// There is no place for documents; they travel along.
#[test]
fn codex_sees_the_pictures_of_tools() {
    let expected = [
        "user: What is in it?",
        r#"call draw {"page":1}"#,
        "result The first page",
        "picture",
        "assistant: A plan.",
        "user: Go on",
    ];
    assert_shown(ClientKind::Codex, "codex", "gemini", &expected);
}
