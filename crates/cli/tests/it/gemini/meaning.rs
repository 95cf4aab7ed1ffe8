//! What a log says once it is replayed.

use std::fs;

use rethread_model::{Blob, Block, Kind, LinkKind, Severity, TitleSource, Visibility};

use super::tokens::assert_tokens;
use super::{
    CHILD, HASH, MAIN, active, assert_lossless, everything, fixtures, message, read, session,
};
use crate::world::World;

#[test]
fn a_later_version_of_a_message_speaks_and_all_are_kept() {
    let c = everything();
    let ix = c
        .session
        .find("a0000000-0000-4000-8000-000000000002")
        .unwrap();
    // Both versions, the message that repeats the results, and the saved output.
    assert_eq!(c.session.origin(ix).len(), 4);
    let repeated = c.session.find("a0000000-0000-4000-8000-000000000003");
    assert_eq!(repeated, Some(ix), "the repetition is an alias");
    let said = message(&c, "a0000000-0000-4000-8000-000000000002");
    let kinds: Vec<&str> = said
        .blocks
        .iter()
        .map(|b| match b {
            Block::Thinking(_) => "thinking",
            Block::Text(_) => "text",
            Block::ToolCall(_) => "call",
            Block::ToolResult(_) => "result",
            _ => "other",
        })
        .collect();
    let calls = ["call", "result"].repeat(3);
    assert_eq!(kinds, [vec!["thinking", "text"], calls].concat());
    let Block::ToolResult(shell) = &said.blocks[5] else {
        panic!("{:?}", said.blocks[5]);
    };
    assert_eq!((shell.is_error, shell.exit_code), (true, Some(1)));
    let Some(Blob::File(path)) = &shell.full_output else {
        panic!("{shell:?}");
    };
    let output = fs::read(path).unwrap();
    assert!(output.starts_with(b"Output: 1 failing"), "{output:?}");
    let Block::ToolResult(picture) = &said.blocks[7] else {
        panic!("{:?}", said.blocks[7]);
    };
    let Block::Image(media) = &picture.blocks[1] else {
        panic!("{picture:?}");
    };
    let Blob::Inline { record, start, len } = &media.blob else {
        panic!("{media:?}");
    };
    let bytes = c.native.read(*record).unwrap();
    let start = usize::try_from(*start).unwrap();
    let inline = &bytes[start..start + usize::try_from(*len).unwrap()];
    assert!(
        inline.starts_with(b"iVBORw0KGgo") && inline.ends_with(b"ggg=="),
        "{inline:?}"
    );
}

#[test]
fn content_that_holds_calls_says_their_order() {
    let c = everything();
    let said = message(&c, "a0000000-0000-4000-8000-00000000000a");
    let [
        Block::Thinking(thought),
        Block::Text(_),
        Block::ToolCall(call),
        Block::ToolResult(_),
        Block::Unknown { type_name, .. },
    ] = said.blocks.as_slice()
    else {
        panic!("{:?}", said.blocks);
    };
    assert_eq!(thought.signature.as_deref(), Some("c2ln"));
    assert_eq!(call.signature.as_deref(), Some("c2lnMg=="));
    assert_eq!(call.title.as_deref(), Some("SaveMemory"));
    assert_eq!(type_name, "executableCode");
}

#[test]
fn what_is_known_of_the_whole() {
    let c = everything();
    let head = &c.session.head;
    let title = head.title.as_ref().unwrap();
    assert_eq!(
        (title.text.as_str(), title.source),
        ("Fix the sign-in test", TitleSource::Summary)
    );
    assert_eq!(head.workspace.path.as_deref(), Some("/home/me/shop"));
    assert_eq!(head.workspace.encoded.as_deref(), Some(HASH));
    assert_eq!(head.model.as_ref().unwrap().id, "gemini-2.5-flash");
    assert_eq!(
        head.created.unwrap().to_string(),
        "2026-11-14T09:00:01.000Z"
    );
    assert_eq!(
        head.updated.unwrap().to_string(),
        "2026-11-14T09:01:10.000Z"
    );
    let [link] = head.links.as_slice() else {
        panic!("{:?}", head.links);
    };
    assert_eq!(
        (link.kind, link.session.as_str()),
        (LinkKind::SubAgent, CHILD)
    );
    assert_eq!(link.tool_call.as_deref(), Some("delegate__c5"));
    let chats = fixtures().join("0.61/everything/tmp/shop/chats");
    let child = read(&chats.join(MAIN).join(format!("{CHILD}.jsonl")));
    let [link] = child.session.head.links.as_slice() else {
        panic!("{:?}", child.session.head.links);
    };
    assert_eq!((link.kind, link.session.as_str()), (LinkKind::Parent, MAIN));
    assert!(child.session.head.hidden);
}

#[test]
fn who_is_meant_to_see_a_message() {
    let c = everything();
    let seen: Vec<(Kind, Visibility)> = c
        .session
        .active_path()
        .into_iter()
        .map(|ix| (c.session.entry(ix).kind, c.session.entry(ix).visibility))
        .collect();
    assert_eq!(seen[0].1, Visibility::Injected);
    assert_eq!(seen[1].1, Visibility::Visible);
    assert_eq!(seen[4], (Kind::Event, Visibility::UiOnly));
    assert_eq!(seen[7].1, Visibility::UiOnly, "a command");
    assert_eq!(seen[10].0, Kind::Unknown, "a type that nobody knows");
    let beside = c.session.entries().iter().filter(|e| e.beside).count();
    assert_eq!(beside, 1, "a line that is no message");
}

#[test]
fn what_a_rewind_drops_stays_as_a_branch() {
    let c = read(&session("0.61/rewound"));
    assert_eq!(active(&c), ["q1", "r1", "q3", "r3"]);
    assert_eq!(c.session.entries().len(), 7);
    let said = message(&c, "r3");
    assert_eq!(said.blocks, [Block::text("Strawberry.")]);
    assert!(c.notes.is_empty(), "{:?}", c.notes);
}

#[test]
fn a_list_in_place_of_another_begins_a_new_branch_where_they_differ() {
    let c = read(&session("0.61/compressed"));
    assert_eq!(active(&c), ["q5"]);
    let ids: Vec<&str> = c
        .session
        .indexed()
        .map(|(ix, _)| c.session.id(ix))
        .collect();
    assert_eq!(ids, ["q1", "r1", "q2", "s1", "s2", "", "q3", "q4", "q5"]);
    let first = c.session.find("r1").unwrap();
    assert_eq!(c.session.origin(first).len(), 2, "the same message twice");
    assert_eq!(
        message(&c, "r1").blocks,
        [Block::text("Trees are tall, and old.")]
    );
    let summary = c.session.entry(c.session.find("s1").unwrap());
    assert_eq!(summary.parent, None);
    assert_eq!(summary.logical_parent, c.session.find("q2"));
    let damage = c.notes.iter().filter(|n| n.severity == Severity::Damage);
    assert_eq!(damage.count(), 1, "{:?}", c.notes);
}

#[test]
fn a_result_that_stands_again_behind_another_takes_nothing_back() {
    let w = World::new();
    let path = w.root.join("session-2026-11-14T10-00-aaaaaaaa.jsonl");
    let given = |id: &str| {
        format!(
            r#"{{"functionResponse":{{"id":"{id}","name":"t","response":{{"output":"{id}"}}}}}}"#
        )
    };
    let results = |id: &str, call: &str| {
        format!(
            r#"{{"id":"{id}","timestamp":"2026-11-14T10:00:00.000Z","type":"user","content":[{}]}}"#,
            given(call)
        )
    };
    let call = format!(
        r#"{{"id":"a","timestamp":"2026-11-14T10:00:00.000Z","type":"gemini","content":"","toolCalls":[{{"id":"c1","name":"t","args":{{}},"result":[{}],"status":"success"}}]}}"#,
        given("c1")
    );
    let mut lines = vec![
        r#"{"sessionId":"aaaaaaaa-0000-4000-8000-000000000000","projectHash":"x","startTime":"2026-11-14T10:00:00.000Z","lastUpdated":"2026-11-14T10:00:00.000Z"}"#.to_owned(),
        r#"{"id":"q","timestamp":"2026-11-14T10:00:00.000Z","type":"user","content":"go"}"#.to_owned(),
        call,
        results("r1", "c2"),
    ];
    // As often as it stands there.
    lines.extend((0..9000).map(|n| results(&format!("r1-{n}"), "c1")));
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    assert_eq!(active(&read(&path)), ["q", "a", "r1"]);
    let more =
        r#"{"id":"z","timestamp":"2026-11-14T10:00:00.000Z","type":"gemini","content":"done"}"#;
    lines.push(more.to_owned());
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    assert_eq!(active(&read(&path)), ["q", "a", "r1", "z"]);
}

#[test]
fn a_session_that_the_client_resumed_is_one_chain() {
    let c = assert_lossless(&session("0.61/resumed"));
    let chain = ["ctx", "q1", "g1", "g2", "q2", "g3"];
    assert_eq!(active(&c), chain);
    assert_eq!(c.session.entries().len(), chain.len(), "no branch");
    let said = message(&c, "g1");
    let results: Vec<&[Block]> = said
        .blocks
        .iter()
        .filter_map(|b| match b {
            Block::ToolResult(result) => Some(result.blocks.as_slice()),
            _ => None,
        })
        .collect();
    // Each call has its own result, though the client put all beside each.
    assert_eq!(results, [[Block::text("text 1")], [Block::text("text 2")]]);
    let [note] = c.notes.as_slice() else {
        panic!("{:?}", c.notes);
    };
    assert_eq!(note.severity, Severity::Remark);
    assert!(
        note.message.contains("two messages have the id `g1`"),
        "{note}"
    );
    assert_eq!(assert_tokens(&session("0.61/resumed")), 12 + 21 + 33);
}
