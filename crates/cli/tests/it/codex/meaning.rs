//! What the records mean: compactions, tokens, and who said it.

use rethread_model::{Bodies, Body, Kept, Kind, Visibility};

use super::{BASE, EVERYTHING, home, listed_usage, session, usage};

#[test]
fn a_compaction_is_one_entry_with_the_past_that_replaced_the_other() {
    let c = session("0.140/everything", EVERYTHING);
    let all = c
        .session
        .indexed()
        .filter(|(_, e)| e.kind == Kind::Compaction);
    let all: Vec<_> = all.map(|(ix, _)| ix).collect();
    assert_eq!(all.len(), 1);
    assert_eq!(
        c.session.origin(all[0]).len(),
        2,
        "the record and the event"
    );
    let Body::Compaction(compaction) = c.body(all[0]) else {
        panic!()
    };
    assert_eq!(
        compaction.summary.unwrap().value,
        "The sign was red and is green."
    );
    let Kept::Replacement(messages) = compaction.kept else {
        panic!("{:?}", compaction.kept)
    };
    assert_eq!(messages.len(), 2);
}

#[test]
fn two_compactions_in_a_row_are_two() {
    let w = crate::world::World::new();
    let path = w
        .root
        .join("rollout-2026-11-15T12-00-00-019ed917-1cf7-72a3-92f5-00000000000a.jsonl");
    let record = |kind: &str, payload: &str| {
        format!(
            "{{\"timestamp\":\"2026-11-15T12:00:00.000Z\",\"type\":\"{kind}\",\"payload\":{payload}}}\n"
        )
    };
    let meta = r#"{"id":"019ed917-1cf7-72a3-92f5-00000000000a","timestamp":"2026-11-15T12:00:00.000Z","cwd":"/p","originator":"codex_cli_rs","cli_version":"0.166.0"}"#;
    let compacted = |text: &str| {
        let payload = format!("{{\"message\":\"{text}\",\"replacement_history\":[]}}");
        let event = record("event_msg", r#"{"type":"context_compacted"}"#);
        record("compacted", &payload) + &event
    };
    let log = record("session_meta", meta) + &compacted("One.") + &compacted("Two.");
    std::fs::write(&path, log).unwrap();
    let c = super::read(&path);
    let all: Vec<Kind> = c.session.entries().iter().map(|e| e.kind).collect();
    assert_eq!(all, [Kind::Compaction, Kind::Compaction]);
}

#[test]
fn tokens_count_once_a_response() {
    let c = session("0.140/everything", EVERYTHING);
    let sum = usage(&c);
    assert_eq!(
        (sum.input, sum.cache_read, sum.output, sum.reasoning),
        (1500, 2500, 160, 40)
    );
    assert_eq!(listed_usage(&c), sum);
    let base = session("0.166/forks", BASE);
    let sum = usage(&base);
    assert_eq!((sum.input, sum.cache_read, sum.cache_write), (15, 12, 6));
    assert_eq!(Some(sum.total()), sum.recorded_total);
    assert_eq!(listed_usage(&base), sum);
    let recorded = base.session.head.recorded_usage[0].usage;
    assert_eq!(recorded.total(), sum.total());
}

#[test]
fn what_the_client_put_among_the_words_of_the_person_is_marked() {
    let c = session("0.140/everything", EVERYTHING);
    let injected = c
        .session
        .entries()
        .iter()
        .filter(|e| e.visibility == Visibility::Injected);
    assert_eq!(injected.count(), 3);
    let shown = home(&["0.140/everything"]).ok(&["show", EVERYTHING]);
    assert!(shown.contains("· skill 28 B     (--injected)"), "{shown}");
    assert!(!shown.contains("<skill>"), "{shown}");
    let all = home(&["0.140/everything"]).ok(&["show", EVERYTHING, "--injected"]);
    assert!(all.contains("· skill 28 B\n      <skill>"), "{all}");
}
