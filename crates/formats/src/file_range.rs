//! Reading a part of a file.

use std::fs::File;
use std::io::{self, Read};

/// A reader over a range of a file, which does not move the file's own position.
pub(crate) struct FileRange<'a> {
    pub(crate) file: &'a File,
    pub(crate) at: u64,
    pub(crate) end: u64,
}

impl Read for FileRange<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let want = left.min(buf.len());
        let n = rethread_disk::read_at(self.file, self.at, &mut buf[..want])?;
        self.at += n as u64;
        Ok(n)
    }
}
