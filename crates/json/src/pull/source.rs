//! A buffered stream that can look a few bytes ahead.

use std::io::{self, Read};

const BUFFER: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct PullSource<R> {
    reader: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Offset of `start` in the stream.
    offset: u64,
}

impl<R: Read> PullSource<R> {
    pub(super) fn new(reader: R) -> Self {
        Self {
            reader,
            buffer: vec![0; BUFFER],
            start: 0,
            end: 0,
            offset: 0,
        }
    }

    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// What is at hand without reading.
    pub(super) fn at_hand(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    pub(super) fn consume(&mut self, count: usize) {
        self.start += count;
        self.offset += count as u64;
    }

    /// At least `count` bytes (a few), unless the stream ends before.
    pub(super) fn look_ahead(&mut self, count: usize) -> io::Result<&[u8]> {
        while self.end - self.start < count {
            if self.start > 0 {
                self.buffer.copy_within(self.start..self.end, 0);
                self.end -= self.start;
                self.start = 0;
            }
            match self.reader.read(&mut self.buffer[self.end..]) {
                Ok(0) => break,
                Ok(read) => self.end += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.at_hand())
    }

    pub(super) fn peek(&mut self) -> io::Result<Option<u8>> {
        if self.start == self.end {
            self.look_ahead(1)?;
        }
        Ok(self.at_hand().first().copied())
    }
}
