//! Listing takes as long as there are projects, and not as long as there are pairs of them.

use std::fs;
use std::process::Command;

use crate::world::{World, copy, strace};

/// So many projects with a store of their own, each named by a session of Claude Code.
fn projects(count: usize) -> World {
    let w = World::new();
    let id = w.thread("T");
    w.ok(&["append", &id, "x"]);
    for i in 0..count {
        let project = w.root.join(format!("work/p{i}"));
        fs::create_dir_all(project.join(".git")).unwrap();
        fs::write(project.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let own = format!("{i:08x}{}", &id[8..]);
        let thread = project.join(".agent/threads").join(&own);
        copy(&w.folder(&id), &thread);
        let manifest = thread.join("thread.json");
        let text = fs::read_to_string(&manifest).unwrap();
        fs::write(&manifest, text.replace(&id, &own)).unwrap();
        let folder = w.home.join(format!(".claude/projects/-work-p{i}"));
        fs::create_dir_all(&folder).unwrap();
        let cwd = project.display();
        let line = format!(
            r#"{{"type":"user","uuid":"u","sessionId":"{own}","timestamp":"2026-11-01T10:00:00.000Z","cwd":"{cwd}","message":{{"role":"user","content":"x"}}}}"#
        );
        fs::write(folder.join(format!("{own}.jsonl")), line + "\n").unwrap();
    }
    w
}

/// How many calls of the system that name a file a list makes.
fn calls(strace: &std::path::Path, count: usize) -> usize {
    let w = projects(count);
    let log = w.root.join("calls");
    let plain = w.command(&["list"]);
    let mut traced = Command::new(strace);
    traced.args(["-f", "-e", "trace=%file", "-o"]).arg(&log);
    traced.arg(plain.get_program()).arg("list");
    traced.current_dir(&w.project).env_clear();
    for (name, value) in plain.get_envs() {
        traced.env(name, value.unwrap());
    }
    let output = traced.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let listed = String::from_utf8(output.stdout).unwrap().lines().count();
    assert_eq!(listed, 2 * count + 1);
    fs::read_to_string(&log).unwrap().lines().count()
}

#[test]
fn each_project_costs_the_same() {
    let Some(strace) = strace() else { return };
    let [few, more, many] = [40, 160, 640].map(|count| calls(&strace, count));
    // Stores are listed side by side, so a few calls more or less are chance.
    let (first, second) = ((more - few) / 120, (many - more) / 480);
    assert!(
        second <= first + first / 5,
        "{few}, {more} and {many} calls"
    );
    assert!(second <= MOST_CALLS, "{second} calls for each project");
}

/// What a project with a store of its own and a session elsewhere may cost.
const MOST_CALLS: usize = 50;
