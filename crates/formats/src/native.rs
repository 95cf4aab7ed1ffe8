//! The records of one conversation exactly as its agent wrote them, over the original bytes.
//!
//! A part's records tile it: together they are every byte. Saving an untouched part copies it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::PathBuf;

use rethread_disk::{open_read, read_at};
use rethread_model::RawRef;

/// What a record of a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RecordKind {
    /// One JSON value, with its line break where it has one.
    Value = 0,
    /// Nothing but white space.
    Blank = 1,
    /// Bytes that are no JSON value.
    Junk = 2,
    /// A last line that somebody did not finish.
    Torn = 3,
    /// A line too long to be held in memory.
    Giant = 4,
    /// What stands around the items of a list that are records of their own.
    Frame = 5,
}

impl RecordKind {
    fn from_bits(bits: u64) -> Self {
        match bits {
            0 => Self::Value,
            1 => Self::Blank,
            2 => Self::Junk,
            3 => Self::Torn,
            4 => Self::Giant,
            _ => Self::Frame,
        }
    }
}

/// Where records begin and what they are, in eight bytes each.
#[derive(Debug, Default)]
pub struct Marks(Vec<u64>);

impl Marks {
    /// Notes that a record begins at this byte, and gives its number. Records come in order, the
    /// first at byte 0. `None` beyond four thousand million records.
    pub fn add(&mut self, start: u64, kind: RecordKind) -> Option<u32> {
        let record = u32::try_from(self.0.len()).ok()?;
        self.0.push((start << KIND_BITS) | kind as u64);
        Some(record)
    }

    fn start(&self, at: usize) -> Option<u64> {
        self.0.get(at).map(|mark| mark >> KIND_BITS)
    }
}

const KIND_BITS: u32 = 3;

/// One file of a conversation, or a document in it.
#[derive(Debug)]
pub struct Part {
    /// The file.
    pub path: PathBuf,
    /// What it is.
    pub kind: PartKind,
    bytes: Backing,
    len: u64,
    marks: Marks,
}

/// Where a part's bytes are.
#[derive(Debug)]
enum Backing {
    /// In a file that stays open, so that nobody can put another in its place.
    File(File),
    /// In memory: a document that had to be read whole.
    Memory(Vec<u8>),
    /// In a file that is opened when somebody asks: a session of thousands of files cannot keep
    /// them all open.
    Closed,
    /// Nowhere.
    Missing,
}

/// What a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// A log of JSON lines.
    Lines,
    /// One JSON document.
    Document,
    /// A file that is not interpreted.
    Opaque,
}

impl Part {
    /// A log over an open file that had this length when it was opened.
    pub fn lines(path: PathBuf, file: File, len: u64) -> Self {
        Self::new(path, PartKind::Lines, Backing::File(file), len)
    }

    /// A document that was read whole: one record.
    pub fn document(path: PathBuf, bytes: Vec<u8>) -> Self {
        let len = bytes.len() as u64;
        let mut part = Self::new(path, PartKind::Document, Backing::Memory(bytes), len);
        part.marks.add(0, RecordKind::Value);
        part
    }

    /// A file that was looked at and closed again: one record of this kind. Its bytes are read
    /// when somebody asks, so they may have changed since.
    pub fn closed(path: PathBuf, kind: PartKind, len: u64) -> Self {
        let mut part = Self::new(path, kind, Backing::Closed, len);
        part.marks.add(0, RecordKind::Value);
        part
    }

    /// A part whose file is not there.
    pub fn missing(path: PathBuf, kind: PartKind) -> Self {
        Self::new(path, kind, Backing::Missing, 0)
    }

    fn new(path: PathBuf, kind: PartKind, bytes: Backing, len: u64) -> Self {
        Self {
            path,
            kind,
            bytes,
            len,
            marks: Marks::default(),
        }
    }

    /// Whether the file is there.
    pub fn is_present(&self) -> bool {
        !matches!(self.bytes, Backing::Missing)
    }

    /// The length that the file had when it was opened.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Sets where the records begin, once they are known.
    #[must_use]
    pub fn with_records(mut self, marks: Marks) -> Self {
        self.marks = marks;
        self
    }

    /// How many records there are.
    pub fn record_count(&self) -> usize {
        self.marks.0.len()
    }

    /// The bytes of a record in the file.
    pub fn span(&self, record: u32) -> Option<Range<u64>> {
        let at = record as usize;
        let start = self.marks.start(at)?;
        let end = self.marks.start(at + 1).unwrap_or(self.len);
        Some(start..end)
    }

    /// What a record is.
    pub fn record_kind(&self, record: u32) -> Option<RecordKind> {
        let mark = self.marks.0.get(record as usize)?;
        Some(RecordKind::from_bits(mark & ((1 << KIND_BITS) - 1)))
    }

    /// Reads a record's bytes. Fewer come back when the file was cut meanwhile.
    pub fn read(&self, record: u32) -> io::Result<Vec<u8>> {
        let Some(span) = self.span(record) else {
            return Ok(Vec::new());
        };
        let len = usize::try_from(span.end.saturating_sub(span.start)).map_err(io::Error::other)?;
        let mut bytes = vec![0; len];
        let n = self.read_at(span.start, &mut bytes)?;
        bytes.truncate(n);
        Ok(bytes)
    }

    /// A reader over all bytes that the part had when it was opened.
    pub fn reader(&self) -> impl Read + '_ {
        PartReader {
            part: self,
            file: None,
            at: 0,
        }
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        match &self.bytes {
            Backing::File(file) => read_at(file, offset, buf),
            Backing::Memory(bytes) => {
                let from = usize::try_from(offset).unwrap_or(usize::MAX);
                let mut rest = bytes.get(from..).unwrap_or_default();
                rest.read(buf)
            }
            Backing::Closed => read_at(&self.open()?, offset, buf),
            Backing::Missing => Ok(0),
        }
    }

    fn open(&self) -> io::Result<File> {
        open_read(&self.path).map_err(io::Error::other)
    }
}

struct PartReader<'a> {
    part: &'a Part,
    /// A file that is open only while it is read.
    file: Option<File>,
    at: u64,
}

impl Read for PartReader<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let left = self.part.len.saturating_sub(self.at);
        let want = usize::try_from(left).unwrap_or(usize::MAX).min(buf.len());
        if self.file.is_none() && matches!(self.part.bytes, Backing::Closed) {
            self.file = Some(self.part.open()?);
        }
        let n = match &self.file {
            Some(file) => read_at(file, self.at, &mut buf[..want])?,
            None => self.part.read_at(self.at, &mut buf[..want])?,
        };
        self.at += n as u64;
        Ok(n)
    }
}

/// The records of one conversation, over the original bytes.
#[derive(Debug, Default)]
pub struct Native {
    /// Its parts.
    pub parts: Vec<Part>,
}

impl Native {
    /// The bytes of a record.
    pub fn read(&self, raw: RawRef) -> io::Result<Vec<u8>> {
        self.part(raw.part)
            .map_or_else(|| Ok(Vec::new()), |p| p.read(raw.record))
    }

    /// What a record is.
    pub fn record_kind(&self, raw: RawRef) -> Option<RecordKind> {
        self.part(raw.part)?.record_kind(raw.record)
    }

    /// What the part of a record is.
    pub fn part_kind(&self, raw: RawRef) -> Option<PartKind> {
        Some(self.part(raw.part)?.kind)
    }

    /// Where a record is.
    pub fn span(&self, raw: RawRef) -> Option<Range<u64>> {
        self.part(raw.part)?.span(raw.record)
    }

    /// Writes a part as it was read: the same bytes.
    pub fn save(&self, part: u32, out: &mut dyn Write) -> io::Result<u64> {
        self.part(part)
            .map_or(Ok(0), |p| io::copy(&mut p.reader(), out))
    }

    fn part(&self, part: u32) -> Option<&Part> {
        self.parts.get(part as usize)
    }
}
