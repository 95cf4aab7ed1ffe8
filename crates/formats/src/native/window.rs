//! Reading records of a file one after the other, without asking the system for each.

use std::fs::File;
use std::io;
use std::ops::Range;

use rethread_disk::read_at;

/// How much is read at a time.
const SIZE: u64 = 64 * 1024;

/// The bytes of a file that were read ahead. Who reads a record mostly reads the next one then.
#[derive(Debug, Default)]
pub(crate) struct Window {
    start: u64,
    bytes: Vec<u8>,
}

impl Window {
    /// Appends the bytes at a place of a file that has this length; fewer when it was cut meanwhile.
    pub(crate) fn read_range(
        &mut self,
        file: &File,
        place: Range<u64>,
        len: u64,
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        if let Some(bytes) = self.held_bytes(&place) {
            out.extend_from_slice(bytes);
            return Ok(());
        }
        let end = self.start + self.bytes.len() as u64;
        let is_next = (self.start..=end + SIZE).contains(&place.start);
        if is_next && place.end.saturating_sub(place.start) <= SIZE / 2 {
            self.fill_from(file, place.start..len.min(place.start + SIZE))?;
            let there = self.start..place.end.min(self.start + self.bytes.len() as u64);
            out.extend_from_slice(self.held_bytes(&there).unwrap_or_default());
            return Ok(());
        }
        if place.start > end {
            // Somebody begins further behind, and perhaps goes on from there.
            self.bytes.clear();
            self.start = place.end;
        }
        append_range(file, place, out)
    }

    /// The bytes at a place, if all of them are here.
    fn held_bytes(&self, place: &Range<u64>) -> Option<&[u8]> {
        let from = |at: u64| usize::try_from(at.checked_sub(self.start)?).ok();
        self.bytes.get(from(place.start)?..from(place.end)?)
    }

    fn fill_from(&mut self, file: &File, place: Range<u64>) -> io::Result<()> {
        self.start = place.start;
        self.bytes.clear();
        append_range(file, place, &mut self.bytes)
    }
}

/// Appends the bytes at a place of a file; fewer when it was cut meanwhile.
pub(crate) fn append_range(file: &File, place: Range<u64>, out: &mut Vec<u8>) -> io::Result<()> {
    let len = usize::try_from(place.end.saturating_sub(place.start));
    let before = out.len();
    out.resize(before + len.map_err(io::Error::other)?, 0);
    let read = read_at(file, place.start, &mut out[before..]);
    out.truncate(before + *read.as_ref().unwrap_or(&0));
    read.map(drop)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// In whatever order records are read, they are what stands in the file.
        #[test]
        fn records_are_what_the_file_holds(
            places in proptest::collection::vec((0_u64..400_000, 0_u64..50_000), 1..40),
        ) {
            let bytes: Vec<u8> = (0..300_000_u32).flat_map(u32::to_le_bytes).take(300_000).collect();
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&bytes).unwrap();
            let mut window = Window::default();
            for (start, len) in places {
                let mut out = vec![7];
                let end = start + len;
                window.read_range(&file, start..end, bytes.len() as u64, &mut out).unwrap();
                let from = bytes.len().min(usize::try_from(start).unwrap());
                let to = bytes.len().min(usize::try_from(end).unwrap());
                prop_assert_eq!(&out[1..], &bytes[from..to]);
            }
        }
    }
}
