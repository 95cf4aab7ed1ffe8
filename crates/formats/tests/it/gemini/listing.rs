//! A list, which passes over most of a file, says of a session what reading all of it says.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use rethread_formats::gemini::FORMAT;
use rethread_formats::{Conversation, Source, Want};
use rethread_model::{Block, Bodies as _, Body, Counts, Kind, Role, Usage, Visibility};
use serde_json::{Value, json};

/// What somebody says: beginnings that tell who is meant to see it, and others.
fn text() -> impl Strategy<Value = String> {
    let begin = prop_oneof![
        Just(""),
        Just(" \n"),
        Just("\u{A0}"),
        Just("<session_context>\n- **Workspace Directories:**\n  - /shop\n"),
        Just("<session"),
        Just("System: Please continue."),
        Just(
            "This is the Gemini CLI. We are setting up the context for our chat.\nI'm currently working in the directory: /old\n"
        ),
        Just("This is it"),
        Just("/clear"),
        Just("?"),
        Just("\\ \"hello\" ü\n"),
        Just("Got it. Thanks for the context!"),
    ];
    (begin, "[a-z \n\"\\\\{}\\[\\]]{0,12}").prop_map(|(begin, rest)| format!("{begin}{rest}"))
}

/// A part of what the user says, or of what the model says.
fn part(is_answer: bool) -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => text().prop_map(|text| json!({ "text": text })),
        1 => text().prop_map(Value::from),
        3 => "[a-c]".prop_map(move |id| if is_answer {
            json!({"functionCall": {"id": id, "name": "ls", "args": {}}})
        } else {
            json!({"functionResponse": {"id": "a", "name": id, "response": {}}})
        }),
        1 => Just(json!({"inlineData": {"mimeType": "image/png", "data": "AAAA"}})),
    ]
}

fn content(is_answer: bool) -> impl Strategy<Value = Value> {
    prop_oneof![
        text().prop_map(Value::from),
        proptest::collection::vec(part(is_answer), 0..4).prop_map(Value::from),
        part(is_answer),
    ]
}

fn call() -> impl Strategy<Value = Value> {
    let agent = proptest::option::of("[x-z]");
    ("[a-c]", any::<bool>(), agent).prop_map(|(id, has_result, agent)| {
        let mut call = json!({"id": id, "name": "ls", "args": {"agentId": "no", "a": ["}", "]"]}});
        if has_result {
            call["result"] =
                json!([{"functionResponse": {"id": id, "response": {"output": "\"x\""}}}]);
        }
        if let Some(agent) = agent {
            call["agentId"] = agent.into();
        }
        call
    })
}

fn time() -> impl Strategy<Value = String> {
    prop_oneof![
        (10..60_u32).prop_map(|s| format!("2026-01-02T03:04:{s}.678Z")),
        (10..29_u32).prop_map(|d| format!("2025-02-{d}T23:59:59Z")),
    ]
}

fn message() -> impl Strategy<Value = Value> {
    let kind = prop_oneof![4 => Just("user"), 1 => Just("info"), 1 => Just("odd")];
    let other = ("[a-f]", kind, time(), content(false)).prop_map(
        |(id, kind, time, content)| json!({"id": id, "timestamp": time, "type": kind, "content": content}),
    );
    prop_oneof![other, answer()]
}

fn answer() -> impl Strategy<Value = Value> {
    let calls = proptest::option::of(proptest::collection::vec(call(), 0..3));
    let model = proptest::option::of(prop_oneof![Just("pro"), Just("fl\\ash"), Just("ü")]);
    let tokens = proptest::option::of((0..99_u64, 0..99_u64));
    ("[a-f]", time(), content(true), calls, model, tokens).prop_map(
        |(id, time, content, calls, model, tokens)| {
            let mut message =
                json!({"id": id, "timestamp": time, "type": "gemini", "content": content});
            if let Some(calls) = calls {
                message["thoughts"] = json!([{"subject": "\"type\": \"user\"", "id": "no"}]);
                message["toolCalls"] = calls.into();
            }
            if let Some(model) = model {
                message["model"] = model.into();
            }
            if let Some((input, output)) = tokens {
                message["tokens"] =
                    json!({"input": input, "output": output, "total": input + output});
            }
            message
        },
    )
}

fn line() -> impl Strategy<Value = Value> {
    let list = proptest::collection::vec(message(), 0..4);
    prop_oneof![
        12 => message(),
        2 => "[a-g]".prop_map(|id| json!({"$rewindTo": id})),
        1 => list.prop_map(|list| json!({"$set": {"messages": list}})),
        1 => Just(json!({"$set": {"lastUpdated": "2026-03-04T05:06:07.000Z"}})),
        1 => Just(json!({"$set": {"summary": "A \"title\""}})),
    ]
}

fn header() -> Value {
    json!({
        "sessionId": "s1", "projectHash": "h",
        "startTime": "2026-01-01T00:00:00.000Z", "lastUpdated": "2026-01-01T00:00:00.000Z",
    })
}

/// What is in a session, counted by looking at everything.
fn counted(read: &Conversation) -> Counts {
    let session = &read.session;
    let mut counts = Counts::default();
    let mut used: BTreeMap<&str, Usage> = BTreeMap::new();
    for (ix, entry) in session.indexed() {
        let Body::Message(message) = read.body(ix) else {
            continue;
        };
        if let Some(usage) = message.usage {
            used.insert(session.id(ix), usage);
        }
        // On whatever branch it is: what was taken back was said.
        let Kind::Message(role) = entry.kind else {
            continue;
        };
        counts.messages += 1;
        let is_typed = role == Role::User && entry.visibility != Visibility::Injected;
        counts.user_messages += u64::from(is_typed);
        counts.assistant_messages += u64::from(role == Role::Assistant);
        let is_call = |block: &&Block| matches!(block, Block::ToolCall(_));
        counts.tool_calls += message.blocks.iter().filter(is_call).count() as u64;
    }
    let mut sum = Usage::default();
    for usage in used.values() {
        sum += usage;
    }
    counts.usage = Some(sum);
    counts
}

fn compare(path: &Path) {
    let source = Source::new(
        rethread_formats::gemini::FORMAT,
        "s1".to_owned(),
        path.to_owned(),
    );
    let read = FORMAT.reader().read(&source).unwrap();
    let counts = counted(&read);
    let full = Want {
        usage: true,
        size: true,
    };
    let listed = FORMAT.reader().summarize(&source, full);
    assert_eq!(listed.head, read.session.head);
    assert_eq!(listed.counts, counts);
    let quick = FORMAT.reader().summarize(&source, Want::default());
    assert_eq!(quick.head, read.session.head);
    assert_eq!(
        quick.counts,
        Counts {
            usage: None,
            ..counts
        }
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_list_says_of_a_log_what_reading_it_says(
        lines in proptest::collection::vec(line(), 1..24),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session-1.jsonl");
        let lines = std::iter::once(header()).chain(lines);
        let lines: Vec<String> = lines.map(|line| line.to_string()).collect();
        fs::write(&path, lines.join("\n")).unwrap();
        compare(&path);
    }

    #[test]
    fn a_list_says_of_a_document_what_reading_it_says(
        messages in proptest::collection::vec(message(), 1..12),
        is_laid_out in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session-1.json");
        let mut document = header();
        document["messages"] = messages.into();
        let text = if is_laid_out {
            serde_json::to_string_pretty(&document)
        } else {
            serde_json::to_string(&document)
        };
        fs::write(&path, text.unwrap()).unwrap();
        compare(&path);
    }
}
