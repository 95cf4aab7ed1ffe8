//! Sessions are found, listed and shown.

use std::fs;

use insta::assert_snapshot;
use rethread_formats::codex::FORMAT;
use rethread_formats::{Source, Want};
use rethread_model::TitleSource;

use super::{CASES, EVERYTHING, ROLLED_BACK, fixtures, home, sessions_of};
use crate::world::{Answer, World, copy, json, tree};

#[test]
fn all_generations_are_listed() {
    let w = home(&CASES);
    // What looks like a session and is none of the client's.
    let credentials = "{\"session\":{\"id\":\"x\"},\"items\":[]}";
    fs::write(w.home.join(".codex/auth.json"), credentials).unwrap();
    fs::write(
        w.home.join(".codex/history.jsonl"),
        "{\"session_id\":\"x\",\"ts\":1,\"text\":\"x\"}\n",
    )
    .unwrap();
    let before = tree(&w.home);
    assert_snapshot!("codex_list", w.plain(&w.ok(&["list"])));
    assert_snapshot!(
        "codex_list_json",
        w.plain(&w.ok(&["list", "--json", "--sort", "tokens"]))
    );
    assert!(tree(&w.home) == before, "reading writes nothing");
}

#[test]
fn show_as_text_markdown_and_json() {
    let w = home(&["0.140/everything"]);
    let id = format!("codex:{EVERYTHING}");
    assert_snapshot!("codex_show", w.plain(&w.ok(&["show", &id, "--thinking"])));
    assert_snapshot!(
        "codex_markdown",
        w.plain(&w.ok(&["show", &id, "--to", "markdown"]))
    );
    assert_snapshot!("codex_json", w.plain(&w.ok(&["show", &id, "--json"])));
    let raw = w.command(&["show", &id, "--to", "raw"]).output().unwrap();
    let original = fs::read(&sessions_of("0.140/everything")[0]).unwrap();
    assert_eq!(raw.stdout, original);
}

#[test]
fn show_the_oldest_two_generations() {
    let w = home(&["2025/document", "0.20/items"]);
    assert_snapshot!("codex_document", w.plain(&w.ok(&["show", "5d0c1b6e"])));
    assert_snapshot!(
        "codex_items",
        w.plain(&w.ok(&["show", "3c9a7b52", "--thinking"]))
    );
}

#[test]
fn a_variable_names_the_home_and_folders_do_not_matter() {
    let w = World::new();
    let other = w.root.join("other");
    copy(&fixtures().join("0.140/everything"), &other);
    let from = tree(&other).remove(1).0;
    let name = from.file_name().unwrap();
    for place in ["sessions", "sessions/2020/01/01", "sessions/by-hand"] {
        let _ = fs::remove_dir_all(other.join("sessions"));
        fs::create_dir_all(other.join(place)).unwrap();
        fs::copy(
            &sessions_of("0.140/everything")[0],
            other.join(place).join(name),
        )
        .unwrap();
        let run = |args: &[&str]| -> Answer {
            let output = w.command(args).env("CODEX_HOME", &other).output().unwrap();
            Answer {
                code: output.status.code().unwrap(),
                out: String::from_utf8(output.stdout).unwrap(),
                err: String::from_utf8(output.stderr).unwrap(),
            }
        };
        let listed = run(&["list", "--json"]);
        assert_eq!(
            json(listed.out.trim())["title"],
            "Signs of the shop",
            "{listed:?}"
        );
        let elsewhere = run(&["list", "--home", w.home.to_str().unwrap()]);
        assert!(!elsewhere.out.contains("shop"), "{elsewhere:?}");
        let by_path = run(&["show", other.to_str().unwrap(), "--last", "1"]);
        assert!(by_path.out.contains("Any time."), "{by_path:?}");
    }
}

#[test]
fn titles_say_where_they_came_from() {
    let w = home(&["0.140/everything"]);
    let title = || {
        let source = FORMAT.store().at_path(&w.home.join(".codex")).remove(0);
        let read = FORMAT
            .reader()
            .read(&source)
            .unwrap()
            .session
            .head
            .title
            .unwrap();
        let listed = FORMAT
            .reader()
            .summarize(&source, Want::default())
            .head
            .title
            .unwrap();
        assert_eq!(read, listed);
        (read.text, read.source)
    };
    assert_eq!(title(), ("Signs of the shop".to_owned(), TitleSource::User));
    fs::remove_file(w.home.join(".codex/session_index.jsonl")).unwrap();
    assert_eq!(title(), ("Green signs".to_owned(), TitleSource::User));
    let path = tree(&w.home.join(".codex")).remove(0).0;
    let text = fs::read_to_string(&path).unwrap();
    fs::write(
        &path,
        text.replace("thread_name_updated", "thread_settings_applied"),
    )
    .unwrap();
    assert_eq!(
        title(),
        ("Why is the sign red?".to_owned(), TitleSource::FirstPrompt)
    );
}

#[test]
fn other_agents_files_are_not_mistaken_for_sessions() {
    let w = World::new();
    for (name, text) in [
        (
            "a.jsonl",
            "{\"type\":\"session\",\"id\":\"x\",\"timestamp\":\"t\"}\n",
        ),
        (
            "b.jsonl",
            "{\"type\":\"user\",\"uuid\":\"x\",\"message\":{\"role\":\"user\"}}\n",
        ),
        (
            "c.jsonl",
            "{\"type\":\"user.message\",\"data\":{},\"id\":\"x\",\"timestamp\":\"t\"}\n",
        ),
        (
            "d.jsonl",
            "{\"session_id\":\"x\",\"ts\":1,\"text\":\"t\"}\n",
        ),
        ("e.jsonl", "{\"role\":\"user\",\"content\":\"x\"}\n"),
        ("f.json", "{\"session\":{},\"items\":[]}"),
        ("g.json", "[1,2"),
        ("h.jsonl", ""),
    ] {
        let path = w.root.join(name);
        fs::write(&path, text).unwrap();
        assert!(FORMAT.store().at_path(&path).is_empty(), "{name}");
        let source = Source::new(FORMAT, String::new(), path);
        assert!(FORMAT.reader().read(&source).is_err(), "{name}");
    }
}

#[test]
fn a_project_that_a_session_names_is_searched() {
    let w = World::new();
    let thread = w.thread("named by codex");
    fs::remove_dir_all(w.home.join(".local/share/rethread")).unwrap();
    let folder = w.home.join(".codex/sessions");
    fs::create_dir_all(&folder).unwrap();
    let text = fs::read_to_string(&sessions_of("0.140/rolled-back")[0]).unwrap();
    let cwd = w.project.to_str().unwrap().replace('\\', "\\\\");
    let name = format!("rollout-2026-06-18T09-00-00-{ROLLED_BACK}.jsonl");
    fs::write(folder.join(name), text.replace("/home/me/shop", &cwd)).unwrap();
    for args in [&["list", "--tsv"][..], &["show", &thread]] {
        let mut command = w.command(args);
        let output = command.current_dir(&w.root).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("named by codex"), "{args:?}: {text}");
    }
}

#[test]
fn resume_is_the_clients_own_command() {
    let w = home(&["0.140/everything"]);
    let answer = w.run(&["resume", EVERYTHING, "--print"]);
    assert!(
        answer.out.contains(&format!("codex resume {EVERYTHING}")),
        "{answer:?}"
    );
}
