//! Calls of tools and their results at a terminal.

use std::io;

use anstyle::Style as Ink;
use rethread_model::{Block, ToolResult, Visibility};
use unicode_width::UnicodeWidthStr;

use super::page::expand_tabs;
use super::paint::{BOLD, DIM, GREEN, RED, sign_style};
use super::{INNER, MARGIN, TextScreen};
use crate::media::{blob_name, held_text, media_placeholder};
use crate::reading::{
    CallInput, CallKind, CallOutcome, ChangedLine, FileChange, LineMark, ToolOutput, ToolUse,
    relative_path,
};
use crate::tool::flat_blocks;
use crate::unknown::describe_unknown;
use crate::{fit, neutral, one_line};

/// Where outcomes stand, if there is room.
const OUTCOME: usize = 58;

/// How many lines of an output, of that of a call that failed, of a change and of a new file are shown.
const OUTPUT: usize = 2;
const FAILURE: usize = 10;
const CHANGE: usize = 24;
const NEW_FILE: usize = 6;

impl TextScreen<'_> {
    /// `✓ Bash  cargo test      14 s, 212 lines`, with what is worth reading below.
    pub(super) fn write_call(&mut self, call: &ToolUse) -> io::Result<()> {
        let input = call.input();
        let changes = call.changes(&input);
        let outcome = call.outcome(&changes);
        let about = call
            .describe_call(&input, self.workspace)
            .unwrap_or_default();
        let deed = call.call_kind(&input);
        self.call_line(call, about.trim(), &outcome, deed)?;
        if self.options.full {
            self.whole_input(&input, &about)?;
        }
        for change in &changes {
            self.write_change(change, changes.len() > 1)?;
        }
        if let Some(child) = call.call.as_ref().and_then(|c| c.child_session.as_deref()) {
            self.page
                .write_text(INNER, DIM, &format!("sub-agent {}", one_line(child)))?;
        }
        let Some(result) = &call.result else {
            return Ok(());
        };
        let room = match deed {
            _ if call.is_failed() => FAILURE,
            CallKind::Look => 0,
            CallKind::Change if !changes.is_empty() => 0,
            CallKind::Change | CallKind::Run => OUTPUT,
        };
        self.write_output(result, room)
    }

    fn call_line(
        &mut self,
        call: &ToolUse,
        about: &str,
        outcome: &CallOutcome,
        deed: CallKind,
    ) -> io::Result<()> {
        let paint = self.page.paint;
        let name = fit(&call.name, 40);
        let mut words: Vec<(Ink, String)> = Vec::new();
        if let Some((come, gone)) = outcome.counts {
            words.push((GREEN, format!("+{come}")));
            words.push((RED, format!("−{gone}")));
        }
        let mut others: Vec<String> = outcome.words.iter().map(|w| fit(w, 30)).collect();
        // Lines that stand below need no number.
        let is_folded = deed != CallKind::Run || outcome.lines > OUTPUT as u64 + 1;
        if outcome.lines > 0 && is_folded {
            others.push(outcome.line_count());
        }
        if !others.is_empty() {
            words.push((DIM, others.join(", ")));
        }
        let plain: Vec<&str> = words.iter().map(|(_, word)| word.as_str()).collect();
        let tail = plain.join(" ");
        let start = MARGIN.len() + 2 + name.width();
        let mut line = paint.paint_text(sign_style(outcome.sign), outcome.sign);
        line.push(' ');
        line.push_str(&paint.paint_text(BOLD, &name));
        let room = self.page.width.saturating_sub(start + 2);
        let about_room = match tail.width() {
            0 => room,
            tail => room.saturating_sub(tail + 2),
        };
        let first = about.lines().next().unwrap_or_default();
        let about = if first.len() < about.len() && !self.options.full {
            fit(&format!("{} …", first.trim_end()), about_room)
        } else {
            fit(first, about_room)
        };
        let mut used = start;
        if !about.is_empty() {
            line.push_str("  ");
            line.push_str(&about);
            used += 2 + about.width();
        }
        if !tail.is_empty() {
            let column = OUTCOME.min(self.page.width.saturating_sub(tail.width()));
            line.push_str(&" ".repeat(column.saturating_sub(used).max(2)));
            let words: Vec<String> = words
                .iter()
                .map(|(ink, w)| paint.paint_text(*ink, w))
                .collect();
            line.push_str(&words.join(" "));
        }
        self.page.write_line(MARGIN, &line)
    }

    /// What the line could not show of a command.
    fn whole_input(&mut self, input: &CallInput<'_>, about: &str) -> io::Result<()> {
        if !about.contains('\n') || input.patch_text().is_some() {
            return Ok(());
        }
        for line in neutral(about.trim_end()).lines().skip(1) {
            self.page.write_folded(INNER, Ink::new(), line)?;
        }
        Ok(())
    }

    fn write_change(&mut self, file: &FileChange<'_>, is_one_of_many: bool) -> io::Result<()> {
        if is_one_of_many && !file.path.is_empty() {
            let path = one_line(relative_path(&file.path, self.workspace)).into_owned();
            let (come, gone) = file.change.line_counts();
            let note = file.note.as_deref().map(|n| format!("  ({n})"));
            let line = format!("{path}{}  +{come} −{gone}", note.unwrap_or_default());
            self.page.write_text(INNER, DIM, &line)?;
        }
        let lines = &file.change.lines;
        let is_new = file.note.is_some() && lines.iter().all(|l| l.mark == LineMark::Come);
        let room = if is_new { NEW_FILE } else { CHANGE };
        let room = self.visible_lines(room, lines.len());
        let numbers = lines.iter().filter_map(|line| line.number).max();
        let digits = numbers.map_or(0, |n| n.to_string().len());
        for line in lines.iter().take(room) {
            self.changed_line(line, digits)?;
        }
        self.write_more(lines.len().saturating_sub(room), INNER)
    }

    fn changed_line(&mut self, line: &ChangedLine<'_>, digits: usize) -> io::Result<()> {
        let (style, mark) = match line.mark {
            LineMark::Same => (Ink::new(), " "),
            LineMark::Gone => (RED, "-"),
            LineMark::Come => (GREEN, "+"),
            LineMark::Gap => (DIM, "⋯"),
        };
        let number = match (line.number, digits) {
            (_, 0) => String::new(),
            (Some(number), digits) => format!("{number:>digits$} "),
            (None, digits) => " ".repeat(digits + 1),
        };
        let text = format!("{mark} {}", neutral(line.text.trim_end_matches('\r')));
        let margin = format!("{INNER}{}", self.page.paint.paint_text(DIM, &number));
        let columns = self.page.width.saturating_sub(INNER.len() + number.len());
        if self.options.full {
            let text = expand_tabs(&text);
            for part in super::wrap::fold_line(&text, columns) {
                let part = self.page.paint.paint_text(style, part);
                self.page.write_line(&margin, &part)?;
            }
            return Ok(());
        }
        let text = self.page.paint.paint_text(style, &cut_line(&text, columns));
        self.page.write_line(&margin, &text)
    }

    fn write_output(&mut self, result: &ToolResult, room: usize) -> io::Result<()> {
        let mut texts = String::new();
        let mut whole = |text: &str| {
            if !texts.is_empty() && !texts.ends_with('\n') {
                texts.push('\n');
            }
            texts.push_str(text);
        };
        for block in flat_blocks(&result.blocks) {
            match block {
                Block::Text(text) => whole(ToolOutput::parse(&text.value).text.trim_end()),
                Block::Aside { text, visibility } if *visibility == Visibility::UiOnly => {
                    whole(&text.value);
                }
                Block::Aside { text, .. } if self.options.injected => whole(&text.value),
                Block::Thinking(thought) => whole(&thought.text.value),
                Block::ToolCall(call) => whole(&one_line(&format!("[tool call: {}]", call.name))),
                Block::Image(media) => whole(&one_line(&media_placeholder("image", media))),
                Block::File(media) => {
                    whole(&one_line(&media_placeholder("file", media)));
                    held_text(&media.blob).map(&mut whole);
                }
                Block::Unknown { type_name, raw } => {
                    whole(&one_line(&describe_unknown(type_name, raw)));
                }
                Block::Aside { .. } | Block::ToolResult(_) => {}
            }
        }
        if let (true, Some(json)) = (result.blocks.is_empty(), &result.structured) {
            whole(&json.to_text());
        }
        if let Some(full) = &result.full_output {
            match (held_text(full), blob_name(full)) {
                (Some(text), _) if self.options.full => whole(text),
                (None, Some(name)) => whole(&one_line(&format!("[full output: {name}]"))),
                _ => {}
            }
        }
        self.write_printed(INNER, &texts, room)
    }

    /// Writes output behind a line: so many lines of it, unless all are wanted.
    pub(super) fn write_printed(
        &mut self,
        margin: &str,
        text: &str,
        room: usize,
    ) -> io::Result<()> {
        let text = without_colours(text.trim_end());
        let text = neutral(&text);
        // Empty lines tell nothing where only a few are shown.
        let is_shown = |line: &&str| self.options.full || !line.trim().is_empty();
        let all: Vec<&str> = text.lines().filter(is_shown).collect();
        let room = self.visible_lines(room, all.len());
        if room == 0 {
            return Ok(());
        }
        // What failed says why at its end.
        let tail = if room == FAILURE { FAILURE - 3 } else { 0 };
        let (head, rest) = all.split_at(room.saturating_sub(tail).min(all.len()));
        let (left_out, tail) = rest.split_at(rest.len().saturating_sub(tail));
        self.output_lines(margin, head)?;
        self.write_more(left_out.len(), &format!("{margin}│ "))?;
        self.output_lines(margin, tail)
    }

    fn output_lines(&mut self, margin: &str, lines: &[&str]) -> io::Result<()> {
        let bar = format!("{margin}{}", self.page.paint.paint_text(DIM, "│ "));
        let columns = self.page.width.saturating_sub(margin.len() + 2);
        for line in lines {
            let line = line.trim_end();
            if self.options.full {
                let line = expand_tabs(line);
                for part in super::wrap::fold_line(&line, columns) {
                    self.page.write_line(&bar, part)?;
                }
            } else {
                self.page.write_line(&bar, &cut_line(line, columns))?;
            }
        }
        Ok(())
    }

    /// How many lines are shown of so many: one that is left out alone would take as much room.
    fn visible_lines(&self, room: usize, lines: usize) -> usize {
        if self.options.full || room > 0 && lines == room + 1 {
            lines
        } else {
            room
        }
    }

    fn write_more(&mut self, lines: usize, margin: &str) -> io::Result<()> {
        if lines == 0 {
            return Ok(());
        }
        let line = format!("{margin}… {lines} more (--full)");
        let line = self.page.paint.paint_text(DIM, line.trim_start());
        let indent = " ".repeat(margin.len() - margin.trim_start().len());
        self.page.write_line(&indent, &line)
    }
}

/// A line that fits, with its indentation.
fn cut_line(line: &str, columns: usize) -> String {
    let line = expand_tabs(line);
    if line.width() <= columns {
        return line;
    }
    let indent = line.len() - line.trim_start_matches(' ').len();
    let (space, rest) = line.split_at(indent.min(columns / 2));
    format!("{space}{}", fit(rest.trim_start(), columns - space.len()))
}

/// What a program printed, without the colours it chose: escapes that do anything else stay, and are
/// made visible.
fn without_colours(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\u{1b}[") {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let codes = escape.get(2..).unwrap_or_default();
        let end = codes.find(|c: char| !c.is_ascii_digit() && c != ';');
        match end {
            Some(end) if codes.get(end..).is_some_and(|c| c.starts_with('m')) => {
                rest = codes.get(end + 1..).unwrap_or_default();
            }
            _ => {
                out.push('\u{1b}');
                rest = escape.get(1..).unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_of_programs_are_left_out_and_other_escapes_are_not() {
        for (text, left) in [
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}[1;32mok\u{1b}[m", "ok"),
            ("\u{1b}[2Jx", "\u{1b}[2Jx"),
            ("\u{1b}]0;title\u{7}", "\u{1b}]0;title\u{7}"),
            ("\u{1b}[", "\u{1b}["),
            ("\u{1b}[\u{1b}[31mm", "\u{1b}[m"),
        ] {
            assert_eq!(without_colours(text), left, "{text:?}");
        }
    }

    #[test]
    fn lines_are_cut_behind_their_indentation() {
        assert_eq!(cut_line("    let x = 1;", 40), "    let x = 1;");
        assert_eq!(cut_line("    let long = 1;", 12), "    let lon…");
        assert_eq!(cut_line("\tx", 10), "    x");
    }
}
