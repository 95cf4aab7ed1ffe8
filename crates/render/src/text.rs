//! A conversation for people at a terminal.

mod call;
mod head;
mod page;
mod paint;
mod parts;
mod prose;
mod table;
mod wrap;

use std::io::{self, Write};

use anstyle::Style as Ink;
use rethread_model::{Media, Thinking};
use unicode_width::UnicodeWidthStr;

use self::head::{TimeLabels, write_head};
use self::page::TextPage;
use self::paint::{BOLD, DIM, RED};
pub(crate) use self::paint::{Paint, speaker_style};
pub use self::parts::{TextPart, walk_text_parts};
use self::prose::write_prose;
use self::wrap::StyledSpan;
use crate::media::{held_text, media_placeholder};
use crate::notice::Notice;
use crate::reading::{OmittedItems, Reading, ReadingPart, Speaker, Turn, TurnItem, agent_word};
use crate::{OneLine, Options, Plain, Style, View, byte_count, fit, neutral, one_line};

/// What is said stands behind this margin.
const MARGIN: &str = "    ";

/// What belongs to something that was said.
const INNER: &str = "      ";

/// How many lines of a text that is folded are shown.
const FEW: usize = 3;

/// Writes a conversation for people at a terminal: its title and facts, then turn by turn what was
/// said, with one line for each call of a tool. What is quiet is counted at the end of its turn.
///
/// Words wrap at the width of the style. Long outputs are folded unless the options want them whole.
/// Colours are there only if the style asks for them, and nothing depends on them.
pub fn write_text(
    out: &mut dyn Write,
    view: &View<'_>,
    o: &Options,
    style: &Style,
) -> io::Result<()> {
    let mut screen = TextScreen::new(out, view, *o, style);
    write_head(&mut screen.page, &mut screen.clock, view)?;
    screen.write_parts(view)
}

/// Writes turns as [`write_text`] does, without the title and the facts before them, and without numbers: what is
/// said while somebody waits for it, of which the rest may not have been read.
pub fn write_turns(
    out: &mut dyn Write,
    view: &View<'_>,
    o: &Options,
    style: &Style,
) -> io::Result<()> {
    let mut screen = TextScreen::new(out, view, *o, style);
    screen.is_numbered = false;
    screen.write_parts(view)
}

/// Writes the title of a conversation and the facts about it.
pub(crate) fn head_lines(out: &mut dyn Write, view: &View<'_>, style: &Style) -> io::Result<()> {
    let mut page = TextPage::new(out, style.colour, style.width);
    write_head(&mut page, &mut TimeLabels::new(style), view)?;
    writeln!(out)
}

struct TextScreen<'a> {
    page: TextPage<'a>,
    clock: TimeLabels,
    options: Options,
    agent: &'a str,
    workspace: Option<&'a str>,
    /// Whether the person speaks, whose words are shown as they were typed.
    is_person: bool,
    /// Whether the last thing was a call of a tool.
    after_call: bool,
    /// Whether turns have their numbers.
    is_numbered: bool,
}

impl<'a> TextScreen<'a> {
    fn new(out: &'a mut dyn Write, view: &View<'a>, options: Options, style: &Style) -> Self {
        Self {
            page: TextPage::new(out, style.colour, style.width),
            clock: TimeLabels::new(style),
            options,
            agent: agent_word(view),
            workspace: view.session.head.workspace.path.as_deref(),
            is_person: false,
            after_call: false,
            is_numbered: true,
        }
    }
}

impl TextScreen<'_> {
    fn write_parts(&mut self, view: &View<'_>) -> io::Result<()> {
        for part in Reading::of_view(view, self.options) {
            match part {
                ReadingPart::Turn(turn) => self.write_turn(&turn)?,
                ReadingPart::Item(item) => self.write_item(item)?,
                ReadingPart::Quiet(quiet) => self.write_quiet(&quiet)?,
            }
        }
        Ok(())
    }

    /// `#2  Claude  opus-4-5  10:02`
    fn write_turn(&mut self, turn: &Turn) -> io::Result<()> {
        self.page.request_gap();
        self.is_person = turn.speaker == Speaker::Person;
        self.after_call = false;
        let who = match &turn.speaker {
            Speaker::Person => "You".to_owned(),
            Speaker::Agent => self.agent.to_owned(),
            Speaker::System => "System".to_owned(),
            Speaker::Extension(name) => name.clone(),
            Speaker::Cut => "Summary".to_owned(),
        };
        let paint = self.page.paint;
        let number = format!("#{}", turn.entry_number());
        let who = fit(&who, 30);
        let mut used = who.width();
        let mut line = String::new();
        if self.is_numbered {
            used += number.len() + 2;
            line = paint.paint_text(BOLD, &number);
            line.push_str("  ");
        }
        line.push_str(&paint.paint_text(speaker_style(&turn.speaker), &who));
        let label = turn.label.as_ref().map(|label| format!("[{label}]"));
        let time = turn.time.map(|time| self.clock.time_heading(time));
        let seen = turn.seen.map(str::to_owned);
        for word in [turn.model.clone(), time, label, seen]
            .into_iter()
            .flatten()
        {
            let word = fit(&word, self.page.width.saturating_sub(used + 2).min(40));
            if !word.is_empty() {
                used += 2 + word.width();
                line.push_str("  ");
                line.push_str(&paint.paint_text(DIM, &word));
            }
        }
        self.page.write_heading(&line)
    }

    fn write_item(&mut self, item: TurnItem) -> io::Result<()> {
        let is_call = matches!(item, TurnItem::Call(_));
        // Calls follow each other closely, and stand apart from words.
        if !(self.after_call && is_call) && (self.after_call || is_call) {
            self.page.request_gap();
        }
        if self.page.is_fresh() || matches!(item, TurnItem::Printed(_)) {
            self.page.suppress_gap();
        }
        self.after_call = is_call;
        match item {
            TurnItem::Prose(text) if self.is_person => {
                self.page
                    .write_text(MARGIN, Ink::new(), &neutral(text.trim()))?;
            }
            TurnItem::Prose(text) => write_prose(&mut self.page, MARGIN, &text)?,
            TurnItem::Typed(text) => self.page.write_text(MARGIN, BOLD, &neutral(text.trim()))?,
            TurnItem::Printed(text) => self.write_printed(MARGIN, &text, FEW)?,
            TurnItem::Thinking(thought) => self.write_thinking(&thought)?,
            TurnItem::Call(call) => return self.write_call(&call),
            TurnItem::Image(media) => self.write_media("image", &media)?,
            TurnItem::File(media) => self.write_media("file", &media)?,
            TurnItem::Unknown(what) => self.page.write_text(MARGIN, DIM, &one_line(&what))?,
            TurnItem::Injected(injected) => {
                let what = injected.description();
                let bytes = injected.text.len() as u64;
                self.write_requested(&what, bytes, &injected.text)?;
            }
            TurnItem::Error(error) => self.write_error(&error)?,
            TurnItem::Notice(notice) => return self.write_notice(&notice),
            TurnItem::Label(label) => {
                let line = format!("[{}]", OneLine(&label));
                self.page.write_text(MARGIN, DIM, &line)?;
            }
            TurnItem::Empty => self.page.write_text(MARGIN, DIM, "(empty)")?,
        }
        self.page.request_gap();
        Ok(())
    }

    /// What is quiet by default, and was asked for.
    fn write_requested(&mut self, what: &str, bytes: u64, text: &str) -> io::Result<()> {
        let line = match bytes {
            0 => format!("· {}", OneLine(what)),
            bytes => format!("· {} {}", OneLine(what), byte_count(bytes)),
        };
        self.page.write_text(MARGIN, DIM, &line)?;
        self.page.write_text(INNER, DIM, &neutral(text.trim()))
    }

    fn write_thinking(&mut self, thought: &Thinking) -> io::Result<()> {
        let what = if thought.summary {
            "thinking (summary)"
        } else {
            "thinking"
        };
        let text = match thought.text.value.trim() {
            "" if thought.redacted => "(redacted)",
            "" => "(not readable)",
            text => text,
        };
        self.write_requested(what, thought.text.value.trim().len() as u64, text)
    }

    fn write_error(&mut self, error: &str) -> io::Result<()> {
        let sign = StyledSpan {
            style: RED,
            text: "✗ ".to_owned(),
        };
        let text = Plain(error.trim()).to_string();
        self.page
            .write_spans(MARGIN, INNER, &[sign, StyledSpan::plain(text)])
    }

    /// What stands for a picture or a file, with its text where it is one.
    fn write_media(&mut self, kind: &str, media: &Media) -> io::Result<()> {
        let line = one_line(&media_placeholder(kind, media)).into_owned();
        self.page.write_text(MARGIN, Ink::new(), &line)?;
        match held_text(&media.blob) {
            Some(text) => self.write_printed(MARGIN, text, FEW),
            None => Ok(()),
        }
    }

    fn write_notice(&mut self, notice: &Notice) -> io::Result<()> {
        let style = if notice.is_error { RED } else { DIM };
        let line = format!("· {}", OneLine(&notice.line));
        self.page.write_text(MARGIN, style, &line)?;
        if let Some(text) = &notice.text {
            self.write_printed(MARGIN, text, FEW)?;
        }
        Ok(())
    }

    /// `· thinking 1.4 KB · skill "profiling" 4.2 KB · 2 hooks     (--thinking, --injected, --events)`
    fn write_quiet(&mut self, quiet: &OmittedItems) -> io::Result<()> {
        if !self.page.is_fresh() {
            self.page.request_gap();
        }
        let words: Vec<String> = quiet.descriptions().iter().map(|w| fit(w, 60)).collect();
        let mut text = format!("· {}", words.join(" · "));
        let flags = quiet.flags().join(", ");
        if !flags.is_empty() {
            text = format!("{text}     ({flags})");
        }
        let span = StyledSpan { style: DIM, text };
        self.page.write_spans(MARGIN, INNER, &[span])?;
        self.page.request_gap();
        Ok(())
    }
}
