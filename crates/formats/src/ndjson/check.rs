//! Measuring a file against the document.

use std::collections::BTreeSet;
use std::path::Path;

use rethread_json::{LineBytes, LineSpan, Tree, Value};
use rethread_model::home_name;

use super::fields::{count, string};
use super::index::{Shape as FileShape, all_lines, shape};
use super::packed::open;
use super::rules::{Is, Shape, Table, block, table};
use crate::error::unreadable;
use crate::{OpenError, Violation, Weight};

const FILE: &str = "File Format";
const LINES: &str = "Line Types";
const HEADER: &str = "Header Record (Line 1)";
const MESSAGE: &str = "Message Object";
const GRAPH: &str = "Conversation Graph (Optional)";

/// So many violations of one file are told.
const MOST: usize = 10_000;

/// Measures a file; gives that it is one, and nothing if it is not ours.
pub(super) fn check(path: &Path, out: &mut dyn FnMut(Violation)) -> Result<Option<u64>, OpenError> {
    if !super::layout::has_its_name(path) || !path.is_file() {
        return Ok(None);
    }
    let opened = open(path)?;
    let failed = |e| unreadable(path, e);
    let Some(found) = shape(&opened).map_err(failed)? else {
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
    let mut sheet = Sheet {
        path,
        line: 1,
        told: 0,
        out,
        header: None,
        seen: Seen::default(),
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

/// What the lines hold that the header speaks of.
#[derive(Default)]
struct Seen {
    sessions: u64,
    agents: BTreeSet<String>,
    homes: BTreeSet<String>,
    workspaces: BTreeSet<String>,
}

/// What the header says of the lines.
struct Header {
    sessions: Option<u64>,
    agents: BTreeSet<String>,
    homes: BTreeSet<String>,
    workspaces: BTreeSet<String>,
}

struct Sheet<'a> {
    path: &'a Path,
    line: u64,
    told: usize,
    out: &'a mut dyn FnMut(Violation),
    header: Option<Header>,
    seen: Seen,
}

impl Sheet<'_> {
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
        match string(value, "type").as_deref() {
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
        self.header = Some(Header {
            sessions: count(value, "session_count"),
            agents: set("agent_types"),
            homes: set("homes"),
            workspaces,
        });
    }

    fn record(&mut self, value: Value<'_>) {
        self.seen.sessions += 1;
        self.object(value, Shape::Record, "");
        if let Some(session) = value.get("session") {
            self.seen.agents.extend(string(session, "agent"));
            let workspace = string(session, "workspace").unwrap_or_default();
            let name = Some(name_of(&workspace)).filter(|name| !name.is_empty());
            self.seen.workspaces.extend(name.map(str::to_owned));
            if let Some(source) = session.get("source") {
                let host = string(source, "host");
                let kind = string(source, "type").unwrap_or_default();
                self.seen.homes.insert(home_name(&kind, host.as_deref()));
            }
        }
        let messages = value.get("messages").map(Value::items);
        let mut ids = BTreeSet::new();
        for (at, message) in (1_u64..).zip(messages.into_iter().flatten()) {
            if count(message, "index") != Some(at) {
                let what = format!("`messages[{}].index` is not {at}", at - 1);
                self.error("index", MESSAGE, what);
            }
            let parent = string(message, "parent_uuid");
            if let Some(parent) = parent.filter(|p| !ids.contains(p)) {
                let what = format!("`messages[{}]`: no message before it is `{parent}`", at - 1);
                self.warning("parent", MESSAGE, what);
            }
            ids.extend(string(message, "uuid"));
        }
        let path = value.at(&["graph", "active_path"]).map(Value::items);
        for id in path.into_iter().flatten() {
            if id.str().is_some_and(|id| !ids.contains(id.as_ref())) {
                self.error(
                    "active-path",
                    GRAPH,
                    "`active_path` names a message that is not there",
                );
                break;
            }
        }
    }

    /// Measures an object and all that the document describes in it. The objects are not deeper than
    /// the tables, whatever a file holds.
    fn object(&mut self, value: Value<'_>, shape: Shape, place: &str) {
        if let Some(table) = table(shape) {
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
                Is::Object(shape) => self.object(found, shape, &format!("{at}.")),
                Is::Objects(shape) => {
                    for (i, item) in found.items().enumerate() {
                        self.object(item, shape, &format!("{at}[{i}]."));
                    }
                }
                Is::Blocks => self.blocks(found, &at),
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
            let kind = string(item, "type").unwrap_or_default();
            let place = format!("{at}[{i}].");
            if let Some(table) = block(&kind) {
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
pub fn name_of(path: &str) -> &str {
    let path = path.trim_end_matches(['/', '\\']);
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}
