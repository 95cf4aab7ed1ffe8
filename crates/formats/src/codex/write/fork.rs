//! A new session with what was said up to some entry.

use std::collections::HashSet;
use std::io::{self, Write};

use rethread_json::{Patch, Tree, quote};
use rethread_model::{EntryIx, Kind, RawRef};

use crate::codex::record::{Ev, RolloutRecord, RolloutType};
use crate::{Conversation, RecordKind};

/// The entry with this id whose first record begins there: ids may be empty.
pub(in crate::codex) fn entry_at(old: &Conversation, id: &str, offset: u64) -> Option<EntryIx> {
    let session = &old.session;
    let begins = |ix: EntryIx| {
        let first = session.origin(ix).first()?;
        Some(old.native.span(*first)?.start)
    };
    let mut entries = session.indexed().map(|(ix, _)| ix);
    entries.find(|ix| session.id(*ix) == id && begins(*ix) == Some(offset))
}

/// Copies records, the oldest part first, each at the time of the fork.
pub(in crate::codex) fn copy_path(
    old: &Conversation,
    leaf: Option<EntryIx>,
    numbered: bool,
    now: &str,
    out: &mut impl Write,
) -> io::Result<()> {
    let Some(leaf) = leaf else { return Ok(()) };
    let session = &old.session;
    let path: HashSet<EntryIx> = session.path(leaf).into_iter().collect();
    let mut kept: HashSet<RawRef> = HashSet::new();
    let mut claimed: HashSet<RawRef> = HashSet::new();
    for (ix, entry) in session.indexed() {
        let origin = session.origin(ix);
        claimed.extend(origin);
        if path.contains(&ix) || (entry.beside && entry.kind != Kind::Title) {
            kept.extend(origin);
        }
    }
    let last = session
        .origin(leaf)
        .iter()
        .copied()
        .max_by_key(|raw| age(*raw));
    let mut number = 1;
    let mut tree = Tree::default();
    for part in (0..old.native.parts.len()).rev() {
        let part = u32::try_from(part).unwrap_or(u32::MAX);
        let count = old
            .native
            .parts
            .get(part as usize)
            .map_or(0, crate::Part::record_count);
        for record in 0..u32::try_from(count).unwrap_or(u32::MAX) {
            let raw = RawRef { part, record };
            if last.is_some_and(|last| age(raw) > age(last)) {
                return Ok(());
            }
            let is_whole = old.native.record_kind(raw) == Some(RecordKind::Value);
            if !is_whole || (claimed.contains(&raw) && !kept.contains(&raw)) {
                continue;
            }
            let bytes = old.native.read(raw)?;
            if tree.parse_into(&bytes).is_err() {
                continue;
            }
            let root = tree.root(&bytes);
            let what = RolloutRecord::of(root).what;
            let is_back = what == RolloutType::Event(Ev::RolledBack);
            // Behind its own facts, a file with a copy has those of the other session.
            let is_meta = what == RolloutType::Meta && (numbered || part != 0 || record != 0);
            if is_back || is_meta {
                continue;
            }
            let mut patch = Patch::new(root);
            patch.set(root, "timestamp", &quote(now));
            if numbered {
                patch.set(root, "ordinal", u64::to_string(&number).as_bytes());
                number += 1;
            }
            out.write_all(patch.finish().trim_ascii())?;
            out.write_all(b"\n")?;
        }
    }
    Ok(())
}

/// The place of a record: those of borrowed parts come first, the furthest one before all.
fn age(raw: RawRef) -> (std::cmp::Reverse<u32>, u32) {
    (std::cmp::Reverse(raw.part), raw.record)
}
