//! Sessions that we write into a database: read back, and as the client wants them.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use serde_json::Value;

use super::store::{data, database, installed, integrity, names, read, rows};
use super::{CHILD, EVERYTHING, REVERTED, TREE, world};
use crate::world::{World, json};

pub(crate) const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

pub(super) fn new(w: &World, more: &[&str]) -> String {
    let args = [&["new", "--format", "opencode", "--json"], more].concat();
    let made = json(&w.ok(&args));
    made["id"].as_str().unwrap().to_owned()
}

fn append(w: &World, id: &str, messages: &[Value]) -> Vec<String> {
    let input: String = messages.iter().map(|m| format!("{m}\n")).collect();
    let answer = w.pipe(&["append", id, "--message-json", "-"], input);
    assert_eq!(answer.code, 0, "{answer:?}");
    answer.out.lines().map(str::to_owned).collect()
}

/// All data of a table, in the order of time.
fn table(path: &Path, table: &str, id: &str) -> Vec<Value> {
    let db = Connection::open(path).unwrap();
    let sql = format!("SELECT data FROM {table} WHERE session_id = ?1 ORDER BY time_created, id");
    let mut query = db.prepare(&sql).unwrap();
    let found = query
        .query_map([id], |row| row.get::<_, String>(0))
        .unwrap();
    found.map(|data| json(&data.unwrap())).collect()
}

pub(super) fn assert_healthy(w: &World, path: &Path) {
    assert_eq!(integrity(path), "ok");
    let db = Connection::open(path).unwrap();
    let mut query = db.prepare("PRAGMA foreign_key_check").unwrap();
    assert!(query.query([]).unwrap().next().unwrap().is_none());
    drop(query);
    drop(db);
    assert_eq!(w.run(&["check", path.to_str().unwrap()]).code, 0);
    assert_eq!(names(path.parent().unwrap()), ["opencode.db"]);
}

#[test]
fn a_new_session_is_written_and_read_back() {
    let w = World::new();
    let path = installed(&w, "1.18/everything");
    let id = new(
        &w,
        &["--title", "Sell eggs", "--metadata", "{\"ticket\":17}"],
    );
    assert!(id.starts_with("ses_") && id.len() == 30, "{id}");
    let picture = w.root.join("egg.png");
    let bytes = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, PNG).unwrap();
    fs::write(&picture, bytes).unwrap();
    let refused = w.run(&["append", &id, "How many eggs?"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.err.contains("no model is known"), "{refused:?}");
    w.ok(&[
        "append",
        &id,
        "How many eggs?",
        "--model",
        "acme/large-2",
        "--image",
        picture.to_str().unwrap(),
    ]);
    let ids = append(
        &w,
        &id,
        &[
            serde_json::json!({"role": "assistant", "content": [
                {"type": "text", "text": "I count."},
                {"type": "tool_use", "tool_id": "toolu_1", "tool_name": "Foreign", "input": {"path": "/"}},
                {"type": "tool_use", "tool_id": "call_foreign.2", "tool_name": "bash", "input": "ls"},
            ], "metadata": {"token_usage": {"input_tokens": 10, "output_tokens": 4, "cache_read_tokens": 3}}}),
            serde_json::json!({"role": "user", "content": [
                {"type": "tool_result", "tool_id": "toolu_1", "output": "twelve"},
            ]}),
        ],
    );
    assert_eq!(ids[0], ids[1], "a result is in the message of its call");
    let late = serde_json::json!({"role": "user", "content": [
        {"type": "tool_result", "tool_id": "call_foreign.2", "output": "denied", "is_error": true},
        {"type": "text", "text": "Go on."},
    ]});
    append(&w, &id, &[late]);
    w.ok(&["append", &id, "Twelve.", "--role", "agent"]);
    insta::assert_snapshot!("opencode_written", w.plain(&w.ok(&["show", &id])));
    let parts = table(&path, "part", &id);
    let state = |call: &str| {
        let part = parts.iter().find(|p| p["callID"] == call).unwrap();
        part["state"].clone()
    };
    assert_eq!(state("toolu_1")["status"], "completed");
    assert_eq!(state("toolu_1")["output"], "twelve");
    assert_eq!(state("call_foreign.2")["status"], "error");
    assert_eq!(
        state("call_foreign.2")["input"]["input"],
        "ls",
        "the client wants an object"
    );
    assert!(
        parts[1]["url"]
            .as_str()
            .unwrap()
            .starts_with("data:image/png;base64,iVBOR")
    );
    let head = read(&path, &id).session.head;
    let used = head.recorded_usage[0].usage;
    assert_eq!((used.input, used.output, used.cache_read), (10, 4, 3));
    assert_healthy(&w, &path);
}

#[test]
fn messages_in_the_formats_own_words_keep_them() {
    let w = World::new();
    let path = installed(&w, "1.18/everything");
    let own = serde_json::json!({
        "info": {"id": "msg_elsewhere", "sessionID": "ses_other", "role": "user", "time": {"created": 1},
            "agent": "plan", "model": {"providerID": "acme", "modelID": "small"}, "mood": "calm"},
        "parts": [{"id": "prt_elsewhere", "sessionID": "x", "messageID": "y", "type": "text", "text": "Hello", "extra": 1e5}],
    });
    let ids = append(&w, CHILD, std::slice::from_ref(&own));
    assert_eq!(ids, ["msg_elsewhere"]);
    let message = table(&path, "message", CHILD).pop().unwrap();
    assert_eq!(message["mood"], "calm");
    assert_eq!(message["agent"], "plan");
    assert_eq!(message.get("sessionID"), None);
    let again = w.pipe(&["append", CHILD, "--message-json", "-"], own.to_string());
    assert_ne!(again.code, 0, "{again:?}");
    assert!(again.err.contains("exists already"), "{again:?}");
    // It comes after what was there, whatever its own clock said.
    let conversation = read(&path, CHILD);
    let last = conversation.session.leaf().unwrap();
    assert_eq!(conversation.session.id(last), "msg_elsewhere");
    assert_healthy(&w, &path);
}

#[test]
fn a_message_that_cannot_be_written_hinders_no_other_unless_strict() {
    let w = World::new();
    let path = installed(&w, "1.18/everything");
    let input = "{\"role\":\"user\",\"content\":\"one\"}\n{\"role\":\"robot\",\"content\":\"two\"}\n\
        {\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_id\":\"none\"}]}\n";
    let before = rows(&Connection::open(&path).unwrap(), "message", CHILD).len();
    let strict = w.pipe(&["append", CHILD, "--message-json", "-", "--strict"], input);
    assert_ne!(strict.code, 0, "{strict:?}");
    let some = w.pipe(&["append", CHILD, "--message-json", "-"], input);
    assert_ne!(some.code, 0, "{some:?}");
    assert!(
        some.err.contains("robot") && some.err.contains("`none`"),
        "{some:?}"
    );
    let after = rows(&Connection::open(&path).unwrap(), "message", CHILD).len();
    assert_eq!(after, before + 1);
    assert_healthy(&w, &path);
}

#[test]
fn a_model_that_one_message_names_is_that_of_those_after_it() {
    let w = World::new();
    let path = installed(&w, "1.18/everything");
    let id = new(&w, &[]);
    let said = |role: &str| serde_json::json!({"role": role, "content": "Hello"});
    let mut first = said("user");
    first["metadata"] = serde_json::json!({"model": {"name": "acme/large-2"}});
    append(&w, &id, &[first, said("assistant")]);
    let answer = table(&path, "message", &id).pop().unwrap();
    assert_eq!(answer["providerID"], "acme");
    assert_eq!(answer["modelID"], "large-2");
}

#[test]
fn a_result_whose_call_was_refused_does_not_hide_why() {
    let w = World::new();
    installed(&w, "1.18/everything");
    let id = new(&w, &[]);
    let input = concat!(
        r#"{"role":"assistant","content":[{"type":"tool_use","tool_id":"t","tool_name":"ls","input":{}}]}"#,
        "\n",
        r#"{"role":"user","content":[{"type":"tool_result","tool_id":"t","output":"a"}]}"#,
    );
    let answer = w.pipe(&["append", &id, "--message-json", "-"], input);
    assert_ne!(answer.code, 0, "{answer:?}");
    assert!(answer.err.contains("no model is known"), "{answer:?}");
}

#[test]
fn a_fork_copies_the_past_and_counts_nothing_twice() {
    let w = World::new();
    let path = installed(&w, "1.18/everything");
    let at = "msg_000000000003Done0000000000";
    let made = json(&w.ok(&["fork", EVERYTHING, "--at", at, "--json"]));
    let id = made["id"].as_str().unwrap();
    let fork = read(&path, id);
    let active = fork.session.active_path();
    assert_eq!(active.len(), 4, "a try that failed and three messages");
    assert!(active.iter().all(|ix| fork.session.entry(*ix).inherited));
    let link = &fork.session.head.links[0];
    assert_eq!(
        (link.session.as_str(), link.entry.as_deref()),
        (EVERYTHING, Some(at))
    );
    let messages = table(&path, "message", id);
    assert_eq!(messages[1]["parentID"], fork.session.id(active[0]));
    assert_eq!(table(&path, "part", id).len(), 17);
    let tokens = w.ok(&["list", "--json", "--sort", "tokens"]);
    let last = tokens.lines().map(json).next_back().unwrap();
    assert_eq!(last["id"], id, "it used nothing itself");
    let reverted = json(&w.ok(&["fork", REVERTED, "--json", "--title", "Again"]));
    let reverted = read(&path, reverted["id"].as_str().unwrap()).session;
    assert_eq!(
        reverted.entries().len(),
        2,
        "what was taken back stays behind"
    );
    assert_eq!(reverted.head.title.unwrap().text, "Again");
    assert_healthy(&w, &path);
}

#[test]
fn renaming_changes_the_title_alone() {
    let w = World::new();
    let path = installed(&w, "1.18/everything");
    let before = rows(&Connection::open(&path).unwrap(), "session", CHILD);
    w.ok(&["rename", CHILD, "Another name"]);
    let after = rows(&Connection::open(&path).unwrap(), "session", CHILD);
    let changed: Vec<usize> = (0..before[0].len())
        .filter(|i| before[0][*i] != after[0][*i])
        .collect();
    assert_eq!(changed, [7], "`title` is the eighth column");
    assert_healthy(&w, &path);
}

#[test]
fn removing_for_good_takes_rows_events_and_children() {
    let w = world();
    let path = data(&w).join("opencode.db");
    w.ok(&["rm", EVERYTHING, "--force"]);
    let db = Connection::open(&path).unwrap();
    for id in [EVERYTHING, CHILD] {
        for table in ["session", "message", "part", "todo"] {
            assert!(rows(&db, table, id).is_empty(), "{table} of {id}");
        }
    }
    let events: i64 = db
        .query_row("SELECT count(*) FROM event", [], |row| row.get(0))
        .unwrap();
    assert_eq!(events, 0);
    assert!(!rows(&db, "part", REVERTED).is_empty());
    drop(db);
    w.ok(&["rm", TREE, "--force"]);
    let left = crate::world::tree(&data(&w).join("storage"));
    let left: Vec<String> = left
        .iter()
        .map(|(p, _)| p.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(left, ["migration", "prj_shop.json"]);
}

#[test]
fn a_database_that_is_not_as_we_know_it_is_not_written_to() {
    for (change, said) in [
        ("ALTER TABLE message ADD COLUMN seal text NOT NULL DEFAULT ''", None),
        ("ALTER TABLE part RENAME COLUMN data TO payload", Some("has no column `data`")),
        ("PRAGMA foreign_keys = OFF; DROP TABLE project", Some("no table `project`")),
        (
            "PRAGMA foreign_keys = OFF; DROP TABLE message; CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer,
             time_updated integer, data text, seal text NOT NULL)",
            Some("demands a column `seal`"),
        ),
        (
            "INSERT INTO session_message VALUES ('m', 'ses_5aaaaaaaa002Child00000001', 'user', 0, 1, 1, '{}')",
            Some("`session_message`"),
        ),
    ] {
        let w = World::new();
        let path = installed(&w, "1.18/everything");
        let db = Connection::open(&path).unwrap();
        db.execute_batch(change).unwrap();
        db.close().unwrap();
        let before = fs::read(&path).unwrap();
        let answer = w.run(&["rename", CHILD, "x"]);
        match said {
            None => assert_eq!(answer.code, 0, "{change}: {answer:?}"),
            Some(said) => {
                assert_ne!(answer.code, 0, "{change}: {answer:?}");
                assert!(answer.err.contains(said), "{change}: {answer:?}");
                assert!(answer.err.contains("can still be read"), "{answer:?}");
                assert!(fs::read(&path).unwrap() == before, "{change}");
                if said.contains("has no column") {
                    let checked = w.run(&["check", path.to_str().unwrap()]);
                    assert!(checked.out.contains("error[missing-column]: table"));
                    assert!(checked.out.contains(said), "{checked:?}");
                }
            }
        }
    }
}

#[test]
fn old_files_and_exports_are_not_changed() {
    let w = world();
    for args in [
        &["rename", TREE, "x"][..],
        &["append", TREE, "x"],
        &["fork", TREE],
    ] {
        let answer = w.run(args);
        assert_ne!(answer.code, 0, "{args:?}: {answer:?}");
        assert!(answer.err.contains("outside of the database"), "{answer:?}");
    }
}

#[test]
fn a_writer_that_holds_the_database_is_waited_for_and_then_named() {
    let w = World::new();
    let path = installed(&w, "1.18/everything");
    let db = Connection::open(&path).unwrap();
    db.execute_batch("BEGIN IMMEDIATE").unwrap();
    let answer = w.run(&["append", CHILD, "x", "--lock-timeout", "0.05"]);
    assert_ne!(answer.code, 0, "{answer:?}");
    assert!(answer.err.contains("opencode.db"), "{answer:?}");
    assert!(
        w.ok(&["show", CHILD]).contains("Two."),
        "reading does not wait"
    );
}

#[test]
fn check_names_what_the_client_would_stumble_over() {
    let w = World::new();
    let path = w.root.join("damaged.db");
    database(&path, "1.18/damaged");
    let answer = w.run(&["check", path.to_str().unwrap()]);
    assert_ne!(answer.code, 0, "{answer:?}");
    insta::assert_snapshot!(
        "opencode_check",
        w.plain(&format!("{}---\n{}", answer.out, answer.err))
    );
}
