//! What is printed for people, filters, and how it ends.

use super::{Following, say, session};
use crate::world::World;

#[test]
fn people_see_a_line_a_message_or_whole_messages() {
    let w = World::with_git();
    let id = session(&w, "claude-code", "5");
    let lines = Following::library(&w, &[]);
    let turns = Following::start(&w, &["show", &id, "--follow", "--last", "1"]);
    while !turns.next_line().contains("before") {}
    let long = format!("It is a shop.\n\n\u{1b}[31m{}", "And so on. ".repeat(40));
    say(&w, &id, "agent", &long, "5");
    let line = lines.next_line();
    let start = format!("claude-code  {id}  Claude Code  It is a shop. ");
    assert!(line.starts_with(&start), "{line}");
    assert!(line.chars().count() <= 160, "{line}");
    assert!(!line.contains('\u{1b}'), "{line}");
    let mut shown = String::new();
    while !shown.contains("And so on.") {
        shown.push_str(&turns.next_line());
        shown.push('\n');
    }
    assert!(shown.contains("Claude"), "{shown}");
    assert!(shown.contains("    It is a shop."), "{shown}");
    assert!(!shown.contains('\u{1b}'), "{shown}");
}

#[test]
fn only_what_was_asked_for_is_followed() {
    let w = World::with_git();
    let codex = session(&w, "codex", "5");
    let claude = session(&w, "claude-code", "6");
    let follow = Following::library(&w, &["--agent", "codex", "--json"]);
    say(&w, &claude, "user", "not for you", "6");
    session(&w, "pi", "7");
    say(&w, &codex, "user", "for you", "5");
    assert_eq!(follow.next_text(), "for you");
    let new = session(&w, "codex", "8");
    assert_eq!(follow.next_message()["session_id"], *new);
    assert_eq!(follow.stop(), [""; 0]);
}

#[test]
fn a_store_that_appears_later_is_followed() {
    let w = World::with_git();
    session(&w, "codex", "5");
    let follow = Following::library(&w, &["--json"]);
    for (format, seed) in [("claude-code", "6"), ("pi", "7")] {
        let new = session(&w, format, seed);
        assert_eq!(follow.next_message()["session_id"], *new);
        say(&w, &new, "user", "and more", seed);
        assert_eq!(follow.next_text(), "and more");
    }
    assert_eq!(follow.stop(), [""; 0]);
}

/// Where the system does not tell, somebody looks.
#[test]
fn changes_are_noticed_by_looking() {
    let w = World::with_git();
    let id = session(&w, "pi", "5");
    let one = Following::start(&w, &["show", &id, "--follow", "--json", "--poll", "0.05"]);
    assert_eq!(one.next_text(), "before");
    let all = Following::library(&w, &["--poll", "0.05", "--json"]);
    say(&w, &id, "user", "hello", "5");
    assert_eq!(one.next_text(), "hello");
    assert_eq!(all.next_text(), "hello");
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_and_an_interrupt_end_it() {
    use std::io::{BufRead as _, BufReader};
    use std::process::Stdio;

    let w = World::with_git();
    let id = session(&w, "pi", "5");
    let args = ["show", &id, "--follow", "--json"];
    let mut child = w.command(&args).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert!(line.contains("before"), "{line}");
    drop(out);
    say(&w, &id, "user", "nobody listens", "5");
    assert!(child.wait().unwrap().success());

    let mut follow = Following::start(&w, &args);
    assert_eq!(follow.next_text(), "before");
    let pid = follow.child.id().to_string();
    let sent = std::process::Command::new("kill")
        .args([interrupt(), &pid])
        .status();
    assert!(sent.unwrap().success());
    assert!(!follow.child.wait().unwrap().success());
    assert_eq!(follow.next_text(), "nobody listens");
    assert!(follow.out.recv().is_err());
}

/// What Ctrl-C sends. A shell that runs the tests in the background has that ignored by all that they
/// start; then another signal that ends a program.
#[cfg(unix)]
fn interrupt() -> &'static str {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    match ignored.unwrap_or_default() & 2 {
        0 => "-INT",
        _ => "-TERM",
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let w = World::with_git();
    let id = session(&w, "pi", "5");
    for args in [
        &["show", &id, "--follow", "--to", "html"][..],
        &["show", &id, "--follow", "-o", "x"],
        &["show", &id, "--follow", "--at", "#1"],
        &["show", &id, "--poll", "1"],
        &["list", "--follow", "--tsv"],
        &["list", "--poll", "1"],
    ] {
        assert_eq!(w.run(args).code, 2, "{args:?}");
    }
}
