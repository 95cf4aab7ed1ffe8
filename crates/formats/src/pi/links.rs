//! Who is whose parent. Files are not trusted: ids can be there twice or not at all, and parents
//! can form circles.

use std::collections::HashMap;

use rethread_model::{EntryIx, SessionBuilder};

use super::kinds::ParentLink;
use crate::kit::{SourcePos, find_circles};

/// The ids of a session while it is read, and the parents that are not known yet.
#[derive(Debug, Default)]
pub(super) struct EntryLinks {
    ids: HashMap<Box<str>, EntryIx>,
    /// The entry before, with its id.
    last: Option<(EntryIx, String)>,
    /// Entries whose parents were not met so far.
    open: Vec<(EntryIx, String, SourcePos)>,
    /// Entries that name themselves as their parents.
    own: Vec<SourcePos>,
}

/// Something that is wrong with an entry's parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ParentDamage {
    /// It is the entry itself.
    Itself,
    /// It is nowhere.
    Missing(String),
    /// The way to the root leads back to the entry.
    Circle,
}

impl EntryLinks {
    /// The entry before.
    pub(super) fn last(&self) -> Option<EntryIx> {
        self.last.as_ref().map(|(ix, _)| *ix)
    }

    /// The parent of an entry that is about to be added, where it is known already. Of several
    /// entries with one id, the nearest before counts.
    pub(super) fn parent(&self, parent: &ParentLink) -> Option<EntryIx> {
        let ParentLink::Id(id) = parent else {
            return None;
        };
        match &self.last {
            Some((ix, last)) if last == id => Some(*ix),
            _ => self.ids.get(id.as_str()).copied(),
        }
    }

    /// Notes an entry that was added; whether its id was there before.
    pub(super) fn add(&mut self, ix: EntryIx, id: &str) -> bool {
        self.last = Some((ix, id.to_owned()));
        !id.is_empty() && self.ids.insert(id.into(), ix).is_some()
    }

    /// Notes an entry whose parent was not met yet.
    pub(super) fn wait(&mut self, ix: EntryIx, id: &str, parent: String, at: SourcePos) {
        if parent == id {
            self.own.push(at);
        } else {
            self.open.push((ix, parent, at));
        }
    }

    /// Finds the parents that came after their children, and opens circles.
    pub(super) fn settle(self, builder: &mut SessionBuilder) -> Vec<(SourcePos, ParentDamage)> {
        let itself = |at| (at, ParentDamage::Itself);
        let mut wrong: Vec<(SourcePos, ParentDamage)> = self.own.into_iter().map(itself).collect();
        let mut forward = Vec::new();
        for (ix, parent, at) in self.open {
            match self.ids.get(parent.as_str()) {
                Some(found) => {
                    builder.entry(ix).parent = Some(*found);
                    forward.push(ForwardLink { entry: ix, at });
                }
                None => wrong.push((at, ParentDamage::Missing(parent))),
            }
        }
        wrong.extend(open_circles(builder, &forward));
        wrong.sort_by_key(|(at, _)| at.offset);
        wrong
    }
}

/// An entry whose parent came after it.
struct ForwardLink {
    entry: EntryIx,
    at: SourcePos,
}

/// Takes the parent from the first entry of every circle. Each has one whose parent comes after it,
/// so only ways from those are looked at.
fn open_circles(
    builder: &mut SessionBuilder,
    forward: &[ForwardLink],
) -> Vec<(SourcePos, ParentDamage)> {
    if forward.is_empty() {
        return Vec::new();
    }
    let all = (0..builder.len()).map(EntryIx::new);
    let parents: Vec<Option<EntryIx>> = all.map(|ix| builder.entry(ix?).parent).collect();
    let parent_of = |node: usize| Some(parents.get(node).copied().flatten()?.get());
    let starts = forward.iter().map(|link| link.entry.get());
    let circles = find_circles(parents.len(), starts, parent_of);
    let mut opened = Vec::new();
    for circle in circles {
        let Some(first) = EntryIx::new(circle.first(parent_of)) else {
            continue;
        };
        builder.entry(first).parent = None;
        // They were noted in the order of the file.
        let found = forward.binary_search_by_key(&first, |link| link.entry);
        opened.extend(found.ok().map(|i| (forward[i].at, ParentDamage::Circle)));
    }
    opened
}

/// An id for an entry of the first version, which has none: eight hexadecimal digits that follow
/// from its place among the values of the file. No two places have the same.
pub(crate) fn made_up_id(place: u32) -> String {
    format!("{:08x}", place.wrapping_mul(0x9E37_79B1))
}
