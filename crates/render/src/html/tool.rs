//! Calls of tools with their results, folded to a line.

use std::io;

use rethread_model::{Block, ToolResult};

use super::SessionPage;
use super::diff::write_file_changes;
use super::input::write_input;
use super::media::{write_image, write_named};
use super::prose::write_code_block;
use crate::json::pretty_value;
use crate::media::{blob_name, held_text};
use crate::reading::{CallOutcome, FileChange, ToolOutput, ToolUse};
use crate::tool::flat_blocks;
use crate::unknown::describe_unknown;

/// How much of what a call is about stands on its line, in columns.
const ABOUT: usize = 160;

/// So many lines of a change are seen at once; more are folded.
const SMALL: usize = 16;

impl SessionPage<'_, '_, '_> {
    /// Writes a call with what came of it.
    pub(super) fn write_call(&mut self, call: &ToolUse) -> io::Result<()> {
        let input = call.input();
        let changes = call.changes(&input);
        let lines: usize = changes.iter().map(|file| file.change.lines.len()).sum();
        let is_small = (1..=SMALL).contains(&lines) && !call.is_failed();
        self.open_tag(match (call.is_failed(), is_small) {
            (true, _) => "<details class=\"tool failed\"",
            (false, true) => "<details class=tool open",
            (false, false) => "<details class=tool",
        })?;
        self.out().write_markup("><summary>")?;
        let workspace = self.view.session.head.workspace.path.as_deref();
        let about = call.describe_call(&input, workspace);
        self.write_call_line(&call.name, about.as_deref(), &call.outcome(&changes))?;
        self.out().write_markup("</summary>\n")?;
        write_input(self.out(), &input, !changes.is_empty())?;
        write_file_changes(self.out(), &changes, workspace)?;
        if let Some(child) = call.call.as_ref().and_then(|c| c.child_session.as_ref()) {
            self.out().write_markup("<p class=media>Sub-agent: ")?;
            self.write_reference(child)?;
            self.out().write_markup("</p>\n")?;
        }
        match &call.result {
            // It rarely says more than that the change was made.
            Some(result) if !changes.is_empty() && !call.is_failed() => {
                self.out()
                    .write_markup("<details class=quiet><summary>output</summary>\n")?;
                self.write_output(result, &changes)?;
                self.out().write_markup("</details>\n")?;
            }
            Some(result) => self.write_output(result, &changes)?,
            None => {}
        }
        self.out().write_markup("</details>\n")
    }

    /// What the call did, and whether it worked.
    fn write_call_line(
        &mut self,
        name: &str,
        about: Option<&str>,
        outcome: &CallOutcome,
    ) -> io::Result<()> {
        self.out().write_markup("<span class=sign>")?;
        self.out().write_markup(outcome.sign)?;
        self.out().write_markup("</span> <b>")?;
        self.out().write_line(name)?;
        self.out().write_markup("</b>")?;
        if let Some(about) = about {
            self.out().write_markup(" <code class=what>")?;
            self.out().write_line(&crate::fit(about, ABOUT))?;
            self.out().write_markup("</code>")?;
        }
        if let Some((come, gone)) = outcome.counts {
            self.out().write_markup(" <span class=counts>")?;
            for (count, open, close) in [(come, "<ins>+", "</ins>"), (gone, "<del>−", "</del>")] {
                if count > 0 {
                    self.out().write_markup(open)?;
                    self.out().write_number(count)?;
                    self.out().write_markup(close)?;
                }
            }
            self.out().write_markup("</span>")?;
        }
        let words = outcome.all_words();
        if words.is_empty() {
            return Ok(());
        }
        self.out().write_markup(" <span class=end>")?;
        self.out().write_line(&words.join(", "))?;
        self.out().write_markup("</span>")
    }

    fn write_output(&mut self, result: &ToolResult, changes: &[FileChange<'_>]) -> io::Result<()> {
        for block in flat_blocks(&result.blocks) {
            match block {
                Block::Text(text) => self.write_printed(&ToolOutput::parse(&text.value).text)?,
                other => self.write_other_block(other)?,
            }
        }
        if let (true, true, Some(json)) = (
            result.blocks.is_empty(),
            changes.is_empty(),
            &result.structured,
        ) {
            match pretty_value(json.bytes()) {
                Some(pretty) => write_code_block(self.out(), "json", &pretty)?,
                None => write_code_block(self.out(), "", &json.to_text())?,
            }
        }
        let Some(whole) = &result.full_output else {
            return Ok(());
        };
        self.out().write_markup("<p class=media>Full output")?;
        if let Some(name) = blob_name(whole) {
            self.out().write_markup(": <code>")?;
            self.out().write_line(&name)?;
            self.out().write_markup("</code>")?;
        }
        self.out().write_markup("</p>\n")?;
        match held_text(whole) {
            Some(text) => self.write_printed(text),
            None => Ok(()),
        }
    }

    /// A part of a result that is no text.
    fn write_other_block(&mut self, block: &Block) -> io::Result<()> {
        match block {
            Block::Image(media) => write_image(&mut self.page.out, self.view.bodies, media),
            Block::File(media) => write_named(&mut self.page.out, "file", media),
            Block::Thinking(thinking) => self.write_prose(&thinking.text.value),
            Block::Aside { text, .. } => self.write_prose(&text.value),
            Block::Unknown { type_name, raw } => {
                self.write_placeholder(&describe_unknown(type_name, raw))
            }
            Block::ToolCall(call) => self.write_placeholder(&format!("[tool call: {}]", call.name)),
            Block::Text(_) | Block::ToolResult(_) => Ok(()),
        }
    }
}
