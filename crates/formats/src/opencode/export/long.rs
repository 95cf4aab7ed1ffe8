//! An export of which one message at a time is held in memory.

use std::fs::File;
use std::io::{self, Read as _};
use std::ops::Range;
use std::path::Path;

use rethread_json::LINE_CAP;

use super::super::facts::{Facts, parsed};
use super::outline::{Outline, Torn, newlines};
use super::{INFO, MESSAGES};
use crate::error::unreadable;
use crate::outline::{between, bytes_at, outline};
use crate::{OpenError, Part};

/// An export that is too long to be held as a whole.
pub(in crate::opencode) struct Long {
    pub(super) part: Part,
    pub(in crate::opencode) outline: Outline,
    /// Where its messages are.
    messages: Vec<Range<u64>>,
}

impl Long {
    /// Goes through an export.
    pub(in crate::opencode) fn of(path: &Path, file: File, len: u64) -> Result<Self, OpenError> {
        let failed = |e| unreadable(path, e);
        let part = Part::long_document(path.to_owned(), file, len);
        let found = outline(part.reader(), &[MESSAGES]).map_err(failed)?;
        let mut outline = Outline::default();
        let mut bytes = Vec::new();
        for (key, place) in found.members {
            if key == INFO && place.end - place.start <= LINE_CAP as u64 {
                take(&part, &place, &mut bytes).map_err(failed)?;
                let value = bytes.get(between(&bytes)..).unwrap_or_default();
                outline.facts = parsed(value, Facts::of_info);
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
            messages,
        })
    }

    /// All of it, if it is damaged and not too long to be held for once: then what stands behind the
    /// damage may be found.
    pub(in crate::opencode) fn damaged(&self, file: &File) -> Result<Option<Vec<u8>>, OpenError> {
        if !self.outline.is_torn() || self.len() > LINE_CAP as u64 {
            return Ok(None);
        }
        let bytes = bytes_at(file, 0..self.len());
        bytes.map(Some).map_err(|e| unreadable(&self.part.path, e))
    }

    /// Goes through its messages: where each is, and its bytes, if they are not too many.
    pub(in crate::opencode) fn each(
        &self,
        mut message: impl FnMut(&Range<u64>, Option<&[u8]>),
    ) -> Result<(), OpenError> {
        let mut bytes = Vec::new();
        for place in &self.messages {
            if place.end - place.start > LINE_CAP as u64 {
                message(place, None);
                continue;
            }
            self.read(place, &mut bytes)?;
            // What is no object is only known with what stands before it.
            let before = between(&bytes);
            let place = place.start + before as u64..place.end;
            message(&place, bytes.get(before..));
        }
        Ok(())
    }

    /// Reads a message.
    pub(in crate::opencode) fn read(
        &self,
        place: &Range<u64>,
        bytes: &mut Vec<u8>,
    ) -> Result<(), OpenError> {
        take(&self.part, place, bytes).map_err(|e| unreadable(&self.part.path, e))
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
            n => lines += newlines(bytes.get(..n).unwrap_or_default()),
        }
    }
}
