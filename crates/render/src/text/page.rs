//! Lines on a terminal: margins, and empty lines between things.

use std::io::{self, Write};

use anstyle::Style;

use super::paint::Paint;
use super::wrap::{StyledSpan, fold_line, wrap_spans};

/// Words are set no wider than this, however wide the terminal is.
const MEASURE: usize = 100;

/// Where lines go.
pub(super) struct TextPage<'a> {
    out: &'a mut dyn Write,
    pub(super) paint: Paint,
    /// The columns of the terminal.
    pub(super) width: usize,
    /// Whether an empty line must stand before the next thing.
    apart: bool,
    /// Whether the last line was a heading.
    fresh: bool,
    /// Whether words are broken into lines that fit.
    wraps: bool,
}

impl<'a> TextPage<'a> {
    pub(super) fn new(out: &'a mut dyn Write, colour: bool, width: usize) -> Self {
        Self {
            out,
            paint: Paint(colour),
            width: width.clamp(20, 400),
            apart: false,
            fresh: false,
            wraps: true,
        }
    }

    /// Leaves lines as long as they are, for whoever is no terminal.
    pub(super) fn without_wrapping(mut self) -> Self {
        self.wraps = false;
        self
    }

    /// Writes a heading, which the next thing follows without an empty line.
    pub(super) fn write_heading(&mut self, line: &str) -> io::Result<()> {
        self.write_line("", line)?;
        self.fresh = true;
        Ok(())
    }

    /// Whether the last line was a heading.
    pub(super) fn is_fresh(&self) -> bool {
        self.fresh
    }

    /// Asks for an empty line before whatever comes next.
    pub(super) fn request_gap(&mut self) {
        self.apart = true;
    }

    /// Lets the next thing follow without an empty line.
    pub(super) fn suppress_gap(&mut self) {
        self.apart = false;
    }

    /// Writes one line as it is.
    pub(super) fn write_line(&mut self, margin: &str, line: &str) -> io::Result<()> {
        if std::mem::take(&mut self.apart) {
            writeln!(self.out)?;
        }
        self.fresh = false;
        let line = format!("{margin}{line}");
        writeln!(self.out, "{}", line.trim_end_matches(' '))
    }

    /// The columns between a margin and the edge, for words.
    pub(super) fn text_width(&self, margin: usize) -> usize {
        if !self.wraps {
            return usize::MAX;
        }
        self.width.min(MEASURE).saturating_sub(margin).max(8)
    }

    /// Writes words that wrap; `first` stands before the first line, `rest` before the others.
    pub(super) fn write_spans(
        &mut self,
        first: &str,
        rest: &str,
        spans: &[StyledSpan],
    ) -> io::Result<()> {
        let columns = self.text_width(unicode_width::UnicodeWidthStr::width(rest));
        for (at, line) in wrap_spans(spans, columns).iter().enumerate() {
            let margin = if at == 0 { first } else { rest };
            let line = self.paint.paint_spans(line);
            self.write_line(margin, &line)?;
        }
        Ok(())
    }

    /// Writes text in one style that wraps, line by line.
    pub(super) fn write_text(&mut self, margin: &str, style: Style, text: &str) -> io::Result<()> {
        for line in text.lines() {
            let text = line.trim_end().to_owned();
            self.write_spans(margin, margin, &[StyledSpan { style, text }])?;
        }
        Ok(())
    }

    /// Writes a line of code or output, broken wherever it reaches the edge.
    pub(super) fn write_folded(
        &mut self,
        margin: &str,
        style: Style,
        line: &str,
    ) -> io::Result<()> {
        let line = expand_tabs(line);
        let columns = self
            .width
            .saturating_sub(unicode_width::UnicodeWidthStr::width(margin));
        for part in fold_line(&line, columns) {
            let part = self.paint.paint_text(style, part);
            self.write_line(margin, &part)?;
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
