//! What the protocol's document says, where no other test shows it.

use std::fs;

use super::{NOW, Post, line, names};

#[test]
fn nothing_but_the_document_s_files_is_in_the_folder() {
    let p = Post::new();
    p.ok("foo", &["send", "bar", "x"]);
    p.ok("bar", &["inbox"]);
    p.ok("bar", &["reply", "y"]);
    p.ok("foo", &["compact"]);
    assert_eq!(
        names(&p.dir),
        [".mtime-bar", ".seen-bar", "log-bar.jsonl", "log-foo.jsonl"]
    );
}

#[test]
fn a_record_has_the_six_fields_on_one_line() {
    let p = Post::new();
    p.pipe(
        "foo",
        &["send", "bar"],
        "two\nlines, \"ü\" and 😀\n```\ncode\n```",
    );
    let text = p.read("log-foo.jsonl");
    assert_eq!(
        (text.matches('\n').count(), text.ends_with("}\n")),
        (1, true)
    );
    assert!(
        text.contains("\"ü\\\" and 😀") || text.contains("ü\\\" and 😀"),
        "{text}"
    );
    let record = &p.records("foo")[0];
    let keys: Vec<&String> = record.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["id", "ts", "from", "to", "thread", "body"]);
    assert_eq!(record["ts"], NOW);
    assert_eq!(record["body"], "two\nlines, \"ü\" and 😀\n```\ncode\n```");
}

#[test]
fn the_date_of_a_thread_is_that_of_utc() {
    let p = Post::new();
    let mut command = p.command("foo", &["send", "bar", "late at night"]);
    command
        .env("TZ", "Pacific/Kiritimati")
        .env("RETHREAD_NOW", "2026-11-15T23:59:59Z");
    assert_eq!(crate::world::run_with(command, b"").code, 0);
    assert_eq!(
        p.records("foo")[0]["thread"],
        "2026-11-15-foo-late-at-night"
    );
}

#[test]
fn the_newest_message_is_answered_the_last_of_its_second() {
    let p = Post::new();
    p.put("log-amy.jsonl", line("amy", "bar", "newer", NOW));
    p.put("log-foo.jsonl", line("foo", "bar", "older", NOW - 1));
    assert!(p.ok("bar", &["reply", "x"]).starts_with("reply bar→amy "));
    p.put("log-zoe.jsonl", line("zoe", "bar", "as new", NOW));
    assert!(p.ok("bar", &["reply", "x"]).starts_with("reply bar→zoe "));
}

#[test]
fn records_of_old_are_answered_too() {
    let p = Post::new();
    let old = format!("{{\"ts\":{NOW},\"from\":\"foo\",\"to\":\"bar\",\"body\":\"Old one\"}}\n");
    p.put("log-foo.jsonl", old);
    let said = p.ok("bar", &["reply", "x"]);
    assert!(
        said.starts_with("reply bar→foo thread=2026-11-15-foo-old-one "),
        "{said}"
    );
}

#[test]
fn what_is_only_for_others_is_not_shown() {
    let p = Post::new();
    p.ok("foo", &["send", "eve", "for eve"]);
    p.ok("foo", &["send", "Bar", "for another bar"]);
    assert!(p.new_for("bar").is_empty());
    assert_eq!(p.new_for("eve"), ["for eve"]);
}

#[test]
fn a_real_folder_of_the_corpus_is_read_and_checked() {
    let Some(corpus) = rethread_judges::corpus() else {
        return;
    };
    let p = Post::new();
    let folder = std::path::Path::new(&corpus).join("samp/slima4+agent-message/generated");
    let mut lines = 0;
    for name in names(&folder) {
        let text = fs::read(folder.join(&name)).unwrap();
        lines += text.split(|b| *b == b'\n').count() - 1;
        p.put(&name, text);
    }
    assert!(lines > 0);
    assert_eq!(p.run("foo", &["check"]).code, 0);
    assert_eq!(p.ok("foo", &["raw", "--all"]).lines().count(), lines);
    let mut shown = 0;
    for reader in ["claude", "codex", "gemini.cli", "dev-box_2"] {
        shown += p.new_for(reader).len();
        assert!(p.new_for(reader).is_empty());
    }
    assert_eq!(shown, lines);
}
