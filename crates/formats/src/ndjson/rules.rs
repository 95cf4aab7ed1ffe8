//! Measuring a file against the document.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rethread_json::{LineBytes, LineSpan, Tree, Value};
use rethread_model::{Moment, home_name};

use super::Ndjson;
use super::field_tables::{FieldType, Shape, Table, block_table, object_table};
use super::index::{FileShape, all_lines, file_shape};
use super::packed::open_export;
use crate::error::unreadable_file;
use crate::fields::{count_of, string_of};
use crate::{OpenError, Rules, Violation, Weight};

const FILE: &str = "File Format";
const LINES: &str = "Line Types";
const HEADER: &str = "Header Record (Line 1)";
const SESSION: &str = "Session Object";
const MESSAGE: &str = "Message Object";
const METADATA: &str = "Message Metadata";
const GRAPH: &str = "Conversation Graph (Optional)";

/// So many violations of one file are told.
const MOST: usize = 10_000;

impl Rules for Ndjson {
    /// Measures a file; gives that it is one, and nothing if it is not ours.
    fn check(&self, path: &Path, out: &mut dyn FnMut(Violation)) -> Result<Option<u64>, OpenError> {
        if !super::store::has_its_name(path) || !path.is_file() {
            return Ok(None);
        }
        let opened = open_export(path)?;
        let failed = |e| unreadable_file(path, e);
        let Some(found) = file_shape(&opened).map_err(failed)? else {
            return Ok(None);
        };
        if let FileShape::Refused { version } | FileShape::Flat { version } = found {
            return Err(OpenError::Unsupported {
                path: path.to_owned(),
                format: "Unified NDJSON",
                version,
                supported: "1.x against its document",
            });
        }
        let mut sheet = ExportCheck {
            path,
            line: 1,
            told: 0,
            out,
            header: None,
            seen: SeenLines::default(),
        };
        if let Some(damage) = &opened.damage {
            sheet.error("packed", FILE, damage.clone());
        }
        let mut lines = all_lines(&opened);
        let mut tree = Tree::default();
        while let Some(line) = lines.next_line().map_err(failed)? {
            sheet.line(line.span, line.bytes, &mut tree);
        }
        sheet.finish();
        Ok(Some(1))
    }
}

/// What the lines hold that the header speaks of.
#[derive(Default)]
struct SeenLines {
    sessions: u64,
    agents: BTreeSet<String>,
    homes: BTreeSet<String>,
    workspaces: BTreeSet<String>,
}

/// What the header says of the lines.
struct ExportHeader {
    sessions: Option<u64>,
    agents: BTreeSet<String>,
    homes: BTreeSet<String>,
    workspaces: BTreeSet<String>,
}

struct ExportCheck<'a> {
    path: &'a Path,
    line: u64,
    told: usize,
    out: &'a mut dyn FnMut(Violation),
    header: Option<ExportHeader>,
    seen: SeenLines,
}

impl ExportCheck<'_> {
    fn line(&mut self, span: LineSpan, bytes: LineBytes<'_>, tree: &mut Tree) {
        self.line = span.number;
        if !span.terminated {
            self.warning("last-line", FILE, "the last line has no line break");
        }
        let LineBytes::Whole(bytes) = bytes else {
            self.warning("long-line", FILE, "the line is too long to be checked");
            return;
        };
        if bytes.trim_ascii().is_empty() {
            self.error("blank-line", FILE, "a line without a JSON object");
            return;
        }
        if std::str::from_utf8(bytes).is_err() {
            self.error("utf-8", FILE, "the line is not UTF-8");
        }
        if let Err(e) = tree.parse_into(bytes) {
            self.error("json", FILE, format!("not JSON: {}", e.kind));
            return;
        }
        let value = tree.root(bytes);
        match string_of(value, "type").as_deref() {
            Some("header") => self.head(value),
            Some("session") => self.record(value),
            _ => self.error(
                "line-type",
                LINES,
                "`type` is neither `header` nor `session`",
            ),
        }
        if self.line == 1 && self.header.is_none() {
            self.error("header", LINES, "the first line is no header");
        }
    }

    fn head(&mut self, value: Value<'_>) {
        if self.line != 1 {
            self.error("header", LINES, "a header that is not the first line");
            return;
        }
        self.object(value, Shape::Header, "");
        let set = |key: &str| {
            let items = value.get(key).map(Value::items).into_iter().flatten();
            items.filter_map(|i| Some(i.str()?.into_owned())).collect()
        };
        let mut workspaces: BTreeSet<String> = set("workspaces");
        // An empty name says that nobody knows it, which needs no place here.
        workspaces.remove("");
        self.header = Some(ExportHeader {
            sessions: count_of(value, "session_count"),
            agents: set("agent_types"),
            homes: set("homes"),
            workspaces,
        });
    }

    fn record(&mut self, value: Value<'_>) {
        self.seen.sessions += 1;
        self.object(value, Shape::Record, "");
        if let Some(session) = value.get("session") {
            self.seen.agents.extend(string_of(session, "agent"));
            let workspace = string_of(session, "workspace").unwrap_or_default();
            let name = Some(workspace_name(&workspace)).filter(|name| !name.is_empty());
            self.seen.workspaces.extend(name.map(str::to_owned));
            if let Some(source) = session.get("source") {
                let host = string_of(source, "host");
                let kind = string_of(source, "type").unwrap_or_default();
                self.seen.homes.insert(home_name(&kind, host.as_deref()));
            }
        }
        let messages = || value.get("messages").into_iter().flat_map(Value::items);
        let ids: BTreeMap<String, u64> = (1..)
            .zip(messages())
            .filter_map(|(at, message)| Some((string_of(message, "uuid")?, at)))
            .collect();
        for (at, message) in (1_u64..).zip(messages()) {
            self.message(message, at, &ids);
        }
        self.times(value, messages());
        if let Some(graph) = value.get("graph") {
            self.graph(graph, &ids);
        }
    }

    /// What one message says of its place among the others, and whose it is.
    fn message(&mut self, message: Value<'_>, at: u64, ids: &BTreeMap<String, u64>) {
        let place = format!("messages[{}]", at - 1);
        if count_of(message, "index") != Some(at) {
            self.error("index", MESSAGE, format!("`{place}.index` is not {at}"));
        }
        let parent = string_of(message, "parent_uuid");
        if let Some(parent) = parent.filter(|p| !ids.contains_key(p)) {
            let what = format!("`{place}`: no message is `{parent}`");
            self.warning("parent", MESSAGE, what);
        }
        let role = string_of(message, "role");
        if role.as_deref() == Some("assistant") {
            return;
        }
        for key in ["model", "token_usage"] {
            if message.at(&["metadata", key]).is_some() {
                let what = format!("`{place}.metadata.{key}`, but no assistant speaks");
                self.error("assistant-only", METADATA, what);
            }
        }
    }

    /// The session begins with its first message and ends with its last.
    fn times<'v>(&mut self, record: Value<'_>, messages: impl Iterator<Item = Value<'v>>) {
        let moment = |value: Value<'_>, key| string_of(value, key)?.parse::<Moment>().ok();
        let Some(session) = record.get("session") else {
            return;
        };
        let mut said: Vec<Moment> = messages.filter_map(|m| moment(m, "timestamp")).collect();
        said.sort();
        let (Some(first), Some(last)) = (said.first(), said.last()) else {
            return;
        };
        if let Some(started) = moment(session, "started_at").filter(|t| t != first) {
            let what =
                format!("`session.started_at` is {started}, the first message is of {first}");
            self.warning("started-at", SESSION, what);
        }
        // A session may end after what is written of it, but not before.
        if let Some(ended) = moment(session, "ended_at").filter(|t| t < last) {
            let what = format!("`session.ended_at` is {ended}, the last message is of {last}");
            self.warning("ended-at", SESSION, what);
        }
    }

    /// Fork points, branches and the active path name messages of the session.
    fn graph(&mut self, graph: Value<'_>, ids: &BTreeMap<String, u64>) {
        let forks = graph.get("fork_points").into_iter().flat_map(Value::items);
        for (at, fork) in forks.enumerate() {
            self.named(&format!("graph.fork_points[{at}]"), fork, ids);
            let branches = fork.get("branches").into_iter().flat_map(Value::items);
            for (n, way) in branches.enumerate() {
                self.named(&format!("graph.fork_points[{at}].branches[{n}]"), way, ids);
            }
        }
        let path = graph.get("active_path").into_iter().flat_map(Value::items);
        for id in path.filter_map(Value::str) {
            if !ids.contains_key(id.as_ref()) {
                let what = format!("`active_path`: no message is `{id}`");
                self.error("active-path", GRAPH, what);
                break;
            }
        }
    }

    /// A message that the graph names by its id and index is there.
    fn named(&mut self, place: &str, message: Value<'_>, ids: &BTreeMap<String, u64>) {
        let Some(uuid) = string_of(message, "uuid") else {
            return;
        };
        let index = count_of(message, "index");
        match ids.get(&uuid) {
            None => self.error(
                "fork-point",
                GRAPH,
                format!("`{place}`: no message is `{uuid}`"),
            ),
            // Ids may be there twice in a damaged source; then either place will do.
            Some(at) if index.is_some_and(|index| index > *at) => {
                let what = format!("`{place}.index`: message `{uuid}` is {at}");
                self.error("fork-point", GRAPH, what);
            }
            Some(_) => {}
        }
    }

    /// Measures an object and all that the document describes in it. The objects are not deeper than
    /// the tables, whatever a file holds.
    fn object(&mut self, value: Value<'_>, shape: Shape, place: &str) {
        if let Some(table) = object_table(shape) {
            self.fields(value, table, place);
        }
    }

    fn fields(&mut self, value: Value<'_>, table: &'static Table, place: &str) {
        for field in table.fields {
            let at = format!("{place}{}", field.key);
            let Some(found) = value.get(field.key) else {
                if field.required {
                    self.error(
                        "required-field",
                        table.section,
                        format!("`{at}` is missing"),
                    );
                }
                continue;
            };
            if !field.is.fits(found) {
                let what = format!("`{at}` is not {}", field.is.words());
                self.error("field-type", table.section, what);
                continue;
            }
            match field.is {
                FieldType::Object(shape) => self.object(found, shape, &format!("{at}.")),
                FieldType::Objects(shape) => {
                    for (i, item) in found.items().enumerate() {
                        self.object(item, shape, &format!("{at}[{i}]."));
                    }
                }
                FieldType::Blocks => self.blocks(found, &at),
                _ => {}
            }
        }
        for (key, _) in value.members() {
            let key = key.str().unwrap_or_default();
            if !table.fields.iter().any(|f| f.key == key) {
                let what = format!("`{place}{key}` is not in the document");
                self.warning("unknown-field", table.section, what);
            }
        }
    }

    fn blocks(&mut self, list: Value<'_>, at: &str) {
        for (i, item) in list.items().enumerate() {
            let kind = string_of(item, "type").unwrap_or_default();
            let place = format!("{at}[{i}].");
            if let Some(table) = block_table(&kind) {
                self.fields(item, table, &place);
            } else {
                let what = format!("`{place}type` is `{kind}`, which the document does not have");
                self.error("block-type", "Content Blocks", what);
            }
        }
    }

    fn finish(&mut self) {
        self.line = 1;
        let Some(header) = self.header.take() else {
            return;
        };
        let seen = std::mem::take(&mut self.seen);
        if header.sessions.is_some_and(|n| n != seen.sessions) {
            let what = format!("`session_count` is not {}", seen.sessions);
            self.error("session-count", HEADER, what);
        }
        for (key, said, found) in [
            ("agent_types", &header.agents, &seen.agents),
            ("homes", &header.homes, &seen.homes),
            ("workspaces", &header.workspaces, &seen.workspaces),
        ] {
            if said != found {
                let what = format!("`{key}` is not what the sessions say");
                self.error("header-sets", HEADER, what);
            }
        }
    }

    fn error(&mut self, rule: &'static str, section: &'static str, message: impl Into<String>) {
        self.tell(Weight::Error, rule, section, message.into());
    }

    fn warning(&mut self, rule: &'static str, section: &'static str, message: impl Into<String>) {
        self.tell(Weight::Warning, rule, section, message.into());
    }

    fn tell(&mut self, weight: Weight, rule: &'static str, section: &'static str, message: String) {
        self.told += 1;
        if self.told > MOST {
            return;
        }
        (self.out)(Violation {
            weight,
            path: self.path.to_owned(),
            line: Some(self.line),
            rule,
            section,
            message,
        });
    }
}

/// The name of a workspace: the last name of its path.
pub fn workspace_name(path: &str) -> &str {
    let path = path.trim_end_matches(['/', '\\']);
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}
