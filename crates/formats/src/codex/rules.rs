//! Measuring a session against what the client asks of a file, found by running it.

use std::collections::BTreeMap;
use std::path::Path;

use rethread_json::{LineBytes, Lines, Tree, Value};

use super::calls::call_id;
use super::meta::SessionMeta;
use super::record::{Ev, Item, RolloutRecord, RolloutType};
use super::said::has_lone_surrogate;
use super::store::{RolloutName, find_rollout};
use super::{Codex, document, packed};
use crate::error::read_failed;
use crate::fields::{filled_of, string_of};
use crate::{OpenError, Rules, Source, Store, Violation, Weight};

/// The heading in the docs under which the rules stand.
const SECTION: &str = "What the client asks of a file";

/// The client looks so far for the first words of the person.
const PREVIEW: u64 = 210;

/// So many violations of one file are told.
const MOST: usize = 10_000;

impl Rules for Codex {
    /// Measures the sessions at a path; gives how many files there were, and nothing if it is not ours.
    fn check(&self, path: &Path, out: &mut dyn FnMut(Violation)) -> Result<Option<u64>, OpenError> {
        let mut sources = self.at_path(path);
        sources.sort_by(|a, b| a.path.cmp(&b.path));
        for source in &sources {
            let mut found = one(source)?;
            found.sort_by_key(|v| v.line);
            found.into_iter().for_each(&mut *out);
        }
        Ok((!sources.is_empty()).then_some(sources.len() as u64))
    }
}

/// What is wrong with one session. Calls without results are known only at the end, so all of it is
/// kept until then.
fn one(source: &Source) -> Result<Vec<Violation>, OpenError> {
    let path = &source.path;
    let mut sheet = RolloutCheck {
        path,
        found: Vec::new(),
        meta: None,
        first: true,
        next: None,
        calls: BTreeMap::new(),
        has_preview: false,
    };
    if RolloutName::of(path).is_none() {
        let message = "the client finds only files named `rollout-<time>-<id>.jsonl`";
        sheet.say(Weight::Warning, None, "file-name", message);
    }
    if document::is_document(path) {
        let message = "a file of 2025, which later clients do not read";
        sheet.say(Weight::Warning, None, "old-format", message);
        return Ok(sheet.found);
    }
    let packed::OpenedRollout { part, damage } = packed::open_rollout(path)?;
    if let Some(note) = damage {
        sheet.say(Weight::Error, None, "compressed", &note.message);
    }
    let mut lines = Lines::new(part.reader());
    let mut tree = Tree::default();
    let failed = read_failed(path);
    let mut count = 0;
    while let Some(line) = lines.next_line().map_err(failed)? {
        count = line.span.number;
        if let LineBytes::Whole(bytes) = line.bytes
            && !bytes.trim_ascii().is_empty()
        {
            sheet.line(count, bytes, &mut tree);
        }
    }
    sheet.end(count);
    Ok(sheet.found)
}

/// What is known of a session while it is measured.
struct RolloutCheck<'a> {
    path: &'a Path,
    found: Vec<Violation>,
    meta: Option<SessionMeta>,
    /// Whether nothing was met yet.
    first: bool,
    /// The number that the next record must have.
    next: Option<u64>,
    /// Calls without a result, with their lines.
    calls: BTreeMap<String, u64>,
    /// Whether something stands near the beginning that a list can show.
    has_preview: bool,
}

impl RolloutCheck<'_> {
    fn say(&mut self, weight: Weight, line: Option<u64>, rule: &'static str, message: &str) {
        if self.found.len() < MOST {
            self.found.push(Violation {
                weight,
                path: self.path.to_owned(),
                line,
                rule,
                section: SECTION,
                message: message.to_owned(),
            });
        }
    }

    fn error(&mut self, line: u64, rule: &'static str, message: &str) {
        self.say(Weight::Error, Some(line), rule, message);
    }

    fn line(&mut self, number: u64, bytes: &[u8], tree: &mut Tree) {
        if let Err(e) = tree.parse_into(bytes) {
            let message = format!("not JSON: {}, at column {}", e.kind, e.column);
            return self.error(number, "json", &message);
        }
        if bytes.starts_with(b"\xef\xbb\xbf") {
            let message = "begins with a byte order mark: the client does not read the session";
            self.error(number, "byte-order-mark", message);
        }
        if has_lone_surrogate(bytes) {
            let message = "holds half of a surrogate pair: the client passes over the record";
            self.error(number, "surrogate", message);
        }
        let root = tree.root(bytes);
        if !root.is_object() {
            return self.error(number, "json", "not a JSON object");
        }
        let record = RolloutRecord::of(root);
        if std::mem::take(&mut self.first) {
            self.begin(number, &record);
        }
        self.wrapper(number, root, &record);
        self.content(number, &record);
    }

    /// The first record.
    fn begin(&mut self, number: u64, record: &RolloutRecord<'_>) {
        if record.what != RolloutType::Meta {
            let message = "the first record is no `session_meta`: the client does not read it";
            return self.error(number, "meta-first", message);
        }
        let is_bare = record.name() == "bare/header";
        let meta = SessionMeta::of(record.payload, is_bare);
        if is_bare {
            let message = "a file of bare items, which later clients do not read";
            self.say(Weight::Warning, Some(number), "old-format", message);
        } else {
            for key in ["id", "timestamp", "cwd", "originator", "cli_version"] {
                if string_of(record.payload, key).is_none() {
                    let message = format!("`{key}` is missing in `session_meta`");
                    self.error(number, "meta-field", &message);
                }
            }
        }
        self.meta_values(number, record.payload, &meta);
        if meta.is_paginated() {
            self.next = Some(record.ordinal().unwrap_or(0));
        }
        self.meta = Some(meta);
    }

    fn meta_values(&mut self, number: u64, payload: Value<'_>, meta: &SessionMeta) {
        let mode = filled_of(payload, "history_mode");
        if mode.is_some_and(|m| m != "legacy" && m != "paginated") {
            let message = "`history_mode` is neither `legacy` nor `paginated`";
            self.error(number, "history-mode", message);
        }
        if let Some(named) = RolloutName::of(self.path)
            && !named.thread.eq_ignore_ascii_case(&meta.id)
        {
            let message = format!(
                "the session is `{}`, and the file is named after another",
                meta.id
            );
            self.error(number, "file-name", &message);
        }
        if let Some(base) = &meta.base
            && find_rollout(self.path, &base.rollout).is_none()
        {
            let message = format!(
                "the file of `{}`, which it goes on from, is missing",
                base.rollout
            );
            self.error(number, "history-base", &message);
        }
    }

    /// What every record must have.
    fn wrapper(&mut self, number: u64, root: Value<'_>, record: &RolloutRecord<'_>) {
        let is_bare = self.meta.as_ref().is_some_and(SessionMeta::is_bare);
        if is_bare {
            return;
        }
        let has = |key| string_of(root, key).is_some();
        if !has("timestamp") || !has("type") || root.get("payload").is_none() {
            let message = "a record needs `timestamp`, `type` and `payload`: the client skips it";
            return self.error(number, "record", message);
        }
        let Some(next) = self.next else { return };
        match record.ordinal() {
            Some(n) if n == next => {}
            Some(n) => {
                let message = format!("`ordinal` is {n}, not {next}");
                self.error(number, "ordinal", &message);
            }
            None => self.error(number, "ordinal", "`ordinal` is missing"),
        }
        self.next = Some(record.ordinal().unwrap_or(next).saturating_add(1));
    }

    fn content(&mut self, number: u64, record: &RolloutRecord<'_>) {
        let payload = record.payload;
        match record.what {
            RolloutType::Item(Item::Call) => {
                self.calls.extend(call_id(payload).map(|id| (id, number)));
            }
            RolloutType::Item(Item::Output) => {
                let id = call_id(payload).unwrap_or_default();
                if self.calls.remove(&id).is_none() {
                    let message =
                        format!("a result for `{id}`, which nobody called: the client drops it");
                    self.say(
                        Weight::Warning,
                        Some(number),
                        "result-without-call",
                        &message,
                    );
                }
                let output = payload.get("output");
                if output.is_some_and(Value::is_object) {
                    let message = "an output that is an object, which later clients do not read";
                    self.say(Weight::Warning, Some(number), "output", message);
                }
            }
            RolloutType::Event(Ev::User) if number <= PREVIEW => self.has_preview = true,
            _ => {}
        }
    }

    fn end(&mut self, lines: u64) {
        for (id, line) in std::mem::take(&mut self.calls) {
            let message = format!("the call `{id}` has no result: the client takes it for aborted");
            self.say(Weight::Warning, Some(line), "call-without-result", &message);
        }
        let is_new = self.meta.as_ref().is_some_and(|m| !m.is_bare());
        if !self.has_preview && lines > 1 && is_new {
            let message =
                "no words of the person were shown near the beginning: the client does not list it";
            self.say(Weight::Warning, None, "preview", message);
        }
    }
}
