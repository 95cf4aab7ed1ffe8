//! What a search found, for people and for scripts.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use jiff::Zoned;
use rethread_engine::{
    ConversationPart, FoundConversation, FoundPlace, SearchAnswer, SnippetLine, TextKind, TextRole,
    TouchedFile, agent_name,
};
use rethread_model::{Moment, Summary};
use rethread_render::{fit, neutral, one_line, width};
use serde_json::{Map, Value, json};

use crate::commands::overview::age;
use crate::context::{Context, shell_word};
use crate::table::{HEADING, ID, QUIET, WORKSPACE, left, paint, title_with_origin, workspace};

/// What was looked for.
const MARK: Style = AnsiColor::Red.on_default().bold();

/// The most that the name of a speaker or a tool takes.
const WIDEST_WHO: usize = 14;

/// What a search found, to be written.
pub(crate) struct FoundText<'a> {
    context: &'a Context,
    answer: &'a SearchAnswer,
    /// What was typed, to mark it again where a conversation is opened; empty if there is nothing to mark.
    mark: &'a str,
    now: Zoned,
}

/// Who speaks.
fn speaker_name(summary: &Summary, place: &FoundPlace) -> String {
    let agent = || {
        let name = agent_name(&summary.head).unwrap_or("Agent");
        name.split_whitespace().next().unwrap_or(name).to_owned()
    };
    let tool = || place.tool.clone().unwrap_or_else(|| "tool".to_owned());
    let who = match place.hit.kind {
        TextKind::Prompt if summary.is_subagent() => "Parent".to_owned(),
        TextKind::Prompt => "You".to_owned(),
        TextKind::Answer => agent(),
        TextKind::Thinking => "thinking".to_owned(),
        TextKind::ToolCall | TextKind::ToolOutput => tool(),
        TextKind::Summary => "Summary".to_owned(),
        TextKind::Injected => "System".to_owned(),
        TextKind::Event => "Event".to_owned(),
        TextKind::Title => "Title".to_owned(),
    };
    fit(&who, WIDEST_WHO)
}

/// The colour of who speaks.
fn speaker_style(place: &FoundPlace) -> Style {
    match place.hit.kind {
        TextKind::Prompt => AnsiColor::Green.on_default(),
        TextKind::Answer => AnsiColor::Cyan.on_default(),
        _ => QUIET,
    }
}

/// What an object of a place says of its conversation.
fn conversation_json(found: &FoundConversation) -> Map<String, Value> {
    let summary = &found.summary;
    let head = &summary.head;
    let title = head.title.as_ref().map(|title| title.text.as_str());
    let object = json!({
        "session_id": head.id,
        "agent": head.held_by(),
        "workspace": head.workspace.path.as_deref().unwrap_or_default(),
        "title": title,
        "updated_at": head.updated.map(|time| time.to_string()),
        "path": summary.path.to_string_lossy(),
        "is_agent_session": summary.is_subagent(),
        "parent_session_id": summary.parent(),
    });
    match object {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

impl<'a> FoundText<'a> {
    pub(crate) fn new(context: &'a Context, answer: &'a SearchAnswer, mark: &'a str) -> Self {
        let now = context.env.now().timestamp();
        Self {
            context,
            answer,
            mark,
            now: now.to_zoned(context.zone().clone()),
        }
    }

    /// Writes it for people: conversations with their best places.
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for found in &self.answer.conversations {
            self.write_conversation(found, out)?;
            writeln!(out)?;
        }
        Ok(())
    }

    fn paint(&self, style: Style, text: &str) -> String {
        paint(self.context.colour, style, text)
    }

    fn write_conversation(&self, found: &FoundConversation, out: &mut dyn Write) -> io::Result<()> {
        let summary = &found.summary;
        let name = one_line(&self.answer.names.name_of(summary)).into_owned();
        writeln!(out, "{}", self.heading(found, &name))?;
        let is_shown = |p: &&FoundPlace| shown_entry(p).is_some();
        let best = found.places.iter().find(is_shown);
        let mut told: Vec<&FoundPlace> = found.places.iter().collect();
        told.retain(|place| place.hit.kind != TextKind::Title);
        told.sort_by_key(|place| place.hit.place);
        let places = || told.iter().copied();
        let number = |place: &FoundPlace| {
            let entry = shown_entry(place).map(|entry| format!("#{entry}"));
            entry.unwrap_or_else(|| "-".to_owned())
        };
        let numbers = places().map(|place| number(place).len()).max().unwrap_or(0);
        let who = places()
            .map(|place| width(&speaker_name(summary, place)))
            .max()
            .unwrap_or(0);
        for place in places() {
            let label = format!(
                "  {}  {}  ",
                self.paint(HEADING, &left(&number(place), numbers)),
                self.paint(
                    speaker_style(place),
                    &left(&speaker_name(summary, place), who)
                ),
            );
            let indent = numbers + who + 6;
            let room = self
                .context
                .columns
                .map(|c| c.saturating_sub(indent).max(20));
            for (at, line) in self
                .place_lines(summary, place, room)
                .into_iter()
                .enumerate()
            {
                if at == 0 {
                    writeln!(out, "{label}{line}")?;
                } else {
                    writeln!(out, "{}{line}", " ".repeat(indent))?;
                }
            }
        }
        let more = found.total_places.saturating_sub(found.places.len());
        let mut command = format!("show {}", shell_word(&name));
        if let Some(best) = best {
            command = format!("{command} --at '#{}'", best.hit.place.entry);
            if !self.mark.is_empty() {
                command = format!("{command} --mark {}", shell_word(self.mark));
            }
        }
        let mut line = self.context.call(&command);
        if more > 0 {
            let noun = if more == 1 { "place" } else { "places" };
            line = format!("{line}   (and {more} more {noun})");
        }
        writeln!(out, "  {}", self.paint(QUIET, &line))
    }

    /// `bc8b91b2  Claude Code  shop  yesterday  Fix the redirect after sign-in`
    fn heading(&self, found: &FoundConversation, name: &str) -> String {
        let summary = &found.summary;
        let when = age(summary.head.updated, &self.now);
        let agent = agent_name(&summary.head).unwrap_or(summary.head.held_by());
        let mut cells = vec![
            (name.to_owned(), ID),
            (one_line(agent).into_owned(), Style::new()),
            (fit(&workspace(summary), 24), WORKSPACE),
            (when, QUIET),
        ];
        if summary.is_subagent() {
            cells.push(("sub-agent".to_owned(), QUIET));
        }
        let used: usize = cells.iter().map(|(text, _)| width(text) + 2).sum();
        let cells = cells.iter().map(|(text, style)| self.paint(*style, text));
        let cells: Vec<String> = cells.collect();
        let title = found.places.iter().find(|p| p.hit.kind == TextKind::Title);
        let title = title.and_then(|place| place.snippet.lines.first());
        let whole = title.filter(|line| !line.is_cut_after && !line.is_cut_before);
        let title = if let Some(line) = whole {
            self.marked(line, None)
        } else {
            let title = title_with_origin(summary);
            let room = self.context.columns.map(|c| c.saturating_sub(used).max(20));
            let title = room.map_or(title.clone(), |room| fit(&title, room));
            self.paint(HEADING, &title)
        };
        format!("{}  {title}", cells.join("  "))
    }

    fn place_lines(
        &self,
        summary: &Summary,
        place: &FoundPlace,
        room: Option<usize>,
    ) -> Vec<String> {
        let part = match place.part {
            ConversationPart::Active => "",
            ConversationPart::Compacted => "(compacted) ",
            ConversationPart::LeftBranch => "(left branch) ",
            ConversationPart::SubAgent => "(sub-agent) ",
            ConversationPart::CarriedOriginal => "(original) ",
        };
        let room = room.map(|room| room.saturating_sub(part.len()));
        let mut lines: Vec<String> = if place.files.is_empty() {
            let shown = place.snippet.lines.iter();
            shown.map(|line| self.marked(line, room)).collect()
        } else {
            let folder = summary.head.workspace.path.as_deref().unwrap_or_default();
            let file = |file: &TouchedFile| {
                let inside = file
                    .path
                    .strip_prefix(folder)
                    .and_then(|p| p.strip_prefix('/'));
                let path = inside.filter(|_| folder.len() > 1).unwrap_or(&file.path);
                format!("{}  {}", left(file.file_use.word(), 7), one_line(path))
            };
            let mut files: Vec<String> = place.files.iter().map(file).collect();
            files.sort_unstable();
            files.dedup();
            files
        };
        if let Some(first) = lines.first_mut() {
            first.insert_str(0, &self.paint(QUIET, part));
        }
        lines
    }

    /// A line with what was looked for in it: in colour, or in brackets where there is none.
    fn marked(&self, line: &SnippetLine, room: Option<usize>) -> String {
        let line = narrowed(line, room);
        let mut shown = String::new();
        let mut at = 0;
        let piece = |range: std::ops::Range<usize>| {
            neutral(line.text.get(range).unwrap_or_default()).into_owned()
        };
        if line.is_cut_before {
            shown.push_str("… ");
        }
        for mark in &line.marks {
            shown.push_str(&piece(at..mark.start));
            let found = piece(mark.clone());
            if self.context.colour {
                shown.push_str(&self.paint(MARK, &found));
            } else {
                shown.extend(["[", &found, "]"]);
            }
            at = mark.end;
        }
        shown.push_str(&piece(at..line.text.len()));
        if line.is_cut_after {
            shown.push_str(" …");
        }
        shown
    }

    /// Writes it for scripts: an object for each place.
    pub(crate) fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        for found in &self.answer.conversations {
            if found.places.is_empty() {
                writeln!(out, "{}", place_json(found, None))?;
            }
            for place in &found.places {
                writeln!(out, "{}", place_json(found, Some(place)))?;
            }
        }
        Ok(())
    }
}

/// The number of the entry that `show` opens: none of a title, nor of what travels along.
fn shown_entry(place: &FoundPlace) -> Option<u32> {
    let entry = place.hit.place.entry;
    (entry > 0 && place.part != ConversationPart::CarriedOriginal).then_some(entry)
}

/// A place; only the conversation where nothing was asked of its texts.
fn place_json(found: &FoundConversation, place: Option<&FoundPlace>) -> Value {
    let mut object = conversation_json(found);
    let hit = place.map(|place| place.hit);
    let entry = place.and_then(shown_entry);
    let lines = place.map(|place| place.snippet.lines.as_slice());
    let (snippet, marks) = whole_snippet(lines.unwrap_or_default());
    let files = place.map(|place| place.files.iter()).into_iter().flatten();
    let files = files.map(|file| json!({ "path": file.path, "use": file.file_use.word() }));
    let files: Vec<Value> = files.collect();
    let role = hit.and_then(|hit| hit.kind.role()).map(TextRole::word);
    let time = hit.and_then(|hit| hit.time).and_then(Moment::from_millis);
    for (name, value) in [
        ("entry", json!(entry.map(|entry| format!("#{entry}")))),
        (
            "entry_id",
            json!(place.and_then(|place| place.entry_id.as_deref())),
        ),
        ("kind", json!(hit.map(|hit| hit.kind.word()))),
        ("role", json!(role)),
        ("tool", json!(place.and_then(|place| place.tool.as_deref()))),
        ("part", json!(place.map(|place| place.part.word()))),
        ("time", json!(time.map(|time| time.to_string()))),
        ("snippet", json!(snippet)),
        ("marks", json!(marks)),
        ("files", json!(files)),
    ] {
        object.insert(name.to_owned(), value);
    }
    Value::Object(object)
}

/// The lines of a snippet as one text, and where what was looked for is in it, in characters.
fn whole_snippet(lines: &[SnippetLine]) -> (String, Vec<[usize; 2]>) {
    let mut text = String::new();
    let mut marks = Vec::new();
    let mut before = 0;
    for (at, line) in lines.iter().enumerate() {
        if at > 0 {
            text.push('\n');
            before += 1;
        }
        let chars = |end: usize| line.text.get(..end).map_or(0, |t| t.chars().count());
        let places = line.marks.iter();
        marks.extend(places.map(|m| [before + chars(m.start), before + chars(m.end)]));
        text.push_str(&line.text);
        before += line.text.chars().count();
    }
    (text, marks)
}

/// A line that fits into so many columns, with its first mark in it.
fn narrowed(line: &SnippetLine, room: Option<usize>) -> SnippetLine {
    let mut line = line.clone();
    let Some(room) = room else { return line };
    // Dots at both ends, and brackets.
    let room = room.saturating_sub(4).max(8);
    // What stands before the first mark is cut first, down to a few words.
    let first = line.marks.first().map_or(0, |mark| mark.start);
    while width(&line.text) > room {
        let lead = line.text.get(..first.min(line.text.len())).map_or(0, width);
        let cuts_front =
            lead > room / 3 && first > 0 && line.marks.first().is_some_and(|m| m.start > room / 3);
        if !cuts_front {
            break;
        }
        let Some(space) = line
            .text
            .find(' ')
            .filter(|at| line.marks.first().is_some_and(|m| at < &m.start))
        else {
            break;
        };
        line.text.drain(..=space);
        for mark in &mut line.marks {
            mark.start -= space + 1;
            mark.end -= space + 1;
        }
        line.is_cut_before = true;
    }
    if width(&line.text) > room {
        let kept = fit(&line.text, room);
        let end = kept.trim_end_matches('…').trim_end().len();
        let end = line.text.floor_char_boundary(end.min(line.text.len()));
        line.text.truncate(end);
        line.marks.retain(|mark| mark.start < end);
        for mark in &mut line.marks {
            mark.end = mark.end.min(end);
        }
        line.is_cut_after = true;
    }
    line
}
