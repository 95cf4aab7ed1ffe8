//! Calls of tools with their results, folded to a line.

use std::io;

use rethread_model::{Block, ToolResult};

use super::Flow;
use super::diff::write_file_changes;
use super::input::write_input;
use super::media::{image, named};
use super::prose::block;
use crate::json::pretty;
use crate::media::{blob_name, held_text};
use crate::reading::{Call, FileChange, Outcome, Output};
use crate::tool::leaves;
use crate::unknown::unknown;

/// How much of what a call is about stands on its line, in columns.
const ABOUT: usize = 160;

/// So many lines of a change are seen at once; more are folded.
const SMALL: usize = 16;

impl Flow<'_, '_, '_> {
    /// Writes a call with what came of it.
    pub(super) fn call(&mut self, call: &Call) -> io::Result<()> {
        let input = call.input();
        let changes = call.changes(&input);
        let lines: usize = changes.iter().map(|file| file.change.lines.len()).sum();
        let is_small = (1..=SMALL).contains(&lines) && !call.is_failed();
        self.open(match (call.is_failed(), is_small) {
            (true, _) => "<details class=\"tool failed\"",
            (false, true) => "<details class=tool open",
            (false, false) => "<details class=tool",
        })?;
        self.out().raw("><summary>")?;
        let workspace = self.view.session.head.workspace.path.as_deref();
        let about = call.about(&input, workspace);
        self.line(&call.name, about.as_deref(), &call.outcome(&changes))?;
        self.out().raw("</summary>\n")?;
        write_input(self.out(), &input, !changes.is_empty())?;
        write_file_changes(self.out(), &changes, workspace)?;
        if let Some(child) = call.call.as_ref().and_then(|c| c.child_session.as_ref()) {
            self.out().raw("<p class=media>Sub-agent: ")?;
            self.reference(child)?;
            self.out().raw("</p>\n")?;
        }
        match &call.result {
            // It rarely says more than that the change was made.
            Some(result) if !changes.is_empty() && !call.is_failed() => {
                self.out()
                    .raw("<details class=quiet><summary>output</summary>\n")?;
                self.output(result, &changes)?;
                self.out().raw("</details>\n")?;
            }
            Some(result) => self.output(result, &changes)?,
            None => {}
        }
        self.out().raw("</details>\n")
    }

    /// What the call did, and whether it worked.
    fn line(&mut self, name: &str, about: Option<&str>, outcome: &Outcome) -> io::Result<()> {
        self.out().raw("<span class=sign>")?;
        self.out().raw(outcome.sign)?;
        self.out().raw("</span> <b>")?;
        self.out().line(name)?;
        self.out().raw("</b>")?;
        if let Some(about) = about {
            self.out().raw(" <code class=what>")?;
            self.out().line(&crate::fit(about, ABOUT))?;
            self.out().raw("</code>")?;
        }
        if let Some((come, gone)) = outcome.counts {
            self.out().raw(" <span class=counts>")?;
            for (count, open, close) in [(come, "<ins>+", "</ins>"), (gone, "<del>−", "</del>")] {
                if count > 0 {
                    self.out().raw(open)?;
                    self.out().number(count)?;
                    self.out().raw(close)?;
                }
            }
            self.out().raw("</span>")?;
        }
        let words = outcome.all_words();
        if words.is_empty() {
            return Ok(());
        }
        self.out().raw(" <span class=end>")?;
        self.out().line(&words.join(", "))?;
        self.out().raw("</span>")
    }

    fn output(&mut self, result: &ToolResult, changes: &[FileChange<'_>]) -> io::Result<()> {
        for block in leaves(&result.blocks) {
            match block {
                Block::Text(text) => self.printed(&Output::of(&text.value).text)?,
                other => self.other(other)?,
            }
        }
        if let (true, true, Some(json)) = (
            result.blocks.is_empty(),
            changes.is_empty(),
            &result.structured,
        ) {
            match pretty(json.bytes()) {
                Some(pretty) => block(self.out(), "json", &pretty)?,
                None => block(self.out(), "", &json.to_text())?,
            }
        }
        let Some(whole) = &result.full_output else {
            return Ok(());
        };
        self.out().raw("<p class=media>Full output")?;
        if let Some(name) = blob_name(whole) {
            self.out().raw(": <code>")?;
            self.out().line(&name)?;
            self.out().raw("</code>")?;
        }
        self.out().raw("</p>\n")?;
        match held_text(whole) {
            Some(text) => self.printed(text),
            None => Ok(()),
        }
    }

    /// A part of a result that is no text.
    fn other(&mut self, block: &Block) -> io::Result<()> {
        match block {
            Block::Image(media) => image(&mut self.page.out, self.view.bodies, media),
            Block::File(media) => named(&mut self.page.out, "file", media),
            Block::Thinking(thinking) => self.prose(&thinking.text.value),
            Block::Aside { text, .. } => self.prose(&text.value),
            Block::Unknown { type_name, raw } => self.placeholder(&unknown(type_name, raw)),
            Block::ToolCall(call) => self.placeholder(&format!("[tool call: {}]", call.name)),
            Block::Text(_) | Block::ToolResult(_) => Ok(()),
        }
    }
}
