//! Calls of tools and their results in Markdown.

use std::fmt::Write as _;
use std::io;

use rethread_model::{Block, ToolResult, Visibility};

use super::MarkdownPage;
use super::escape::{escape_markup, inline_code, write_fenced, write_prose};
use crate::fit;
use crate::json::pretty_value;
use crate::media::{blob_name, held_text};
use crate::reading::{
    COMMANDS, CallInput, FileChange, InputMember, InputValue, LineMark, ToolOutput, ToolUse,
    relative_path,
};
use crate::tool::flat_blocks;
use crate::unknown::describe_unknown;

/// Longer words about a call are cut; all of its input stands below.
const ABOUT: usize = 160;

impl MarkdownPage<'_> {
    /// One line with what a call did and whether it worked; its input, its changes and its output are
    /// folded below.
    pub(super) fn write_call(&mut self, call: &ToolUse) -> io::Result<()> {
        let input = call.input();
        let changes = call.changes(&input);
        let outcome = call.outcome(&changes);
        let mut summary = format!("{} <b>{}</b>", outcome.sign, escape_markup(&call.name));
        if let Some(about) = call.describe_call(&input, self.workspace) {
            let about = escape_markup(&fit(about.trim(), ABOUT));
            summary = format!("{summary} <code>{about}</code>");
        }
        let mut words = Vec::new();
        words.extend(
            outcome
                .counts
                .map(|(come, gone)| format!("+{come} −{gone}")),
        );
        words.extend(outcome.all_words().iter().map(|word| escape_markup(word)));
        if !words.is_empty() {
            summary = format!("{summary} — {}", words.join(", "));
        }
        writeln!(self.out, "\n<details><summary>{summary}</summary>")?;
        self.write_input(&input, &changes)?;
        let is_many = changes.len() > 1;
        for change in &changes {
            self.write_change(change, is_many)?;
        }
        if let Some(child) = call.call.as_ref().and_then(|c| c.child_session.as_ref()) {
            writeln!(self.out, "\nSub-agent: {}", inline_code(child))?;
        }
        if let Some(result) = &call.result {
            self.write_output(result)?;
        }
        writeln!(self.out, "\n</details>")
    }

    /// What the tool was given, without what is shown as a change.
    fn write_input(&mut self, input: &CallInput<'_>, changes: &[FileChange<'_>]) -> io::Result<()> {
        match input {
            CallInput::Nothing => Ok(()),
            CallInput::Text(_) if !changes.is_empty() => Ok(()),
            CallInput::Text(text) => write_fenced(self.out, "text", text),
            CallInput::Json(json) => write_fenced(self.out, "json", json),
            CallInput::Members(members, _) => match members.as_slice() {
                [] => Ok(()),
                [InputMember { name, value }] if COMMANDS.contains(&name.as_str()) => match value {
                    InputValue::Text(text) => write_fenced(self.out, "sh", text),
                    InputValue::Json(json) => write_fenced(self.out, "json", json.get()),
                },
                members => {
                    let object = members_json(members);
                    let json = pretty_value(object.as_bytes()).unwrap_or(object);
                    write_fenced(self.out, "json", &json)
                }
            },
        }
    }

    fn write_change(&mut self, file: &FileChange<'_>, is_named: bool) -> io::Result<()> {
        if is_named && !file.path.is_empty() {
            let path = inline_code(relative_path(&file.path, self.workspace));
            let note = file
                .note
                .as_ref()
                .map(|note| format!(" ({})", inline_code(note)));
            writeln!(self.out, "\n{path}{}", note.unwrap_or_default())?;
        }
        let mut text = String::new();
        for line in &file.change.lines {
            let mark = match line.mark {
                LineMark::Same => ' ',
                LineMark::Gone => '-',
                LineMark::Come => '+',
                LineMark::Gap => '⋯',
            };
            text.push(mark);
            text.push_str(&line.text);
            text.push('\n');
        }
        if text.is_empty() {
            return Ok(());
        }
        write_fenced(self.out, "diff", &text)
    }

    fn write_output(&mut self, result: &ToolResult) -> io::Result<()> {
        for block in flat_blocks(&result.blocks) {
            match block {
                Block::Text(text) => {
                    write_fenced(self.out, "text", &ToolOutput::parse(&text.value).text)?;
                }
                Block::Aside { visibility, .. } if *visibility == Visibility::Hidden => {}
                Block::Aside { text, .. } => {
                    writeln!(self.out)?;
                    write_prose(self.out, "> ", text.value.trim_end())?;
                }
                Block::Thinking(thought) => self.write_thinking(thought)?,
                Block::Image(media) => self.write_media("image", "!", media)?,
                Block::File(media) => self.write_media("file", "", media)?,
                Block::Unknown { type_name, raw } => {
                    writeln!(
                        self.out,
                        "\n{}",
                        inline_code(&describe_unknown(type_name, raw))
                    )?;
                }
                Block::ToolCall(call) => {
                    writeln!(
                        self.out,
                        "\n{}",
                        inline_code(&format!("[tool call: {}]", call.name))
                    )?;
                }
                Block::ToolResult(_) => {}
            }
        }
        if let (true, Some(json)) = (result.blocks.is_empty(), &result.structured) {
            match pretty_value(json.bytes()) {
                Some(pretty) => write_fenced(self.out, "json", &pretty)?,
                None => write_fenced(self.out, "text", &json.to_text())?,
            }
        }
        let Some(whole) = &result.full_output else {
            return Ok(());
        };
        if let Some(name) = blob_name(whole) {
            writeln!(self.out, "\nFull output: {}", inline_code(&name))?;
        }
        let Some(text) = held_text(whole) else {
            return Ok(());
        };
        writeln!(self.out, "\nFull output:")?;
        write_fenced(self.out, "text", text)
    }
}

/// Members as one object of JSON.
fn members_json(members: &[InputMember<'_>]) -> String {
    let mut object = String::from("{");
    for (at, InputMember { name, value }) in members.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let text;
        let value = match value {
            InputValue::Json(raw) => raw.get(),
            InputValue::Text(value) => {
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
