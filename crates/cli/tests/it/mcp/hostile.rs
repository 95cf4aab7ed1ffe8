//! Clients that send nonsense, too much, or go away.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::client::McpClient;
use crate::world::{World, tree};

#[test]
fn what_is_no_request_is_answered_with_an_error() {
    let w = World::new();
    let mut client = McpClient::start(&w, &["--sample", "mcp"]);
    for (line, code) in [
        (b"{ this is not JSON\n".to_vec(), -32700),
        (b"[]\n".to_vec(), -32600),
        (b"{\"jsonrpc\":\"1.0\",\"id\":1}\n".to_vec(), -32600),
        ([vec![b'x'; 100 << 20], vec![b'\n']].concat(), -32600),
        (b"\xff\xfe\n".to_vec(), -32700),
    ] {
        client.send_bytes(&line);
        let answer = client.receive();
        assert_eq!(answer["error"]["code"], code, "{answer}");
    }
    let answer = client.request("tools/none", &json!({}));
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
    let answer = client.request("tools/call", &json!({ "name": "none" }));
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("search_conversations")
    );
    for arguments in [
        json!({}),
        json!({ "query": 5 }),
        json!({ "query": "a", "limt": 3 }),
        json!({ "query": "" }),
        json!({ "query": "/(/" }),
        json!({ "query": "a".repeat(100_000) }),
        json!({ "query": "a", "limit": -1 }),
    ] {
        let said = client.refused("search_conversations", &arguments);
        assert!(said.starts_with("error: "), "{said}");
    }
    assert_eq!(client.close(), 0);
}

#[test]
fn ids_that_are_paths_are_refused() {
    let w = World::new();
    let log = w.home.join("secret.jsonl");
    std::fs::write(&log, "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n").unwrap();
    std::fs::write(
        w.project.join("secret.jsonl"),
        "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n",
    )
    .unwrap();
    let before = tree(&w.root);
    let mut client = McpClient::start(&w, &["mcp"]);
    let log = log.to_str().unwrap();
    for id in [
        log,
        "../secret.jsonl",
        "./secret.jsonl",
        "~/x",
        "-o",
        "",
        ".",
        "a\u{0}b",
        "C:\\x",
    ] {
        let said = client.refused("read_conversation", &json!({ "id": id }));
        assert!(said.contains("paths are not taken"), "{id}: {said}");
    }
    // A name without a separator is the id of a conversation, or nothing.
    client.refused("read_conversation", &json!({ "id": "secret.jsonl" }));
    assert_eq!(client.close(), 0);
    assert_eq!(tree(&w.root), before);
}

#[test]
fn a_thousand_calls_at_once_are_all_answered() {
    let w = World::new();
    let mut client = McpClient::start(&w, &["--sample", "mcp"]);
    for id in 1..=1_000 {
        let (tool, arguments) = match id % 3 {
            0 => ("search_conversations", json!({ "query": "redirect" })),
            1 => ("list_conversations", json!({ "limit": 1 })),
            _ => ("none", json!({})),
        };
        // Most are cancelled before they begin, which is a notification and has no answer.
        client.send(
            &json!({ "jsonrpc": "2.0", "id": format!("n{id}"), "method": "tools/call",
            "params": { "name": tool, "arguments": arguments } }),
        );
        if id % 10 != 0 {
            client.send(
                &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
                "params": { "requestId": format!("n{id}") } }),
            );
        }
    }
    let mut waited: HashSet<String> = (1..=1_000)
        .filter(|id| id % 10 == 0)
        .map(|id| format!("n{id}"))
        .collect();
    while !waited.is_empty() {
        let answer = client.receive();
        waited.remove(answer["id"].as_str().unwrap_or_default());
    }
    assert_eq!(client.close(), 0);
}

#[test]
fn a_client_that_goes_away_ends_the_server() {
    let w = World::new();
    assert_eq!(McpClient::connect(&w, &["mcp"]).close(), 0);
    let mut client = McpClient::start(&w, &["--sample", "mcp"]);
    client.send(&json!({ "jsonrpc": "2.0", "id": 9, "method": "tools/call",
        "params": { "name": "search_conversations", "arguments": { "query": "redirect" } } }));
    assert_eq!(client.close(), 0);
}

/// Requests made of pieces of right ones, in an order that nobody would choose.
#[test]
fn a_hundred_thousand_strange_messages_do_no_harm() {
    const PIECES: [&str; 16] = [
        "{",
        "}",
        "[",
        "]",
        "\"jsonrpc\":\"2.0\"",
        ",",
        "\"id\":1",
        "\"id\":null",
        "\"method\":\"tools/call\"",
        "\"method\":\"tools/list\"",
        "\"params\":{}",
        "\"params\":[1,2]",
        "\"arguments\":{\"query\":{}}",
        "\"name\":\"read_conversation\"",
        "\\u0000",
        "1e999",
    ];
    let w = World::new();
    let mut client = McpClient::start(&w, &["mcp"]);
    let mut seed = 7_u64;
    let mut random = move |below: u64| {
        // An xorshift: the same messages each time.
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % below
    };
    for _ in 0..100 {
        let mut batch = String::new();
        for n in 0..1_000 {
            if random(4) == 0 {
                batch.push_str(
                    &json!({ "jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {
                    "name": "none", "arguments": Value::Null } })
                    .to_string(),
                );
            } else {
                for _ in 0..random(9) {
                    batch.push_str(PIECES[usize::try_from(random(16)).unwrap()]);
                }
            }
            batch.push('\n');
        }
        batch.push_str("{\"jsonrpc\":\"2.0\",\"id\":\"end\",\"method\":\"tools/list\"}\n");
        client.send_bytes(batch.as_bytes());
        while client.receive()["id"] != "end" {}
    }
    assert_eq!(client.close(), 0);
}
