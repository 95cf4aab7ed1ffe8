//! A few lines of much.

use std::io::{self, Write};

use crate::{Plain, one_line};

/// Longer lines are cut: nobody reads them at a terminal.
const LINE: usize = 2000;

/// Writes the first lines that it is given, and says how many more there were.
pub(super) struct Clip<'a> {
    out: &'a mut dyn Write,
    prefix: &'static str,
    room: usize,
    more: usize,
}

impl<'a> Clip<'a> {
    pub(super) fn new(out: &'a mut dyn Write, prefix: &'static str, room: usize) -> Self {
        Self {
            out,
            prefix,
            room,
            more: 0,
        }
    }

    /// Writes untrusted text, each line behind a mark.
    pub(super) fn text(&mut self, mark: &str, text: &str) -> io::Result<()> {
        for line in text.trim_end_matches(['\n', '\r']).lines() {
            self.line(mark, line)?;
        }
        Ok(())
    }

    /// Writes untrusted text on one line.
    pub(super) fn label(&mut self, text: &str) -> io::Result<()> {
        self.line("", &one_line(text))
    }

    /// Writes one line of untrusted text behind a mark.
    pub(super) fn line(&mut self, mark: &str, line: &str) -> io::Result<()> {
        let Some(room) = self.room.checked_sub(1) else {
            self.more += 1;
            return Ok(());
        };
        self.room = room;
        match line.char_indices().nth(LINE) {
            None => writeln!(self.out, "{}{mark}{}", self.prefix, Plain(line)),
            Some((at, _)) => {
                let (shown, rest) = line.split_at(at);
                let rest = rest.chars().count();
                writeln!(
                    self.out,
                    "{}{mark}{}… {rest} more characters",
                    self.prefix,
                    Plain(shown)
                )
            }
        }
    }

    pub(super) fn finish(self) -> io::Result<()> {
        let lines = match self.more {
            0 => return Ok(()),
            1 => "1 more line".to_owned(),
            n => format!("{n} more lines"),
        };
        writeln!(
            self.out,
            "{}… {lines} (--to markdown shows all)",
            self.prefix
        )
    }
}
