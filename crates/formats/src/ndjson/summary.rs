//! What a list shows of a session.

use jiff::Timestamp;
use rethread_model::{Activity, Bodies as _, Body, Counts, Kind, Moment, Role, Usage};

use super::packed::open_export;
use crate::{Conversation, Source, Want};

/// The bytes of the records that entries came from.
pub(super) fn record_bytes(conversation: &Conversation) -> u64 {
    let session = &conversation.session;
    let origins = session.indexed().flat_map(|(ix, _)| session.origin(ix));
    let mut records: Vec<_> = origins.copied().collect();
    records.dedup();
    let spans = records
        .iter()
        .filter_map(|raw| conversation.native.span(*raw));
    spans.map(|span| span.end - span.start).sum()
}

pub(super) fn change_time(source: &Source) -> Option<Moment> {
    let changed = open_export(&source.path).ok()?.changed?;
    Timestamp::try_from(changed).ok().map(Moment::from)
}

pub(super) fn entry_counts(conversation: &Conversation, want: Want) -> (Counts, Activity) {
    let session = &conversation.session;
    let mut counts = Counts::default();
    let mut activity = Activity::default();
    let mut used = Usage::default();
    let mut seen = std::collections::HashSet::new();
    for (ix, entry) in session.indexed() {
        let Kind::Message(role) = entry.kind else {
            continue;
        };
        counts.messages += 1;
        activity.add_message(entry.time);
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
    (counts, activity)
}
