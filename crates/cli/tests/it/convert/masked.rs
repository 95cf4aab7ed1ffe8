//! Gemini CLI puts previews in the place of long outputs in its own file. Nobody said anything else then.

use std::fs;
use std::path::PathBuf;

use rethread_judges::ClientKind;
use serde_json::{Value, json as value};

use super::judges::{at, now};
use crate::world::{World, json, tree};

/// A pi session with so many long outputs; its path.
fn session(w: &World, count: usize) -> String {
    let made = json(&now(w, &["new", "--format", "pi", "--json"], ""));
    let path = made["path"].as_str().unwrap().to_owned();
    let mut lines = String::new();
    for n in 0..count {
        let output: String = (0..700).map(|i| format!("{n}: line {i} of it\n")).collect();
        for message in [
            value!({"role": "user", "content": [{"type": "text", "text": format!("Read {n}.")}]}),
            value!({"role": "assistant", "content": [
                {"type": "tool_use", "tool_id": format!("c{n}"), "tool_name": "read",
                    "input": {"file": n}}]}),
            value!({"role": "user", "content": [
                {"type": "tool_result", "tool_id": format!("c{n}"), "output": output}]}),
            value!({"role": "assistant", "content": [{"type": "text", "text": format!("Read {n}, it is long.")}]}),
        ] {
            lines += &format!("{message}\n");
        }
    }
    let append = [
        "append",
        &path,
        "--model",
        "acme/m-1",
        "--message-json",
        "-",
    ];
    now(w, &append, &lines);
    path
}

/// What comes back must be the original, with what was said since behind it.
fn assert_back(w: &World, carrier: &str, original: &str, said: &str) {
    let before = fs::read_to_string(original).unwrap();
    let answer = w.run(&["convert", carrier, "--to", "pi", "--json", "-o", "back"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    assert!(!answer.err.contains("anew"), "{}", answer.err);
    let back = PathBuf::from(json(&answer.out)["path"].as_str().unwrap());
    let after = fs::read_to_string(back).unwrap();
    let new = after
        .strip_prefix(&before)
        .expect("the original, byte for byte");
    assert!(!new.contains("tool_output_masked"), "{new}");
    let texts: Vec<Value> = new.lines().map(json).collect();
    assert!(
        texts.iter().any(|line| line.to_string().contains(said)),
        "{new}"
    );
}

#[test]
fn what_is_masked_stays_what_it_was_and_what_is_new_is_added() {
    let w = World::new();
    let original = session(&w, 3);
    let made = json(&w.ok(&[
        "convert", &original, "--to", "gemini", "--json", "-o", "out",
    ]));
    let file = made["path"].as_str().unwrap();
    let text = fs::read_to_string(file).unwrap();
    let mut masked = 0;
    let lines: Vec<String> = text
        .lines()
        .map(|line| {
            let mut message = json(line);
            let calls = message.get_mut("toolCalls").and_then(Value::as_array_mut);
            let Some(call) = calls.and_then(|calls| calls.first_mut()) else {
                return line.to_owned();
            };
            let response = &mut call["result"][0]["functionResponse"]["response"];
            *response = value!({"output": "<tool_output_masked>\n{\n  \"output\": \"0: line\n\nOutput too large. Full output available at: /tmp/x.txt\n</tool_output_masked>"});
            masked += 1;
            message.to_string()
        })
        .collect();
    assert_eq!(masked, 3);
    fs::write(file, lines.join("\n") + "\n").unwrap();
    w.ok(&["append", file, "And now?"]);
    assert_back(&w, file, &original, "And now?");
}

#[test]
fn what_gemini_masks_stays_what_it_was_and_what_it_says_is_added() {
    let w = World::new();
    let Some(desk) = ClientKind::Gemini.set_up(&w.home, &w.project) else {
        return;
    };
    let original = session(&w, 40);
    let print = ["resume", &original, "--in", "gemini", "--print", "--json"];
    // The client deletes what it resumes in the minute that it was written in.
    let hour_ago = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(1);
    let how = json(&at(&w, hour_ago, &print, ""));
    let id = how["command"].as_array().unwrap().last().unwrap();
    desk.resume_by_server(id.as_str().unwrap(), "GO-ON");
    let chats = tree(&w.home.join(".gemini/tmp"));
    let is_masked = |(path, bytes): &&(PathBuf, Vec<u8>)| {
        path.extension().is_some_and(|e| e == "jsonl")
            && String::from_utf8_lossy(bytes).contains("<tool_output_masked>")
    };
    let (path, _) = chats.iter().find(is_masked).expect("the client masks");
    assert_back(&w, path.to_str().unwrap(), &original, "GO-ON");
}
