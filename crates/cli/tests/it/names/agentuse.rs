//! The same names for sessions of AgentUse, whose files name each other.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use super::{Place, names_in};
use crate::every_call::is_there;
use crate::world::tree;

/// Where sessions outside of git are.
fn sessions(p: &Place) -> PathBuf {
    p.sessions().join("project/global/session")
}

#[test]
fn as_the_id_of_a_new_session() {
    if !is_there("strace") {
        return;
    }
    let p = Place::new();
    let args = ["new", "--format", "agentuse", "--id={}"];
    let some: Vec<&str> = p.arguments().into_iter().step_by(2).collect();
    let asked = p.traced(&args, Some(&some), "");
    p.check_written(&asked);
    p.check_secrets(&asked);
    assert!(names_in(&sessions(&p)).is_empty(), "none of them is a ULID");
}

#[test]
fn as_the_agent_of_a_new_session() {
    if !is_there("strace") {
        return;
    }
    let p = Place::new();
    let args = ["new", "--format", "agentuse", "--agent-name={}"];
    let some: Vec<&str> = p.arguments().into_iter().step_by(3).collect();
    let asked = p.traced(&args, Some(&some), "");
    p.check_written(&asked);
    p.check_secrets(&asked);
    let made = names_in(&sessions(&p));
    assert!(made.len() > 100, "{}", made.len());
    for name in made {
        let (id, agent) = name.split_at(27);
        assert!(id.ends_with('-'), "{name}");
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
        assert!(!agent.is_empty() && agent.chars().all(is_plain), "{name}");
        assert_eq!(
            names_in(&sessions(&p).join(&name))
                .into_iter()
                .collect::<Vec<_>>(),
            ["session.json"]
        );
    }
}

/// A session that has this for every name in it, and a file of that name where it must not be
/// looked for.
fn session(p: &Place, number: usize, name: &str) -> PathBuf {
    let folder = sessions(p).join(format!("01KA3J1000S{number:015}-a"));
    let message = folder.join(format!("01KA3J1000M{number:015}"));
    let part = format!("01KA3J1000P{number:015}.json");
    fs::create_dir_all(message.join("part")).unwrap();
    fs::create_dir_all(message.join("artifact")).unwrap();
    let put = |path: PathBuf, value: &serde_json::Value| {
        fs::write(path, serde_json::to_string_pretty(value).unwrap()).unwrap();
    };
    put(
        folder.join("session.json"),
        &json!({
            "parentSessionID": name,
            "agent": { "id": name, "name": name, "filePath": name, "isSubAgent": false },
            "model": name, "version": name, "config": { "subagents": [{ "path": name }] },
            "project": { "root": name, "cwd": name }, "id": name, "status": name,
            "time": { "created": 1_763_200_000_000_u64, "updated": 1_763_200_000_000_u64 },
        }),
    );
    put(
        message.join("message.json"),
        &json!({
            "id": name, "sessionID": name, "time": { "created": 1_763_200_000_000_u64 },
            "user": { "prompt": { "task": name } },
            "assistant": { "system": [], "modelID": name, "providerID": name, "mode": name,
                           "path": { "cwd": name, "root": name }, "cost": 0,
                           "tokens": { "input": 0, "output": 0, "reasoning": 0,
                                       "cache": { "read": 0, "write": 0 } } },
        }),
    );
    put(
        message.join("part").join(part),
        &json!({
            "type": "tool", "callID": name, "tool": name,
            "state": { "status": "completed", "input": { "path": name },
                       "output": { "artifact": { "path": name, "absolutePath": name, "bytes": 8 } },
                       "metadata": { "sessionID": name },
                       "time": { "start": 1, "end": 2 } },
            "id": name, "sessionID": name, "messageID": name,
        }),
    );
    folder
}

#[test]
fn as_whatever_a_session_and_its_parts_name() {
    if !is_there("strace") {
        return;
    }
    let p = Place::new();
    let folders: Vec<String> = p
        .names
        .iter()
        .enumerate()
        .map(|(i, name)| session(&p, i, name).to_str().unwrap().to_owned())
        .collect();
    let before = tree(&p.sessions());
    let store = p.sessions().to_str().unwrap().to_owned();
    for args in [
        &["list"][..],
        &["list", "--json", "--subagents"],
        &["list", "--sort", "tokens"],
        &["check", &store],
    ] {
        let mut asked = p.traced(args, None, "");
        p.check_written(&asked);
        // Projects that sessions name are looked for, but only a folder is one.
        asked.retain(|a| a.opens);
        p.check_secrets(&asked);
    }
    let every = |nth: usize| -> Vec<&str> {
        let all = folders.iter().map(String::as_str);
        all.skip(nth).step_by(10).collect()
    };
    for (i, args) in [
        &["show", "{}"][..],
        &["show", "{}", "--json"],
        &["tree", "{}"],
    ]
    .iter()
    .enumerate()
    {
        let asked = p.traced(args, Some(&every(i)), "");
        p.check_written(&asked);
        p.check_secrets(&asked);
    }
    assert!(tree(&p.sessions()) == before, "reading writes nothing");
    for (i, args) in [
        &["append", "{}", "text"][..],
        &["new", "--format", "agentuse", "--parent", "{}"],
    ]
    .iter()
    .enumerate()
    {
        let asked = p.traced(args, Some(&every(3 + i)), "");
        p.check_written(&asked);
        p.check_secrets(&asked);
    }
    assert!(tree(&p.sessions()).len() > before.len(), "some was written");
}
