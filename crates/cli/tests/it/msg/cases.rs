//! What a user or another tool can see, case by case.

use std::fs;

use super::{NOW, Post, bodies, line, names};
use crate::world::json;

#[test]
fn a_round_trip_and_the_reply_is_in_the_same_thread() {
    let p = Post::new();
    let sent = p.ok("foo", &["send", "bar", "hi from foo"]);
    let record = &p.records("foo")[0];
    let id = record["id"].as_str().unwrap();
    assert_eq!(
        sent,
        format!("sent foo→bar thread=2026-11-15-foo-hi-from-foo id={id}\n")
    );
    insta::assert_snapshot!(p.ok("bar", &["inbox"]).replace(id, "[ID]"), @r"
    [ID]  2026-11-15 12:00  foo  2026-11-15-foo-hi-from-foo
        hi from foo

    1 new from: foo
    ");
    assert!(
        p.ok("bar", &["reply", "lgtm"])
            .starts_with("reply bar→foo thread=2026-11-15-foo-hi")
    );
    assert_eq!(p.new_for("foo"), ["lgtm"]);
    assert_eq!(p.records("bar")[0]["thread"], record["thread"]);
}

#[test]
fn the_second_inbox_is_empty() {
    let p = Post::new();
    p.ok("foo", &["send", "bar", "x"]);
    p.ok("bar", &["inbox"]);
    assert_eq!(p.ok("bar", &["inbox"]), "no new messages\n");
    assert_eq!(p.ok("bar", &["inbox", "--json"]), "");
}

#[test]
fn messages_of_one_second_are_shown_once_each() {
    let p = Post::new();
    p.ok("foo", &["send", "bar", "first"]);
    p.ok("foo", &["send", "bar", "second"]);
    assert_eq!(p.new_for("bar"), ["first", "second"]);
    p.ok("foo", &["send", "bar", "third"]);
    assert_eq!(p.new_for("bar"), ["third"]);
    assert!(p.new_for("bar").is_empty());
}

#[test]
fn equal_messages_wait_for_the_next_second() {
    let p = Post::new();
    let run = |agent: &str, args: &[&str]| {
        let mut command = p.command(agent, args);
        command.env_remove("RETHREAD_NOW");
        crate::world::run_with(command, b"")
    };
    let mut seconds = Vec::new();
    for _ in 0..3 {
        let sent = run("foo", &["send", "bar", "[thread:t] ping", "--json"]);
        assert_eq!((sent.code, sent.err.as_str()), (0, ""));
        assert_eq!(json(&sent.out)["repeated"], false);
        seconds.push(json(&sent.out)["ts"].as_i64().unwrap());
    }
    assert!(seconds.is_sorted_by(|a, b| a < b), "{seconds:?}");
    for _ in 0..2 {
        let sent = run("bar", &["reply", "pong"]);
        assert_eq!((sent.code, sent.err.as_str()), (0, ""));
    }
    let shown = |agent| bodies(&run(agent, &["inbox", "--json"]).out);
    assert_eq!(shown("bar"), ["ping"; 3]);
    assert_eq!(shown("foo"), ["pong"; 2]);
    // Those who send at the same moment do not know of each other before.
    let all = std::thread::scope(|s| {
        let send = || s.spawn(|| run("foo", &["send", "bar", "[thread:t] at once"]));
        [send(), send(), send()].map(|sending| sending.join().unwrap())
    });
    for sent in all {
        assert_eq!((sent.code, sent.err.as_str()), (0, ""));
    }
    assert_eq!(shown("bar"), ["at once"; 3]);
}

#[test]
fn equal_messages_are_named_if_the_clock_stands_still() {
    let p = Post::new();
    p.ok("foo", &["send", "bar", "ping"]);
    let again = p.run("foo", &["send", "bar", "ping"]);
    assert_eq!(again.code, 0);
    insta::assert_snapshot!(p.w.plain(&again.err), @r"
    note: [ROOT]/messages/log-foo.jsonl: an equal message of the same second was sent before; readers show it once
    hint: send it again a second later, or say it in other words
    ");
    assert_eq!(p.new_for("bar"), ["ping"]);
    p.ok("bar", &["reply", "pong"]);
    let again = p.run("bar", &["reply", "pong", "--json"]);
    assert_eq!(json(&again.out)["repeated"], true);
    assert!(again.err.contains("an equal message"), "{again:?}");
    // Others that say the same are others, however many there are in between.
    for n in 0..200 {
        p.ok(
            "foo",
            &["send", "bar", &format!("{n} {}", "long ".repeat(100))],
        );
    }
    p.ok("foo", &["send", "eve", "ping"]);
    let again = p.run("foo", &["send", "bar", "ping"]);
    assert!(again.err.contains("an equal message"), "{again:?}");
}

#[test]
fn a_copied_log_is_shown_once() {
    let p = Post::new();
    p.ok("foo", &["send", "bar", "ping"]);
    fs::copy(p.path("log-foo.jsonl"), p.path("log-foo-replica.jsonl")).unwrap();
    assert_eq!(p.new_for("bar"), ["ping"]);
}

#[test]
fn a_name_that_is_a_path_never_escapes() {
    let p = Post::new();
    fs::write(p.home_of("foo").join(".agent-message"), "../../x\n").unwrap();
    let answer = p.run("foo", &["send", "bar", "evil"]);
    assert_eq!(answer.code, 0);
    assert!(
        answer
            .err
            .contains("no line is an alias; the folder's name counts"),
        "{answer:?}"
    );
    assert_eq!(names(&p.dir), ["log-foo.jsonl"]);
    let before = names(&p.w.root);
    for to in ["../x", "a/b", "bad alias!", "", "bob\n"] {
        let answer = p.run("foo", &["send", to, "evil"]);
        assert_eq!(answer.code, 2, "{to}: {answer:?}");
    }
    assert_eq!((names(&p.dir).len(), names(&p.w.root)), (1, before));
}

#[test]
fn a_message_names_its_thread() {
    let p = Post::new();
    p.pipe("foo", &["send", "bar"], "[thread:custom]\nbody\n\n");
    p.ok("foo", &["send", "bar", "[thread:  spaced  ] body"]);
    let records = p.records("foo");
    assert_eq!(
        (&records[0]["thread"], &records[0]["body"]),
        (&"custom".into(), &"body".into())
    );
    assert_eq!(
        (&records[1]["thread"], &records[1]["body"]),
        (&"spaced".into(), &"body".into())
    );
    p.ok("bar", &["reply", "[thread:other] as it is"]);
    let reply = &p.records("bar")[0];
    assert_eq!(
        (&reply["thread"], &reply["body"]),
        (&"spaced".into(), &"[thread:other] as it is".into())
    );
}

#[test]
fn a_deleted_watermark_shows_all_again_and_times_of_files_hide_nothing() {
    let p = Post::new();
    p.ok("foo", &["send", "bar", "ping"]);
    p.ok("bar", &["inbox"]);
    fs::remove_file(p.path(".seen-bar")).unwrap();
    assert!(p.path(".mtime-bar").exists());
    assert_eq!(p.new_for("bar"), ["ping"]);
}

#[test]
fn a_warm_inbox_reads_only_new_bytes() {
    let p = Post::new();
    let history: String = (0..20_000)
        .map(|n| line("foo", "bar", &n.to_string(), NOW))
        .collect();
    p.put("log-foo.jsonl", &history);
    assert_eq!(p.new_for("bar").len(), 20_000);
    p.ok("foo", &["send", "bar", "new"]);
    let Some(strace) = crate::world::strace() else {
        return;
    };
    let trace = p.w.root.join("trace");
    let inbox = p.command("bar", &["inbox", "--json"]);
    let options = [
        "-f",
        "-y",
        "-e",
        "trace=read,pread64",
        "-o",
        trace.to_str().unwrap(),
    ];
    let mut traced = super::traced(&strace, &options, &inbox);
    let output = traced.output().unwrap();
    assert_eq!(bodies(&String::from_utf8(output.stdout).unwrap()), ["new"]);
    let trace = fs::read_to_string(trace).unwrap();
    let of_log = trace.lines().filter(|l| l.contains("log-foo.jsonl>"));
    let read: u64 = of_log
        .map(|l| {
            l.rsplit("= ")
                .next()
                .unwrap()
                .trim()
                .parse::<u64>()
                .unwrap()
        })
        .sum();
    assert!(
        read > 100 && read < 2000,
        "{read} of {} bytes were read",
        history.len()
    );
}

#[test]
fn the_checker_says_what_is_wrong_where() {
    let p = Post::new();
    p.ok("foo", &["send", "bar", "hi"]);
    let good = p.run("foo", &["check"]);
    assert_eq!((good.code, good.out.as_str()), (0, ""));
    assert_eq!(
        good.err,
        "0 error(s), 0 warning(s): 1 record(s) in 1 log(s)\n"
    );
    let text = p.read("log-foo.jsonl");
    p.put("log-foo.jsonl", text.replace("\"hi\"", "\"ho\""));
    p.put("log-bar.jsonl", line("evil", "foo", "x", NOW) + "[]\n");
    let bad = p.run("foo", &["check"]);
    assert_eq!(bad.code, 1);
    let id = &text[8..24];
    let other = rethread_samp::Id::of(NOW, "foo", "bar", "2026-11-15-foo-hi", "ho").to_string();
    insta::assert_snapshot!(p.w.plain(&bad.out).replace(id, "[ID]").replace(&other, "[OTHER]"), @r"
    [ROOT]/messages/log-bar.jsonl:1: error[single-writer]: `from` is `evil`, but this is the log of `bar`: one writer a log (§5)
    [ROOT]/messages/log-bar.jsonl:2: error[object]: not an object (§2)
    [ROOT]/messages/log-foo.jsonl:1: error[id]: `id` is [ID], but [OTHER] follows from the content (§3)
    ");
    let first = p.run("foo", &["check", "--json"]).out;
    let first = json(first.lines().next().unwrap());
    assert_eq!(
        (&first["rule"], &first["line"], &first["section"]),
        (&"single-writer".into(), &1.into(), &"§5".into())
    );
    let missing = p.run("foo", &["check", "--dir", "/nowhere"]);
    assert_eq!(missing.code, 1, "{missing:?}");
}

#[test]
fn a_forged_record_is_ignored_counted_and_named() {
    let p = Post::new();
    p.ok("foo", &["send", "bar", "legit"]);
    p.put("log-mallory.jsonl", line("foo", "bar", "FORGED", NOW));
    let answer = p.run("bar", &["inbox"]);
    assert_eq!(answer.code, 3);
    assert!(answer.out.contains("legit") && !answer.out.contains("FORGED"));
    insta::assert_snapshot!(p.w.plain(&answer.err), @r"
    warning: [ROOT]/messages/log-mallory.jsonl:1: skipped: a record from `foo` in a log that is not its own
    hint: `--lenient` shows them
    ");
    let lenient = p.ok("bar", &["inbox", "--all", "--lenient"]);
    assert!(lenient.contains("FORGED"));
}

#[test]
fn a_body_is_stored_in_normal_form_c() {
    let p = Post::new();
    p.pipe("foo", &["send", "bar"], "cafe\u{301}");
    assert_eq!(p.records("foo")[0]["body"], "caf\u{e9}");
    assert_eq!(p.records("foo")[0]["thread"], "2026-11-15-foo-caf");
}

#[cfg(unix)]
#[test]
fn a_linked_log_is_never_written_through() {
    let p = Post::new();
    let target = p.w.root.join("target");
    fs::write(&target, line("foo", "bar", "inside", NOW)).unwrap();
    fs::create_dir_all(&p.dir).unwrap();
    std::os::unix::fs::symlink(&target, p.path("log-foo.jsonl")).unwrap();
    let before = fs::read(&target).unwrap();
    for args in [&["send", "bar", "evil"][..], &["compact"]] {
        let answer = p.run("foo", args);
        assert_eq!(answer.code, 1, "{answer:?}");
        assert!(answer.err.contains("is a symbolic link"), "{answer:?}");
    }
    assert_eq!(fs::read(&target).unwrap(), before);
    let answer = p.run("bar", &["inbox"]);
    assert_eq!((answer.code, answer.out.as_str()), (3, "no new messages\n"));
}

#[test]
fn corrupt_lines_arrays_and_missing_fields_stop_nobody() {
    let p = Post::new();
    let lines = [
        "not json",
        "[1]",
        "{}",
        "{\"from\":\"foo\",\"to\":\"bar\"}",
        "\"x\"",
        "{\"ts\":",
    ];
    p.put(
        "log-foo.jsonl",
        format!("{}\n{}", lines.join("\n"), line("foo", "bar", "good", NOW)),
    );
    for args in [&["inbox", "--all"][..], &["log"], &["raw"], &["inbox"]] {
        let answer = p.run("bar", args);
        assert_eq!(answer.code, 3, "{args:?}: {answer:?}");
        assert!(answer.out.contains("good"), "{args:?}: {answer:?}");
        assert_eq!(
            answer.err.matches("warning:").count(),
            5,
            "{args:?}: {}",
            answer.err
        );
    }
    assert_eq!(
        p.ok("bar", &["inbox"]),
        "no new messages\n",
        "damage is named once"
    );
    assert!(
        p.ok("bar", &["reply", "to what can be read"])
            .contains("bar→foo")
    );
    let strict = Post::new();
    strict.put(
        "log-foo.jsonl",
        format!("[1]\n{}", line("foo", "bar", "good", NOW)),
    );
    for _ in 0..2 {
        let answer = strict.run("bar", &["inbox", "--strict"]);
        assert_eq!(answer.code, 1);
        assert!(answer.out.contains("good"), "nothing is noted: {answer:?}");
    }
    assert_eq!(names(&strict.dir), ["log-foo.jsonl"]);
}

#[test]
fn a_missing_folder_is_an_empty_inbox_and_send_makes_it() {
    let p = Post::new();
    for (args, out) in [
        (&["inbox"][..], "no new messages\n"),
        (&["inbox", "--all"], "no messages\n"),
        (&["inbox", "--raw"], ""),
        (&["log"], ""),
        (&["raw", "--all"], ""),
        (&["inbox", "--watermark"], "no new messages\n"),
    ] {
        assert_eq!(p.ok("bar", args), out, "{args:?}");
    }
    assert!(!p.dir.exists(), "reading makes nothing");
    p.ok("foo", &["send", "bar", "x"]);
    assert_eq!(p.new_for("bar"), ["x"]);
}

#[test]
fn a_reply_to_nothing_fails() {
    let p = Post::new();
    let answer = p.run("bar", &["reply", "x"]);
    assert_eq!(answer.code, 1);
    assert!(
        answer
            .err
            .starts_with("error: there is no message to `bar`"),
        "{answer:?}"
    );
    assert!(!p.dir.exists());
}

#[test]
fn one_record_by_its_id() {
    let p = Post::new();
    let stored: String = (0..2000)
        .map(|n| line("foo", "bar", &n.to_string(), NOW))
        .collect();
    p.put("log-foo.jsonl", &stored);
    let ids: Vec<&str> = stored.lines().map(|l| &l[7..23]).collect();
    let shared = ids
        .iter()
        .find(|id| ids.iter().filter(|o| o[..4] == id[..4]).count() > 1);
    let short = p.run("bar", &["cat", "abc"]);
    assert_eq!(short.code, 2, "{short:?}");
    let none = p.run("bar", &["cat", "zzzz"]);
    assert_eq!(
        (none.code, none.err.as_str()),
        (1, "error: no message has an id that begins with `zzzz`\n")
    );
    let shared = shared.expect("two of 2000 ids begin alike");
    let several = p.run("bar", &["cat", &shared[..4]]);
    assert_eq!(several.code, 1);
    assert!(
        several.err.contains("is the beginning of 2 ids") && several.err.contains(shared),
        "{several:?}"
    );
    let one = p.ok("bar", &["cat", shared, "--json"]);
    assert_eq!(json(&one)["id"], **shared);
    let pretty = p.ok("eve", &["cat", &shared[..15]]);
    assert!(pretty.starts_with("{\n  \"id\": \""), "{pretty}");
    let reply = p.ok(
        "bar",
        &["reply", "to one", "--to-id", &ids[7][..12], "--json"],
    );
    assert_eq!(json(&reply)["thread"], "t");
    assert_eq!(p.run("bar", &["reply", "x", "--to-id", "zzzz"]).code, 1);
}

#[cfg(unix)]
#[test]
fn compacting_twice_is_compacting_once() {
    use std::os::unix::fs::PermissionsExt as _;
    let p = Post::new();
    let old =
        "{\"ts\": 5, \"from\": \"foo\", \"to\": \"bar\", \"thread\": \"t\", \"body\": \"old\"}\n";
    let mine = line("foo", "bar", "x", NOW);
    p.put("log-foo.jsonl", format!("{mine}{mine}{old}"));
    p.put("log-bar.jsonl", line("bar", "foo", "x", NOW).repeat(2));
    fs::set_permissions(p.path("log-foo.jsonl"), fs::Permissions::from_mode(0o644)).unwrap();
    let done = p.ok("foo", &["compact"]);
    assert_eq!(
        done,
        "compacted: 3 → 2 records (1 file(s) rewritten, filled id on 1 legacy record(s))\n"
    );
    let text = p.read("log-foo.jsonl");
    assert!(text.starts_with(&format!("{mine}{{\"id\": \"")), "{text}");
    assert_eq!(
        fs::metadata(p.path("log-foo.jsonl"))
            .unwrap()
            .permissions()
            .mode()
            & 0o777,
        0o644
    );
    assert_eq!(
        p.ok("foo", &["compact"]),
        "compacted: 2 → 2 records (0 file(s) rewritten)\n"
    );
    assert_eq!(p.read("log-foo.jsonl"), text);
    assert_eq!(
        p.read("log-bar.jsonl").lines().count(),
        2,
        "nobody else's log is touched"
    );
    assert_eq!(p.run("foo", &["check"]).code, 0);
}

#[test]
fn raw_is_every_byte_and_changes_nothing() {
    let p = Post::new();
    let odd = format!(
        "{{ \"ts\":{NOW} ,\"from\":\"foo\",\"to\":\"bar\",\"thread\":\"t\",\"body\":\"\\u0041\", \"n\": 1e5 }}"
    );
    p.put("log-foo.jsonl", format!("{odd}\n"));
    p.put("log-eve.jsonl", line("eve", "zoe", "not for bar", NOW));
    assert_eq!(p.ok("bar", &["inbox", "--raw"]), format!("{odd}\n"));
    assert_eq!(p.ok("bar", &["raw"]), format!("{odd}\n"));
    assert_eq!(p.ok("bar", &["raw", "--all"]).lines().count(), 2);
    p.ok("bar", &["inbox", "--all"]);
    assert_eq!(names(&p.dir), ["log-eve.jsonl", "log-foo.jsonl"]);
    p.ok("bar", &["inbox"]);
    let state = (p.read(".seen-bar"), p.read(".mtime-bar"));
    p.ok("bar", &["inbox", "--raw"]);
    p.ok("bar", &["inbox", "--all"]);
    assert_eq!((p.read(".seen-bar"), p.read(".mtime-bar")), state);
}

#[test]
fn fields_of_the_future_are_kept() {
    let p = Post::new();
    let mine = line("foo", "bar", "x", NOW);
    let more = mine.replace("{\"id\"", "{\"priority\":{\"level\":1.50},\"id\"");
    p.put("log-foo.jsonl", &more);
    let id = &mine[7..23];
    assert_eq!(p.ok("bar", &["inbox", "--raw"]), more);
    assert_eq!(p.ok("bar", &["cat", id, "--json"]), more);
    assert!(p.ok("bar", &["cat", id]).contains("\"level\": 1.50"));
    p.ok("foo", &["compact"]);
    assert_eq!(p.read("log-foo.jsonl"), more);
    assert_eq!(p.new_for("bar"), ["x"]);
}

#[test]
fn what_arrives_late_is_marked() {
    let p = Post::new();
    p.ok("foo", &["send", "bar", "now"]);
    p.ok("bar", &["inbox"]);
    p.put("log-eve.jsonl", line("eve", "bar", "before", NOW - 60));
    let out = p.ok("bar", &["inbox"]);
    assert!(out.contains("  eve  t  (late)\n"), "{out}");
    p.put("log-zoe.jsonl", line("zoe", "bar", "before", NOW - 60));
    assert_eq!(json(&p.ok("bar", &["inbox", "--json"]))["late"], true);
    p.put("log-amy.jsonl", line("amy", "bar", "before", NOW - 60));
    assert_eq!(p.ok("bar", &["inbox", "--watermark"]), "no new messages\n");
}

#[test]
fn the_log_is_newest_first_and_can_be_another_s() {
    let p = Post::new();
    p.put(
        "log-foo.jsonl",
        line("foo", "bar", "one\ntwo", NOW - 60) + &line("foo", "eve", "x", NOW),
    );
    p.put("log-bar.jsonl", line("bar", "foo", "three", NOW));
    let out = p.ok("bar", &["log"]);
    let id = line("foo", "bar", "one\ntwo", NOW - 60)[7..23].to_owned();
    let other = line("bar", "foo", "three", NOW)[7..23].to_owned();
    insta::assert_snapshot!(out.replace(&id, "[ID]").replace(&other, "[OTHER]"), @r"
    id     [OTHER]
    from   bar → foo
    ts     2026-11-15 12:00:00
    thread t

        three

    id     [ID]
    from   foo → bar
    ts     2026-11-15 11:59:00
    thread t

        one
        two
    ");
    assert_eq!(bodies(&p.ok("bar", &["log", "eve", "--json"])), ["x"]);
    assert_eq!(
        bodies(&p.ok("bar", &["log", "--limit", "1", "--json"])),
        ["three"]
    );
}
