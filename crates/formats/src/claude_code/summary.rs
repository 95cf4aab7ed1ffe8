//! What a list shows of a session: one pass over its transcript, which parses only what matters.

use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom};
use std::path::Path;

use memchr::memmem::Finder;
use memchr::{memchr2, memmem};
use rethread_disk::open_read;
use rethread_json::{LineBytes, LineSpan, Lines, Piece, Tree, Value, salvage};
use rethread_model::{Head, LinkKind, Note, State, Summary};

use super::SLUG;
use super::counted::Counted;
use super::facts::Facts;
use super::kinds::{Part, giant_part, part};
use super::meta::Meta;
use super::record::{GiantHead, Record};
use super::sniff::{is_ours, is_record};
use super::usage::Sum;
use crate::{Source, Want};

/// How far into a line what tells its type is looked for.
const START: usize = 2048;

/// What a list shows of a session.
pub(super) fn summarize(source: &Source, want: Want) -> Summary {
    let path = &source.path;
    let mut summary = Summary {
        path: path.clone(),
        head: Head {
            id: source.id.clone(),
            format: SLUG,
            ..Head::default()
        },
        ..Summary::default()
    };
    let file = open_read(path).map_err(|e| Note::damage(e.to_string()));
    let passed = file.and_then(|file| {
        summary.size = file.metadata().map_or(0, |m| m.len());
        pass(&file, path, want).map_err(|e| Note::damage(format!("cannot be read: {e}")).at(path))
    });
    match passed {
        Ok(Some(pass)) => {
            summary.head = pass.facts.head(path, &|id| holds(path, id));
            summary.counts = pass.facts.counts;
            summary.counts.usage = pass.facts.used();
            describe(&mut summary.head, path);
        }
        Ok(None) => {
            summary.state = State::Damaged;
            // Clients of 2025 leave such files whenever they resume, and list none of them.
            summary.head.hidden = summary.size == 0;
            summary.notes.push(no_record(path));
        }
        Err(note) => {
            summary.state = State::Damaged;
            summary.notes.push(note);
        }
    }
    summary
}

/// Whether a record with this id is in a transcript. Only old ones are asked, which name what their
/// summaries describe.
fn holds(path: &Path, id: &str) -> bool {
    let Ok(file) = open_read(path) else {
        return false;
    };
    let spelled = [format!("\"uuid\":\"{id}\""), format!("\"uuid\": \"{id}\"")];
    let mut lines = Lines::new(file);
    while let Ok(Some(line)) = lines.next_line() {
        let there = |spelled: &String| memmem::find(line.head(), spelled.as_bytes()).is_some();
        if spelled.iter().any(there) {
            return true;
        }
    }
    false
}

/// What the file beside a sub-agent's transcript says.
fn describe(head: &mut Head, path: &Path) {
    let is_agent = head.links.iter().any(|l| l.kind == LinkKind::Parent);
    let Some(meta) = is_agent.then(|| Meta::beside(path)).flatten() else {
        return;
    };
    head.agent.role.clone_from(&meta.agent_type);
    meta.name(head);
    for link in &mut head.links {
        if link.kind == LinkKind::Parent {
            link.tool_call.clone_from(&meta.tool_call);
        }
    }
}

/// Why a file that is named like a session is none.
fn no_record(path: &Path) -> Note {
    let mut start = Vec::new();
    let read = open_read(path).map(|f| f.take(64).read_to_end(&mut start));
    if read.is_ok() && start.is_empty() {
        return Note::remark("an empty file; the session was never written").at(path);
    }
    let message = if start.starts_with(b"version https://git-lfs") {
        "a pointer of Git LFS; the session itself is not here"
    } else {
        "not a session: no record of the client is in it"
    };
    Note::damage(message).at(path)
}

fn pass(file: &File, path: &Path, want: Want) -> io::Result<Option<Pass>> {
    let mut pass = Pass {
        facts: Facts::of_file(path),
        quick: !want.usage,
        is_ours: false,
        skipped: None,
        marks: Marks::new(),
    };
    pass.facts.sum = want.usage.then(Sum::default);
    pass.facts.counted = Some(Counted::default());
    let mut lines = Lines::new(file);
    let mut tree = Tree::default();
    while let Some(line) = lines.next_line()? {
        let span = line.span;
        match line.bytes {
            LineBytes::Whole(bytes) => pass.line(span, bytes, &mut tree),
            LineBytes::Giant { head } => pass.giant(head),
        }
    }
    pass.last_skipped(file, &mut tree)?;
    Ok(pass.is_ours.then_some(pass))
}

struct Pass {
    facts: Facts,
    /// Whether records may be passed over without being parsed.
    quick: bool,
    is_ours: bool,
    /// The last record that was passed over: where and when the session ended.
    skipped: Option<LineSpan>,
    marks: Marks,
}

/// What is looked for in lines that are passed over.
struct Marks {
    next_record: Finder<'static>,
    next_message: Finder<'static>,
    call: Finder<'static>,
}

impl Marks {
    fn new() -> Self {
        Self {
            next_record: Finder::new(b"}{\""),
            next_message: Finder::new(b"{\"parentUuid\":"),
            call: Finder::new(b"{\"type\":\"tool_use\",\"id\":\""),
        }
    }
}

impl Pass {
    fn line(&mut self, span: LineSpan, line: &[u8], tree: &mut Tree) {
        if self.quick && self.facts.has_begun() && self.glance(span, line) {
            return;
        }
        if line.trim_ascii().is_empty() {
            return;
        }
        if tree.parse_into(line).is_ok() {
            self.value(tree.root(line));
            return;
        }
        for piece in salvage(line) {
            let Piece::Value(range) = piece else { continue };
            let bytes = &line[range];
            if tree.parse_into(bytes).is_ok() && is_record(tree.root(bytes)) {
                self.value(tree.root(bytes));
            }
        }
    }

    fn value(&mut self, value: Value<'_>) {
        if !value.is_object() {
            return;
        }
        let record = Record::of(value);
        self.is_ours |= is_ours(value) == Some(true);
        let part = part(&record);
        if matches!(part, Part::Response(_)) || matches!(part, Part::Entry(k, _) if k.is_message())
        {
            self.skipped = None;
        }
        self.facts.add(value, &record, part);
    }

    fn giant(&mut self, start: &[u8]) {
        let head = GiantHead::of(start);
        match giant_part(&head) {
            Some(Part::Response(_)) => {
                self.is_ours = true;
                self.facts
                    .count_response(head.message_id.as_deref(), None, 0);
            }
            Some(Part::Entry(kind, _)) if kind.is_message() => {
                self.is_ours = true;
                self.facts.count_result();
            }
            _ => {}
        }
    }

    /// Whether a record could be counted by its beginning: a part of a response, results of tools,
    /// progress. It must look like one whole record.
    fn glance(&mut self, span: LineSpan, line: &[u8]) -> bool {
        let line = line.trim_ascii_end();
        let several = |mark: &Finder<'_>| mark.find(line.get(1..).unwrap_or_default()).is_some();
        let Marks {
            next_record,
            next_message,
            ..
        } = &self.marks;
        if !line.ends_with(b"}") || several(next_record) || several(next_message) {
            return false;
        }
        let start = &line[..line.len().min(START)];
        // Only plain members stand before this, so nothing inside of something looks alike.
        let Some(nested) = memchr2(b'{', b'[', start.get(1..).unwrap_or_default()) else {
            return false;
        };
        let (plain, rest) = start.split_at(nested + 1);
        if memmem::find(plain, b"\"type\":\"progress\"").is_some() {
            return true;
        }
        let counted = if !plain.ends_with(b"\"message\":") {
            false
        } else if memmem::find(plain, b"\"type\":\"user\"").is_some() {
            self.glance_result(rest)
        } else {
            self.glance_response(rest, line)
        };
        if counted {
            self.skipped = Some(span);
        }
        counted
    }

    fn glance_result(&mut self, message: &[u8]) -> bool {
        const RESULT: [&[u8]; 2] = [
            b"{\"role\":\"user\",\"content\":[{\"tool_use_id\":\"",
            b"{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",",
        ];
        let is_result = RESULT.iter().any(|r| message.starts_with(r));
        if is_result {
            self.facts.count_result();
        }
        is_result
    }

    fn glance_response(&mut self, message: &[u8], line: &[u8]) -> bool {
        let Some(content) = memmem::find(message, b"\"content\":[") else {
            return false;
        };
        let fields = &message[..content];
        let field = |key: &[u8]| {
            let at = memmem::find(fields, key)? + key.len();
            let end = memchr2(b'"', b'\\', fields.get(at..)?)?;
            std::str::from_utf8(&fields[at..at + end]).ok()
        };
        let is_response = memmem::find(fields, b"\"role\":\"assistant\"").is_some();
        let (Some(id), Some(model), true) =
            (field(b"\"id\":\""), field(b"\"model\":\""), is_response)
        else {
            return false;
        };
        let calls = self.marks.call.find_iter(line).count();
        self.facts.count_response(Some(id), Some(model), calls);
        true
    }

    /// Where and when the session ended, from the last record that was passed over.
    fn last_skipped(&mut self, mut file: &File, tree: &mut Tree) -> io::Result<()> {
        let Some(span) = self.skipped else {
            return Ok(());
        };
        let mut line = Vec::new();
        file.seek(SeekFrom::Start(span.offset))?;
        file.take(span.len).read_to_end(&mut line)?;
        if tree.parse_into(&line).is_ok() {
            let record = Record::of(tree.root(&line));
            self.facts.ended(&record);
        }
        Ok(())
    }
}
