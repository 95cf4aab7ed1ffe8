//! Tests look at nothing outside of their own folders: what a fixture names, or what lies above
//! the folder of temporary files, may be there on somebody's machine.

use std::path::Path;
use std::process::Command;

use crate::world::{World, copy, strace};

/// Where fixtures of formats that name folders of their own go.
const STORES: [(&str, &str); 6] = [
    (
        "claude-code/2.1/everything",
        ".claude/projects/-home-me-shop",
    ),
    ("codex/0.140/everything", ".codex"),
    ("gemini/0.61/everything", ".gemini"),
    ("pi/3/everything", ".pi/agent/sessions/--home-me-shop--"),
    ("opencode/1.1/tree", ".local/share/opencode"),
    ("agentuse/0.30/everything", ".local/share/agentuse"),
];

/// Runs a command, and gives the paths that it asked the system for.
fn asked_for(w: &World, strace: &Path, args: &[&str]) -> Vec<String> {
    let log = w.root.join("calls");
    let command = w.command(args);
    let mut traced = Command::new(strace);
    traced
        .args(["-f", "-qq", "-e", "trace=%file", "-s", "4096", "-o"])
        .arg(&log)
        .arg(command.get_program())
        .args(command.get_args())
        .current_dir(command.get_current_dir().unwrap())
        .env_clear()
        .stdin(std::process::Stdio::null());
    for (name, value) in command.get_envs() {
        traced.env(name, value.unwrap());
    }
    let output = traced.output().unwrap();
    assert!(output.status.code().is_some(), "{args:?}: {output:?}");
    let calls = std::fs::read_to_string(&log).unwrap();
    let quoted = calls.lines().filter_map(|call| call.split('"').nth(1));
    quoted.map(str::to_owned).collect()
}

#[test]
fn nothing_outside_of_a_test_s_folder_is_looked_at() {
    let Some(strace) = strace() else { return };
    let w = World::new();
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    for (from, to) in STORES {
        copy(&all.join(from), &w.home.join(to));
    }
    let claude = "a1b2c3d4-0000-4000-8000-00000000aaaa";
    let commands: [&[&str]; 12] = [
        &[],
        &["list", "--json", "--subagents"],
        &["list", "."],
        &["show", claude],
        &["append", claude, "more"],
        &["fork", claude],
        &["new", "--format", "codex"],
        &["convert", claude, "--to", "codex"],
        &["convert", "codex:latest", "--to", "claude-code"],
        &["convert", "pi:latest", "--to", "agentuse"],
        &["convert", "gemini:latest", "--to", "atsf"],
        &["resume", claude, "--print"],
    ];
    let above: Vec<String> = w
        .root
        .ancestors()
        .skip(1)
        .flat_map(|folder| [".git", ".agent", ".agentuse"].map(|name| folder.join(name)))
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    for args in commands {
        let asked = asked_for(&w, &strace, args);
        let own = |path: &&String| path.starts_with(w.root.to_str().unwrap());
        assert!(asked.iter().any(|path| own(&path)), "{args:?}: {asked:?}");
        let outside = asked.iter().filter(|path| {
            let is_above = above.iter().any(|above| path.starts_with(above.as_str()));
            is_above || path.starts_with("/home/me") || path.starts_with("/home/user")
        });
        let outside: Vec<_> = outside.collect();
        assert!(outside.is_empty(), "{args:?} looks at {outside:?}");
    }
}
