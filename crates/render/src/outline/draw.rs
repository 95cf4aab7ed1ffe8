//! The tree of a session for people: a line for what somebody said, with the calls that it made.

use std::io::{self, Write};

use rethread_model::{Block, Body, EntryIx, Message, Role, Visibility};
use unicode_width::UnicodeWidthStr;

use super::{OutlineRow, OutlineRows, TreeFacts, row_prefix, subagent_links};
use crate::notice::entry_notice;
use crate::reading::{ClientText, Speaker, ToolUse, agent_word, classify_client_text};
use crate::text::{Paint, head_lines, speaker_style};
use crate::tool::only_results;
use crate::{Style, View, fit, one_line};

/// How many calls of a message are named.
const CALLS: usize = 3;

/// How much is told of one of several, and of one that is alone.
const CALL: usize = 46;
const ONE_CALL: usize = 160;

/// How many columns an excerpt has at least.
const NARROWEST: usize = 8;

/// Draws the tree of a session for people. What happened beside the conversation is counted, and
/// results stand with their calls.
pub fn draw_tree(out: &mut dyn Write, view: &View<'_>, style: &Style) -> io::Result<()> {
    head_lines(out, view, style)?;
    let facts = TreeFacts::of_view(view);
    let mut rows = OutlineRows::new(view, &facts);
    let mut drawing = TreeDrawing {
        out,
        view,
        facts: &facts,
        paint: Paint(style.colour),
        width: style.width.clamp(20, 400),
        node: None,
    };
    while let Some(row) = rows.next() {
        let body = view.bodies.body(row.ix);
        drawing.draw_row(&row, body)?;
    }
    drawing.finish()?;
    for link in subagent_links(view) {
        writeln!(out, "↳ sub-agent {}", one_line(&link.session))?;
    }
    Ok(())
}

struct TreeDrawing<'a> {
    out: &'a mut dyn Write,
    view: &'a View<'a>,
    facts: &'a TreeFacts,
    paint: Paint,
    width: usize,
    /// What may still get results and events.
    node: Option<PendingLine>,
}

/// A line that is about to be drawn.
struct PendingLine {
    prefix: String,
    first: EntryIx,
    /// The entry that was added last.
    last: EntryIx,
    speaker: Speaker,
    text: String,
    calls: Vec<CallMark>,
    /// Bookmarks on its entries.
    labels: Vec<String>,
    /// What happened beside it.
    events: u64,
    is_leaf: bool,
}

/// A call, by its id, with how it ended.
struct CallMark {
    id: String,
    what: String,
    sign: &'static str,
}

/// What an entry is to the tree.
enum DrawnEntry {
    /// Somebody said something.
    Said(Speaker, String),
    /// Results of calls.
    Results,
    /// Something that is only counted.
    Event,
    /// Something that is seen elsewhere.
    Nothing,
}

impl TreeDrawing<'_> {
    fn draw_row(&mut self, row: &OutlineRow, body: Body) -> io::Result<()> {
        let drawn = self.classify_entry(row.ix, &body);
        let is_leaf = self.view.session.leaf() == Some(row.ix);
        let parent = self.view.session.entry(row.ix).parent;
        let goes_on = |node: &PendingLine| !row.begins && parent == Some(node.last);
        if !matches!(drawn, DrawnEntry::Said(..)) {
            if let Some(node) = self.node.as_mut().filter(|node| goes_on(node)) {
                node.last = row.ix;
                node.is_leaf |= is_leaf;
                node.events += u64::from(matches!(drawn, DrawnEntry::Event));
                node.labels
                    .extend(self.facts.label_of(self.view, row.ix).map(str::to_owned));
                if let Body::Message(message) = body {
                    node.add_results(message);
                }
                return Ok(());
            }
            if matches!(drawn, DrawnEntry::Event | DrawnEntry::Nothing) && !is_leaf && !row.begins {
                return Ok(());
            }
        }
        self.draw_pending()?;
        let (speaker, text) = match drawn {
            DrawnEntry::Said(speaker, text) => (speaker, text),
            DrawnEntry::Results => (Speaker::Agent, String::new()),
            DrawnEntry::Event | DrawnEntry::Nothing => {
                let line = entry_notice(body.clone()).map(|notice| format!("· {}", notice.line));
                (Speaker::System, line.unwrap_or_default())
            }
        };
        let mut node = PendingLine {
            prefix: row_prefix(row),
            first: row.ix,
            last: row.ix,
            speaker,
            text,
            calls: Vec::new(),
            labels: Vec::new(),
            events: 0,
            is_leaf,
        };
        node.labels
            .extend(self.facts.label_of(self.view, row.ix).map(str::to_owned));
        if let Body::Message(message) = body {
            node.add_calls(message, self.view.session.head.workspace.path.as_deref());
        }
        self.node = Some(node);
        Ok(())
    }

    fn classify_entry(&self, ix: EntryIx, body: &Body) -> DrawnEntry {
        let entry = self.view.session.entry(ix);
        match body {
            Body::Message(message) => message_drawn(message, entry.visibility),
            Body::Compaction(_) | Body::BranchSummary(_) => {
                let notice = entry_notice(body.clone());
                let text = notice.map_or_else(String::new, |n| match n.text {
                    Some(text) => format!("{}: {text}", n.line),
                    None => n.line,
                });
                DrawnEntry::Said(Speaker::Cut, text)
            }
            Body::Label(_) => DrawnEntry::Nothing,
            _ => DrawnEntry::Event,
        }
    }

    /// Draws the line that was waiting.
    fn draw_pending(&mut self) -> io::Result<()> {
        let Some(node) = self.node.take() else {
            return Ok(());
        };
        let mark = if self.facts.is_active(node.first) {
            "●"
        } else {
            "○"
        };
        let who = match &node.speaker {
            Speaker::Person => "You".to_owned(),
            Speaker::Agent => agent_word(self.view).to_owned(),
            Speaker::System => "System".to_owned(),
            Speaker::Extension(name) => name.clone(),
            Speaker::Cut => "Summary".to_owned(),
        };
        let who = fit(&who, 20);
        let number = format!("#{}", node.first.get() + 1);
        let mut tail = String::new();
        for label in &node.labels {
            tail = format!("{tail} [{}]", fit(label, 40));
        }
        if node.events > 0 {
            let events = if node.events == 1 { "event" } else { "events" };
            tail = format!("{tail}  · {} {events}", node.events);
        }
        if node.is_leaf {
            tail.push_str("  ◀ leaf");
        }
        let used = node.prefix.width() + number.width() + who.width() + tail.width() + 6;
        let room = self.width.saturating_sub(used).max(NARROWEST);
        let text = fit(&node.line_text(), room);
        let line = format!(
            "{}{mark} {}  {}  {text}{tail}",
            node.prefix,
            self.paint.paint_text(anstyle::Style::new().bold(), &number),
            self.paint.paint_text(speaker_style(&node.speaker), &who),
        );
        writeln!(self.out, "{}", line.trim_end())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.draw_pending()
    }
}

impl PendingLine {
    /// What was said, and what was done.
    fn line_text(&self) -> String {
        let mut words = vec![self.text.clone()];
        // One that is alone may have the whole line.
        let longest = if self.calls.len() > 1 { CALL } else { ONE_CALL };
        let named = self.calls.iter().take(CALLS);
        words.extend(named.map(|call| format!("{} {}", call.sign, fit(&call.what, longest))));
        if let Some(more) = self.calls.len().checked_sub(CALLS).filter(|n| *n > 0) {
            words.push(format!("and {more} more"));
        }
        words.retain(|word| !word.is_empty());
        words.join("  ")
    }

    fn add_calls(&mut self, message: Message, workspace: Option<&str>) {
        let mut results = Vec::new();
        for block in message.blocks {
            match block {
                Block::ToolCall(call) => {
                    let id = call.id.clone();
                    let call = ToolUse::new(call, None);
                    let about = call.describe_call(&call.input(), workspace);
                    self.calls.push(CallMark {
                        id,
                        what: match about {
                            Some(about) => format!("{} {}", call.name, fit(about.trim(), ONE_CALL)),
                            None => call.name.clone(),
                        },
                        sign: call.outcome(&[]).sign,
                    });
                }
                Block::ToolResult(result) => results.push(result),
                _ => {}
            }
        }
        for result in results {
            self.add_result(result);
        }
    }

    fn add_results(&mut self, message: Message) {
        for block in message.blocks {
            if let Block::ToolResult(result) = block {
                self.add_result(result);
            }
        }
    }

    fn add_result(&mut self, result: rethread_model::ToolResult) {
        let id = result.call_id.clone();
        let alone = ToolUse::result_alone(result, None);
        let sign = alone.outcome(&[]).sign;
        match self.calls.iter_mut().find(|call| call.id == id) {
            // A call that was stopped may have a result, which says nothing of that.
            Some(call) if sign == "✗" || call.sign == "…" => call.sign = sign,
            Some(_) => {}
            None => self.calls.push(CallMark {
                id,
                what: alone.name,
                sign,
            }),
        }
    }
}

fn message_drawn(message: &Message, visibility: Visibility) -> DrawnEntry {
    if message.role == Role::Tool || only_results(message) {
        return DrawnEntry::Results;
    }
    let mut words: Vec<String> = Vec::new();
    let mut is_typed = false;
    let is_injected = matches!(visibility, Visibility::Injected | Visibility::Hidden);
    for block in &message.blocks {
        match block {
            Block::Text(text) if is_injected => {
                let extension = message.extension.as_deref();
                for one in classify_client_text(text.value.clone(), message.role, extension) {
                    if let ClientText::Typed(text) = one {
                        is_typed = true;
                        words.push(text);
                    }
                }
            }
            Block::Text(text) => words.push(text.value.trim().to_owned()),
            Block::Image(_) => words.push("[image]".to_owned()),
            Block::File(_) => words.push("[file]".to_owned()),
            _ => {}
        }
    }
    if is_injected && !is_typed {
        return DrawnEntry::Event;
    }
    words.retain(|word| !word.is_empty());
    if let Some(error) = &message.error {
        words.push(format!("✗ {error}"));
    }
    let speaker = match (message.role, &message.extension) {
        (Role::Assistant | Role::Tool, _) => Speaker::Agent,
        (_, Some(name)) if visibility == Visibility::Visible => Speaker::Extension(name.clone()),
        (Role::User, _) => Speaker::Person,
        (Role::System, _) => Speaker::System,
    };
    DrawnEntry::Said(speaker, words.join(" "))
}
