//! Sessions measured against their document.

use std::fs;
use std::path::PathBuf;

use insta::assert_snapshot;

use super::{CODER, LATER, PLANNER, TESTER, data, fixtures, folder, sessions, world};
use crate::world::{World, json};

/// The rules that one change of a file breaks.
fn broken(w: &World, path: &PathBuf, from: &str, to: &str) -> String {
    let original = fs::read_to_string(path).unwrap();
    assert!(original.contains(from), "{from} in {original}");
    fs::write(path, original.replacen(from, to, 1)).unwrap();
    let answer = w.run(&["check", path.to_str().unwrap(), "--json"]);
    fs::write(path, original).unwrap();
    let violation = |line: &str| {
        let v = json(line);
        let place = v["line"]
            .as_u64()
            .map_or(String::new(), |n| format!(":{n}"));
        let word = |key: &str| v[key].as_str().unwrap().to_owned();
        format!(
            "{}{place} [{}] {} ({})",
            word("level"),
            word("rule"),
            word("message"),
            word("section")
        )
    };
    let all: Vec<String> = answer.out.lines().map(violation).collect();
    let code = answer.code;
    assert_eq!(
        code,
        i32::from(all.iter().any(|v| v.starts_with("error"))),
        "{all:?}"
    );
    all.join("\n")
}

#[test]
fn sessions_of_the_document_and_of_later_programs_are_right() {
    for case in ["document/full", "document/minimal"] {
        let w = world(&[case]);
        let answer = w.run(&["check", data(&w).to_str().unwrap(), "--strict"]);
        assert_eq!(answer.code, 0, "{case}: {answer:?}");
    }
    let w = world(&["0.30/everything"]);
    let answer = w.run(&["check", data(&w).to_str().unwrap()]);
    assert_eq!(answer.code, 0, "{answer:?}");
    assert_snapshot!(w.plain(&answer.out), @"[ROOT]/home/.local/share/agentuse/project/6b9af143446a411a/session/01KA3J1000S000000000000005-social-quotes-1-create/01KA3J1000M000000000000005/part/01KA3J1000P000000000000035.json:2: warning[part-type]: `hologram` is no type of part; it is kept (Part Types)");
}

#[test]
fn every_damage_is_named() {
    let w = world(&["0.30/damaged"]);
    let answer = w.run(&["check", data(&w).to_str().unwrap()]);
    assert_eq!(answer.code, 1);
    let root = data(&w).join("project/global/session/");
    let out = answer.out.replace(root.to_str().unwrap(), "");
    assert_snapshot!(out, @r"
    01KA3J1000S000000000000008-broken/01KA3J1000M000000000000009/part/01KA3J1000P000000000000043.json:3: error[json]: not JSON: unexpected end, at column 17 (Parts)
    01KA3J1000S000000000000008-broken/01KA3J1000M000000000000009/part/01KA3J1000P000000000000044.json:1: error[json]: not a JSON object (Parts)
    01KA3J1000S000000000000008-broken/01KA3J1000M000000000000010/message.json:1: error[json]: not JSON: unexpected end, at column 1 (Message)
    01KA3J1000S000000000000008-broken/01KA3J1000M000000000000011/message.json: error[message-missing]: a folder of parts without their message (Directory Structure)
    01KA3J1000S000000000000009-lost-name/session.json:1: error[json]: not JSON: unexpected end, at column 11 (SessionInfo)
    01KA3J1000S000000000000010-no-description/session.json: error[description-missing]: a session without its description (Directory Structure)
    ");
}

#[test]
fn ids_fit_names_and_nesting() {
    let w = world(&["document/full"]);
    let session = folder(&data(&w), PLANNER);
    let coder = folder(&data(&w), CODER);
    let file = |name: &str| session.join(name);
    let message = "01KA3J1000M000000000000001";
    let found = [
        broken(
            &w,
            &file("session.json"),
            PLANNER,
            "01KA3J1000S000000000000009",
        ),
        broken(&w, &file("session.json"), PLANNER, "short"),
        broken(
            &w,
            &file("session.json"),
            "\"isSubAgent\": false",
            "\"isSubAgent\": true",
        ),
        broken(
            &w,
            &file("session.json"),
            "\"agent\": {",
            "\"parentSessionID\": \"x\",\n  \"agent\": {",
        ),
        broken(&w, &file("session.json"), "Daily Planner", "Somebody"),
        broken(
            &w,
            &file("session.json"),
            "\"root\": \"/srv/proj\"",
            "\"root\": \"/srv/other\"",
        ),
        broken(
            &w,
            &coder.join("session.json"),
            PLANNER,
            "01KA3J1000S000000000000009",
        ),
        broken(
            &w,
            &coder.join("session.json"),
            "\"parentSessionID\"",
            "\"other\"",
        ),
        broken(
            &w,
            &coder.join("session.json"),
            "\"isSubAgent\": true",
            "\"isSubAgent\": false",
        ),
        broken(&w, &file(&format!("{message}/message.json")), PLANNER, "x"),
        broken(&w, &file(&format!("{message}/message.json")), message, "x"),
        broken(
            &w,
            &file(&format!("{message}/part/01KA3J1000P000000000000003.json")),
            PLANNER,
            "x",
        ),
        broken(
            &w,
            &file(&format!("{message}/part/01KA3J1000P000000000000003.json")),
            message,
            "x",
        ),
        broken(
            &w,
            &file(&format!("{message}/part/01KA3J1000P000000000000003.json")),
            "01KA3J1000P000000000000003",
            "01KA3J1000P000000000000004",
        ),
    ];
    assert_snapshot!(found.join("\n"), @r"
    error:31 [folder-name] `id` is `01KA3J1000S000000000000009`, but the folder is named `01KA3J1000S000000000000001` (Path Components)
    error:31 [folder-name] `id` is `short`, but the folder is named `01KA3J1000S000000000000001` (Path Components)
    error:31 [ulid] `id` is `short`, not a ULID (Path Components)
    error:6 [is-sub-agent] `agent.isSubAgent` is `true`, but it is nested in no session (Subagent Sessions)
    error:2 [parent-session] `parentSessionID` is there, but it is nested in no session (Subagent Sessions)
    error:3 [agent-name] the folder's name ends in `daily-planner`, but the agent is `Somebody` (Path Components)
    warning:28 [project-key] the project's folder is named `6b9af143446a411a`, which does not fit `project.root` `/srv/other` (Path Components)
    error:2 [parent-session] `parentSessionID` is `01KA3J1000S000000000000009`, but it is nested in `01KA3J1000S000000000000001` (Subagent Sessions)
    error:1 [parent-session] `parentSessionID` is missing; it is nested in `01KA3J1000S000000000000001` (Subagent Sessions)
    error:7 [is-sub-agent] `agent.isSubAgent` is `false`, but it is nested in a session (Subagent Sessions)
    error:3 [session-id] `sessionID` is `x`, but it lies in the session `01KA3J1000S000000000000001` (Message)
    error:2 [folder-name] `id` is `x`, but the folder is named `01KA3J1000M000000000000001` (Path Components)
    error:2 [ulid] `id` is `x`, not a ULID (Path Components)
    error:10 [session-id] `sessionID` is `x`, but it lies in the session `01KA3J1000S000000000000001` (Base Fields)
    error:11 [message-id] `messageID` is `x`, but it lies in the message `01KA3J1000M000000000000001` (Base Fields)
    error:9 [folder-name] `id` is `01KA3J1000P000000000000004`, but the file is named `01KA3J1000P000000000000003` (Path Components)
    ");
}

#[test]
fn each_state_of_a_tool_has_its_fields() {
    let w = world(&["document/full"]);
    let session = folder(&data(&w), PLANNER);
    let part = |n: u8| {
        session.join(format!(
            "01KA3J1000M000000000000001/part/01KA3J1000P00000000000000{n}.json"
        ))
    };
    let found = [
        broken(&w, &part(4), "\"input\"", "\"other\""),
        broken(&w, &part(4), "\"output\"", "\"other\""),
        broken(&w, &part(4), "\"end\"", "\"other\""),
        broken(&w, &part(4), "\"completed\"", "\"finished\""),
        broken(&w, &part(5), "\"error\": \"no such file\"", "\"error\": 7"),
        broken(&w, &part(6), "\"start\"", "\"other\""),
        broken(&w, &part(6), "\"callID\"", "\"other\""),
        broken(&w, &part(7), "\"status\"", "\"other\""),
        broken(
            &w,
            &part(9),
            "\"type\": \"file\",\n    \"path\"",
            "\"type\": \"url\",\n    \"path\"",
        ),
    ];
    assert_snapshot!(found.join("\n"), @r"
    error:5 [required-field] `state.input` is missing (ToolPart)
    error:5 [required-field] `state.output` is missing (ToolPart)
    error:15 [required-field] `state.time.end` is missing (ToolPart)
    error:6 [tool-status] `state.status` is `finished`, not `pending`, `running`, `completed` or `error` (ToolPart)
    error:10 [field-type] `state.error` is a number, not a string (ToolPart)
    error:14 [required-field] `state.time.start` is missing (ToolPart)
    error:1 [required-field] `callID` is missing (ToolPart)
    error:5 [required-field] `state.status` is missing (ToolPart)
    error:7 [source-type] `source.type` is `url`, not one of `file`, `symbol` (FilePart)
    ");
}

/// The value at a path of keys, in an object that is to be changed.
fn without(value: &serde_json::Value, path: &[String]) -> Option<serde_json::Value> {
    let mut changed = value.clone();
    let (last, way) = path.split_last()?;
    let mut at = &mut changed;
    for key in way {
        at = at.get_mut(key)?;
    }
    at.as_object_mut()?.remove(last)?;
    Some(changed)
}

fn paths(value: &serde_json::Value) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut waiting = vec![(Vec::new(), value)];
    while let Some((path, value)) = waiting.pop() {
        for (key, inner) in value.as_object().into_iter().flatten() {
            let mut inner_path: Vec<String> = path.clone();
            inner_path.push(key.clone());
            found.push(inner_path.clone());
            waiting.push((inner_path, inner));
        }
    }
    found
}

#[test]
fn a_field_that_is_left_out_is_an_error_exactly_where_the_document_requires_it() {
    // What the document, or a later program, marks as optional.
    let optional = [
        "parentSessionID",
        "agent.filePath",
        "agent.description",
        "config.timeout",
        "config.maxSteps",
        "config.mcpServers",
        "config.subagents",
        "time.completed",
        "user.prompt.user",
        "assistant.error",
        "assistant.error.type",
        "assistant.error.stack",
        "synthetic",
        "time",
        "time.end",
        "metadata",
        "state.title",
        "state.metadata",
        "filename",
        "source",
        "source.text",
    ];
    let free = [
        "state.input.",
        "state.output.",
        "state.metadata.",
        "metadata.",
    ];
    let w = world(&["document/full"]);
    let mut count = 0;
    for (path, bytes) in crate::world::tree(&folder(&data(&w), PLANNER)) {
        let inner = path.strip_prefix(folder(&data(&w), PLANNER)).unwrap();
        if inner.starts_with("subagent") {
            continue;
        }
        let value = json(std::str::from_utf8(&bytes).unwrap());
        for field in paths(&value) {
            let name = field.join(".");
            if free.iter().any(|f| name.starts_with(f)) {
                continue;
            }
            let changed = without(&value, &field).unwrap();
            fs::write(&path, serde_json::to_string_pretty(&changed).unwrap()).unwrap();
            let answer = w.run(&["check", path.to_str().unwrap()]);
            let is_text = value["type"] == "text";
            let may_lack = is_text || name != "time";
            let is_optional = may_lack && optional.contains(&name.as_str());
            assert_eq!(
                answer.code,
                i32::from(!is_optional),
                "{name} of {}: {answer:?}",
                inner.display()
            );
            count += 1;
        }
        fs::write(&path, &bytes).unwrap();
    }
    assert!(count > 80, "{count}");
}

#[test]
fn the_key_of_a_project_that_is_here_must_be_that_of_its_repository() {
    let w = World::with_git();
    let out = w.ok(&["new", "--format", "agentuse", "--json"]);
    let path = PathBuf::from(json(&out)["path"].as_str().unwrap());
    assert_eq!(
        w.run(&["check", path.to_str().unwrap(), "--strict"]).code,
        0
    );
    let wrong = data(&w).join("project/0123456789abcdef/session");
    fs::create_dir_all(&wrong).unwrap();
    let moved = wrong.join(path.file_name().unwrap());
    fs::rename(&path, &moved).unwrap();
    let answer = w.run(&["check", moved.to_str().unwrap()]);
    assert_eq!(answer.code, 1);
    assert!(answer.out.contains("error[project-key]"), "{}", answer.out);
}

#[test]
fn artifacts_must_be_there_and_as_long_as_their_call_says() {
    let w = world(&["0.30/everything"]);
    let session = folder(&data(&w), LATER);
    let files = crate::world::tree(&session);
    let (path, bytes) = files
        .iter()
        .find(|(p, _)| {
            p.to_str().unwrap().ends_with("01.json") && p.to_str().unwrap().contains("artifact")
        })
        .unwrap();
    fs::remove_file(path).unwrap();
    let answer = w.run(&["check", session.to_str().unwrap()]);
    assert!(answer.out.contains("error[artifact]"), "{}", answer.out);
    fs::write(path, &bytes[..bytes.len() - 2]).unwrap();
    let answer = w.run(&["check", session.to_str().unwrap()]);
    assert!(
        answer.out.contains("error[artifact]") && answer.out.contains("error[json]"),
        "{}",
        answer.out
    );
}

#[test]
fn a_store_a_session_and_a_file_can_be_checked() {
    let w = world(&["document/full"]);
    let session = folder(&data(&w), PLANNER);
    let files = |path: &std::path::Path| {
        let answer = w.run(&["check", path.to_str().unwrap()]);
        assert_eq!(answer.code, 0, "{answer:?}");
        answer.err.trim().to_owned()
    };
    assert_eq!(
        files(&data(&w)),
        "0 errors, 0 warnings in 19 files (agentuse)"
    );
    // With its sub-agents, to any depth.
    assert_eq!(
        files(&session),
        "0 errors, 0 warnings in 19 files (agentuse)"
    );
    assert_eq!(
        files(&session.join("session.json")),
        "0 errors, 0 warnings in 1 file (agentuse)"
    );
    assert_eq!(
        files(&session.join("01KA3J1000M000000000000001/message.json")),
        "0 errors, 0 warnings in 1 file (agentuse)"
    );
    assert_eq!(sessions(&fixtures().join("document/full")).len(), 3);
}

#[test]
fn a_session_is_checked_with_its_sub_agents() {
    let w = world(&["document/full"]);
    let innermost = folder(&data(&w), TESTER).join("session.json");
    fs::write(&innermost, "[]").unwrap();
    let answer = w.run(&["check", folder(&data(&w), PLANNER).to_str().unwrap()]);
    assert_eq!(answer.code, 1, "{answer:?}");
    assert!(
        answer.out.starts_with(innermost.to_str().unwrap()),
        "{}",
        answer.out
    );
}
