//! Listing takes as long as there are projects, and not as long as there are pairs of them.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

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

/// So many threads, each in a project of its own that was written to before, or all in one.
fn threads(count: usize, are_apart: bool) -> World {
    let w = World::new();
    let id = w.thread("T");
    w.ok(&["append", &id, "x"]);
    let manifest = fs::read_to_string(w.folder(&id).join("thread.json")).unwrap();
    let log = fs::read_to_string(w.folder(&id).join("messages.jsonl")).unwrap();
    let mut known = String::new();
    for i in 0..count {
        let project = if are_apart {
            w.root.join(format!("work/p{i}"))
        } else {
            w.project.clone()
        };
        let own = format!("{i:08x}{}", &id[8..]);
        let thread = project.join(".agent/threads").join(&own);
        fs::create_dir_all(&thread).unwrap();
        fs::create_dir_all(project.join(".git")).unwrap();
        fs::write(project.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let there = manifest.replace(&id, &own);
        let (from, to) = (w.project.to_str().unwrap(), project.to_str().unwrap());
        fs::write(thread.join("thread.json"), there.replace(from, to)).unwrap();
        fs::write(thread.join("messages.jsonl"), &log).unwrap();
        known.push_str(&format!("{{\"path\":\"{to}\"}}\n"));
    }
    fs::remove_dir_all(w.folder(&id)).unwrap();
    let data = w.home.join(".local/share/rethread");
    fs::create_dir_all(&data).unwrap();
    fs::write(data.join("projects.jsonl"), known).unwrap();
    w
}

/// How many calls of the system that name a file a list makes of a world with so many sessions.
fn calls(strace: &Path, w: &World, args: &[&str], sessions: usize) -> usize {
    trace(strace, w, args, sessions).len()
}

/// These calls.
fn trace(strace: &Path, w: &World, args: &[&str], sessions: usize) -> Vec<String> {
    let log = w.root.join("calls");
    let plain = w.command(args);
    let mut traced = Command::new(strace);
    traced.args(["-f", "-e", "trace=%file", "-o"]).arg(&log);
    traced.arg(plain.get_program()).args(args);
    traced.current_dir(&w.project).env_clear();
    for (name, value) in plain.get_envs() {
        traced.env(name, value.unwrap());
    }
    let output = traced.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let listed = String::from_utf8(output.stdout).unwrap().lines().count();
    assert_eq!(listed, sessions);
    // A call during which another thread went on is told in two lines.
    let told = fs::read_to_string(&log).unwrap();
    let calls = told.lines().filter(|l| !l.contains(" resumed>"));
    calls.map(str::to_owned).collect()
}

#[test]
fn each_project_costs_the_same() {
    let Some(strace) = strace() else { return };
    let counted = |count| calls(&strace, &projects(count), &["list"], 2 * count + 1);
    let [few, more, many] = [40, 160, 640].map(counted);
    // Stores are listed side by side, so a few calls more or less are chance.
    let (first, second) = ((more - few) / 120, (many - more) / 480);
    assert!(
        second <= first + first / 5,
        "{few}, {more} and {many} calls"
    );
    assert!(second <= MOST_CALLS, "{second} calls for each project");
}

/// What a project with a store of its own and a session elsewhere may cost the first time.
const MOST_CALLS: usize = 37;

/// What a project costs beside its thread: whether it is a repository, whether that has worktrees, where its
/// threads are, two calls to open their folder, its configuration; and the first time a look at that and at
/// the repository for the catalogue, which saves five of these calls from then on.
const MOST_CALLS_BESIDE: usize = 8;

#[test]
fn a_project_costs_little_more_than_a_thread() {
    let Some(strace) = strace() else { return };
    for args in [&["list", "--no-cache"][..], &["list"]] {
        let each = |are_apart| {
            let [few, many] = [20, 120].map(|count| {
                let w = threads(count, are_apart);
                calls(&strace, &w, args, count)
            });
            (many - few + 50) / 100
        };
        let (apart, together) = (each(true), each(false));
        assert!(
            apart <= together + MOST_CALLS_BESIDE,
            "{args:?}: {apart} calls for a project, {together} for a thread"
        );
    }
}

/// So long after its last change a folder counts as settled.
const SETTLES: Duration = Duration::from_millis(2100);

#[test]
fn stores_that_did_not_change_are_not_listed_again() {
    let Some(strace) = strace() else { return };
    let w = threads(12, true);
    let lists = |sessions| {
        let is_list = |call: &&String| call.contains("O_DIRECTORY") && call.contains("/threads");
        let calls = trace(&strace, &w, &["list"], sessions);
        calls.iter().filter(is_list).count()
    };
    sleep(SETTLES);
    // The current project has a store as well, and no thread in it.
    assert_eq!(lists(12), 13);
    assert_eq!(lists(12), 0);
    // A thread more, one less, and a store that a newer program made.
    let store = |i: usize| w.root.join(format!("work/p{i}/.agent"));
    let thread = |i: usize| {
        let mut there = fs::read_dir(store(i).join("threads")).unwrap();
        there.next().unwrap().unwrap().path()
    };
    let more = "ffffffff-0000-4000-8000-000000000000";
    let copied = store(3).join("threads").join(more);
    copy(&thread(3), &copied);
    let manifest = fs::read_to_string(copied.join("thread.json")).unwrap();
    let old = thread(4)
        .file_name()
        .unwrap()
        .to_string_lossy()
        .replace("00000004", "00000003");
    fs::write(copied.join("thread.json"), manifest.replace(&old, more)).unwrap();
    assert_eq!(lists(13), 1);
    fs::remove_dir_all(thread(5)).unwrap();
    let answer = |args: &[&str]| w.run(args).out;
    assert_eq!(answer(&["list"]), answer(&["list", "--no-cache"]));
    assert_eq!(answer(&["list"]).lines().count(), 12);
    fs::write(store(6).join("config.json"), r#"{"specVersion":"9.0"}"#).unwrap();
    let refused = answer(&["list", "--json"]);
    assert_eq!(refused, answer(&["list", "--json", "--no-cache"]));
    assert!(refused.contains("unsupported"), "{refused}");
    fs::remove_file(store(6).join("config.json")).unwrap();
    assert_eq!(
        answer(&["list", "--json"]),
        answer(&["list", "--json", "--no-cache"])
    );
    sleep(SETTLES);
    lists(12);
    assert_eq!(lists(12), 0);
}
