//! Messages to other agents, where the user allows them.

use serde_json::json;

use super::client::McpClient;
use crate::world::World;

#[test]
fn messages_are_sent_and_read_under_the_alias_of_the_user() {
    let w = World::new();
    let dir = w.root.join("messages");
    let dir = dir.to_str().unwrap();
    let flags = ["mcp", "--allow-messages", "--dir", dir, "--as"];
    let mut alice = McpClient::start(&w, &[&flags[..], &["alice"]].concat());
    let mut bob = McpClient::start(&w, &[&flags[..], &["bob"]].concat());
    let (_, sent) = alice.call(
        "send_message",
        &json!({ "to": "bob", "text": "Is it green?" }),
    );
    assert_eq!(
        (&sent["from"], &sent["to"]),
        (&json!("alice"), &json!("bob"))
    );
    let (text, read) = bob.call("read_inbox", &json!({}));
    assert_eq!(read["messages"][0]["text"], "Is it green?");
    assert!(text.contains("--- begin untrusted"), "{text}");
    let (text, _) = bob.call("read_inbox", &json!({}));
    assert_eq!(text, "No new messages.");
    for arguments in [
        json!({ "to": "../x", "text": "hi" }),
        json!({ "to": "bob", "text": "x".repeat(70_000) }),
    ] {
        alice.refused("send_message", &arguments);
    }
}

#[test]
fn an_inbox_of_any_length_is_told_in_pieces_and_noted_at_its_end() {
    let w = World::new();
    let dir = w.root.join("messages");
    let dir = dir.to_str().unwrap();
    let send = |n: usize| {
        let text = format!("Message {n} {}", "x".repeat(3_000));
        w.ok(&["msg", "--dir", dir, "--as", "alice", "send", "bob", &text]);
    };
    (0..20).for_each(send);
    let mut bob = McpClient::start(
        &w,
        &["mcp", "--allow-messages", "--dir", dir, "--as", "bob"],
    );
    let mut told = Vec::new();
    let mut arguments = json!({});
    loop {
        let (text, data) = bob.call("read_inbox", &arguments);
        assert!(text.len() < 25_000);
        let rows = data["messages"].as_array().unwrap();
        told.extend(
            rows.iter()
                .map(|row| row["id"].as_str().unwrap().to_owned()),
        );
        match data["next_cursor"].as_str() {
            Some(cursor) => arguments = json!({ "cursor": cursor }),
            None => break,
        }
    }
    let count = told.len();
    told.sort();
    told.dedup();
    assert_eq!((count, told.len()), (20, 20));
    assert_eq!(bob.call("read_inbox", &json!({})).0, "No new messages.");
}

#[test]
fn without_leave_there_are_no_such_tools() {
    let w = World::new();
    let mut client = McpClient::start(&w, &["mcp"]);
    let call = json!({ "name": "send_message", "arguments": { "to": "bob", "text": "hi" } });
    let answer = client.request("tools/call", &call);
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("no such tool")
    );
    assert!(!w.home.join(".local").exists());
}
