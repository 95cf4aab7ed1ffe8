//! Turns: who speaks, and what belongs to it.

use std::io;

use rethread_model::EntryIx;

use super::Flow;
use super::times::{clock, day};
use crate::reading::{Part, Quiet, Reading, Speaker, Turn, agent_word};

impl Flow<'_, '_, '_> {
    /// Writes entries, which follow each other.
    pub(super) fn entries(&mut self, entries: &[EntryIx]) -> io::Result<()> {
        let mut reading = Reading::new(self.view, entries.to_vec(), self.options);
        let mut over = 0;
        while let Some(part) = reading.next() {
            // What comes now is of the entry that was read last; all before it are over.
            let now = reading.position().saturating_sub(1);
            for ix in entries.get(over..now).unwrap_or_default() {
                self.parting(*ix)?;
            }
            over = over.max(now);
            self.entry = entries.get(now).copied();
            match part {
                Part::Turn(turn) => self.turn(&turn)?,
                Part::Item(item) => self.item(item)?,
                Part::Quiet(quiet) => self.left_out(&quiet)?,
            }
        }
        for ix in entries.get(over..).unwrap_or_default() {
            self.parting(*ix)?;
        }
        self.end_turn()
    }

    fn turn(&mut self, turn: &Turn) -> io::Result<()> {
        self.end_turn()?;
        self.day(turn)?;
        let class = match turn.speaker {
            Speaker::Person => "<article class=person",
            Speaker::Agent => "<article class=agent",
            Speaker::System => "<article class=system",
            Speaker::Extension(_) => "<article class=extension",
            Speaker::Cut => "<article class=cut",
        };
        self.named = Some(turn.ix);
        self.out().raw(class)?;
        self.out().raw(" id=\"")?;
        self.anchor("", turn.number())?;
        self.out().raw("\">\n<header><a class=number href=\"#")?;
        self.anchor("", turn.number())?;
        self.out().raw("\">#")?;
        self.out().number(turn.number())?;
        self.out().raw("</a> <h2>")?;
        let view = self.view;
        match &turn.speaker {
            Speaker::Person => self.out().raw("You")?,
            Speaker::Agent => self.out().line(&capitalized(agent_word(view)))?,
            Speaker::System => self.out().raw("System")?,
            Speaker::Extension(name) => self.out().line(name)?,
            Speaker::Cut => self.out().raw("Summary")?,
        }
        self.out().raw("</h2>")?;
        for (open, word) in [
            (" <span class=model>", turn.model.as_deref()),
            (" <span>", turn.seen),
            (" <span class=label>", turn.label.as_deref()),
        ] {
            if let Some(word) = word {
                self.out().raw(open)?;
                self.out().line(word)?;
                self.out().raw("</span>")?;
            }
        }
        if let Some(time) = turn.time {
            self.out().raw(" <time datetime=\"")?;
            self.out().text(&time.to_string())?;
            self.out().raw("\">")?;
            self.out().text(&clock(time))?;
            self.out().raw("</time>")?;
        }
        self.speaker = Some(turn.speaker.clone());
        self.prompt_number = (turn.speaker == Speaker::Person).then(|| turn.number());
        self.out().raw("</header>\n")
    }

    /// Names the day where another begins.
    fn day(&mut self, turn: &Turn) -> io::Result<()> {
        let day = turn.time.map(day);
        if day.is_none() || day == self.day {
            return Ok(());
        }
        self.out().raw("<p class=day>")?;
        self.out().line(day.as_deref().unwrap_or_default())?;
        self.out().raw("</p>\n")?;
        self.day = day;
        Ok(())
    }

    /// Ends what somebody says.
    pub(super) fn end_turn(&mut self) -> io::Result<()> {
        self.end_events()?;
        match self.speaker.take() {
            Some(_) => self.out().raw("</article>\n"),
            None => Ok(()),
        }
    }

    /// Says what is not on the page.
    fn left_out(&mut self, quiet: &Quiet) -> io::Result<()> {
        self.end_events()?;
        self.out().raw("<p class=notice>")?;
        self.out().line(&quiet.words().join(" · "))?;
        self.out().raw("</p>\n")
    }

    /// Says which branches part from an entry.
    fn parting(&mut self, ix: EntryIx) -> io::Result<()> {
        let Some(numbers) = self.branches.get(&ix) else {
            return Ok(());
        };
        self.end_events()?;
        self.out().raw("<p class=notice>")?;
        for (at, number) in numbers.iter().enumerate() {
            self.out().raw(if at == 0 { "" } else { ", " })?;
            self.out().raw("<a href=\"#")?;
            self.anchor("b", *number as u64)?;
            self.out().raw("\">branch ")?;
            self.out().number(*number as u64)?;
            self.out().raw("</a>")?;
        }
        self.out().raw(" parts here</p>\n")
    }
}

/// `pi` begins a heading as `Pi`.
fn capitalized(word: &str) -> String {
    let mut chars = word.chars();
    let first = chars.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(chars).collect()
}
