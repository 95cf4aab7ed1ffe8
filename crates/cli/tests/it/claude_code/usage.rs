//! What responses used, each once.

use std::collections::BTreeMap;

use rethread_formats::claude_code::FORMAT;
use rethread_formats::{Source, Want};
use rethread_model::{Bodies as _, Body, LinkKind, Usage};

use super::{EVERYTHING, fixtures, id, message, read, read_file, transcripts};

#[test]
fn usage_counts_a_response_once() {
    let conversation = read("2.1/everything", "aaaa.jsonl");
    let response = message(&conversation, &id(EVERYTHING, 4));
    let used = response.usage.unwrap();
    assert_eq!(
        (used.input, used.output),
        (10, 90),
        "the fullest note counts"
    );
    assert_eq!((used.cache_write, used.cache_write_1h), (60, 40));
    assert_eq!(response.stop_reason.as_deref(), Some("tool_use"));
    let list = |name: &str| {
        let path = fixtures().join(name);
        let source = Source::new(FORMAT, String::new(), path);
        let summary = FORMAT.reader().summarize(
            &source,
            Want {
                usage: true,
                ..Want::default()
            },
        );
        summary.counts.usage.unwrap()
    };
    let client = list(&format!("2.1/everything/{EVERYTHING}.jsonl"));
    assert_eq!(
        client.output, 171,
        "what the client added up, sub-agents too"
    );
    assert_eq!(client.cost.map(|c| c.usd), Some(0.0125));
    let old = list("1.0/sidechain/f1b2c3d4-0000-4000-8000-000000000001.jsonl");
    assert_eq!(old.output, 80, "four responses");
    assert_eq!(old.cost.map(|c| c.usd), Some(0.035));
}

/// A fork copies responses with their ids: together they count once.
#[test]
fn usage_counts_once_across_forks() {
    let mut responses: BTreeMap<String, Usage> = BTreeMap::new();
    for path in transcripts("2.0/forked") {
        let conversation = read_file(&path);
        for (ix, _) in conversation.session.indexed() {
            if let (Some(key), Body::Message(message)) =
                (conversation.session.usage_key(ix), conversation.body(ix))
            {
                responses.insert(key.to_owned(), message.usage.unwrap());
            }
        }
    }
    assert_eq!(responses.len(), 3);
    let kept = read("2.0/forked", "0003.jsonl");
    let inherited: Vec<bool> = kept.session.entries().iter().map(|e| e.inherited).collect();
    assert_eq!(inherited, [true, true, false, false]);
    let links = &kept.session.head.links;
    assert_eq!(links[0].kind, LinkKind::Continues);
    assert_eq!(links[0].session, "d1b2c3d4-0000-4000-8000-000000000001");
    let source = kept.source.clone();
    let counted = FORMAT.reader().summarize(
        &source,
        Want {
            usage: true,
            ..Want::default()
        },
    );
    assert_eq!(counted.counts.usage.unwrap().output, 20, "only its own");
}
