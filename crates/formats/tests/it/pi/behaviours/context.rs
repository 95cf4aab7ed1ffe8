//! What the model is shown: 14 behaviours.

use rethread_formats::pi::{Leaf, SessionManager};

use crate::pi::world::{assistant, messages, said, said_at, user, world};

#[test]
fn no_entries_give_an_empty_context() {
    let context = world().memory().build_session_context();
    assert!(context.messages.is_empty());
    assert_eq!(context.thinking_level, "off");
    assert_eq!(context.model, None);
}

#[test]
fn a_single_user_message_is_the_context() {
    let mut s = world().memory();
    user(&mut s, "hello");
    assert_eq!(said(&s), ["user: hello"]);
}

#[test]
fn a_simple_conversation_is_shown_in_its_order() {
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
    let fork = user(&mut s, "a");
    s.append_thinking_level_change("minimal").unwrap();
    s.branch(&fork).unwrap();
    s.append_thinking_level_change("low").unwrap();
    assistant(&mut s, "b");
    let context = s.build_session_context();
    assert_eq!(context.thinking_level, "low");
    assert_eq!(context.messages.len(), 2, "it is no message");
}

/// Which model the context names.
fn model(s: &SessionManager) -> Option<String> {
    let model = s.build_session_context().model?;
    Some(format!("{} {}", model.provider, model.model_id))
}

#[test]
fn an_answer_tells_the_model() {
    let mut s = world().memory();
    user(&mut s, "a");
    assert_eq!(model(&s), None);
    assistant(&mut s, "b");
    assert_eq!(model(&s).as_deref(), Some("anthropic claude-test"));
}

#[test]
fn a_model_change_tells_the_model_until_the_next_answer() {
    let mut s = world().memory();
    user(&mut s, "a");
    s.append_model_change("openai", "gpt").unwrap();
    assert_eq!(model(&s).as_deref(), Some("openai gpt"));
    assistant(&mut s, "b");
    assert_eq!(model(&s).as_deref(), Some("anthropic claude-test"));
    s.append_model_change("openai", "gpt-2").unwrap();
    assert_eq!(model(&s).as_deref(), Some("openai gpt-2"));
}

#[test]
fn a_compaction_s_summary_comes_before_what_it_kept_and_what_follows() {
    let mut s = world().memory();
    user(&mut s, "a");
    assistant(&mut s, "b");
    let kept = user(&mut s, "c");
    assistant(&mut s, "d");
    s.append_compaction("SUM", Some(&kept), 10, None, None)
        .unwrap();
    user(&mut s, "e");
    assistant(&mut s, "f");
    assert_eq!(
        said(&s),
        [
            "compactionSummary: SUM",
            "user: c",
            "assistant: d",
            "user: e",
            "assistant: f"
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
    user(&mut s, "c");
    assert_eq!(
        said(&s),
        [
            "compactionSummary: SUM",
            "user: a",
            "assistant: b",
            "user: c"
        ]
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
fn the_way_to_a_leaf_that_is_named_is_shown() {
    let w = world();
    let links = [("a", ""), ("b", "a"), ("one", "b"), ("two", "b")];
    let s = w.open(&w.put("s.jsonl", &messages(&links)));
    assert_eq!(
        said_at(&s, Leaf::At("one")),
        ["user: a", "user: b", "user: one"]
    );
    assert_eq!(
        said_at(&s, Leaf::At("two")),
        ["user: a", "user: b", "user: two"]
    );
}

#[test]
fn a_branch_summary_is_shown_where_it_stands() {
    let mut s = world().memory();
    user(&mut s, "a");
    let fork = assistant(&mut s, "b");
    user(&mut s, "a dead end");
    s.branch_with_summary(Some(&fork), "LEFT", None, None)
        .unwrap();
    user(&mut s, "c");
    assert_eq!(
        said(&s),
        ["user: a", "assistant: b", "branchSummary: LEFT", "user: c"]
    );
}

#[test]
fn each_leaf_of_a_tree_with_branches_and_a_compaction_has_its_own_context() {
    let mut s = world().memory();
    user(&mut s, "start");
    assistant(&mut s, "r1");
    let kept = user(&mut s, "q2");
    assistant(&mut s, "r2");
    s.append_compaction("SUM", Some(&kept), 10, None, None)
        .unwrap();
    user(&mut s, "q3");
    let main = assistant(&mut s, "r3");
    s.branch(&kept).unwrap();
    user(&mut s, "wrong");
    assistant(&mut s, "sorry");
    s.branch_with_summary(Some(&kept), "TRIED", None, None)
        .unwrap();
    user(&mut s, "better");
    assert_eq!(
        said(&s),
        [
            "user: start",
            "assistant: r1",
            "user: q2",
            "branchSummary: TRIED",
            "user: better"
        ]
    );
    assert_eq!(
        said_at(&s, Leaf::At(&main)),
        [
            "compactionSummary: SUM",
            "user: q2",
            "assistant: r2",
            "user: q3",
            "assistant: r3"
        ]
    );
}

#[test]
fn a_leaf_that_is_not_there_stands_for_the_last_entry() {
    let mut s = world().memory();
    user(&mut s, "a");
    assistant(&mut s, "b");
    assert_eq!(said_at(&s, Leaf::At("nobody")), ["user: a", "assistant: b"]);
}

#[test]
fn an_orphan_is_shown_without_what_is_missing_above_it() {
    let w = world();
    let path = w.put("s.jsonl", &messages(&[("a", ""), ("b", "gone")]));
    assert_eq!(said(&w.open(&path)), ["user: b"]);
}
