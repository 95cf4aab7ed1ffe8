//! Messages.

use std::io;

use rethread_model::{Block, Entry, EntryIx, Message, Role, Text, Thinking, Visibility};

use super::Flow;
use super::media::{image, named};
use super::prose::prose;
use crate::notice::model_name;
use crate::reading::Ahead;
use crate::tool::{answer, calls, only_results};
use crate::unknown::unknown;
use crate::view::seen;

/// How much of a folded message stands on its fold, in columns.
const EXCERPT: usize = 100;

impl Flow<'_, '_, '_> {
    /// Writes a message. `taken` says that results of it were shown with their calls: then the rest is
    /// shown if there is any.
    pub(super) fn message(
        &mut self,
        ix: EntryIx,
        message: &Message,
        taken: bool,
        ahead: &mut Ahead<'_>,
    ) -> io::Result<()> {
        self.number += 1;
        let view = self.view;
        let entry = view.session.entry(ix);
        let hidden = if self.options.tools {
            0
        } else {
            calls(message)
        };
        let is_empty = || !message.blocks.iter().any(|b| self.options.shows_block(b));
        let nothing_left = taken && message.error.is_none() && is_empty();
        if nothing_left || !self.options.shows(entry, message) {
            self.hidden += hidden;
            return Ok(());
        }
        self.end_run()?;
        self.hidden = hidden;
        let role = match message.role {
            Role::User if only_results(message) => Role::Tool,
            role => role,
        };
        self.open(ix, entry, role, message)?;
        let folded = entry.visibility != Visibility::Visible || role == Role::System;
        if folded {
            self.out().raw("<details class=fold><summary>")?;
            let first = message.blocks.iter().find_map(words).unwrap_or("…");
            self.out().line(&crate::fit(first.trim(), EXCERPT))?;
            self.out().raw("</summary>\n")?;
        }
        self.blocks(&message.blocks, ahead)?;
        if folded {
            self.out().raw("</details>\n")?;
        }
        if let Some(error) = &message.error {
            self.out().raw("<div class=\"prose failed\">\n")?;
            prose(self.out(), error)?;
            self.out().raw("</div>\n")?;
        }
        self.out().raw("</article>\n")
    }

    fn open(
        &mut self,
        ix: EntryIx,
        entry: &Entry,
        role: Role,
        message: &Message,
    ) -> io::Result<()> {
        self.day(entry)?;
        let model = message.model.as_ref().map(model_name);
        let model = model.filter(|model| self.model.as_ref() != Some(model));
        let label = self.labels.get(self.view.session.id(ix)).cloned();
        let goes_on = self.speaker == Some(role)
            && role != Role::User
            && model.is_none()
            && label.is_none()
            && entry.visibility == Visibility::Visible;
        self.speaker = Some(role);
        if role == Role::User
            && entry.visibility == Visibility::Visible
            && let Some(text) = message.blocks.iter().find_map(words)
        {
            self.prompt(text);
        }
        let (class, name) = match role {
            Role::User => ("user", "User"),
            Role::Assistant => ("assistant", "Assistant"),
            Role::System => ("system", "System"),
            Role::Tool => ("tools", "Tool"),
        };
        let number = self.number;
        self.out().raw("<article class=\"")?;
        self.out().raw(class)?;
        self.out()
            .raw(if goes_on { " on\" id=\"" } else { "\" id=\"" })?;
        self.anchor("m", number)?;
        self.out().raw("\">\n<header><h2>")?;
        self.out().raw(name)?;
        self.out().raw("</h2>")?;
        if let Some(seen) = seen(entry.visibility) {
            self.out().raw(" <span>")?;
            self.out().line(seen)?;
            self.out().raw("</span>")?;
        }
        for (open, word) in [
            (" <span class=label>", label.as_ref()),
            (" <code>", message.extension.as_ref()),
            (" <code class=model>", model.as_ref()),
        ] {
            if let Some(word) = word {
                self.out().raw(open)?;
                self.out().line(word)?;
                let is_code = open.starts_with(" <code");
                self.out()
                    .raw(if is_code { "</code>" } else { "</span>" })?;
            }
        }
        if model.is_some() {
            self.model = model;
        }
        self.out().raw(" <a href=\"#")?;
        self.anchor("m", number)?;
        self.out().raw("\">")?;
        if let Some(time) = entry.time {
            self.out().raw("<time datetime=\"")?;
            self.out().text(&time.to_string())?;
            self.out().raw("\">")?;
            self.out().text(&clock(time, "%H:%M"))?;
            self.out().raw("</time>")?;
        }
        self.out().raw(" #")?;
        self.out().number(number)?;
        self.out().raw("</a></header>\n")
    }

    /// Names the day where another begins.
    fn day(&mut self, entry: &Entry) -> io::Result<()> {
        let day = entry.time.map(|t| clock(t, "%A, %-d %B %Y"));
        if day.is_none() || day == self.day {
            return Ok(());
        }
        self.out().raw("<p class=day>")?;
        self.out().line(day.as_deref().unwrap_or_default())?;
        self.out().raw("</p>\n")?;
        self.speaker = None;
        self.day = day;
        Ok(())
    }

    fn blocks(&mut self, blocks: &[Block], ahead: &mut Ahead<'_>) -> io::Result<()> {
        let mut blocks = blocks.iter().peekable();
        while let Some(block) = blocks.next() {
            match block {
                Block::ToolCall(call) if self.options.tools => {
                    let result = answer(call, blocks.peek().copied());
                    if result.is_some() {
                        blocks.next();
                        self.call(call, result)?;
                    } else {
                        let later = ahead.result(&call.id);
                        self.call(call, later.as_ref())?;
                    }
                }
                Block::ToolResult(result) if self.options.tools => self.result(result)?,
                Block::ToolCall(_) | Block::ToolResult(_) => {}
                Block::Text(text) => self.prose(&text.value)?,
                other => self.other(other)?,
            }
        }
        Ok(())
    }

    fn prose(&mut self, text: &str) -> io::Result<()> {
        self.out().raw("<div class=prose>\n")?;
        prose(self.out(), text)?;
        self.out().raw("</div>\n")
    }

    /// A block that is neither text nor a tool's.
    pub(super) fn other(&mut self, block: &Block) -> io::Result<()> {
        let bodies = self.view.bodies;
        match block {
            Block::Thinking(thought) => self.thinking(thought),
            Block::Aside { text, visibility } => self.aside(text, *visibility),
            Block::Image(media) => image(self.out(), bodies, media),
            Block::File(media) => named(self.out(), "file", media),
            Block::Unknown { type_name, raw } => self.placeholder(&unknown(type_name, raw)),
            Block::ToolCall(call) => self.placeholder(&format!("[tool call: {}]", call.name)),
            Block::Text(_) | Block::ToolResult(_) => Ok(()),
        }
    }

    fn placeholder(&mut self, words: &str) -> io::Result<()> {
        self.out().raw("<p class=media><code>")?;
        self.out().line(words)?;
        self.out().raw("</code></p>\n")
    }

    fn thinking(&mut self, thought: &Thinking) -> io::Result<()> {
        if !self.options.thinking {
            return Ok(());
        }
        self.out().raw(if thought.summary {
            "<details class=thinking><summary>Thinking (summary)</summary>\n"
        } else {
            "<details class=thinking><summary>Thinking</summary>\n"
        })?;
        match thought.text.value.trim_end() {
            "" if thought.redacted => self.placeholder("(redacted)")?,
            "" => self.placeholder("(not readable)")?,
            text => self.prose(text)?,
        }
        self.out().raw("</details>\n")
    }

    /// Text that is not for everyone, folded below a word about who saw it.
    fn aside(&mut self, text: &Text, visibility: Visibility) -> io::Result<()> {
        match seen(visibility) {
            _ if visibility == Visibility::Hidden => Ok(()),
            None => self.prose(&text.value),
            Some(seen) => {
                self.out().raw("<details class=fold><summary>")?;
                self.out().line(seen)?;
                self.out().raw(" ")?;
                self.out().line(&crate::fit(text.value.trim(), EXCERPT))?;
                self.out().raw("</summary>\n")?;
                self.prose(&text.value)?;
                self.out().raw("</details>\n")
            }
        }
    }
}

/// The words of a block of text.
fn words(block: &Block) -> Option<&str> {
    match block {
        Block::Text(text) => Some(text.value.as_str()).filter(|t| !t.trim().is_empty()),
        _ => None,
    }
}

fn clock(time: rethread_model::Moment, form: &str) -> String {
    let utc = time.timestamp().to_zoned(jiff::tz::TimeZone::UTC);
    utc.strftime(form).to_string()
}
