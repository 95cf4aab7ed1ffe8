//! Adding to sessions.

mod refused;
mod updates;

use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;

use super::{MINIMAL, data, folder, world};
use crate::world::{World, json};

/// A world with an empty session.
fn start() -> (World, String, PathBuf) {
    let w = World::new();
    let out = w.ok(&["new", "--format", "agentuse", "--agent-name", "a", "--json"]);
    let made = json(&out);
    let (id, path) = (made["id"].as_str().unwrap(), made["path"].as_str().unwrap());
    let (id, path) = (id.to_owned(), PathBuf::from(path));
    (w, id, path)
}

fn messages(session: &Path) -> Vec<serde_json::Value> {
    let mut found: Vec<PathBuf> = fs::read_dir(session)
        .unwrap()
        .map(|e| e.unwrap().path().join("message.json"))
        .filter(|p| p.is_file())
        .collect();
    found.sort();
    found
        .iter()
        .map(|p| json(&fs::read_to_string(p).unwrap()))
        .collect()
}

fn parts(session: &Path, message: &str) -> Vec<serde_json::Value> {
    let files = fs::read_dir(session.join(message).join("part")).unwrap();
    let mut found: Vec<PathBuf> = files.map(|e| e.unwrap().path()).collect();
    found.sort();
    found
        .iter()
        .map(|p| json(&fs::read_to_string(p).unwrap()))
        .collect()
}

fn assert_conformant(w: &World, session: &Path) {
    let answer = w.run(&["check", session.to_str().unwrap(), "--strict"]);
    assert_eq!(answer.code, 0, "{answer:?}");
}

#[test]
fn each_prompt_is_an_exchange_the_first_the_task_the_others_what_the_user_adds() {
    let (w, id, session) = start();
    let first = w.ok(&["append", &id, "Plan the day"]);
    w.ok(&["append", &id, "--role", "system", "Be brief"]);
    let part = w.ok(&[
        "append",
        &id,
        "--role",
        "agent",
        "--model",
        "openai:gpt-5",
        "Done.",
    ]);
    let [message] = &messages(&session)[..] else {
        panic!("one exchange");
    };
    let prompt = r#"{"task":"Plan the day"}"#;
    assert_eq!(message["user"]["prompt"].to_string(), prompt);
    assert_eq!(message["assistant"]["system"][0], "Be brief");
    assert_eq!(message["assistant"]["modelID"], "openai:gpt-5");
    assert_eq!(message["assistant"]["providerID"], "openai");
    assert!(message["time"]["completed"].is_number());
    let written = &parts(&session, first.trim())[0];
    assert_eq!(
        (written["id"].as_str(), written["text"].as_str()),
        (Some(part.trim()), Some("Done."))
    );
    let next = w.ok(&["append", &id, "And now?"]);
    assert_ne!(next, first);
    let all = messages(&session);
    let prompt = r#"{"task":"Plan the day","user":"And now?"}"#;
    assert_eq!(all[1]["user"]["prompt"].to_string(), prompt);
    assert_conformant(&w, &session);
}

/// What the model sees of the user's messages, one string each.
fn asked(w: &World, id: &str) -> Vec<String> {
    let context = json(&w.ok(&["context", id, "--json"]));
    let messages = context["messages"].as_array().unwrap().iter();
    let texts = |m: &serde_json::Value| {
        let blocks = m["content"].as_array().unwrap().iter();
        let texts: Vec<&str> = blocks.map(|b| b["text"].as_str().unwrap()).collect();
        texts.join("|")
    };
    messages
        .filter(|m| m["role"] == "user")
        .map(texts)
        .collect()
}

#[test]
fn a_prompt_behind_one_that_nobody_answered_is_a_message_of_its_own() {
    let (w, id, session) = start();
    let mut ids = Vec::new();
    for text in ["Plan the day", "only the morning", "and the evening"] {
        ids.push(w.ok(&["append", &id, text]));
    }
    let mut unified = r#"{"role":"user","content":[{"type":"text","text":"at last"}]}"#.to_owned();
    unified.push('\n');
    ids.push(w.pipe(&["append", &id, "--message-json", "-"], unified).out);
    let all = messages(&session);
    let written: Vec<String> = all
        .iter()
        .map(|m| format!("{}\n", m["id"].as_str().unwrap()))
        .collect();
    assert_eq!(written, ids, "each has an id of its own");
    assert!(all.iter().all(|m| m["time"].get("completed").is_none()));
    let said = [
        "Plan the day",
        "only the morning",
        "and the evening",
        "at last",
    ];
    assert_eq!(asked(&w, &id), said);
    // The last one is what an answer answers.
    w.ok(&["append", &id, "--role", "agent", "Done."]);
    let last = messages(&session).pop().unwrap();
    assert!(last["time"]["completed"].is_number());
    assert_conformant(&w, &session);
    // Prompts of other agents that follow each other stay as many.
    let claude = w.ok(&["convert", &id, "--to", "claude", "--lean", "-o", "out"]);
    let path = claude.trim().rsplit('\t').next().unwrap().to_owned();
    let back = w.ok(&[
        "convert", &path, "--to", "agentuse", "--lean", "-o", "again",
    ]);
    let path = back.trim().rsplit('\t').next().unwrap();
    assert_eq!(asked(&w, path), said);
}

#[test]
fn another_task_in_a_later_exchange_is_a_message_and_no_reminder() {
    let (w, id, _) = start();
    for prompt in [
        r#"{"task":"Plan the day","user":"at home"}"#,
        r#"{"task":"Plan the day","user":"at work"}"#,
        r#"{"task":"Sum it up","user":"in German"}"#,
        r#"{"task":"Sum it up","user":"in French"}"#,
        r#"{"task":"Plan the day","user":"once more"}"#,
        r#"{"task":"Plan the day"}"#,
    ] {
        let message =
            format!(r#"{{"user":{{"prompt":{prompt}}},"parts":[{{"type":"text","text":"ok"}}]}}"#);
        let answer = w.pipe(&["append", &id, "--message-json", "-"], message);
        assert_eq!(answer.code, 0, "{answer:?}");
    }
    let expected = [
        "Plan the day|at home",
        "at work",
        "Sum it up|in German",
        "in French",
        "once more",
        "Plan the day",
    ];
    assert_eq!(asked(&w, &id), expected);
    // So is it in what other agents are told.
    let path = w.ok(&["convert", &id, "--to", "pi", "--lean", "-o", "out"]);
    let path = path.trim().rsplit('\t').next().unwrap().to_owned();
    assert_eq!(asked(&w, &path).len(), expected.len());
    assert!(asked(&w, &path)[2].contains("Sum it up"));
}

#[test]
fn files_are_laid_out_as_the_program_does() {
    let (w, id, session) = start();
    w.ok(&["append", &id, "Hello"]);
    w.ok(&["append", &id, "--role", "agent", "Hi"]);
    for (path, bytes) in crate::world::tree(&session) {
        let value = json(std::str::from_utf8(&bytes).unwrap());
        let again = serde_json::to_string_pretty(&value).unwrap();
        assert_eq!(again.as_bytes(), bytes, "{}", path.display());
        let mode = w.run(&["show", path.to_str().unwrap()]).code;
        assert_eq!(mode, 0);
    }
    let message = fs::read_to_string(
        session
            .join(messages(&session)[0]["id"].as_str().unwrap())
            .join("message.json"),
    );
    let keys: Vec<String> = json(&message.unwrap())
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    assert_eq!(keys, ["id", "sessionID", "time", "user", "assistant"]);
}

#[test]
fn a_whole_message_with_parts() {
    let (w, id, session) = start();
    let message = r#"{"user":{"prompt":{"task":"Do it","user":"now"}},"time":{"created":1763200000000,"completed":1763200009000},"assistant":{"cost":0.5,"tokens":{"input":7,"cache":{"read":2}},"extra":[1]},"note":"kept","parts":[{"type":"step-start"},{"type":"reasoning","text":"hm"},{"type":"tool","callID":"c1","tool":"Bash","state":{"status":"running","input":{"command":"ls"}}},{"type":"file","mime":"text/plain","url":"file:///a"},{"type":"agent","name":"coder"},{"type":"step-finish","cost":0.5,"tokens":{"input":7,"output":0,"reasoning":0,"cache":{"read":2,"write":0}}},{"type":"text","text":"done","synthetic":true},{"type":"hologram","beams":1.50}]}"#;
    let out = w.pipe(&["append", &id, "--message-json", "-"], message);
    assert_eq!(out.code, 0, "{out:?}");
    let message_id = out.out.trim();
    let written = &messages(&session)[0];
    assert_eq!(written["id"], message_id);
    assert_eq!(written["note"], "kept");
    let assistant = written["assistant"].to_string();
    assert_snapshot!(w.plain(&assistant), @r#"{"system":[],"modelID":"unknown","providerID":"","mode":"build","path":{"cwd":"[ROOT]/shop","root":"[ROOT]/shop"},"cost":0.5,"tokens":{"input":7,"output":0,"reasoning":0,"cache":{"read":2,"write":0}},"extra":[1]}"#);
    let kinds: Vec<String> = parts(&session, message_id)
        .iter()
        .map(|p| p["type"].as_str().unwrap().to_owned())
        .collect();
    let order = [
        "step-start",
        "reasoning",
        "tool",
        "file",
        "agent",
        "step-finish",
        "text",
        "hologram",
    ];
    assert_eq!(
        kinds, order,
        "ids follow the order in which parts were given"
    );
    let raw = crate::world::tree(&session);
    let hologram = raw
        .iter()
        .find(|(_, b)| String::from_utf8_lossy(b).contains("hologram"));
    let hologram = String::from_utf8(hologram.unwrap().1.clone()).unwrap();
    assert!(
        hologram.contains("\"beams\": 1.50"),
        "spelled as given: {hologram}"
    );
    assert_eq!(w.run(&["check", session.to_str().unwrap()]).code, 0);
}

#[test]
fn the_unified_vocabulary_is_taken_too() {
    let (w, id, session) = start();
    let lines = [
        r#"{"role":"user","content":[{"type":"text","text":"List the files"}]}"#,
        r#"{"role":"assistant","content":[{"type":"thinking","text":"ls"},{"type":"text","text":"I look."},{"type":"tool_use","tool_id":"t1","tool_name":"Bash","input":{"command":"ls"}}],"metadata":{"model":{"name":"gpt-5"},"token_usage":{"input_tokens":10,"output_tokens":2,"cache_read_tokens":3,"cache_creation_tokens":0}}}"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_id":"t1","tool_name":"Bash","output":"a.txt","is_error":false}]}"#,
        r#"{"role":"assistant","content":"One file.","metadata":{"token_usage":{"input_tokens":5,"output_tokens":1}}}"#,
    ];
    let answer = w.pipe(&["append", &id, "--message-json", "-"], lines.join("\n"));
    assert_eq!(answer.code, 0, "{answer:?}");
    assert_eq!(answer.out.lines().count(), 4);
    let [message] = &messages(&session)[..] else {
        panic!("one exchange");
    };
    let tokens = message["assistant"]["tokens"].to_string();
    assert_eq!(
        tokens,
        r#"{"input":18,"output":3,"reasoning":0,"cache":{"read":3,"write":0}}"#
    );
    assert!(message["time"]["completed"].is_number());
    assert_snapshot!(w.ok(&["show", &id, "--thinking"]).lines().skip(2).collect::<Vec<_>>().join("\n").replace(w.root.to_str().unwrap(), "[ROOT]").replace(&id, "[ID]"), @r"
    [ID]

    #1  You  12:00
        List the files

    #2  a  gpt-5  12:00
        · thinking 2 B
          ls

        I look.

        ✓ Bash  ls                                            0 ms
          │ a.txt

        One file.
    ");
    assert_conformant(&w, &session);
}

#[test]
fn unknown_fields_and_spelling_survive_every_change() {
    let w = world(&["document/minimal"]);
    let session = folder(&data(&w), MINIMAL);
    let path = session.join("session.json");
    let odd = fs::read_to_string(&path).unwrap().replace(
        "\"config\": {}",
        "\"config\": {},\n  \"odd\": [1e2, -0,  \"\\u0041\"]",
    );
    fs::write(&path, &odd).unwrap();
    w.ok(&["append", MINIMAL, "more"]);
    let after = fs::read_to_string(&path).unwrap();
    let differs: Vec<&str> = after
        .lines()
        .filter(|l| !odd.lines().any(|o| o == *l))
        .collect();
    assert_eq!(
        differs.len(),
        1,
        "only the time of the last change: {differs:?}"
    );
    assert!(differs[0].contains("\"updated\""));
}

#[test]
fn writers_at_the_same_time_lose_nothing() {
    let (w, id, session) = start();
    w.ok(&["append", &id, "Go"]);
    std::thread::scope(|scope| {
        for n in 0..4 {
            let (w, id) = (&w, &id);
            scope.spawn(move || {
                for i in 0..5 {
                    let mut command =
                        w.command(&["append", id, "--role", "agent", &format!("{n}-{i}")]);
                    command.env("RETHREAD_SEED", format!("{n}-{i}"));
                    assert!(command.output().unwrap().status.success());
                }
            });
        }
    });
    let message = messages(&session)[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(parts(&session, &message).len(), 20);
    assert_conformant(&w, &session);
}

#[test]
fn an_answer_is_never_given_to_another_message_than_the_last() {
    let (w, id, session) = start();
    w.ok(&["append", &id, "First"]);
    w.ok(&["append", &id, "--role", "agent", "Done."]);
    let second = w.ok(&["append", &id, "Second"]).trim().to_owned();
    let path = session.join(&second).join("message.json");
    for damage in ["", "{", "[]"] {
        fs::write(&path, damage).unwrap();
        let before = crate::world::tree(&session);
        let answer = w.run(&["append", &id, "--role", "agent", "Lost?"]);
        assert_eq!(answer.code, 1, "{damage}: {answer:?}");
        assert!(answer.err.contains("message.json"), "{}", answer.err);
        assert!(crate::world::tree(&session) == before, "{damage}");
    }
    let third = w.run(&["append", &id, "Third"]);
    let third_id = third.out.trim();
    assert!(
        session.join(third_id).join("message.json").is_file(),
        "{third:?}"
    );
    w.run(&["append", &id, "--role", "agent", "Found."]);
    assert_eq!(parts(&session, third_id).len(), 1);
}

/// Old messages are no business of new ones: only the newest, and the first, whose task all share,
/// are opened.
#[test]
fn old_messages_are_not_opened() {
    let (w, id, session) = start();
    let whole =
        |n: u32| format!("{{\"user\":{{\"prompt\":{{\"task\":\"t\",\"user\":\"{n}\"}}}}}}\n");
    let all: String = (0..40).map(whole).collect();
    let answer = w.pipe(&["append", &id, "--message-json", "-"], &all);
    assert_eq!(answer.code, 0, "{answer:?}");
    let ids: Vec<&str> = answer.out.lines().collect();
    for id in &ids[1..20] {
        fs::write(session.join(id).join("message.json"), "not JSON").unwrap();
    }
    let asked = w.run(&["append", &id, "and then?"]);
    assert_eq!((asked.code, &*asked.err), (0, ""), "{asked:?}");
    let answered = w.run(&["append", &id, "--role", "agent", "Then that."]);
    assert_eq!((answered.code, &*answered.err), (0, ""), "{answered:?}");
    let last = asked.out.trim();
    assert!(last > ids[39], "{last}");
    assert_eq!(parts(&session, last)[0]["text"], "Then that.");
    let message = json(&fs::read_to_string(session.join(last).join("message.json")).unwrap());
    assert_eq!(message["user"]["prompt"]["task"], "t");
}
