//! Healthy files in which there is no conversation, and files that cannot be looked at: all commands
//! agree on them.

use std::fs;
use std::path::PathBuf;

use insta::assert_snapshot;

use crate::world::{World, json};

const ID: &str = "5f0c5f0c-0000-4000-8000-0000000000";
const POINTER: &str = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";

/// Files as clients leave them when nobody says anything, by the path in the home.
fn silent() -> Vec<(String, String)> {
    let claude = |n: u8, text: &str| {
        let path = format!(".claude/projects/-shop/{ID}{n:02}.jsonl");
        (path, text.to_owned())
    };
    let codex = |n: u8, text: &str| {
        let path =
            format!(".codex/sessions/2026/11/01/rollout-2026-11-01T10-00-00-{ID}{n:02}.jsonl");
        (path, text.to_owned())
    };
    let gemini = |name: &str, text: &str| (format!(".gemini/tmp/shop/{name}"), text.to_owned());
    let pi = |name: &str, text: &str| {
        let path = format!(".pi/agent/sessions/--shop--/2026-11-01T10-00-00-000Z_{name}.jsonl");
        (path, text.to_owned())
    };
    vec![
        claude(
            1,
            r#"{"type":"file-history-snapshot","messageId":"m1","snapshot":{"messageId":"m1","trackedFileBackups":{},"timestamp":"2026-11-01T10:00:00.000Z"},"isSnapshotUpdate":false}"#,
        ),
        claude(
            2,
            r#"{"type":"summary","summary":"Fix the list","leafUuid":"5f0c5f0c-0000-4000-8000-0000000000aa"}"#,
        ),
        claude(
            3,
            r#"{"parentUuid":null,"isSidechain":false,"cwd":"/shop","sessionId":"s","version":"2.1.0","type":"progress","data":{"type":"hook_progress","hookEvent":"SessionStart"},"uuid":"a1","timestamp":"2026-11-01T10:00:00.000Z"}"#,
        ),
        claude(4, ""),
        claude(5, POINTER),
        codex(7, ""),
        codex(8, POINTER),
        gemini("chats/session-2026-11-01T10-00-abcd1235.json", ""),
        gemini("logs.json", "[]"),
        pi("empty", ""),
        pi("pointer", POINTER),
    ]
}

fn put(w: &World, files: &[(String, String)]) -> Vec<PathBuf> {
    let put = |(path, text): &(String, String)| {
        let path = w.home.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let end = if text.is_empty() || text.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        fs::write(&path, format!("{text}{end}")).unwrap();
        path
    };
    files.iter().map(put).collect()
}

/// A conversation of one message.
fn spoken(w: &World) {
    let said = r#"{"type":"user","message":{"role":"user","content":"The list is slow."},"uuid":"u1","parentUuid":null,"sessionId":"s","cwd":"/shop","version":"2.1.0","timestamp":"2026-11-01T10:00:00.000Z"}"#;
    put(
        w,
        &[(
            format!(".claude/projects/-shop/{ID}50.jsonl"),
            said.to_owned(),
        )],
    );
}

#[test]
fn silent_files_are_no_damage_and_not_listed() {
    let w = World::new();
    let files = put(&w, &silent());
    spoken(&w);
    for args in [&["list"][..], &["list", "--strict"], &[]] {
        let listed = w.run(args);
        assert_eq!(listed.code, 0, "{args:?}: {listed:?}");
        assert!(listed.out.contains("The lis"), "{listed:?}");
        assert!(!listed.out.contains("damaged"), "{listed:?}");
        assert_eq!(
            listed.err,
            "note: 11 files hold no conversation (`--verbose` names them)\n"
        );
    }
    assert_eq!(w.ok(&["list", "--json"]).lines().count(), 1);
    let named = w.run(&["list", "--verbose"]);
    for file in &files {
        assert!(named.err.contains(file.to_str().unwrap()), "{named:?}");
    }
    let told = w.run(&["list", "--json"]).err;
    assert_eq!(told.lines().count(), files.len());
    assert!(
        told.lines()
            .all(|line| json(line)["note"]["path"].is_string())
    );
    let overview = json(&w.ok(&["--json"]));
    assert_eq!(overview["session_count"], 1);
}

#[test]
fn every_command_agrees_on_silent_files() {
    for (path, text) in silent() {
        let w = World::new();
        let file = put(&w, &[(path.clone(), text)]).remove(0);
        let file = file.to_str().unwrap();
        let listed = w.run(&["list", file]);
        assert_eq!(
            (listed.code, listed.out.as_str()),
            (0, ""),
            "{path}: {listed:?}"
        );
        assert!(listed.err.contains("no conversation") || listed.err.contains("no sessions"));
        let shown = w.run(&["show", file]);
        assert!(!shown.err.contains("damaged"), "{path}: {shown:?}");
        let expected = i32::from(shown.err.contains("holds no"));
        assert_eq!(shown.code, expected, "{path}: {shown:?}");
        let checked = w.run(&["check", file]);
        assert_eq!(checked.code, 0, "{path}: {checked:?}");
        let target = w.root.join("out.ndjson");
        let target = target.to_str().unwrap();
        let exported = w.run(&["export", "--aw", "--strict", "-o", target]);
        assert_eq!(exported.code, 0, "{path}: {exported:?}");
        assert_eq!(fs::read_to_string(target).unwrap().lines().count(), 1);
        let latest = w.run(&["show", "latest"]);
        assert_eq!(latest.code, 1, "{path}: {latest:?}");
    }
}

/// What was named is there, also before something is said.
#[test]
fn a_title_makes_a_session() {
    let w = World::new();
    for format in ["pi", "codex", "claude-code"] {
        w.ok(&["new", "--format", format, "--title", "For later"]);
        let listed = w.ok(&["list", "--agent", format]);
        assert!(listed.contains("For later"), "{format}: {listed}");
    }
    w.ok(&["new", "--format", "atsf"]);
    assert_eq!(w.ok(&["list", "--agent", "atsf"]).lines().count(), 1);
}

#[test]
#[cfg(target_os = "linux")]
fn what_cannot_be_looked_at_is_unreadable() {
    let w = World::new();
    let files: Vec<_> = silent();
    let names = [0, 5, 7, 9].map(|i| files[i].0.clone());
    for name in &names {
        let path = w.home.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // Root may read every file, but not the memory at address zero.
        std::os::unix::fs::symlink("/proc/self/mem", path).unwrap();
    }
    let listed = w.run(&["list"]);
    assert_eq!(listed.code, 3, "{listed:?}");
    assert_eq!(listed.out.matches("[unreadable]").count(), 4, "{listed:?}");
    assert!(!listed.out.contains("[damaged]"), "{listed:?}");
    assert_eq!(listed.err.matches("warning: ").count(), 4, "{listed:?}");
    for line in w.run(&["list", "--json"]).out.lines() {
        assert_eq!(json(line)["state"], "unreadable", "{line}");
    }
}

#[test]
fn warnings_stand_behind_the_answer_in_a_few_lines() {
    let w = World::new();
    spoken(&w);
    let broken: Vec<_> = (60..90)
        .map(|n| {
            (
                format!(".claude/projects/-shop/{ID}{n}.jsonl"),
                "junk".to_owned(),
            )
        })
        .collect();
    put(&w, &broken);
    let listed = w.run(&["list", "--limit", "1"]);
    assert_eq!(listed.code, 3);
    assert_snapshot!(w.plain(&listed.err), @"
    warning: [ROOT]/home/.claude/projects/-shop/5f0c5f0c-0000-4000-8000-000000000060.jsonl: not a session: no record of the client is in it (and 29 more, in 30 files)
    hint: `--verbose` tells all 30
    ");
    assert_eq!(w.run(&["list", "--verbose"]).err.lines().count(), 30);
    assert_eq!(w.run(&["list", "--json"]).err.lines().count(), 30);
}
