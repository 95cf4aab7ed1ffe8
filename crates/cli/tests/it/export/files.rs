//! Where an export goes, and what it is packed with.

use std::fs;
use std::io::Read as _;
use std::process::Stdio;

use super::{lines, populated, read};
use crate::world::{World, json, tree};

#[test]
fn a_suffix_makes_a_file_and_anything_else_a_folder() {
    let w = populated();
    for (to, written) in [
        ("a.ndjson", "a.ndjson"),
        ("deep/er/b.ndjson", "deep/er/b.ndjson"),
        ("folder", "folder/export_20261115_120000.ndjson"),
        ("folder.d/", "folder.d/export_20261115_120000.ndjson"),
    ] {
        assert_eq!(w.ok(&["export", "-o", to]), format!("{written}\n"));
        assert!(w.project.join(written).is_file());
    }
    // Without `-o`, the current folder.
    assert_eq!(w.ok(&["export"]), "export_20261115_120000.ndjson\n");
    assert!(w.project.join("export_20261115_120000.ndjson").is_file());
    let answer = w.run(&["export", "-o", "a.ndjson"]);
    assert_eq!(answer.code, 2, "{answer:?}");
    assert!(answer.err.contains("`a.ndjson` exists"), "{answer:?}");
    w.ok(&["export", "-o", "a.ndjson", "--force"]);
    for args in [
        &["export", "-o", "x.md", "--json"][..],
        &["export", "-o", "x.ndjson", "--markdown"],
        &["export", "-o", "-", "--source"],
        &["export", "-o", "x.html", "--markdown"],
        &["export", "-o", "x.md", "--html"],
        &["export", "-o", "x.ndjson", "--html"],
        // Nothing is exported as that; a folder of that name ends in a slash.
        &["export", "-o", "folder.e"],
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

/// `--json` is a form in the document, whose calls print paths; beside forms that it does not know it
/// means what it means everywhere.
#[test]
fn what_was_exported_is_told_in_json_where_the_document_does_not_show_paths() {
    let w = populated();
    let mut first = None;
    for forms in [
        &["--html"][..],
        &["--markdown"],
        &["--html", "--source", "--markdown"],
    ] {
        let folder = format!("out{}", forms.len());
        let asked = [&["export", "--force", "--json", "-o", &folder][..], forms].concat();
        let told = json(&w.ok(&asked));
        assert_eq!(told["skipped"], 0, "{forms:?}");
        let files = told["files"].as_array().unwrap();
        assert!(files.len() > forms.len(), "{files:?}");
        for file in files {
            assert!(w.project.join(file.as_str().unwrap()).exists(), "{file}");
        }
        let count = first.get_or_insert_with(|| told["session_count"].clone());
        assert_eq!(told["session_count"], *count, "{forms:?}");
    }
    let paths = w.ok(&["export", "--json", "--source", "-o", "plain"]);
    assert!(
        paths.lines().all(|path| path.starts_with("plain/")),
        "{paths}"
    );
    let report = ["export", "--json", "--report", "json", "-o", "reported"];
    assert_eq!(json(&w.ok(&report))["files"].as_array().unwrap().len(), 1);
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

#[test]
fn strict_writes_nothing_in_any_form() {
    let w = populated();
    let id = w.thread("Torn");
    let log = w.folder(&id).join("messages.jsonl");
    fs::write(&log, b"{\"id\":\"torn").unwrap();
    let before = tree(&w.project);
    for form in ["--json", "--markdown", "--source"] {
        let answer = w.run(&["export", form, "-o", "out", "--strict"]);
        assert_eq!(
            (answer.code, answer.out.as_str()),
            (1, ""),
            "{form}: {answer:?}"
        );
        assert!(answer.err.contains("because of `--strict`"), "{answer:?}");
    }
    let together = ["export", "--json", "--source", "--markdown", "--strict"];
    assert_eq!(w.run(&together).code, 1);
    let streamed = w.run(&["export", "--markdown", "--strict", "-o", "-"]);
    assert_eq!((streamed.code, streamed.out.as_str()), (1, ""));
    let one = w.run(&["export", "--markdown", "--strict", "-o", "all.md"]);
    assert_eq!(one.code, 1, "{one:?}");
    assert_eq!(tree(&w.project), before);
    fs::remove_dir_all(w.folder(&id)).unwrap();
    assert_eq!(w.run(&together).code, 0);
}

#[test]
fn what_cannot_be_read_is_named_once_and_an_export_of_nothing_is_none() {
    let w = World::new();
    let text = fs::read_to_string(super::example()).unwrap();
    let text = text.replacen("\"1.0\"", "\"3.0\"", 1);
    fs::write(w.project.join("v.ndjson"), text).unwrap();
    for args in [
        &["export", "v.ndjson", "-o", "out.ndjson"][..],
        &["export", "v.ndjson", "-o", "-"],
        &["export", "v.ndjson", "--markdown", "-o", "out.md"],
        &["export", "v.ndjson", "--source", "-o", "out"],
    ] {
        let answer = w.run(args);
        assert_eq!((answer.code, answer.out.as_str()), (1, ""), "{answer:?}");
        assert_eq!(answer.err.matches("v.ndjson").count(), 1, "{answer:?}");
        assert!(
            answer.err.contains("version 3.0 of Unified NDJSON"),
            "{answer:?}"
        );
    }
    assert_eq!(tree(&w.project).len(), 1);
}

#[test]
fn an_export_reminds_of_secrets() {
    let w = populated();
    for args in [
        &["export", "-o", "a.ndjson"][..],
        &["export", "-o", "-"],
        &["export", "--markdown", "-o", "pages"],
        &["export", "--source", "-o", "files"],
    ] {
        let answer = w.run(args);
        assert_eq!(answer.code, 0, "{answer:?}");
        assert!(
            answer.err.contains("look through it before you share it"),
            "{answer:?}"
        );
    }
}

#[test]
fn a_session_can_be_shown_as_an_export_of_its_own() {
    let w = populated();
    let listed = w.ok(&["list", "--agent", "pi", "--json"]);
    let id = json(&listed)["id"].as_str().unwrap().to_owned();
    let exported = w.ok(&["export", &id, "-o", "-"]);
    assert_eq!(w.ok(&["show", &id, "--to", "ndjson"]), exported);
    assert_eq!(w.ok(&["show", &id, "--to", "ndjson", "--json"]), exported);
    w.ok(&["show", &id, "--to", "ndjson", "-o", "one.ndjson"]);
    assert_eq!(read(&w.project.join("one.ndjson")), exported.as_bytes());
    assert_eq!(w.ok(&["show", "one.ndjson", "--to", "ndjson"]), exported);
    let last = w.ok(&["show", &id, "--to", "ndjson", "--last", "1"]);
    let all: Vec<serde_json::Value> = last.lines().map(json).collect();
    super::assert_header_fits(&all);
    let messages = all[1]["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 1);
    assert_eq!(messages[0]["content"][0]["text"], "there");
    assert_eq!(messages[0]["parent_uuid"], serde_json::Value::Null);
    fs::write(w.project.join("last.ndjson"), last).unwrap();
    assert_eq!(w.run(&["check", "last.ndjson"]).code, 0);
}

#[test]
fn no_bar_is_drawn_where_there_is_no_terminal() {
    let w = populated();
    let answer = w.run(&["export", "-o", "a.ndjson"]);
    assert_eq!(answer.err.lines().count(), 1, "{answer:?}");
    assert!(!answer.err.contains(['\u{1b}', '\r']), "{answer:?}");
}

#[test]
fn a_workspace_that_nobody_knows_has_no_name() {
    let w = World::new();
    let session = r#"{"info":{"id":"ses_1","title":"T","time":{"created":1}},"messages":[{"info":{"id":"msg_1","role":"user","time":{"created":1}},"parts":[{"type":"text","text":"Hello"}]}]}"#;
    fs::write(w.project.join("exported.json"), session).unwrap();
    let all = lines(&w, &["exported.json"]);
    assert_eq!(all[0]["workspaces"], serde_json::json!([]));
    assert_eq!(all[1]["session"]["workspace"], "");
    w.ok(&["export", "exported.json", "-o", "all.ndjson"]);
    assert_eq!(w.run(&["check", "all.ndjson"]).code, 0);
    // As it was written before.
    let file = w.project.join("all.ndjson");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(
        &file,
        text.replacen(r#""workspaces":[]"#, r#""workspaces":[""]"#, 1),
    )
    .unwrap();
    assert_eq!(w.run(&["check", "all.ndjson"]).code, 0);
}
