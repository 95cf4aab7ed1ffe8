//! `messages.jsonl`: each line by itself, and the lines together.

use std::collections::HashMap;
use std::path::Path;

use rethread_disk::{DiskError, open_read};
use rethread_json::{LineBytes, LineSpan, Lines, Piece, SyntaxError, Tree, Value, salvage};
use rethread_model::Moment;
use sha2::{Digest, Sha256};

use super::assets::check_reference;
use super::counts::LogFacts;
use super::law::{
    BLANK, BLOCKS, CALLS, COMPATIBILITY, GIANT, LAYOUT, LOG, MESSAGE, ORDER, ROLE, SAME_CALL,
    SAME_ID, STATUS, TORN, UNREADABLE,
};
use crate::atsf::message::message_head;
use crate::atsf::tally::giant_head;
use crate::check::fields::{Field, Is, judge, may, moment, must};
use crate::check::known::shown_text;
use crate::check::law::{Law, json, required};
use crate::check::sheet::{Headings, Sheet, unreadable, whole};
use crate::check::walk::walk_values;
use crate::{Violation, Weight};

/// What the document says of the fields.
const FIELDS: &[Field] = &[
    must(MESSAGE, "id", Is::Text),
    must(MESSAGE, "role", Is::Text),
    must(MESSAGE, "timestamp", Is::Time),
    must(MESSAGE, "content", Is::Array),
    may(MESSAGE, "content[]", Is::Object),
    may(MESSAGE, "toolCalls", Is::Array),
    may(MESSAGE, "toolCalls[]", Is::Object),
    may(MESSAGE, "stopReason", Is::Text),
    may(MESSAGE, "model", Is::Text),
    may(MESSAGE, "tokens", Is::Object),
    may(MESSAGE, "tokens.input", Is::Number),
    may(MESSAGE, "tokens.output", Is::Number),
    must(BLOCKS, "content[].type", Is::Text),
    must(CALLS, "toolCalls[].toolCallId", Is::Text),
    must(CALLS, "toolCalls[].name", Is::Text),
    may(CALLS, "toolCalls[].title", Is::Text),
    must(CALLS, "toolCalls[].status", Is::Text),
    may(CALLS, "toolCalls[].input", Is::Text),
    may(CALLS, "toolCalls[].output", Is::Text),
    may(CALLS, "toolCalls[].duration", Is::Number),
    may(CALLS, "toolCalls[].diff", Is::Object),
    must(CALLS, "toolCalls[].diff.path", Is::Text),
    must(CALLS, "toolCalls[].diff.oldText", Is::Text),
    must(CALLS, "toolCalls[].diff.newText", Is::Text),
];

const WORDS: &[Field] = &[must(BLOCKS, "text", Is::Text)];
const PICTURE: &[Field] = &[
    must(BLOCKS, "assetRef", Is::Text),
    must(BLOCKS, "mimeType", Is::Text),
];

const ROLES: &[&str] = &["user", "agent", "system"];
const STATUSES: &[&str] = &["pending", "running", "completed", "failed"];

/// Judges a log in one pass and says what it holds; none if it cannot be read.
pub(super) fn check(
    thread: &Path,
    path: &Path,
    out: &mut dyn FnMut(Violation),
) -> Result<LogFacts, Unread> {
    let file = match open_read(path) {
        Ok(file) => file,
        Err(DiskError::NotFound { .. }) => return Err(Unread::Missing),
        Err(e) => {
            out(unreadable(path, &e, LAYOUT));
            return Err(Unread::Failed);
        }
    };
    let mut log = Log {
        thread,
        path,
        ids: SeenIds::default(),
        calls: SeenIds::default(),
        before: None,
        facts: LogFacts::default(),
    };
    let mut lines = Lines::new(file);
    let mut tree = Tree::default();
    loop {
        match lines.next_line() {
            Ok(Some(line)) => match line.bytes {
                LineBytes::Whole(bytes) => log.line(line.span, bytes, &mut tree, out),
                LineBytes::Giant { head } => log.giant(line.span, head, out),
            },
            Ok(None) => return Ok(log.facts),
            Err(e) => {
                let message = format!("cannot be read: {e}");
                out(whole(path, Weight::Error, UNREADABLE, message));
                return Err(Unread::Failed);
            }
        }
    }
}

/// Why a log is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unread {
    /// It is not there.
    Missing,
    /// It could not be read, which was told.
    Failed,
}

struct Log<'a> {
    thread: &'a Path,
    path: &'a Path,
    ids: SeenIds,
    calls: SeenIds,
    /// The time of the message before.
    before: Option<Moment>,
    facts: LogFacts,
}

impl Log<'_> {
    fn line(
        &mut self,
        span: LineSpan,
        bytes: &[u8],
        tree: &mut Tree,
        out: &mut dyn FnMut(Violation),
    ) {
        let mut sheet = Sheet::new(
            self.path,
            bytes,
            span.number,
            Headings {
                section: LOG,
                general: COMPATIBILITY,
            },
        );
        if bytes.trim_ascii().is_empty() {
            sheet.warning(BLANK, 0, "a blank line");
        } else {
            match tree.parse_into(bytes) {
                Ok(()) if tree.root(bytes).is_object() => {
                    sheet.encoding();
                    self.message(&mut sheet, tree.root(bytes), span.number);
                }
                Ok(()) => sheet.error(json(LOG), 0, "not a JSON object"),
                Err(e) => self.damaged(&mut sheet, span, bytes, &e),
            }
        }
        sheet.report_all(out);
    }

    fn damaged(&mut self, sheet: &mut Sheet<'_>, span: LineSpan, bytes: &[u8], e: &SyntaxError) {
        let (mut values, mut messages) = (0, 0);
        let mut tree = Tree::default();
        for piece in salvage(bytes) {
            let Piece::Value(range) = piece else { continue };
            let value = &bytes[range];
            values += 1;
            if tree.parse_into(value).is_err() {
                continue;
            }
            let head = message_head(tree.root(value));
            if head.role.is_some() {
                messages += 1;
                self.facts.message(&head, head.time, false);
            }
        }
        // The end of a torn line may be a whole object: a block of its message.
        if messages == 0 && !span.terminated {
            return sheet.warning(TORN, 0, "the last line is not finished");
        }
        if messages == 0 {
            self.facts.junk();
        }
        let message = match values {
            0 | 1 => format!("not JSON: {}, at column {}", e.kind, e.column),
            n => format!("{n} values on one line"),
        };
        sheet.encoding();
        sheet.error(json(LOG), e.offset, message);
    }

    fn giant(&mut self, span: LineSpan, start: &[u8], out: &mut dyn FnMut(Violation)) {
        let head = giant_head(start);
        self.facts.giant(&head);
        self.before = head.time.or(self.before);
        let mut sheet = Sheet::new(
            self.path,
            b"",
            span.number,
            Headings {
                section: LOG,
                general: COMPATIBILITY,
            },
        );
        let message = format!("a line of {} bytes is too long to be checked", span.len);
        sheet.warning(GIANT, 0, message);
        sheet.report_all(out);
    }

    fn message(&mut self, sheet: &mut Sheet<'_>, message: Value<'_>, line: u64) {
        judge(sheet, message, "", FIELDS);
        let text = |key| message.get(key).and_then(Value::str);
        let time = text("timestamp").and_then(|t| moment(&t));
        let sure = text("id").is_some()
            && text("role").is_some()
            && text("timestamp").is_some()
            && message.get("content").is_some_and(Value::is_array);
        self.facts.message(&message_head(message), time, sure);
        if let Some(value) = message.get("id") {
            let checked = CheckedId {
                name: "id",
                section: MESSAGE,
                again: Weight::Warning,
                law: SAME_ID,
            };
            self.ids.check(sheet, value, line, &checked);
        }
        if let Some(role) = text("role").filter(|r| !ROLES.contains(&&**r)) {
            let message = format!(
                "`role` is {}, not `user`, `agent` or `system`",
                shown_text(&role)
            );
            sheet.warning(ROLE, 0, message);
        }
        if let (Some(before), Some(time)) = (self.before, time)
            && time < before
        {
            let message = format!("`timestamp` is {time}, earlier than {before} before it");
            sheet.warning(ORDER, 0, message);
        }
        self.before = time.or(self.before);
        self.blocks(sheet, message);
        self.calls(sheet, message, line);
        walk_values(sheet, message, &mut |_, _, _| {});
    }

    fn blocks(&mut self, sheet: &mut Sheet<'_>, message: Value<'_>) {
        let blocks = message.get("content").into_iter().flat_map(Value::items);
        for (i, block) in blocks.enumerate() {
            let kind = block.get("type").and_then(Value::str);
            let fields = match kind.as_deref() {
                Some("text" | "thinking") => WORDS,
                Some("image") => PICTURE,
                _ => &[],
            };
            if !fields.is_empty() {
                judge(sheet, block, &format!("content[{i}]."), fields);
            }
            check_reference(sheet, self.thread, i, block);
        }
    }

    fn calls(&mut self, sheet: &mut Sheet<'_>, message: Value<'_>, line: u64) {
        let calls = message.get("toolCalls").into_iter().flat_map(Value::items);
        for (i, call) in calls.enumerate() {
            if let Some(value) = call.get("toolCallId") {
                let name = format!("toolCalls[{i}].toolCallId");
                // A result that names it could be that of either.
                let checked = CheckedId {
                    name: &name,
                    section: CALLS,
                    again: Weight::Error,
                    law: SAME_CALL,
                };
                self.calls.check(sheet, value, line, &checked);
            }
            let status = call.get("status").and_then(Value::str);
            if let Some(status) = status.filter(|s| !STATUSES.contains(&&**s)) {
                let is = shown_text(&status);
                let known = "`pending`, `running`, `completed` or `failed`";
                let message = format!("`toolCalls[{i}].status` is {is}, not {known}");
                sheet.warning(STATUS, 0, message);
            }
        }
    }
}

/// Ids that were met, each by a hash, and the line of each.
#[derive(Default)]
struct SeenIds(HashMap<[u8; 16], u64>);

/// An id that must be there once.
struct CheckedId<'a> {
    name: &'a str,
    /// Where the document asks for it.
    section: &'static str,
    /// How bad it is if it is there again, and by which rule.
    again: Weight,
    law: Law,
}

impl SeenIds {
    fn check(&mut self, sheet: &mut Sheet<'_>, value: Value<'_>, line: u64, is: &CheckedId<'_>) {
        let Some(id) = value.str() else { return };
        let name = is.name;
        if id.is_empty() {
            return sheet.error(required(is.section), 0, format!("`{name}` is empty"));
        }
        let mut hash = [0; 16];
        hash.copy_from_slice(&Sha256::digest(id.as_bytes())[..16]);
        match self.0.entry(hash) {
            std::collections::hash_map::Entry::Occupied(first) => {
                let message = format!(
                    "`{name}` is {}, as on line {}",
                    shown_text(&id),
                    first.get()
                );
                match is.again {
                    Weight::Error => sheet.error(is.law, 0, message),
                    Weight::Warning => sheet.warning(is.law, 0, message),
                }
            }
            std::collections::hash_map::Entry::Vacant(free) => {
                free.insert(line);
            }
        }
    }
}
