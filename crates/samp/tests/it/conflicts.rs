//! Records in logs that are not their sender's.

use rethread_samp::{Inbox, What};

use crate::post::{NOW, Post, alias, line, show};

#[test]
fn a_forged_record_is_skipped_counted_and_named() {
    let p = Post::new();
    p.send("amy", "bob", "real", NOW);
    let forged: String = (0..3)
        .map(|n| line("amy", "bob", &format!("forged {n}"), NOW))
        .collect();
    p.put(
        "log-mallory.jsonl",
        line("mallory", "bob", "mine", NOW) + &forged,
    );
    let shown = p.inbox("bob", NOW);
    assert_eq!(shown.bodies, ["real", "mine"]);
    let [trouble] = shown.troubles.as_slice() else {
        panic!("{shown:?}")
    };
    assert_eq!(
        trouble.what,
        What::Foreign {
            from: "amy".to_owned(),
            count: 3
        }
    );
    assert_eq!((trouble.line, trouble.what.is_damage()), (Some(2), true));
    let me = alias("bob");
    let inbox = Inbox {
        folder: &p.folder,
        me: &me,
        now: NOW,
        lenient: true,
    };
    assert_eq!(inbox.all().unwrap().len(), 5);
}

#[test]
fn a_copy_of_a_log_under_another_name_changes_nothing() {
    let p = Post::new();
    p.send("foo", "bob", "ping", NOW);
    p.put("log-foo-replica.jsonl", p.read("log-foo.jsonl"));
    let shown = p.inbox("bob", NOW);
    assert_eq!(
        (shown.bodies, shown.troubles),
        (vec!["ping".to_owned()], vec![])
    );
    p.put("log-foo-other.jsonl", p.read("log-foo.jsonl"));
    assert_eq!(
        p.inbox("bob", NOW).troubles,
        [],
        "nor does one that comes later"
    );
}

#[test]
fn conflict_copies_of_sync_tools_are_read_if_their_ids_are_right() {
    let p = Post::new();
    let names = [
        "log-foo.sync-conflict-20260426-120000-ABCDEFG.jsonl",
        "log-foo (conflicted copy 2026-04-26).jsonl",
        "log-foo (Ann's conflicted copy 2026-04-26).jsonl",
        "log-foo (conflicted copy 2026-04-26 120000).jsonl",
        "log-foo.Conflict.jsonl",
        "log-foo (1).jsonl",
        "log-foo 2.jsonl",
    ];
    for (n, name) in names.iter().enumerate() {
        p.put(name, line("foo", "bob", &n.to_string(), NOW));
    }
    let mut shown = p.inbox("bob", NOW);
    shown.bodies.sort();
    assert_eq!((shown.bodies.len(), shown.troubles), (names.len(), vec![]));

    let wrong = line("foo", "bob", "wrong id", NOW).replace("wrong id", "other text");
    let old = "{\"ts\":1,\"from\":\"foo\",\"to\":\"bob\",\"thread\":\"t\",\"body\":\"no id\"}\n";
    p.put("log-foo.sync-conflict-2.jsonl", wrong + old);
    p.put("log-foo-2.jsonl", line("foo", "bob", "another alias", NOW));
    p.put(
        "log-foo (notes).jsonl",
        line("foo", "bob", "no conflict", NOW),
    );
    p.put(
        "log-fo.sync-conflict-2.jsonl",
        line("foo", "bob", "another's", NOW),
    );
    let shown = p.inbox("bob", NOW);
    assert_eq!((shown.bodies.len(), shown.troubles.len()), (0, 4));
}

#[cfg(unix)]
#[test]
fn links_pipes_and_folders_are_never_followed() {
    let p = Post::new();
    let outside = p.temp.path().join("outside.jsonl");
    std::fs::write(&outside, line("amy", "bob", "through a link", NOW)).unwrap();
    std::os::unix::fs::symlink(&outside, p.path("log-amy.jsonl")).unwrap();
    std::os::unix::fs::symlink("/nowhere", p.path("log-zoe.jsonl")).unwrap();
    std::fs::create_dir(p.path("log-dir.jsonl")).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(p.path("log-pipe.jsonl"))
        .status();
    assert!(made.unwrap().success());
    let shown = p.inbox("bob", NOW);
    assert_eq!(shown.bodies.len(), 0);
    assert_eq!(shown.troubles.len(), 4);
    assert!(
        shown
            .troubles
            .iter()
            .all(|t| matches!(t.what, What::NotALog(_)))
    );

    let (amy, bob) = (alias("amy"), alias("bob"));
    let draft = rethread_samp::Draft {
        from: &amy,
        to: &bob,
        text: "x",
    };
    let before = std::fs::read(&outside).unwrap();
    assert!(
        draft
            .send(&p.folder, NOW, rethread_samp::Durability::Close)
            .is_err()
    );
    assert!(rethread_samp::compact(&p.folder, &amy, rethread_samp::Durability::Close).is_err());
    assert_eq!(std::fs::read(&outside).unwrap(), before);
}

#[test]
fn lenient_reads_what_lies_anywhere() {
    let p = Post::new();
    p.put("log-mallory.jsonl", line("amy", "bob", "moved", NOW));
    let me = alias("bob");
    let inbox = Inbox {
        folder: &p.folder,
        me: &me,
        now: NOW,
        lenient: true,
    };
    assert_eq!(show(&mut inbox.all().unwrap()).bodies, ["moved"]);
}
