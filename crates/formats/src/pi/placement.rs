//! Giving an entry its place in the tree while a file is read.

use std::path::Path;

use rethread_model::{EntryIx, Kind, NewEntry, SessionBuilder, Visibility};

use super::header::HeaderFacts;
use super::kinds::{EntryHead, ParentLink};
use super::links::{EntryLinks, made_up_id};
use super::reader::LOG_PART;
use crate::RecordKind;
use crate::kit::{LogLine, LogRecords};

/// The tree of a session that is read as a whole.
pub(super) struct EntryTree<'p> {
    pub(super) records: LogRecords<'p>,
    pub(super) builder: SessionBuilder,
    pub(super) links: EntryLinks,
    /// How many values were met that stand on a line of their own: the first version names entries
    /// by this number.
    values: u32,
    /// How many values were saved from damaged lines.
    salvaged: u32,
    /// A giant entry whose id lies beyond what is held of it.
    nameless: Option<EntryIx>,
}

impl<'p> EntryTree<'p> {
    /// The tree of a session of which nothing was read.
    pub(super) fn new(path: &'p Path) -> Self {
        Self {
            records: LogRecords::new(path, LOG_PART),
            builder: SessionBuilder::default(),
            links: EntryLinks::default(),
            values: 0,
            salvaged: 0,
            nameless: None,
        }
    }

    /// Counts a value behind the header; its number among the values of the file.
    pub(super) fn count_value(&mut self, line: &LogLine<'_>) -> u32 {
        if line.is_salvaged {
            self.salvaged = self.salvaged.saturating_add(1);
            // Others do not see these, so they are counted from the other end.
            u32::MAX - self.salvaged
        } else {
            self.values = self.values.saturating_add(1);
            self.values
        }
    }

    /// Adds an entry; `number` is its place among the values of the file.
    pub(super) fn add_entry(
        &mut self,
        line: &LogLine<'_>,
        kind: RecordKind,
        head: EntryHead,
        number: u32,
        header: &HeaderFacts,
    ) {
        let Some(raw) = self.records.add(line.at, kind) else {
            return;
        };
        let linear = header.is_linear();
        let id = match head.id {
            Some(id) => id,
            None if linear => made_up_id(number),
            None => String::new(),
        };
        let origin = [raw];
        let parent = self.parent(&id, head.parent, header);
        let added = self.builder.add(&NewEntry {
            id: &id,
            parent: parent.as_ref().ok().copied().flatten(),
            kind: head.kind.unwrap_or(Kind::Unknown),
            time: head.time,
            visibility: head.visibility,
            origin: &origin,
        });
        let Some(ix) = added else {
            self.records.unclaimed.push(raw);
            return;
        };
        if let Err(missing) = parent {
            self.links.wait(ix, &id, missing, line.value_pos());
        }
        if self.links.add(ix, &id) {
            let message = format!("the id `{id}` was there before; both are kept");
            self.records.note_remark(line.value_pos(), message);
        }
        if kind == RecordKind::Giant && id.is_empty() {
            self.nameless = Some(ix);
        }
        if head.has_usage {
            self.builder.add_beside(&NewEntry {
                id: "",
                parent: None,
                kind: Kind::Usage,
                time: head.time,
                visibility: Visibility::Visible,
                origin: &origin,
            });
        }
    }

    /// The parent of an entry, or the id of one that was not met yet.
    fn parent(
        &self,
        id: &str,
        said: ParentLink,
        header: &HeaderFacts,
    ) -> Result<Option<EntryIx>, String> {
        if said == ParentLink::Unsaid && header.is_linear() {
            return Ok(self.links.last());
        }
        let known = match &said {
            // Its own id is no parent, also where another entry has it.
            ParentLink::Id(parent) if parent == id => None,
            said => self.links.parent(said),
        };
        match (known, said) {
            (Some(parent), _) => Ok(Some(parent)),
            (None, ParentLink::Id(parent)) => {
                if header.id == parent {
                    return Ok(None);
                }
                // A giant entry can hide its id from us, but not from its child.
                match self.nameless {
                    Some(ix) if self.links.last() == Some(ix) => Ok(Some(ix)),
                    _ => Err(parent),
                }
            }
            (None, _) => Ok(None),
        }
    }
}
