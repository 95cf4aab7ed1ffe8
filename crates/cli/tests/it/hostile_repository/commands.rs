//! Every command that comes near a repository.

use super::trap::{FORMATS, Trap};

/// The commands, in an order in which each finds what it needs.
pub(super) fn commands(trap: &Trap) -> Vec<Vec<String>> {
    let mut all: Vec<Vec<String>> = Vec::new();
    let mut add = |args: &[&str]| all.push(args.iter().map(|&arg| arg.to_owned()).collect());
    add(&["--json"]);
    add(&["agents"]);
    add(&["list", "."]);
    add(&["list", "--json", "--subagents"]);
    add(&["check", "."]);
    add(&["worktree", "list"]);
    add(&["trust"]);
    add(&["trust", "--yes"]);
    add(&["trust", "--list"]);
    add(&["export", ".", "-o", "../export.ndjson"]);
    add(&["export", ".", "--markdown", "-o", "../markdown"]);
    for (format, session) in &trap.sessions {
        if ["atsf", "opencode"].contains(format) {
            add(&["show", session]);
            add(&["tree", session]);
            add(&["context", session]);
        }
        add(&["append", session, "and then?"]);
        if *format != "agentuse" {
            add(&["rename", session, "a name"]);
            add(&["fork", session]);
        }
        add(&["resume", session, "--print"]);
    }
    for format in FORMATS {
        add(&["new", "--format", format, "--no-worktree"]);
        let (from, session) = &trap.sessions[if format == "pi" { 4 } else { 2 }];
        assert_ne!(*from, format);
        add(&["convert", session, "--to", format, "--dry-run"]);
        add(&["convert", session, "--to", format]);
        add(&["resume", session, "--in", format, "--print"]);
    }
    add(&["export", &trap.sessions[4].1, "-o", "../one.ndjson"]);
    add(&["convert", "../one.ndjson", "--to", "opencode", "--dry-run"]);
    add(&[
        "convert",
        &trap.sessions[0].1,
        "--to",
        "ndjson",
        "-o",
        "../unified",
    ]);
    let pi = &trap.sessions[2].1;
    add(&["branch", pi, "#1", "--summary", "again"]);
    add(&["label", pi, "#1", "here"]);
    add(&["migrate", pi]);
    add(&["show", pi, "--to", "raw", "-o", "../raw"]);
    add(&["msg", "whoami"]);
    add(&["sample", "../sample"]);
    add(&["new", "--format", "atsf"]);
    add(&["new", "--format", "atsf", "--trust"]);
    add(&["worktree", "add", "new"]);
    add(&[
        "worktree",
        "add",
        "chosen",
        "--path",
        "../chosen",
        "--trust",
    ]);
    add(&["worktree", "remove", "empty"]);
    add(&["worktree", "remove", "old"]);
    add(&["worktree", "remove", "old", "--force"]);
    add(&["worktree", "remove", "new", "--force"]);
    add(&["trust", "--revoke"]);
    add(&["init"]);
    add(&["rm", &trap.sessions[2].1, "--force"]);
    all
}

/// How a command may end where nobody plays a trick.
pub(super) fn may_end(args: &[String], code: Option<i32>) -> bool {
    let is = |words: &[&str]| words.iter().all(|word| args.iter().any(|arg| arg == word));
    let refuses = args == ["trust"]
        || is(&["remove", "old"])
        // These have no client.
        || (is(&["resume", "--in"]) && (is(&["atsf"]) || is(&["agentuse"])))
        || (is(&["resume"]) && !is(&["--in"]))
        || args == ["init"]
        || args == ["check", "."];
    matches!(code, Some(0 | 3)) || (refuses && matches!(code, Some(1 | 2)))
}
