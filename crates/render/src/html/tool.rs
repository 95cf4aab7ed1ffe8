//! Calls of tools and their results, folded to a line.

use std::io;

use rethread_model::{Block, ToolCall, ToolResult, ToolStatus};

use super::Flow;
use super::ansi::printed;
use super::diff::unified;
use super::input::write_input;
use super::prose::block;
use crate::json::pretty;
use crate::media::{blob_name, held_text};
use crate::reading::{Input, is_patch};
use crate::tool::{duration, failed, full_name, leaves, remark, result_name, sign};

impl Flow<'_, '_, '_> {
    /// Writes a call with what came of it.
    pub(super) fn call(&mut self, call: &ToolCall, result: Option<&ToolResult>) -> io::Result<()> {
        let input = Input::of(call);
        // A source that keeps calls and results apart may not know that the call is done.
        let done = ToolStatus::Completed;
        let status = match &call.status {
            ToolStatus::Pending | ToolStatus::Running if result.is_some() => &done,
            status => status,
        };
        let sign = sign(status, result);
        self.out().raw(match sign {
            "✗" => "<details class=\"tool failed\"><summary>",
            _ => "<details class=tool><summary>",
        })?;
        self.out().raw("<b>")?;
        self.out().line(&full_name(call))?;
        self.out().raw("</b> ")?;
        let title = call.title.as_deref().filter(|t| *t != call.name);
        if let Some(title) = title {
            self.out().raw("<span class=what>")?;
            self.out().line(title)?;
            self.out().raw("</span>")?;
        } else if let Some(about) = input.about(None, None) {
            self.out().raw("<code class=what>")?;
            self.out().line(&crate::fit(&about, 160))?;
            self.out().raw("</code>")?;
        }
        if let Some((come, gone)) = input.counts() {
            self.out().raw(" <span class=counts><ins>+")?;
            self.out().number(come)?;
            self.out().raw("</ins> <del>−")?;
            self.out().number(gone)?;
            self.out().raw("</del></span>")?;
        }
        self.out().raw(" <span class=end>")?;
        let remark = remark(status, result);
        let time = call.duration_ms.and_then(duration);
        for word in [remark, time].into_iter().flatten() {
            self.out().line(&word)?;
            self.out().raw(" ")?;
        }
        self.out().raw(sign)?;
        self.out().raw("</span></summary>\n")?;
        write_input(self.out(), &input)?;
        if let Some(child) = &call.child_session {
            self.out().raw("<p class=media>Sub-agent: ")?;
            self.reference(child)?;
            self.out().raw("</p>\n")?;
        }
        if let Some(result) = result {
            self.output(result)?;
        }
        self.out().raw("</details>\n")
    }

    /// A result that stands alone.
    pub(super) fn result(&mut self, result: &ToolResult) -> io::Result<()> {
        let sign = if failed(result) { "✗" } else { "✓" };
        self.out().raw(match sign {
            "✗" => "<details class=\"tool failed\"><summary><b>",
            _ => "<details class=tool><summary><b>",
        })?;
        self.out().line(result_name(result))?;
        self.out()
            .raw("</b> <span class=what>result</span> <span class=end>")?;
        if let Some(code) = result.exit_code.filter(|code| *code != 0) {
            self.out().text(&format!("exit {code} "))?;
        }
        self.out().raw(sign)?;
        self.out().raw("</span></summary>\n")?;
        self.output(result)?;
        self.out().raw("</details>\n")
    }

    fn output(&mut self, result: &ToolResult) -> io::Result<()> {
        for block in leaves(&result.blocks) {
            match block {
                Block::Text(text) => self.printed(&text.value)?,
                other => self.other(other)?,
            }
        }
        if let (true, Some(json)) = (result.blocks.is_empty(), &result.structured) {
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

    /// What a tool printed.
    fn printed(&mut self, text: &str) -> io::Result<()> {
        let text = text.trim_end_matches(['\n', '\r']);
        if text.is_empty() {
            return Ok(());
        }
        if is_patch(text) {
            return unified(self.out(), text);
        }
        // The first line break behind the tag is no part of the text.
        self.out().raw("<pre class=out>\n")?;
        printed(self.out(), text)?;
        self.out().raw("</pre>\n")
    }
}
