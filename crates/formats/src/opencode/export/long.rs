//! An export of which one message at a time is held in memory.

use std::fs::File;
use std::io::{self, Read as _};
use std::ops::Range;
use std::path::Path;

use rethread_json::LINE_CAP;

use super::super::facts::{SessionFacts, parsed};
use super::outline::{ExportOutline, Torn, count_newlines, facts_of_damaged};
use super::{INFO, MESSAGES};
use crate::error::unreadable_file;
use crate::mended::{DamagedValues, outline_of};
use crate::outline::gap_before;
use crate::{OpenError, Part};

/// An export that is too long to be held as a whole.
pub(in crate::opencode) struct Long {
    pub(super) part: Part,
    pub(in crate::opencode) outline: ExportOutline,
    /// What in it is damaged.
    pub(in crate::opencode) damaged: DamagedValues,
    /// Where its messages are.
    messages: Vec<Range<u64>>,
}

/// What is there of a message of a long export.
pub(in crate::opencode) enum LongMessage<'a> {
    /// Its bytes.
    Read(&'a [u8]),
    /// Nothing: it is longer than what we hold in memory.
    TooLong,
    /// Nothing: it is no JSON.
    Damaged,
}

impl Long {
    /// Goes through an export.
    pub(in crate::opencode) fn of(path: &Path, file: File, len: u64) -> Result<Self, OpenError> {
        let failed = |e| unreadable_file(path, e);
        let again = file.try_clone().map_err(failed)?;
        let part = Part::long_document(path.to_owned(), file, len);
        let (found, damaged) = outline_of(&part, &again, &[MESSAGES]).map_err(failed)?;
        let mut outline = ExportOutline::default();
        let mut bytes = Vec::new();
        for (key, place) in found.members {
            if key != INFO {
                continue;
            }
            let broken = damaged.first_within(&place);
            let place = broken.clone().unwrap_or(place);
            if place.end - place.start <= LINE_CAP as u64 {
                take(&part, &place, &mut bytes).map_err(failed)?;
                outline.facts = match broken {
                    // Its messages are a session, whatever else is lost.
                    Some(_) => Some(facts_of_damaged(&bytes)),
                    None => parsed(
                        bytes.get(gap_before(&bytes)..).unwrap_or_default(),
                        SessionFacts::of_info,
                    ),
                };
            }
        }
        if let Some((offset, why)) = found.fault {
            let line = 1 + lines(&part, offset).map_err(failed)?;
            outline.torn = Some(Torn { offset, line, why });
        }
        let (_, messages) = found.list.unwrap_or_default();
        Ok(Self {
            part,
            outline,
            damaged,
            messages,
        })
    }

    /// Goes through its messages: where each is, and what is there of it.
    pub(in crate::opencode) fn each(
        &self,
        mut message: impl FnMut(&Range<u64>, LongMessage<'_>),
    ) -> Result<(), OpenError> {
        let mut bytes = Vec::new();
        for place in &self.messages {
            if let Some(damaged) = self.damaged.first_within(place) {
                message(&(damaged.start..place.end), LongMessage::Damaged);
                continue;
            }
            if place.end - place.start > LINE_CAP as u64 {
                message(place, LongMessage::TooLong);
                continue;
            }
            self.read(place, &mut bytes)?;
            // The end of a damaged value may stand before it.
            self.damaged.mask(place.start, &mut bytes);
            // What is no object is only known with what stands before it.
            let before = gap_before(&bytes);
            let place = place.start + before as u64..place.end;
            let bytes = bytes.get(before..).unwrap_or_default();
            message(&place, LongMessage::Read(bytes));
        }
        Ok(())
    }

    /// Reads a message.
    pub(in crate::opencode) fn read(
        &self,
        place: &Range<u64>,
        bytes: &mut Vec<u8>,
    ) -> Result<(), OpenError> {
        take(&self.part, place, bytes).map_err(|e| unreadable_file(&self.part.path, e))
    }

    /// How long it is.
    pub(in crate::opencode) fn len(&self) -> u64 {
        self.part.len()
    }
}

/// Reads some bytes of a file in place of others.
fn take(part: &Part, place: &Range<u64>, bytes: &mut Vec<u8>) -> io::Result<()> {
    bytes.clear();
    part.range(place.clone()).read_to_end(bytes).map(drop)
}

/// How many lines end in the first bytes of a file.
fn lines(part: &Part, len: u64) -> io::Result<u64> {
    let mut reader = part.range(0..len);
    let mut bytes = vec![0; 64 * 1024];
    let mut lines = 0;
    loop {
        match reader.read(&mut bytes)? {
            0 => return Ok(lines),
            n => lines += count_newlines(bytes.get(..n).unwrap_or_default()),
        }
    }
}
