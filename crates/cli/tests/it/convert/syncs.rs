//! What is synced when a session is converted: what is there to stay, once, and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::world::{World, json, strace, tree};

/// How often each path was synced, and by how many threads.
fn syncs(w: &World, args: &[&str]) -> Option<(BTreeMap<PathBuf, usize>, usize)> {
    let log = w.root.join("calls");
    let run = w.command(args);
    let mut traced = Command::new(strace()?);
    traced
        .args(["-f", "-y", "-e", "trace=fsync,fdatasync,sync,syncfs", "-o"])
        .arg(&log)
        .arg(run.get_program())
        .args(run.get_args())
        .current_dir(&w.project)
        .env_clear();
    for (name, value) in run.get_envs() {
        if let Some(value) = value {
            traced.env(name, value);
        }
    }
    let output = traced.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let (mut paths, mut threads) = (BTreeMap::new(), BTreeSet::new());
    for line in fs::read_to_string(&log).unwrap().lines() {
        let Some((thread, call)) = line.split_once(' ') else {
            continue;
        };
        // What is only the end of a call that was told before says no path again.
        if let Some((_, path)) = call.split_once('<').filter(|_| !call.contains("resumed>")) {
            let path = path.split_once('>').unwrap().0;
            *paths.entry(PathBuf::from(path)).or_default() += 1;
            threads.insert(thread.to_owned());
        }
    }
    Some((paths, threads.len()))
}

#[test]
fn a_session_of_many_small_files_is_synced_together_and_each_file_once() {
    let w = World::new();
    let id = w.thread("many");
    let lines: String = (0..150)
        .flat_map(|n| {
            [
                format!(r#"{{"role":"user","content":[{{"type":"text","text":"question {n}"}}]}}"#),
                format!(r#"{{"role":"agent","content":[{{"type":"text","text":"answer {n}"}}],"toolCalls":[{{"toolCallId":"c{n}","name":"bash","status":"completed","input":"{{}}","output":"done"}}]}}"#),
            ]
        })
        .map(|line| line + "\n")
        .collect();
    assert_eq!(
        w.pipe(&["append", &id, "--message-json", "-"], lines).code,
        0
    );
    let to = ["convert", &id, "--to", "agentuse", "--json", "-o", "out"];
    let Some((synced, threads)) = syncs(&w, &to) else {
        return;
    };
    let out = w.project.join("out");
    let written: Vec<PathBuf> = tree(&out).into_iter().map(|(path, _)| path).collect();
    assert!(written.len() > 300, "{}", written.len());
    // They had a folder under another name when they were synced.
    let place = |path: &PathBuf| {
        let below = path.strip_prefix(&out).unwrap();
        let parts = below.components().skip(4);
        parts.collect::<PathBuf>()
    };
    let mut counts: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for (path, count) in &synced {
        assert!(
            path.starts_with(&w.root),
            "what is only prepared is not synced: {}",
            path.display()
        );
        if path.starts_with(&out) {
            *counts.entry(place(path)).or_default() += count;
        }
    }
    for path in &written {
        assert_eq!(counts.get(&place(path)), Some(&1), "{}", path.display());
    }
    assert!(threads > 1, "one after the other");
    // It can still be had without.
    let to = [&to[..5], &["-o", "again", "--durability", "none"]].concat();
    let (synced, _) = syncs(&w, &to).unwrap();
    let again = w.project.join("again");
    assert!(
        !synced.keys().any(|path| path.starts_with(&again)),
        "{synced:?}"
    );
}

#[test]
fn what_was_synced_together_is_the_session() {
    let w = World::new();
    let id = w.thread("one");
    w.ok(&["append", &id, "hello"]);
    w.ok(&["append", &id, "--role", "agent", "hi"]);
    let made = json(&w.ok(&["convert", &id, "--to", "agentuse", "--json", "-o", "out"]));
    let path = made["path"].as_str().unwrap();
    assert_eq!(w.run(&["check", path]).code, 0);
    let back = json(&w.ok(&["convert", path, "--to", "atsf", "--json", "-o", "back"]));
    let log = fs::read(PathBuf::from(back["path"].as_str().unwrap()).join("messages.jsonl"));
    assert_eq!(String::from_utf8(log.unwrap()).unwrap(), w.log(&id));
}
