//! Bad weather: clear errors, nothing lost, no crash.

use std::fs;
#[cfg(target_os = "linux")]
use std::process::Command;

use super::{NOW, Post, line};
#[cfg(target_os = "linux")]
use super::{bodies, traced};
#[cfg(target_os = "linux")]
use crate::world::Answer;

#[test]
fn a_torn_last_line_does_not_swallow_the_next_message() {
    let p = Post::new();
    p.put("log-foo.jsonl", "{\"id\": \"0123456789abcdef\", \"ts\": 17");
    p.ok("foo", &["send", "bar", "after the crash"]);
    assert_eq!(p.read("log-foo.jsonl").lines().count(), 2);
    let answer = p.run("bar", &["inbox"]);
    assert_eq!(answer.code, 3);
    assert!(
        answer.out.contains("after the crash") && answer.err.contains("log-foo.jsonl:1:"),
        "{answer:?}"
    );
}

#[test]
fn a_record_from_the_future_hides_none_and_is_warned_about() {
    let p = Post::new();
    p.put(
        "log-eve.jsonl",
        line("eve", "bar", "from 2100", 4_102_444_800),
    );
    let answer = p.run("bar", &["inbox"]);
    assert_eq!(answer.code, 0);
    assert!(
        answer.out.contains("from 2100") && answer.err.contains("a message from the future"),
        "{answer:?}"
    );
    p.ok("foo", &["send", "bar", "from now"]);
    assert_eq!(p.new_for("bar"), ["from now"]);
    assert!(p.read(".seen-bar").contains(&format!("\"ts\": {NOW},")));
}

#[test]
fn strange_bytes_types_and_depths_stop_no_inbox() {
    let p = Post::new();
    let mut bytes = b"\xff\xfe not utf-8\n[1]\n7\n".to_vec();
    bytes.extend_from_slice(b"{\"ts\":\"a string\",\"from\":\"foo\",\"to\":\"bar\",\"thread\":\"t\",\"body\":\"odd\"}\n");
    bytes.extend_from_slice(("[".repeat(500_000) + "\n").as_bytes());
    bytes.extend_from_slice(line("foo", "bar", "good", NOW).as_bytes());
    p.put("log-foo.jsonl", bytes);
    let answer = p.run("bar", &["inbox"]);
    assert_eq!(answer.code, 3, "{}", answer.err);
    assert!(answer.out.contains("odd") && answer.out.contains("good"));
    assert!(p.ok("bar", &["reply", "x"]).contains("bar→foo"));
}

#[test]
fn a_file_in_the_place_of_the_folder_is_named() {
    let p = Post::new();
    fs::write(&p.dir, "not a folder").unwrap();
    for args in [&["send", "bar", "x"][..], &["inbox"], &["check"], &["init"]] {
        let answer = p.run("foo", args);
        assert_eq!(answer.code, 1, "{args:?}: {answer:?}");
        assert!(
            answer.err.starts_with("error: ") && answer.err.contains("messages"),
            "{answer:?}"
        );
    }
    assert_eq!(fs::read_to_string(&p.dir).unwrap(), "not a folder");
}

#[test]
fn a_folder_that_vanishes_and_comes_back_loses_nothing() {
    let p = Post::new();
    p.ok("foo", &["send", "bar", "one"]);
    p.ok("bar", &["inbox"]);
    let away = p.w.root.join("away");
    fs::rename(&p.dir, &away).unwrap();
    assert_eq!(p.ok("bar", &["inbox"]), "no new messages\n");
    assert!(!p.dir.exists());
    fs::rename(&away, &p.dir).unwrap();
    p.ok("foo", &["send", "bar", "two"]);
    assert_eq!(p.new_for("bar"), ["two"]);
}

#[test]
fn a_cache_that_cannot_be_written_is_said_and_the_watermark_goes_on() {
    let p = Post::new();
    fs::write(p.w.home.join(".cache"), "not a folder").unwrap();
    p.run("foo", &["send", "bar", "one"]);
    let answer = p.run("bar", &["inbox"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    assert!(
        answer.err.contains("what was shown is not noted"),
        "{answer:?}"
    );
    let answer = p.run("bar", &["inbox"]);
    assert_eq!(answer.out, "no new messages\n", "{answer:?}");
}

/// Runs commands on a small disk of their own; none if that cannot be had here.
#[cfg(target_os = "linux")]
fn on_a_disk(p: &Post, options: &str, script: &str) -> Option<Answer> {
    fs::create_dir_all(&p.dir).unwrap();
    let mount = format!("mount -t tmpfs -o {options} none '{}'", p.dir.display());
    let ways = [&["-m"][..], &["-r", "-m"]];
    let way = ways.iter().find(|way| {
        let tried = Command::new("unshare")
            .args(**way)
            .args(["sh", "-c", &mount])
            .output();
        tried.is_ok_and(|tried| tried.status.success())
    });
    let Some(way) = way else {
        rethread_judges::skip("a small disk cannot be mounted here");
        return None;
    };
    let mut command = Command::new("unshare");
    let program = env!("CARGO_BIN_EXE_rethread");
    command
        .args(*way)
        .args([
            "sh",
            "-c",
            &format!(
                "{mount} || exit 9; cd '{}'; rethread() {{ '{program}' \"$@\"; }}; {script}",
                p.home_of("foo").display()
            ),
        ])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", &p.w.home)
        .env("TZ", "UTC")
        .env("RETHREAD_NOW", crate::world::NOW)
        .env("AGENT_MESSAGE_DIR", &p.dir);
    Some(crate::world::run_with(command, b""))
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_refuses_a_message_whole() {
    let p = Post::new();
    let script = "
        rethread msg send bar first >/dev/null || exit 8
        before=$(cat \"$AGENT_MESSAGE_DIR\"/log-foo.jsonl)
        dd if=/dev/zero of=\"$AGENT_MESSAGE_DIR\"/ballast bs=1k 2>/dev/null
        head -c 20000 /dev/zero | tr '\\0' x | rethread msg send bar
        echo code $?
        [ \"$before\" = \"$(cat \"$AGENT_MESSAGE_DIR\"/log-foo.jsonl)\" ] && echo unchanged
        rethread msg --as bar inbox; echo code $?
        rm \"$AGENT_MESSAGE_DIR\"/ballast
        rethread msg send bar second >/dev/null && rethread msg --as bar inbox --json --all | wc -l";
    let Some(answer) = on_a_disk(&p, "size=64k,mode=700", script) else {
        return;
    };
    assert!(answer.out.starts_with("code 1\nunchanged\n"), "{answer:?}");
    assert!(
        answer.out.contains("first") && answer.out.contains("1 new from: foo\ncode 0\n"),
        "{answer:?}"
    );
    assert!(answer.out.trim_end().ends_with('2'), "{answer:?}");
    assert!(
        answer.err.contains("error: cannot write") && answer.err.contains("No space left"),
        "{answer:?}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_read_only_folder_is_read_each_message_once() {
    let p = Post::new();
    let script = "
        rethread msg send bar first >/dev/null || exit 8
        mount -o remount,ro \"$AGENT_MESSAGE_DIR\" || exit 7
        rethread msg --as bar inbox; echo code $?
        rethread msg --as bar inbox; echo code $?
        rethread msg send bar second; echo code $?";
    let Some(answer) = on_a_disk(&p, "size=64k,mode=700", script) else {
        return;
    };
    let said: Vec<&str> = answer
        .out
        .lines()
        .filter(|l| l.starts_with("code") || l.contains("new"))
        .collect();
    assert_eq!(
        said,
        [
            "1 new from: foo",
            "code 0",
            "no new messages",
            "code 0",
            "code 1"
        ],
        "{answer:?}"
    );
    assert!(
        answer.err.contains("what was shown is not noted"),
        "{answer:?}"
    );
    assert!(
        answer.err.contains("hint: that disk is mounted read-only"),
        "{answer:?}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_send_is_one_write_call_without_a_lock() {
    let p = Post::new();
    let Some(strace) = crate::world::strace() else {
        return;
    };
    let trace = p.w.root.join("trace");
    let send = p.command("foo", &["send", "bar", &"long ".repeat(20_000)]);
    let options = ["-f", "-y", "-s", "20", "-o", trace.to_str().unwrap()];
    let mut traced = traced(&strace, &options, &send);
    assert!(traced.output().unwrap().status.success());
    let trace = fs::read_to_string(trace).unwrap();
    let of_log = |call: &str| {
        let calls = trace
            .lines()
            .filter(|l| l.contains(call) && l.contains("log-foo.jsonl"));
        calls.count()
    };
    assert_eq!(
        (of_log(" write("), of_log("flock("), of_log("F_SETLK")),
        (1, 0, 0),
        "write, flock, lock"
    );
    let opened: Vec<&str> = trace
        .lines()
        .filter(|l| l.contains("openat(") && l.contains("log-foo.jsonl"))
        .collect();
    assert!(
        opened
            .iter()
            .all(|l| l.contains("O_APPEND") && l.contains("O_NOFOLLOW")),
        "{opened:?}"
    );
    assert_eq!(p.new_for("bar").len(), 1);
}

#[cfg(target_os = "linux")]
#[test]
fn a_send_is_synced_with_its_name_before_it_is_acknowledged() {
    let p = Post::new();
    let Some(strace) = crate::world::strace() else {
        return;
    };
    let trace = p.w.root.join("trace");
    let folder = format!("<{}>", p.dir.display());
    // The second time as well: whoever compacts the log may not have synced its new name yet.
    for text in ["one", "two"] {
        let options = [
            "-y",
            "-e",
            "trace=write,fsync,fdatasync",
            "-o",
            trace.to_str().unwrap(),
        ];
        let send = p.command("foo", &["send", "bar", text]);
        assert!(
            traced(&strace, &options, &send)
                .output()
                .unwrap()
                .status
                .success()
        );
        let trace = fs::read_to_string(&trace).unwrap();
        let calls: Vec<&str> = trace.lines().collect();
        let at = |call: &str, what: &str| {
            let is_it = |line: &&str| line.starts_with(call) && line.contains(what);
            calls.iter().rposition(is_it).expect(call)
        };
        let order = [
            at("fsync(", &folder),
            at("write(", "log-foo.jsonl>"),
            at("fdatasync(", "log-foo.jsonl>"),
            at("write(1<", "sent foo"),
        ];
        assert!(order.is_sorted(), "{order:?}: {trace}");
    }
}

/// A line crosses pages, and who reads sees its beginning before the rest is written: the end of the
/// log is met in the middle of it, and then there is more.
#[cfg(target_os = "linux")]
#[test]
fn a_line_that_was_met_half_is_shown_when_it_is_whole() {
    let Some(strace) = crate::world::strace() else {
        return;
    };
    let p = Post::new();
    let sent: Vec<String> = (0..300).map(|n| format!("message {n:03}")).collect();
    let lines = sent.iter().map(|body| line("foo", "bar", body, NOW));
    p.put("log-foo.jsonl", lines.collect::<String>());
    let log = p.path("log-foo.jsonl");
    assert!(fs::metadata(&log).unwrap().len() > 20_000);
    // The second read of the log says that there is nothing more.
    let options = [
        "-f",
        "-qq",
        "-o",
        "/dev/null",
        "-P",
        log.to_str().unwrap(),
        "-e",
        "trace=read",
        "-e",
        "inject=read:retval=0:when=2",
    ];
    let inbox = p.command("bar", &["inbox", "--json"]);
    let output = traced(&strace, &options, &inbox).output().unwrap();
    let answer = crate::world::answer(output);
    assert_eq!((answer.code, answer.err.as_str()), (0, ""), "{answer:?}");
    let mut shown = bodies(&answer.out);
    assert!(!shown.is_empty() && shown.len() < sent.len());
    shown.extend(p.new_for("bar"));
    assert_eq!(shown, sent);
    // The same of a compactor: it takes no half of a line for a line.
    let twice = p.read("log-foo.jsonl") + &line("foo", "bar", &sent[0], NOW);
    p.put("log-foo.jsonl", twice);
    let compact = p.command("foo", &["compact"]);
    let output = traced(&strace, &options, &compact).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let all = bodies(&p.ok("bar", &["inbox", "--all", "--json"]));
    assert_eq!(all, sent);
}
