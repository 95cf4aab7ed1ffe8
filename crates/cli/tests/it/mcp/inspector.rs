//! The MCP Inspector's command line as a judge.

use std::fs;

use rethread_judges::mcp_inspector;
use serde_json::{Value, json};

use crate::world::{World, json as parsed};

/// Asks the inspector to call a method, and gives what it prints.
fn inspect(w: &World, args: &[&str]) -> Option<Value> {
    let mut command = mcp_inspector()?;
    let flags = ["mcp", "--allow-messages", "--as", "me", "--dir", "messages"];
    let print = [&["--sample"], &flags[..], &["--print-config", "cursor"]].concat();
    let config = w.root.join("servers.json");
    fs::write(&config, w.ok(&print)).unwrap();
    command
        .arg("--config")
        .arg(&config)
        .args(["--server", "rethread"]);
    command
        .args(args)
        .current_dir(&w.project)
        .env("HOME", &w.home);
    let output = command.output().unwrap();
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{args:?}: {out}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(parsed(&out))
}

#[test]
fn the_inspector_lists_and_calls_everything() {
    let w = World::new();
    let Some(listed) = inspect(&w, &["--method", "tools/list", "--strict"]) else {
        return;
    };
    let tools = listed["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|t| t["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "search_conversations",
            "read_conversation",
            "list_conversations",
            "conversation_stats",
            "send_message",
            "read_inbox"
        ]
    );
    let call = |tool: &str, arguments: &[&str]| {
        let mut args = vec!["--method", "tools/call", "--tool-name", tool];
        for argument in arguments {
            args.extend(["--tool-arg", argument]);
        }
        let answer = inspect(&w, &args).unwrap();
        assert_ne!(answer["isError"], true, "{tool}: {answer}");
        answer["structuredContent"].clone()
    };
    let found = call("search_conversations", &["query=redirect"]);
    let id = format!("id={}", found["conversations"][0]["id"].as_str().unwrap());
    let read = call("read_conversation", &[&id, "max_bytes=900"]);
    assert!(read["next_cursor"].is_string(), "{read}");
    call("list_conversations", &["filters=agent:codex"]);
    let stats = call("conversation_stats", &["by=agent"]);
    assert!(stats["total"]["tokens"].as_u64().unwrap() > 0, "{stats}");
    call("send_message", &["to=bob", "text=hello"]);
    assert_eq!(call("read_inbox", &[])["messages"], json!([]));
    for method in ["resources/list", "resources/templates/list", "prompts/list"] {
        inspect(&w, &["--method", method]).unwrap();
    }
    let prompt = [
        "--method",
        "prompts/get",
        "--prompt-name",
        "what_did_we_decide",
        "--prompt-args",
        "topic=doors",
    ];
    assert!(inspect(&w, &prompt).unwrap()["messages"].is_array());
    let uri = "rethread://session/7f3a90c1-5b1e-4c2d-9d3e-2a6f0c8b1e47";
    assert!(
        inspect(&w, &["--method", "resources/read", "--uri", uri]).unwrap()["contents"].is_array()
    );
}
