//! Calls of tools and their results in Markdown.

use std::fmt::Write as _;
use std::io;

use rethread_model::{Block, ToolResult, Visibility};

use super::Page;
use super::escape::{code, fenced, markup, prose};
use crate::fit;
use crate::json::pretty;
use crate::media::{blob_name, held_text};
use crate::reading::{COMMANDS, Call, FileChange, Input, Mark, Member, Output, Value, relative};
use crate::tool::leaves;
use crate::unknown::unknown;

/// Longer words about a call are cut; all of its input stands below.
const ABOUT: usize = 160;

impl Page<'_> {
    /// One line with what a call did and whether it worked; its input, its changes and its output are
    /// folded below.
    pub(super) fn call(&mut self, call: &Call) -> io::Result<()> {
        let input = call.input();
        let changes = call.changes(&input);
        let outcome = call.outcome(&changes);
        let mut summary = format!("{} <b>{}</b>", outcome.sign, markup(&call.name));
        if let Some(about) = call.about(&input, self.workspace) {
            let about = markup(&fit(about.trim(), ABOUT));
            summary = format!("{summary} <code>{about}</code>");
        }
        let mut words = Vec::new();
        words.extend(
            outcome
                .counts
                .map(|(come, gone)| format!("+{come} −{gone}")),
        );
        words.extend(outcome.all_words().iter().map(|word| markup(word)));
        if !words.is_empty() {
            summary = format!("{summary} — {}", words.join(", "));
        }
        writeln!(self.out, "\n<details><summary>{summary}</summary>")?;
        self.input(&input, &changes)?;
        let is_many = changes.len() > 1;
        for change in &changes {
            self.change(change, is_many)?;
        }
        if let Some(child) = call.call.as_ref().and_then(|c| c.child_session.as_ref()) {
            writeln!(self.out, "\nSub-agent: {}", code(child))?;
        }
        if let Some(result) = &call.result {
            self.output(result)?;
        }
        writeln!(self.out, "\n</details>")
    }

    /// What the tool was given, without what is shown as a change.
    fn input(&mut self, input: &Input<'_>, changes: &[FileChange<'_>]) -> io::Result<()> {
        match input {
            Input::Nothing => Ok(()),
            Input::Text(_) if !changes.is_empty() => Ok(()),
            Input::Text(text) => fenced(self.out, "text", text),
            Input::Json(json) => fenced(self.out, "json", json),
            Input::Members(members, _) => match members.as_slice() {
                [] => Ok(()),
                [Member { name, value }] if COMMANDS.contains(&name.as_str()) => match value {
                    Value::Text(text) => fenced(self.out, "sh", text),
                    Value::Json(json) => fenced(self.out, "json", json.get()),
                },
                members => {
                    let object = object(members);
                    let json = pretty(object.as_bytes()).unwrap_or(object);
                    fenced(self.out, "json", &json)
                }
            },
        }
    }

    fn change(&mut self, file: &FileChange<'_>, is_named: bool) -> io::Result<()> {
        if is_named && !file.path.is_empty() {
            let path = code(relative(&file.path, self.workspace));
            let note = file.note.as_ref().map(|note| format!(" ({})", code(note)));
            writeln!(self.out, "\n{path}{}", note.unwrap_or_default())?;
        }
        let mut text = String::new();
        for line in &file.change.lines {
            let mark = match line.mark {
                Mark::Same => ' ',
                Mark::Gone => '-',
                Mark::Come => '+',
                Mark::Gap => '⋯',
            };
            text.push(mark);
            text.push_str(&line.text);
            text.push('\n');
        }
        if text.is_empty() {
            return Ok(());
        }
        fenced(self.out, "diff", &text)
    }

    fn output(&mut self, result: &ToolResult) -> io::Result<()> {
        for block in leaves(&result.blocks) {
            match block {
                Block::Text(text) => fenced(self.out, "text", &Output::of(&text.value).text)?,
                Block::Aside { visibility, .. } if *visibility == Visibility::Hidden => {}
                Block::Aside { text, .. } => {
                    writeln!(self.out)?;
                    prose(self.out, "> ", text.value.trim_end())?;
                }
                Block::Thinking(thought) => self.thinking(thought)?,
                Block::Image(media) => self.media("image", "!", media)?,
                Block::File(media) => self.media("file", "", media)?,
                Block::Unknown { type_name, raw } => {
                    writeln!(self.out, "\n{}", code(&unknown(type_name, raw)))?;
                }
                Block::ToolCall(call) => {
                    writeln!(
                        self.out,
                        "\n{}",
                        code(&format!("[tool call: {}]", call.name))
                    )?;
                }
                Block::ToolResult(_) => {}
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

/// Members as one object of JSON.
fn object(members: &[Member<'_>]) -> String {
    let mut object = String::from("{");
    for (at, Member { name, value }) in members.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let text;
        let value = match value {
            Value::Json(raw) => raw.get(),
            Value::Text(value) => {
                text = serde_json::Value::from(value.as_str()).to_string();
                &text
            }
        };
        // Writing to a string cannot fail.
        let _ = write!(
            object,
            "{comma}{}:{value}",
            serde_json::Value::from(name.as_str())
        );
    }
    object.push('}');
    object
}
