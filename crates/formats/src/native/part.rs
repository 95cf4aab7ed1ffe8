//! One file of a conversation, wherever its bytes are.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek as _, Write};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rethread_disk::{open_read, read_at, read_next};

use super::marks::{RecordKind, RecordTable};
use super::spool::Spooled;
use super::window::{Window, append_range};
use crate::LogWindow;

/// Of a log, a window of up to this length is held in memory.
const LONGEST_WINDOW: u64 = 16 * 1024 * 1024;

/// A log of up to this length is held in memory.
const SHORT: u64 = 4 * 1024 * 1024;

/// One file of a conversation, or a document in it.
#[derive(Debug)]
pub struct Part {
    /// The file.
    pub path: PathBuf,
    /// What it is.
    pub kind: PartKind,
    /// Whether it belongs to another session, which this one goes on from: read and never written.
    pub borrowed: bool,
    bytes: Backing,
    len: u64,
    /// The bytes of the file that are not meant; none of most parts.
    skipped: Range<u64>,
    marks: RecordTable,
    window: Mutex<Window>,
    /// What a record said that many entries come from: the one that was asked last.
    told: Mutex<Option<(u32, Arc<str>)>>,
}

/// Where a part's bytes are.
#[derive(Debug)]
pub(super) enum Backing {
    /// In a file that stays open, so that nobody can put another in its place.
    File(File),
    /// In a compressed file; its content lies unpacked in a nameless file.
    Packed { original: File, unpacked: File },
    /// In memory: a short log, or a document that had to be read whole.
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
    /// The rows of a table that belong to one session, each a line of JSON: an object of its
    /// columns.
    Rows {
        /// The table.
        table: &'static str,
    },
}

impl Part {
    /// A log over an open file that had this length when it was opened. A short one is read at
    /// once.
    pub fn lines(path: PathBuf, mut file: File, len: u64) -> Self {
        let bytes = (len <= SHORT).then(|| {
            let mut bytes = Vec::new();
            file.rewind().ok()?;
            read_next(&file, len, &mut bytes).ok()?;
            Some(Backing::Memory(bytes))
        });
        // What cannot be read now may still be told to those who ask for it.
        let bytes = bytes.flatten().unwrap_or(Backing::File(file));
        Self::new(path, PartKind::Lines, bytes, len)
    }

    /// As [`lines`](Self::lines), of which only the first line and what stands in a window are meant.
    /// What is in the window is held, so a long one is read as the whole log is.
    pub(crate) fn lines_in(window: Option<LogWindow>, path: PathBuf, file: File, len: u64) -> Self {
        let Some((bytes, skipped)) = window.and_then(|window| window_bytes(&file, len, window))
        else {
            return Self::lines(path, file, len);
        };
        let held = bytes.len() as u64;
        let mut part = Self::new(path, PartKind::Lines, Backing::Memory(bytes), held);
        part.skipped = skipped;
        part
    }

    /// Where a byte of the part stands in its file, of which only a window may be meant.
    pub fn file_offset(&self, at: u64) -> u64 {
        if at < self.skipped.start {
            at
        } else {
            at + (self.skipped.end - self.skipped.start)
        }
    }

    /// A log in a compressed file, and its content, unpacked, of this length. Records are those of
    /// the content; saving gives the file as it is.
    pub fn packed(path: PathBuf, original: File, unpacked: File, len: u64) -> Self {
        let bytes = Backing::Packed { original, unpacked };
        Self::new(path, PartKind::Lines, bytes, len)
    }

    /// A document that was read whole: one record.
    pub fn document(path: PathBuf, bytes: Vec<u8>) -> Self {
        let len = bytes.len() as u64;
        let mut part = Self::new(path, PartKind::Document, Backing::Memory(bytes), len);
        part.marks.add(0, RecordKind::Value);
        part
    }

    /// A document in an open file that had this length when it was opened, which is not held as a
    /// whole: its elements are records of their own.
    pub fn long_document(path: PathBuf, file: File, len: u64) -> Self {
        Self::new(path, PartKind::Document, Backing::File(file), len)
    }

    /// A file that was looked at and closed again: one record of this kind. Its bytes are read
    /// when somebody asks, so they may have changed since.
    pub fn closed(path: PathBuf, kind: PartKind, len: u64) -> Self {
        let mut part = Self::new(path, kind, Backing::Closed, len);
        part.marks.add(0, RecordKind::Value);
        part
    }

    /// A document that was read whole, and whose elements are records of their own.
    pub fn document_of(path: PathBuf, bytes: Vec<u8>, marks: RecordTable) -> Self {
        let len = bytes.len() as u64;
        Self::new(path, PartKind::Document, Backing::Memory(bytes), len).with_records(marks)
    }

    /// Rows of a table of a database, as they were at one moment. They are held in memory, or in a
    /// file of our own where there are many.
    pub fn rows(path: PathBuf, table: &'static str, rows: Spooled) -> Self {
        let Spooled { bytes, len, marks } = rows;
        Self::new(path, PartKind::Rows { table }, bytes, len).with_records(marks)
    }

    /// A part whose file is not there.
    pub fn missing(path: PathBuf, kind: PartKind) -> Self {
        Self::new(path, kind, Backing::Missing, 0)
    }

    fn new(path: PathBuf, kind: PartKind, bytes: Backing, len: u64) -> Self {
        Self {
            path,
            kind,
            borrowed: false,
            bytes,
            len,
            skipped: 0..0,
            marks: RecordTable::default(),
            window: Mutex::default(),
            told: Mutex::default(),
        }
    }

    /// The same part as one of another session, of which only the first bytes are meant.
    #[must_use]
    pub fn borrowed(mut self, len: u64) -> Self {
        self.borrowed = true;
        self.len = self.len.min(len);
        self
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
    pub fn with_records(mut self, marks: RecordTable) -> Self {
        self.marks = marks;
        self
    }

    /// How many records there are.
    pub fn record_count(&self) -> usize {
        self.marks.len()
    }

    /// The bytes of a record in the file.
    pub fn span(&self, record: u32) -> Option<Range<u64>> {
        let at = record as usize;
        let start = self.marks.record_start(at)?;
        let end = self.marks.record_start(at + 1).unwrap_or(self.len);
        Some(start..end)
    }

    /// What a record is.
    pub fn record_kind(&self, record: u32) -> Option<RecordKind> {
        self.marks.record_kind(record as usize)
    }

    /// Reads a record's bytes. Fewer come back when the file was cut meanwhile.
    pub fn read(&self, record: u32) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        match self.in_memory(record) {
            Some(there) => bytes.extend_from_slice(there),
            None => self.fetch_record(record, &mut bytes)?,
        }
        Ok(bytes)
    }

    /// A record's bytes, without a copy where they are in memory; else they are read into the
    /// buffer.
    pub fn view<'a>(&'a self, record: u32, buffer: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        if let Some(there) = self.in_memory(record) {
            return Ok(there);
        }
        buffer.clear();
        self.fetch_record(record, buffer)?;
        Ok(buffer)
    }

    /// All bytes, where they are in memory.
    pub fn held(&self) -> Option<&[u8]> {
        match &self.bytes {
            Backing::Memory(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// All bytes of the part, for somebody who has no more use for it, if they are in memory.
    pub(crate) fn into_held(self) -> Option<Vec<u8>> {
        match self.bytes {
            Backing::Memory(bytes) => Some(bytes),
            _ => None,
        }
    }

    fn in_memory(&self, record: u32) -> Option<&[u8]> {
        let bytes = self.held()?;
        let span = self.span(record).unwrap_or_default();
        let place = |at| usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
        bytes.get(place(span.start)..place(span.end))
    }

    /// Appends a record's bytes that are not in memory.
    fn fetch_record(&self, record: u32, out: &mut Vec<u8>) -> io::Result<()> {
        let Some(span) = self.span(record) else {
            return Ok(());
        };
        match &self.bytes {
            Backing::File(file) | Backing::Packed { unpacked: file, .. } => {
                lock_shared(&self.window).read_range(file, span, self.len, out)
            }
            Backing::Closed => append_range(&self.open_file()?, span, out),
            Backing::Memory(_) | Backing::Missing => Ok(()),
        }
    }

    /// All bytes of the part, without a copy where they are in memory.
    pub fn whole(&self) -> io::Result<Cow<'_, [u8]>> {
        if let Some(bytes) = self.held() {
            return Ok(Cow::Borrowed(bytes));
        }
        let mut bytes = Vec::new();
        self.reader().read_to_end(&mut bytes)?;
        Ok(Cow::Owned(bytes))
    }

    /// A reader over all bytes that the part had when it was opened.
    pub fn reader(&self) -> impl Read + '_ {
        self.range(0..self.len)
    }

    /// A reader over some of its bytes.
    pub(crate) fn range(&self, bytes: Range<u64>) -> impl Read + '_ {
        PartReader {
            part: self,
            file: None,
            at: bytes.start,
            end: bytes.end.min(self.len),
        }
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        match &self.bytes {
            Backing::File(file) | Backing::Packed { unpacked: file, .. } => {
                read_at(file, offset, buf)
            }
            Backing::Memory(bytes) => {
                let from = usize::try_from(offset).unwrap_or(usize::MAX);
                let mut rest = bytes.get(from..).unwrap_or_default();
                rest.read(buf)
            }
            Backing::Closed => read_at(&self.open_file()?, offset, buf),
            Backing::Missing => Ok(0),
        }
    }

    fn open_file(&self) -> io::Result<File> {
        open_read(&self.path).map_err(io::Error::other)
    }

    /// What [`Part::note_word`] was told of this record, if it was the last one.
    pub(super) fn noted_word(&self, record: u32) -> Option<Arc<str>> {
        let told = lock_shared(&self.told);
        let (known, word) = told.as_ref()?;
        (*known == record).then(|| word.clone())
    }

    /// Notes the one word that is wanted of a record.
    pub(super) fn note_word(&self, record: u32, word: &str) {
        *lock_shared(&self.told) = Some((record, word.into()));
    }

    /// Writes the part as it was read: the same bytes.
    pub(super) fn save(&self, out: &mut dyn Write) -> io::Result<u64> {
        let Backing::Packed { original, .. } = &self.bytes else {
            return io::copy(&mut self.reader(), out);
        };
        let mut buffer = vec![0; 64 * 1024];
        let mut at = 0;
        loop {
            match read_at(original, at, &mut buffer)? {
                0 => return Ok(at),
                n => {
                    out.write_all(&buffer[..n])?;
                    at += n as u64;
                }
            }
        }
    }
}

/// The longest first line that is read beside a window.
const LONGEST_FIRST: usize = 1024 * 1024;

/// The first line of a log with what stands in a window of it, and what lies between them; none where
/// the whole log is to be read.
fn window_bytes(file: &File, len: u64, window: LogWindow) -> Option<(Vec<u8>, Range<u64>)> {
    let mut bytes = vec![0; LONGEST_FIRST];
    let read = read_at(file, 0, &mut bytes).ok()?;
    bytes.truncate(memchr::memchr(b'\n', bytes.get(..read)?)? + 1);
    let first = bytes.len() as u64;
    if window.from <= first || len.checked_sub(window.from)? > LONGEST_WINDOW {
        return None;
    }
    let mut tail = Vec::new();
    // The line that ends before the place may end there.
    append_range(file, window.from - 1..len, &mut tail).ok()?;
    let line = memchr::memchr(b'\n', &tail)? + 1;
    bytes.extend_from_slice(tail.get(line..)?);
    Some((bytes, first..window.from - 1 + line as u64))
}

struct PartReader<'a> {
    part: &'a Part,
    /// A file that is open only while it is read.
    file: Option<File>,
    at: u64,
    end: u64,
}

impl Read for PartReader<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let left = self.end.saturating_sub(self.at);
        let want = usize::try_from(left).unwrap_or(usize::MAX).min(buf.len());
        if self.file.is_none() && matches!(self.part.bytes, Backing::Closed) {
            self.file = Some(self.part.open_file()?);
        }
        let n = match &self.file {
            Some(file) => read_at(file, self.at, &mut buf[..want])?,
            None => self.part.read_at(self.at, &mut buf[..want])?,
        };
        self.at += n as u64;
        Ok(n)
    }
}

/// A thread that panicked left nothing half done here.
fn lock_shared<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
