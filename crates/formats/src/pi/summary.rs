//! What a list shows of a session: one pass over its file, which parses only lines that matter.

use std::fs::File;
use std::io;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use rethread_disk::open_sized;
use rethread_json::{Tree, Value};
use rethread_model::{Head, Kind, Summary};

use super::Flavour;
use super::facts::Facts;
use super::header::{Header, is_header_line};
use super::kinds::giant_head;
use crate::error::unreadable;
use crate::kit::{Flow, LogLine, LogVisitor, plain_members, plain_word, scan_log, word_behind};
use crate::unusable::{cannot_be_opened, holds_no_record};
use crate::{OpenError, Source, Want};

/// How far into a line the role of its message is looked for.
const LOOK: usize = 512;

/// What a list shows of a session.
pub(crate) fn summarize(flavour: &Flavour, source: &Source, want: Want) -> Summary {
    let path = &source.path;
    let mut summary = Summary {
        path: path.clone(),
        head: Head {
            id: source.id.clone(),
            format: flavour.slug,
            ..Head::default()
        },
        ..Summary::default()
    };
    let file = open_sized(path).map_err(OpenError::from);
    let passed = file.and_then(|(file, len)| {
        summary.size = len;
        pass(&file, want).map_err(|e| unreadable(path, e))
    });
    match passed {
        Ok((Some(header), facts)) => {
            summary.notes.extend(header.note(path));
            summary.head = header.head(flavour, path);
            facts.fill(&mut summary.head, path);
            summary.counts = facts.counts;
        }
        Ok((None, _)) => {
            holds_no_record(&mut summary, "not a session: its first value is no header");
        }
        Err(e) => cannot_be_opened(&mut summary, &e),
    }
    summary
}

fn pass(file: &File, want: Want) -> io::Result<(Option<Header>, Facts)> {
    let mut pass = Pass {
        header: None,
        facts: Facts::with_usage(want.usage),
        quick: !want.usage,
    };
    scan_log(file, &mut pass)?;
    Ok((pass.header, pass.facts))
}

struct Pass {
    header: Option<Header>,
    facts: Facts,
    /// Whether lines may be passed over without being parsed.
    quick: bool,
}

impl LogVisitor<'_> for Pass {
    fn take_unparsed(&mut self, line: &LogLine<'_>, _tree: &mut Tree) -> Option<Flow> {
        let may_pass = self.header.is_some() && self.quick;
        (may_pass && self.glance(line.bytes)).then_some(Flow::Continue(()))
    }

    /// Takes an object into account. The first whole line decides whether this is a session.
    fn object(&mut self, _line: &LogLine<'_>, value: Value<'_>) -> Flow {
        if self.header.is_none() {
            self.header = Header::of(value);
        } else if !is_header_line(value) {
            self.facts.add(value);
        }
        self.goes_on()
    }

    fn other_value(&mut self, _line: &LogLine<'_>, _value: Value<'_>) -> Flow {
        self.goes_on()
    }

    fn giant(&mut self, line: &LogLine<'_>) -> Flow {
        let head = giant_head(line.bytes);
        let is_message = matches!(head.kind, Some(Kind::Message(_)));
        let is_entry_message = line.bytes.starts_with(b"{\"type\":\"message\"");
        if is_message && is_entry_message && self.header.is_some() {
            self.facts.add_other_message(head.time);
        }
        self.goes_on()
    }
}

impl Pass {
    /// More is wanted only of a session.
    fn goes_on(&self) -> Flow {
        match self.header {
            Some(_) => Flow::Continue(()),
            None => Flow::Break(()),
        }
    }

    /// Whether a line could be counted by its beginning. Its end must look whole.
    fn glance(&mut self, line: &[u8]) -> bool {
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
