//! Giving an entry its place in the tree while a file is read.

use rethread_model::{EntryIx, Kind, NewEntry, Visibility};

use super::header::Header;
use super::kinds::{EntryHead, Parent};
use super::links::made_up_id;
use super::read::Reader;
use crate::RecordKind;
use crate::kit::LogLine;

impl Reader<'_> {
    /// Adds an entry; `number` is its place among the values of the file.
    pub(super) fn entry(
        &mut self,
        line: &LogLine<'_>,
        kind: RecordKind,
        head: EntryHead,
        number: u32,
    ) {
        let Some(raw) = self.records.add(line.at, kind) else {
            return;
        };
        let linear = self.header.as_ref().is_some_and(Header::is_linear);
        let id = match head.id {
            Some(id) => id,
            None if linear => made_up_id(number),
            None => String::new(),
        };
        let origin = [raw];
        let parent = self.parent(&id, head.parent, linear);
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
    fn parent(&self, id: &str, said: Parent, linear: bool) -> Result<Option<EntryIx>, String> {
        if said == Parent::Unsaid && linear {
            return Ok(self.links.last());
        }
        let known = match &said {
            // Its own id is no parent, also where another entry has it.
            Parent::Id(parent) if parent == id => None,
            said => self.links.parent(said),
        };
        match (known, said) {
            (Some(parent), _) => Ok(Some(parent)),
            (None, Parent::Id(parent)) => {
                let header = self.header.as_ref();
                if header.is_some_and(|h| h.id == parent) {
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
