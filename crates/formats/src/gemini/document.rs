//! Chats of older versions, checkpoints and the log of prompts: one JSON document each, in which
//! every message is a record.

use std::fs::File;

use rethread_json::{LINE_CAP, Tree};

use super::message::{MessageHead, message_head};
use super::outline::outline;
use super::scan::{Place, Scan, bytes_at, unreadable};
use super::sniff::{kind_of_list, set};
use crate::{OpenError, Part, RecordKind};

impl Scan<'_> {
    /// Reads a document.
    pub(super) fn document(&mut self, part: &Part, file: &File) -> Result<(), OpenError> {
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
        for (i, item) in items.iter().enumerate() {
            if i == 0 && item.start > 0 {
                self.unclaimed(0, RecordKind::Frame);
            }
            end = item.end;
            if item.end - item.start > LINE_CAP as u64 {
                let len = item.end - item.start;
                self.damage(
                    at(item.start),
                    &format!("a message of {len} bytes, too long to be shown"),
                );
                if let Some(raw) = self.record(item.start, RecordKind::Giant) {
                    self.replay.add(MessageHead::unknown(), raw);
                }
                continue;
            }
            let bytes = bytes_at(file, item).map_err(failed)?;
            let is_object = tree.parse_prefix(&bytes, 0).is_ok() && tree.root(&bytes).is_object();
            if !is_object {
                self.damage(
                    at(item.start),
                    "an item among messages is not a JSON object; skipped",
                );
                self.unclaimed(item.start, RecordKind::Junk);
                continue;
            }
            let value = tree.root(&bytes);
            if !self.is_ours {
                let what = kind_of_list(&key, Some(value), &self.meta);
                self.is_ours = what.is_some();
                self.what = what.unwrap_or(self.what);
            }
            if let Some(raw) = self.record(item.start, RecordKind::Value) {
                self.replay.add(message_head(value), raw);
            }
        }
        if !self.is_ours {
            let what = kind_of_list(&key, None, &self.meta);
            self.is_ours = what.is_some();
            self.what = what.unwrap_or(self.what);
        }
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
}

fn at(offset: u64) -> Place {
    Place { line: None, offset }
}
