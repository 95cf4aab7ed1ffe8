//! Chats of older versions, checkpoints and the log of prompts: one JSON document each, in which
//! every message is a record.

use std::fs::File;
use std::ops::Range;

use rethread_disk::read_next;
use rethread_json::{LINE_CAP, Skim, Strayed, Tree};
use rethread_model::Note;

use super::message::FoundMessage;
use super::meta::LogMeta;
use super::replay::Replay;
use super::scan::{MAIN_PART, MARK, Scan, new_skim};
use super::sniff::{kind_of_list, set_meta};
use crate::error::unreadable_file;
use crate::kit::LogRecords;
use crate::kit::ScanDepth;
use crate::mended::{Readable, not_utf8, not_utf8_in, outline_of};
use crate::outline::{WHOLE, bytes_at};
use crate::{OpenError, Part, RecordKind, RecordTable, buffer};

/// The keys of lists whose items are messages.
pub(super) const LISTS: [&str; 2] = ["messages", "history"];

impl Scan<'_> {
    /// Reads a document.
    pub(super) fn document(&mut self, file: &File, len: u64) -> Result<Part, OpenError> {
        let failed = |e| unreadable_file(self.path, e);
        let path = self.path.to_owned();
        // In a document no message replaces another; ids tell only whose tokens are counted.
        self.heads.with_ids = self.look.with_usage();
        if len <= WHOLE {
            let mut bytes = match self.look {
                ScanDepth::Whole => Vec::new(),
                ScanDepth::Usage | ScanDepth::Quick => buffer::take_buffer(),
            };
            read_next(file, len, &mut bytes).map_err(failed)?;
            let mut is_read = self.whole(&bytes).is_ok();
            if !is_read {
                self.forget();
                is_read = self.mended(&bytes);
            }
            if is_read {
                if bytes.starts_with(MARK) {
                    self.has_mark();
                }
                if self.look == ScanDepth::Whole {
                    self.records.notes.extend(not_utf8(self.path, &bytes));
                }
                return Ok(Part::document_of(path, bytes, RecordTable::default()));
            }
            self.forget();
        }
        let again = file.try_clone().map_err(failed)?;
        let part = Part::long_document(path, again, len);
        self.pieces(&part, file)?;
        if self.look == ScanDepth::Whole {
            let not_utf8 = not_utf8_in(self.path, part.reader()).map_err(failed)?;
            self.records.notes.extend(not_utf8);
        }
        if bytes_at(file, 0..3).is_ok_and(|start| start == MARK) {
            self.has_mark();
        }
        Ok(part)
    }

    /// Takes a damaged document into account, but for the values that are damaged; whether that
    /// could be done.
    fn mended(&mut self, bytes: &[u8]) -> bool {
        let Some(readable) = Readable::of(self.path, bytes, &LISTS) else {
            return false;
        };
        let is_read = self.whole(readable.bytes()).is_ok();
        let is_damaged = |offset: u64| {
            let offset = usize::try_from(offset);
            offset.is_ok_and(|offset| readable.is_damaged(offset))
        };
        // Of those it is told what is wrong, not what stands in their place.
        self.records
            .notes
            .retain(|note| !note.offset.is_some_and(is_damaged));
        self.records.notes.extend_from_slice(readable.notes());
        is_read
    }

    /// Takes a document into account that is held as a whole.
    fn whole(&mut self, bytes: &[u8]) -> Result<(), Strayed> {
        let mut skim = new_skim(self.look, bytes);
        let mut list = List::default();
        match skim.peek() {
            Some(b'[') => self.list_of(&mut skim, &mut list)?,
            Some(b'{') => self.members(&mut skim, &mut list)?,
            _ => drop(skim.pass()?),
        }
        if !skim.is_done() {
            return Err(Strayed);
        }
        for item in list.first {
            self.what_it_is(&list.key, bytes.get(item));
        }
        self.what_it_is(&list.key, None);
        let around = match list.end {
            0 => RecordKind::Value,
            _ => RecordKind::Frame,
        };
        if list.end < bytes.len() {
            self.records.add_unclaimed(list.end as u64, around);
        }
        Ok(())
    }

    fn members(&mut self, skim: &mut Skim<'_>, list: &mut List) -> Result<(), Strayed> {
        let mut has_list = false;
        skim.enter_object();
        while let Some(key) = skim.next_key()? {
            let key = key.text();
            if !has_list && LISTS.contains(&&*key) && skim.peek() == Some(b'[') {
                has_list = true;
                list.key = key.into_owned();
                self.list_of(skim, list)?;
            } else {
                set_meta(&mut self.meta, &key, skim.pass()?.raw());
            }
        }
        Ok(())
    }

    fn list_of(&mut self, skim: &mut Skim<'_>, list: &mut List) -> Result<(), Strayed> {
        skim.enter_array();
        while skim.next_item()? {
            let start = skim.offset();
            let message = if skim.peek() == Some(b'{') {
                Some(self.heads.see(skim)?.message)
            } else {
                skim.pass()?;
                None
            };
            if message.is_some() && list.first.len() < DECIDING {
                list.first.push(start..skim.position());
            }
            self.item(start as u64, list.end == 0, message);
            list.end = skim.position();
        }
        Ok(())
    }

    /// Forgets what was found in a document that turned out to be none.
    fn forget(&mut self) {
        self.records = LogRecords::new(self.path, MAIN_PART);
        self.meta = LogMeta::default();
        self.replay = Replay::default();
    }

    /// Takes the items of a document into account one after the other, but for those that are damaged.
    fn pieces(&mut self, part: &Part, file: &File) -> Result<(), OpenError> {
        let failed = |e| unreadable_file(&part.path, e);
        let (found, mut damaged) = outline_of(part, file, &LISTS).map_err(failed)?;
        self.records.notes.append(&mut damaged.notes);
        for (key, range) in &found.members {
            if range.end - range.start <= LINE_CAP as u64 {
                let mut bytes = bytes_at(file, range.clone()).map_err(failed)?;
                damaged.mask(range.start, &mut bytes);
                set_meta(&mut self.meta, key, &bytes);
            }
        }
        let (key, items) = found.list.unwrap_or_default();
        let mut end = 0;
        for item in &items {
            let is_first = end == 0;
            end = item.end;
            if let Some(damaged) = damaged.first_within(item) {
                self.before(damaged.start, is_first);
                self.records.add_unclaimed(damaged.start, RecordKind::Junk);
                continue;
            }
            let len = item.end - item.start;
            if len > LINE_CAP as u64 {
                self.giant_item(item.start, is_first, len);
                continue;
            }
            let mut bytes = bytes_at(file, item.clone()).map_err(failed)?;
            // The end of a damaged value may stand before it.
            damaged.mask(item.start, &mut bytes);
            let seen = self.heads.see(&mut Skim::checking(&bytes));
            let message = seen.ok().map(|seen| seen.message);
            if message.is_some() {
                self.what_it_is(&key, Some(&bytes));
            }
            self.item(item.start, is_first, message);
        }
        self.what_it_is(&key, None);
        let kind = match (&found.fault, items.is_empty()) {
            (Some(_), _) => RecordKind::Torn,
            (None, true) => RecordKind::Value,
            (None, false) => RecordKind::Frame,
        };
        if end < part.len() {
            self.records.add_unclaimed(end, kind);
        }
        if let Some((offset, why)) = found.fault {
            let what =
                format!("not JSON: {why}; what stands behind the last whole message is skipped");
            self.damage_at(offset, what);
        }
        Ok(())
    }

    /// Notes damage at this byte; a document has no lines that matter.
    fn damage_at(&mut self, offset: u64, message: impl Into<String>) {
        let note = Note::damage(message).at(self.path).offset(offset);
        self.records.notes.push(note);
    }

    /// What stands before the first item.
    fn before(&mut self, start: u64, is_first: bool) {
        if is_first && start > 0 {
            self.records.add_unclaimed(0, RecordKind::Frame);
        }
    }

    fn giant_item(&mut self, start: u64, is_first: bool, len: u64) {
        self.before(start, is_first);
        let what = format!("a message of {len} bytes, too long to be shown");
        self.damage_at(start, what);
        if let Some(raw) = self.records.add(start, RecordKind::Giant) {
            self.replay.list(FoundMessage::unknown(), raw);
        }
    }

    /// One item of the list; none where it is no JSON object.
    fn item(&mut self, start: u64, is_first: bool, message: Option<FoundMessage<'_>>) {
        self.before(start, is_first);
        let Some(message) = message else {
            self.damage_at(
                start,
                "an item among messages is not a JSON object; skipped",
            );
            self.records.add_unclaimed(start, RecordKind::Junk);
            return;
        };
        if let Some(raw) = self.records.add(start, RecordKind::Value) {
            self.replay.list(message, raw);
        }
    }

    /// Finds out what the document is, if that is not known, by an item of the list under this key.
    fn what_it_is(&mut self, key: &str, item: Option<&[u8]>) {
        if !self.is_ours {
            let mut tree = Tree::default();
            let item = item.filter(|item| tree.parse_prefix(item, 0).is_ok());
            let item = item.map(|item| tree.root(item));
            let what = kind_of_list(key, item, &self.meta);
            self.is_ours = what.is_some();
            self.what = what.unwrap_or(self.what);
        }
    }
}

/// So many messages are asked what the document is.
const DECIDING: usize = 16;

/// The list of messages in a document.
#[derive(Default)]
struct List {
    /// Its key; that of a document which is a list is empty.
    key: String,
    /// Where its first messages are.
    first: Vec<Range<usize>>,
    /// Where its last item ends.
    end: usize,
}
