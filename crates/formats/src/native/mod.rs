//! The records of one conversation exactly as its agent wrote them, over the original bytes.
//!
//! A part's records tile it: together they are every byte. Saving an untouched part copies it.

mod marks;
mod part;
mod spool;
mod window;

use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

use rethread_model::RawRef;

pub use marks::{RecordKind, RecordTable};
pub use part::{Part, PartKind};
pub use spool::{Spool, Spooled};

/// The records of one conversation, over the original bytes.
#[derive(Debug, Default)]
pub struct Native {
    /// Its parts.
    pub parts: Vec<Part>,
}

impl Native {
    /// The bytes of a record.
    pub fn read(&self, raw: RawRef) -> io::Result<Vec<u8>> {
        self.part_at(raw.part)
            .map_or_else(|| Ok(Vec::new()), |p| p.read(raw.record))
    }

    /// Gives the bytes of a record to somebody, however many there are.
    pub fn copy(&self, raw: RawRef, out: &mut dyn Write) -> io::Result<()> {
        let Some((part, span)) = self.part_at(raw.part).zip(self.span(raw)) else {
            return Ok(());
        };
        io::copy(&mut part.range(span), out).map(drop)
    }

    /// The bytes of a record, without a copy where they are in memory; else they are read into the
    /// buffer.
    pub fn view<'a>(&'a self, raw: RawRef, buffer: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        match self.part_at(raw.part) {
            Some(part) => part.view(raw.record, buffer),
            None => Ok(&[]),
        }
    }

    /// What [`Native::tell`] was told of this record, if it was the last one of its part.
    pub(crate) fn noted_word(&self, raw: RawRef) -> Option<Arc<str>> {
        self.part_at(raw.part)?.noted_word(raw.record)
    }

    /// Notes the one word that is wanted of a record from which many entries come, so that it is
    /// not parsed for each.
    pub(crate) fn note_word(&self, raw: RawRef, word: &str) {
        if let Some(part) = self.part_at(raw.part) {
            part.note_word(raw.record, word);
        }
    }

    /// What a record is.
    pub fn record_kind(&self, raw: RawRef) -> Option<RecordKind> {
        self.part_at(raw.part)?.record_kind(raw.record)
    }

    /// What the part of a record is.
    pub fn part_kind(&self, raw: RawRef) -> Option<PartKind> {
        Some(self.part_at(raw.part)?.kind)
    }

    /// Where a record is.
    pub fn span(&self, raw: RawRef) -> Option<Range<u64>> {
        self.part_at(raw.part)?.span(raw.record)
    }

    /// Writes a part as it was read: the same bytes.
    pub fn save(&self, part: u32, out: &mut dyn Write) -> io::Result<u64> {
        self.part_at(part).map_or(Ok(0), |p| p.save(out))
    }

    /// Writes all parts, one behind the other.
    pub fn save_all(&self, out: &mut dyn Write) -> io::Result<()> {
        self.parts
            .iter()
            .try_for_each(|part| part.save(out).map(drop))
    }

    fn part_at(&self, part: u32) -> Option<&Part> {
        self.parts.get(part as usize)
    }
}
