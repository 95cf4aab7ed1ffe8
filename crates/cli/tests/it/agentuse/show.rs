//! Shown as text, Markdown, JSON, a tree, and as it is.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use super::{CODER, LATER, MINIMAL, PLANNER, data, folder, world};
use crate::world::json;

#[test]
fn show_the_document_s_session() {
    let w = world(&["document/full"]);
    assert_snapshot!(
        "agentuse_show",
        w.plain(&w.ok(&["show", PLANNER, "--thinking"]))
    );
    assert_snapshot!(
        "agentuse_markdown",
        w.plain(&w.ok(&["show", PLANNER, "--to", "markdown"]))
    );
    assert_snapshot!(
        "agentuse_json",
        w.plain(&w.ok(&["show", PLANNER, "--json"]))
    );
}

#[test]
fn system_prompts_are_hidden_and_errors_are_shown() {
    let w = world(&["document/full"]);
    for to in ["text", "markdown"] {
        let shown = w.ok(&["show", PLANNER, "--to", to]);
        assert!(!shown.contains("You are a planner."), "{to}: {shown}");
        assert!(shown.contains("the model was overloaded"), "{to}: {shown}");
    }
    // A page has them folded.
    let page = w.ok(&["show", PLANNER, "--to", "html"]);
    let (before, _) = page.split_once("You are a planner.").unwrap();
    let fold = before.rfind("<details").unwrap();
    assert!(before[fold..].starts_with("<details class=\"quiet injected\">"));
    assert!(!before[fold..].contains("</details>"));
    assert!(page.contains("the model was overloaded"), "{page}");
    // Scripts see everything.
    let shown = w.ok(&["show", PLANNER, "--json"]);
    assert!(shown.contains("You are a planner."), "{shown}");
}

#[test]
fn the_duration_of_a_call_is_from_its_start_to_its_end() {
    let w = world(&["document/full"]);
    let mut written = std::collections::BTreeMap::new();
    for (path, bytes) in crate::world::tree(&folder(&data(&w), PLANNER)) {
        if path.parent().is_none_or(|p| !p.ends_with("part")) {
            continue;
        }
        let part: Value = serde_json::from_slice(&bytes).unwrap();
        let time = &part["state"]["time"];
        if part["type"] == "tool" {
            let ms = time["end"]
                .as_i64()
                .map(|end| end - time["start"].as_i64().unwrap());
            written.insert(part["callID"].as_str().unwrap().to_owned(), ms);
        }
    }
    assert_eq!(written.values().flatten().count(), 2, "{written:?}");
    let shown = json(&w.ok(&["show", PLANNER, "--json"]));
    let mut told = std::collections::BTreeMap::new();
    for message in shown["messages"].as_array().unwrap() {
        let tools = message["metadata"]["extensions"]["tools"].as_array();
        for tool in tools.into_iter().flatten() {
            let id = tool["tool_id"].as_str().unwrap().to_owned();
            told.insert(id, tool["duration_ms"].as_i64());
        }
    }
    assert_eq!(told, written, "none where a call has not ended");
}

#[test]
fn show_the_smallest_session() {
    let w = world(&["document/minimal"]);
    assert_snapshot!(
        "agentuse_minimal",
        w.plain(&w.ok(&["show", MINIMAL, "--thinking"]))
    );
}

#[test]
fn show_what_later_programs_add() {
    let w = world(&["0.30/everything"]);
    assert_snapshot!("agentuse_later", w.plain(&w.ok(&["show", LATER])));
}

#[test]
fn the_tree_names_sub_agents_and_the_calls_that_started_them() {
    let w = world(&["document/full", "0.30/everything"]);
    assert_snapshot!(w.ok(&["tree", PLANNER]), @r"
    Daily Planner
    agentuse · src · 15 Nov 2025 09:46 · 9 messages (5 in 2 sub-agents)
    1.6 K tokens · $0.01 · 01KA3J1000S000000000000001

    ● #3  You  Plan the day. Only the morning.
    ● #4  Daily Planner  Let me look. [image]  ✓ Bash cal  ✗ Rea…  · 1 event  ◀ leaf
    ↳ sub-agent 01KA3J1000S000000000000002
    ");
    assert_snapshot!(w.ok(&["tree", CODER]), @r"
    Coder
    agentuse · proj · 15 Nov 2025 09:46 · 5 messages (2 in a sub-agent) · 15 tokens
    sub-agent of 01KA3J1000S000000000000001 · 01KA3J1000S000000000000002

    ● #2  You  Write the code.
    ● #3  Coder  Written.  ◀ leaf
    ↳ sub-agent 01KA3J1000S000000000000003
    ");
    assert_snapshot!(w.ok(&["tree", LATER]), @r"
    Quote Maker
    agentuse · proj · 15 Nov 2025 09:46 · 7 messages (2 in a sub-agent) · 560 tokens
    01KA3J1000S000000000000005

    ● #2  You  Make a quote. About rain.
    ● #3  Quote Maker  Rain is patient.  ✓ bash rain  · 1 event
    ● #5  Summary  compacted (limit, 190000 → 9000 tokens)
    ● #6  You  Make it shorter.
    ● #7  Quote Maker  Rain waits.  … subagent__reviewer task:…  · 2 events  ◀ leaf
    ↳ sub-agent 01KA3J1000S000000000000006
    ");
    let json = w.ok(&["tree", LATER, "--json"]);
    assert_snapshot!(json.lines().last().unwrap(), @r#"{"type":"sub_agent","session_id":"01KA3J1000S000000000000006","tool_id":"call_wait"}"#);
}

#[test]
fn what_the_tree_draws_names_an_entry() {
    let w = world(&["0.30/everything"]);
    let tree = w.ok(&["tree", LATER]);
    let drawn = tree.lines().filter(|line| line.starts_with('●'));
    let mut count = 0;
    for line in drawn {
        let number = line.split_whitespace().nth(1).unwrap();
        let record = json(&w.ok(&["show", LATER, "--branch", number, "--json"]));
        let messages = record["messages"].as_array().unwrap();
        let role = &messages.last().unwrap()["role"];
        assert!(
            role == "user" || !line.contains("  You  "),
            "{line}: {role}"
        );
        count += 1;
    }
    assert_eq!(count, 5, "{tree}");
}

#[test]
fn raw_is_the_description_and_all_files_in_a_folder() {
    let w = world(&["0.30/everything"]);
    let session = folder(&data(&w), LATER);
    let raw = w.ok(&["show", LATER, "--to", "raw"]);
    assert_eq!(
        raw.as_bytes(),
        fs::read(session.join("session.json")).unwrap()
    );
    let out = w.root.join("out");
    w.ok(&["show", LATER, "--to", "raw", "-o", out.to_str().unwrap()]);
    let names = |folder: &std::path::Path| -> Vec<(String, Vec<u8>)> {
        let files = crate::world::tree(folder).into_iter();
        let name = |p: &std::path::Path| p.strip_prefix(folder).unwrap().display().to_string();
        files.map(|(path, bytes)| (name(&path), bytes)).collect()
    };
    let mut own = names(&session);
    own.retain(|(name, _)| !name.starts_with("subagent"));
    assert_eq!(names(&out), own);
}

#[test]
fn escapes_in_names_do_not_reach_the_terminal() {
    let w = world(&["document/minimal"]);
    let path = folder(&data(&w), MINIMAL).join("session.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(
        &path,
        text.replace("\"name\": \"\"", "\"name\": \"\\u001b[31mred\""),
    )
    .unwrap();
    for args in [&["list"][..], &["show", MINIMAL], &["tree", MINIMAL]] {
        assert!(!w.ok(args).contains('\u{1b}'), "{args:?}");
    }
}
