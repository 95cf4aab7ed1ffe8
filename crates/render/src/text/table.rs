//! Tables of Markdown, in columns that fit.

use std::io;

use unicode_width::UnicodeWidthStr;

use super::page::TextPage;
use super::paint::DIM;
use super::prose::HEAD;
use super::wrap::{StyledSpan, spans_width, wrap_spans};

/// Narrower columns cannot be read: then each row is a list.
const NARROWEST: usize = 8;

/// Between two columns.
const GAP: &str = "  ";

/// A table that is being read.
#[derive(Default)]
pub(super) struct TextTable {
    /// The first row is the heading.
    rows: Vec<Vec<Vec<StyledSpan>>>,
}

impl TextTable {
    pub(super) fn begin_row(&mut self) {
        self.rows.push(Vec::new());
    }

    pub(super) fn add_cell(&mut self, cell: Vec<StyledSpan>) {
        if let Some(row) = self.rows.last_mut() {
            row.push(cell);
        }
    }

    /// Writes the table behind a margin.
    pub(super) fn write_table(
        &self,
        page: &mut TextPage<'_>,
        first: &str,
        rest: &str,
    ) -> io::Result<()> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let room = page.width.saturating_sub(rest.width());
        let Some(widths) = self.fit_columns(columns, room) else {
            return self.write_as_lists(page, first, rest);
        };
        let mut margin = first;
        for (at, row) in self.rows.iter().enumerate() {
            let cells: Vec<Vec<Vec<StyledSpan>>> = widths
                .iter()
                .enumerate()
                .map(|(n, wide)| wrap_spans(row.get(n).map_or(&[][..], Vec::as_slice), *wide))
                .collect();
            let height = cells.iter().map(Vec::len).max().unwrap_or(1);
            for line in 0..height {
                let mut text = String::new();
                for (cell, wide) in cells.iter().zip(&widths) {
                    let spans = cell.get(line).map_or(&[][..], Vec::as_slice);
                    let mut spans = spans.to_vec();
                    if at == 0 {
                        for span in &mut spans {
                            span.style = HEAD;
                        }
                    }
                    text.push_str(&page.paint.paint_spans(&spans));
                    text.push_str(&" ".repeat(wide.saturating_sub(spans_width(&spans))));
                    text.push_str(GAP);
                }
                page.write_line(margin, text.trim_end())?;
                margin = rest;
            }
            if at == 0 {
                let rules: Vec<String> = widths.iter().map(|wide| "─".repeat(*wide)).collect();
                let rule = page.paint.paint_text(DIM, &rules.join(GAP));
                page.write_line(margin, &rule)?;
            }
        }
        Ok(())
    }

    /// How wide each column may be; none if there is no room for all.
    fn fit_columns(&self, columns: usize, room: usize) -> Option<Vec<usize>> {
        let widest = |n: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(n));
            cells
                .map(|cell| spans_width(cell))
                .max()
                .unwrap_or(0)
                .max(1)
        };
        let mut widths: Vec<usize> = (0..columns).map(widest).collect();
        let gaps = GAP.len() * columns.saturating_sub(1);
        let mut room = room.checked_sub(gaps)?;
        if widths.iter().sum::<usize>() <= room {
            return Some(widths);
        }
        // Narrow columns keep their width; the others share what is left.
        let mut order: Vec<usize> = (0..columns).collect();
        order.sort_by_key(|n| widths.get(*n).copied());
        for (at, n) in order.into_iter().enumerate() {
            let share = room / (columns - at).max(1);
            let wide = widths.get_mut(n)?;
            if *wide > share && share < NARROWEST {
                return None;
            }
            *wide = (*wide).min(share);
            room -= *wide;
        }
        Some(widths)
    }

    /// Writes each row as a list of `heading: cell`.
    fn write_as_lists(&self, page: &mut TextPage<'_>, first: &str, rest: &str) -> io::Result<()> {
        let Some((head, rows)) = self.rows.split_first() else {
            return Ok(());
        };
        let mut margin = first;
        for (at, row) in rows.iter().enumerate() {
            if at > 0 {
                page.request_gap();
            }
            for (n, cell) in row.iter().enumerate() {
                let name = head.get(n).map_or(&[][..], Vec::as_slice);
                let mut spans: Vec<StyledSpan> = name.to_vec();
                for span in &mut spans {
                    span.style = HEAD;
                }
                spans.push(StyledSpan::plain(": "));
                spans.extend(cell.iter().cloned());
                page.write_spans(margin, &format!("{rest}  "), &spans)?;
                margin = rest;
            }
        }
        Ok(())
    }
}
