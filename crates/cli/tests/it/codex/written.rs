//! New sessions, messages, names and copies.

use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use rethread_model::{Bodies, Body, LinkKind};

use super::{DAMAGED, EVERYTHING, FORK, ROLLED_BACK, home, read, start, usage};
use crate::world::{World, json, tree};

/// The lines of a session, each as JSON.
fn lines(path: &Path) -> Vec<serde_json::Value> {
    fs::read_to_string(path)
        .unwrap()
        .lines()
        .map(json)
        .collect()
}

#[test]
fn a_new_session_is_what_the_client_asks_for() {
    let w = World::with_git();
    let (id, path) = start(&w, &["--title", "By hand"]);
    let name = format!("rollout-2026-11-15T12-00-00-{id}.jsonl");
    assert_eq!(path, w.home.join(".codex/sessions/2026/11/15").join(name));
    let all = lines(&path);
    let meta = &all[0]["payload"];
    assert_eq!(all[0]["type"], "session_meta");
    assert_eq!(meta["id"], id.as_str());
    assert_eq!(meta["cwd"], w.project.to_str().unwrap());
    assert_eq!(meta["git"]["branch"], "main");
    assert!(meta.get("model_provider").is_none(), "{meta}");
    // Without an index, the name stands in the session; no index appears.
    assert_eq!(all[1]["payload"]["thread_name"], "By hand");
    assert!(!w.home.join(".codex/session_index.jsonl").exists());
    let again = w.run(&["new", "--format", "codex", "--id", &id]);
    assert_ne!(again.code, 0, "{again:?}");
    let word = w.run(&["new", "--format", "codex", "--id", "word"]);
    assert!(word.err.contains("no UUID"), "{word:?}");
    let before = tree(&w.home);
    for (flag, given, what) in [
        ("--metadata", "{}", "metadata"),
        ("--agent-id", "x", "agent ids"),
        ("--protocol", "acp", "protocol"),
        ("--parent", id.as_str(), "sub-agents"),
        ("--project-key", "global", "project keys"),
        ("--agent-key", "name", "agent keys"),
    ] {
        let refused = w.run(&["new", "--format", "codex", flag, given]);
        let why = format!("have no {what}");
        assert!(refused.err.contains(&why), "{flag}: {refused:?}");
    }
    assert_eq!(tree(&w.home), before, "nothing was written");
}

#[test]
fn messages_go_into_both_streams() {
    let w = World::new();
    let (id, path) = start(&w, &[]);
    let long = "x".repeat(80);
    w.ok(&[
        "append",
        &id,
        "What is in the picture?",
        "--image",
        pixel(&w).to_str().unwrap(),
    ]);
    for message in [
        r#"{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","tool_id":"toolu_1","tool_name":"Bash","input":{"command":"ls"}},{"type":"tool_use","tool_id":"LONG","tool_name":"Read","input":"plain"}],"metadata":{"model":{"name":"gpt-x"},"token_usage":{"input_tokens":10,"output_tokens":5,"cache_read_tokens":90},"extensions":{"blocks":[{"type":"thinking","text":"Hm."}]}}}"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_id":"toolu_1","output":"a\nb"},{"type":"tool_result","tool_id":"LONG","output":"no","is_error":true}]}"#,
        r#"{"role":"assistant","content":"Two files.","metadata":{"token_usage":{"input_tokens":1,"output_tokens":2}}}"#,
    ] {
        let answer = w.pipe(
            &["append", &id, "--message-json", "-"],
            message.replace("LONG", &long),
        );
        assert_eq!(answer.code, 0, "{answer:?}");
    }
    w.ok(&["append", &id, "--role", "system", "Be brief."]);
    let kinds: Vec<String> = lines(&path)
        .iter()
        .map(|l| {
            let inner = l["payload"]["type"].as_str().unwrap_or_default();
            format!("{} {inner}", l["type"].as_str().unwrap())
        })
        .collect();
    assert_snapshot!(kinds.join("\n"), @"
    session_meta 
    response_item message
    event_msg user_message
    turn_context 
    event_msg agent_message
    response_item message
    response_item function_call
    response_item function_call
    event_msg agent_reasoning
    event_msg token_count
    response_item function_call_output
    response_item function_call_output
    event_msg agent_message
    response_item message
    event_msg token_count
    response_item message
    ");
    let calls: Vec<String> = lines(&path)
        .iter()
        .filter_map(|l| l["payload"]["call_id"].as_str().map(str::to_owned))
        .collect();
    assert_eq!((&calls[0], &calls[1]), (&calls[2], &calls[3]));
    assert!(calls.iter().all(|id| id.len() <= 64), "{calls:?}");
    let c = read(&path);
    assert_eq!(c.notes, []);
    assert_eq!(usage(&c).total(), 108);
    assert_eq!(c.session.head.recorded_usage[0].usage.total(), 108);
    assert_snapshot!("codex_written", w.plain(&w.ok(&["show", &id])));
}

/// A picture of one point.
fn pixel(w: &World) -> PathBuf {
    let path = w.root.join("pixel.png");
    fs::write(&path, b"\x89PNG\r\n\x1a\nnot much more").unwrap();
    path
}

#[test]
fn what_cannot_be_written_is_refused_and_the_rest_is_saved() {
    let w = World::new();
    let (id, path) = start(&w, &[]);
    let input = "{\"role\":\"user\",\"content\":\"one\"}\nbroken\n{\"role\":\"user\",\"content\":\"two\"}\n";
    let answer = w.pipe(&["append", &id, "--message-json", "-"], input);
    assert_eq!(answer.code, 3, "{answer:?}");
    assert_eq!(answer.out.lines().count(), 2);
    let before = fs::read(&path).unwrap();
    let strict = w.pipe(&["append", &id, "--strict", "--message-json", "-"], input);
    assert_ne!(strict.code, 0);
    assert_eq!(fs::read(&path).unwrap(), before, "nothing of it");
    for case in ["2025/document", "0.20/items", "0.166/packed"] {
        let w = home(&[case]);
        let file = tree(&w.home.join(".codex")).remove(0);
        let answer = w.run(&["append", file.0.to_str().unwrap(), "x"]);
        assert_eq!(answer.code, 2, "{case}: {answer:?}");
        assert!(answer.err.contains("have no way to change"), "{answer:?}");
        assert_eq!(fs::read(&file.0).unwrap(), file.1);
    }
}

#[test]
fn an_append_adds_whole_lines_behind_what_is_there() {
    for (case, id) in [
        ("0.140/damaged", DAMAGED),
        ("0.166/forks", FORK),
        ("0.140/everything", EVERYTHING),
    ] {
        let w = home(&[case]);
        let is_it = |(p, _): &(PathBuf, Vec<u8>)| p.to_str().unwrap().contains(id);
        let (path, before) = tree(&w.home.join(".codex"))
            .into_iter()
            .find(is_it)
            .unwrap();
        let entries = read(&path).session.entries().len();
        w.ok(&["append", id, "One more thing"]);
        w.ok(&["append", id, "--role", "agent", "Which?"]);
        let after = fs::read(&path).unwrap();
        assert!(after.starts_with(&before), "{case}");
        let c = read(&path);
        assert_eq!(
            c.session.entries().len(),
            entries + 2,
            "{case}: one entry each"
        );
        let numbers: Vec<u64> = String::from_utf8_lossy(&after)
            .lines()
            .filter_map(|l| serde_json::from_str::<serde_json::Value>(l).ok()?["ordinal"].as_u64())
            .collect();
        assert!(numbers.windows(2).all(|n| n[1] == n[0] + 1), "{numbers:?}");
        assert_eq!(numbers.is_empty(), id != FORK);
    }
}

#[test]
fn a_name_goes_into_the_index_where_there_is_one() {
    let w = home(&["0.140/everything"]);
    let (path, before) = tree(&w.home.join(".codex")).remove(1);
    w.ok(&["rename", EVERYTHING, "Third name"]);
    assert_eq!(
        fs::read(&path).unwrap(),
        before,
        "the session stays as it is"
    );
    let index = fs::read_to_string(w.home.join(".codex/session_index.jsonl")).unwrap();
    assert_eq!(index.lines().count(), 3);
    assert_eq!(
        json(index.lines().last().unwrap())["thread_name"],
        "Third name"
    );
    assert!(w.ok(&["list"]).contains("Third name"));
    let w = home(&["0.166/forks"]);
    w.ok(&["rename", FORK, "Only here"]);
    assert!(w.ok(&["list"]).contains("Only here"));
    assert!(!w.home.join(".codex/session_index.jsonl").exists());
}

#[test]
fn a_fork_copies_the_way_to_an_entry() {
    // (case, session, entry, what is said)
    for (case, id, at, said) in [
        ("0.140/rolled-back", ROLLED_BACK, None, "One 1 Four 4"),
        (
            "0.140/rolled-back",
            ROLLED_BACK,
            Some("#5"),
            "One 1 Two 2 Three",
        ),
        (
            "0.166/forks",
            FORK,
            None,
            "Open the shop It is open. Close it instead Closed.",
        ),
        (
            "0.166/forks",
            FORK,
            Some("msg_2"),
            "Open the shop It is open.",
        ),
    ] {
        let w = home(&[case]);
        let before = tree(&w.home.join(".codex"));
        let mut args = vec!["fork", id, "--json"];
        args.extend(at.into_iter().flat_map(|at| ["--at", at]));
        let made = json(&w.ok(&args));
        let path = PathBuf::from(made["path"].as_str().unwrap());
        for (path, bytes) in &before {
            assert_eq!(&fs::read(path).unwrap(), bytes, "the source stays as it is");
        }
        let c = read(&path);
        assert_eq!(c.notes, [], "{case}");
        assert_eq!(c.native.parts.len(), 1, "it needs no other file");
        let texts: Vec<String> = c
            .session
            .active_path()
            .into_iter()
            .filter_map(|ix| match c.body(ix) {
                Body::Message(m) => match m.blocks.first() {
                    Some(rethread_model::Block::Text(t)) => Some(t.value.clone()),
                    _ => None,
                },
                _ => None,
            })
            .collect();
        assert_eq!(texts.join(" "), said, "{case} {at:?}");
        let link = &c.session.head.links[0];
        assert_eq!((link.kind, link.session.as_str()), (LinkKind::ForkOf, id));
        w.ok(&["append", made["id"].as_str().unwrap(), "On"]);
        assert_eq!(
            read(&path).session.active_path().len(),
            c.session.active_path().len() + 1
        );
    }
}
