//! What the model is shown.

use rethread_formats::pi::{ContentBlock, Leaf, NewPiMessage};

use super::world::{messages, said, said_at, session, user, world};

/// A conversation of which the first half was compacted.
fn compacted() -> Vec<String> {
    let mut s = world().memory();
    user(&mut s, "long ago");
    let kept = user(&mut s, "kept");
    user(&mut s, "kept, too");
    s.append_compaction("SUM", Some(&kept), 10, None, None)
        .unwrap();
    user(&mut s, "after");
    said(&s)
}

#[test]
fn of_a_compaction_the_summary_comes_first() {
    assert_eq!(compacted()[0], "compactionSummary: SUM");
}

#[test]
fn then_comes_what_the_compaction_kept() {
    assert_eq!(compacted()[1..3], ["user: kept", "user: kept, too"]);
}

#[test]
fn then_comes_what_followed_the_compaction() {
    assert_eq!(compacted()[3..], ["user: after"]);
}

#[test]
fn a_summary_of_a_branch_becomes_a_message() {
    let mut s = world().memory();
    let a = user(&mut s, "a");
    let b = user(&mut s, "b");
    s.branch_with_summary(Some(&a), "LEFT", Some(b"{}"), None)
        .unwrap();
    let made = format!(
        r#"{{"role":"branchSummary","summary":"LEFT","fromId":"{b}","timestamp":1794765028602}}"#
    );
    assert_eq!(s.build_session_context().messages[1], made);
}

#[test]
fn an_empty_summary_of_a_branch_says_nothing() {
    let mut s = world().memory();
    let first = user(&mut s, "a");
    s.branch_with_summary(Some(&first), "", None, None).unwrap();
    assert_eq!(said(&s), ["user: a"]);
}

#[test]
fn before_all_entries_nothing_is_shown() {
    let mut s = world().memory();
    user(&mut s, "a");
    assert!(said_at(&s, Leaf::Root).is_empty());
    s.reset_leaf();
    assert!(said(&s).is_empty());
    assert_eq!(said_at(&s, Leaf::Last), ["user: a"]);
}

#[test]
fn an_older_compaction_in_the_kept_range_says_nothing() {
    let mut s = world().memory();
    let first = user(&mut s, "a");
    s.append_compaction("ONE", Some(&first), 10, None, None)
        .unwrap();
    s.append_compaction("TWO", Some(&first), 10, None, None)
        .unwrap();
    assert_eq!(said(&s), ["compactionSummary: TWO", "user: a"]);
}

#[test]
fn a_compaction_without_a_kept_entry_keeps_nothing() {
    let mut s = world().memory();
    user(&mut s, "a");
    let id = s.append_compaction("SUM", None, 10, None, None).unwrap();
    user(&mut s, "b");
    assert_eq!(said(&s), ["compactionSummary: SUM", "user: b"]);
    let own = format!("\"{id}\"").into_bytes();
    assert_eq!(s.entry(&id).unwrap().field("firstKeptEntryId"), Some(own));
}

#[test]
fn a_kept_entry_that_is_not_on_the_way_keeps_nothing() {
    let mut s = world().memory();
    user(&mut s, "a");
    s.append_compaction("SUM", Some("nobody"), 10, None, None)
        .unwrap();
    user(&mut s, "b");
    assert_eq!(said(&s), ["compactionSummary: SUM", "user: b"]);
}

#[test]
fn a_circle_of_parents_ends() {
    let w = world();
    let path = w.put("s.jsonl", &messages(&[("a", "c"), ("b", "a"), ("c", "b")]));
    let s = w.open(&path);
    assert_eq!(said(&s), ["user: a", "user: b", "user: c"]);
    let depths: Vec<_> = s.tree().walk().map(|node| node.depth).collect();
    assert_eq!(depths, [0, 1, 2], "no entry is lost");
}

#[test]
fn missing_content_becomes_a_list() {
    let w = world();
    let lines = [
        r#"{"type":"message","id":"a","parentId":null,"timestamp":"2025-01-01T00:00:00.000Z","message":{"role":"assistant","content":null,"x":1}}"#,
        r#"{"type":"message","id":"b","parentId":"a","timestamp":"2025-01-01T00:00:00.000Z","message":{"role":"user"}}"#,
        r#"{"type":"message","id":"c","parentId":"b","timestamp":"2025-01-01T00:00:00.000Z","message":{"role":"bashExecution","command":"ls"}}"#,
    ];
    let s = w.open(&w.put("s.jsonl", &session(&lines)));
    assert_eq!(
        s.build_session_context().messages,
        [
            &br#"{"role":"assistant","content":[],"x":1}"#[..],
            br#"{"role":"user","content":[]}"#,
            br#"{"role":"bashExecution","command":"ls"}"#,
        ]
    );
}

#[test]
fn times_that_cannot_be_read_are_null() {
    let w = world();
    let lines = [
        r#"{"type":"custom_message","customType":"x","content":"c","display":true,"id":"a","parentId":null,"timestamp":"soon"}"#,
        r#"{"type":"branch_summary","id":"b","parentId":"a","timestamp":"2025-01-01T00:00:01.000Z","fromId":"a","summary":"S"}"#,
    ];
    let s = w.open(&w.put("s.jsonl", &session(&lines)));
    assert_eq!(
        s.build_session_context().messages,
        [
            &br#"{"role":"custom","customType":"x","content":"c","display":true,"timestamp":null}"#
                [..],
            br#"{"role":"branchSummary","summary":"S","fromId":"a","timestamp":1735689601000}"#,
        ]
    );
}

#[test]
fn unknown_types_labels_and_state_say_nothing() {
    let w = world();
    let lines = [
        r#"{"type":"mystery","id":"a","parentId":null,"timestamp":"2025-01-01T00:00:00.000Z","message":{"role":"user","content":"no"}}"#,
        r#"{"type":"custom","customType":"x","data":1,"id":"b","parentId":"a","timestamp":"2025-01-01T00:00:00.000Z"}"#,
        r#"{"type":"session_info","id":"c","parentId":"b","timestamp":"2025-01-01T00:00:00.000Z","name":"n"}"#,
    ];
    let s = w.open(&w.put("s.jsonl", &session(&lines)));
    assert!(said(&s).is_empty());
    assert_eq!(s.branch_path(None).len(), 3);
}

#[test]
fn edits_replace_or_remove_what_a_message_says() {
    let w = world();
    let edit = |id: &str, parent: &str, target: &str, replacement: &str| {
        format!(
            r#"{{"type":"context_edit","id":"{id}","parentId":"{parent}","timestamp":"2025-01-01T00:00:00.000Z","targetId":"{target}","replacement":{replacement}}}"#
        )
    };
    let text = messages(&[("a", ""), ("b", "a"), ("c", "b")])
        + r#"{"type":"message","id":"d","parentId":"c","timestamp":"2025-01-01T00:00:00.000Z","message":{"role":"assistant","content":[]}}"#
        + "\n"
        + &[
            edit("e", "d", "a", "null"),
            edit("f", "e", "b", "null"),
            edit("g", "f", "b", r#"{"content":"new"}"#),
            edit("h", "g", "d", r#"{"content":"said"}"#),
        ]
        .join("\n");
    let s = w.open(&w.put("s.jsonl", &text));
    assert_eq!(said(&s), ["user: new", "user: c", "assistant: said"]);
    let answer = s.build_session_context().messages[2].clone();
    assert_eq!(
        answer,
        br#"{"role":"assistant","content":[{"type":"text","text":"said"}]}"#
    );
}

#[test]
fn instructions_of_a_compaction_stand_before_it_and_those_it_kept_go() {
    let w = world();
    let lines = [
        r#"{"type":"message","id":"a","parentId":null,"timestamp":"2025-01-01T00:00:00.000Z","message":{"role":"system","content":"old"}}"#,
        r#"{"type":"message","id":"b","parentId":"a","timestamp":"2025-01-01T00:00:00.000Z","message":{"role":"user","content":"q"}}"#,
        r#"{"type":"compaction","id":"c","parentId":"b","timestamp":"2025-01-01T00:00:00.000Z","summary":"SUM","firstKeptEntryId":"a","tokensBefore":1,"systemMessage":{"role":"system","content":"new"}}"#,
    ];
    let s = w.open(&w.put("s.jsonl", &session(&lines)));
    assert_eq!(
        said(&s),
        ["system: new", "compactionSummary: SUM", "user: q"]
    );
}

#[test]
fn messages_of_extensions_are_shown() {
    let mut s = world().memory();
    s.append_custom_message("x", [ContentBlock::text("c")], false, Some(b"{\"k\": 1}"))
        .unwrap();
    let bash = NewPiMessage::bash("ls", "a").exit_code(0).at(3);
    s.append_message(bash).unwrap();
    assert_eq!(
        s.build_session_context().messages,
        [
            &br#"{"role":"custom","customType":"x","content":[{"type":"text","text":"c"}],"display":false,"details":{"k":1},"timestamp":1794765028602}"#[..],
            br#"{"role":"bashExecution","command":"ls","output":"a","exitCode":0,"cancelled":false,"truncated":false,"timestamp":3}"#,
        ]
    );
}

#[test]
fn the_last_answer_names_the_model_even_if_it_does_not_say_which() {
    let w = world();
    let lines = [
        r#"{"type":"model_change","id":"a","parentId":null,"timestamp":"2025-01-01T00:00:00.000Z","provider":"p","modelId":"m"}"#,
        r#"{"type":"message","id":"b","parentId":"a","timestamp":"2025-01-01T00:00:00.000Z","message":{"role":"assistant","content":[],"model":"x"}}"#,
    ];
    let s = w.open(&w.put("s.jsonl", &session(&lines)));
    let model = s.build_session_context().model.unwrap();
    assert_eq!(
        (model.provider.as_str(), model.model_id.as_str()),
        ("", "x")
    );
    assert_eq!(model.raw(), br#"{"modelId":"x"}"#);
}

#[test]
fn only_messages_with_content_of_their_own_are_edited() {
    let w = world();
    for (role, content) in [
        ("user", r#""new""#),
        ("custom", r#""new""#),
        ("assistant", r#"[{"type":"text","text":"new"}]"#),
        ("system", r#""old""#),
        ("bashExecution", r#""old""#),
    ] {
        let message = format!(
            r#"{{"type":"message","id":"a","parentId":null,"timestamp":"2025-01-01T00:00:00.000Z","message":{{"role":"{role}","content":"old"}}}}"#
        );
        let edit = r#"{"type":"context_edit","id":"b","parentId":"a","timestamp":"2025-01-01T00:00:00.000Z","targetId":"a","replacement":{"content":"new"}}"#;
        let s = w.open(&w.put("s.jsonl", &session(&[&message, edit])));
        assert_eq!(
            s.build_session_context().messages,
            [format!(r#"{{"role":"{role}","content":{content}}}"#).into_bytes()]
        );
    }
}

#[test]
fn a_compaction_keeps_what_the_system_said() {
    let mut s = world().memory();
    s.append_message_json(br#"{"role":"system","content":"be brief","timestamp":1}"#)
        .unwrap();
    let kept = user(&mut s, "a");
    s.append_message_json(br#"{"role":"system","content":"be nice","timestamp":2}"#)
        .unwrap();
    s.append_compaction("SUM", Some(&kept), 10, None, None)
        .unwrap();
    assert_eq!(
        said(&s),
        [
            "system: be brief\n\nbe nice",
            "compactionSummary: SUM",
            "user: a"
        ]
    );
}
