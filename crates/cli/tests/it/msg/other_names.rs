//! Under the names of the reference implementation: its arguments, its lines, and the behaviours
//! that its own tests show.

use std::fs;
use std::path::PathBuf;

use super::{NOW, Post, line, names};
use crate::world::{Answer, json};

impl Post {
    /// The program under another name.
    fn called(&self, name: &str, agent: &str, args: &[&str], input: &str) -> Answer {
        let link: PathBuf = self.w.root.join(name);
        if !link.exists() {
            std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_rethread"), &link).unwrap();
        }
        let like = self.command(agent, &[]);
        let mut command = std::process::Command::new(link);
        command
            .args(args)
            .current_dir(self.home_of(agent))
            .env_clear();
        command.envs(like.get_envs().filter_map(|(k, v)| Some((k, v?))));
        crate::world::run_with(command, input.as_bytes())
    }

    fn cmd(&self, agent: &str, args: &[&str], input: &str) -> Answer {
        self.called("agent-message-cmd", agent, args, input)
    }

    fn msg(&self, agent: &str, args: &[&str]) -> Answer {
        self.called("msg", agent, args, "")
    }
}

#[test]
fn cmd_round_trip() {
    let p = Post::new();
    let sent = p.cmd("foo", &["send", "bar"], "hi from foo\n");
    let id = p.records("foo")[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(
        sent.out,
        format!("sent foo→bar thread=2026-11-15-foo-hi-from-foo id={id}\n")
    );
    let inbox = p.cmd("bar", &["inbox"], "");
    assert_eq!(
        inbox.out,
        "[11-15 12:00] from=foo thread=2026-11-15-foo-hi-from-foo: hi from foo\n1 new from: foo\n"
    );
    let reply = p.cmd("bar", &["reply"], "lgtm\n");
    assert!(
        reply
            .out
            .starts_with("reply bar→foo thread=2026-11-15-foo-hi-from-foo id=")
    );
    assert!(p.cmd("foo", &["inbox"], "").out.contains(": lgtm\n"));
}

#[test]
fn cmd_watermark() {
    let p = Post::new();
    p.cmd("foo", &["send", "bar"], "msg1");
    p.cmd("bar", &["inbox"], "");
    assert_eq!(p.cmd("bar", &["inbox"], "").out, "no new messages\n");
    assert_eq!(p.cmd("eve", &["inbox", "all"], "").out, "no messages\n");
}

#[test]
fn cmd_same_second_burst() {
    let p = Post::new();
    p.cmd("foo", &["send", "bar"], "first");
    p.cmd("foo", &["send", "bar"], "second");
    let out = p.cmd("bar", &["inbox"], "").out;
    assert!(out.contains("first") && out.contains("second") && out.contains("2 new from: foo"));
}

#[test]
fn cmd_dedup_of_a_synced_log() {
    let p = Post::new();
    p.cmd("foo", &["send", "bar"], "ping");
    fs::copy(p.path("log-foo.jsonl"), p.path("log-foo-replica.jsonl")).unwrap();
    assert_eq!(
        p.cmd("bar", &["inbox"], "").out.matches("from=foo").count(),
        1
    );
}

#[test]
fn cmd_alias_that_is_a_path_is_blocked() {
    let p = Post::new();
    fs::write(
        p.home_of("foo").join(".agent-message"),
        "../../../tmp/PWNED\n",
    )
    .unwrap();
    p.cmd("foo", &["send", "bar"], "evil");
    assert_eq!(names(&p.dir), ["log-foo.jsonl"]);
}

#[test]
fn cmd_reply_inherits_the_thread() {
    let p = Post::new();
    p.cmd("foo", &["send", "bar"], "first");
    p.cmd("bar", &["reply"], "second");
    assert_eq!(p.records("foo")[0]["thread"], p.records("bar")[0]["thread"]);
}

#[test]
fn cmd_thread_override() {
    let p = Post::new();
    p.cmd("foo", &["send", "bar"], "[thread:custom-id]\nbody");
    assert_eq!(p.records("foo")[0]["thread"], "custom-id");
}

#[test]
fn cmd_times_of_files_are_cached() {
    let p = Post::new();
    p.cmd("foo", &["send", "bar"], "ping");
    p.cmd("bar", &["inbox"], "");
    let cached = json(&p.read(".mtime-bar"));
    assert_eq!(cached["files"], 1);
    assert_eq!(p.cmd("bar", &["inbox"], "").out, "no new messages\n");
}

#[test]
fn cmd_deleted_watermark_forces_a_new_look() {
    let p = Post::new();
    p.cmd("foo", &["send", "bar"], "ping");
    p.cmd("bar", &["inbox"], "");
    fs::remove_file(p.path(".seen-bar")).unwrap();
    assert!(p.cmd("bar", &["inbox"], "").out.contains("ping"));
}

#[test]
fn cmd_a_long_history_is_not_read_again() {
    let p = Post::new();
    let history: String = (0..20_000)
        .map(|n| line("alice", "bar", &n.to_string(), NOW - 9))
        .collect();
    p.put("log-alice.jsonl", &history);
    assert!(
        p.cmd("bar", &["inbox"], "")
            .out
            .ends_with("20000 new from: alice\n")
    );
    // What was read is spoilt, in place: nobody looks at it again.
    let path = p.path("log-alice.jsonl");
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    fs::write(&path, "x".repeat(history.len())).unwrap();
    fs::File::options()
        .append(true)
        .open(&path)
        .unwrap()
        .set_modified(time)
        .unwrap();
    let answer = p.cmd("bar", &["inbox"], "");
    assert_eq!(
        (answer.out.as_str(), answer.err.as_str()),
        ("no new messages\n", "")
    );
}

#[test]
fn cmd_ids_follow_from_the_content() {
    let p = Post::new();
    p.cmd("foo", &["send", "bar"], "same body");
    p.cmd("foo", &["send", "bar"], "same body");
    let records = p.records("foo");
    assert_eq!(records[0], records[1]);
    let record = &records[0];
    let text = |key: &str| record[key].as_str().unwrap().to_owned();
    let id = rethread_samp::Id::of(
        NOW,
        &text("from"),
        &text("to"),
        &text("thread"),
        &text("body"),
    );
    assert_eq!(text("id"), id.to_string());
    assert!(
        p.cmd("bar", &["inbox"], "")
            .out
            .ends_with("1 new from: foo\n")
    );
}

#[test]
fn cmd_version() {
    let out = Post::new().cmd("foo", &["--version"], "").out;
    assert_eq!(out, "agent-message 1.1.1 (SAMP v1)\n");
}

#[test]
fn cmd_one_writer_a_log_is_enforced_when_reading() {
    let p = Post::new();
    p.cmd("foo", &["send", "bar"], "legit");
    p.put("log-mallory.jsonl", line("foo", "bar", "FORGED", NOW));
    let answer = p.cmd("bar", &["inbox"], "");
    assert!(answer.out.contains("legit") && !answer.out.contains("FORGED"));
    assert!(answer.err.contains("log-mallory.jsonl:1"));
    assert_eq!(answer.code, 0);
}

#[test]
fn cmd_body_in_normal_form_c() {
    let p = Post::new();
    p.cmd("foo", &["send", "bar"], "cafe\u{301}");
    assert_eq!(p.records("foo")[0]["body"], "caf\u{e9}");
}

#[test]
fn cmd_linked_log_blocks_writing() {
    let p = Post::new();
    let target = p.w.root.join("target");
    fs::write(&target, "").unwrap();
    fs::create_dir(&p.dir).unwrap();
    std::os::unix::fs::symlink(&target, p.path("log-foo.jsonl")).unwrap();
    assert_ne!(p.cmd("foo", &["send", "bar"], "evil").code, 0);
    assert_eq!(fs::read(&target).unwrap(), b"");
}

#[test]
fn msg_round_trip() {
    let p = Post::new();
    let sent = p.msg("foo", &["send", "bar", "hi", "from", "msg"]);
    assert!(
        sent.out
            .starts_with("sent foo→bar thread=2026-11-15-foo-hi-from-msg id="),
        "{sent:?}"
    );
    assert_eq!(
        p.msg("bar", &[]).out,
        "[11-15 12:00] from=foo thread=2026-11-15-foo-hi-from-msg: hi from msg\n"
    );
    assert!(
        p.msg("bar", &["reply", "well", "done"])
            .out
            .starts_with("reply bar→foo thread=")
    );
    assert!(p.msg("foo", &["inbox"]).out.ends_with(": well done\n"));
    assert!(p.msg("bar", &["all"]).out.contains("hi from msg"));
}

#[test]
fn msg_times_of_files_are_cached() {
    let p = Post::new();
    p.msg("foo", &["send", "bar", "ping"]);
    p.msg("bar", &[]);
    assert!(p.path(".mtime-bar").exists());
    assert_eq!(p.msg("bar", &[]).out, "no new messages\n");
}

#[test]
fn msg_version() {
    assert_eq!(
        Post::new().msg("foo", &["--version"]).out,
        "msg 1.1.1 (SAMP v1)\n"
    );
}

#[test]
fn msg_alias_that_is_a_path_is_blocked_and_nobody_writes_as_unknown() {
    let p = Post::new();
    fs::write(
        p.home_of("foo").join(".agent-message"),
        "../../../tmp/PWNED-msg\n",
    )
    .unwrap();
    p.msg("foo", &["send", "bar", "evil"]);
    assert_eq!(names(&p.dir), ["log-foo.jsonl"]);
    assert_eq!(p.msg("not an alias", &["send", "bar", "x"]).code, 2);
    assert_eq!(p.cmd("not an alias", &["send", "bar"], "x").code, 2);
    assert_eq!(names(&p.dir), ["log-foo.jsonl"]);
    assert_eq!(
        p.msg("not an alias", &[]).out,
        "no new messages\n",
        "but anybody may read"
    );
}

#[test]
fn msg_strips_the_space_around_a_thread() {
    let p = Post::new();
    p.msg("foo", &["send", "bar", "[thread:  spaced  ] body"]);
    assert_eq!(p.records("foo")[0]["thread"], "spaced");
}

#[test]
fn msg_deleted_watermark_forces_a_new_look() {
    let p = Post::new();
    p.msg("foo", &["send", "bar", "ping"]);
    p.msg("bar", &[]);
    fs::remove_file(p.path(".seen-bar")).unwrap();
    assert!(p.msg("bar", &[]).out.contains("ping"));
}

#[test]
fn checker_clean() {
    let p = Post::new();
    p.cmd("foo", &["send", "bar"], "hi");
    p.cmd("bar", &["reply"], "yo");
    assert_eq!(p.run("foo", &["check"]).code, 0);
}

#[test]
fn checker_catches_a_tampered_id() {
    let p = Post::new();
    p.cmd("foo", &["send", "bar"], "hi");
    let text = p.read("log-foo.jsonl");
    p.put(
        "log-foo.jsonl",
        text.replace(&text[8..24], "0000000000000000"),
    );
    let answer = p.run("foo", &["check"]);
    assert!(
        answer.code == 1 && answer.out.contains("error[id]"),
        "{answer:?}"
    );
}

#[test]
fn checker_catches_a_second_writer() {
    let p = Post::new();
    p.put("log-foo.jsonl", line("evil", "bar", "hi", NOW));
    let answer = p.run("foo", &["check"]);
    assert!(
        answer.code == 1 && answer.out.contains("error[single-writer]"),
        "{answer:?}"
    );
}

#[test]
fn cmd_says_what_it_does_not_know() {
    let p = Post::new();
    for (args, code, said) in [
        (
            &[][..],
            1,
            "usage: agent-message-cmd {send|inbox|reply} [args]  (--version)\n",
        ),
        (
            &["nope"],
            1,
            "usage: agent-message-cmd {send|inbox|reply} [args]  (--version)\n",
        ),
        (&["send"], 1, "usage: send <to>\n"),
        (&["inbox", "nope"], 1, "unknown mode: nope\n"),
        (&["reply"], 1, "no inbox messages to reply to\n"),
    ] {
        let answer = p.cmd("foo", args, "");
        assert_eq!((answer.code, answer.err.as_str()), (code, said), "{args:?}");
    }
    assert_eq!(p.cmd("foo", &["send", "bad alias!"], "x").code, 2);
}

#[test]
fn msg_plumbing_prints_the_lines_that_scripts_know() {
    let p = Post::new();
    p.put(
        "log-foo.jsonl",
        line("foo", "bar", "one", NOW).repeat(2) + &line("foo", "eve", "two", NOW),
    );
    p.put("log-bar.jsonl", line("bar", "foo", "x", NOW).repeat(2));
    for (args, code, said) in [
        (&["cat"][..], 2, "usage: msg cat <id|prefix>\n"),
        (&["cat", "abc"], 1, "id prefix must be at least 4 chars\n"),
        (
            &["cat", "zzzz"],
            1,
            "no message with id starting with 'zzzz'\n",
        ),
        (&["send", "bar"], 2, "usage: msg send <to> <body...>\n"),
        (&["reply"], 2, "usage: msg reply <body...>\n"),
        (&["raw", "nope"], 2, "usage: msg raw [all]\n"),
        (&["nope"], 1, "unknown subcommand: nope (try: msg help)\n"),
    ] {
        let answer = p.msg("bar", args);
        assert_eq!((answer.code, answer.err.as_str()), (code, said), "{args:?}");
    }
    let id = &line("foo", "bar", "one", NOW)[7..23];
    assert!(
        p.msg("bar", &["cat", id])
            .out
            .starts_with("{\n  \"id\": \"")
    );
    assert_eq!(p.msg("bar", &["raw"]).out, line("foo", "bar", "one", NOW));
    assert_eq!(p.msg("bar", &["raw", "all"]).out.lines().count(), 3);
    assert!(
        p.msg("bar", &["log", "eve"])
            .out
            .contains("from   foo → eve\n")
    );
    assert_eq!(
        p.msg("foo", &["compact"]).out,
        "compacted: 3 → 2 records (1 file(s) rewritten)\n"
    );
    assert_eq!(
        p.read("log-bar.jsonl").lines().count(),
        2,
        "only one's own log"
    );
    assert!(p.msg("foo", &["help"]).out.contains("msg send <to> <body>"));
    assert_eq!(
        p.cmd("bar", &["inbox", "raw"], "").out,
        line("foo", "bar", "one", NOW)
    );
}
