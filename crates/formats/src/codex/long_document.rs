//! A document of 2025 of which one item at a time is held in memory.

use std::fs::File;
use std::ops::Range;
use std::path::Path;

use rethread_json::{LINE_CAP, Tree, Value};
use rethread_model::Note;

use crate::error::unreadable_file;
use crate::mended::{DamagedValues, not_utf8_in, outline_of};
use crate::outline::{bytes_at, gap_before};
use crate::{OpenError, Part};

/// A document that is too long to be held as a whole.
pub(super) struct LongDocument {
    pub(super) part: Part,
    file: File,
    /// What it says of the session.
    session: Option<Range<u64>>,
    /// Where its items are.
    pub(super) items: Option<Vec<Range<u64>>>,
    damaged: DamagedValues,
}

impl LongDocument {
    /// Goes through a document.
    pub(super) fn of(path: &Path, file: File, len: u64) -> Result<Self, OpenError> {
        let failed = |e| unreadable_file(path, e);
        let again = file.try_clone().map_err(failed)?;
        let part = Part::long_document(path.to_owned(), again, len);
        let (found, damaged) = outline_of(&part, &file, &["items"]).map_err(failed)?;
        if let Some((offset, why)) = found.fault {
            return Err(OpenError::Damaged {
                path: path.to_owned(),
                line: None,
                why: format!("{why} at byte {offset}"),
            });
        }
        let mut members = found.members.into_iter();
        let session = members.find(|(key, _)| key == "session");
        Ok(Self {
            part,
            file,
            session: session.map(|(_, place)| place),
            items: found.list.map(|(_, items)| items),
            damaged,
        })
    }

    /// Gives what it says of the session to somebody.
    pub(super) fn session(&self, take: impl FnMut(Value<'_>)) -> Result<(), OpenError> {
        match &self.session {
            Some(place) => self.value_at(place, take).map(drop),
            None => Ok(()),
        }
    }

    /// Gives where each of its items stands, and the item, to somebody; none of one that is damaged or
    /// too long.
    pub(super) fn each_item(
        &self,
        mut take: impl FnMut(Range<u64>, Option<Value<'_>>),
    ) -> Result<(), OpenError> {
        for place in self.items.iter().flatten() {
            if let Some(damaged) = self.damaged.first_within(place) {
                take(damaged.start..place.end, None);
            } else if !self.value_at(place, |item| {
                let before = item.span().start as u64;
                take(place.start + before..place.end, Some(item));
            })? {
                take(place.clone(), None);
            }
        }
        Ok(())
    }

    /// Gives the value at a place to somebody; whether there is one that is not too long.
    fn value_at(
        &self,
        place: &Range<u64>,
        mut take: impl FnMut(Value<'_>),
    ) -> Result<bool, OpenError> {
        if place.end - place.start > LINE_CAP as u64 {
            return Ok(false);
        }
        let read = bytes_at(&self.file, place.clone());
        let mut bytes = read.map_err(|e| unreadable_file(&self.part.path, e))?;
        self.damaged.mask(place.start, &mut bytes);
        let mut tree = Tree::default();
        let start = gap_before(&bytes);
        let is_value = tree.parse_prefix(&bytes, start).is_ok();
        if is_value {
            take(tree.root(&bytes));
        }
        Ok(is_value)
    }

    /// What is wrong with it.
    pub(super) fn notes(&self, path: &Path) -> Result<Vec<Note>, OpenError> {
        let mut notes = self.damaged.notes.clone();
        for place in self.items.iter().flatten() {
            let len = place.end - place.start;
            if len > LINE_CAP as u64 {
                let what = format!("an item of {len} bytes, too long to be shown");
                notes.push(Note::damage(what).at(path).offset(place.start));
            }
        }
        let not_utf8 = not_utf8_in(path, self.part.reader());
        notes.extend(not_utf8.map_err(|e| unreadable_file(path, e))?);
        Ok(notes)
    }
}
