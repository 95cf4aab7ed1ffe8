//! The table of what commands print with `--json` is true. `docs/json.md` and the schemas in
//! `docs/schema` are made of it, and all that commands print is compared with them.

mod compare;
mod page;
#[path = "../../../src/json_reference/mod.rs"]
mod table;
mod validator;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use rethread_formats::{Want, summarize};
use rethread_model::State;
use serde_json::json;

use self::compare::{Schemas, names_twice, schema};
use self::table::SECTIONS;
use self::table::kind::{ANY_OTHER, JsonAnswer, with_inner};
use crate::agreement::{folders, sessions};
use crate::world::{self, World};

fn all_answers() -> impl Iterator<Item = &'static JsonAnswer> {
    SECTIONS.iter().flat_map(|section| section.answers.iter())
}

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

#[test]
fn json_pages_and_schemas_are_written_down() {
    let mut files = BTreeMap::from([(docs().join("json.md"), page::page(&SECTIONS))]);
    for answer in all_answers() {
        let text = serde_json::to_string_pretty(&schema(answer)).unwrap() + "\n";
        let path = docs().join("schema").join(format!("{}.json", answer.name));
        assert!(files.insert(path, text).is_none(), "{} twice", answer.name);
    }
    let objects: Vec<_> = all_answers()
        .flat_map(|a| a.objects.iter().copied())
        .collect();
    let mut names = BTreeSet::new();
    for object in with_inner(&objects) {
        assert!(names.insert(object.name), "{} twice", object.name);
        let mut fields = BTreeSet::new();
        for field in object.fields().filter(|field| field.name != ANY_OTHER) {
            assert!(
                fields.insert(field.name),
                "{}: {} twice",
                object.name,
                field.name
            );
        }
    }
    if std::env::var_os("RETHREAD_BLESS").is_some() {
        let _ = fs::remove_dir_all(docs().join("schema"));
        fs::create_dir_all(docs().join("schema")).unwrap();
        for (path, text) in &files {
            fs::write(path, text).unwrap();
        }
    }
    for (path, text) in &files {
        let stored = fs::read_to_string(path).unwrap_or_default();
        assert!(
            stored == *text,
            "{} is old; run `cargo xtask docs`",
            path.display()
        );
    }
    for entry in fs::read_dir(docs().join("schema")).unwrap() {
        let path = entry.unwrap().path();
        assert!(files.contains_key(&path), "{} is old", path.display());
    }
}

#[test]
fn every_command_is_in_the_table() {
    let w = World::new();
    let told: Vec<String> = all_answers()
        .map(|a| format!("{} {}", a.call, a.means))
        .collect();
    let is_told = |words: &str| told.iter().any(|text| text.contains(words));
    for command in crate::reference::listed(&w.ok(&["--help"])) {
        assert!(is_told(&format!("rethread {command} ")), "{command}");
    }
    for command in crate::reference::listed(&w.ok(&["msg", "--help"])) {
        // The bytes of a log are nobody's answer.
        let is_original = command == "raw";
        assert!(
            is_original || is_told(&format!("msg {command}")),
            "{command}"
        );
    }
}

#[test]
fn every_answer_fits_its_schema() {
    let s = Schemas::new(World::with_git());
    read_the_sample(&s);
    write_into_the_sample(&s);
    move_sessions(&s);
    work_on_a_project(&s);
    send_messages(&s);
    // Violations are those of the fixtures.
    s.end(s.all.keys().copied().filter(|name| *name != "check"));
}

fn read_the_sample(s: &Schemas) {
    s.says("overview", &["--sample"]);
    s.says("agents", &["--sample", "agents"]);
    s.says("list", &["--sample", "list", "--subagents", "--hidden"]);
    s.says("search", &["--sample", "search", "the", "-C", "1"]);
    s.says("search", &["--sample", "search", "agent:codex"]);
    s.says("search", &["--sample", "search", "file:src"]);
    s.says("stats", &["--sample", "stats"]);
    s.says("stats", &["--sample", "stats", "--by", "session"]);
    s.says("stats", &["--sample", "stats", "--by", "tool", "--explain"]);
    s.says("index", &["--sample", "index"]);
    s.says("index", &["--sample", "index", "--rebuild"]);
    s.says("index-clear", &["--sample", "index", "--clear"]);
    for agent in ["atsf", "claude-code", "codex", "gemini", "opencode", "pi"] {
        let latest = format!("{agent}:latest");
        s.says("show", &["--sample", "show", &latest, "--all-branches"]);
        s.says("tree", &["--sample", "tree", &latest]);
        s.says("context", &["--sample", "context", &latest]);
    }
    let native = ["--sample", "context", "pi:latest", "--native"];
    s.says("context-native", &native);
    let raw = ["--sample", "show", "pi:latest", "--to", "raw", "-o", "raw"];
    s.says("show-raw", &raw);
    let follow = ["--sample", "show", "pi:latest", "--follow", "--count", "0"];
    s.says("follow", &follow);
    s.says("open", &["--sample", "open", "latest", "--print"]);
    s.run("show", &["--sample", "show", "nobody-has-this-id"]);
}

fn write_into_the_sample(s: &Schemas) {
    s.says(
        "append",
        &["--sample", "append", "pi:latest", "And a test."],
    );
    let entry = "a1b2c3d4";
    s.says("label", &["--sample", "label", "pi:latest", entry, "begin"]);
    let branch = [
        "--sample",
        "branch",
        "pi:latest",
        entry,
        "--summary",
        "Anew",
    ];
    s.says("branch", &branch);
    s.says("fork", &["--sample", "fork", "pi:latest"]);
    s.says("rename", &["--sample", "rename", "gemini:latest", "Commas"]);
    s.says("new", &["--sample", "new", "--format", "atsf"]);
    s.says("rm", &["--sample", "rm", "--dry-run", "pi:latest"]);
    s.says("rm", &["--sample", "rm", "--yes", "pi:latest"]);
    s.says("sample-clear", &["sample", "--clear"]);
    s.says("sample", &["sample", "try-me"]);
    s.says("completions", &["completions", "bash"]);
    s.says("man", &["man"]);
    s.says("help", &["help"]);
    s.says("help", &["help", "msg", "send"]);
    s.says("mcp-config", &["mcp", "--print-config", "codex"]);
    s.says("man-output", &["man", "-o", "pages"]);
}

fn move_sessions(s: &Schemas) {
    let convert = ["--sample", "convert", "claude:latest", "--to", "codex"];
    s.says("convert", &convert);
    s.says("convert", &convert);
    s.says(
        "convert",
        &[
            "--sample",
            "convert",
            "pi:latest",
            "--to",
            "gemini",
            "--dry-run",
            "--lean",
        ],
    );
    s.says("resume", &["--sample", "resume", "pi:latest", "--print"]);
    let export = [
        "--sample",
        "export",
        "--aw",
        "-o",
        "all.ndjson",
        "--report",
        "json",
    ];
    s.says("export", &export);
    let pages = ["--sample", "export", "--aw", "--html", "-o", "all"];
    s.says("export", &pages);
    s.says(
        "restore",
        &["--home", "elsewhere", "restore", "all.ndjson", "--dry-run"],
    );
    let old = docs().join("../fixtures/pi/1");
    world::copy(&old, &s.w.project.join("old"));
    for source in sessions(&s.w.project.join("old")) {
        s.run("migrate", &["migrate", source.path.to_str().unwrap()]);
    }
}

fn work_on_a_project(s: &Schemas) {
    s.says("init", &["init"]);
    let hooks = r#"{"worktreeHooks":{"symlinks":[{"source":"README.md","target":"LINK.md"}],
        "postSetupCommands":[{"command":"true","label":"Nothing"},{"label":"No command"}],"initialPrompt":"Begin"}}"#;
    fs::write(s.w.project.join(".agent/config.json"), hooks).unwrap();
    s.says("worktree-add", &["worktree", "add", "untrusted"]);
    s.says("trust", &["trust"]);
    s.says("trust", &["trust", "--yes"]);
    s.says("trust-list", &["trust", "--list"]);
    s.says("worktree-add", &["worktree", "add", "login"]);
    s.says("worktree-list", &["worktree", "list"]);
    s.says(
        "worktree-remove",
        &["worktree", "remove", "login", "--force"],
    );
    s.says("trust-revoke", &["trust", "--revoke"]);
}

fn send_messages(s: &Schemas) {
    let dir = s.w.root.join("messages");
    let dir = dir.to_str().unwrap();
    let ann = |args: &[&'static str]| [&["msg", "--dir", dir, "--as", "ann"][..], args].concat();
    let bob = |args: &[&'static str]| [&["msg", "--dir", dir, "--as", "bob"][..], args].concat();
    s.says("msg-init", &ann(&["init"]));
    s.says("msg-whoami", &ann(&["whoami"]));
    let sent = s.says("msg-send", &ann(&["send", "bob", "The build is red"]));
    s.says("msg-inbox", &bob(&["inbox"]));
    s.says("msg-send", &bob(&["reply", "On it"]));
    s.says("msg-inbox", &bob(&["log"]));
    let id = sent[0]["id"].as_str().unwrap();
    s.says("msg-cat", &["msg", "--dir", dir, "cat", id]);
    s.says("msg-compact", &ann(&["compact"]));
    fs::write(Path::new(dir).join("log-eve.jsonl"), "{}\nno record\n").unwrap();
    s.says("msg-check", &ann(&["check"]));
    s.run("msg-inbox", &bob(&["inbox", "--all"]));
    s.says("msg-install", &ann(&["install"]));
}

/// What is rare stands in the fixtures of each format, damage among it. Of real conversations some of
/// each format are looked at, because there are many.
#[test]
fn sessions_of_all_fixtures_fit_their_schemas() {
    let s = Schemas::new(World::new());
    for (folder, most) in folders().iter().zip([usize::MAX, 12]) {
        let mut paths = BTreeSet::new();
        let mut counts = BTreeMap::<&str, usize>::new();
        for source in sessions(folder) {
            let count = counts.entry(source.format.slug()).or_default();
            *count += 1;
            if *count > most {
                continue;
            }
            if paths.insert(source.path.clone()) {
                let path = source.path.to_str().unwrap();
                s.run("list", &["list", path, "--hidden", "--subagents"]);
                s.run("check", &["check", path]);
            }
            if summarize(&source, Want::default()).state == State::Ready {
                let name = format!("{}#{}", source.path.display(), source.id);
                s.run("show", &["show", &name, "--all-branches"]);
                s.run("tree", &["tree", &name]);
                s.run("context", &["context", &name]);
            }
        }
    }
    s.end(["show", "tree", "context", "list", "check", "note"]);
}

#[test]
fn the_fields_of_a_session_stand_in_their_order() {
    let w = World::new();
    w.thread("For later");
    let listed = world::json(&w.ok(&["list", "--json"]));
    let listed: Vec<&String> = listed.as_object().unwrap().keys().collect();
    let told: Vec<&str> = table::session::SESSION
        .fields()
        .map(|field| field.name)
        .collect();
    assert_eq!(listed, told);
}

#[test]
fn names_that_stand_twice_are_found() {
    let line = r#"{"a":1,"b":[{"c":1,"c":2}],"input":{"d":1,"d":2},"a":3}"#;
    assert_eq!(names_twice(line), ["a", "c"]);
}

#[test]
fn a_field_that_is_missing_wrong_or_unknown_does_not_fit() {
    let answer = all_answers().find(|a| a.name == "worktree-list").unwrap();
    let schema = schema(answer);
    let good = json!({
        "path": "/a", "branch": null, "is_main": true, "exists": true, "thread_count": 2,
    });
    assert_eq!(validator::wrong(&schema, &good), [""; 0]);
    for (name, value) in [
        ("path", json!(1)),
        ("branch", json!([])),
        ("is_main", json!(null)),
        ("thread_count", json!(1.5)),
        ("another", json!("")),
    ] {
        let mut bad = good.clone();
        bad[name] = value;
        assert_eq!(validator::wrong(&schema, &bad).len(), 1, "{name}");
    }
    for name in good.as_object().unwrap().keys() {
        let mut less = good.clone();
        less.as_object_mut().unwrap().remove(name);
        assert_eq!(validator::wrong(&schema, &less).len(), 1, "{name}");
    }
}
