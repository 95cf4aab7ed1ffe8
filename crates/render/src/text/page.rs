//! Lines on a terminal: margins, and empty lines between things.

use std::io::{self, Write};

use anstyle::Style;

use super::paint::Paint;
use super::wrap::{Span, fold_line, wrap};

/// Words are set no wider than this, however wide the terminal is.
const MEASURE: usize = 100;

/// Where lines go.
pub(super) struct Page<'a> {
    out: &'a mut dyn Write,
    pub(super) paint: Paint,
    /// The columns of the terminal.
    pub(super) width: usize,
    /// Whether an empty line must stand before the next thing.
    apart: bool,
    /// Whether the last line was a heading.
    fresh: bool,
}

impl<'a> Page<'a> {
    pub(super) fn new(out: &'a mut dyn Write, colour: bool, width: usize) -> Self {
        Self {
            out,
            paint: Paint(colour),
            width: width.clamp(20, 400),
            apart: false,
            fresh: false,
        }
    }

    /// Writes a heading, which the next thing follows without an empty line.
    pub(super) fn heading(&mut self, line: &str) -> io::Result<()> {
        self.line("", line)?;
        self.fresh = true;
        Ok(())
    }

    /// Whether the last line was a heading.
    pub(super) fn is_fresh(&self) -> bool {
        self.fresh
    }

    /// Asks for an empty line before whatever comes next.
    pub(super) fn part(&mut self) {
        self.apart = true;
    }

    /// Lets the next thing follow without an empty line.
    pub(super) fn join(&mut self) {
        self.apart = false;
    }

    /// Writes one line as it is.
    pub(super) fn line(&mut self, margin: &str, line: &str) -> io::Result<()> {
        if std::mem::take(&mut self.apart) {
            writeln!(self.out)?;
        }
        self.fresh = false;
        let line = format!("{margin}{line}");
        writeln!(self.out, "{}", line.trim_end_matches(' '))
    }

    /// The columns between a margin and the edge, for words.
    pub(super) fn measure(&self, margin: usize) -> usize {
        self.width.min(MEASURE).saturating_sub(margin).max(8)
    }

    /// Writes words that wrap; `first` stands before the first line, `rest` before the others.
    pub(super) fn words(&mut self, first: &str, rest: &str, spans: &[Span]) -> io::Result<()> {
        let columns = self.measure(unicode_width::UnicodeWidthStr::width(rest));
        for (at, line) in wrap(spans, columns).iter().enumerate() {
            let margin = if at == 0 { first } else { rest };
            let line = self.paint.spans(line);
            self.line(margin, &line)?;
        }
        Ok(())
    }

    /// Writes text in one style that wraps, line by line.
    pub(super) fn text(&mut self, margin: &str, style: Style, text: &str) -> io::Result<()> {
        for line in text.lines() {
            let text = line.trim_end().to_owned();
            self.words(margin, margin, &[Span { style, text }])?;
        }
        Ok(())
    }

    /// Writes a line of code or output, broken wherever it reaches the edge.
    pub(super) fn folded(&mut self, margin: &str, style: Style, line: &str) -> io::Result<()> {
        let line = expand_tabs(line);
        let columns = self
            .width
            .saturating_sub(unicode_width::UnicodeWidthStr::width(margin));
        for part in fold_line(&line, columns) {
            let part = self.paint.with(style, part);
            self.line(margin, &part)?;
        }
        Ok(())
    }
}

/// A line with spaces instead of tabs.
pub(super) fn expand_tabs(line: &str) -> String {
    if !line.contains('\t') {
        return line.to_owned();
    }
    let mut out = String::with_capacity(line.len() + 16);
    let mut column = 0;
    for c in line.chars() {
        if c == '\t' {
            let next = (column / 4 + 1) * 4;
            out.extend(std::iter::repeat_n(' ', next - column));
            column = next;
        } else {
            out.push(c);
            column += unicode_width::UnicodeWidthChar::width(c).unwrap_or(0);
        }
    }
    out
}
