//! Appending: what entries and messages look like.

use rethread_formats::pi::SessionEntry;
use rethread_formats::pi::{
    BlockKind, ContentBlock, EntryData, MessageBody, NewPiMessage, StopReason, Usage,
};

use super::world::{user, world};

#[test]
fn names_are_trimmed_and_on_one_line() {
    let mut s = world().memory();
    for (given, name) in [
        ("  a b ", Some("a b")),
        ("a\r\n\nb", Some("a b")),
        ("\na\n", Some("a")),
        (" \n ", None),
    ] {
        s.append_session_info(given).unwrap();
        assert_eq!(s.session_name().as_deref(), name, "{given:?}");
    }
}

#[test]
fn a_name_counts_on_every_branch() {
    let mut s = world().memory();
    let a = user(&mut s, "a");
    s.append_session_info("n").unwrap();
    s.branch(&a).unwrap();
    assert_eq!(s.session_name().as_deref(), Some("n"));
}

#[test]
fn ids_are_eight_hexadecimal_digits_and_differ() {
    let mut s = world().memory();
    for _ in 0..500 {
        user(&mut s, "a");
    }
    let mut ids: Vec<_> = s.entries().iter().map(SessionEntry::id).collect();
    assert!(
        ids.iter()
            .all(|id| id.len() == 8 && id.bytes().all(|b| b.is_ascii_hexdigit()))
    );
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 500);
}

#[test]
fn an_answer_with_everything_is_written_and_read() {
    let mut s = world().memory();
    let usage = Usage {
        input: 1,
        total_tokens: 1,
        cost: rethread_formats::pi::Cost {
            input: 0.25,
            total: 0.25,
            ..Default::default()
        },
        ..Usage::default()
    };
    let blocks = [
        ContentBlock::thinking("hm", Some("sig")),
        ContentBlock::tool_call("c1", "read", b"{\"path\": \"x\"}"),
    ];
    let id = s
        .append_message(
            NewPiMessage::assistant(blocks)
                .model("api", "p", "m")
                .usage(usage)
                .stop_reason(StopReason::Error)
                .error_message("no")
                .at(7),
        )
        .unwrap();
    let EntryData::Message(message) = s.entry(&id).unwrap().data() else {
        panic!()
    };
    assert_eq!(
        String::from_utf8_lossy(message.raw()),
        r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm","thinkingSignature":"sig"},{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"x"}}],"api":"api","provider":"p","model":"m","usage":{"input":1,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":1,"cost":{"input":0.25,"output":0,"cacheRead":0,"cacheWrite":0,"total":0.25}},"stopReason":"error","errorMessage":"no","timestamp":7}"#
    );
    let MessageBody::Assistant {
        content,
        usage: read,
        stop_reason,
        ..
    } = message.body()
    else {
        panic!()
    };
    assert_eq!(
        (read, stop_reason),
        (&Some(usage), &Some(StopReason::Error))
    );
    assert!(
        matches!(content.blocks()[1].kind(), BlockKind::ToolCall { name, .. } if name == "read")
    );
}

#[test]
fn results_of_tools_and_commands_have_their_fields_in_order() {
    let mut s = world().memory();
    let result =
        NewPiMessage::tool_result("c1", "read", [ContentBlock::image("AA==", "image/png")])
            .details(b"{ }")
            .is_error(true)
            .at(8);
    s.append_message(result).unwrap();
    let bash = NewPiMessage::bash("ls", "a")
        .cancelled()
        .truncated(Some("/tmp/out"))
        .exclude_from_context()
        .at(9);
    s.append_message(bash).unwrap();
    let messages = s.build_session_context().messages;
    assert_eq!(
        String::from_utf8_lossy(&messages[0]),
        r#"{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"image","data":"AA==","mimeType":"image/png"}],"details":{},"isError":true,"timestamp":8}"#
    );
    assert_eq!(
        String::from_utf8_lossy(&messages[1]),
        r#"{"role":"bashExecution","command":"ls","output":"a","cancelled":true,"truncated":true,"fullOutputPath":"/tmp/out","excludeFromContext":true,"timestamp":9}"#
    );
}

#[test]
fn what_is_no_message_is_refused() {
    let mut s = world().memory();
    for (json, kind) in [
        (&b"{"[..], "bad_input"),
        (b"[]", "bad_message"),
        (b"{}", "bad_message"),
        (b"{\"role\":\"compactionSummary\"}", "bad_message"),
        (b"{\"role\":\"branchSummary\"}", "bad_message"),
    ] {
        assert_eq!(s.append_message_json(json).unwrap_err().kind(), kind);
    }
    assert!(s.append_custom_entry("x", Some(b"nope")).is_err());
    assert!(s.entries().is_empty());
}
