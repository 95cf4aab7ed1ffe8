//! What is new, and what is noted.

use std::{
    fs,
    io::{Seek as _, Write as _},
};

use rethread_samp::{Draft, Durability, Inbox, Watermark, What};

use crate::post::{NOW, Post, alias, line, show};

#[test]
fn each_message_is_shown_once_oldest_first() {
    let p = Post::new();
    p.send("zoe", "bob", "second", NOW + 1);
    p.send("amy", "bob", "third", NOW + 2);
    p.send("amy", "eve", "not for bob", NOW + 2);
    p.send("zoe", "bob", "fourth", NOW + 2);
    p.send("bob", "bob", "first", NOW);
    assert_eq!(
        p.inbox("bob", NOW + 9).bodies,
        ["first", "second", "third", "fourth"]
    );
    assert!(p.inbox("bob", NOW + 9).bodies.is_empty());
    p.send("amy", "bob", "same second", NOW + 2);
    let shown = p.inbox("bob", NOW + 9);
    assert_eq!(
        (shown.bodies, shown.late),
        (vec!["same second".to_owned()], vec![false])
    );
}

#[test]
fn state_files_have_the_document_s_shapes() {
    let p = Post::new();
    let first = p.send("amy", "bob", "one", NOW);
    p.inbox("bob", NOW);
    assert_eq!(
        p.read(".seen-bob"),
        format!("{{\"ts\": {NOW}, \"ids\": [\"{}\"]}}", first.id)
    );
    let mtime: serde_json::Value = serde_json::from_str(&p.read(".mtime-bob")).unwrap();
    assert!(
        mtime["max_mtime"].is_f64() && mtime["files"] == 1,
        "{mtime}"
    );
    assert!(p.read(".mtime-bob").starts_with("{\"max_mtime\": "));
    let second = p.send("amy", "bob", "two", NOW);
    p.inbox("bob", NOW);
    let mut ids = [first.id.to_string(), second.id.to_string()];
    ids.sort();
    assert_eq!(
        p.read(".seen-bob"),
        format!(
            "{{\"ts\": {NOW}, \"ids\": [\"{}\", \"{}\"]}}",
            ids[0], ids[1]
        )
    );
    let names: Vec<_> = fs::read_dir(p.folder.path())
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(
        names.len(),
        3,
        "nothing but the document's own files: {names:?}"
    );
}

#[test]
fn what_is_not_noted_is_shown_again() {
    let p = Post::new();
    p.send("amy", "bob", "one", NOW);
    for _ in 0..3 {
        assert_eq!(show(&mut p.look("bob", NOW).batch).bodies, ["one"]);
    }
    assert!(!p.path(".seen-bob").exists() && !p.path(".mtime-bob").exists());
}

#[test]
fn a_deleted_watermark_shows_all_again_and_a_cache_of_times_hides_nothing() {
    let p = Post::new();
    p.send("amy", "bob", "one", NOW);
    p.inbox("bob", NOW);
    for _ in 0..2 {
        fs::remove_file(p.path(".seen-bob")).unwrap();
        assert_eq!(p.inbox("bob", NOW).bodies, ["one"]);
    }
    assert!(p.inbox("bob", NOW).bodies.is_empty());
    fs::remove_dir_all(p.temp.path().join("cache")).unwrap();
    assert!(
        p.inbox("bob", NOW).bodies.is_empty(),
        "the watermark is enough"
    );
    fs::remove_file(p.path(".mtime-bob")).unwrap();
    assert!(p.inbox("bob", NOW).bodies.is_empty());
}

#[test]
fn what_another_tool_has_shown_is_not_new() {
    let p = Post::new();
    let one = p.send("amy", "bob", "one", NOW);
    p.send("amy", "bob", "two", NOW + 1);
    let three = p.send("amy", "bob", "three", NOW + 2);
    p.send("zoe", "bob", "four", NOW + 2);
    p.put(
        ".seen-bob",
        format!("{{\"ts\": {}, \"ids\": [\"{}\"]}}", NOW + 2, three.id),
    );
    assert_eq!(p.inbox("bob", NOW + 9).bodies, ["four"]);
    // The other tool moves on, and then comes something from before.
    p.send("amy", "bob", "five", NOW + 3);
    p.put(".seen-bob", format!("{{\"ts\": {}, \"ids\": []}}", NOW + 4));
    assert!(p.inbox("bob", NOW + 9).bodies.is_empty());
    p.put("log-eve.jsonl", line("eve", "bob", "late", NOW - 5));
    let shown = p.inbox("bob", NOW + 9);
    assert_eq!(
        (shown.bodies, shown.late),
        (vec!["late".to_owned()], vec![true])
    );
    assert!(!shown.ids.contains(&one.id));
    assert!(p.inbox("bob", NOW + 9).bodies.is_empty());
}

#[test]
fn newer_tools_name_the_sender_in_their_watermarks() {
    let p = Post::new();
    let one = p.send("amy", "bob", "one", NOW);
    p.put(
        ".seen-bob",
        format!("{{\"ts\": {NOW}, \"ids\": [\"amy:{}\"]}}", one.id),
    );
    assert!(p.inbox("bob", NOW).bodies.is_empty());
}

#[test]
fn messages_that_arrive_late_are_shown_once_and_marked() {
    let p = Post::new();
    p.send("amy", "bob", "now", NOW);
    p.inbox("bob", NOW);
    p.put(
        "log-eve.jsonl",
        line("eve", "bob", "from before", NOW - 3600),
    );
    let shown = p.inbox("bob", NOW);
    assert_eq!(
        (shown.bodies, shown.late),
        (vec!["from before".to_owned()], vec![true])
    );
    assert!(
        p.read(".seen-bob").contains(&format!("\"ts\": {NOW},")),
        "it does not go back"
    );
    assert!(p.inbox("bob", NOW).bodies.is_empty());
}

#[test]
fn the_future_is_warned_about_and_hides_nothing() {
    let p = Post::new();
    p.send("eve", "bob", "from the future", NOW + 301);
    let shown = p.inbox("bob", NOW);
    assert_eq!(shown.bodies, ["from the future"]);
    assert_eq!(shown.troubles[0].what, What::Future { ahead: 301 });
    assert!(!shown.troubles[0].what.is_damage());
    p.send("amy", "bob", "from now", NOW);
    p.send("amy", "bob", "a fast clock", NOW + 300);
    let shown = p.inbox("bob", NOW);
    assert_eq!(shown.bodies, ["from now", "a fast clock"]);
    assert_eq!((shown.late, shown.troubles), (vec![false, false], vec![]));
    assert!(
        p.read(".seen-bob")
            .contains(&format!("\"ts\": {},", NOW + 300))
    );
    assert!(p.inbox("bob", NOW).bodies.is_empty());
    p.send("eve", "bob", "even later", i64::MAX);
    assert_eq!(p.inbox("bob", NOW).bodies, ["even later"]);
    assert!(p.inbox("bob", NOW).bodies.is_empty());
}

#[test]
fn a_clock_that_goes_back_hides_nothing() {
    let p = Post::new();
    p.send("amy", "bob", "before", NOW);
    p.inbox("bob", NOW);
    p.send("amy", "bob", "an hour earlier", NOW - 3600);
    assert_eq!(p.inbox("bob", NOW - 3600).bodies, ["an hour earlier"]);
}

#[test]
fn old_times_of_files_hide_nothing() {
    let p = Post::new();
    p.send("amy", "bob", "one", NOW);
    p.inbox("bob", NOW);
    let path = p.path("log-amy.jsonl");
    let file = fs::File::options().append(true).open(&path).unwrap();
    let before = file.metadata().unwrap().modified().unwrap();
    p.send("amy", "bob", "two", NOW);
    file.set_modified(before).unwrap();
    assert_eq!(p.inbox("bob", NOW).bodies, ["two"]);
    // A sync tool brings another file of the same name, with an old time.
    let bytes = fs::read(&path).unwrap();
    p.put(
        "new",
        [bytes, line("amy", "bob", "three", NOW).into_bytes()].concat(),
    );
    fs::rename(p.path("new"), &path).unwrap();
    fs::File::options()
        .append(true)
        .open(&path)
        .unwrap()
        .set_modified(before)
        .unwrap();
    assert_eq!(p.inbox("bob", NOW).bodies, ["three"]);
    // And one that is as long as before, with something else in it.
    let text = p.read("log-amy.jsonl");
    let other = line("amy", "bob", "THREE", NOW);
    let at = text.len() - other.len();
    fs::write(&path, format!("{}{other}", &text[..at])).unwrap();
    let later = before + std::time::Duration::from_secs(5);
    fs::File::options()
        .append(true)
        .open(&path)
        .unwrap()
        .set_modified(later)
        .unwrap();
    assert_eq!(p.inbox("bob", NOW).bodies, ["THREE"]);
}

#[test]
fn only_what_was_appended_is_read() {
    let p = Post::new();
    let history: String = (0..20_000)
        .map(|n| line("amy", "bob", &n.to_string(), NOW))
        .collect();
    p.put("log-amy.jsonl", &history);
    assert_eq!(p.inbox("bob", NOW).bodies.len(), 20_000);
    // What was read before is damaged, except its end; the file is as long as it was.
    let mut bytes = history.into_bytes();
    bytes[..1_000_000].fill(b'x');
    let path = p.path("log-amy.jsonl");
    let mut file = fs::File::options().write(true).open(&path).unwrap();
    file.write_all(&bytes[..1_000_000]).unwrap();
    file.seek(std::io::SeekFrom::End(0)).unwrap();
    file.write_all(line("amy", "bob", "new", NOW).as_bytes())
        .unwrap();
    let shown = p.inbox("bob", NOW);
    assert_eq!(
        (shown.bodies, shown.troubles),
        (vec!["new".to_owned()], vec![])
    );
}

#[test]
fn an_inbox_without_messages_reads_only_what_was_appended_too() {
    let p = Post::new();
    p.send("amy", "eve", "x", NOW);
    assert!(p.inbox("bob", NOW).bodies.is_empty());
    assert!(!p.path(".seen-bob").exists(), "nothing was shown");
    p.send("amy", "eve", "y", NOW);
    assert!(p.inbox("bob", NOW).bodies.is_empty());
    p.send("amy", "bob", "z", NOW);
    assert_eq!(p.inbox("bob", NOW).bodies, ["z"]);
}

#[test]
fn a_shorter_log_is_read_from_its_beginning() {
    let p = Post::new();
    p.send("amy", "bob", "one", NOW);
    p.send("amy", "bob", "two", NOW);
    p.inbox("bob", NOW);
    p.put("log-amy.jsonl", line("amy", "bob", "three", NOW));
    assert_eq!(p.inbox("bob", NOW).bodies, ["three"]);
}

#[test]
fn a_torn_line_is_waited_for_and_ended_by_its_owner() {
    let p = Post::new();
    let whole = line("amy", "bob", "torn", NOW);
    p.put("log-amy.jsonl", &whole[..30]);
    let shown = p.inbox("bob", NOW);
    assert_eq!(
        (shown.bodies.len(), shown.troubles),
        (0, vec![]),
        "somebody may be writing"
    );
    p.put("log-amy.jsonl", whole.trim_end());
    assert_eq!(
        p.inbox("bob", NOW).bodies,
        ["torn"],
        "whole, but for its line break"
    );
    assert!(p.inbox("bob", NOW).bodies.is_empty());
    p.put("log-amy.jsonl", format!("{whole}{{\"half"));
    p.send("amy", "bob", "next", NOW);
    let shown = p.inbox("bob", NOW);
    assert_eq!(shown.bodies, ["next"]);
    assert!(matches!(shown.troubles[0].what, What::Unreadable(_)));
    assert_eq!(shown.troubles[0].line, Some(2));
    assert!(
        p.inbox("bob", NOW).troubles.is_empty(),
        "damage is named once"
    );
}

#[test]
fn thousands_of_ids_are_remembered() {
    let p = Post::new();
    let all: String = (0..9_000)
        .map(|n| line("amy", "bob", &n.to_string(), NOW))
        .collect();
    p.put("log-amy.jsonl", &all);
    assert_eq!(p.inbox("bob", NOW).bodies.len(), 9_000);
    p.send("amy", "bob", "one more", NOW);
    assert_eq!(p.inbox("bob", NOW).bodies, ["one more"]);
    // A copy of everything, which a sync tool made: known by ids alone.
    let copy = p.read("log-amy.jsonl") + &line("amy", "bob", "only here", NOW);
    p.put("log-amy.sync-conflict-20260426-120000-ABCDEFG.jsonl", copy);
    assert_eq!(p.inbox("bob", NOW).bodies, ["only here"]);
    assert!(p.inbox("bob", NOW).bodies.is_empty());
}

#[test]
fn by_the_watermark_alone_it_is_the_document_to_the_letter() {
    let p = Post::new();
    let me = alias("bob");
    let letter = |now| {
        let inbox = Inbox {
            folder: &p.folder,
            me: &me,
            now,
            lenient: false,
        };
        let mut new = inbox.by_watermark().unwrap();
        let shown = show(&mut new.batch);
        assert_eq!(new.note(), []);
        shown.bodies
    };
    p.send("amy", "bob", "one", NOW);
    assert_eq!(letter(NOW), ["one"]);
    assert!(letter(NOW).is_empty());
    p.send("zoe", "bob", "same second", NOW);
    assert_eq!(letter(NOW), ["same second"]);
    p.put("log-eve.jsonl", line("eve", "bob", "late", NOW - 9));
    assert!(letter(NOW).is_empty(), "what is late is not shown");
    p.send("zoe", "bob", "future", NOW + 9999);
    assert_eq!(letter(NOW), ["future"]);
    p.send("amy", "bob", "hidden", NOW + 1);
    assert!(letter(NOW).is_empty(), "and the future hides");
    let watermark: serde_json::Value = serde_json::from_str(&p.read(".seen-bob")).unwrap();
    assert_eq!(watermark["ts"], NOW + 9999);
    fs::remove_file(p.path(".seen-bob")).unwrap();
    assert_eq!(letter(NOW).len(), 5);
    assert!(
        p.inbox("bob", NOW).bodies.is_empty(),
        "and the other way goes on from there"
    );
}

#[test]
fn state_that_makes_no_sense_counts_as_none_and_is_named() {
    for state in ["[]", "7", "", "{", "{\"ts\": \"x\"}", "\u{0}"] {
        let p = Post::new();
        p.send("amy", "bob", "one", NOW);
        p.put(".seen-bob", state);
        p.put(".mtime-bob", state);
        let shown = p.inbox("bob", NOW);
        assert_eq!(shown.bodies, ["one"], "{state}");
        assert_eq!(shown.troubles[0].what, What::BadState, "{state}");
        let shown = p.inbox("bob", NOW);
        assert_eq!(
            (shown.bodies.len(), shown.troubles.len()),
            (0, 0),
            "{state}"
        );
    }
}

#[test]
fn a_folder_that_is_not_there_has_no_messages_and_stays_away() {
    let p = Post::new();
    fs::remove_dir_all(p.folder.path()).unwrap();
    assert!(p.inbox("bob", NOW).bodies.is_empty());
    assert!(!p.folder.path().exists());
    let (amy, bob) = (alias("amy"), alias("bob"));
    let draft = Draft {
        from: &amy,
        to: &bob,
        text: "x",
    };
    draft.send(&p.folder, NOW, Durability::Each).unwrap();
    assert_eq!(p.inbox("bob", NOW).bodies, ["x"]);
}

#[test]
fn a_log_that_is_exchanged_between_finding_and_showing_comes_next_time() {
    let p = Post::new();
    p.send("amy", "bob", "one", NOW);
    let mut new = p.look("bob", NOW);
    let text = p.read("log-amy.jsonl");
    p.put("log-amy.jsonl", " ".repeat(text.len()));
    let shown = show(&mut new.batch);
    assert_eq!(
        (shown.bodies.len(), &shown.troubles[0].what),
        (0, &What::Changed)
    );
    assert_eq!(new.note(), []);
    p.put("log-amy.jsonl", &text);
    assert_eq!(p.inbox("bob", NOW).bodies, ["one"]);
}

#[test]
fn a_watermark_covers_what_is_before_it_and_of_its_second_what_it_names() {
    let p = Post::new();
    let (one, two) = (p.send("a", "b", "1", NOW).id, p.send("a", "b", "2", NOW).id);
    let watermark = Watermark {
        ts: NOW,
        ids: vec![one],
    };
    assert!(watermark.covers(NOW - 1, two) && watermark.covers(NOW, one));
    assert!(!watermark.covers(NOW, two) && !watermark.covers(NOW + 1, one));
}

#[test]
fn what_is_left_out_comes_next_time_and_only_that_is_read() {
    let p = Post::new();
    let history: String = (0..500)
        .map(|n| line("amy", "bob", &n.to_string(), NOW))
        .collect();
    p.put("log-amy.jsonl", &history);
    p.inbox("bob", NOW);
    for n in 0..6 {
        let writer = if n % 2 == 0 { "amy" } else { "zoe" };
        p.send(writer, "bob", &format!("new {n}"), NOW + 9 - n);
    }
    let mut shown = Vec::new();
    for left in (0..6).rev() {
        let mut new = p.look("bob", NOW + 9);
        assert_eq!(new.batch.len(), left + 1);
        assert_eq!(new.keep(1), left > 0);
        shown.extend(show(&mut new.batch).bodies);
        assert_eq!(new.note(), []);
    }
    assert_eq!(
        shown,
        ["new 5", "new 4", "new 3", "new 2", "new 1", "new 0"]
    );
    assert!(p.inbox("bob", NOW + 9).bodies.is_empty());
}
