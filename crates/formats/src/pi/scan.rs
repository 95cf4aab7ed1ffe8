//! The scan of a session's file, for readers and lists. A list parses only lines that matter.

use std::path::Path;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use rethread_json::{Tree, Value};
use rethread_model::Kind;

use super::facts::EntryFacts;
use super::header::{HeaderFacts, is_header_line};
use super::kinds::{entry_head, giant_head};
use super::placement::EntryTree;
use crate::kit::{
    Flow, LogLine, LogRecords, LogVisitor, SavedState, ScanDepth, plain_members, plain_word,
    word_behind,
};
use crate::{RecordKind, Want};

/// How far into a line the role of its message is looked for.
const LOOK: usize = 512;

/// What is known of a session while its file is scanned.
pub(super) struct SessionScan<'p> {
    depth: ScanDepth,
    pub(super) header: Option<HeaderFacts>,
    pub(super) facts: EntryFacts,
    /// The tree of entries, where somebody reads the session as a whole.
    pub(super) thread: Option<EntryTree<'p>>,
}

impl<'p> SessionScan<'p> {
    /// A scan that gives the whole session.
    pub(super) fn whole(path: &'p Path) -> Self {
        Self {
            depth: ScanDepth::Whole,
            header: None,
            facts: EntryFacts::default(),
            thread: Some(EntryTree::new(path)),
        }
    }

    /// A scan that gives what a list shows.
    pub(super) fn of_list(want: Want) -> Self {
        Self {
            depth: ScanDepth::of_list(want.usage),
            header: None,
            facts: EntryFacts::with_usage(want.usage),
            thread: None,
        }
    }

    /// Takes the first value, which decides whether this is a session.
    fn take_first(&mut self, line: &LogLine<'_>, value: Value<'_>) -> Flow {
        self.header = HeaderFacts::of(value);
        if let Some(records) = self.records() {
            records.add_unclaimed(line.at, RecordKind::Value);
        }
        match self.header {
            Some(_) => Flow::Continue(()),
            None => Flow::Break(()),
        }
    }

    /// Whether a line could be counted by its beginning. Its end must look whole.
    fn count_by_beginning(&mut self, line: &[u8]) -> bool {
        let line = line.trim_ascii_end();
        let Some(rest) = line.strip_prefix(b"{\"type\":\"") else {
            return false;
        };
        if !line.ends_with(b"}") {
            return false;
        }
        let Some((word, _)) = plain_word(rest) else {
            return false;
        };
        let start = line.get(..line.len().min(LOOK)).unwrap_or_default();
        // What travels along is described in the first of its entries.
        if word == b"custom"
            && self.facts.converted_from.is_none()
            && FINDERS.carried.find(start).is_some()
        {
            return false;
        }
        if word != b"custom_message" && word != b"message" {
            return QUIET.contains(&word);
        }
        let (plain, nested) = plain_members(line, LOOK).unwrap_or((start, b""));
        let is_result = plain.ends_with(b",\"message\":") && nested.starts_with(RESULT);
        if word == b"message" && !is_result {
            return false;
        }
        let time = word_behind(&FINDERS.time, plain);
        let time = time.and_then(|time| str::from_utf8(time).ok()?.parse().ok());
        if time.is_some() {
            self.facts.add_other_message(time);
        }
        time.is_some()
    }
}

impl<'p> LogVisitor<'p> for SessionScan<'p> {
    fn records(&mut self) -> Option<&mut LogRecords<'p>> {
        self.thread.as_mut().map(|thread| &mut thread.records)
    }

    fn take_unparsed(&mut self, line: &LogLine<'_>, _tree: &mut Tree) -> Option<Flow> {
        let may_pass = self.depth == ScanDepth::Quick && self.header.is_some();
        (may_pass && self.count_by_beginning(line.bytes)).then_some(Flow::Continue(()))
    }

    fn object(&mut self, line: &LogLine<'_>, value: Value<'_>) -> Flow {
        let Some(header) = &self.header else {
            return self.take_first(line, value);
        };
        let is_header = is_header_line(value);
        if !is_header {
            self.facts.add(value);
        }
        if let Some(thread) = &mut self.thread {
            let number = thread.count_value(line);
            if is_header {
                let message = "another header; ignored, as by its agent";
                thread.records.note_remark(line.value_pos(), message);
                thread.records.add_unclaimed(line.at, RecordKind::Value);
            } else {
                thread.add_entry(line, RecordKind::Value, entry_head(value), number, header);
            }
        }
        Flow::Continue(())
    }

    fn other_value(&mut self, line: &LogLine<'_>, value: Value<'_>) -> Flow {
        if self.header.is_none() {
            return self.take_first(line, value);
        }
        if let Some(thread) = &mut self.thread {
            thread.count_value(line);
            return thread.records.skip_other_value(line);
        }
        Flow::Continue(())
    }

    fn giant(&mut self, line: &LogLine<'_>) -> Flow {
        let Some(header) = &self.header else {
            return Flow::Break(());
        };
        let head = giant_head(line.bytes);
        let is_message = head.kind.is_some_and(Kind::is_message);
        let Some(thread) = &mut self.thread else {
            if is_message && line.bytes.starts_with(b"{\"type\":\"message\"") {
                self.facts.add_other_message(head.time);
            }
            return Flow::Continue(());
        };
        let number = thread.count_value(line);
        let len = line.span.len;
        if head.kind.is_none() {
            let message = format!("a line of {len} bytes that is no entry; skipped");
            thread.records.note_damage(line.span, message);
            thread.records.add_unclaimed(line.at, RecordKind::Giant);
            return Flow::Continue(());
        }
        let message = format!("an entry of {len} bytes, too long to be shown");
        thread.records.note_damage(line.span, message);
        if is_message {
            self.facts.add_other_message(head.time);
        }
        thread.add_entry(line, RecordKind::Giant, head, number, header);
        Flow::Continue(())
    }

    fn may_be_torn(&self) -> bool {
        self.header.is_some()
    }
}

/// What a list knows; the tree is built in one go.
impl SavedState for SessionScan<'_> {
    fn save(&self, out: &mut Vec<u8>) {
        self.depth.save(out);
        self.header.save(out);
        self.facts.save(out);
    }

    fn load(bytes: &mut &[u8]) -> Option<Self> {
        Some(Self {
            depth: SavedState::load(bytes)?,
            header: SavedState::load(bytes)?,
            facts: SavedState::load(bytes)?,
            thread: None,
        })
    }
}

/// How the message of a tool's result begins.
const RESULT: &[u8] = b"{\"role\":\"toolResult\"";

/// What is looked for in lines that are passed over.
struct Finders {
    time: Finder<'static>,
    carried: Finder<'static>,
}

/// They are worked out once, and not for each line.
static FINDERS: LazyLock<Finders> = LazyLock::new(|| Finders {
    time: Finder::new(b"\"timestamp\":\""),
    carried: Finder::new(CARRIED),
});

/// What an entry says that holds what travels along.
const CARRIED: &[u8] = b"\"customType\":\"rethread\"";

/// Types of entries that say nothing about the whole.
const QUIET: [&[u8]; 5] = [
    b"custom",
    b"label",
    b"thinking_level_change",
    b"compaction",
    b"branch_summary",
];
