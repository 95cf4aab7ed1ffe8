//! The end of a conversation, and places in it.

use std::collections::VecDeque;

use rethread_model::{EntryIx, Kind, Role, Session};

use super::{Reading, ReadingPart};
use crate::{Options, View};

/// So many entries are looked at first.
const FIRST_LOOK: usize = 64;

/// How many of a view's entries come before the last `count` turns, as `options` show them. The end is
/// read first, so that a long conversation is not read whole.
pub fn first_of_last(view: &View<'_>, options: Options, count: usize) -> usize {
    let entries: Vec<EntryIx> = view.shown_entries().collect();
    if count == 0 {
        return entries.len();
    }
    let mut look = FIRST_LOOK.max(count.saturating_mul(2));
    loop {
        let start = entries.len().saturating_sub(look);
        let part = entries.get(start..).unwrap_or_default().to_vec();
        // One more, because the first one may have begun before.
        let mut begun: VecDeque<EntryIx> = VecDeque::new();
        for part in Reading::new(view, part, options) {
            if let ReadingPart::Turn(turn) = part {
                if begun.len() > count {
                    begun.pop_front();
                }
                begun.push_back(turn.ix);
            }
        }
        if begun.len() > count {
            begun.pop_front();
        } else if start > 0 {
            look = look.saturating_mul(4);
            continue;
        }
        let first = begun.front();
        let at = first.and_then(|first| entries.iter().rposition(|ix| ix == first));
        return match at {
            Some(at) if begun.len() == count || start > 0 => at,
            _ => 0,
        };
    }
}

/// Where to begin so that an entry is seen: at itself, or at the call whose result it is.
pub fn start_of(session: &Session, entries: &[EntryIx], entry: EntryIx) -> Option<usize> {
    let mut at = entries.iter().position(|ix| *ix == entry)?;
    let is_result = |ix: &EntryIx| session.entry(*ix).kind == Kind::Message(Role::Tool);
    while at > 0 && entries.get(at).is_some_and(is_result) {
        at -= 1;
    }
    Some(at)
}
