//! What the model is shown.

use rethread_formats::pi::{ContentBlock, Leaf, NewMessage};

use super::world::{assistant, messages, said, say, session, user, world};

#[test]
fn an_empty_session_has_an_empty_context() {
    let context = world().memory().build_session_context();
    assert!(context.messages.is_empty());
    assert_eq!(context.thinking_level, "off");
    assert_eq!(context.model, None);
}

#[test]
fn a_single_user_message() {
    let mut s = world().memory();
    user(&mut s, "hello");
    assert_eq!(said(&s), ["user: hello"]);
}

#[test]
fn a_simple_conversation() {
    let mut s = world().memory();
    user(&mut s, "a");
    assistant(&mut s, "b");
    user(&mut s, "c");
    assistant(&mut s, "d");
    assert_eq!(
        said(&s),
        ["user: a", "assistant: b", "user: c", "assistant: d"]
    );
}

#[test]
fn the_last_thinking_level_on_the_way_counts() {
    let mut s = world().memory();
    s.append_thinking_level_change("high").unwrap();
    user(&mut s, "a");
    s.append_thinking_level_change("low").unwrap();
    assert_eq!(s.build_session_context().thinking_level, "low");
}

#[test]
fn the_model_is_that_of_the_last_answer_or_change() {
    let mut s = world().memory();
    s.append_model_change("openai", "gpt").unwrap();
    let model = s.build_session_context().model.unwrap();
    assert_eq!(
        (model.provider.as_str(), model.model_id.as_str()),
        ("openai", "gpt")
    );
    assistant(&mut s, "b");
    let model = s.build_session_context().model.unwrap();
    assert_eq!(
        (model.provider.as_str(), model.model_id.as_str()),
        ("anthropic", "claude-test")
    );
    s.append_model_change("openai", "gpt-2").unwrap();
    assert_eq!(s.build_session_context().model.unwrap().model_id, "gpt-2");
}

#[test]
fn a_compaction_puts_its_summary_before_what_it_kept() {
    let mut s = world().memory();
    user(&mut s, "a");
    assistant(&mut s, "b");
    let kept = user(&mut s, "c");
    assistant(&mut s, "d");
    s.append_compaction("SUM", Some(&kept), 10, None, None)
        .unwrap();
    user(&mut s, "e");
    assert_eq!(
        said(&s),
        [
            "compactionSummary: SUM",
            "user: c",
            "assistant: d",
            "user: e"
        ]
    );
}

#[test]
fn a_compaction_that_keeps_from_the_first_message_keeps_all() {
    let mut s = world().memory();
    let first = user(&mut s, "a");
    assistant(&mut s, "b");
    s.append_compaction("SUM", Some(&first), 10, None, None)
        .unwrap();
    assert_eq!(
        said(&s),
        ["compactionSummary: SUM", "user: a", "assistant: b"]
    );
}

#[test]
fn of_several_compactions_the_latest_counts() {
    let mut s = world().memory();
    let first = user(&mut s, "a");
    s.append_compaction("ONE", Some(&first), 10, None, None)
        .unwrap();
    let kept = user(&mut s, "b");
    s.append_compaction("TWO", Some(&kept), 10, None, None)
        .unwrap();
    user(&mut s, "c");
    assert_eq!(said(&s), ["compactionSummary: TWO", "user: b", "user: c"]);
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
fn a_branch_shows_its_own_way() {
    let mut s = world().memory();
    let first = user(&mut s, "a");
    assistant(&mut s, "b");
    user(&mut s, "one");
    s.branch(&first).unwrap();
    assistant(&mut s, "c");
    user(&mut s, "two");
    assert_eq!(said(&s), ["user: a", "assistant: c", "user: two"]);
}

#[test]
fn a_branch_summary_is_on_the_way() {
    let mut s = world().memory();
    let first = user(&mut s, "a");
    assistant(&mut s, "b");
    s.branch_with_summary(Some(&first), "LEFT", None, None)
        .unwrap();
    user(&mut s, "c");
    assert_eq!(said(&s), ["user: a", "branchSummary: LEFT", "user: c"]);
    s.branch_with_summary(Some(&first), "", None, None).unwrap();
    assert_eq!(said(&s), ["user: a"], "an empty summary says nothing");
}

#[test]
fn a_tree_with_branches_and_a_compaction() {
    let mut s = world().memory();
    user(&mut s, "start");
    assistant(&mut s, "r1");
    let kept = user(&mut s, "q2");
    let fork = assistant(&mut s, "r2");
    s.append_compaction("SUM", Some(&kept), 10, None, None)
        .unwrap();
    let main = user(&mut s, "q3");
    s.branch_with_summary(Some(&fork), "TRIED", None, None)
        .unwrap();
    user(&mut s, "better");
    assert_eq!(
        said(&s),
        [
            "user: start",
            "assistant: r1",
            "user: q2",
            "assistant: r2",
            "branchSummary: TRIED",
            "user: better"
        ]
    );
    s.branch(&main).unwrap();
    assert_eq!(
        said(&s),
        [
            "compactionSummary: SUM",
            "user: q2",
            "assistant: r2",
            "user: q3"
        ]
    );
}

#[test]
fn an_unknown_leaf_stands_for_the_last_entry_and_none_for_nothing() {
    let mut s = world().memory();
    user(&mut s, "a");
    let context = s.build_session_context_at(Leaf::At("nobody"));
    assert_eq!(say(&context.messages[0]), "user: a");
    assert_eq!(s.build_session_context_at(Leaf::Last), context);
    assert!(s.build_session_context_at(Leaf::Root).messages.is_empty());
    s.reset_leaf();
    assert!(s.build_session_context().messages.is_empty());
}

#[test]
fn an_orphan_is_a_root() {
    let w = world();
    let path = w.put("s.jsonl", &messages(&[("a", ""), ("b", "gone")]));
    assert_eq!(said(&w.open(&path)), ["user: b"]);
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
    let bash = NewMessage::bash("ls", "a").exit_code(0).at(3);
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
