//! Lists of sessions, and the one to go on with.

use std::path::Path;

use rethread_formats::pi::{SessionInfo, SessionManager, most_recent_session};
use rethread_json::{Array, Object, quote};
use rethread_judges::PiVersion;

use super::super::world::{HEADER, assistant, messages, user};
use super::old::V1;
use super::view::or_null;
use super::{World, ask, same_text, world};

/// Sessions of all kinds in one folder, and what is none.
fn put_sessions(w: &World) {
    let folder = w.path("all");
    for name in ["one", "two"] {
        let mut s = SessionManager::create(&w.host, "/p", Some(&folder)).unwrap();
        user(&mut s, name);
        assistant(&mut s, "yes");
        s.append_session_info(&format!(" the {name} ")).unwrap();
        let first = s.entries()[0].id().to_owned();
        s.create_branched_session(&first).unwrap();
    }
    SessionManager::fork_from(&w.host, w.put("v1.jsonl", V1), "/p", Some(&folder)).unwrap();
    let late = |text: &str| text.replace("\"timestamp\":1}", "\"timestamp\":1800000000000}");
    let blocks = r#"{"type":"message","id":"b","parentId":"a","timestamp":"2025-01-01T00:00:05.000Z","message":{"role":"user","content":[{"type":"text","text":"x"},{"type":"image","data":"","mimeType":"i"},{"type":"text","text":"y"}]}}"#;
    for (name, text) in [
        ("late", late(&messages(&[("a", ""), ("b", "a")]))),
        ("blocks", format!("{HEADER}\n{blocks}\n")),
        ("old", V1.replace("\"/x\"", "\"/p\"")),
        ("none", format!("{HEADER}\n")),
        ("crlf", messages(&[("a", "")]).replace('\n', "\r\n")),
        (
            "torn",
            format!("{}{{\"type\":\"mess", messages(&[("a", "")])),
        ),
        (
            "elsewhere",
            messages(&[("a", "")]).replace("\"/p\"", "\"/elsewhere\""),
        ),
        ("foreign", "{\"type\":\"other\"}\n".to_owned()),
        ("empty", String::new()),
        ("words", "words\n".to_owned()),
    ] {
        w.put(&format!("all/{name}.jsonl"), &text);
    }
    w.put("all/notes.txt", &messages(&[("a", "")]));
}

/// As the real program lists it.
fn as_json(info: &SessionInfo) -> Vec<u8> {
    let created = info.created.map(|moment| moment.to_string());
    Object::new()
        .str("path", info.path.to_str().unwrap())
        .str("id", &info.id)
        .str("cwd", &info.cwd)
        .opt_str("name", info.name.as_deref())
        .opt_str("parentSessionPath", info.parent_session_path.as_deref())
        .raw("created", &or_null(created.as_deref()))
        .str("modified", &info.modified.to_string())
        .u64("messageCount", u64::try_from(info.message_count).unwrap())
        .str("firstMessage", &info.first_message)
        .str("allMessagesText", &info.all_messages_text)
        .finish()
}

/// What the judge lists, one session a line, in the order of their paths.
fn theirs(w: &World, method: &str, args: &[&Path]) -> Option<String> {
    let args = args.iter().map(|arg| quote(arg.to_str().unwrap()));
    let call = args.fold(Array::new().str(method), |all, arg| all.raw(&arg));
    let question = Object::new()
        .str("home", w.path("agent").to_str().unwrap())
        .raw("calls", &Array::new().raw(&call.finish()).finish());
    let answer = ask(PiVersion::V0_87, question)?;
    let gave = answer.get("gave").items().next().unwrap();
    let lines = gave.items().map(|info| info.raw().to_vec());
    Some(sorted(lines.collect()))
}

/// Sessions of the same time are in no order.
fn sorted(mut lines: Vec<Vec<u8>>) -> String {
    lines.sort();
    String::from_utf8(lines.join(&b'\n')).unwrap()
}

#[test]
fn the_same_is_listed() {
    let w = world();
    put_sessions(&w);
    let folder = w.path("all");
    let ours = SessionManager::list(&w.host, "/p", Some(&folder), None).unwrap();
    let Some(listed) = theirs(&w, "list", &["/p".as_ref(), &folder]) else {
        return;
    };
    same_text(
        "the list",
        &listed,
        &sorted(ours.iter().map(as_json).collect()),
    );

    // All that there are, by working folders.
    w.put(".pi/agent/sessions/--p--/a.jsonl", &messages(&[("a", "")]));
    w.put(".pi/agent/sessions/--q--/b.jsonl", &messages(&[("b", "")]));
    w.put(".pi/agent/sessions/c.jsonl", &messages(&[("c", "")]));
    let ours = SessionManager::list_all(&w.host, None, None).unwrap();
    assert_eq!(ours.len(), 2);
    let home = w.path(".pi/agent");
    let question = Object::new()
        .str("home", home.to_str().unwrap())
        .raw("calls", br#"[["listAll"]]"#);
    let answer = ask(PiVersion::V0_87, question).unwrap();
    let gave = answer.get("gave").items().next().unwrap();
    let listed = sorted(gave.items().map(|info| info.raw().to_vec()).collect());
    same_text("all", &listed, &sorted(ours.iter().map(as_json).collect()));
}

#[test]
fn the_same_is_gone_on_with() {
    let w = world();
    let foreign = "{\"type\":\"other\"}\n".to_owned();
    let elsewhere = messages(&[("a", "")]).replace("\"/p\"", "\"/elsewhere\"");
    let long = HEADER.replace('{', &format!("{{\"long\":\"{}\",", "x".repeat(5000)));
    // Each is newer than those before it, and the newest are not meant.
    let texts = [
        messages(&[("a", "")]),
        format!("no JSON\n{long}\n"),
        elsewhere,
        foreign,
        String::new(),
    ];
    for (minute, text) in (1..).zip(texts) {
        let path = w.put(&format!("all/{minute}.jsonl"), &text);
        let file = std::fs::File::options().append(true).open(path).unwrap();
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(minute * 60);
        file.set_modified(time).unwrap();
    }
    let folder = w.path("all");
    let ours = most_recent_session(&folder, Some("/p".as_ref())).unwrap();
    assert!(ours.ends_with("2.jsonl"));
    let call = Array::new().str("continueRecent").str("/p");
    let call = call.str(folder.to_str().unwrap()).finish();
    let question = Object::new()
        .str("home", w.path("agent").to_str().unwrap())
        .raw("calls", &Array::new().raw(&call).finish());
    if let Some(theirs) = ask(PiVersion::V0_87, question) {
        assert_eq!(theirs.text("file").as_deref(), ours.to_str());
    }
}
