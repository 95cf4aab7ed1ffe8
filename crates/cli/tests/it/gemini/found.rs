//! Where sessions are found, and what lists show of them.

use std::fs;

use insta::assert_snapshot;
use rethread_formats::{Source, Want, gemini::FORMAT};
use rethread_model::{Counts, Kind, State};

use super::{HASH, MAIN, fixtures, lay_out, read, sessions_below};
use crate::world::{World, copy, json, strace};

#[test]
fn list_in_a_folder_that_is_named() {
    let w = World::new();
    lay_out(&w, "0.61/everything");
    assert_eq!(
        w.ok(&["list", "--tsv"]).lines().count(),
        1,
        "one for people"
    );
    assert_snapshot!("gemini_list", w.plain(&w.ok(&["list", "--hidden"])));
    let tokens = w.ok(&["list", "--hidden", "--json", "--sort", "tokens"]);
    assert_snapshot!("gemini_list_tokens", w.plain(&tokens));
}

#[test]
fn show_as_text_markdown_and_json() {
    let w = World::new();
    lay_out(&w, "0.61/everything");
    let id = format!("gemini:{MAIN}");
    assert_snapshot!("gemini_show", w.plain(&w.ok(&["show", &id, "--thinking"])));
    let markdown = w.ok(&["show", &id, "--to", "markdown"]);
    assert_snapshot!("gemini_markdown", w.plain(&markdown));
    assert_snapshot!("gemini_json", w.plain(&w.ok(&["show", &id, "--json"])));
    assert_snapshot!("gemini_tree", w.plain(&w.ok(&["tree", &id])));
}

#[test]
fn the_client_folder_is_where_its_variable_says() {
    let w = World::new();
    lay_out(&w, "0.61/everything");
    copy(
        &fixtures().join("0.20/document"),
        &w.root.join("other/.gemini"),
    );
    copy(
        &fixtures().join("0.61/twice"),
        &w.home.join(".cache/.gemini"),
    );
    let ids = |variables: &[(&str, &str)], args: &[&str]| {
        let mut all = vec!["list", "--tsv", "--hidden", "--subagents"];
        all.extend(args);
        let mut command = w.command(&all);
        let output = command.envs(variables.iter().copied()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let mut ids: Vec<String> = text.lines().map(|l| l[..8].to_owned()).collect();
        ids.sort();
        ids
    };
    let own = ["5d0f6f1e", "6f6f6f6f", "c7a4e9d2", "logs-sho"];
    assert_eq!(ids(&[], &[]), own);
    let variable = ("GEMINI_CLI_HOME", "../other");
    let other = ["8a8a8a8a", "checkpoi", "checkpoi", "logs-4a6"];
    assert_eq!(ids(&[variable], &[]), other);
    assert_eq!(ids(&[variable], &["--home", "../home"]), own);
}

#[test]
fn paths_lead_to_sessions() {
    let w = World::new();
    let home = lay_out(&w, "0.61/twice");
    let chats = home.join("tmp/shop/chats");
    for path in [&home, &home.join("tmp"), &home.join("tmp/shop"), &chats] {
        let shown = w.ok(&["show", path.to_str().unwrap(), "--json"]);
        assert!(
            shown.lines().next().unwrap().contains("6f6f6f6f"),
            "{shown}"
        );
    }
    for name in [
        "logs.json",
        "session-notes.json",
        "session-claude.jsonl",
        "checkpoint-model.json",
    ] {
        let path = fixtures().join("0.20/no-session").join(name);
        assert!(FORMAT.store().at_path(&path).is_empty(), "{name}");
        let source = Source::new(FORMAT, String::new(), path);
        assert_eq!(
            FORMAT.reader().read(&source).unwrap_err().kind(),
            "not_a_session",
            "{name}"
        );
        assert_eq!(
            FORMAT.reader().summarize(&source, Want::default()).state,
            State::Damaged
        );
    }
    assert!(
        FORMAT
            .store()
            .at_path(&fixtures().join("0.20/no-session"))
            .is_empty()
    );
}

#[test]
fn of_several_files_of_one_session_the_client_resumes_the_last() {
    let w = World::new();
    let home = lay_out(&w, "0.61/twice");
    let listed = w.ok(&["list", "--json"]);
    assert_eq!(listed.lines().count(), 1, "{listed}");
    let path = json(listed.lines().next().unwrap())["source"]["path"].clone();
    assert!(path.as_str().unwrap().ends_with(".jsonl"), "{path}");
    let answer = w.run(&["show", "6f6f6f6f"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    assert!(answer.out.contains("And gone on with."), "{}", answer.out);
    assert_eq!(
        answer.err.matches("the same session is in").count(),
        2,
        "{}",
        answer.err
    );
    // Without the newest, the copy in the folder with a short name is the one.
    fs::remove_file(home.join("tmp/shop/chats/session-2026-11-14T14-00-6f6f6f6f.jsonl")).unwrap();
    let listed = w.ok(&["list", "--json"]);
    let path = json(&listed)["source"]["path"].clone();
    assert!(path.as_str().unwrap().contains("tmp/shop/"), "{path}");
}

#[test]
fn older_chats_checkpoints_and_prompts_are_sessions() {
    let w = World::new();
    lay_out(&w, "0.20/document");
    for (id, first) in [
        ("8a8a8a8a", "Write hello.txt."),
        ("checkpoint-before%20merge", "This is the Gemini CLI."),
        ("checkpoint-old", "This is the Gemini CLI."),
        (&*format!("logs-{HASH}"), "Write hello.txt."),
    ] {
        let shown = w.ok(&["show", id, "--injected", "--to", "markdown"]);
        assert!(shown.contains(first), "{id}: {shown}");
    }
    let folder = fixtures().join("0.20/document/tmp").join(HASH);
    let c = read(&folder.join("checkpoint-old.json"));
    let kinds: Vec<Kind> = c.session.entries().iter().map(|e| e.kind).collect();
    assert_eq!(kinds[4], Kind::Message(rethread_model::Role::Tool));
    assert_eq!(
        c.session.head.workspace.path.as_deref(),
        Some("/home/me/shop")
    );
    assert!(read(&folder.join("logs.json")).session.head.hidden);
}

#[test]
fn a_project_known_by_its_hash_is_found_among_folders_that_others_name() {
    let w = World::new();
    lay_out(&w, "0.20/document");
    let workspace = || {
        let listed = w.ok(&["list", "--json", "--agent", "gemini"]);
        let chat = listed.lines().map(json);
        let chat = chat
            .into_iter()
            .find(|s| s["id"].as_str().unwrap().starts_with("8a8a"));
        chat.unwrap()["workspace"].as_str().unwrap().to_owned()
    };
    // The chat itself does not say it, and its checkpoints are there only by accident.
    let folder = w.home.join(".gemini/tmp").join(HASH);
    for name in ["checkpoint-old.json", "checkpoint-before%20merge.json"] {
        fs::remove_file(folder.join(name)).unwrap();
    }
    assert_eq!(workspace(), "");
    let pi = w.home.join(".pi/agent/sessions/--home-me-shop--");
    fs::create_dir_all(&pi).unwrap();
    let header = r#"{"type":"session","version":3,"id":"p1","cwd":"/home/me/shop"}"#;
    fs::write(pi.join("a.jsonl"), header).unwrap();
    assert_eq!(workspace(), "/home/me/shop");
    // Whoever reads it, goes on with it or copies it knows it as well.
    let shown = json(&w.ok(&["show", "8a8a8a8a", "--json"]));
    assert_eq!(shown["session"]["workspace"], "/home/me/shop");
    let resumed = w.run(&["resume", "8a8a8a8a", "--print"]);
    assert!(
        resumed.out.starts_with("cd /home/me/shop && gemini"),
        "{resumed:?}"
    );
    let exported = w.ok(&["export", "8a8a8a8a", "-o", "-"]);
    let header = json(exported.lines().next().unwrap());
    assert_eq!(header["workspaces"], serde_json::json!(["shop"]));
    let copy = json(&w.ok(&["fork", "8a8a8a8a", "--json"]));
    let copy = fs::read_to_string(copy["path"].as_str().unwrap()).unwrap();
    assert!(copy.contains(HASH), "{copy}");
}

#[test]
fn counts_of_a_list_are_those_of_a_reading() {
    for path in sessions_below(&fixtures()) {
        let source = FORMAT.store().at_path(&path).remove(0);
        let summary = FORMAT.reader().summarize(
            &source,
            Want {
                usage: true,
                ..Want::default()
            },
        );
        let quick = FORMAT.reader().summarize(&source, Want::default());
        let counts = Counts {
            usage: None,
            ..summary.counts
        };
        assert_eq!(quick.counts, counts, "{}", path.display());
        let c = read(&path);
        assert_eq!(quick.head, summary.head, "{}", path.display());
        assert_eq!(c.session.head, summary.head, "{}", path.display());
        assert_eq!(
            c.session.message_count() as u64,
            summary.counts.messages,
            "{}",
            path.display()
        );
    }
}

#[test]
fn credentials_are_never_opened() {
    let Some(strace) = strace() else { return };
    let w = World::new();
    let home = lay_out(&w, "0.61/everything");
    for name in [
        "oauth_creds.json",
        "google_accounts.json",
        "settings.json",
        ".env",
    ] {
        fs::write(home.join(name), "{\"access_token\":\"secret\"}").unwrap();
    }
    let trace = w.root.join("trace");
    let output = w.command(&["list", "--sort", "tokens"]);
    let mut traced = std::process::Command::new(strace);
    traced
        .args(["-f", "-e", "trace=open,openat,openat2", "-o"])
        .arg(&trace);
    traced.arg(output.get_program()).args(output.get_args());
    for (key, value) in output.get_envs() {
        traced.env(key, value.unwrap_or_default());
    }
    assert!(
        traced
            .current_dir(&w.project)
            .output()
            .unwrap()
            .status
            .success()
    );
    let trace = fs::read_to_string(&trace).unwrap();
    assert!(trace.contains("session-2026-11-14T09-00-5d0f6f1e.jsonl"));
    for name in ["oauth_creds", "google_accounts", "settings.json", "/.env"] {
        assert!(!trace.contains(name), "{name}");
    }
}
