//! Turns: who speaks, and what belongs to it.

use std::io;

use rethread_model::EntryIx;

use super::SessionPage;
use super::times::{clock_time, long_day};
use crate::reading::{OmittedItems, Reading, ReadingPart, Speaker, Turn, agent_word};

impl SessionPage<'_, '_, '_> {
    /// Writes entries, which follow each other.
    pub(super) fn write_entries(&mut self, entries: &[EntryIx]) -> io::Result<()> {
        let mut reading = Reading::new(self.view, entries.to_vec(), self.options);
        let mut over = 0;
        while let Some(part) = reading.next() {
            // What comes now is of the entry that was read last; all before it are over.
            let now = reading.position().saturating_sub(1);
            for ix in entries.get(over..now).unwrap_or_default() {
                self.write_branch_links(*ix)?;
            }
            over = over.max(now);
            self.entry = entries.get(now).copied();
            match part {
                ReadingPart::Turn(turn) => self.write_turn(&turn)?,
                ReadingPart::Item(item) => self.write_item(item)?,
                ReadingPart::Quiet(quiet) => self.left_out(&quiet)?,
            }
        }
        for ix in entries.get(over..).unwrap_or_default() {
            self.write_branch_links(*ix)?;
        }
        self.end_turn()
    }

    fn write_turn(&mut self, turn: &Turn) -> io::Result<()> {
        self.end_turn()?;
        self.write_day(turn)?;
        let class = match turn.speaker {
            Speaker::Person => "<article class=person",
            Speaker::Agent => "<article class=agent",
            Speaker::System => "<article class=system",
            Speaker::Extension(_) => "<article class=extension",
            Speaker::Cut => "<article class=cut",
        };
        self.named = Some(turn.ix);
        self.out().write_markup(class)?;
        self.out().write_markup(" id=\"")?;
        self.write_anchor("", turn.entry_number())?;
        self.out()
            .write_markup("\">\n<header><a class=number href=\"#")?;
        self.write_anchor("", turn.entry_number())?;
        self.out().write_markup("\">#")?;
        self.out().write_number(turn.entry_number())?;
        self.out().write_markup("</a> <h2>")?;
        let view = self.view;
        match &turn.speaker {
            Speaker::Person => self.out().write_markup("You")?,
            Speaker::Agent => self.out().write_line(&capitalize_word(agent_word(view)))?,
            Speaker::System => self.out().write_markup("System")?,
            Speaker::Extension(name) => self.out().write_line(name)?,
            Speaker::Cut => self.out().write_markup("Summary")?,
        }
        self.out().write_markup("</h2>")?;
        for (open, word) in [
            (" <span class=model>", turn.model.as_deref()),
            (" <span>", turn.seen),
            (" <span class=label>", turn.label.as_deref()),
        ] {
            if let Some(word) = word {
                self.out().write_markup(open)?;
                self.out().write_line(word)?;
                self.out().write_markup("</span>")?;
            }
        }
        if let Some(time) = turn.time {
            self.out().write_markup(" <time datetime=\"")?;
            self.out().write_text(&time.to_string())?;
            self.out().write_markup("\">")?;
            self.out().write_text(&clock_time(time))?;
            self.out().write_markup("</time>")?;
        }
        self.speaker = Some(turn.speaker.clone());
        self.prompt_number = (turn.speaker == Speaker::Person).then(|| turn.entry_number());
        self.out().write_markup("</header>\n")
    }

    /// Names the day where another begins.
    fn write_day(&mut self, turn: &Turn) -> io::Result<()> {
        let day = turn.time.map(long_day);
        if day.is_none() || day == self.day {
            return Ok(());
        }
        self.out().write_markup("<p class=day>")?;
        self.out().write_line(day.as_deref().unwrap_or_default())?;
        self.out().write_markup("</p>\n")?;
        self.day = day;
        Ok(())
    }

    /// Ends what somebody says.
    pub(super) fn end_turn(&mut self) -> io::Result<()> {
        self.end_events()?;
        match self.speaker.take() {
            Some(_) => self.out().write_markup("</article>\n"),
            None => Ok(()),
        }
    }

    /// Says what is not on the page.
    fn left_out(&mut self, quiet: &OmittedItems) -> io::Result<()> {
        self.end_events()?;
        self.out().write_markup("<p class=notice>")?;
        self.out().write_line(&quiet.descriptions().join(" · "))?;
        self.out().write_markup("</p>\n")
    }

    /// Says which branches part from an entry.
    fn write_branch_links(&mut self, ix: EntryIx) -> io::Result<()> {
        let Some(numbers) = self.branches.get(&ix) else {
            return Ok(());
        };
        self.end_events()?;
        self.out().write_markup("<p class=notice>")?;
        for (at, number) in numbers.iter().enumerate() {
            self.out().write_markup(if at == 0 { "" } else { ", " })?;
            self.out().write_markup("<a href=\"#")?;
            self.write_anchor("b", *number as u64)?;
            self.out().write_markup("\">branch ")?;
            self.out().write_number(*number as u64)?;
            self.out().write_markup("</a>")?;
        }
        self.out().write_markup(" parts here</p>\n")
    }
}

/// `pi` begins a heading as `Pi`.
fn capitalize_word(word: &str) -> String {
    let mut chars = word.chars();
    let first = chars.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(chars).collect()
}
