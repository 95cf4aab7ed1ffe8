//! What the lines of an export say.

use serde_json::Value;

use super::{assert_header_fits, fixture, lines, parsed, populated};
use crate::world::{World, json};

fn keys(object: &Value) -> Vec<&str> {
    object
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

#[test]
fn the_header_equals_what_follows() {
    let w = populated();
    let all = lines(&w, &[]);
    assert_eq!(all.len(), 4);
    assert_header_fits(&all);
    assert_eq!(
        keys(&all[0]),
        [
            "type",
            "schema_version",
            "export_timestamp",
            "agent_types",
            "homes",
            "workspaces",
            "session_count"
        ]
    );
    assert_eq!(all[0]["schema_version"], "1.0");
    assert_eq!(all[0]["export_timestamp"], "2026-11-15T12:00:00Z");
}

#[test]
fn records_have_the_document_s_fields_in_its_order_and_no_other() {
    let w = populated();
    for record in &lines(&w, &["--lean"])[1..] {
        assert_eq!(keys(record), ["type", "session", "messages"]);
        assert_eq!(
            keys(&record["session"]),
            [
                "id",
                "agent",
                "workspace",
                "workspace_encoded",
                "started_at",
                "ended_at",
                "source",
                "is_agent_session",
                "parent_session_id",
                "agent_id"
            ]
        );
        assert_eq!(keys(&record["session"]["source"]), ["type", "host", "path"]);
        assert_eq!(record["session"]["source"]["host"], Value::Null);
        assert_eq!(record["session"]["parent_session_id"], Value::Null);
        assert_eq!(record["session"]["agent_id"], Value::Null);
        for (at, message) in (1..).zip(record["messages"].as_array().unwrap()) {
            assert_eq!(message["index"], at);
            let own = [
                "index",
                "uuid",
                "parent_uuid",
                "role",
                "timestamp",
                "content",
                "metadata",
            ];
            assert!(keys(message).iter().all(|k| own.contains(k)), "{message}");
            assert_eq!(message["parent_uuid"].is_null(), at == 1);
        }
    }
}

#[test]
fn sessions_are_ordered_by_their_start() {
    let w = World::new();
    let made = |now: &str| {
        let mut command = w.command(&["new", "--format", "pi", "--title", "x", "--json"]);
        let output = command.env("RETHREAD_NOW", now).output().unwrap();
        json(std::str::from_utf8(&output.stdout).unwrap())["id"].clone()
    };
    let (late, early) = (made("2026-02-02T00:00:00Z"), made("2026-01-01T00:00:00Z"));
    let all = lines(&w, &["--aw"]);
    let ids: Vec<&Value> = all[1..].iter().map(|r| &r["session"]["id"]).collect();
    assert_eq!(ids, [&early, &late]);
}

fn session_of(name: &str, more: &[&str]) -> Value {
    let w = World::new();
    let path = fixture(name);
    let all = lines(&w, &[&[path.to_str().unwrap()], more].concat());
    all[1].clone()
}

const CLAUDE: &str = "claude-code/2.1/everything/a1b2c3d4-0000-4000-8000-00000000aaaa.jsonl";

#[test]
fn each_record_of_claude_is_a_message_and_a_response_is_counted_once() {
    let record = session_of(CLAUDE, &["--lean"]);
    let text = std::fs::read_to_string(fixture(CLAUDE)).unwrap();
    let mut ids = Vec::new();
    let mut responses = std::collections::BTreeSet::new();
    for line in text
        .lines()
        .filter_map(|l| serde_json::from_str::<Value>(l).ok())
    {
        let is_said = line["type"] == "user" || line["type"] == "assistant";
        if is_said && line["uuid"].is_string() {
            ids.push(line["uuid"].clone());
        }
        if line["message"]["usage"].is_object() {
            responses.insert(line["message"]["id"].to_string());
        }
    }
    let messages = record["messages"].as_array().unwrap();
    let found: Vec<Value> = messages.iter().map(|m| m["uuid"].clone()).collect();
    for id in &ids {
        assert!(found.contains(id), "{id} in {found:?}");
    }
    let is_used = |m: &&Value| m["metadata"]["token_usage"].is_object();
    let used: Vec<&Value> = messages.iter().filter(is_used).collect();
    assert_eq!(used.len(), responses.len());
    // It stands with the last record of its response.
    for message in used {
        let of = |uuid: &Value| {
            let mut lines = text.lines().map(json);
            lines.find(|l| l["uuid"] == *uuid).unwrap()["message"]["id"].clone()
        };
        let response = of(&message["uuid"]);
        let mut lines = text.lines().map(json);
        let last = lines.rfind(|l| l["message"]["id"] == response).unwrap();
        assert_eq!(last["uuid"], message["uuid"]);
    }
}

#[test]
fn parents_are_the_nearest_ancestors_that_are_there() {
    let name =
        "pi/3/everything/2026-11-15T17-50-28-602Z_01a1e054-fcf9-71e6-a3da-f0135322e25c.jsonl";
    let record = session_of(name, &["--lean"]);
    let text = std::fs::read_to_string(fixture(name)).unwrap();
    let parents: std::collections::BTreeMap<String, Value> = text
        .lines()
        .filter_map(|l| serde_json::from_str::<Value>(l).ok())
        .filter_map(|l| Some((l["id"].as_str()?.to_owned(), l["parentId"].clone())))
        .collect();
    let messages = record["messages"].as_array().unwrap();
    let is_there = |id: &Value| messages.iter().any(|m| m["uuid"] == *id);
    let mut passed_over = 0;
    for message in messages {
        let Some(id) = message["uuid"]
            .as_str()
            .filter(|id| parents.contains_key(*id))
        else {
            continue;
        };
        let mut wanted = parents[id].clone();
        while wanted.is_string() && !is_there(&wanted) {
            passed_over += 1;
            wanted = parents[wanted.as_str().unwrap()].clone();
        }
        // Results that stood in the same entry are a message of their own behind it.
        let parent = message["parent_uuid"].as_str();
        let parent = parent.map(|p| p.trim_end_matches("-results"));
        assert_eq!(parent, wanted.as_str(), "{message}");
    }
    assert!(passed_over > 0, "there is no entry between messages");
}

#[test]
fn results_are_messages_of_the_user_that_name_their_tool() {
    for name in [
        CLAUDE,
        "pi/3/everything/2026-11-15T17-50-28-602Z_01a1e054-fcf9-71e6-a3da-f0135322e25c.jsonl",
    ] {
        let record = session_of(name, &["--lean"]);
        let mut results = 0;
        let mut called = std::collections::BTreeMap::new();
        for message in record["messages"].as_array().unwrap() {
            let role = message["role"].as_str().unwrap();
            assert!(["user", "assistant", "system"].contains(&role), "{role}");
            for block in message["content"].as_array().unwrap() {
                match block["type"].as_str().unwrap() {
                    "tool_use" => {
                        called.insert(block["tool_id"].to_string(), block["tool_name"].clone());
                    }
                    "tool_result" => {
                        results += 1;
                        assert_eq!(role, "user");
                        assert!(block["output"].is_string());
                        if let Some(tool) = called.get(&block["tool_id"].to_string()) {
                            assert_eq!(&block["tool_name"], tool);
                        }
                    }
                    other => assert_eq!(other, "text"),
                }
            }
        }
        assert!(results > 0, "{name}");
    }
}

#[test]
fn a_fork_has_a_graph_and_a_line_has_none() {
    let forked = session_of(
        "claude-code/2.1/two-branches/c1b2c3d4-0000-4000-8000-00000000dddd.jsonl",
        &[],
    );
    let graph = &forked["graph"];
    assert_eq!(graph["is_linear"], false);
    let fork = &graph["fork_points"][0];
    assert_eq!(fork["branches"].as_array().unwrap().len(), 2);
    let messages = forked["messages"].as_array().unwrap();
    let index = usize::try_from(fork["index"].as_u64().unwrap()).unwrap();
    assert_eq!(messages[index - 1]["uuid"], fork["uuid"]);
    let path = graph["active_path"].as_array().unwrap();
    assert_eq!(path[0], messages[0]["uuid"]);
    let w = World::new();
    let name = fixture("claude-code/2.1/two-branches/c1b2c3d4-0000-4000-8000-00000000dddd.jsonl");
    let shown = json(&w.ok(&["show", name.to_str().unwrap(), "--json"]));
    let shown = shown["messages"].as_array().unwrap();
    assert_eq!(path.last(), shown.last().map(|m| &m["uuid"]));
    let linear = session_of(
        "atomic/1/linear/2026-06-01T08-00-00-000Z_01996e00-0000-7000-8000-0000000000a3.jsonl",
        &[],
    );
    assert_eq!(linear.get("graph"), None);
}

#[test]
fn sub_agents_are_sessions_of_their_own() {
    let w = World::new();
    let path = fixture("claude-code/2.1/everything");
    let home = w.home.join(".claude/projects/-srv-shop");
    crate::world::copy(&path, &home);
    let all = lines(&w, &["--aw"]);
    assert_header_fits(&all);
    let agents: Vec<&Value> = all[1..]
        .iter()
        .map(|r| &r["session"])
        .filter(|s| s["is_agent_session"] == true)
        .collect();
    assert!(!agents.is_empty());
    for agent in agents {
        assert_eq!(
            agent["parent_session_id"],
            "a1b2c3d4-0000-4000-8000-00000000aaaa"
        );
        assert!(agent["agent_id"].is_string(), "{agent}");
    }
    let without = lines(&w, &["--aw", "--no-subagents"]);
    assert_header_fits(&without);
    assert!(
        without[1..]
            .iter()
            .all(|r| r["session"]["is_agent_session"] == false)
    );
}

#[test]
fn what_the_vocabulary_cannot_say_is_in_extensions_unless_lean() {
    let whole = session_of(CLAUDE, &[]);
    let text = whole.to_string();
    assert!(text.contains(r#""type":"thinking""#), "{text}");
    assert!(
        whole["messages"][0]["metadata"]["extensions"]["original"]["files"][0]["path"].is_string()
    );
    let lean = session_of(CLAUDE, &["--lean"]).to_string();
    assert!(!lean.contains("extensions"), "{lean}");
}

#[test]
fn a_session_without_messages_carries_its_original_in_the_session_object() {
    let record = session_of(
        "pi/3/header-only/2026-11-13T08-00-00-000Z_01a1d563-0000-7000-8000-0000000000d5.jsonl",
        &[],
    );
    assert_eq!(record["messages"], json("[]"));
    assert!(record["session"]["extensions"]["original"]["files"][0]["path"].is_string());
}

#[test]
fn forks_of_a_source_without_ids_get_ids_that_stay_the_same() {
    let w = World::new();
    let rolled = std::fs::read_dir(fixture("codex")).unwrap();
    let mut seen = 0;
    for version in rolled.filter_map(Result::ok).filter(|e| e.path().is_dir()) {
        let mut folders = vec![version.path()];
        while let Some(at) = folders.pop() {
            for entry in std::fs::read_dir(&at).unwrap().filter_map(Result::ok) {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let args = ["export", "-o", "-", path.to_str().unwrap()];
                let first = w.run(&args);
                let Some(record) = first.out.lines().nth(1).map(parsed) else {
                    continue;
                };
                if record["graph"].is_object() {
                    seen += 1;
                    let all = record["messages"].as_array().unwrap();
                    assert!(all.iter().all(|m| m["uuid"].is_string()), "{record}");
                    assert_eq!(first.out, w.run(&args).out);
                }
            }
        }
    }
    assert!(seen > 0, "no fixture of Codex forks");
}

#[test]
fn items_of_codex_keep_their_ids_where_they_have_some() {
    for (name, at_least) in [
        (
            "codex/0.166/forks/sessions/2026/11/15/rollout-2026-11-15T09-00-00-01a1e075-346b-7c10-a10e-000000000006.jsonl",
            3,
        ),
        (
            "codex/0.140/everything/sessions/2026/06/17/rollout-2026-06-17T09-00-00-019ed50c-2fb3-7002-a384-000000000001.jsonl",
            1,
        ),
    ] {
        let record = session_of(name, &["--lean"]);
        let text = std::fs::read_to_string(fixture(name)).unwrap();
        let lines = text.lines().filter_map(|l| serde_json::from_str(l).ok());
        let ids: Vec<Value> = lines.map(|l: Value| l["payload"]["id"].clone()).collect();
        let messages = record["messages"].as_array().unwrap();
        let named: Vec<&Value> = messages.iter().filter_map(|m| m.get("uuid")).collect();
        assert!(named.len() >= at_least, "{record}");
        for uuid in named {
            let first = uuid.as_str().unwrap().trim_end_matches("-results");
            assert!(ids.iter().any(|id| id == first), "{uuid} in {ids:?}");
        }
    }
}
