//! What we write, the real program opens, and sees the same in it.

use rethread_formats::pi::{
    ContentBlock, NewPiMessage, NewSessionOptions, SessionManager, StopReason, Usage,
};
use rethread_judges::PiVersion;

use super::calls::{Call, NOBODY};
use super::script::ours;
use super::{World, agree, world};

/// A message of the user.
pub(super) fn user(text: &str) -> Call {
    let text = String::from_utf8(rethread_json::quote(text)).unwrap();
    Call::Message(format!(
        r#"{{"role":"user","content":{text},"timestamp":1}}"#
    ))
}

/// A message of the model.
pub(super) fn assistant(text: &str) -> Call {
    let text = String::from_utf8(rethread_json::quote(text)).unwrap();
    Call::Message(format!(
        r#"{{"role":"assistant","content":[{{"type":"text","text":{text}}}],"api":"anthropic-messages","provider":"anthropic","model":"claude-y","usage":{{"input":1,"output":2,"cacheRead":0,"cacheWrite":0,"totalTokens":3,"cost":{{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0.25}}}},"stopReason":"stop","timestamp":2}}"#
    ))
}

fn compaction(summary: &str, kept: Option<usize>) -> Call {
    Call::Compaction {
        summary: summary.to_owned(),
        kept,
        tokens: 123,
        details: None,
        from_hook: None,
    }
}

fn summary(to: Option<usize>, summary: &str) -> Call {
    Call::BranchWithSummary {
        to,
        summary: summary.to_owned(),
        details: None,
        from_hook: None,
    }
}

fn custom_message(display: bool, details: Option<String>) -> Call {
    Call::CustomMessage {
        custom_type: "ext".to_owned(),
        content: "c".to_owned(),
        display,
        details,
    }
}

/// Both make the calls and do the same; then both versions open our file.
#[track_caller]
fn judged(calls: &[Call]) {
    let script = ours(calls);
    script.compare();
    for pi in PiVersion::ALL {
        agree(pi, &script.w, &script.file());
    }
}

#[test]
fn every_kind_of_append() {
    let kinds = [
        Call::ThinkingLevel("high".to_owned()),
        Call::Model("openai".to_owned(), "gpt".to_owned()),
        compaction("SUM", Some(0)),
        compaction("keeps nothing", None),
        compaction("keeps from nowhere", Some(NOBODY)),
        Call::Compaction {
            summary: "by a hook".to_owned(),
            kept: Some(1),
            tokens: 0,
            details: Some(r#"{"readFiles":["a"],"modifiedFiles":[]}"#.to_owned()),
            from_hook: Some(true),
        },
        Call::Custom("ext".to_owned(), None),
        Call::Custom("ext".to_owned(), Some(r#"{"a":[1,null,"ü"]}"#.to_owned())),
        Call::Custom("ext".to_owned(), Some("null".to_owned())),
        custom_message(true, None),
        custom_message(false, Some(r#"{"x":1}"#.to_owned())),
        Call::Label(0, Some("mark".to_owned())),
        Call::Label(0, Some(String::new())),
        Call::Label(0, None),
        Call::Label(NOBODY, Some("mark".to_owned())),
        Call::Name("my name".to_owned()),
        Call::Name(" a\r\n\r\nb \u{2028} ".to_owned()),
        Call::Name("  ".to_owned()),
        Call::Name("a\n".to_owned()),
        Call::Name("\n a \n\n b\r".to_owned()),
        summary(Some(0), "left"),
        summary(None, "left all"),
        summary(Some(1), ""),
        summary(Some(NOBODY), "left"),
        Call::BranchWithSummary {
            to: Some(1),
            summary: "by a hook".to_owned(),
            details: Some("[1]".to_owned()),
            from_hook: Some(false),
        },
        Call::Branch(0),
        Call::Branch(NOBODY),
        Call::ResetLeaf,
        Call::BranchedSession(1),
        Call::BranchedSession(NOBODY),
    ];
    for kind in kinds {
        // Before and after messages, and once more at the end.
        judged(&[
            user("one"),
            assistant("two"),
            kind.clone(),
            user("three"),
            kind.clone(),
        ]);
        judged(&[kind, user("one"), assistant("two")]);
    }
}

#[test]
fn every_kind_of_message() {
    let w = world();
    let mut s = w.create();
    let image = ContentBlock::image("AAAA", "image/png");
    let blocks = [
        ContentBlock::text("look: \"\u{1}\u{7f}\u{2028}é🦀\""),
        image,
    ];
    s.append_message(NewPiMessage::user(blocks)).unwrap();
    let usage = Usage {
        input: 1,
        output: 2,
        total_tokens: 3,
        ..Usage::default()
    };
    let blocks = [
        ContentBlock::thinking("hm", Some("sig")),
        ContentBlock::text("yes"),
        ContentBlock::tool_call("c1", "bash", br#"{"command":"ls"}"#),
    ];
    let answer = NewPiMessage::assistant(blocks)
        .model("openai-responses", "openai", "gpt")
        .usage(usage)
        .stop_reason(StopReason::ToolUse);
    s.append_message(answer).unwrap();
    let result = NewPiMessage::tool_result("c1", "bash", [ContentBlock::text("a.txt")])
        .details(br#"{"exit": 0}"#)
        .is_error(true);
    s.append_message(result).unwrap();
    let bash = NewPiMessage::bash("ls", "a.txt\n")
        .exit_code(1)
        .cancelled()
        .truncated(Some("/tmp/x"))
        .exclude_from_context();
    s.append_message(bash).unwrap();
    s.append_message(NewPiMessage::bash("true", "")).unwrap();
    let failed = NewPiMessage::assistant([])
        .error_message("overloaded")
        .stop_reason(StopReason::Error);
    s.append_message(failed).unwrap();
    s.append_custom_message("ext", [ContentBlock::text("x")], true, None)
        .unwrap();
    for pi in PiVersion::ALL {
        agree(pi, &w, s.session_file().unwrap());
    }
}

#[test]
fn a_tree_with_everything() {
    judged(&[
        Call::ThinkingLevel("low".to_owned()),
        Call::Model("anthropic".to_owned(), "claude".to_owned()),
        user("q1"),
        assistant("a1"),
        Call::Label(2, Some("start".to_owned())),
        user("q2"),
        assistant("a2"),
        compaction("SUM", Some(3)),
        user("q3"),
        Call::Branch(3),
        user("q2, differently"),
        custom_message(true, None),
        assistant("a2, differently"),
        summary(Some(5), "it was different"),
        user("q4"),
        Call::ResetLeaf,
        user("another beginning"),
        Call::Name("a tree".to_owned()),
        Call::Label(5, Some("middle".to_owned())),
        Call::Branch(8),
        compaction("SUM of SUM", Some(7)),
        assistant("a4"),
    ]);
}

#[test]
fn a_branched_session_sets_labels_anew() {
    judged(&[
        user("q1"),
        assistant("a1"),
        user("q2"),
        // In another order than their entries; one is set anew, one taken away and set again.
        Call::Label(2, Some("third".to_owned())),
        Call::Label(0, Some("first".to_owned())),
        Call::Label(1, Some("second".to_owned())),
        Call::Label(2, Some("third again".to_owned())),
        Call::Label(0, None),
        Call::Label(0, Some("first again".to_owned())),
        assistant("a2"),
        compaction("kept from a label on", Some(4)),
        user("q3"),
        Call::BranchedSession(11),
        user("q4"),
        Call::Label(0, Some("new".to_owned())),
        Call::BranchedSession(3),
        assistant("a5"),
    ]);
}

#[test]
fn a_branched_session_without_an_answer() {
    let script = ours(&[
        user("q1"),
        user("q2"),
        assistant("a"),
        Call::BranchedSession(1),
    ]);
    script.compare();
    agree(PiVersion::V0_87, &script.w, &script.file());
    // Once there is one, they write the same.
    judged(&[
        user("q1"),
        user("q2"),
        assistant("a"),
        Call::BranchedSession(0),
        Call::Name("n".to_owned()),
        assistant("b"),
    ]);
}

/// A session of ours with a branch, a label and a compaction.
fn written(w: &World) -> SessionManager {
    let mut s = w.create();
    let first = super::super::world::user(&mut s, "a");
    let second = super::super::world::assistant(&mut s, "b");
    s.append_label_change(&first, Some("start")).unwrap();
    s.append_compaction("SUM", Some(&second), 9, None, None)
        .unwrap();
    s.branch(&first).unwrap();
    super::super::world::user(&mut s, "c");
    s
}

#[test]
fn a_fork() {
    let w = world();
    let s = written(&w);
    let fork =
        SessionManager::fork_from(&w.host, s.session_file().unwrap(), "/other", None).unwrap();
    for pi in PiVersion::ALL {
        agree(pi, &w, fork.session_file().unwrap());
    }
}

#[test]
fn a_session_with_an_id_and_a_parent_of_its_own() {
    let w = world();
    let mut s = written(&w);
    let parent = s.session_file().unwrap().to_owned();
    let options = NewSessionOptions {
        id: Some("my.own-id_1".to_owned()),
        parent_session: Some(parent),
    };
    s.new_session(options).unwrap();
    super::super::world::user(&mut s, "a");
    for pi in PiVersion::ALL {
        agree(pi, &w, s.session_file().unwrap());
    }
}
