//! What clients told their models goes along to other agents, and is marked as typed by nobody.

use std::fs;

use rethread_formats::FormatRef;
use rethread_formats::claude_code::encode_cwd;
use rethread_judges::{ClientKind, Turn};
use serde_json::Value;

use super::judges::{client_in, line, now};
use super::matrix::{fixtures, targets};
use crate::opencode::store::{data, empty_database};
use crate::world::{World, json};

/// What the model was told in the fixture, beside what the person, the model and tools said.
const TOLD: [&str; 11] = [
    "<local-command-caveat>The command below was run directly in Claude Code, not sent to you as a request.</local-command-caveat>",
    "<command-name>/review</command-name>\n<command-message>review</command-message>\n<command-args>src/cart.js</command-args>",
    "Review src/cart.js. Name each line that may fail.",
    "Base directory for this skill: /home/me/skills/lint\n\nRun the linter over each file.",
    "<command-name>/status</command-name>",
    "<local-command-stdout>All is well</local-command-stdout>",
    "<bash-input>ls src</bash-input>",
    "<bash-stdout>cart.js</bash-stdout><bash-stderr></bash-stderr>",
    "<task-notification>\n<task-id>b7</task-id>\n<status>completed</status>\n<result>Three more places in src/till.js</result>\n</task-notification>",
    "[Request interrupted by user for tool use]",
    "<ide_opened_file>The user opened the file src/till.js in the IDE.</ide_opened_file>",
];

/// The fixture where its client keeps it, as a session of the project; its path.
fn told(w: &World) -> String {
    let project = w.project.to_str().unwrap();
    let folder = w.home.join(".claude/projects").join(encode_cwd(project));
    fs::create_dir_all(&folder).unwrap();
    let name = "b3b2c3d4-0000-4000-8000-00000000cc02.jsonl";
    let text = fs::read_to_string(fixtures().join("claude-code/2.1/told").join(name)).unwrap();
    fs::write(folder.join(name), text.replace("/home/me/shop", project)).unwrap();
    folder.join(name).to_str().unwrap().to_owned()
}

/// What a model would see of a session: text, and whether nobody typed it.
fn seen(w: &World, session: &str) -> Vec<(String, bool)> {
    let context = json(&w.ok(&["context", session, "--json"]));
    let mut seen = Vec::new();
    for message in context["messages"].as_array().unwrap() {
        let metadata = &message["metadata"];
        let is_told = metadata["is_meta"] == true || message["role"] == "system";
        let beside = metadata["extensions"]["blocks"].as_array();
        for block in beside.into_iter().flatten() {
            if let Some(text) = block["text"].as_str() {
                seen.push((text.to_owned(), true));
            }
        }
        for block in message["content"].as_array().unwrap() {
            if let Some(text) = block["text"].as_str() {
                seen.push((text.to_owned(), is_told));
            }
        }
    }
    seen
}

/// How many texts arrive as the target's own, and whether some do not.
fn texts(made: &Value) -> (u64, bool) {
    let text = |list: &str| {
        let list = made[list].as_array().unwrap();
        list.iter().find(|fate| fate["what"] == "text").cloned()
    };
    let native = text("native").and_then(|fate| fate["count"].as_u64());
    (native.unwrap_or(0), text("carried").is_some())
}

#[test]
fn what_the_model_was_told_goes_along_to_every_agent() {
    let w = World::new();
    drop(empty_database(&data(&w).join("opencode.db")));
    let from = told(&w);
    // These have no word for it.
    let silent = ["agentuse", "gemini"];
    for to in targets().map(FormatRef::slug) {
        if to == "claude-code" {
            continue;
        }
        let folder = w.root.join("exports");
        let mut convert = vec!["convert", &from, "--to", to, "--json"];
        if to == "ndjson" {
            convert.extend(["-o", folder.to_str().unwrap()]);
        }
        let made = json(&w.ok(&convert));
        let seen = seen(&w, made["path"].as_str().unwrap());
        for text in TOLD {
            let found: Vec<&(String, bool)> = seen.iter().filter(|(t, _)| t == text).collect();
            // One of them repeats what was said first whenever something is said.
            let is_there = found.len() == 1 || to == "agentuse" && !found.is_empty();
            assert!(is_there, "{to}: {text}: {seen:#?}");
            assert!(found[0].1 || silent.contains(&to), "{to}: {text}");
        }
        let typed = ["Look for the rest in the background.", "Only the till."];
        for text in typed {
            assert!(seen.contains(&(text.to_owned(), false)), "{to}: {text}");
        }
        // What is said of it is what is there: eight texts of the model and the person.
        assert_eq!(texts(&made), (19, false), "{to}: {made}");
    }
}

fn assert_sent(client: ClientKind, agent: &str) {
    let w = World::new();
    let Some(desk) = client_in(&w, client, agent) else {
        return;
    };
    let path = told(&w);
    let made = json(&now(&w, &["convert", &path, "--to", agent, "--json"], ""));
    let sent: Vec<Turn> = desk.resume_by_server(made["id"].as_str().unwrap(), "Go on");
    let sent: Vec<String> = sent.iter().map(line).collect();
    for text in TOLD {
        let said = format!("user: {text}");
        assert_eq!(
            sent.iter().filter(|l| **l == said).count(),
            1,
            "{text}: {sent:#?}"
        );
    }
    // In the order of the conversation, each between what was said before and behind it.
    let at = |text: &str| sent.iter().position(|l| l.contains(text));
    let order = [
        at("/review"),
        at("Name each line"),
        at("I use two skills"),
        at("Run the linter over"),
        at("Two warnings"),
        at("Three more places in"),
        at("There are three more"),
        at("Request interrupted"),
        at("Only the till."),
    ];
    assert!(
        order.is_sorted() && order.iter().all(Option::is_some),
        "{sent:#?}"
    );
}

#[test]
fn codex_sends_what_the_model_was_told() {
    assert_sent(ClientKind::Codex, "codex");
}

#[test]
fn gemini_sends_what_the_model_was_told() {
    assert_sent(ClientKind::Gemini, "gemini");
}

#[test]
fn opencode_sends_what_the_model_was_told() {
    assert_sent(ClientKind::OpenCode, "opencode");
}

/// From another agent, which says so in its own words, to Claude Code; what each client says by itself
/// stays behind.
#[test]
fn claude_code_sends_what_another_model_was_told() {
    let w = World::new();
    let Some(desk) = ClientKind::Claude.set_up(&w.home, &w.project) else {
        return;
    };
    let made = json(&now(&w, &["new", "--format", "codex", "--json"], ""));
    let (id, path) = (made["id"].as_str().unwrap(), made["path"].as_str().unwrap());
    now(&w, &["append", id, "Mend it."], "");
    let said = |text: &str| {
        let time = "2026-11-15T12:00:00.000Z";
        serde_json::json!({"timestamp": time, "type": "response_item", "payload": {
            "type": "message", "role": "user", "content": [{"type": "input_text", "text": text}],
        }})
    };
    let told = "<skill>\n<name>lint</name>\nRun the linter.\n</skill>";
    let frame = "<environment_context>\n<cwd>/p</cwd>\n</environment_context>";
    let log = fs::read_to_string(path).unwrap();
    fs::write(path, format!("{log}{}\n{}\n", said(told), said(frame))).unwrap();
    now(&w, &["append", id, "--role", "assistant", "Mended."], "");
    let made = json(&now(
        &w,
        &["convert", path, "--to", "claude-code", "--json"],
        "",
    ));
    let sent = desk.resume_session(made["id"].as_str().unwrap(), "Go on");
    let sent: Vec<String> = sent
        .iter()
        .map(|turn| line(turn).trim_end().to_owned())
        .collect();
    let told = format!("user: {told}");
    let expected = ["user: Mend it.", &told, "assistant: Mended.", "user: Go on"];
    assert_eq!(sent, expected);
    let log = fs::read_to_string(made["path"].as_str().unwrap()).unwrap();
    let record = log
        .lines()
        .map(json)
        .find(|r| r.to_string().contains("Run the linter"));
    assert_eq!(record.unwrap()["isMeta"], true);
}

/// An edit of what the client told the model comes back from an export, as from any other format.
#[test]
fn a_change_of_what_was_told_comes_back() {
    for to in ["ndjson", "pi", "codex", "gemini", "atsf"] {
        let w = World::new();
        let from = told(&w);
        let before = fs::read_to_string(&from).unwrap();
        let folder = w.root.join("there");
        let there = folder.to_str().unwrap();
        let made = json(&w.ok(&["convert", &from, "--to", to, "-o", there, "--json"]));
        let (was, is) = ("Run the linter over each file.", "Run no linter.");
        let mut changed = 0;
        for file in super::files_below(&folder) {
            if let Ok(text) = fs::read_to_string(&file) {
                changed += usize::from(text.contains(was));
                fs::write(&file, text.replace(was, is)).unwrap();
            }
        }
        assert_eq!(changed, 1, "{to}");
        let back = w.root.join("back");
        let back = back.to_str().unwrap();
        let path = made["path"].as_str().unwrap();
        let done = json(&w.ok(&["convert", path, "--to", "claude-code", "-o", back, "--json"]));
        let now = fs::read_to_string(done["path"].as_str().unwrap()).unwrap();
        assert_eq!(now, before.replace(was, is), "{to}: {done}");
    }
}

/// What only the person saw cannot be changed in an export, which is said.
#[test]
fn a_change_of_what_no_model_was_told_is_named() {
    let w = World::new();
    let from =
        fixtures().join("claude-code/2.1/everything/a1b2c3d4-0000-4000-8000-00000000aaaa.jsonl");
    let before = fs::read(&from).unwrap();
    let folder = w.root.join("there");
    let there = folder.to_str().unwrap();
    let from = from.to_str().unwrap();
    let made = json(&w.ok(&["convert", from, "--to", "ndjson", "-o", there, "--json"]));
    let path = made["path"].as_str().unwrap();
    let text = fs::read_to_string(path).unwrap();
    let records: Vec<Value> = text.lines().map(json).collect();
    let mut shown = Vec::new();
    events(&records[1], &mut shown);
    let was = shown.first().expect("an event with a text");
    let quoted = serde_json::to_string(was).unwrap();
    fs::write(path, text.replace(&quoted, "\"Something else.\"")).unwrap();
    let back = w.root.join("back");
    let back = back.to_str().unwrap();
    let answer = w.run(&["convert", path, "--to", "claude-code", "-o", back]);
    assert!(answer.err.contains("said to no model"), "{answer:?}");
    let now = answer.out.trim_end().split_once('\t').unwrap().1;
    assert!(fs::read(now).unwrap() == before);
}

/// The texts of what happened.
fn events(value: &Value, out: &mut Vec<String>) {
    if value["type"] == "event"
        && let Some(text) = value["text"].as_str()
    {
        out.push(text.to_owned());
    }
    for inner in value.as_array().into_iter().flatten() {
        events(inner, out);
    }
    for (_, inner) in value.as_object().into_iter().flatten() {
        events(inner, out);
    }
}
