//! Finding lines in a stream. Lines end at `\n` alone; a `\r` before it is part
//! of the line, and white space to JSON.

use std::io::{self, Read};

use memchr::memchr;

/// The longest line that is held in memory as a whole.
pub const LINE_CAP: usize = 64 * 1024 * 1024;

/// How much is read at a time; of a stream that soon ends, less. Both it and
/// what it is copied from fit into a core's own cache: of four times as much,
/// reading and scanning took twice as long.
const BUFFER: usize = 64 * 1024;
const FIRST_BUFFER: usize = 16 * 1024;

/// A buffer that became longer than this for a long line is given back.
const KEPT_BUFFER: usize = 1024 * 1024;

/// How much of a longer line is kept to look at.
const HEAD: usize = 64 * 1024;

/// Where a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineSpan {
    /// Offset of its first byte.
    pub offset: u64,
    /// Length without the newline.
    pub len: u64,
    /// Whether a newline follows; only the last line may lack it.
    pub terminated: bool,
    /// Its number, from 1.
    pub number: u64,
}

/// One line of a stream.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// Where it is.
    pub span: LineSpan,
    /// What it says.
    pub bytes: LineBytes<'a>,
}

/// The bytes of a line, without the newline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineBytes<'a> {
    /// All of them.
    Whole(&'a [u8]),
    /// The line is longer than the cap; the rest was passed over.
    Giant {
        /// Its beginning.
        head: &'a [u8],
    },
}

impl<'a> Line<'a> {
    /// All bytes of the line, unless it is longer than the cap.
    pub fn whole(&self) -> Option<&'a [u8]> {
        match self.bytes {
            LineBytes::Whole(bytes) => Some(bytes),
            LineBytes::Giant { .. } => None,
        }
    }

    /// The bytes at hand: all of them, or the beginning of a giant line.
    pub fn head(&self) -> &'a [u8] {
        match self.bytes {
            LineBytes::Whole(bytes) | LineBytes::Giant { head: bytes } => bytes,
        }
    }
}

/// The lines of a stream, one after the other, in memory of at most the cap.
///
/// ```
/// let mut lines = rethread_json::Lines::new(&b"{}\n[]"[..]);
/// while let Some(line) = lines.next_line()? {
///     println!("{}: {:?}", line.span.number, line.whole());
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Lines<R> {
    reader: R,
    cap: usize,
    buffer: Vec<u8>,
    /// The part of the buffer that is not used up.
    start: usize,
    end: usize,
    /// Up to here there is no newline.
    scanned: usize,
    /// Offset and number of the line at `start`.
    offset: u64,
    number: u64,
    /// How much of a giant line was passed over, and its beginning.
    passed: Option<u64>,
    head: Vec<u8>,
    /// Whether the end was met.
    is_over: bool,
}

impl<R: Read> Lines<R> {
    /// Reads lines of up to [`LINE_CAP`].
    pub fn new(reader: R) -> Self {
        Self::with_cap(reader, LINE_CAP)
    }

    /// Reads lines of up to `cap` bytes whole; of longer ones only the head.
    pub fn with_cap(reader: R, cap: usize) -> Self {
        Self {
            reader,
            cap,
            buffer: vec![0; FIRST_BUFFER.min(cap.saturating_add(1))],
            start: 0,
            end: 0,
            scanned: 0,
            offset: 0,
            number: 1,
            passed: None,
            head: Vec::new(),
            is_over: false,
        }
    }

    /// Reads on from the middle of a file: the reader stands at `offset`, where
    /// line `number` begins.
    pub fn starting_at(reader: R, offset: u64, number: u64) -> Self {
        Self {
            offset,
            number,
            ..Self::new(reader)
        }
    }

    /// Offset at which the next line begins.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The next line, or none at the end. After an error it can be called again
    /// and goes on where the reader does. The first end that is met is the end:
    /// what is written to a file meanwhile is not taken for a line of its own
    /// behind one that was given without its newline.
    pub fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        if self.is_over {
            return Ok(None);
        }
        loop {
            if let Some(found) = memchr(b'\n', &self.buffer[self.scanned..self.end]) {
                return Ok(Some(self.take_line(self.scanned + found, true)));
            }
            self.scanned = self.end;
            if self.passed.is_some() || self.end - self.start > self.cap {
                self.pass_over();
            }
            if self.fill_buffer()? == 0 {
                self.is_over = true;
                if self.start == self.end && self.passed.is_none() {
                    return Ok(None);
                }
                return Ok(Some(self.take_line(self.end, false)));
            }
        }
    }

    /// The line that begins at `start`, or before it, and ends at `stop`.
    fn take_line(&mut self, stop: usize, terminated: bool) -> Line<'_> {
        let bytes = self.start..stop;
        let passed = self.passed.take();
        let span = LineSpan {
            offset: self.offset,
            len: passed.unwrap_or(0) + bytes.len() as u64,
            terminated,
            number: self.number,
        };
        self.start = stop + usize::from(terminated);
        self.scanned = self.start;
        self.offset += span.len + u64::from(terminated);
        self.number += 1;
        let bytes = if passed.is_some() {
            LineBytes::Giant { head: &self.head }
        } else if bytes.len() > self.cap {
            let head = &self.buffer[bytes];
            LineBytes::Giant {
                head: &head[..head.len().min(HEAD).min(self.cap)],
            }
        } else {
            LineBytes::Whole(&self.buffer[bytes])
        };
        Line { span, bytes }
    }

    /// Forgets what the buffer holds of a giant line, except its head.
    fn pass_over(&mut self) {
        let bytes = &self.buffer[self.start..self.end];
        if self.passed.is_none() {
            self.head.clear();
            let head = bytes.len().min(HEAD).min(self.cap);
            self.head.extend_from_slice(&bytes[..head]);
        }
        self.passed = Some(self.passed.unwrap_or(0) + bytes.len() as u64);
        (self.start, self.end, self.scanned) = (0, 0, 0);
    }

    /// Reads more, making room first where there is none.
    fn fill_buffer(&mut self) -> io::Result<usize> {
        if self.end == self.buffer.len() {
            self.make_room();
        } else if self.start == self.end {
            (self.start, self.end, self.scanned) = (0, 0, 0);
        }
        loop {
            match self.reader.read(&mut self.buffer[self.end..]) {
                Ok(count) => {
                    self.end += count;
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn make_room(&mut self) {
        let most = self.cap.saturating_add(1);
        if self.start == 0 {
            let size = self.buffer.len().saturating_mul(2).min(most);
            // No more than that: to grow by one byte would double it.
            let more = size.saturating_sub(self.buffer.len());
            self.buffer.reserve_exact(more);
            self.buffer.resize(size, 0);
            return;
        }
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.scanned -= self.start;
        self.start = 0;
        if self.buffer.len() < BUFFER {
            self.buffer.resize(BUFFER.min(most), 0);
        }
        if self.buffer.len() > KEPT_BUFFER && self.end < BUFFER / 2 {
            self.buffer.truncate(BUFFER);
            self.buffer.shrink_to_fit();
        }
    }
}

/// The lines of a text that is in memory.
///
/// ```
/// let lines: Vec<_> = rethread_json::split_lines(b"a\r\n\nb").map(|(_, line)| line).collect();
/// assert_eq!(lines, [&b"a\r"[..], b"", b"b"]);
/// ```
pub fn split_lines(bytes: &[u8]) -> impl Iterator<Item = (LineSpan, &[u8])> {
    let mut offset = 0;
    let mut number = 0;
    std::iter::from_fn(move || {
        let rest = bytes.get(offset..).filter(|rest| !rest.is_empty())?;
        let newline = memchr(b'\n', rest);
        let line = &rest[..newline.unwrap_or(rest.len())];
        number += 1;
        let span = LineSpan {
            offset: offset as u64,
            len: line.len() as u64,
            terminated: newline.is_some(),
            number,
        };
        offset += line.len() + 1;
        Some((span, line))
    })
}
