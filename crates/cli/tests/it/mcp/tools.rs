//! What the server offers, and what its tools find.

use std::path::Path;

use insta::assert_snapshot;
use serde_json::json;

use super::client::McpClient;
use crate::world::{World, json as json_of, tree};

#[test]
fn tools_say_what_they_do_in_few_words() {
    let w = World::new();
    let mut client = McpClient::start(&w, &["mcp"]);
    let listed = client.request("tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let mut text = String::new();
    for tool in tools {
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{tool}");
        assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
        text.push_str(&format!(
            "{}: {}\n",
            tool["name"].as_str().unwrap(),
            tool["description"].as_str().unwrap()
        ));
        for (name, about) in tool["inputSchema"]["properties"].as_object().unwrap() {
            let about = about["description"].as_str().unwrap().replace('\n', " ");
            text.push_str(&format!("  {name}: {about}\n"));
        }
    }
    assert_snapshot!(text);
    // All of it is in every conversation of every user.
    assert!(
        listed.to_string().len() < 10_000,
        "{}",
        listed.to_string().len()
    );
    assert_eq!(client.close(), 0);
}

#[test]
fn a_search_leads_to_a_place_that_can_be_read() {
    let w = World::new();
    w.ok(&["--sample", "list"]);
    let before = tree(&w.root);
    let mut client = McpClient::start(&w, &["--sample", "mcp"]);
    let (text, data) = client.call(
        "search_conversations",
        &json!({ "query": "undefined redirect" }),
    );
    let found = &data["conversations"][0];
    assert_eq!(found["title"], "Fix the redirect after sign-in", "{data}");
    assert!(text.contains(found["id"].as_str().unwrap()), "{text}");
    let place = &found["places"][0];
    let (text, data) = client.call(
        "read_conversation",
        &json!({ "id": found["id"], "around": place["entry"] }),
    );
    assert!(
        text.contains("People land on /undefined") || text.contains("land on /undefined"),
        "{text}"
    );
    assert!(
        data["transcript"]
            .as_str()
            .unwrap()
            .contains("--- begin untrusted")
    );
    assert_eq!(client.close(), 0);
    // What is known of the sample from before is in the copy of it.
    let is_kept = |path: &Path| path.components().any(|c| c.as_os_str() == "catalogue");
    let files = tree(&w.root).into_iter();
    let changed: Vec<_> = files
        .filter(|file| !before.contains(file) && !is_kept(&file.0))
        .map(|(path, _)| path)
        .collect();
    assert!(changed.is_empty(), "{changed:?}");
}

#[test]
fn a_search_goes_on_where_it_was_though_more_is_said() {
    let w = World::new();
    let ids: Vec<String> = (0..7)
        .map(|n| {
            let id = w.thread(&format!("Thread {n}"));
            w.ok(&[
                "append",
                &id,
                &format!("A word about pagination, number {n}"),
            ]);
            id
        })
        .collect();
    let mut client = McpClient::start(&w, &["mcp"]);
    let query = json!({ "query": "pagination", "limit": 3 });
    let mut told = Vec::new();
    let (_, mut data) = client.call("search_conversations", &query);
    loop {
        for row in data["conversations"].as_array().unwrap() {
            told.push(row["id"].as_str().unwrap().to_owned());
        }
        let Some(cursor) = data["next_cursor"].as_str() else {
            break;
        };
        // The order changes: the last one becomes the best.
        w.ok(&["append", &ids[6], "Pagination, pagination, pagination."]);
        let next = json!({ "query": "pagination", "limit": 3, "cursor": cursor });
        data = client.call("search_conversations", &next).1;
    }
    told.sort();
    let mut all = ids;
    all.sort();
    assert_eq!(told, all);
    let other = json!({ "query": "something else", "cursor": "eyJ9" });
    assert!(
        client
            .refused("search_conversations", &other)
            .contains("next_cursor")
    );
}

#[test]
fn nothing_found_is_no_failure() {
    let w = World::new();
    let mut client = McpClient::start(&w, &["--sample", "mcp"]);
    let (text, data) = client.call("search_conversations", &json!({ "query": "xyzzyplugh" }));
    assert!(text.starts_with("Nothing was found"), "{text}");
    assert_eq!(data["total"], 0);
}

#[test]
fn lists_are_filtered_and_go_on() {
    let w = World::new();
    let mut client = McpClient::start(&w, &["--sample", "mcp"]);
    let (text, all) = client.call("list_conversations", &json!({}));
    assert!(all["total"].as_u64().unwrap() > 5, "{text}");
    let mut rows = Vec::new();
    let mut arguments = json!({ "limit": 2 });
    loop {
        let (_, data) = client.call("list_conversations", &arguments);
        rows.extend(data["conversations"].as_array().unwrap().clone());
        match data["next_cursor"].as_str() {
            Some(cursor) => arguments["cursor"] = json!(cursor),
            None => break,
        }
    }
    assert_eq!(json!(rows), all["conversations"]);
    let (_, data) = client.call("list_conversations", &json!({ "filters": "agent:codex" }));
    assert!(data["total"].as_u64().unwrap() > 0);
    for row in data["conversations"].as_array().unwrap() {
        assert_eq!(row["agent"], "Codex CLI");
        // What is told can be sent back.
        client.call(
            "read_conversation",
            &json!({ "id": row["id"], "max_bytes": 500 }),
        );
    }
    let wrong = client.refused("list_conversations", &json!({ "filters": "redirect" }));
    assert!(wrong.contains("title:WORD"), "{wrong}");
    let wrong = client.refused("list_conversations", &json!({ "filters": "agnet:codex" }));
    assert!(wrong.contains("agent:"), "{wrong}");
}

#[test]
fn a_conversation_is_a_resource_and_a_decision_a_prompt() {
    let w = World::new();
    let mut client = McpClient::start(&w, &["--sample", "mcp"]);
    let listed = client.request("resources/list", &json!({}));
    let first = &listed["result"]["resources"][0];
    let read = client.request("resources/read", &json!({ "uri": first["uri"] }));
    let text = read["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(text.contains("--- end untrusted"), "{text}");
    let templates = client.request("resources/templates/list", &json!({}));
    let template = &templates["result"]["resourceTemplates"][0]["uriTemplate"];
    assert_eq!(template, "rethread://session/{id}");
    for uri in [
        "file:///etc/passwd",
        "rethread://session/..%2F..%2Fetc%2Fpasswd",
    ] {
        let read = client.request("resources/read", &json!({ "uri": uri }));
        assert!(read["error"].is_object(), "{read}");
    }
    let prompts = client.request("prompts/list", &json!({}));
    let name = &prompts["result"]["prompts"][0]["name"];
    let arguments = json!({ "topic": "the colour of the door" });
    let prompt = client.request(
        "prompts/get",
        &json!({ "name": name, "arguments": arguments }),
    );
    let text = &prompt["result"]["messages"][0]["content"]["text"];
    assert!(text.as_str().unwrap().contains("the colour of the door"));
    let prompt = client.request("prompts/get", &json!({ "name": name }));
    assert!(
        prompt["error"]["message"]
            .as_str()
            .unwrap()
            .contains("topic")
    );
}

#[test]
fn progress_is_told_to_who_asks_for_it() {
    let w = World::new();
    for n in 0..20 {
        let id = w.thread(&format!("Thread {n}"));
        w.ok(&["append", &id, "Something"]);
    }
    let mut client = McpClient::start(&w, &["--no-cache", "mcp"]);
    client.send(
        &json!({ "jsonrpc": "2.0", "id": "p", "method": "tools/call", "params": {
        "name": "search_conversations", "arguments": { "query": "something" },
        "_meta": { "progressToken": "t1" } } }),
    );
    let mut told = 0;
    loop {
        let message = client.receive();
        if message["method"] == "notifications/progress" {
            assert_eq!(message["params"]["progressToken"], "t1");
            told += 1;
        } else if message["id"] == "p" {
            break;
        }
    }
    assert!(told > 0);
}

#[test]
fn what_conversations_used_is_what_the_command_says() {
    let w = World::new();
    let mut client = McpClient::start(&w, &["--sample", "mcp"]);
    let (text, data) = client.call("conversation_stats", &json!({ "by": "agent" }));
    let said = json_of(&w.ok(&["--sample", "stats", "--by", "agent", "--json"]));
    let tokens = |value: &serde_json::Value| value["tokens"].as_u64();
    assert!(tokens(&data["total"]) > Some(0), "{data}");
    assert_eq!(
        data["total"]["sessions"], said["total"]["session_count"],
        "{text}"
    );
    assert!(text.contains("total: "), "{text}");
    let (_, codex) = client.call("conversation_stats", &json!({ "filters": "agent:codex" }));
    assert!(tokens(&codex["total"]) < tokens(&data["total"]));
    let wrong = client.refused("conversation_stats", &json!({ "by": "moon" }));
    assert!(wrong.contains("workspace"), "{wrong}");
}
