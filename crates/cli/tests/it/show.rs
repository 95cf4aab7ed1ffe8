//! `show`: text, Markdown, raw.

use std::fs;

use insta::assert_snapshot;

use crate::world::{World, tree};

fn talk(w: &World) -> String {
    w.fixture("1.1/project");
    fs::read_dir(w.project.join(".agent/threads"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .file_name()
        .into_string()
        .unwrap()
}

#[test]
fn text_for_people() {
    let w = World::new();
    let id = talk(&w);
    let answer = w.run(&["show", &id, "--thinking"]);
    assert_eq!(answer.code, 0, "{}", answer.err);
    assert_snapshot!("show_text", w.plain(&answer.out));
}

#[test]
fn markdown() {
    let w = World::new();
    let id = talk(&w);
    assert_snapshot!(
        "show_markdown",
        w.plain(&w.ok(&["show", &id, "--to", "markdown"]))
    );
}

#[test]
fn raw_is_the_log_s_bytes_and_all_files_in_a_folder() {
    let w = World::new();
    let id = talk(&w);
    let log = fs::read(w.folder(&id).join("messages.jsonl")).unwrap();
    let output = w.command(&["show", &id, "--to", "raw"]).output().unwrap();
    assert_eq!(output.stdout, log);
    w.ok(&["show", &id, "--to", "raw", "-o", "../copy"]);
    let copied = tree(&w.root.join("copy"));
    let original = tree(&w.folder(&id));
    assert_eq!(copied.len(), original.len());
    for ((_, a), (_, b)) in copied.iter().zip(&original) {
        assert_eq!(a, b);
    }
    // What is there and the same stays; what is not is never overwritten.
    w.ok(&["show", &id, "--to", "raw", "-o", "../copy"]);
    fs::write(w.root.join("copy/messages.jsonl"), "mine\n").unwrap();
    let again = w.run(&["show", &id, "--to", "raw", "-o", "../copy"]);
    assert_eq!(again.code, 1, "nothing is overwritten: {again:?}");
}

#[test]
fn the_last_messages_without_tools_into_a_file() {
    let w = World::new();
    let id = talk(&w);
    w.ok(&["show", &id, "--last", "2", "--no-tools", "-o", "talk.txt"]);
    let text = fs::read_to_string(w.project.join("talk.txt")).unwrap();
    assert_eq!(text.matches("\n#").count(), 2, "{text}");
    assert!(!text.contains('✓'), "{text}");
    let again = w.run(&["show", &id, "-o", "talk.txt"]);
    assert_eq!(again.code, 2, "{again:?}");
    assert!(
        again.err.contains("hint: `--force` replaces it"),
        "{}",
        again.err
    );
    w.ok(&["show", &id, "-o", "talk.txt", "--force"]);
}

#[test]
fn unknown_blocks_are_placeholders_that_name_the_type() {
    let w = World::new();
    let id = w.thread("T");
    w.message(&id, r#"{"role":"agent","content":[{"type":"chart","x":1},{"type":"image","assetRef":"gone.png","mimeType":"image/png"}]}"#);
    let answer = w.run(&["show", &id]);
    assert_eq!(answer.code, 3, "a missing asset is reported: {answer:?}");
    assert!(
        answer.out.contains("[unknown block: chart]"),
        "{}",
        answer.out
    );
    assert!(
        answer.out.contains("[missing image: gone.png]"),
        "{}",
        answer.out
    );
    assert!(
        answer
            .err
            .contains("messages.jsonl:1: the asset `gone.png` is missing"),
        "{}",
        answer.err
    );
}

#[test]
fn a_session_is_found_by_path_prefix_agent_and_latest() {
    let w = World::new();
    let id = w.thread("T");
    w.ok(&["append", &id, "the text"]);
    let folder = w.folder(&id);
    for name in [
        id.clone(),
        id[..8].to_owned(),
        format!("atsf:{}", &id[..6]),
        "latest".to_owned(),
        "atsf:latest".to_owned(),
        folder.to_str().unwrap().to_owned(),
        folder.join("thread.json").to_str().unwrap().to_owned(),
        format!(".agent/threads/{id}"),
        format!(".#{}", &id[..5]),
        ".".to_owned(),
    ] {
        assert!(w.ok(&["show", &name]).contains("the text"), "{name}");
    }
}

#[test]
fn a_thread_is_a_tree_without_branches() {
    let w = World::new();
    let id = w.thread("T");
    w.message(
        &id,
        r#"{"id":"question","role":"user","content":"Where is it?"}"#,
    );
    w.message(&id, r#"{"id":"answer","role":"agent","content":"Here."}"#);
    assert_snapshot!(w.ok(&["tree", &id]), @r"
    T
    rethread · shop · today 12:00 · 2 messages
    da23eb79-fcd7-4a8d-bb47-d6e65f198aa1

    ● #1  You  Where is it?
    ● #2  rethread  Here.  ◀ leaf
    ");
    let rows: Vec<_> = w
        .ok(&["tree", &id, "--json"])
        .lines()
        .map(crate::world::json)
        .collect();
    assert_eq!(rows[1]["parent_id"], "question");
    assert_eq!(rows[1]["leaf"], true);
}
