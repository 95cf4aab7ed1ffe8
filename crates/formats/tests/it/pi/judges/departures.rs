//! Where we differ from pi 0.87.1 on purpose. Each departure is shown here, and nowhere else.
//!
//! | what | pi 0.87.1 | ours | why |
//! | --- | --- | --- | --- |
//! | first message of the user | in memory until the model answers | written at once | nothing is lost if the model never answers; later versions do so too |
//! | last line without a line break | opening adds one | the next append ends it | reading writes nothing |
//! | old version | opening writes it anew | the first append does, and keeps a copy | reading writes nothing |
//! | byte order mark | no session | read | editors put it there, and nothing is wrong behind it |
//! | value that is no object | an entry without an id | passed over | it says nothing, and breaks the leaf |
//! | ids that are there twice | the last one twice in the tree, once among the children | each once | no entry is lost |
//! | entry without an id | the leaf is nowhere | the leaf is the last entry with an id | one can go on |
//! | fork of an old session | entries stay old under a new header | migrated | else the whole conversation is lost |
//! | version after 3 | written to as if it were 3 | read only | what it means is not known |
//! | circle of parents | never ends | walked once | damage must not hang a program |
//! | `excludeFromContext` of an extension's message | left out of the context's message | kept | Atomic writes it |

use rethread_formats::pi::{SessionError, SessionManager};
use rethread_json::{Array, Object};
use rethread_judges::PiVersion;

use super::super::world::{messages, session, user};
use super::old::V1;
use super::ours::user as say;
use super::script::ours;
use super::{Answer, agree, ask, read, world};

/// What the judge says of a file.
fn looked_at(path: &std::path::Path) -> Option<Answer> {
    ask(
        PiVersion::V0_87,
        Object::new().str("file", path.to_str().unwrap()),
    )
}

fn raw(value: rethread_json::Value<'_>) -> String {
    String::from_utf8_lossy(value.raw()).into_owned()
}

#[test]
fn a_file_is_made_at_the_first_message_of_the_user() {
    let script = ours(&[say("hello")]);
    assert!(script.file().exists());
    let Some(theirs) = script.theirs(PiVersion::V0_87) else {
        return;
    };
    assert_eq!(theirs.text("text"), None);
    agree(PiVersion::V0_87, &script.w, &script.file());
}

#[test]
fn reading_adds_no_line_break() {
    let w = world();
    let text = messages(&[("a", "")]);
    let path = w.put("s.jsonl", text.trim_end());
    w.open(&path);
    assert_eq!(read(&path), text.trim_end());
    if let Some(theirs) = looked_at(&path) {
        assert_eq!(theirs.text("rewritten"), Some(text));
    }
}

#[test]
fn reading_migrates_nothing() {
    let w = world();
    let path = w.put("s.jsonl", V1);
    w.open(&path);
    assert_eq!(read(&path), V1);
    if let Some(theirs) = looked_at(&path) {
        assert!(theirs.text("rewritten").unwrap().contains("\"version\":3"));
    }
}

#[test]
fn a_byte_order_mark_is_no_damage() {
    let w = world();
    let path = w.put("s.jsonl", &format!("\u{feff}{}", messages(&[("a", "")])));
    assert_eq!(w.open(&path).leaf_id(), Some("a"));
    if let Some(theirs) = looked_at(&path) {
        assert!(theirs.error().unwrap().contains("not a valid"));
    }
}

#[test]
fn values_that_are_no_objects_are_passed_over() {
    for value in ["42", "\"x\"", "[1]", "true"] {
        let w = world();
        let path = w.put("s.jsonl", &format!("{}{value}\n", messages(&[("a", "")])));
        let s = w.open(&path);
        assert_eq!((s.entries().len(), s.leaf_id()), (1, Some("a")));
        let Some(theirs) = looked_at(&path) else {
            return;
        };
        let told = theirs.get("told");
        assert_eq!(told.get("entries").unwrap().items().count(), 2);
        assert!(told.get("leaf").unwrap().is_null());
    }
}

#[test]
fn entries_with_one_id_are_each_in_the_tree() {
    let w = world();
    let twice = messages(&[("a", ""), ("b", "a"), ("b", "a")]);
    let path = w.put(
        "s.jsonl",
        &twice.replacen("\"content\":\"b\"", "\"content\":\"x\"", 1),
    );
    let ours = w.open(&path);
    let places: Vec<_> = ours.tree().walk().map(|n| n.entry).collect();
    assert_eq!(places, [0, 1, 2]);
    assert_eq!(ours.children("a").len(), 2);
    let question = Object::new().str("file", path.to_str().unwrap());
    let Some(theirs) = ask(PiVersion::V0_87, question.raw("look", b"[0]")) else {
        return;
    };
    let told = theirs.get("told");
    assert_eq!(told.get("tree").unwrap().items().count(), 3);
    let at = told.get("at").unwrap().items().next().unwrap();
    assert_eq!(at.get("children").unwrap().items().count(), 1);
}

#[test]
fn an_entry_without_an_id_is_no_leaf() {
    let w = world();
    let text = messages(&[("a", ""), ("b", "a")]).replace("\"id\":\"b\",", "");
    let path = w.put("s.jsonl", &text);
    assert_eq!(w.open(&path).leaf_id(), Some("a"));
    if let Some(theirs) = looked_at(&path) {
        assert!(theirs.get("told").get("leaf").unwrap().is_null());
    }
}

#[test]
fn a_fork_of_an_old_session_is_of_today() {
    let w = world();
    let source = w.put("v1.jsonl", V1);
    let fork = SessionManager::fork_from(&w.host, &source, "/y", None).unwrap();
    let messages = fork.build_session_context().messages.len();
    assert_eq!(messages, 4);
    let (from, to) = (source.to_str().unwrap(), w.path("theirs"));
    let call = Array::new().str("forkFrom").str(from).str("/y");
    let call = call.str(to.to_str().unwrap()).finish();
    let question = Object::new()
        .str("home", w.path("agent").to_str().unwrap())
        .raw("calls", &Array::new().raw(&call).finish());
    let Some(theirs) = ask(PiVersion::V0_87, question) else {
        return;
    };
    let told = theirs.get("told");
    assert!(told.get("leaf").unwrap().is_null());
    let seen = told.at(&["context", "messages"]).unwrap().items().count();
    assert!(seen < messages, "{seen}");
}

#[test]
fn a_later_version_is_not_written_to() {
    let w = world();
    let text = messages(&[("a", "")]).replace("\"version\":3", "\"version\":4");
    let path = w.put("s.jsonl", &text);
    agree(PiVersion::V0_87, &w, &path);
    let refused = w.open(&path).append_session_info("n").unwrap_err();
    assert!(matches!(refused, SessionError::TooNew { version: 4 }));
    let calls = Array::new()
        .raw(
            &Array::new()
                .str("open")
                .str(path.to_str().unwrap())
                .finish(),
        )
        .raw(&Array::new().str("appendSessionInfo").str("n").finish());
    let question = Object::new()
        .str("home", w.path("agent").to_str().unwrap())
        .raw("calls", &calls.finish());
    if let Some(theirs) = ask(PiVersion::V0_87, question) {
        assert!(theirs.text("text").unwrap().contains("session_info"));
    }
}

#[test]
fn a_circle_is_walked_once() {
    // They are not asked: they would never answer.
    let w = world();
    let path = w.put("s.jsonl", &messages(&[("a", "b"), ("b", "a")]));
    assert_eq!(w.open(&path).build_session_context().messages.len(), 2);
    let path = w.put("s.jsonl", &messages(&[("a", "a"), ("b", "a")]));
    let mut s = w.open(&path);
    assert_eq!(s.build_session_context().messages.len(), 2);
    user(&mut s, "c");
}

#[test]
fn what_atomic_leaves_out_of_the_context_is_marked() {
    let w = world();
    let line = r#"{"type":"custom_message","customType":"x","content":"c","display":true,"excludeFromContext":true,"id":"a","parentId":null,"timestamp":"2025-01-01T00:00:00.000Z"}"#;
    let path = w.put("s.jsonl", &session(&[line]));
    let ours = w.open(&path).build_session_context().to_json();
    assert!(String::from_utf8_lossy(&ours).contains("excludeFromContext"));
    if let Some(theirs) = looked_at(&path) {
        let told = raw(theirs.get("told").get("context").unwrap());
        assert!(!told.contains("excludeFromContext"), "{told}");
    }
}
