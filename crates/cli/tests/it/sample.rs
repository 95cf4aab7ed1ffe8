//! The sample: what is in it, that it is always the same, and that everything can be done with it.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::world::{World, json, tree};

const AGENTS: [&str; 6] = ["claude", "gemini", "pi", "codex", "opencode", "atsf"];

/// A world with a sample in `demo`, whose home is where commands look.
fn sampled() -> World {
    let w = World::new();
    w.ok(&["sample", "demo"]);
    w
}

/// Runs a command that must succeed, in the sample's home.
fn ok(w: &World, args: &[&str]) -> String {
    let mut all = vec!["--home", "demo/home"];
    all.extend(args);
    w.ok(&all)
}

fn shown(w: &World, agent: &str) -> Value {
    json(&ok(w, &["show", &format!("{agent}:latest"), "--json"]))
}

fn blocks(record: &Value) -> impl Iterator<Item = &Value> {
    let messages = record["messages"].as_array().unwrap();
    let content = messages.iter().filter_map(|m| m["content"].as_array());
    content.flatten()
}

#[test]
fn it_is_the_same_whenever_it_is_written() {
    let w = sampled();
    let demo = w.project.join("demo");
    let before = tree(&demo);
    fs::rename(&demo, w.project.join("first")).unwrap();
    let mut again = w.command(&["sample", "demo"]);
    again.env("RETHREAD_NOW", "2031-02-03T04:05:06Z");
    again
        .env("RETHREAD_SEED", "another")
        .env("TZ", "Asia/Tokyo");
    assert!(again.output().unwrap().status.success());
    let after = tree(&demo);
    let names = |files: &[(std::path::PathBuf, Vec<u8>)]| -> Vec<String> {
        let names = files.iter().map(|(path, _)| path.display().to_string());
        names.collect()
    };
    assert_eq!(names(&before), names(&after));
    for ((path, old), (_, new)) in before.iter().zip(&after) {
        assert!(old == new, "{} differs", path.display());
    }
}

#[test]
fn an_empty_folder_is_filled_and_a_used_one_is_left_alone() {
    let w = World::new();
    let new = w.project.join("new/deeper");
    w.ok(&["sample", "new/deeper"]);
    let empty = w.project.join("empty");
    fs::create_dir(&empty).unwrap();
    w.ok(&["sample", "empty"]);
    let below = |folder: &Path| -> Vec<String> {
        let relative = |path: &Path| path.strip_prefix(folder).unwrap().display().to_string();
        let mut names: Vec<String> = tree(folder).iter().map(|(p, _)| relative(p)).collect();
        // Two agents name folders after the project's.
        names.retain(|name| !name.contains("/projects/") && !name.contains("/sessions/"));
        names
    };
    assert_eq!(below(&new), below(&empty));
    let before = tree(&empty);
    let answer = w.run(&["sample", "empty"]);
    assert_eq!(answer.code, 2, "{answer:?}");
    assert!(answer.err.contains("is not empty"), "{}", answer.err);
    assert_eq!(tree(&empty), before);
}

#[test]
fn every_agent_has_a_session_in_it() {
    let w = sampled();
    let listed = ok(&w, &["list", "--json"]);
    let listed: Vec<Value> = listed.lines().map(json).collect();
    let slugs: Vec<&str> = listed
        .iter()
        .map(|s| s["agent"].as_str().unwrap())
        .collect();
    assert_eq!(
        slugs,
        ["claude-code", "gemini", "pi", "codex", "opencode", "atsf"]
    );
    let project = w.project.join("demo/shop");
    for session in &listed {
        assert_eq!(session["workspace"], project.to_str().unwrap(), "{session}");
    }
    for agent in AGENTS {
        let record = shown(&w, agent);
        assert!(record["messages"].as_array().unwrap().len() > 2, "{agent}");
    }
}

#[test]
fn it_has_a_branch_a_sub_agent_a_picture_an_edit_a_failure_and_something_to_find() {
    let w = sampled();
    let branched = ok(&w, &["tree", "pi:latest"]);
    assert!(branched.contains("├─ ○"), "{branched}");
    let claude = ok(&w, &["tree", "claude:latest"]);
    assert!(claude.contains("├─ ○"), "{claude}");
    let with_agents = ok(&w, &["list", "--json", "--subagents"]);
    assert_eq!(
        with_agents.lines().count(),
        AGENTS.len() + 1,
        "{with_agents}"
    );
    ok(&w, &["export", "codex:latest", "-o", "page.html"]);
    let page = fs::read_to_string(w.project.join("page.html")).unwrap();
    let picture = page.split("data:image/png;base64,").nth(1).unwrap();
    let picture = picture.split('"').next().unwrap();
    assert!(picture.len() > 1000, "{picture}");
    let claude = shown(&w, "claude");
    let named = |name: &str| blocks(&claude).any(|b| b["tool_name"] == name);
    assert!(named("Edit") && named("Agent"));
    assert!(blocks(&claude).any(|b| b["is_error"] == true));
    let opencode = shown(&w, "opencode").to_string();
    assert!(opencode.contains("quokka-3 refused"), "{opencode}");
    for agent in AGENTS.iter().filter(|a| **a != "opencode") {
        let other = shown(&w, agent).to_string();
        assert!(!other.contains("quokka"), "{agent}: there is one to find");
    }
}

#[test]
fn the_project_is_a_clean_repository_with_hooks() {
    let mut w = sampled();
    w.project.push("demo/shop");
    assert_eq!(w.git(&["status", "--porcelain"]), "");
    w.git(&["fsck", "--strict", "--no-dangling"]);
    assert_eq!(w.git(&["log", "--oneline"]).lines().count(), 5);
    let hooks = w.run(&["--home", "../home", "trust"]).err;
    assert!(hooks.contains("git submodule update --init"), "{hooks}");
}

#[test]
fn check_finds_nothing_wrong() {
    let w = sampled();
    let listed = ok(&w, &["list", "--json", "--subagents"]);
    for session in listed.lines().map(json) {
        let path = session["source"]["path"].as_str().unwrap().to_owned();
        let answer = w.run(&["check", "--strict", &path]);
        assert_eq!(answer.code, 0, "{path}: {answer:?}");
    }
    let answer = w.run(&["check", "--strict", "demo/shop"]);
    assert_eq!(answer.code, 0, "{answer:?}");
}

#[test]
fn every_session_is_exported_and_goes_on_in_every_other_agent() {
    let w = sampled();
    ok(
        &w,
        &[
            "export",
            "--aw",
            "--markdown",
            "--html",
            "--json",
            "-o",
            "out",
        ],
    );
    let written = tree(&w.project.join("out"));
    let ends = |end: &str| {
        let names = written.iter().map(|(path, _)| path.to_str().unwrap());
        names.filter(|name| name.ends_with(end)).count()
    };
    assert!(ends(".md") >= 6 && ends(".html") >= 6 && ends(".ndjson") == 1);
    for from in AGENTS {
        for to in AGENTS.iter().filter(|to| **to != from) {
            let session = format!("{from}:latest");
            let place = format!("out-{from}-{to}");
            ok(&w, &["convert", &session, "--to", to, "-o", &place]);
        }
    }
    for from in AGENTS {
        for to in ["claude", "codex", "gemini", "opencode", "pi"] {
            let w = sampled();
            let session = format!("{from}:latest");
            let command = ok(&w, &["resume", &session, "--in", to, "--print"]);
            assert!(command.contains("shop && "), "{from} in {to}: {command}");
        }
    }
}

#[test]
fn killed_at_any_moment_it_is_whole_or_not_there() {
    for millis in (0..120).step_by(10) {
        let w = World::new();
        let mut child = w.command(&["sample", "demo"]).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(millis));
        let _ = child.kill();
        child.wait().unwrap();
        let demo = w.project.join("demo");
        if !demo.exists() {
            w.ok(&["sample", "demo"]);
        }
        let names = fs::read_dir(&w.project)
            .unwrap()
            .map(|e| e.unwrap().file_name());
        assert_eq!(names.collect::<Vec<_>>(), ["demo"], "after {millis} ms");
        assert_eq!(ok(&w, &["list"]).lines().count(), AGENTS.len());
    }
}
