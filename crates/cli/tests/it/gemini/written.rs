//! Sessions that we write, as the client wants them.

use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;

use super::{CHILD, HASH, MAIN, assert_lossless, lay_out, session};
use crate::world::{World, json, tree};

/// Starts a session and gives its id and file.
pub(super) fn started(w: &World, args: &[&str]) -> (String, PathBuf) {
    let mut all = vec!["new", "--format", "gemini", "--json"];
    all.extend(args);
    let made = json(&w.ok(&all));
    let text = |key: &str| made[key].as_str().unwrap().to_owned();
    (text("id"), PathBuf::from(text("path")))
}

pub(super) fn lines(path: &Path) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.ends_with('\n'), "{text}");
    text.lines().map(json).collect()
}

pub(super) const TALK: &str = r#"{"role":"user","content":[{"type":"text","text":"Which tests fail?"},{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}]}
{"uuid":"answer-1","role":"assistant","content":[{"type":"thinking","text":"Run them."},{"type":"text","text":"I will run them."},{"type":"tool_use","tool_id":"t1","tool_name":"Bash","input":{"command":"npm test"}},{"type":"tool_use","tool_id":"t2","tool_name":"Read","input":{"path":"a.js"}}],"metadata":{"model":{"name":"some-model"},"token_usage":{"input_tokens":10,"output_tokens":5,"cache_read_tokens":90}}}
{"role":"user","content":[{"type":"tool_result","tool_id":"t1","output":"1 failing","is_error":true},{"type":"tool_result","tool_id":"t2","output":"a"}]}
{"type":"gemini","content":"One fails.","model":"gemini-2.5-pro","extra":{"kept":1e2}}
"#;

#[test]
fn a_new_session_is_a_log_in_the_folder_of_its_project() {
    let w = World::new();
    let (id, path) = started(&w, &["--title", "Fix it"]);
    let project = w.project.to_str().unwrap();
    let store = w.home.join(".gemini/tmp/shop");
    assert_eq!(
        fs::read_to_string(store.join(".project_root")).unwrap(),
        project
    );
    // The name does not end with the beginning of the id, as the client's own do.
    let own = &rethread_formats::gemini::project_hash(&id)[..8];
    let name = format!("chats/session-2026-11-15T12-00-{}-{own}.jsonl", &id[..8]);
    assert_eq!(path, store.join(name));
    let [header] = lines(&path).try_into().unwrap();
    let now = crate::world::NOW;
    let hash = rethread_formats::gemini::project_hash(project);
    let expected = serde_json::json!({
        "sessionId": id, "projectHash": hash, "startTime": now, "lastUpdated": now,
        "kind": "main", "summary": "Fix it",
    });
    assert_eq!(header, expected);
    // The same folder again, and another name for another project with the same one.
    let (_, second) = started(&w, &[]);
    assert_eq!(second.parent(), path.parent());
    let other = w.root.join("else/shop");
    fs::create_dir_all(&other).unwrap();
    let (_, third) = started(&w, &["--cwd", other.to_str().unwrap()]);
    assert!(
        third.starts_with(w.home.join(".gemini/tmp/shop-1/chats")),
        "{third:?}"
    );
    let again = w.run(&["new", "--format", "gemini", "--id", &id]);
    assert_eq!(again.code, 1, "{again:?}");
    assert!(again.err.contains("exists already"), "{}", again.err);
    let bad = w.run(&["new", "--format", "gemini", "--id", "../x"]);
    assert!(bad.err.contains("cannot be a session's id"), "{}", bad.err);
    let unknown = w.run(&["new", "--format", "gemini", "--agent-id", "codex"]);
    assert!(unknown.err.contains("have no agent ids"), "{}", unknown.err);
}

#[test]
fn a_new_session_goes_where_the_client_looks() {
    let w = World::new();
    let project = w.project.to_str().unwrap();
    let store = w.home.join(".gemini");
    let hash = rethread_formats::gemini::project_hash(project);
    let in_hash = store.join("tmp").join(&hash);
    fs::create_dir_all(&in_hash).unwrap();
    // The client copies the folder with the hash as long as there is no other.
    assert!(started(&w, &[]).1.starts_with(&in_hash));
    fs::create_dir_all(store.join("tmp/adopted")).unwrap();
    fs::write(
        store.join("tmp/adopted/.project_root"),
        format!("{project}\n"),
    )
    .unwrap();
    assert!(started(&w, &[]).1.starts_with(store.join("tmp/adopted")));
    let registry = serde_json::json!({"projects": {project: "named", "/x": "../../evil"}});
    fs::write(store.join("projects.json"), registry.to_string()).unwrap();
    assert!(started(&w, &[]).1.starts_with(store.join("tmp/named")));
    let root = w.root.join("elsewhere");
    let made = started(&w, &["--output", root.to_str().unwrap()]).1;
    assert!(made.starts_with(root.join("tmp/shop/chats")), "{made:?}");
}

#[test]
fn messages_are_added_as_the_client_writes_them() {
    let w = World::new();
    let (id, path) = started(&w, &[]);
    let before = fs::read_to_string(&path).unwrap();
    // Read whole before anything is written: then they are written together.
    let answer = w.pipe(&["append", &id, "--message-json", "-", "--strict"], TALK);
    assert_eq!(answer.code, 0, "{answer:?}");
    let ids: Vec<&str> = answer.out.lines().collect();
    assert_eq!(ids.len(), 4);
    assert_eq!(
        ids[1..3],
        ["answer-1", "answer-1"],
        "results are beside their calls"
    );
    let after = fs::read_to_string(&path).unwrap();
    assert!(after.starts_with(&before));
    let project = rethread_formats::gemini::project_hash(w.project.to_str().unwrap());
    assert_snapshot!("gemini_written", after.replace(&project, "[HASH]"));
    let shown = w.ok(&["show", &id, "--thinking"]);
    for said in ["Which tests fail?", "npm test", "1 failing", "One fails."] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    assert_lossless(&path);
    let checked = w.run(&["check", path.to_str().unwrap()]);
    assert_eq!(checked.code, 0, "{checked:?}");
}

#[test]
fn a_late_result_is_another_version_of_its_message() {
    let w = World::new();
    let (id, path) = started(&w, &[]);
    let mut given = TALK.lines();
    for line in given.by_ref().take(2) {
        assert_eq!(
            w.pipe(&["append", &id, "--message-json", "-"], line).code,
            0
        );
    }
    let before = lines(&path).len();
    let answer = w.pipe(
        &["append", &id, "--message-json", "-"],
        given.next().unwrap(),
    );
    assert_eq!(answer.out.trim(), "answer-1");
    let after = lines(&path);
    assert_eq!(after.len(), before + 2, "one message and the time");
    let calls = &after[before]["toolCalls"];
    assert_eq!(calls[0]["status"], "error");
    assert_eq!(
        calls[1]["result"][0]["functionResponse"]["response"]["output"],
        "a"
    );
    let orphan =
        r#"{"role":"user","content":[{"type":"tool_result","tool_id":"nowhere","output":"lost"}]}"#;
    assert_eq!(
        w.pipe(&["append", &id, "--message-json", "-"], orphan).code,
        0
    );
    assert!(w.ok(&["show", &id]).contains("lost"));
}

#[test]
fn what_the_client_cannot_take_is_refused() {
    let w = World::new();
    let (id, path) = started(&w, &[]);
    w.ok(&["append", &id, "Hello", "--json"]);
    let first = lines(&path)[1]["id"].as_str().unwrap().to_owned();
    let before = fs::read(&path).unwrap();
    for (message, why) in [
        (
            &*format!("{{\"id\":\"{first}\",\"type\":\"user\",\"content\":\"again\"}}"),
            "exists already",
        ),
        ("{\"type\":\"poll\",\"content\":\"x\"}", "`type` is `poll`"),
        ("{\"type\":\"user\"}", "`content` is missing"),
        (
            "{\"type\":\"user\",\"content\":\"x\",\"timestamp\":\"soon\"}",
            "`timestamp` is `soon`",
        ),
        (
            "{\"role\":\"system\",\"content\":\"x\"}",
            "no messages of the system",
        ),
        ("[]", "not a JSON object"),
        ("{", "not JSON"),
    ] {
        let answer = w.pipe(&["append", &id, "--message-json", "-"], message);
        assert_eq!(answer.code, 1, "{answer:?}");
        assert!(answer.err.contains(why), "{message}: {}", answer.err);
    }
    assert_eq!(fs::read(&path).unwrap(), before);
    let home = lay_out(&w, "0.20/document");
    let checkpoint = home.join("tmp").join(HASH).join("checkpoint-old.json");
    for args in [&["append", "x"][..], &["rename", "x"], &["fork"]] {
        let mut args = args.to_vec();
        args.insert(1, checkpoint.to_str().unwrap());
        let answer = w.run(&args);
        assert!(answer.err.contains("checkpoint"), "{answer:?}");
    }
}

#[test]
fn rename_and_replace_add_records_to_a_log() {
    let w = World::new();
    let (id, path) = started(&w, &[]);
    let message = w.ok(&["append", &id, "Helo"]);
    let before = fs::read_to_string(&path).unwrap();
    w.ok(&["rename", &id, "A greeting"]);
    w.ok(&["append", &id, "Hello", "--replace", message.trim()]);
    assert!(fs::read_to_string(&path).unwrap().starts_with(&before));
    let listed = json(&w.ok(&["list", "--json"]));
    assert_eq!(listed["title"], "A greeting");
    assert_eq!(listed["message_count"], 1);
    assert!(w.ok(&["show", &id]).contains("Hello"));
}

#[test]
fn a_document_is_changed_in_place_and_keeps_its_other_bytes() {
    let w = World::new();
    let home = lay_out(&w, "0.20/document");
    let path = home
        .join("tmp")
        .join(HASH)
        .join("chats/session-2025-12-01T08-00-8a8a8a8a.json");
    let before = fs::read_to_string(&path).unwrap();
    w.ok(&["append", "8a8a8a8a", "And now?"]);
    w.ok(&["rename", "8a8a8a8a", "Hello"]);
    let after = fs::read_to_string(&path).unwrap();
    let stamp = "\"lastUpdated\": \"2025-12-01T08:01:00.000Z\"";
    let now = format!("\"lastUpdated\": \"{}\"", crate::world::NOW);
    let (head, _) = before.split_once("\n  ]\n}").unwrap();
    assert!(after.starts_with(&head.replace(stamp, &now)), "{after}");
    let document = json(&after);
    assert_eq!(document["summary"], "Hello");
    assert_eq!(document["messages"][5]["content"][0]["text"], "And now?");
    assert_lossless(&path);
}

#[test]
fn an_append_behind_a_torn_line_keeps_it_and_is_read() {
    let w = World::new();
    let (id, path) = started(&w, &[]);
    let mut torn = fs::read(&path).unwrap();
    torn.extend_from_slice(b"{\"id\":\"half\",\"type\":\"us");
    fs::write(&path, &torn).unwrap();
    w.run(&["append", &id, "Still there"]);
    let after = fs::read(&path).unwrap();
    assert!(after.starts_with(&torn) && after.ends_with(b"\n"));
    let c = assert_lossless(&path);
    assert_eq!(c.session.entries().len(), 1);
    assert_eq!(c.notes.len(), 1, "{:?}", c.notes);
}

#[test]
fn check_says_what_the_client_stumbles_over() {
    let w = World::new();
    let home = lay_out(&w, "0.61/everything");
    let chats = home.join("tmp/shop/chats");
    let answer = w.run(&["check", chats.to_str().unwrap()]);
    assert_snapshot!("gemini_check", w.plain(&answer.out));
    let damaged = w.run(&["check", session("0.61/damaged").to_str().unwrap()]);
    assert_eq!(damaged.code, 1, "{damaged:?}");
}

#[test]
fn removing_takes_along_what_belongs_to_the_session_alone() {
    let w = World::new();
    let home = lay_out(&w, "0.61/everything");
    let shop = home.join("tmp/shop");
    let agents = shop.join("chats").join(MAIN);
    let of_agent = shop.join(format!("tool-outputs/session-{CHILD}"));
    fs::create_dir_all(&of_agent).unwrap();
    let of_others = shop.join("tool-outputs/session-other");
    fs::create_dir_all(&of_others).unwrap();
    // Plans and tasks, and what happened.
    for id in [MAIN, CHILD] {
        fs::create_dir_all(shop.join(id).join("plans")).unwrap();
        fs::write(shop.join(id).join("plans/plan.md"), "1. Sell").unwrap();
        fs::create_dir_all(shop.join("logs")).unwrap();
        fs::write(shop.join(format!("logs/session-{id}.jsonl")), "{}\n").unwrap();
    }
    w.ok(&["rm", MAIN, "--force"]);
    assert!(!agents.exists() && !of_agent.exists());
    let left: Vec<_> = tree(&shop).into_iter().map(|(p, _)| p).collect();
    assert_eq!(left, [shop.join(".project_root"), shop.join("logs.json")]);
    assert!(of_others.is_dir());
    // One of several files of a session goes alone: the others need what is beside it.
    let home = lay_out(&w, "0.61/twice");
    let saved = home.join("tmp/shop/tool-outputs/session-6f6f6f6f-0000-4000-8000-00000000ff01");
    fs::create_dir_all(&saved).unwrap();
    let path = home.join("tmp/shop/chats/session-2026-11-14T14-00-6f6f6f6f.jsonl");
    w.ok(&["rm", path.to_str().unwrap(), "--force"]);
    assert!(!path.exists() && saved.is_dir());
}

#[test]
fn removing_takes_no_folder_along_that_all_sessions_share() {
    let w = World::new();
    let home = lay_out(&w, "0.61/everything");
    let shop = home.join("tmp/shop");
    for id in ["checkpoints", "chats", "logs", "tool-outputs"] {
        fs::create_dir_all(shop.join(id)).unwrap();
        fs::write(shop.join(id).join("kept.json"), "{}").unwrap();
        let path = shop.join("chats/session-2026-11-14T10-00-0badc0de.jsonl");
        let header = format!(r#"{{"sessionId":"{id}","projectHash":"{HASH}"}}"#);
        let said = r#"{"id":"1","type":"user","content":"Hello"}"#;
        fs::write(&path, format!("{header}\n{said}\n")).unwrap();
        w.ok(&["rm", path.to_str().unwrap(), "--force"]);
        assert!(
            !path.exists() && shop.join(id).join("kept.json").is_file(),
            "{id}"
        );
    }
}
