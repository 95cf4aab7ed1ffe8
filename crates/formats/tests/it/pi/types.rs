//! Every kind of message, block and entry as a typed value, with what is not known beside it.

use rethread_formats::pi::{
    BlockKind, Content, Cost, EntryData, Message, MessageBody, SessionEntry, StopReason, Usage,
};

fn message(json: &str) -> Message {
    let message = Message::parse(json.as_bytes()).unwrap();
    assert_eq!(message.raw(), json.as_bytes(), "every byte is kept");
    message
}

fn content(json: &str) -> Content {
    let message = message(&format!(r#"{{"role":"user","content":{json}}}"#));
    message.content().unwrap().clone()
}

fn entry(json: &str) -> EntryData {
    let entry = SessionEntry::parse(json.as_bytes()).unwrap();
    assert_eq!(entry.raw(), json.as_bytes(), "every byte is kept");
    entry.data()
}

#[test]
fn blocks_of_every_type() {
    let content = content(
        r#"[{"type":"text","text":"a","x":1},{"type":"image","data":"AA==","mimeType":"image/png"},{"type":"thinking","thinking":"hm","thinkingSignature":"s"},{"type":"toolCall","id":"c","name":"read","arguments":{"path": "p"}},{"type":"later"}]"#,
    );
    let kinds: Vec<_> = content.blocks().iter().map(|b| b.kind().clone()).collect();
    assert_eq!(
        kinds,
        [
            BlockKind::Text {
                text: "a".to_owned()
            },
            BlockKind::Image {
                data: "AA==".to_owned(),
                mime_type: "image/png".to_owned()
            },
            BlockKind::Thinking {
                thinking: "hm".to_owned(),
                signature: Some("s".to_owned())
            },
            BlockKind::ToolCall {
                id: "c".to_owned(),
                name: "read".to_owned(),
                arguments: br#"{"path": "p"}"#.to_vec()
            },
            BlockKind::Other {
                type_name: "later".to_owned()
            },
        ]
    );
    assert_eq!(
        content.blocks()[0].raw(),
        br#"{"type":"text","text":"a","x":1}"#
    );
}

#[test]
fn a_user_says_text_or_blocks() {
    assert_eq!(content(r#""hello""#), Content::Text("hello".to_owned()));
    let blocks = content(r#"[{"type":"text","text":"hello"}]"#);
    assert_eq!(blocks.blocks().len(), 1);
    assert_eq!(
        message(r#"{"role":"user","timestamp":7}"#).timestamp(),
        Some(7)
    );
}

#[test]
fn an_answer_has_a_model_usage_and_a_reason_to_stop() {
    let message = message(
        r#"{"role":"assistant","content":[],"api":"a","provider":"p","model":"m","usage":{"input":1,"output":2,"cacheRead":3,"cacheWrite":4,"totalTokens":10,"cost":{"input":0.5,"output":0,"cacheRead":0,"cacheWrite":0,"total":0.5}},"stopReason":"aborted","errorMessage":"no","timestamp":2}"#,
    );
    let expected = MessageBody::Assistant {
        content: Content::Blocks(Vec::new()),
        api: "a".to_owned(),
        provider: "p".to_owned(),
        model: "m".to_owned(),
        usage: Some(Usage {
            input: 1,
            output: 2,
            cache_read: 3,
            cache_write: 4,
            total_tokens: 10,
            cost: Cost {
                input: 0.5,
                total: 0.5,
                ..Cost::default()
            },
        }),
        stop_reason: Some(StopReason::Aborted),
        error_message: Some("no".to_owned()),
    };
    assert_eq!(message.body(), &expected);
}

#[test]
fn a_tool_s_result_names_its_call() {
    let message = message(
        r#"{"role":"toolResult","toolCallId":"c","toolName":"read","content":[],"details":{"n": 1},"isError":true,"timestamp":3}"#,
    );
    let expected = MessageBody::ToolResult {
        tool_call_id: "c".to_owned(),
        tool_name: "read".to_owned(),
        content: Content::Blocks(Vec::new()),
        details: Some(br#"{"n": 1}"#.to_vec()),
        is_error: true,
    };
    assert_eq!(message.body(), &expected);
}

#[test]
fn a_command_of_the_user_says_how_it_ended() {
    let message = message(
        r#"{"role":"bashExecution","command":"ls","output":"a","exitCode":1,"cancelled":false,"truncated":true,"fullOutputPath":"/o","excludeFromContext":true,"timestamp":4}"#,
    );
    let expected = MessageBody::BashExecution {
        command: "ls".to_owned(),
        output: "a".to_owned(),
        exit_code: Some(1),
        cancelled: false,
        truncated: true,
        full_output_path: Some("/o".to_owned()),
        exclude_from_context: true,
    };
    assert_eq!(message.body(), &expected);
}

#[test]
fn messages_that_contexts_are_made_of() {
    let custom = message(
        r#"{"role":"custom","customType":"x","content":"c","display":false,"details":[1],"timestamp":5}"#,
    );
    let expected = MessageBody::Custom {
        custom_type: "x".to_owned(),
        content: Content::Text("c".to_owned()),
        display: false,
        details: Some(b"[1]".to_vec()),
    };
    assert_eq!(custom.body(), &expected);
    let branch = message(r#"{"role":"branchSummary","summary":"S","fromId":"a","timestamp":6}"#);
    let expected = MessageBody::BranchSummary {
        summary: "S".to_owned(),
        from_id: "a".to_owned(),
    };
    assert_eq!(branch.body(), &expected);
    let compaction =
        message(r#"{"role":"compactionSummary","summary":"S","tokensBefore":9,"timestamp":6}"#);
    let expected = MessageBody::CompactionSummary {
        summary: "S".to_owned(),
        tokens_before: Some(9),
    };
    assert_eq!(compaction.body(), &expected);
}

#[test]
fn an_entry_has_an_id_a_parent_and_a_time() {
    let json = r#"{"type":"custom","customType":"x","id":"b","parentId":"a","timestamp":"2025-01-01T00:00:01.000Z"}"#;
    let entry = SessionEntry::parse(json.as_bytes()).unwrap();
    assert_eq!((entry.id(), entry.parent_id()), ("b", Some("a")));
    assert_eq!(
        entry.timestamp().as_deref(),
        Some("2025-01-01T00:00:01.000Z")
    );
    assert_eq!(entry.millis(), Some(1_735_689_601_000));
}

#[test]
fn entries_of_every_type() {
    let text = |text: &str| text.to_owned();
    for (json, expected) in [
        (
            r#"{"type":"model_change","provider":"p","modelId":"m"}"#,
            EntryData::ModelChange {
                provider: text("p"),
                model_id: text("m"),
            },
        ),
        (
            r#"{"type":"thinking_level_change","thinkingLevel":"xhigh"}"#,
            EntryData::ThinkingLevelChange {
                thinking_level: text("xhigh"),
            },
        ),
        (
            r#"{"type":"compaction","summary":"S","firstKeptEntryId":"a","tokensBefore":9,"details":{"readFiles":["r"],"modifiedFiles":[]},"fromHook":true}"#,
            EntryData::Compaction {
                summary: text("S"),
                first_kept_entry_id: Some(text("a")),
                tokens_before: Some(9),
                details: Some(br#"{"readFiles":["r"],"modifiedFiles":[]}"#.to_vec()),
                from_hook: true,
            },
        ),
        (
            r#"{"type":"branch_summary","fromId":"a","summary":"S","details":7}"#,
            EntryData::BranchSummary {
                from_id: text("a"),
                summary: text("S"),
                details: Some(b"7".to_vec()),
                from_hook: false,
            },
        ),
        (
            r#"{"type":"custom","customType":"x","data":[1e2]}"#,
            EntryData::Custom {
                custom_type: text("x"),
                data: Some(b"[1e2]".to_vec()),
            },
        ),
        (
            r#"{"type":"custom_message","customType":"x","content":"c","display":true,"details":{}}"#,
            EntryData::CustomMessage {
                custom_type: text("x"),
                content: Content::Text(text("c")),
                display: true,
                details: Some(b"{}".to_vec()),
            },
        ),
        (
            r#"{"type":"label","targetId":"a","label":"l"}"#,
            EntryData::Label {
                target_id: text("a"),
                label: Some(text("l")),
            },
        ),
        (
            r#"{"type":"session_info","name":" n "}"#,
            EntryData::SessionInfo {
                name: Some(text("n")),
            },
        ),
        (
            r#"{"type":"mystery"}"#,
            EntryData::Other {
                type_name: text("mystery"),
            },
        ),
    ] {
        assert_eq!(entry(json), expected, "{json}");
    }
    let data = entry(r#"{"type":"message","message":{"role":"user","content":"hi"}}"#);
    let EntryData::Message(said) = data else {
        panic!()
    };
    assert_eq!(said.content().unwrap().text(), "hi");
}
