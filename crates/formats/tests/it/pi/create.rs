//! Making and opening sessions.

use rethread_formats::pi::{
    NewSessionOptions, SessionManager, most_recent_session, session_folder,
};

use super::world::{HEADER, assistant, messages, read, said, user, world};

#[test]
fn a_session_gets_the_id_that_was_chosen() {
    let mut s = world().memory();
    let options = |id: &str| NewSessionOptions {
        id: Some(id.to_owned()),
        parent_session: None,
    };
    for id in ["mine", "a", "2026-01-02_x.y", "a..b"] {
        s.new_session(options(id)).unwrap();
        assert_eq!((s.session_id(), s.header().id()), (id, id));
    }
    for id in ["", "-a", "a-", ".", "a/b", "ü", "a b"] {
        let error = s.new_session(options(id)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "Session id must be non-empty, contain only alphanumeric characters, '-', '_', and '.', and start and end with an alphanumeric character"
        );
        assert_eq!(s.session_id(), "a..b", "a refusal changes nothing");
    }
}

#[test]
fn a_chosen_id_is_in_the_file_name() {
    let w = world();
    let mut s = w.create();
    let options = NewSessionOptions {
        id: Some("mine".to_owned()),
        parent_session: Some("/old.jsonl".into()),
    };
    let file = s.new_session(options).unwrap().unwrap().to_owned();
    assert!(file.ends_with("2026-11-15T17-50-28-602Z_mine.jsonl"));
    assert_eq!(s.header().parent_session(), Some("/old.jsonl"));
    user(&mut s, "a");
    assert!(read(&file).starts_with(
        r#"{"type":"session","version":3,"id":"mine","timestamp":"2026-11-15T17:50:28.602Z","cwd":"/p","parentSession":"/old.jsonl"}"#
    ));
}

#[test]
fn without_a_chosen_id_it_is_a_uuid_of_version_7() {
    let mut s = world().memory();
    let first = s.session_id().to_owned();
    let id: uuid::Uuid = first.parse().unwrap();
    assert_eq!(id.get_version_num(), 7);
    assert!(
        first.starts_with("01a1e054-fcfa"),
        "the clock is in {first}"
    );
    s.new_session(NewSessionOptions::default()).unwrap();
    assert_ne!(s.session_id(), first);
}

#[test]
fn a_file_that_is_not_there_is_a_new_session_bound_to_it() {
    let w = world();
    let path = w.path("new.jsonl");
    let mut s = w.open(&path);
    assert!(s.entries().is_empty());
    assert!(!path.exists());
    assert_eq!(s.session_file(), Some(path.as_path()));
    user(&mut s, "a");
    assert_eq!(read(&path).lines().count(), 2);
}

#[test]
fn an_empty_file_gets_a_header_and_keeps_its_path() {
    let w = world();
    let path = w.put("empty.jsonl", "");
    let mut s = w.open(&path);
    assert_eq!(s.session_file(), Some(path.as_path()));
    assert_eq!(
        read(&path),
        format!("{}\n", String::from_utf8_lossy(s.header().raw()))
    );
    user(&mut s, "a");
    assert_eq!(read(&path).lines().count(), 2);
    assert_eq!(said(&w.open(&path)), ["user: a"]);
}

#[test]
fn a_file_that_is_no_session_is_an_error_and_stays() {
    let w = world();
    for text in [
        "not json\n",
        "\n",
        "{\"type\":\"message\",\"id\":\"1\"}\n",
        "{\"type\":\"session\",\"id\":5}\n",
        "42\n",
        "null\n",
    ] {
        let path = w.put("bad.jsonl", text);
        let error = SessionManager::open(&w.host, &path, None).unwrap_err();
        let expected = format!("Session file is not a valid pi session: {}", path.display());
        assert_eq!(error.to_string(), expected);
        assert_eq!(read(&path), text);
    }
}

#[test]
fn a_session_file_is_read_with_its_working_directory() {
    let w = world();
    let path = w.put("s.jsonl", &messages(&[("a", ""), ("b", "a")]));
    let s = w.open(&path);
    assert_eq!(s.entries().len(), 2);
    assert_eq!(s.cwd().to_str(), Some("/p"));
    assert_eq!(s.session_dir(), w.home.path());
    let s = SessionManager::open_in(&w.host, &path, None, Some("/q".as_ref())).unwrap();
    assert_eq!(s.cwd().to_str(), Some("/q"));
}

#[test]
fn a_long_header_is_found() {
    let w = world();
    let folder = "x".repeat(3000);
    let path = w.put("s.jsonl", &HEADER.replace("/p", &format!("/{folder}")));
    assert_eq!(most_recent_session(w.home.path(), None), Some(path));
}

#[test]
fn going_on_takes_the_latest_session_of_the_working_directory() {
    let w = world();
    let mut s = SessionManager::continue_recent(&w.host, "/p", None).unwrap();
    assert!(s.entries().is_empty());
    user(&mut s, "a");
    let again = SessionManager::continue_recent(&w.host, "/p", None).unwrap();
    assert_eq!(again.session_id(), s.session_id());
    let dir = s.session_dir().to_owned();
    let other = SessionManager::continue_recent(&w.host, "/other", Some(&dir)).unwrap();
    assert_ne!(other.session_id(), s.session_id());
    let same = SessionManager::continue_recent(&w.host, "/p/.", Some(&dir)).unwrap();
    assert_eq!(same.session_id(), s.session_id());
}

#[test]
fn folders_are_named_after_the_working_directory() {
    for (cwd, name) in [
        ("/", "----"),
        ("/a b/c", "--a b-c--"),
        ("/x:y", "--x-y--"),
        ("/trail/", "--trail--"),
        ("C:\\Users\\me", "--C--Users-me--"),
        ("/ü.d", "--ü.d--"),
    ] {
        assert_eq!(session_folder(cwd.as_ref()), name, "{cwd}");
    }
    let w = world();
    let s = w.create();
    assert_eq!(s.session_dir(), w.path(".pi/agent/sessions/--p--"));
    assert!(s.session_dir().is_dir(), "the folder is made at once");
}

#[test]
fn a_fork_copies_the_entries_and_names_its_source() {
    let w = world();
    let text = messages(&[("a", ""), ("b", "a")]);
    let path = w.put("s.jsonl", &text);
    let fork = SessionManager::fork_from(&w.host, &path, "/q", None).unwrap();
    let file = fork.session_file().unwrap();
    assert_eq!(fork.header().cwd(), Some("/q"));
    assert_eq!(fork.header().parent_session(), path.to_str());
    let entries = |text: &str| text.split_once('\n').unwrap().1.to_owned();
    assert_eq!(entries(&read(file)), entries(&text));
    assert_eq!(read(&path), text);
}

#[test]
fn what_cannot_be_forked() {
    let w = world();
    for path in [
        w.path("gone.jsonl"),
        w.put("e.jsonl", ""),
        w.put("x.jsonl", "x\n"),
    ] {
        let error = SessionManager::fork_from(&w.host, &path, "/q", None).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "Cannot fork: source session file is empty or invalid: {}",
                path.display()
            )
        );
    }
}

#[test]
fn another_file_takes_the_place_of_the_session() {
    let w = world();
    let path = w.put("s.jsonl", &messages(&[("a", "")]));
    let mut s = w.create();
    assistant(&mut s, "gone");
    s.set_session_file(&path).unwrap();
    assert_eq!(s.session_id(), "s");
    assert_eq!(said(&s), ["user: a"]);
    let mut m = w.memory();
    m.set_session_file(&path).unwrap();
    user(&mut m, "b");
    assert_eq!(m.session_file(), None);
    assert_eq!(read(&path).lines().count(), 2, "memory stays memory");
}
