//! What was said before, by ids and digests.

use std::collections::hash_map::{DefaultHasher, Entry as Slot};
use std::collections::{BTreeMap, HashMap};
use std::hash::{Hash as _, Hasher as _};
use std::ops::Range;

use rethread_formats::Conversation;
use rethread_model::{Block, Bodies as _, Body, EntryIx, RawRef, ToolInput};

/// So many of the last entries are looked at closely: clients add to messages, and fill in what a tool
/// answered, but not far back.
const RECENT: usize = 64;

/// The entries that were told.
#[derive(Debug, Default)]
pub(super) struct KnownEntries {
    /// By what an entry is called, the digests of its blocks; none of one whose words were not looked at,
    /// which counts as known whatever it says.
    entries: HashMap<u64, Option<Vec<u64>>>,
}

/// What is new in a session.
#[derive(Debug, Default)]
pub(super) struct NewEntries {
    /// The entries that are new, or that say more than they did.
    pub(super) entries: Vec<EntryIx>,
    /// Of entries that were there before, which of their blocks are new.
    pub(super) new_blocks: BTreeMap<EntryIx, Vec<bool>>,
}

impl KnownEntries {
    /// Takes entries as told; `is_told` says which.
    pub(super) fn learn(&mut self, read: &Conversation, is_told: impl Fn(EntryIx) -> bool) {
        let names = EntryNames::of(read);
        let recent = read.session.entries().len().saturating_sub(RECENT);
        for (ix, name) in names.iter() {
            if !is_told(ix) || is_unfinished(read, ix) {
                continue;
            }
            let digests = (ix.get() >= recent).then(|| digests_of(&read.body(ix)));
            match (self.entries.entry(name).or_default(), digests) {
                // Several may have the same id.
                (Some(known), Some(more)) => known.extend(more),
                (known, digests) => *known = digests,
            }
        }
    }

    /// What a session says that was not told; from now on it counts as told.
    pub(super) fn take_new(&mut self, read: &Conversation) -> NewEntries {
        let names = EntryNames::of(read);
        let recent = read.session.entries().len().saturating_sub(RECENT);
        let mut new = NewEntries::default();
        for (ix, name) in names.iter() {
            if is_unfinished(read, ix) {
                continue;
            }
            match self.entries.entry(name) {
                Slot::Vacant(slot) => {
                    slot.insert(Some(digests_of(&read.body(ix))));
                    // What a fork copied was said elsewhere.
                    if !read.session.entry(ix).inherited {
                        new.entries.push(ix);
                    }
                }
                Slot::Occupied(_) if ix.get() < recent => {}
                Slot::Occupied(mut slot) => {
                    let now = digests_of(&read.body(ix));
                    let Some(before) = slot.get_mut() else {
                        slot.insert(Some(now));
                        continue;
                    };
                    let blocks: Vec<bool> = now.iter().map(|d| !before.contains(d)).collect();
                    if blocks.contains(&true) {
                        before.extend(now);
                        before.sort_unstable();
                        before.dedup();
                        new.entries.push(ix);
                        new.new_blocks.insert(ix, blocks);
                    }
                }
            }
        }
        new
    }
}

/// What the entries of a session are called: by their ids, else by where they stand.
struct EntryNames(Vec<u64>);

impl EntryNames {
    fn of(read: &Conversation) -> Self {
        let session = &read.session;
        let mut last_place = None;
        let mut nth = 0_u64;
        let name = |(ix, _): (EntryIx, _)| {
            let id = session.id(ix);
            let mut hasher = DefaultHasher::new();
            if id.is_empty() {
                let raw = session.origin(ix).first().copied();
                let place = raw.map(|raw| (raw.part, file_span(read, raw).map(|span| span.start)));
                nth = if place == last_place { nth + 1 } else { 0 };
                last_place = place;
                (place, nth).hash(&mut hasher);
            } else {
                id.hash(&mut hasher);
            }
            hasher.finish()
        };
        Self(session.indexed().map(name).collect())
    }

    fn iter(&self) -> impl Iterator<Item = (EntryIx, u64)> + '_ {
        let named = self.0.iter().enumerate();
        named.filter_map(|(at, name)| Some((EntryIx::new(at)?, *name)))
    }
}

/// Where a record stands in its file.
pub(super) fn file_span(read: &Conversation, raw: RawRef) -> Option<Range<u64>> {
    let part = read.native.parts.get(raw.part as usize)?;
    let span = part.span(raw.record)?;
    Some(part.file_offset(span.start)..part.file_offset(span.end))
}

/// Whether its client is still writing an entry, and will write it anew; one that others follow is
/// written.
fn is_unfinished(read: &Conversation, ix: EntryIx) -> bool {
    let session = &read.session;
    let is_last = ix.get() + 1 == session.entries().len();
    let bodies = read.source.format.reader().bodies();
    is_last && bodies.is_unfinished(&read.native, session, ix)
}

/// A digest of each block: of what it says, and not of how it was written down.
fn digests_of(body: &Body) -> Vec<u64> {
    match body {
        Body::Message(message) => message.blocks.iter().map(digest_of).collect(),
        _ => Vec::new(),
    }
}

fn digest_of(block: &Block) -> u64 {
    let mut hasher = DefaultHasher::new();
    std::mem::discriminant(block).hash(&mut hasher);
    match block {
        Block::Text(text) | Block::Aside { text, .. } => text.value.hash(&mut hasher),
        Block::Thinking(thinking) => thinking.text.value.hash(&mut hasher),
        // What becomes of a call is no other call.
        Block::ToolCall(call) => {
            (&call.id, &call.name).hash(&mut hasher);
            match &call.input {
                Some(ToolInput::Text(text)) if call.id.is_empty() => text.value.hash(&mut hasher),
                Some(ToolInput::Json(json)) if call.id.is_empty() => {
                    json.bytes().hash(&mut hasher);
                }
                _ => {}
            }
        }
        Block::ToolResult(result) => {
            result.call_id.hash(&mut hasher);
            for inner in result.blocks.iter().filter(|_| result.call_id.is_empty()) {
                if let Block::Text(text) = inner {
                    text.value.hash(&mut hasher);
                }
            }
        }
        Block::Image(media) | Block::File(media) => media.mime.hash(&mut hasher),
        Block::Unknown { type_name, raw } => (type_name, raw.bytes()).hash(&mut hasher),
    }
    hasher.finish()
}
