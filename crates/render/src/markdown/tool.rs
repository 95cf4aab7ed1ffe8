//! Calls of tools and their results in Markdown.

use std::io;

use rethread_model::{Block, Diff, ToolCall, ToolInput, ToolResult};

use super::Page;
use super::escape::{code, fenced, line, word};
use crate::json::pretty;
use crate::media::{blob_name, held_text};
use crate::tool::{changed_lines, duration, failed, full_name, leaves, remark, result_name, sign};

impl Page<'_> {
    /// `**Tool: name** — title`, with the input and the output as code.
    pub(super) fn call(&mut self, call: &ToolCall, result: Option<&ToolResult>) -> io::Result<()> {
        write!(self.out, "\n**Tool: {}**", word(&full_name(call)))?;
        if let Some(title) = call.title.as_deref().filter(|t| *t != call.name) {
            write!(self.out, " — {}", line(title))?;
        }
        write!(self.out, " {}", sign(&call.status, result))?;
        if let Some(remark) = remark(&call.status, result) {
            write!(self.out, " {}", word(&remark))?;
        }
        if let Some(time) = call.duration_ms.and_then(duration) {
            write!(self.out, " {time}")?;
        }
        writeln!(self.out)?;
        match &call.input {
            None => {}
            Some(ToolInput::Text(text)) => fenced(self.out, "text", &text.value)?,
            Some(ToolInput::Json(json)) => match pretty(json.bytes()) {
                Some(pretty) => fenced(self.out, "json", &pretty)?,
                None => fenced(self.out, "text", &json.to_text())?,
            },
        }
        for diff in &call.diffs {
            self.diff(diff)?;
        }
        if let Some(child) = &call.child_session {
            writeln!(self.out, "\nSub-agent: {}", code(child))?;
        }
        match result {
            Some(result) => self.output(result),
            None => Ok(()),
        }
    }

    /// A result that stands alone.
    pub(super) fn result(&mut self, result: &ToolResult) -> io::Result<()> {
        let sign = if failed(result) { "✗" } else { "✓" };
        write!(
            self.out,
            "\n**Result: {}** {sign}",
            word(result_name(result))
        )?;
        if let Some(code) = result.exit_code.filter(|code| *code != 0) {
            write!(self.out, " exit {code}")?;
        }
        writeln!(self.out)?;
        self.output(result)
    }

    fn diff(&mut self, diff: &Diff) -> io::Result<()> {
        writeln!(self.out, "\nChange of {}:", code(&diff.path))?;
        let old = diff.old.as_ref().map_or("", |t| t.value.as_str());
        let new = diff.new.as_ref().map_or("", |t| t.value.as_str());
        let (gone, come) = changed_lines(old, new);
        let mut text = String::new();
        for (mark, lines) in [('-', gone), ('+', come)] {
            for line in lines {
                text.push(mark);
                text.push_str(line);
                text.push('\n');
            }
        }
        fenced(self.out, "diff", &text)
    }

    fn output(&mut self, result: &ToolResult) -> io::Result<()> {
        for block in leaves(&result.blocks) {
            match block {
                Block::Text(text) => fenced(self.out, "text", &text.value)?,
                Block::Thinking(thought) => self.thinking(thought)?,
                other => self.other(other)?,
            }
        }
        if let (true, Some(json)) = (result.blocks.is_empty(), &result.structured) {
            match pretty(json.bytes()) {
                Some(pretty) => fenced(self.out, "json", &pretty)?,
                None => fenced(self.out, "text", &json.to_text())?,
            }
        }
        let Some(whole) = &result.full_output else {
            return Ok(());
        };
        if let Some(name) = blob_name(whole) {
            writeln!(self.out, "\nFull output: {}", code(&name))?;
        }
        let Some(text) = held_text(whole) else {
            return Ok(());
        };
        writeln!(self.out, "\nFull output:")?;
        fenced(self.out, "text", text)
    }
}
