//! Calls of tools and their results at a terminal.

use std::io;

use rethread_model::{Block, Diff, Media, ToolCall, ToolInput, ToolResult, Visibility};

use super::clip::Clip;
use super::{LINES, Screen};
use crate::json::{members, string};
use crate::media::{blob_name, held_text, placeholder};
use crate::tool::{changed_lines, duration, failed, full_name, leaves, remark, result_name, sign};
use crate::unknown::unknown;
use crate::view::seen;
use crate::{OneLine, fit};

impl Screen<'_> {
    /// `▸ file_read  Read auth.ts  ✓ 120 ms`, with the input and the output below.
    pub(super) fn call(&mut self, call: &ToolCall, result: Option<&ToolResult>) -> io::Result<()> {
        let sign = sign(&call.status, result);
        let coloured = match sign {
            "✓" => self.paint.green(sign),
            "✗" | "⊘" => self.paint.red(sign),
            _ => self.paint.dim(sign),
        };
        let name = full_name(call);
        let name = self.paint.bold(&OneLine(&name).to_string());
        let title = match call.title.as_deref().filter(|t| *t != call.name) {
            Some(title) => format!("  {}", fit(title, self.width)),
            None => String::new(),
        };
        let mut tail = String::new();
        let time = call.duration_ms.and_then(duration);
        for word in remark(&call.status, result).iter().chain(&time) {
            tail.push(' ');
            tail.push_str(&fit(word, self.width));
        }
        writeln!(self.out, "▸ {name}{title}  {coloured}{tail}")?;
        self.input(call)?;
        for diff in &call.diffs {
            self.diff(diff)?;
        }
        if let Some(child) = &call.child_session {
            writeln!(self.out, "  sub-agent: {}", OneLine(child))?;
        }
        match result {
            Some(result) => self.output(result),
            None => Ok(()),
        }
    }

    /// A result that stands alone.
    pub(super) fn result(&mut self, result: &ToolResult) -> io::Result<()> {
        let name = self.paint.bold(&OneLine(result_name(result)).to_string());
        let sign = if failed(result) {
            self.paint.red("✗")
        } else {
            self.paint.green("✓")
        };
        let exit = match result.exit_code {
            Some(code) if code != 0 => format!(" exit {code}"),
            _ => String::new(),
        };
        writeln!(self.out, "◂ {name}  {sign}{exit}")?;
        self.output(result)
    }

    fn input(&mut self, call: &ToolCall) -> io::Result<()> {
        let mut clip = Clip::new(self.out, "  ", LINES);
        match &call.input {
            None => {}
            Some(ToolInput::Text(text)) => clip.text("", &text.value)?,
            Some(ToolInput::Json(json)) => match members(json.bytes()) {
                None => clip.text("", &json.to_text())?,
                Some(members) => {
                    for (key, value) in members {
                        member(&mut clip, &key, string(value).as_deref(), value.get())?;
                    }
                }
            },
        }
        clip.finish()
    }

    fn diff(&mut self, diff: &Diff) -> io::Result<()> {
        let text = |t: &Option<rethread_model::Text>| t.as_ref().map(|t| t.value.clone());
        let (old, new) = (text(&diff.old), text(&diff.new));
        let what = match (&old, &new) {
            (None, Some(_)) => "new file ",
            (Some(_), None) => "removed file ",
            _ => "",
        };
        writeln!(self.out, "  {what}{}", OneLine(&diff.path))?;
        let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
        let (gone, come) = changed_lines(&old, &new);
        for (mark, lines) in [("-", gone), ("+", come)] {
            let mut clip = Clip::new(self.out, "  ", LINES);
            for line in lines {
                clip.line(mark, line)?;
            }
            clip.finish()?;
        }
        Ok(())
    }

    fn output(&mut self, result: &ToolResult) -> io::Result<()> {
        let mut clip = Clip::new(self.out, "  │ ", LINES);
        for block in leaves(&result.blocks) {
            match block {
                Block::Text(text) => clip.text("", &text.value)?,
                Block::Aside { visibility, .. } if *visibility == Visibility::Hidden => {}
                Block::Aside { text, visibility } => {
                    if let Some(seen) = seen(*visibility) {
                        clip.line("", seen)?;
                    }
                    clip.text("", &text.value)?;
                }
                Block::Thinking(thought) => clip.text("", &thought.text.value)?,
                Block::ToolCall(call) => clip.label(&format!("[tool call: {}]", call.name))?,
                Block::Image(image) => media(&mut clip, "image", image)?,
                Block::File(file) => media(&mut clip, "file", file)?,
                Block::Unknown { type_name, raw } => clip.label(&unknown(type_name, raw))?,
                Block::ToolResult(_) => {}
            }
        }
        if let (true, Some(json)) = (result.blocks.is_empty(), &result.structured) {
            clip.text("", &json.to_text())?;
        }
        clip.finish()?;
        let Some(whole) = &result.full_output else {
            return Ok(());
        };
        if let Some(name) = blob_name(whole) {
            writeln!(self.out, "  │ [full output: {}]", OneLine(&name))?;
        }
        let Some(text) = held_text(whole) else {
            return Ok(());
        };
        writeln!(self.out, "  │ [full output]")?;
        let mut clip = Clip::new(self.out, "  │ ", LINES);
        clip.text("", text)?;
        clip.finish()
    }
}

/// What stands for a picture or a file, with its text where it is one.
fn media(clip: &mut Clip<'_>, kind: &str, media: &Media) -> io::Result<()> {
    clip.label(&placeholder(kind, media))?;
    match held_text(&media.blob) {
        Some(text) => clip.text("  ", text),
        None => Ok(()),
    }
}

/// `key: value`; the lines of a longer text stand below their key.
fn member(clip: &mut Clip<'_>, key: &str, text: Option<&str>, raw: &str) -> io::Result<()> {
    let key = OneLine(key);
    match text {
        Some(text) if text.trim_end().contains('\n') => {
            clip.line("", &format!("{key}:"))?;
            clip.text("  ", text)
        }
        Some(text) => clip.line("", &format!("{key}: {}", text.trim_end())),
        None => clip.line("", &format!("{key}: {}", OneLine(raw))),
    }
}
