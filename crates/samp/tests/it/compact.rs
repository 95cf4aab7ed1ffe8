//! Making one's own log shorter.

use std::fs;

use rethread_samp::{Compacted, Draft, Durability, compact};

use crate::post::{NOW, Post, alias, line};

/// Messages that are sent while the log is compacted.
const SENT: usize = 2000;

fn run(p: &Post, me: &str) -> Compacted {
    compact(&p.folder, &alias(me), Durability::None).unwrap()
}

#[test]
fn repeated_messages_go_old_ones_get_ids_and_every_other_byte_stays() {
    let p = Post::new();
    let one = line("amy", "bob", "one", NOW);
    let more = one.replace("\"ts\"", "\"future\": [1e5, -0],\"ts\"");
    let old =
        "{ \"ts\": 5,  \"from\":\"amy\",\"to\":\"bob\",\"thread\":\"t\",\"body\":\"ol\\u0064\" }\n";
    p.put(
        "log-amy.jsonl",
        format!("{one}\n{one}{more}not json\n{old}{old}{{\"torn"),
    );
    let others = line("zoe", "bob", "x", NOW).repeat(2);
    p.put("log-zoe.jsonl", &others);
    let done = run(&p, "amy");
    let expected = Compacted {
        before: 7,
        after: 5,
        filled: 1,
        unreadable: 2,
        is_rewritten: true,
    };
    assert_eq!(done, expected);
    let id = "{\"id\": \"2bb0cb3e1b0c1a07\", ";
    let text = p.read("log-amy.jsonl");
    let filled = format!("{}{}", &id[..8], &text.lines().nth(3).unwrap()[8..]);
    assert_eq!(text, format!("{one}{more}not json\n{filled}\n{{\"torn\n"));
    assert!(filled.ends_with("\", \"ts\": 5,  \"from\":\"amy\",\"to\":\"bob\",\"thread\":\"t\",\"body\":\"ol\\u0064\" }"), "{filled}");
    assert_eq!(
        p.read("log-zoe.jsonl"),
        others,
        "nobody else's log is touched"
    );
    let again = run(&p, "amy");
    assert_eq!(
        (again.is_rewritten, again.before, again.after),
        (false, 5, 5)
    );
    assert_eq!(p.read("log-amy.jsonl"), text);
}

#[test]
fn a_log_that_needs_nothing_keeps_its_file() {
    let p = Post::new();
    p.send("amy", "bob", "one", NOW);
    let before = fs::metadata(p.path("log-amy.jsonl"))
        .unwrap()
        .modified()
        .unwrap();
    assert!(!run(&p, "amy").is_rewritten);
    assert_eq!(
        fs::metadata(p.path("log-amy.jsonl"))
            .unwrap()
            .modified()
            .unwrap(),
        before
    );
    assert_eq!(run(&p, "nobody"), Compacted::default());
    assert!(!p.path("log-nobody.jsonl").exists());
}

#[cfg(unix)]
#[test]
fn the_mode_stays() {
    use std::os::unix::fs::PermissionsExt as _;
    let p = Post::new();
    p.put("log-amy.jsonl", line("amy", "bob", "one", NOW).repeat(2));
    for mode in [0o644, 0o600] {
        p.put("log-amy.jsonl", line("amy", "bob", "one", NOW).repeat(2));
        fs::set_permissions(p.path("log-amy.jsonl"), fs::Permissions::from_mode(mode)).unwrap();
        assert!(run(&p, "amy").is_rewritten);
        let now = fs::metadata(p.path("log-amy.jsonl"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(now & 0o777, mode);
    }
}

#[test]
fn what_is_sent_while_it_compacts_is_never_lost() {
    let p = Post::new();
    let (amy, bob) = (alias("amy"), alias("bob"));
    let while_it_sends = std::thread::scope(|s| {
        let sender = s.spawn(|| {
            for n in 0..SENT {
                let text = n.to_string();
                let draft = Draft {
                    from: &amy,
                    to: &bob,
                    text: &text,
                };
                draft.send(&p.folder, NOW, Durability::None).unwrap();
                if n % 3 == 0 {
                    draft.send(&p.folder, NOW, Durability::None).unwrap();
                }
            }
        });
        let mut rewritten = 0;
        while !sender.is_finished() {
            let done = compact(&p.folder, &amy, Durability::None).unwrap();
            rewritten += usize::from(done.is_rewritten);
        }
        rewritten
    });
    // How often there is something to do is the scheduler's affair: the last time, there is.
    let at_the_end = usize::from(run(&p, "amy").is_rewritten);
    assert!(while_it_sends + at_the_end > 0);
    let shown = p.inbox("bob", NOW);
    assert_eq!(shown.bodies.len(), SENT);
    assert_eq!(shown.troubles, []);
}

#[test]
fn readers_lose_nothing_and_see_nothing_twice() {
    let p = Post::new();
    p.put("log-amy.jsonl", line("amy", "bob", "one", NOW).repeat(3));
    assert_eq!(p.inbox("bob", NOW).bodies, ["one"]);
    run(&p, "amy");
    p.send("amy", "bob", "two", NOW);
    assert_eq!(p.inbox("bob", NOW).bodies, ["two"]);
}
