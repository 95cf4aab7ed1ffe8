//! A conversation for people at a terminal.

mod call;
mod head;
mod page;
mod paint;
mod prose;
mod table;
mod wrap;

use std::io::{self, Write};

use anstyle::Style as Ink;
use rethread_model::{Media, Thinking};
use unicode_width::UnicodeWidthStr;

use self::head::{Clock, write_head};
use self::page::Page;
use self::paint::{BOLD, DIM, RED};
pub(crate) use self::paint::{Paint, speaker_style};
use self::prose::prose;
use self::wrap::Span;
use crate::media::{held_text, placeholder};
use crate::notice::Notice;
use crate::reading::{Item, Part, Quiet, Reading, Speaker, Turn, agent_word, size};
use crate::{OneLine, Options, Plain, Style, View, fit, neutral, one_line};

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
pub fn text(out: &mut dyn Write, view: &View<'_>, o: &Options, style: &Style) -> io::Result<()> {
    let mut screen = Screen {
        page: Page::new(out, style.colour, style.width),
        clock: Clock::new(style),
        options: *o,
        agent: agent_word(view),
        workspace: view.session.head.workspace.path.as_deref(),
        is_person: false,
        after_call: false,
    };
    write_head(&mut screen.page, &mut screen.clock, view)?;
    for part in Reading::of(view, *o) {
        match part {
            Part::Turn(turn) => screen.turn(&turn)?,
            Part::Item(item) => screen.item(item)?,
            Part::Quiet(quiet) => screen.quiet(&quiet)?,
        }
    }
    Ok(())
}

/// Writes the title of a conversation and the facts about it.
pub(crate) fn head_lines(out: &mut dyn Write, view: &View<'_>, style: &Style) -> io::Result<()> {
    let mut page = Page::new(out, style.colour, style.width);
    write_head(&mut page, &mut Clock::new(style), view)?;
    writeln!(out)
}

struct Screen<'a> {
    page: Page<'a>,
    clock: Clock,
    options: Options,
    agent: &'a str,
    workspace: Option<&'a str>,
    /// Whether the person speaks, whose words are shown as they were typed.
    is_person: bool,
    /// Whether the last thing was a call of a tool.
    after_call: bool,
}

impl Screen<'_> {
    /// `#2  Claude  opus-4-5  10:02`
    fn turn(&mut self, turn: &Turn) -> io::Result<()> {
        self.page.part();
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
        let number = format!("#{}", turn.number());
        let who = fit(&who, 30);
        let mut used = number.len() + 2 + who.width();
        let mut line = paint.with(BOLD, &number);
        line.push_str("  ");
        line.push_str(&paint.with(speaker_style(&turn.speaker), &who));
        let label = turn.label.as_ref().map(|label| format!("[{label}]"));
        let time = turn.time.map(|time| self.clock.heading(time));
        let seen = turn.seen.map(str::to_owned);
        for word in [turn.model.clone(), time, label, seen]
            .into_iter()
            .flatten()
        {
            let word = fit(&word, self.page.width.saturating_sub(used + 2).min(40));
            if !word.is_empty() {
                used += 2 + word.width();
                line.push_str("  ");
                line.push_str(&paint.with(DIM, &word));
            }
        }
        self.page.heading(&line)
    }

    fn item(&mut self, item: Item) -> io::Result<()> {
        let is_call = matches!(item, Item::Call(_));
        // Calls follow each other closely, and stand apart from words.
        if !(self.after_call && is_call) && (self.after_call || is_call) {
            self.page.part();
        }
        if self.page.is_fresh() || matches!(item, Item::Printed(_)) {
            self.page.join();
        }
        self.after_call = is_call;
        match item {
            Item::Prose(text) if self.is_person => {
                self.page.text(MARGIN, Ink::new(), &neutral(text.trim()))?;
            }
            Item::Prose(text) => prose(&mut self.page, MARGIN, &text)?,
            Item::Typed(text) => self.page.text(MARGIN, BOLD, &neutral(text.trim()))?,
            Item::Printed(text) => self.printed(MARGIN, &text, FEW)?,
            Item::Thinking(thought) => self.thinking(&thought)?,
            Item::Call(call) => return self.call(&call),
            Item::Image(media) => self.media("image", &media)?,
            Item::File(media) => self.media("file", &media)?,
            Item::Unknown(what) => self.page.text(MARGIN, DIM, &one_line(&what))?,
            Item::Injected(injected) => {
                let what = injected.what();
                let bytes = injected.text.len() as u64;
                self.told(&what, bytes, &injected.text)?;
            }
            Item::Error(error) => self.error(&error)?,
            Item::Notice(notice) => return self.notice(&notice),
            Item::Label(label) => {
                let line = format!("[{}]", OneLine(&label));
                self.page.text(MARGIN, DIM, &line)?;
            }
            Item::Empty => self.page.text(MARGIN, DIM, "(empty)")?,
        }
        self.page.part();
        Ok(())
    }

    /// What is quiet by default, and was asked for.
    fn told(&mut self, what: &str, bytes: u64, text: &str) -> io::Result<()> {
        let line = match bytes {
            0 => format!("· {}", OneLine(what)),
            bytes => format!("· {} {}", OneLine(what), size(bytes)),
        };
        self.page.text(MARGIN, DIM, &line)?;
        self.page.text(INNER, DIM, &neutral(text.trim()))
    }

    fn thinking(&mut self, thought: &Thinking) -> io::Result<()> {
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
        self.told(what, thought.text.value.trim().len() as u64, text)
    }

    fn error(&mut self, error: &str) -> io::Result<()> {
        let sign = Span {
            style: RED,
            text: "✗ ".to_owned(),
        };
        let text = Plain(error.trim()).to_string();
        self.page.words(MARGIN, INNER, &[sign, Span::plain(text)])
    }

    /// What stands for a picture or a file, with its text where it is one.
    fn media(&mut self, kind: &str, media: &Media) -> io::Result<()> {
        let line = one_line(&placeholder(kind, media)).into_owned();
        self.page.text(MARGIN, Ink::new(), &line)?;
        match held_text(&media.blob) {
            Some(text) => self.printed(MARGIN, text, FEW),
            None => Ok(()),
        }
    }

    fn notice(&mut self, notice: &Notice) -> io::Result<()> {
        let style = if notice.is_error { RED } else { DIM };
        let line = format!("· {}", OneLine(&notice.line));
        self.page.text(MARGIN, style, &line)?;
        if let Some(text) = &notice.text {
            self.printed(MARGIN, text, FEW)?;
        }
        Ok(())
    }

    /// `· thinking 1.4 KB · skill "profiling" 4.2 KB · 2 hooks     (--thinking, --injected, --events)`
    fn quiet(&mut self, quiet: &Quiet) -> io::Result<()> {
        if !self.page.is_fresh() {
            self.page.part();
        }
        let words: Vec<String> = quiet.words().iter().map(|w| fit(w, 60)).collect();
        let mut text = format!("· {}", words.join(" · "));
        let flags = quiet.flags().join(", ");
        if !flags.is_empty() {
            text = format!("{text}     ({flags})");
        }
        let span = Span { style: DIM, text };
        self.page.words(MARGIN, INNER, &[span])?;
        self.page.part();
        Ok(())
    }
}
