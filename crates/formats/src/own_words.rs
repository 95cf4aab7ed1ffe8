//! What a model sees in the words of a format itself: the messages of the records, as they are.

use rethread_json::{compact, quote};
use rethread_model::{Context, EntryIx, ModelRef};

use crate::{Conversation, NativeContext, RawJson};

/// How a format says in its own words what a model sees.
#[derive(Clone, Copy, Debug)]
pub struct OwnWords {
    /// The messages of an entry. Of a compaction, those that stand for what it replaced.
    pub messages: fn(&Conversation, EntryIx) -> Vec<RawJson>,
    /// A model.
    pub model: fn(&ModelRef) -> Vec<u8>,
}

impl OwnWords {
    /// The words of a format that names models by their ids alone.
    pub(crate) const fn new(messages: fn(&Conversation, EntryIx) -> Vec<RawJson>) -> Self {
        Self {
            messages,
            model: |model| quote(&model.id),
        }
    }

    /// What a model would see at the end of a path from the root.
    pub fn context(&self, conversation: &Conversation, path: &[EntryIx]) -> NativeContext {
        let seen = Context::new(&conversation.session, conversation, path);
        let mut messages = Vec::new();
        let mut last = None;
        for (ix, _) in seen.session.indexed() {
            let from = seen.comes_from(ix);
            // What was made of one entry are all of its messages.
            if from != last {
                let own = from.map(|from| (self.messages)(conversation, from));
                messages.extend(own.into_iter().flatten().map(in_a_line));
            }
            last = from;
        }
        NativeContext {
            messages,
            model: seen.model.as_ref().map(self.model),
            thinking_level: seen.thinking_level,
        }
    }
}

/// A message in one line, as every message is that stands in a log.
fn in_a_line(message: RawJson) -> RawJson {
    if memchr::memchr2(b'\n', b'\r', &message).is_none() {
        return message;
    }
    compact(&message).map_or(message, RawJson::from)
}
