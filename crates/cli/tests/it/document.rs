//! The document's own examples and layouts.

use std::fs;

use rethread_json::{Document, split_lines};

use crate::world::{World, fixtures, json};

#[test]
fn every_block_of_the_document_is_parsed_and_saved_back() {
    let folder = fixtures().join("1.1/document");
    let mut seen = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        match path.extension().and_then(|e| e.to_str()) {
            Some("json") => {
                let document = Document::parse(bytes.clone()).unwrap();
                assert!(document.root().is_object(), "{}", path.display());
                assert_eq!(document.into_bytes(), bytes, "{}", path.display());
            }
            Some("jsonl") => {
                let mut saved = Vec::new();
                for (span, line) in split_lines(&bytes) {
                    let document = Document::parse(line.to_vec()).unwrap();
                    saved.extend_from_slice(document.root().raw());
                    saved.extend(span.terminated.then_some(b'\n'));
                }
                assert_eq!(saved, bytes);
            }
            _ => continue,
        }
        seen += 1;
    }
    assert_eq!(seen, 6);
}

#[test]
fn the_document_s_thread_is_read_and_continued() {
    let w = World::new();
    w.ok(&["init"]);
    let id = "a1b2c3d4-e5f6-7890-abcd-ef1234567890";
    let folder = w.folder(id);
    fs::create_dir_all(&folder).unwrap();
    for name in ["thread.json", "messages.jsonl"] {
        fs::copy(
            fixtures().join("1.1/document").join(name),
            folder.join(name),
        )
        .unwrap();
    }
    let record = json(
        &w.ok(&["show", "msg-thread", "--json"].map(|a| if a == "msg-thread" { id } else { a })),
    );
    assert_eq!(record["session"]["title"], "Fix authentication bug");
    assert_eq!(record["messages"][0]["uuid"], "msg-001");
    assert_eq!(
        record["messages"][1]["content"][1]["tool_name"],
        "file_read"
    );
    let before = fs::read_to_string(folder.join("thread.json")).unwrap();
    w.ok(&["append", id, "on we go"]);
    let after = fs::read_to_string(folder.join("thread.json")).unwrap();
    assert!(after.contains("\"specVersion\": \"1.0\""), "{after}");
    assert_eq!(
        w.manifest(id)["stats"]["messageCount"],
        3,
        "the stats are true now"
    );
    assert_eq!(w.manifest(id)["context"], json(&before)["context"]);
}

#[test]
fn both_layouts_are_what_we_write() {
    for (case, drawing) in [
        ("project", "layout.txt"),
        ("worktree", "worktree-layout.txt"),
    ] {
        let w = World::new();
        w.fixture(&format!("1.1/{case}"));
        let text = fs::read_to_string(fixtures().join("1.1/document").join(drawing)).unwrap();
        for name in [
            "config.json",
            ".gitignore",
            "threads/",
            "thread.json",
            "messages.jsonl",
            "assets/",
        ] {
            assert!(text.contains(name), "{drawing}: {name}");
        }
        let agent = w.project.join(".agent");
        let answer = w.run(&["show", "latest"]);
        assert_eq!(answer.code, 0, "{answer:?}");
        let made = json(&w.ok(&["new", "--format", "atsf", "--json"]));
        let id = made["id"].as_str().unwrap();
        w.message(
            id,
            r#"{"role":"user","content":[{"type":"image","data":"QQ==","mimeType":"image/png"}]}"#,
        );
        for path in [
            agent.join("config.json"),
            agent.join(".gitignore"),
            agent.join("threads").join(id).join("thread.json"),
            agent.join("threads").join(id).join("messages.jsonl"),
            agent.join("threads").join(id).join("assets"),
        ] {
            assert!(path.exists(), "{}", path.display());
        }
    }
}

#[test]
fn every_fixture_is_saved_back_byte_for_byte() {
    let w = World::new();
    for case in [
        "1.0/minimal",
        "1.1/project",
        "1.1/worktree",
        "1.1/no-version",
        "1.1/damaged",
        "1.1/crlf-bom",
        "1.7/future-fields",
    ] {
        w.fixture(case);
    }
    let threads: Vec<_> = fs::read_dir(w.project.join(".agent/threads"))
        .unwrap()
        .collect();
    assert_eq!(threads.len(), 7);
    for thread in threads {
        let folder = thread.unwrap().path();
        crate::corpus::assert_lossless(&folder);
    }
}
