//! Which sessions there are.

use rethread_formats::pi::SessionManager;

use super::world::{HEADER, assistant, messages, session, user, world};

#[test]
fn a_session_is_described() {
    let w = world();
    let mut s = w.create();
    let file = s.session_file().unwrap().to_owned();
    s.append_session_info("old").unwrap();
    user(&mut s, "hello");
    assistant(&mut s, "hi");
    s.append_session_info(" new ").unwrap();
    let list = SessionManager::list(&w.host, "/p", None, None).unwrap();
    let [info] = &list[..] else { panic!() };
    assert_eq!(info.path, file);
    assert_eq!(info.id, s.session_id());
    assert_eq!(info.cwd, "/p");
    assert_eq!(info.name.as_deref(), Some("new"));
    assert_eq!(info.parent_session_path, None);
    assert_eq!(
        info.created.unwrap().to_string(),
        "2026-11-15T17:50:28.602Z"
    );
    assert_eq!(info.modified.millis(), 2);
    assert_eq!(info.message_count, 2);
    assert_eq!(info.first_message, "hello");
    assert_eq!(info.all_messages_text, "hello hi");
}

#[test]
fn a_session_without_messages_says_so() {
    let w = world();
    w.put("d/s.jsonl", HEADER);
    let list = SessionManager::list(&w.host, "/p", Some(&w.path("d")), None).unwrap();
    assert_eq!(list[0].first_message, "(no messages)");
    assert_eq!(list[0].modified.to_string(), "2025-01-01T00:00:00.000Z");
}

#[test]
fn the_time_is_that_of_the_last_user_or_model_message() {
    let w = world();
    let lines = [
        r#"{"type":"message","id":"a","timestamp":"2025-01-02T00:00:00.000Z","message":{"role":"user","content":[{"type":"text","text":"x"},{"type":"image"},{"type":"text","text":"y"}]}}"#,
        r#"{"type":"message","id":"b","timestamp":"2025-01-09T00:00:00.000Z","message":{"role":"toolResult","content":[]}}"#,
        r#"{"type":"session_info","id":"c","timestamp":"2025-01-10T00:00:00.000Z","name":"  "}"#,
    ];
    w.put("d/s.jsonl", &session(&lines));
    let list = SessionManager::list_all(&w.host, Some(&w.path("d")), None).unwrap();
    assert_eq!(list[0].modified.to_string(), "2025-01-02T00:00:00.000Z");
    assert_eq!(
        (list[0].message_count, list[0].first_message.as_str()),
        (2, "x y")
    );
    assert_eq!(list[0].name, None);
}

#[test]
fn what_is_no_session_is_left_out_and_the_latest_comes_first() {
    let w = world();
    w.put("d/a.jsonl", HEADER);
    w.put("d/b.jsonl", &HEADER.replace("2025", "2026"));
    w.put("d/c.jsonl", "no\n");
    w.put("d/d.txt", HEADER);
    w.put("d/e.jsonl", &HEADER.replace("/p", "/other"));
    let mut seen = Vec::new();
    let dir = w.path("d");
    let list = SessionManager::list(
        &w.host,
        "/p",
        Some(&dir),
        Some(&mut |n, of| seen.push((n, of))),
    )
    .unwrap();
    let names: Vec<_> = list
        .iter()
        .map(|i| i.path.file_name().unwrap().to_str().unwrap())
        .collect();
    assert_eq!(names, ["b.jsonl", "a.jsonl"]);
    assert_eq!(seen, [(1, 4), (2, 4), (3, 4), (4, 4)]);
    assert!(
        SessionManager::list(&w.host, "/nowhere", None, None)
            .unwrap()
            .is_empty()
    );
}

#[test]
fn all_working_directories_are_listed() {
    let w = world();
    for cwd in ["--a--", "--b--"] {
        w.put(
            &format!(".pi/agent/sessions/{cwd}/s.jsonl"),
            &messages(&[("a", "")]),
        );
    }
    let all = SessionManager::list_all(&w.host, None, None).unwrap();
    assert_eq!(all.len(), 2);
}

#[test]
fn sessions_of_a_workflow_are_marked() {
    let w = world();
    let whole = r#""internal":true,"workflow":{"runId":"r","stageId":"s","stageName":"n"},"cwd""#;
    w.put("d/a.jsonl", &HEADER.replace("\"cwd\"", whole));
    w.put(
        "d/b.jsonl",
        &HEADER.replace("\"cwd\"", &whole.replace("\"r\"", "\" \"")),
    );
    let list = SessionManager::list_all(&w.host, Some(&w.path("d")), None).unwrap();
    assert_eq!(list.iter().filter(|i| i.is_internal).count(), 1);
}
