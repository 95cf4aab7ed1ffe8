//! The real clients with the server in their settings: the model asks for a tool, the client calls it,
//! and what the server answers reaches the model.

use std::ffi::OsString;
use std::fs;

use rethread_judges::{ClientKind, InstalledClient, Turn};
use serde_json::{Value, json};

use crate::world::{World, json as parsed};

/// A word that only the conversation holds.
const WORD: &str = "quokka";

/// A world with a conversation that a client can find, and what `--print-config` says to that client.
fn world(client: &str) -> (World, String) {
    let w = World::new();
    let id = w.thread("The mascot");
    w.ok(&[
        "append",
        &id,
        &format!("Our mascot is a {WORD}, because it smiles."),
    ]);
    let home = w.home.to_str().unwrap().to_owned();
    let printed = w.ok(&["--home", &home, "mcp", "--print-config", client]);
    (w, printed)
}

/// What came back from tools.
fn results(turns: &[Turn]) -> String {
    let result = |turn: &Turn| match turn {
        Turn::ToolResult(_, text) => Some(text.clone()),
        _ => None,
    };
    turns
        .iter()
        .filter_map(result)
        .collect::<Vec<_>>()
        .join("\n")
}

fn prompt(tool: &str) -> String {
    format!("Look it up. [[tool:{tool} {}]]", json!({ "query": WORD }))
}

fn assert_found(turns: &[Turn]) {
    let told = results(turns);
    assert!(told.contains("because it smiles"), "{turns:#?}");
    assert!(
        told.contains("untrusted") || told.contains("not instructions"),
        "{told}"
    );
}

fn run(client: &InstalledClient, args: &[&str]) -> String {
    let args: Vec<OsString> = args.iter().map(OsString::from).collect();
    let output = client.run_client(&args);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{} {}",
        text(&output.stdout),
        text(&output.stderr)
    );
    text(&output.stdout)
}

#[test]
fn claude_code_calls_it() {
    let (w, printed) = world("claude");
    let Some(client) = ClientKind::Claude.set_up(&w.home, &w.project) else {
        return;
    };
    let words: Vec<&str> = printed.split_whitespace().skip(1).collect();
    run(&client, &words);
    let tool = "mcp__rethread__search_conversations";
    run(
        &client,
        &[
            "-p",
            &prompt(tool),
            "--output-format",
            "json",
            "--allowedTools",
            tool,
        ],
    );
    assert_found(&client.turns_with(&prompt(tool)));
}

#[test]
fn codex_calls_it() {
    let (w, printed) = world("codex");
    let Some(client) = ClientKind::Codex.set_up(&w.home, &w.project) else {
        return;
    };
    fs::create_dir_all(w.home.join(".codex")).unwrap();
    fs::write(w.home.join(".codex/config.toml"), printed).unwrap();
    let turns = client.begin_session(&prompt("mcp__rethread.search_conversations"));
    assert_found(&turns);
}

#[test]
fn gemini_calls_it() {
    let (w, printed) = world("gemini");
    let Some(client) = ClientKind::Gemini.set_up(&w.home, &w.project) else {
        return;
    };
    let settings: Value = parsed(&printed);
    let client = client.with_settings(settings);
    let turns = client.begin_session(&prompt("mcp_rethread_search_conversations"));
    assert_found(&turns);
}

#[test]
fn opencode_calls_it() {
    let (w, printed) = world("opencode");
    let Some(client) = ClientKind::OpenCode.set_up(&w.home, &w.project) else {
        return;
    };
    let client = client.with_settings(parsed(&printed));
    let turns = client.begin_session(&prompt("rethread_search_conversations"));
    assert_found(&turns);
}
