//! Values of an export, compared with those of the source.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use rethread_judges::corpus;
use rethread_model::Moment;
use serde_json::Value;

use super::round_trip::{FORMATS_WITH_FILES, Sources};
use super::{fixture, parsed};
use crate::world::{World, json};

/// The sessions of an export of one path.
fn exported(w: &World, path: &Path, more: &[&str]) -> Vec<Value> {
    let args = [&["export", "-o", "-", path.to_str().unwrap()], more].concat();
    let answer = w.run(&args);
    // Some files are no sessions, and of some nothing can be read.
    assert!([0, 1, 3].contains(&answer.code), "{args:?}: {answer:?}");
    answer.out.lines().skip(1).map(parsed).collect()
}

/// Where conversations are: our own, and real ones where they are at hand.
fn folders(format: &str) -> Vec<PathBuf> {
    let real = corpus().map(|corpus| corpus.join(format));
    let all = [Some(fixture(format)), real].into_iter().flatten();
    all.filter(|folder| folder.is_dir()).collect()
}

/// The files with this ending at or below the folders of a format.
fn files(format: &str, ending: &str) -> Vec<PathBuf> {
    let mut left = folders(format);
    let mut found = Vec::new();
    while let Some(path) = left.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).unwrap();
            left.extend(entries.map(|e| e.unwrap().path()));
        } else if path.extension().is_some_and(|e| e == ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The records of a transcript, by their ids. Damaged lines are looked at elsewhere.
fn records(path: &Path) -> BTreeMap<String, Value> {
    let text = String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
    let lines = text.lines().filter_map(|l| serde_json::from_str(l).ok());
    let named = lines.filter_map(|l: Value| Some((l["uuid"].as_str()?.to_owned(), l)));
    named.collect()
}

fn moment(value: &Value) -> Option<Moment> {
    value.as_str()?.parse().ok()
}

/// What a record says that is a message, and where it says so.
fn assert_claude_message(message: &Value, record: &Value, place: &str) {
    let metadata = &message["metadata"];
    assert_eq!(
        moment(&message["timestamp"]),
        moment(&record["timestamp"]),
        "{place}"
    );
    for (ours, theirs) in [
        ("cwd", "cwd"),
        ("git_branch", "gitBranch"),
        ("agent_version", "version"),
        ("user_type", "userType"),
    ] {
        // What a record leaves out, the session says.
        if record[theirs].as_str().is_some_and(|text| !text.is_empty()) {
            assert_eq!(metadata[ours], record[theirs], "{place}: {ours}");
        }
    }
    if record["isMeta"] == true && record.get("toolUseResult").is_none() {
        assert_eq!(metadata["is_meta"], true, "{place}");
    }
    let said = &record["message"];
    let blocks = message["content"].as_array().unwrap();
    let of = |kind: &str| -> Vec<&Value> {
        let is_kind = |b: &&Value| b["type"] == kind;
        let theirs = said["content"].as_array().into_iter().flatten();
        theirs.filter(is_kind).collect()
    };
    let calls: Vec<&Value> = blocks.iter().filter(|b| b["type"] == "tool_use").collect();
    assert_eq!(calls.len(), of("tool_use").len(), "{place}");
    for (call, theirs) in calls.iter().zip(of("tool_use")) {
        // A call without an id has an empty one.
        let id = theirs["id"].as_str().unwrap_or_default();
        assert_eq!(call["tool_id"], id, "{place}");
        assert_eq!(call["tool_name"], theirs["name"], "{place}");
        assert_eq!(call["input"], theirs["input"], "{place}");
    }
    let results: Vec<&Value> = blocks
        .iter()
        .filter(|b| b["type"] == "tool_result")
        .collect();
    for (result, theirs) in results.iter().zip(of("tool_result")) {
        assert_eq!(
            result["tool_id"],
            *theirs.get("tool_use_id").unwrap_or(&"".into()),
            "{place}"
        );
        assert_eq!(result["is_error"], theirs["is_error"] == true, "{place}");
        if theirs["content"].is_string() {
            assert_eq!(result["output"], theirs["content"], "{place}");
        }
    }
    if message["role"] == "assistant" {
        let model = &metadata["model"];
        if said["model"] != "<synthetic>" {
            assert_eq!(model["name"], said["model"], "{place}");
        }
        for key in ["stop_reason", "stop_sequence"] {
            assert_eq!(model[key], said[key], "{place}: {key}");
        }
        let id = record.get("requestId").unwrap_or(&Value::Null);
        assert_eq!(metadata["request_id"], *id, "{place}");
        let texts: Vec<&Value> = blocks.iter().filter(|b| b["type"] == "text").collect();
        // A text may stand alone, and not in a list.
        let theirs: Vec<&Value> = match &said["content"] {
            alone @ Value::String(_) => vec![alone],
            _ => of("text").into_iter().map(|b| &b["text"]).collect(),
        };
        let ours: Vec<&Value> = texts.iter().map(|b| &b["text"]).collect();
        assert_eq!(ours, theirs, "{place}");
    }
}

/// Ids that are there twice say nothing.
fn unique(record: &Value) -> BTreeSet<&str> {
    let mut seen = BTreeMap::new();
    for message in record["messages"].as_array().unwrap() {
        if let Some(id) = message["uuid"].as_str() {
            *seen.entry(id).or_insert(0) += 1;
        }
    }
    let once = seen.into_iter().filter(|(_, n)| *n == 1);
    once.map(|(id, _)| id).collect()
}

#[test]
fn values_of_claude_are_those_of_its_records() {
    let w = World::new();
    let mut compared = 0;
    for path in files("claude-code", "jsonl") {
        let theirs = records(&path);
        for session in exported(&w, &path, &["--lean"]) {
            let there = unique(&session);
            for message in session["messages"].as_array().unwrap() {
                let id = message["uuid"].as_str().unwrap_or_default();
                let record = theirs.get(id).filter(|_| there.contains(id));
                let is_said = |r: &&Value| {
                    (r["type"] == "user" || r["type"] == "assistant")
                        && r["isCompactSummary"] != true
                        && r["uuid"] != "[trimmed for fixture]"
                };
                if let Some(record) = record.filter(is_said) {
                    compared += 1;
                    assert_claude_message(message, record, &format!("{}#{id}", path.display()));
                }
            }
        }
    }
    assert!(compared > 50, "{compared}");
}

#[test]
fn parents_of_claude_are_those_of_its_records() {
    let w = World::new();
    let mut parallel = 0;
    for path in files("claude-code", "jsonl") {
        let theirs = records(&path);
        for more in [&["--lean"][..], &[]] {
            for session in exported(&w, &path, more) {
                let there = unique(&session);
                for message in session["messages"].as_array().unwrap() {
                    let id = message["uuid"].as_str().unwrap_or_default();
                    let Some(record) = theirs.get(id).filter(|_| there.contains(id)) else {
                        continue;
                    };
                    let parent = record["parentUuid"].as_str();
                    // A record that names itself has no parent.
                    if let Some(parent) = parent.filter(|p| there.contains(p) && *p != id) {
                        let place = format!("{}#{id}", path.display());
                        assert_eq!(message["parent_uuid"], parent, "{place}");
                    }
                }
                let parents = session["messages"].as_array().unwrap().iter();
                let parents: Vec<&Value> = parents.map(|m| &m["parent_uuid"]).collect();
                let all: BTreeSet<String> = parents.iter().map(ToString::to_string).collect();
                parallel += parents.len() - all.len();
            }
        }
    }
    assert!(parallel > 0, "no results of parallel calls");
}

#[test]
fn results_of_parallel_calls_are_one_thread_when_they_are_read_again() {
    let w = World::new();
    let path = fixture("claude-code/2.1/everything/a1b2c3d4-0000-4000-8000-00000000aaaa.jsonl");
    let path = path.to_str().unwrap();
    let ids = |name: &str| -> Vec<String> {
        let shown = json(&w.ok(&["show", name, "--json"]));
        let all = shown["messages"].as_array().unwrap().iter();
        let results = all.filter(|m| m["content"][0]["type"] == "tool_result");
        results.map(|m| m["uuid"].to_string()).collect()
    };
    for more in [&[][..], &["--lean"]] {
        w.ok(&[&["export", path, "-o", "a.ndjson", "--force"], more].concat());
        assert_eq!(ids("a.ndjson"), ids(path), "{more:?}");
        let session = parsed(
            fs::read_to_string(w.project.join("a.ndjson"))
                .unwrap()
                .lines()
                .nth(1)
                .unwrap(),
        );
        assert_eq!(session.get("graph"), None, "parallel calls are no fork");
    }
}

#[test]
fn a_sub_agent_is_named_by_its_agent_id() {
    let w = World::new();
    let from = fixture("claude-code/2.1/everything");
    crate::world::copy(&from, &w.home.join(".claude/projects/-srv-shop"));
    let listed = w.run(&["list", "--subagents", "--hidden", "--json"]);
    let listed: Vec<Value> = listed.out.lines().map(json).collect();
    let all = w.ok(&["export", "--aw", "-o", "-"]);
    let mut agents = 0;
    for session in all.lines().skip(1).map(parsed) {
        let session = &session["session"];
        if session["is_agent_session"] != true {
            assert_eq!(session["agent_id"], Value::Null);
            continue;
        }
        agents += 1;
        let path = session["source"]["path"].as_str().unwrap();
        let first = fs::read_to_string(path).unwrap();
        let record = json(first.lines().next().unwrap());
        assert_eq!(session["agent_id"], record["agentId"], "{session}");
        assert_eq!(session["parent_session_id"], record["sessionId"]);
        let same = listed.iter().find(|s| s["id"] == session["id"]).unwrap();
        assert_eq!(same["agent_id"], record["agentId"]);
    }
    assert!(agents > 0);
}

/// When the messages of a session were written: the first and the last.
fn said(session: &Value) -> Option<(Moment, Moment)> {
    let messages = session["messages"].as_array().unwrap().iter();
    let times: Vec<Moment> = messages
        .filter_map(|m| moment(&m["timestamp"]))
        .filter(|t| t.millis() > 0)
        .collect();
    Some((*times.iter().min()?, *times.iter().max()?))
}

fn is_in_order(session: &Value) -> bool {
    let messages = session["messages"].as_array().unwrap().iter();
    messages.filter_map(|m| moment(&m["timestamp"])).is_sorted()
}

#[test]
fn a_session_begins_with_its_first_message_and_ends_with_its_last() {
    let w = World::new();
    let mut compared = 0;
    for format in FORMATS_WITH_FILES {
        for path in folders(format).iter().flat_map(|f| Sources::below(f).names) {
            let name = path.to_str().unwrap();
            let listed = w.run(&["list", name, "--json", "--hidden", "--subagents"]);
            let listed: Vec<Value> = listed.out.lines().map(json).collect();
            for (session, is_lean) in
                [(&[][..], false), (&["--lean"], true)]
                    .iter()
                    .flat_map(|(more, lean)| {
                        exported(&w, &path, more)
                            .into_iter()
                            .zip([*lean].into_iter().cycle())
                    })
            {
                let Some((first, last)) = said(&session) else {
                    continue;
                };
                compared += 1;
                let head = &session["session"];
                let times = (moment(&head["started_at"]), moment(&head["ended_at"]));
                // Where times go back, a log of Claude Code begins with what stands first in it.
                let mut all = session["messages"].as_array().unwrap().iter();
                let stands_first = all.find_map(|m| moment(&m["timestamp"]));
                let first = match format {
                    "claude-code" => stands_first,
                    _ => Some(first),
                };
                assert_eq!(times, (first, Some(last)), "{name}");
                let is_same = |s: &&Value| s["id"] == head["id"] && s["source"] == head["source"];
                let same = listed.iter().find(is_same);
                // A list does not look at all times, so of a file in which they go back it may
                // say otherwise; of ATSF and AgentUse it reads descriptions alone.
                let has_description = ["atsf", "agentuse"].contains(&format);
                let is_told = !is_lean && is_in_order(&session) && !has_description;
                if let Some(same) = same.filter(|_| is_told) {
                    let told = (moment(&same["started_at"]), moment(&same["ended_at"]));
                    assert_eq!(told, times, "list {name}");
                }
            }
        }
    }
    assert!(compared > 60, "{compared}");
}

#[test]
fn what_stands_beside_messages_is_no_beginning_and_no_end() {
    let w = World::new();
    let file = w.project.join("a1b2c3d4-0000-4000-8000-0000000000f1.jsonl");
    let record = |kind: &str, id: u32, parent: &str, second: u32, rest: &str| {
        format!(
            r#"{{"parentUuid":{parent},"isSidechain":false,"cwd":"/srv","sessionId":"a1b2c3d4-0000-4000-8000-0000000000f1","version":"2.1.0","type":"{kind}","uuid":"a1b2c3d4-0000-4000-8000-00000000000{id}","timestamp":"2026-03-01T10:00:0{second}.000Z",{rest}}}"#
        )
    };
    let up = |id: u32| format!(r#""a1b2c3d4-0000-4000-8000-00000000000{id}""#);
    let lines = [
        r#"{"type":"queue-operation","operation":"enqueue","timestamp":"2026-03-01T10:00:00.000Z","sessionId":"a1b2c3d4-0000-4000-8000-0000000000f1"}"#.to_owned(),
        record("system", 1, "null", 1, r#""subtype":"informational","content":"hook","level":"info""#),
        record("user", 2, &up(1), 3, r#""message":{"role":"user","content":"Hi"}"#),
        record("assistant", 3, &up(2), 5, r#""message":{"id":"m","role":"assistant","model":"x","content":[{"type":"text","text":"Yes"}]}"#),
        record("system", 4, &up(3), 9, r#""subtype":"stop_hook_summary","content":"done","level":"info""#),
    ];
    fs::write(&file, lines.join("\n") + "\n").unwrap();
    let name = file.to_str().unwrap();
    for line in [
        w.ok(&["list", name, "--json"]),
        json(&w.ok(&["show", name, "--json"]))["session"].to_string(),
        exported(&w, &file, &[])[0]["session"].to_string(),
    ] {
        let session = json(line.trim());
        assert_eq!(session["started_at"], "2026-03-01T10:00:03.000Z");
        assert_eq!(session["ended_at"], "2026-03-01T10:00:05.000Z");
    }
}

#[test]
fn summaries_of_compactions_stay_in_lean_exports() {
    let w = World::new();
    let name = "claude-code/2.1/compaction/b1b2c3d4-0000-4000-8000-00000000cccc.jsonl";
    let theirs = records(&fixture(name));
    let lean = &exported(&w, &fixture(name), &["--lean"])[0];
    let messages = lean["messages"].as_array().unwrap();
    let mut found = 0;
    for (id, record) in theirs.iter().filter(|(_, r)| r["isCompactSummary"] == true) {
        found += 1;
        let message = messages.iter().find(|m| m["uuid"] == id.as_str());
        let message = message.unwrap_or_else(|| panic!("{id} is gone"));
        assert_eq!(message["role"], "user");
        assert_eq!(message["metadata"]["is_meta"], true);
        let said = &record["message"]["content"];
        assert_eq!(message["content"][0]["text"], *said);
    }
    assert!(found > 0);
    assert!(!lean.to_string().contains("extensions"));
    // Those of pi, too.
    let pi = "pi/3/everything/2026-11-15T17-50-28-602Z_01a1e054-fcf9-71e6-a3da-f0135322e25c.jsonl";
    let text = fs::read_to_string(fixture(pi)).unwrap();
    let lean = exported(&w, &fixture(pi), &["--lean"])[0].to_string();
    let lines = text
        .lines()
        .filter_map(|l| serde_json::from_str::<Value>(l).ok());
    for line in lines.filter(|l| l["type"] == "compaction") {
        assert!(lean.contains(&line["summary"].to_string()), "{line}");
    }
    // A full export made lean says the same as the session made lean.
    for name in [name, pi] {
        let path = fixture(name);
        let args = [
            "export",
            path.to_str().unwrap(),
            "-o",
            "full.ndjson",
            "--force",
        ];
        w.ok(&args);
        let said = |path: &Path| {
            let session = &exported(&w, path, &["--lean"])[0];
            let all = session["messages"].as_array().unwrap().iter();
            all.map(|m| (m["role"].clone(), m["content"].clone()))
                .collect::<Vec<_>>()
        };
        let again = said(&w.project.join("full.ndjson"));
        assert_eq!(again, said(&path), "{name}");
    }
}

#[test]
fn values_of_codex_are_those_of_its_items() {
    let w = World::new();
    let mut compared = 0;
    for path in files("codex", "jsonl") {
        let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
        let lines: Vec<Value> = text
            .lines()
            .filter_map(|l| serde_json::from_str(l).ok())
            .collect();
        let Some(meta) = lines.iter().find(|l| l["type"] == "session_meta") else {
            continue;
        };
        for session in exported(&w, &path, &["--lean", "--no-subagents"]) {
            assert_eq!(session["session"]["id"], meta["payload"]["id"]);
            let all = session["messages"].as_array().unwrap();
            let is_named = |id: &str| {
                let all = lines.iter().filter(|l| l["payload"]["id"] == id);
                all.count() == 1
            };
            for item in lines.iter().map(|l| &l["payload"]) {
                let id = item["id"].as_str().filter(|_| item["type"] == "message");
                let Some(id) = id.filter(|id| is_named(id)) else {
                    continue;
                };
                let Some(message) = all.iter().find(|m| m["uuid"] == id) else {
                    continue;
                };
                compared += 1;
                let role = match item["role"].as_str().unwrap() {
                    "developer" => "system",
                    role => role,
                };
                assert_eq!(message["role"], role, "{}", path.display());
                for part in item["content"].as_array().unwrap() {
                    let texts = message["content"].as_array().unwrap().iter();
                    let is_same = |b: &Value| b["text"] == part["text"];
                    let is_there = texts.clone().any(is_same);
                    assert!(
                        part.get("text").is_none()
                            || is_there
                            || message["metadata"]["is_meta"] == true,
                        "{}: {part}",
                        path.display()
                    );
                }
            }
        }
    }
    assert!(compared > 0);
}

#[test]
fn values_of_gemini_are_those_of_its_messages() {
    let w = World::new();
    let mut compared = 0;
    for path in files("gemini", "json") {
        let Ok(document) = serde_json::from_slice::<Value>(&fs::read(&path).unwrap()) else {
            continue;
        };
        let Some(theirs) = document["messages"].as_array() else {
            continue;
        };
        let all = exported(&w, &path, &["--lean", "--no-subagents"]);
        let Some(session) = all.first().filter(|s| s["session"]["agent"] == "gemini") else {
            continue;
        };
        assert_eq!(session["session"]["id"], document["sessionId"]);
        for message in session["messages"].as_array().unwrap() {
            let Some(own) = theirs.iter().find(|m| m["id"] == message["uuid"]) else {
                continue;
            };
            compared += 1;
            assert_eq!(moment(&message["timestamp"]), moment(&own["timestamp"]));
            let role = match own["type"].as_str().unwrap() {
                "user" => "user",
                "gemini" | "model" | "assistant" => "assistant",
                _ => "system",
            };
            assert_eq!(message["role"], role, "{message}");
            if role == "assistant" {
                let name = &message["metadata"]["model"]["name"];
                assert_eq!(*name, *own.get("model").unwrap_or(&Value::Null));
                let calls = own["toolCalls"].as_array().map_or(0, Vec::len);
                let blocks = message["content"].as_array().unwrap().iter();
                assert_eq!(blocks.filter(|b| b["type"] == "tool_use").count(), calls);
            }
        }
    }
    assert!(compared > 0);
}
