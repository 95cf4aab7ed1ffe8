//! Where an export goes, and what it is packed with.

use std::fs;
use std::io::Read as _;
use std::process::Stdio;

use super::{populated, read};
use crate::world::{World, json, tree};

#[test]
fn a_suffix_makes_a_file_and_anything_else_a_folder() {
    let w = populated();
    for (to, written) in [
        ("a.ndjson", "a.ndjson"),
        ("deep/er/b.ndjson", "deep/er/b.ndjson"),
        ("folder", "folder/export_20261115_120000.ndjson"),
        ("folder.d", "folder.d/export_20261115_120000.ndjson"),
    ] {
        assert_eq!(w.ok(&["export", "-o", to]), format!("{written}\n"));
        assert!(w.project.join(written).is_file());
    }
    let answer = w.run(&["export", "-o", "a.ndjson"]);
    assert_eq!(answer.code, 2, "{answer:?}");
    assert!(answer.err.contains("`a.ndjson` exists"), "{answer:?}");
    w.ok(&["export", "-o", "a.ndjson", "--force"]);
    for args in [
        &["export", "-o", "x.md", "--json"][..],
        &["export", "-o", "x.ndjson", "--markdown"],
        &["export", "-o", "-", "--source"],
        &["export", "-o", "x.html"],
    ] {
        assert_eq!(w.run(args).code, 2, "{args:?}");
    }
}

#[test]
fn packed_and_piped_exports_have_the_same_content() {
    let w = populated();
    let plain = w.ok(&["export", "-o", "-"]);
    w.ok(&["export", "-o", "a.ndjson"]);
    w.ok(&["export", "-o", "a.ndjson.gz"]);
    w.ok(&["export", "-o", "a.ndjson.zst"]);
    assert_eq!(read(&w.project.join("a.ndjson")), plain.as_bytes());
    let mut text = String::new();
    let gz = read(&w.project.join("a.ndjson.gz"));
    flate2::read::GzDecoder::new(gz.as_slice())
        .read_to_string(&mut text)
        .unwrap();
    assert_eq!(text, plain);
    let zst = read(&w.project.join("a.ndjson.zst"));
    assert_eq!(
        zstd::stream::decode_all(zst.as_slice()).unwrap(),
        plain.as_bytes()
    );
    for file in ["a.ndjson.gz", "a.ndjson.zst"] {
        let listed = w.ok(&["list", file, "--json"]);
        assert_eq!(listed.lines().count(), 3, "{file}");
        assert_eq!(w.ok(&["export", file, "-o", "-"]), plain, "{file}");
        assert_eq!(w.run(&["check", file]).code, 0, "{file}");
    }
}

#[test]
fn the_same_store_gives_the_same_bytes_and_reading_changes_nothing() {
    let w = populated();
    let before = tree(&w.root);
    let one = w.ok(&["export", "-o", "-"]);
    assert_eq!(w.ok(&["export", "-o", "-"]), one);
    assert_eq!(tree(&w.root), before);
}

#[test]
fn nothing_to_export_is_said() {
    let w = World::new();
    let answer = w.run(&["export", "-o", "a.ndjson"]);
    assert_eq!(
        (answer.code, answer.err.as_str()),
        (1, "no sessions were found\n")
    );
    assert!(!w.project.join("a.ndjson").exists());
}

#[test]
fn a_damaged_session_is_exported_and_a_hopeless_one_is_left_out() {
    let w = populated();
    let good = w.thread("Good");
    let log = w.folder(&good).join("messages.jsonl");
    w.ok(&["append", &good, "--role", "user", "fine"]);
    let mut bytes = fs::read(&log).unwrap();
    bytes.extend_from_slice(b"{\"id\":\"torn");
    fs::write(&log, bytes).unwrap();
    let lost = w.thread("Lost");
    fs::write(w.folder(&lost).join("thread.json"), "{{{").unwrap();
    let answer = w.run(&["export", "-o", "a.ndjson", "--report", "json"]);
    assert_eq!(answer.code, 3, "{answer:?}");
    let report = json(&answer.out);
    assert_eq!(report["files"], json(r#"["a.ndjson"]"#));
    assert_eq!(report["session_count"], 4);
    assert_eq!(report["skipped"], 1);
    assert!(answer.err.contains("not finished"), "{answer:?}");
    assert!(answer.err.contains("left out"), "{answer:?}");
    let text = fs::read_to_string(w.project.join("a.ndjson")).unwrap();
    let all: Vec<serde_json::Value> = text.lines().map(json).collect();
    super::assert_header_fits(&all);
    assert!(text.contains(&good) && !text.contains(&lost));
    let strict = w.run(&["export", "-o", "b.ndjson", "--strict"]);
    assert_eq!(strict.code, 1, "{strict:?}");
    assert!(!w.project.join("b.ndjson").exists());
    let piped = w.run(&["export", "-o", "-", "--strict"]);
    assert_eq!((piped.code, piped.out.as_str()), (1, ""));
}

#[test]
fn a_closed_pipe_ends_it_quietly() {
    let w = World::new();
    let id = w.thread("Long");
    w.pipe(&["append", &id, "--role", "user"], "x".repeat(1 << 20));
    let mut child = w
        .command(&["export", "-o", "-"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn originals_come_with_their_folders_and_a_manifest() {
    use sha2::{Digest as _, Sha256};
    let w = populated();
    w.ok(&["export", "--source", "-o", "out"]);
    let root = w.project.join("out/source_20261115_120000");
    let manifest = json(&fs::read_to_string(root.join("manifest.json")).unwrap());
    let files = manifest["files"].as_array().unwrap();
    assert!(files.len() >= 4, "{manifest}");
    for file in files {
        let path = file["path"].as_str().unwrap();
        let copy = read(&root.join(path));
        assert_eq!(copy, read(&std::path::Path::new("/").join(path)), "{path}");
        let digest: String = Sha256::digest(&copy)
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect();
        assert_eq!(file["sha256"], digest);
        assert_eq!(file["size"], copy.len());
    }
}

#[test]
fn markdown_is_a_file_for_each_session() {
    let w = populated();
    let out = w.ok(&["export", "--markdown", "-o", "pages"]);
    assert_eq!(out.lines().count(), 3);
    for path in out.lines() {
        let page = fs::read_to_string(w.project.join(path)).unwrap();
        assert!(page.starts_with("# "), "{page}");
    }
    let all = w.ok(&["export", "--markdown", "-o", "-"]);
    assert_eq!(all.matches("\n---\n").count(), 2);
}
