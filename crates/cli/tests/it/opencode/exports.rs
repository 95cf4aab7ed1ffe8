//! Sessions that the client exported into files.

use std::fs;
use std::path::PathBuf;

use rethread_formats::opencode::FORMAT;
use rethread_formats::{Conversation, Source, Want};
use rethread_model::{Block, Bodies, Body, Counts, Kind, Role, Usage};

use super::store::{assert_accounted, fixtures, read};
use crate::world::World;

pub(super) const ID: &str = "ses_5cccccccc001Export00000001";

fn export(case: &str) -> PathBuf {
    fixtures()
        .join("1.18")
        .join(case)
        .join(format!("{ID}.json"))
}

/// What is in a session, counted entry by entry.
fn counted(conversation: &Conversation) -> Counts {
    let mut counts = Counts::default();
    let mut sum = Usage::default();
    for (ix, entry) in conversation.session.indexed() {
        if let Kind::Message(role) = entry.kind {
            counts.messages += 1;
            counts.user_messages += u64::from(role == Role::User);
            counts.assistant_messages += u64::from(role == Role::Assistant);
        }
        let used = match conversation.body(ix) {
            Body::Message(message) => {
                let calls = message.blocks.iter();
                let calls = calls.filter(|block| matches!(block, Block::ToolCall(_)));
                counts.tool_calls += calls.count() as u64;
                message.usage
            }
            Body::Compaction(compaction) => compaction.usage,
            _ => None,
        };
        if let Some(used) = used.filter(|_| !entry.inherited) {
            sum += &used;
        }
    }
    counts.usage = Some(sum);
    counts
}

/// A list decodes no message, and shows what somebody would find who does.
pub(super) fn assert_listed(source: &Source, conversation: &Conversation) {
    let want = Want {
        usage: true,
        ..Want::default()
    };
    let listed = FORMAT.reader().summarize(source, want);
    assert_eq!(listed.counts, counted(conversation), "{source:?}");
    let head = &conversation.session.head;
    assert_eq!(listed.head.title, head.title, "{source:?}");
    assert_eq!(listed.head.updated, head.updated, "{source:?}");
    let notes = |notes: &[rethread_model::Note]| -> Vec<String> {
        notes.iter().map(|note| note.message.clone()).collect()
    };
    assert_eq!(notes(&listed.notes), notes(&conversation.notes));
}

#[test]
fn lists_know_compactions_steps_and_who_asked_first() {
    let w = World::new();
    let path = w.root.join("ses_1.json");
    let tokens = r#""tokens":{"input":3,"output":2,"reasoning":1,"cache":{"read":5,"write":4}}"#;
    let step = format!(r#"{{"type":"step-finish",{tokens},"cost":0.5}}"#);
    let user = |n: u8, parts: &str| {
        format!(
            r#"{{"info":{{"id":"u{n}","role":"user","time":{{"created":{n}}}}},"parts":[{parts}]}}"#
        )
    };
    let answer = |n: u8, more: &str, parts: &str| {
        format!(
            r#"{{"info":{{"id":"a{n}","role":"assistant","time":{{"created":{n}}}{more}}},"parts":[{parts}]}}"#
        )
    };
    let summary = format!(r#","summary":true,"finish":"stop",{tokens}"#);
    let tool = r#"{"id":"p","callID":"c","tool":"bash","state":{"status":"completed","input":{},"output":"type"},"type":"tool"}"#;
    let messages = [
        user(1, r#"{"type":"text","text":"set up","synthetic":true}"#),
        user(2, r#"{"type":"text","text":" \nFix it\nnow"}"#),
        answer(3, "", &format!("{tool},{step},{tool},{step}")),
        // The order is that of time.
        answer(6, &summary, r#"{"type":"text","text":"all of it"}"#),
        user(5, r#"{"type":"compaction","auto":true}"#),
        user(7, r#"{"type":"compaction","auto":true}"#),
        answer(8, &summary.replace("stop\"", "stop\",\"error\":{\"name\":\"x\"}"), ""),
        user(9, r#"{"type":"text","text":"on"}"#),
        answer(10, &summary, ""),
        r#"{"info":{"id":"odd"},"parts":[]}"#.to_owned(),
        r#"{"role":"user","id":"first","time":{"created":11},"parts":[{"type":"text","text":"x"}]}"#.to_owned(),
        "7".to_owned(),
    ];
    for count in 0..=messages.len() {
        let text = format!(
            r#"{{"info":{{"id":"ses_1","title":"","time":{{"created":1,"updated":12}}}},"messages":[{}],"more":0}}"#,
            messages[..count].join(",\n")
        );
        fs::write(&path, text).unwrap();
        let source = Source::new(
            rethread_formats::opencode::FORMAT,
            "ses_1".to_owned(),
            path.clone(),
        );
        assert_listed(&source, &read(&path, "ses_1"));
    }
    let counts = counted(&read(&path, "ses_1"));
    assert_eq!((counts.messages, counts.tool_calls), (7, 2), "{counts:?}");
}

#[test]
fn a_cut_export_is_read_up_to_there() {
    let w = World::new();
    let path = export("cut-export");
    let shown = w.run(&["show", path.to_str().unwrap()]);
    assert_eq!(shown.code, 3, "{shown:?}");
    assert!(shown.out.contains("Hello ✓"), "{shown:?}");
    assert!(shown.err.contains("breaks off"), "{shown:?}");
    assert_accounted(&read(&path, ID));
}

#[test]
fn an_export_cut_at_every_byte_is_read_up_to_there() {
    let w = World::new();
    let path = export("export");
    let whole = fs::read(path).unwrap();
    let cut = w.root.join("cut.json");
    let mut longest = 0;
    for end in 0..whole.len() {
        fs::write(&cut, &whole[..end]).unwrap();
        let source = Source::new(
            rethread_formats::opencode::FORMAT,
            ID.to_owned(),
            cut.clone(),
        );
        let Ok(conversation) = FORMAT.reader().read(&source) else {
            assert_eq!(longest, 0, "byte {end}");
            continue;
        };
        assert_accounted(&conversation);
        assert_listed(&source, &conversation);
        let entries = conversation.session.entries().len();
        assert!(entries >= longest, "byte {end}");
        longest = entries;
        let is_whole = whole[end..].trim_ascii().is_empty();
        assert_eq!(conversation.notes.is_empty(), is_whole, "byte {end}");
    }
    assert_eq!(longest, 6, "four messages and two tries that failed");
}

/// One that is not held in memory as a whole.
#[test]
fn a_long_export_is_shown_and_listed_like_a_short_one() {
    let w = World::new();
    let path = w.root.join("ses_1.json");
    let said = "word ".repeat(200_000);
    let message = |n: u32| {
        format!(
            r#"{{"info":{{"id":"m{n}","role":"user","time":{{"created":{n}}}}},"parts":[{{"id":"p{n}","type":"text","text":"{n} {said}"}}]}}"#
        )
    };
    let messages: Vec<String> = (0..20).rev().map(message).collect();
    let start = format!(
        "{{\"info\":{{\"id\":\"ses_1\",\"title\":\"\"}},\"messages\":[\n{}",
        messages.join(",\n")
    );
    for (end, is_whole) in [("]}", true), (",\n{\"info\":", false)] {
        fs::write(&path, start.clone() + end).unwrap();
        let source = Source::new(
            rethread_formats::opencode::FORMAT,
            "ses_1".to_owned(),
            path.clone(),
        );
        let conversation = read(&path, "ses_1");
        assert_accounted(&conversation);
        assert_listed(&source, &conversation);
        let mut saved = Vec::new();
        conversation.native.save_all(&mut saved).unwrap();
        assert_eq!(saved, fs::read(&path).unwrap());
        let shown = w.run(&["show", path.to_str().unwrap(), "--last", "1"]);
        assert_eq!(shown.code == 0, is_whole, "{}", shown.err);
        assert!(
            shown.out.contains("19 word word"),
            "the order is that of time"
        );
        let broken = "ses_1.json:22";
        assert_eq!(shown.err.contains(broken), !is_whole, "{}", shown.err);
    }
}

#[test]
fn an_export_says_the_same_and_names_each_failed_try() {
    let path = export("export");
    let conversation = read(&path, ID);
    assert_accounted(&conversation);
    let events: Vec<String> = conversation
        .session
        .indexed()
        .filter_map(|(ix, _)| match conversation.body(ix) {
            Body::Event(event) => event.text.map(|t| t.value),
            _ => None,
        })
        .collect();
    assert_eq!(events, ["APIError: first", "APIError: second"]);
}
