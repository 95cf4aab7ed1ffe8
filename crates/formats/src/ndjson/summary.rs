//! What a list shows of a session.

use jiff::Timestamp;
use rethread_model::{
    Bodies as _, Body, Counts, Head, Kind, Moment, Provenance, Role, State, Summary, Usage,
};

use super::SLUG;
use super::packed::open;
use super::read::read;
use crate::unusable::cannot_be_opened;
use crate::{Conversation, OpenError, Source, Want};

/// What a list shows of a session.
pub(super) fn summarize(source: &Source, want: Want) -> Summary {
    let mut summary = Summary {
        path: source.path.clone(),
        head: Head {
            id: source.id.clone(),
            format: SLUG,
            ..Head::default()
        },
        ..Summary::default()
    };
    match read(source) {
        Ok(conversation) => {
            summary.counts = counts(&conversation, want);
            summary.size = size(&conversation);
            summary.head = conversation.session.head;
            summary.notes = conversation.notes;
            if summary.head.updated.is_none() {
                let there = summary.head.provenance.as_ref();
                let there = there.and_then(|p| p.file_time);
                summary.head.updated = there.or_else(|| changed(source));
            }
        }
        Err(OpenError::Unsupported { version, .. }) => {
            summary.head.provenance = Some(Provenance {
                kind: "local".to_owned(),
                ..Provenance::default()
            });
            summary.state = State::Unsupported { version };
            summary.head.updated = changed(source);
        }
        Err(e) => cannot_be_opened(&mut summary, &e),
    }
    summary
}

/// The bytes of the records that entries came from.
fn size(conversation: &Conversation) -> u64 {
    let session = &conversation.session;
    let origins = session.indexed().flat_map(|(ix, _)| session.origin(ix));
    let mut records: Vec<_> = origins.copied().collect();
    records.dedup();
    let spans = records
        .iter()
        .filter_map(|raw| conversation.native.span(*raw));
    spans.map(|span| span.end - span.start).sum()
}

fn changed(source: &Source) -> Option<Moment> {
    let changed = open(&source.path).ok()?.changed?;
    Timestamp::try_from(changed).ok().map(Moment::from)
}

fn counts(conversation: &Conversation, want: Want) -> Counts {
    let session = &conversation.session;
    let mut counts = Counts::default();
    let mut used = Usage::default();
    let mut seen = std::collections::HashSet::new();
    for (ix, entry) in session.indexed() {
        let Kind::Message(role) = entry.kind else {
            continue;
        };
        counts.messages += 1;
        counts.user_messages += u64::from(role == Role::User);
        counts.assistant_messages += u64::from(role == Role::Assistant);
        if role != Role::Assistant {
            continue;
        }
        let Body::Message(message) = conversation.body(ix) else {
            continue;
        };
        let is_call = |b: &&rethread_model::Block| matches!(b, rethread_model::Block::ToolCall(_));
        counts.tool_calls += message.blocks.iter().filter(is_call).count() as u64;
        let counted = entry.inherited
            || session
                .usage_key(ix)
                .is_some_and(|key| !seen.insert(key.to_owned()));
        if let (Some(usage), false) = (&message.usage, counted) {
            used += usage;
        }
    }
    counts.usage = want.usage.then_some(used);
    counts
}
