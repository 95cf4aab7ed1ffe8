//! Messages as they arrive.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use super::{NOW, Post, line};
use crate::world::json;

#[test]
fn messages_are_printed_as_they_arrive_and_count_as_shown() {
    let p = Post::new();
    p.ok("foo", &["send", "bar", "before"]);
    let args = ["watch", "--json", "--count", "3", "--interval", "0.02"];
    let mut child = p
        .command("bar", &args)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || json(&lines.next().unwrap().unwrap())["body"].clone();
    assert_eq!(next(), "before");
    p.ok("foo", &["send", "bar", "first"]);
    assert_eq!(next(), "first");
    p.ok("foo", &["send", "eve", "not for bar"]);
    p.ok("eve", &["send", "bar", "second"]);
    assert_eq!(next(), "second");
    assert!(child.wait().unwrap().success());
    assert!(p.new_for("bar").is_empty());
}

#[test]
fn a_count_leaves_the_rest_for_later() {
    let p = Post::new();
    let all: String = (0..5)
        .map(|n| line("foo", "bar", &n.to_string(), NOW + n))
        .collect();
    p.put("log-foo.jsonl", all);
    let out = p.ok("bar", &["watch", "--json", "--count", "2"]);
    assert_eq!(super::bodies(&out), ["0", "1"]);
    assert_eq!(p.new_for("bar"), ["2", "3", "4"]);
}

#[cfg(unix)]
#[test]
fn a_program_runs_once_a_message_with_the_record_on_its_input() {
    let p = Post::new();
    let record = line("foo", "bar", "$(touch x); `touch y`\nz", NOW);
    p.put("log-foo.jsonl", &record);
    let out = p.ok("bar", &["watch", "--count", "1", "--exec", "cat"]);
    assert_eq!(out, record, "what is stored, and nothing else");
    p.ok("foo", &["send", "bar", "next"]);
    let args = [
        "watch", "--count", "1", "--exec", "printf", "--", "%s|", "a b", "$HOME; x",
    ];
    assert_eq!(p.ok("bar", &args), "a b|$HOME; x|", "never through a shell");
    assert!(p.new_for("bar").is_empty());
}

#[cfg(unix)]
#[test]
fn a_program_that_fails_is_named_and_one_that_is_not_there_loses_nothing() {
    let p = Post::new();
    p.ok("foo", &["send", "bar", "one"]);
    let answer = p.run("bar", &["watch", "--count", "1", "--exec", "false"]);
    assert_eq!(answer.code, 3, "{answer:?}");
    assert!(
        answer.err.contains("`false` failed on message"),
        "{answer:?}"
    );
    p.ok("foo", &["send", "bar", "two"]);
    let answer = p.run(
        "bar",
        &["watch", "--count", "1", "--exec", "/nowhere/at/all"],
    );
    assert_eq!(answer.code, 1, "{answer:?}");
    assert!(
        answer.err.contains("cannot run `/nowhere/at/all`"),
        "{answer:?}"
    );
    assert_eq!(p.new_for("bar"), ["two"]);
}

#[cfg(unix)]
#[test]
fn a_watch_that_dies_has_noted_each_run_before_the_next() {
    let p = Post::new();
    let all: String = (0..5)
        .map(|n| line("foo", "bar", &n.to_string(), NOW - n))
        .collect();
    p.put("log-foo.jsonl", all);
    let out = p.w.root.join("out");
    let script = "cat >> \"$0\"; [ $(wc -l < \"$0\") -ne 3 ] || kill -9 $PPID";
    let out = out.to_str().unwrap();
    let args = [
        "watch", "--count", "5", "--exec", "sh", "--", "-c", script, out,
    ];
    assert_ne!(
        p.run("bar", &args).code,
        0,
        "it was killed at the third message"
    );
    let ran = std::fs::read_to_string(out).unwrap();
    assert_eq!(super::bodies(&ran), ["4", "3", "2"]);
    assert_eq!(
        p.new_for("bar"),
        ["2", "1", "0"],
        "the third was not known to have ended"
    );
}
