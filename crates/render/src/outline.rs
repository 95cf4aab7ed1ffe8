//! The tree of a session, a line an entry: branches, labels, compactions, where the leaf is.
//!
//! Only what was left is indented: where branches part, the one that leads to the leaf goes on below
//! the others without a step to the right, so that thousands of entries and branches stay readable.

mod draw;

use std::collections::BTreeMap;
use std::io::{self, Write};

use rethread_model::{Block, Body, EntryIx, Kind, Link, LinkKind, Message, Role};

use crate::json::JsonWriter;
use crate::notice::entry_notice;
use crate::tool::{full_name, result_name};
use crate::unified::{type_word, write_fields};
use crate::{View, fit};

pub use self::draw::draw_tree;

/// How many levels of branches are drawn; deeper ones are told by their number.
const DRAWN: usize = 24;

/// How much of an entry's text stands in the tree for scripts, in columns.
const EXCERPT: usize = 200;

/// One line of the outline.
struct OutlineRow {
    ix: EntryIx,
    /// How many times one steps aside on the way to it.
    depth: usize,
    /// For each level, whether more branches follow below.
    more: Vec<bool>,
    /// Whether a branch begins here.
    begins: bool,
}

/// The sessions of sub-agents, where they are known.
fn subagent_links<'a>(view: &View<'a>) -> impl Iterator<Item = &'a Link> {
    let links = view.session.head.links.iter();
    links.filter(|l| l.kind == LinkKind::SubAgent)
}

/// Writes the tree of a session for scripts: one object an entry, parents before children, then one
/// for each sub-agent.
pub fn tree_json(out: &mut dyn Write, view: &View<'_>) -> io::Result<()> {
    let facts = TreeFacts::of_view(view);
    let mut rows = OutlineRows::new(view, &facts);
    while let Some(row) = rows.next() {
        let session = view.session;
        let entry = session.entry(row.ix);
        let body = view.bodies.body(row.ix);
        let parent = entry.parent.map(|p| session.id(p));
        let mut w = JsonWriter::new(out);
        w.open("{")?;
        w.write_member("id", session.id(row.ix))?;
        w.member_or_null("parent_id", parent)?;
        w.number_if("depth", Some(row.depth as u64))?;
        w.write_member("type", type_word(&body).unwrap_or("message"))?;
        if let Kind::Message(role) = entry.kind {
            w.write_member("role", role_word(role))?;
        }
        w.moment_if("timestamp", entry.time)?;
        w.flag_if("active", facts.is_active(row.ix))?;
        w.flag_if("leaf", session.leaf() == Some(row.ix))?;
        w.member_if("bookmark", facts.label_of(view, row.ix))?;
        // The text of an event is among its own fields.
        let has_text = matches!(&body, Body::Event(event) if event.text.is_some());
        if !has_text {
            let text = fit(&body_excerpt(&body), EXCERPT);
            w.member_if("text", Some(text.as_str()).filter(|t| !t.is_empty()))?;
        }
        if let Body::Message(message) = &body {
            w.member_if("extension", message.extension.as_deref())?;
            w.raw_if("details", message.details.as_ref())?;
        }
        write_fields(&mut w, &body)?;
        w.close("}")?;
        w.end_line()?;
    }
    for link in subagent_links(view) {
        let mut w = JsonWriter::new(out);
        w.open("{")?;
        w.write_member("type", "sub_agent")?;
        w.write_member("session_id", &link.session)?;
        w.member_if("tool_id", link.tool_call.as_deref())?;
        w.close("}")?;
        w.end_line()?;
    }
    Ok(())
}

fn role_word(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::System => "system",
        Role::Tool => "tool",
    }
}

/// What is known of the whole tree before it is drawn.
struct TreeFacts {
    /// For each entry, whether it is on the way to the leaf.
    active: Vec<bool>,
    /// The bookmarks that are set, by the ids of their entries.
    labels: BTreeMap<String, String>,
}

impl TreeFacts {
    fn of_view(view: &View<'_>) -> Self {
        let mut active = vec![false; view.session.entries().len()];
        for ix in view.session.active_path() {
            active[ix.get()] = true;
        }
        Self {
            active,
            labels: view.labels_by_entry(),
        }
    }

    fn is_active(&self, ix: EntryIx) -> bool {
        self.active[ix.get()]
    }

    fn label_of(&self, view: &View<'_>, ix: EntryIx) -> Option<&str> {
        self.labels.get(view.session.id(ix)).map(String::as_str)
    }
}

/// Walks the tree from its roots, depth first, without recursion.
struct OutlineRows<'a> {
    facts: &'a TreeFacts,
    children: rethread_model::Children,
    stack: Vec<OutlineRow>,
    seen: Vec<bool>,
    /// Entries that no root leads to: parts of a circle.
    rest: std::vec::IntoIter<EntryIx>,
}

impl<'a> OutlineRows<'a> {
    fn new(view: &View<'_>, facts: &'a TreeFacts) -> Self {
        let session = view.session;
        let roots: Vec<EntryIx> = session.roots().collect();
        let alone = roots.len() == 1;
        let last = roots.last().copied();
        let row = |ix: EntryIx| OutlineRow {
            ix,
            depth: usize::from(!alone),
            more: if alone {
                Vec::new()
            } else {
                vec![Some(ix) != last]
            },
            begins: !alone,
        };
        let all: Vec<EntryIx> = session.indexed().map(|(ix, _)| ix).collect();
        Self {
            facts,
            children: session.children(),
            stack: roots.into_iter().rev().map(row).collect(),
            seen: vec![false; session.entries().len()],
            rest: all.into_iter(),
        }
    }

    fn next(&mut self) -> Option<OutlineRow> {
        let row = loop {
            let next = match self.stack.pop() {
                Some(row) => row,
                None => OutlineRow {
                    ix: self.rest.next()?,
                    depth: 0,
                    more: Vec::new(),
                    begins: false,
                },
            };
            if !std::mem::replace(&mut self.seen[next.ix.get()], true) {
                break next;
            }
        };
        let children = self.children.of(row.ix);
        // The one that leads to the leaf goes on, else the last.
        let active = children.iter().position(|c| self.facts.is_active(*c));
        let goes_on = active.or(children.len().checked_sub(1));
        if let Some(at) = goes_on {
            self.stack.push(OutlineRow {
                ix: children[at],
                depth: row.depth,
                more: row.more.clone(),
                begins: false,
            });
        }
        for (at, child) in children.iter().enumerate().rev() {
            if Some(at) == goes_on {
                continue;
            }
            let mut more = row.more.clone();
            if more.len() < DRAWN {
                more.push(true);
            }
            self.stack.push(OutlineRow {
                ix: *child,
                depth: row.depth + 1,
                more,
                begins: true,
            });
        }
        Some(row)
    }
}

/// The lines that lead to an entry.
fn row_prefix(row: &OutlineRow) -> String {
    let mut prefix = String::new();
    let levels = row.more.len();
    for (i, more) in row.more.iter().enumerate() {
        prefix.push_str(match (row.begins && i + 1 == levels, more) {
            (true, true) => "├─ ",
            (true, false) => "└─ ",
            (false, true) => "│  ",
            (false, false) => "   ",
        });
    }
    if row.depth > levels {
        return format!("{prefix}({}) ", row.depth);
    }
    prefix
}

/// An entry in one line. Untrusted, not yet neutral.
fn body_excerpt(body: &Body) -> String {
    match body {
        Body::Message(message) => message_excerpt(message),
        other => entry_notice(other.clone()).map_or_else(String::new, |n| match n.text {
            Some(text) => format!("{}: {text}", n.line),
            None => n.line,
        }),
    }
}

fn message_excerpt(message: &Message) -> String {
    let mut words: Vec<String> = Vec::new();
    for block in &message.blocks {
        match block {
            Block::Text(text) => words.push(text.value.trim().to_owned()),
            Block::ToolCall(call) => words.push(format!("▸ {}", full_name(call))),
            Block::ToolResult(result) => words.push(format!("◂ {}", result_name(result))),
            Block::Image(_) => words.push("[image]".to_owned()),
            Block::File(_) => words.push("[file]".to_owned()),
            Block::Thinking(_) | Block::Aside { .. } | Block::Unknown { .. } => {}
        }
    }
    words.retain(|w| !w.is_empty());
    format!("{}: {}", role_word(message.role), words.join(" "))
}
