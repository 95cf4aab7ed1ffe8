//! What happens to the ways of a conversation in another format, on the way back.

use std::fs;
use std::io::Write as _;

use proptest::prelude::*;
use rethread_engine::{ConvertOutcome, Source, by_name};
use rethread_formats::Branches;
use rethread_model::{Bodies as _, Body, EntryIx};
use serde_json::json as value;

use super::edits::{change, with};
use super::matrix::targets;
use super::native::context;
use super::parted::{KEEPERS, answer, parted, question, said, say, session, taken_back, ways};
use super::properties::config;
use super::{Desk, contents};

#[test]
fn a_change_on_a_way_that_was_left_changes_that_and_nothing_else() {
    let desk = Desk::new();
    for from in ["pi", "claude-code"] {
        let source = parted(&desk, from);
        for to in KEEPERS.into_iter().filter(|to| *to != from) {
            for old in ["Left.", "Because.", "Say more.", "One fails.", "Mended."] {
                let to = by_name(to).unwrap();
                let root = desk.root(to);
                let (_, there) = desk.convert_to(&source, to, &root).unwrap();
                assert!(change(&root, old), "{old} -> {}", to.slug());
                let (done, back) = desk.convert(&there, by_name(from).unwrap()).unwrap();
                let name = format!("{from} -> {}: {old}", to.slug());
                let changed = ConvertOutcome::Back {
                    added: 0,
                    changed: 1,
                };
                assert_eq!(done.way, changed, "{name}: {:?}", done.notes);
                assert_eq!(with(&back, old), with(&source, old), "{name}");
                assert!(contents(&back) != contents(&source), "{name}");
            }
        }
    }
}

/// What is said somewhere else than where the conversation was.
fn elsewhere(desk: &Desk, there: &Source) {
    let c = there.format.reader().read(there).unwrap();
    let text_of = |ix: EntryIx| match c.body(ix) {
        Body::Message(message) => format!("{:?}", message.blocks),
        _ => String::new(),
    };
    let mut all = c.session.indexed().map(|(ix, _)| ix);
    let at = all.find(|ix| text_of(*ix).contains("One fails.")).unwrap();
    let messages = [question("Another way?"), answer("Another.")];
    match there.format.slug() {
        "codex" => {
            let back = value!({
                "timestamp": "2026-11-15T11:00:00.000Z", "type": "event_msg",
                "payload": {"type": "thread_rolled_back", "num_turns": 1},
            });
            let mut log = fs::OpenOptions::new()
                .append(true)
                .open(&there.path)
                .unwrap();
            writeln!(log, "{back}").unwrap();
            drop(log);
            say(desk, there, None, &messages);
        }
        "gemini" => {
            let mend = c.session.indexed().map(|(ix, _)| ix);
            let mend = mend
                .filter(|ix| text_of(*ix).contains("Mend it."))
                .last()
                .unwrap();
            let back = value!({"$rewindTo": c.session.id(mend)});
            let mut log = fs::OpenOptions::new()
                .append(true)
                .open(&there.path)
                .unwrap();
            writeln!(log, "{back}").unwrap();
            drop(log);
            say(desk, there, None, &messages);
        }
        _ => {
            say(desk, there, Some(c.session.id(at)), &messages);
        }
    }
}

#[test]
fn a_new_way_comes_back_as_one() {
    let desk = Desk::new();
    let new = [
        "Which tests fail?",
        "One fails.",
        "Another way?",
        "Another.",
    ];
    for from in ["pi", "claude-code"] {
        let source = parted(&desk, from);
        for to in KEEPERS.into_iter().filter(|to| *to != from) {
            let name = format!("{from} -> {to}");
            let (_, there) = desk.convert(&source, by_name(to).unwrap()).unwrap();
            elsewhere(&desk, &there);
            assert_eq!(context(&there), new, "{name}");
            let (done, back) = desk.convert(&there, by_name(from).unwrap()).unwrap();
            let added = ConvertOutcome::Back {
                added: 2,
                changed: 0,
            };
            assert_eq!(done.way, added, "{name}: {:?}", done.notes);
            assert_eq!(context(&back), new, "{name}");
            assert_eq!(ways(&back), ways(&there), "{name}");
            let (before, after) = (contents(&source), contents(&back));
            assert!(after[0].1.starts_with(&before[0].1), "{name}");
        }
    }
}

#[test]
fn a_new_way_is_written_anew_where_nobody_goes_on_from_earlier() {
    let desk = Desk::new();
    for from in ["codex", "atsf"] {
        let source = session(&desk, from);
        let talk = [
            question("Which tests fail?"),
            answer("One fails."),
            question("Mend it."),
            answer("Mended."),
        ];
        say(&desk, &source, None, &talk);
        let (_, there) = desk.convert(&source, by_name("pi").unwrap()).unwrap();
        elsewhere(&desk, &there);
        let (done, back) = desk.convert(&there, by_name(from).unwrap()).unwrap();
        assert_eq!(done.way, ConvertOutcome::Written, "{from}");
        let says = |text: &str| done.notes.iter().any(|note| note.message.contains(text));
        assert!(says("written anew"), "{from}: {:?}", done.notes);
        assert_eq!(context(&back), context(&there), "{from}");
        if from == "codex" {
            assert_eq!(ways(&back), ways(&there), "{from}");
        }
    }
}

#[test]
fn going_back_alone_does_not_come_along_and_is_said() {
    let desk = Desk::new();
    let source = parted(&desk, "pi");
    let (_, there) = desk.convert(&source, by_name("codex").unwrap()).unwrap();
    let back = value!({
        "timestamp": "2026-11-15T11:00:00.000Z", "type": "event_msg",
        "payload": {"type": "thread_rolled_back", "num_turns": 1},
    });
    let mut log = fs::OpenOptions::new()
        .append(true)
        .open(&there.path)
        .unwrap();
    writeln!(log, "{back}").unwrap();
    drop(log);
    let (done, back) = desk.convert(&there, by_name("pi").unwrap()).unwrap();
    assert_eq!(contents(&back), contents(&source));
    let says = |text: &str| done.notes.iter().any(|note| note.message.contains(text));
    assert!(says("went back"), "{:?}", done.notes);
}

/// When Gemini CLI compresses, it copies what it keeps, with other ids.
#[test]
fn what_a_client_keeps_behind_a_summary_is_not_added_again() {
    let desk = Desk::new();
    let source = parted(&desk, "pi");
    let (_, there) = desk.convert(&source, by_name("gemini").unwrap()).unwrap();
    let said = |id: &str, kind: &str, text: &str| {
        value!({
            "id": id, "timestamp": "2026-11-15T11:00:00.000Z", "type": kind,
            "content": [{"text": text}],
        })
    };
    let list = value!({"$set": {"messages": [
        said("ctx", "user", "<session_context>\nHere."),
        said("s1", "user", "Something was mended."),
        said("s2", "gemini", "Got it. Thanks for the additional context!"),
        said("k1", "gemini", "Mended."),
    ]}});
    let mut log = fs::OpenOptions::new()
        .append(true)
        .open(&there.path)
        .unwrap();
    writeln!(log, "{list}").unwrap();
    drop(log);
    say(&desk, &there, None, &[question("And now?"), answer("Now.")]);
    let summed_up = ["Something was mended.", "Mended.", "And now?", "Now."];
    assert_eq!(context(&there), summed_up);
    let (done, back) = desk.convert(&there, by_name("pi").unwrap()).unwrap();
    let added = ConvertOutcome::Back {
        added: 2,
        changed: 0,
    };
    assert_eq!(done.way, added, "{:?}", done.notes);
    let mut all = context(&source);
    all.extend(["And now?", "Now."].map(str::to_owned));
    assert_eq!(context(&back), all);
}

/// Nobody adds to a session of OpenCode whose end was taken back but its client.
#[test]
fn what_cannot_be_added_to_the_original_is_written_anew() {
    let desk = Desk::new();
    let gemini = taken_back(&desk, "gemini");
    let (_, source) = desk.convert(&gemini, by_name("opencode").unwrap()).unwrap();
    let (_, there) = desk.convert(&source, by_name("pi").unwrap()).unwrap();
    say(&desk, &there, None, &[question("And now?"), answer("Now.")]);
    let (done, back) = desk.convert(&there, by_name("opencode").unwrap()).unwrap();
    assert_eq!(done.way, ConvertOutcome::Written);
    let says = |text: &str| done.notes.iter().any(|note| note.message.contains(text));
    assert!(says("nothing can be added"), "{:?}", done.notes);
    assert_eq!(context(&back), context(&there));
}

/// OpenCode deletes what was taken back when it goes on.
#[test]
fn what_the_target_deletes_of_a_left_way_is_still_in_the_original() {
    let desk = Desk::new();
    let source = taken_back(&desk, "gemini");
    let (_, there) = desk.convert(&source, by_name("opencode").unwrap()).unwrap();
    let db = rusqlite::Connection::open(&there.path).unwrap();
    let ids =
        "SELECT id FROM message WHERE session_id = ?1 ORDER BY time_created, id LIMIT -1 OFFSET 2";
    db.execute(
        &format!("DELETE FROM part WHERE message_id IN ({ids})"),
        [&there.id],
    )
    .unwrap();
    db.execute(
        &format!("DELETE FROM message WHERE id IN ({ids})"),
        [&there.id],
    )
    .unwrap();
    db.execute(
        "UPDATE session SET revert = NULL WHERE id = ?1",
        [&there.id],
    )
    .unwrap();
    drop(db);
    say(&desk, &there, None, &[question("And now?"), answer("Now.")]);
    let (done, back) = desk.convert(&there, by_name("gemini").unwrap()).unwrap();
    let added = ConvertOutcome::Back {
        added: 2,
        changed: 0,
    };
    assert_eq!(done.way, added, "{:?}", done.notes);
    let all = ["Which tests fail?", "One fails.", "And now?", "Now."];
    assert_eq!(context(&back), all);
    assert!(ways(&back).len() == 2, "{:?}", ways(&back));
}

/// What nobody else says.
const MARK: &str = "Nobody else says this.";

proptest! {
    #![proptest_config(config())]

    /// Whatever ways a conversation took and left, it comes back, and so does a change on any of them
    /// that the target has as its own.
    #[test]
    fn it_comes_back_with_all_its_ways(
        from in prop::sample::select(vec!["pi", "claude-code"]),
        to in 0..targets().count(),
        turns in prop::collection::vec((0..8_usize, any::<bool>(), any::<bool>()), 2..8),
        marked in 0..8_usize,
    ) {
        let to = targets().nth(to).unwrap();
        prop_assume!(to.slug() != from);
        let desk = Desk::new();
        let source = session(&desk, from);
        // Where the conversation can go on: behind each message.
        let mut places: Vec<String> = Vec::new();
        let marked = marked % turns.len();
        for (n, (at, goes_on, calls)) in turns.into_iter().enumerate() {
            let at = places.get(at % places.len().max(1)).filter(|_| !goes_on);
            let words = if n == marked { MARK.to_owned() } else { format!("Answer {n}.") };
            let mut messages = vec![question(&format!("Question {n}?"))];
            if calls {
                let id = format!("c{n}");
                messages.push(said("assistant", &value!([{"type": "tool_use", "tool_id": id, "tool_name": "look", "input": {"n": n}}])));
                messages.push(said("user", &value!([{"type": "tool_result", "tool_id": id, "output": format!("Given {n}.")}])));
            }
            messages.push(answer(&words));
            let last = say(&desk, &source, at.map(String::as_str), &messages[..1]);
            places.push(last);
            let last = say(&desk, &source, None, &messages[1..]);
            places.push(last);
        }
        let before = contents(&source);
        let root = desk.root(to);
        let (_, there) = desk.convert_to(&source, to, &root).unwrap();
        prop_assert_eq!(context(&there), context(&source));
        if to.keeps().branches != Branches::None {
            let all = ways(&source);
            prop_assert!(ways(&there).is_subset(&all), "{:?} {:?}", ways(&there), all);
        }
        let home = by_name(from).unwrap();
        let (done, back) = desk.convert(&there, home).unwrap();
        prop_assert_eq!(done.way, ConvertOutcome::Back { added: 0, changed: 0 }, "{:?}", done.notes);
        prop_assert_eq!(contents(&back), before);
        if change(&root, MARK) {
            let (done, back) = desk.convert(&there, home).unwrap();
            prop_assert_eq!(done.way, ConvertOutcome::Back { added: 0, changed: 1 }, "{:?}", done.notes);
            prop_assert_eq!(with(&back, MARK), with(&source, MARK));
        }
    }
}
