//! Chats of older versions, checkpoints and the log of prompts: one JSON document each, in which
//! every message is a record.

use std::borrow::Cow;
use std::fs::File;

use rethread_json::{LINE_CAP, Tree, Value};

use super::message::{MessageHead, message_head};
use super::outline::{LISTS, outline};
use super::scan::{Place, Scan, bytes_at, unreadable};
use super::sniff::{kind_of_list, set};
use crate::{Marks, OpenError, Part, PartKind, RecordKind};

/// A document of up to this length is held as a whole. Of a longer one, and of one that is damaged,
/// only its pieces are.
const WHOLE: u64 = 16 * 1024 * 1024;

impl Scan<'_> {
    /// Reads a document.
    pub(super) fn document(&mut self, file: &File, len: u64) -> Result<Part, OpenError> {
        let failed = |e| unreadable(self.path, e);
        let path = self.path.to_owned();
        if len <= WHOLE {
            let bytes = bytes_at(file, &(0..len)).map_err(failed)?;
            if let Ok(tree) = Tree::parse(&bytes) {
                self.whole(tree.root(&bytes), bytes.len());
                return Ok(Part::document_of(path, bytes, Marks::default()));
            }
        }
        let again = file.try_clone().map_err(failed)?;
        let mut part = Part::lines(path, again, len);
        part.kind = PartKind::Document;
        self.pieces(&part, file)?;
        Ok(part)
    }

    /// Takes a document into account that is held as a whole.
    fn whole(&mut self, root: Value<'_>, len: usize) {
        let mut list = root.is_array().then_some((Cow::Borrowed(""), root));
        for (key, value) in root.members() {
            let Some(key) = key.str() else { continue };
            if list.is_none() && value.is_array() && LISTS.contains(&&*key) {
                list = Some((key, value));
            } else {
                self.meta.set(&key, value);
            }
        }
        let (key, list) = list.unzip();
        let key = key.unwrap_or_default();
        let mut end = 0;
        for item in list.into_iter().flat_map(Value::items) {
            let span = item.span();
            self.item(&key, span.start as u64, end == 0, Some(item));
            end = span.end;
        }
        self.what_it_is(&key, None);
        let around = match end {
            0 => RecordKind::Value,
            _ => RecordKind::Frame,
        };
        if end < len {
            self.unclaimed(end as u64, around);
        }
    }

    /// Takes the items of a document into account one after the other.
    fn pieces(&mut self, part: &Part, file: &File) -> Result<(), OpenError> {
        let failed = |e| unreadable(&part.path, e);
        let found = outline(part.reader()).map_err(failed)?;
        for (key, range) in &found.members {
            if range.end - range.start <= LINE_CAP as u64 {
                let bytes = bytes_at(file, range).map_err(failed)?;
                set(&mut self.meta, key, &bytes);
            }
        }
        let (key, items) = found.list.unwrap_or_default();
        let mut end = 0;
        let mut tree = Tree::default();
        for item in &items {
            let is_first = end == 0;
            end = item.end;
            let len = item.end - item.start;
            if len > LINE_CAP as u64 {
                self.giant_item(item.start, is_first, len);
                continue;
            }
            let bytes = bytes_at(file, item).map_err(failed)?;
            let parsed = tree.parse_prefix(&bytes, 0);
            let value = parsed.is_ok().then(|| tree.root(&bytes));
            self.item(&key, item.start, is_first, value);
        }
        self.what_it_is(&key, None);
        let kind = match (&found.fault, items.is_empty()) {
            (Some(_), _) => RecordKind::Torn,
            (None, true) => RecordKind::Value,
            (None, false) => RecordKind::Frame,
        };
        if end < part.len() {
            self.unclaimed(end, kind);
        }
        if let Some((offset, why)) = found.fault {
            let what =
                format!("not JSON: {why}; what stands behind the last whole message is skipped");
            self.damage(at(offset), &what);
        }
        Ok(())
    }

    /// What stands before the first item.
    fn before(&mut self, start: u64, is_first: bool) {
        if is_first && start > 0 {
            self.unclaimed(0, RecordKind::Frame);
        }
    }

    fn giant_item(&mut self, start: u64, is_first: bool, len: u64) {
        self.before(start, is_first);
        let what = format!("a message of {len} bytes, too long to be shown");
        self.damage(at(start), &what);
        if let Some(raw) = self.record(start, RecordKind::Giant) {
            self.replay.add(MessageHead::unknown(), raw);
        }
    }

    /// One item of the list under this key; none where it is no JSON.
    fn item(&mut self, key: &str, start: u64, is_first: bool, item: Option<Value<'_>>) {
        self.before(start, is_first);
        let Some(value) = item.filter(|value| value.is_object()) else {
            self.damage(
                at(start),
                "an item among messages is not a JSON object; skipped",
            );
            self.unclaimed(start, RecordKind::Junk);
            return;
        };
        self.what_it_is(key, Some(value));
        if let Some(raw) = self.record(start, RecordKind::Value) {
            self.replay.add(message_head(value), raw);
        }
    }

    /// Finds out what the document is, if that is not known, by an item of the list under this key.
    fn what_it_is(&mut self, key: &str, item: Option<Value<'_>>) {
        if !self.is_ours {
            let what = kind_of_list(key, item, &self.meta);
            self.is_ours = what.is_some();
            self.what = what.unwrap_or(self.what);
        }
    }
}

fn at(offset: u64) -> Place {
    Place { line: None, offset }
}
