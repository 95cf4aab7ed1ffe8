//! Measuring session files against the format's document.
//!
//! A file is read once. What is wrong with links between entries is known only at its end, so what
//! was found is kept until then and told in the order of lines.

mod fields;
mod links;

use std::path::{Path, PathBuf};

use rethread_disk::{DiskError, open_read};
use rethread_json::{LineBytes, LineSpan, Lines, Tree, Value};

use self::fields::{ENTRY, ENTRY_BASE, HEADER, needed_fields};
use self::links::CheckedLinks;
use super::header::is_header_line;
use super::kinds::giant_head;
use super::{Flavour, VERSION, encode_cwd};
use crate::check::fields::{Field, judge};
use crate::check::known::shown_text;
use crate::check::law::{Law, law};
use crate::check::sheet::{Headings, Sheet, unreadable};
use crate::{OpenError, Rules, Store, Violation, Weight};

const FILE: &str = "Session File Format";
const LOCATION: &str = "File Location";
const VERSIONS: &str = "Session Version";
const TREE: &str = "Tree Structure";
const MESSAGES: &str = "Message Types";

/// So many violations of one file are told.
const MOST: usize = 10_000;

impl Rules for Flavour {
    /// Measures the sessions at a path; gives how many there are, and nothing if the path is not ours.
    fn check(&self, path: &Path, out: &mut dyn FnMut(Violation)) -> Result<Option<u64>, OpenError> {
        let sources = self.at_path(path);
        for source in &sources {
            if let Err(e) = check_file(&source.path, out) {
                out(unreadable(&source.path, &e, FILE));
            }
        }
        Ok((!sources.is_empty()).then_some(sources.len() as u64))
    }
}

fn check_file(path: &Path, out: &mut dyn FnMut(Violation)) -> Result<(), DiskError> {
    let mut lines = Lines::new(open_read(path)?);
    let mut run = FileCheck::new(path);
    let mut tree = Tree::default();
    loop {
        let line = lines.next_line().map_err(|cause| {
            let path = path.to_owned();
            DiskError::Read { path, cause }
        })?;
        let Some(line) = line else { break };
        match line.bytes {
            LineBytes::Whole(bytes) => run.line(line.span, bytes, &mut tree),
            LineBytes::Giant { head } => run.giant(line.span, head),
        }
    }
    run.finish();
    run.found.sort_by_key(|v| v.line);
    run.found.into_iter().for_each(out);
    Ok(())
}

/// An object in a line: where it is, and where the document describes it.
struct ObjectPart<'a> {
    prefix: &'a str,
    section: &'static str,
}

/// One file under judgement.
struct FileCheck<'a> {
    path: &'a Path,
    /// The version that the header names, once it was met.
    version: Option<u64>,
    links: CheckedLinks,
    found: Vec<Violation>,
}

impl<'a> FileCheck<'a> {
    fn new(path: &'a Path) -> Self {
        Self {
            path,
            version: None,
            links: CheckedLinks::default(),
            found: Vec::new(),
        }
    }

    fn tell(&mut self, weight: Weight, line: u64, law: Law, message: impl Into<String>) {
        if self.found.len() > MOST {
            return;
        }
        let is_last = self.found.len() == MOST;
        self.found.push(Violation {
            weight,
            path: self.path.to_owned(),
            line: Some(line),
            rule: if is_last { "more" } else { law.rule },
            section: law.section,
            message: if is_last {
                format!("more than {MOST} violations; the rest is not told")
            } else {
                message.into()
            },
        });
    }

    fn error(&mut self, line: u64, law: Law, message: impl Into<String>) {
        self.tell(Weight::Error, line, law, message);
    }

    fn warning(&mut self, line: u64, law: Law, message: impl Into<String>) {
        self.tell(Weight::Warning, line, law, message);
    }

    fn line(&mut self, span: LineSpan, bytes: &[u8], tree: &mut Tree) {
        let n = span.number;
        if n == 1 && bytes.starts_with(b"\xef\xbb\xbf") {
            self.warning(
                n,
                law("byte-order-mark", FILE),
                "begins with a byte order mark",
            );
        }
        if bytes.trim_ascii().is_empty() {
            self.warning(n, law("blank-line", FILE), "a blank line");
            return;
        }
        if let Err(e) = tree.parse_into(bytes) {
            let rule = if span.terminated { "json" } else { "torn-line" };
            let message = format!("not JSON: {}, at column {}", e.kind, e.column);
            self.error(n, law(rule, FILE), message);
            return;
        }
        if !span.terminated {
            let message = "the last line has no line break: what is added next may be glued to it";
            self.warning(n, law("line-break", FILE), message);
        }
        let value = tree.root(bytes);
        if !value.is_object() {
            self.error(n, law("json", FILE), "not a JSON object");
        } else if self.version.is_none() {
            self.header(n, value);
        } else if is_header_line(value) {
            self.warning(
                n,
                law("second-header", HEADER),
                "another header; it is ignored",
            );
        } else {
            self.entry(n, value);
        }
    }

    fn giant(&mut self, span: LineSpan, start: &[u8]) {
        let message = format!("a line of {} bytes is too long to be checked", span.len);
        self.warning(span.number, law("giant-line", FILE), message);
        if let Some(id) = giant_head(start).id {
            self.links.add(id, span.number);
        }
    }

    fn header(&mut self, n: u64, value: Value<'_>) {
        let version = value.get("version").filter(|v| !v.is_null());
        let number = version.map_or(Some(1), Value::u64);
        self.version = Some(number.unwrap_or(VERSION));
        if !is_header_line(value) {
            self.error(
                n,
                law("header", HEADER),
                "the first object is no session header",
            );
            return;
        }
        if n > 1 {
            self.warning(
                n,
                law("header", HEADER),
                "the header is not in the first line",
            );
        }
        match number {
            None => self.error(n, law("version", VERSIONS), "`version` is no whole number"),
            Some(v) if v > VERSION => {
                let message = format!("version {v} is newer than version {VERSION}");
                self.warning(n, law("version", VERSIONS), message);
            }
            Some(v) if v < VERSION => {
                let message =
                    format!("an old version, {v}; `rethread migrate` brings it to {VERSION}");
                self.warning(n, law("version", VERSIONS), message);
            }
            Some(_) => {}
        }
        self.fields(
            n,
            value,
            &ObjectPart {
                prefix: "",
                section: HEADER,
            },
            fields::HEADER_FIELDS,
        );
        self.names(n, value);
    }

    /// Names follow from the header. They are not trusted anywhere, so these are only warnings.
    fn names(&mut self, n: u64, header: Value<'_>) {
        let text = |key| header.get(key).and_then(Value::str);
        let path = PathBuf::from(self.path);
        if let (Some(id), Some(time)) = (text("id"), text("timestamp")) {
            let wanted = super::manager::names::session_file(&time, &id);
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name != wanted {
                let message = format!("the file is not called `{wanted}`");
                self.warning(n, law("file-name", LOCATION), message);
            }
        }
        if let Some(cwd) = text("cwd") {
            let wanted = encode_cwd(&cwd);
            let folder = path.parent().and_then(Path::file_name);
            let folder = folder.unwrap_or_default().to_string_lossy();
            let is_encoded = folder.starts_with("--") && folder.ends_with("--");
            if is_encoded && folder != wanted {
                let message = format!("the folder is not called `{wanted}`");
                self.warning(n, law("folder-name", LOCATION), message);
            }
        }
    }

    fn entry(&mut self, n: u64, value: Value<'_>) {
        let is_tree = self.version.is_some_and(|v| v >= 2);
        self.fields(
            n,
            value,
            &ObjectPart {
                prefix: "",
                section: ENTRY_BASE,
            },
            fields::BASE,
        );
        if is_tree {
            self.fields(
                n,
                value,
                &ObjectPart {
                    prefix: "",
                    section: ENTRY_BASE,
                },
                fields::PLACE,
            );
            self.place(n, value);
        }
        let type_name = value.get("type").and_then(Value::str).unwrap_or_default();
        match needed_fields(&type_name) {
            Some(needs) => self.fields(
                n,
                value,
                &ObjectPart {
                    prefix: "",
                    section: ENTRY_BASE,
                },
                needs,
            ),
            None if type_name.is_empty() => {}
            None => {
                let message = format!("{} is no type of the document", shown_text(&type_name));
                self.warning(n, law("unknown-type", ENTRY), message);
            }
        }
        if type_name == "message"
            && let Some(message) = value.get("message").filter(|m| m.is_object())
        {
            self.message(n, message);
        }
        if is_tree {
            self.refers(n, &type_name, value);
        }
    }

    fn place(&mut self, n: u64, value: Value<'_>) {
        let text = |key| value.get(key).and_then(Value::str);
        let Some(id) = text("id") else { return };
        let parent = text("parentId");
        let is_first = self.links.is_empty();
        if is_first && parent.is_some() {
            let message = "the first entry has a parent; its `parentId` must be null";
            self.error(n, law("first-entry", TREE), message);
        }
        if let Some(before) = self.links.add(id.clone().into_owned(), n) {
            let message = format!("the id {} is that of line {before} too", shown_text(&id));
            self.error(n, law("duplicate-id", ENTRY), message);
        }
        if let Some(parent) = parent.filter(|_| !is_first) {
            self.links.parent(&id, &parent, n);
        }
    }

    /// Ids of other entries.
    fn refers(&mut self, n: u64, type_name: &str, value: Value<'_>) {
        let key = match type_name {
            "label" | "context_edit" => "targetId",
            "compaction" => "firstKeptEntryId",
            "branch_summary" => "fromId",
            _ => return,
        };
        if let Some(id) = value.get(key).and_then(Value::str)
            && !(key == "fromId" && id == "root")
        {
            self.links.refers(key, &id, n);
        }
    }

    fn message(&mut self, n: u64, message: Value<'_>) {
        let role = message.get("role").and_then(Value::str).unwrap_or_default();
        let Some(wanted) = fields::of_role(&role) else {
            if !role.is_empty() {
                let message = format!("{} is no role of the document", shown_text(&role));
                self.warning(n, law("unknown-role", MESSAGES), message);
            }
            return;
        };
        if role == "hookMessage" && self.version.is_some_and(|v| v >= 3) {
            let message = "`hookMessage` is called `custom` since version 3";
            self.error(n, law("role", VERSIONS), message);
        }
        self.fields(
            n,
            message,
            &ObjectPart {
                prefix: "message.",
                section: MESSAGES,
            },
            wanted,
        );
        for (i, block) in message
            .get("content")
            .into_iter()
            .flat_map(Value::items)
            .enumerate()
        {
            let prefix = format!("message.content[{i}].");
            self.fields(
                n,
                block,
                &ObjectPart {
                    prefix: &prefix,
                    section: MESSAGES,
                },
                fields::BLOCK,
            );
            let kind = block.get("type").and_then(Value::str).unwrap_or_default();
            self.fields(
                n,
                block,
                &ObjectPart {
                    prefix: &prefix,
                    section: MESSAGES,
                },
                fields::of_block(&kind),
            );
        }
    }

    /// Judges the fields of an object in a line; `prefix` is where the object itself is.
    fn fields(&mut self, n: u64, object: Value<'_>, part: &ObjectPart<'_>, fields: &[Field]) {
        let (section, general) = (part.section, part.section);
        let headings = Headings { section, general };
        // All of it is in one line, so its bytes need not be looked at again.
        let mut sheet = Sheet::new(self.path, &[], n, headings);
        judge(&mut sheet, object, part.prefix, fields);
        sheet.report_all(&mut |v| self.tell(v.weight, n, law(v.rule, v.section), v.message));
    }

    fn finish(&mut self) {
        if self.version.is_none() {
            self.error(1, law("header", HEADER), "there is no session header");
        }
        for wrong in std::mem::take(&mut self.links).wrong() {
            self.tell(
                wrong.weight,
                wrong.line,
                law(wrong.rule, TREE),
                wrong.message,
            );
        }
    }
}
