//! Markdown, set for a terminal.

use std::io;

use anstyle::Style;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::page::{TextPage, expand_tabs};
use super::paint::{BOLD, DIM};
use super::table::TextTable;
use super::wrap::StyledSpan;
use crate::neutral;

/// Longer texts are shown as they are.
const LONGEST: usize = 1024 * 1024;

/// How deep lists and quotes are drawn inside each other.
const DEEPEST: usize = 8;

/// Writes Markdown behind a margin.
pub(super) fn write_prose(page: &mut TextPage<'_>, margin: &str, text: &str) -> io::Result<()> {
    let text = neutral(text.trim_end());
    if text.len() > LONGEST {
        return page.write_text(margin, Style::new(), &text);
    }
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut setter = ProseSetter {
        page,
        margin: margin.to_owned(),
        levels: Vec::new(),
        spans: Vec::new(),
        bold: 0,
        italic: 0,
        code: None,
        links: Vec::new(),
        table: None,
        is_tight: false,
        is_first: false,
        deeper: 0,
    };
    for event in Parser::new_ext(&text, options) {
        setter.set_event(event)?;
    }
    setter.end_block()
}

/// A list or a quote that is open.
struct OpenContainer {
    /// What stands before the next line, once; then `rest`.
    first: Option<String>,
    rest: String,
    /// The number of the next item of a list.
    number: Option<u64>,
    is_list: bool,
}

struct ProseSetter<'p, 'a> {
    page: &'p mut TextPage<'a>,
    margin: String,
    levels: Vec<OpenContainer>,
    /// The paragraph, heading or cell that is being read.
    spans: Vec<StyledSpan>,
    bold: usize,
    italic: usize,
    /// The code block that is being read.
    code: Option<String>,
    /// Where open links lead, and where their words begin.
    links: Vec<(String, usize)>,
    table: Option<TextTable>,
    /// Whether the items of the list stand without empty lines.
    is_tight: bool,
    /// Whether the next item is the first one of its list.
    is_first: bool,
    /// Lists and quotes that are open, and not drawn.
    deeper: usize,
}

impl ProseSetter<'_, '_> {
    fn set_event(&mut self, event: Event<'_>) -> io::Result<()> {
        match event {
            Event::Start(tag) => return self.start_tag(tag),
            Event::End(tag) => return self.end_tag(tag),
            Event::Text(text) => match &mut self.code {
                Some(code) => code.push_str(&text),
                None => self.push_text(&text),
            },
            Event::Code(text) => self.push_text(&format!("`{text}`")),
            Event::Html(text) => {
                self.push_text(text.trim_end());
                return self.end_block();
            }
            Event::InlineHtml(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.push_text(&text);
            }
            Event::FootnoteReference(name) => self.push_text(&format!("[{name}]")),
            Event::SoftBreak => self.push_text(" "),
            Event::HardBreak => self.push_text("\n"),
            Event::Rule => {
                self.end_block()?;
                let rule = self.page.paint.paint_text(DIM, &"─".repeat(24));
                let margin = self.take_margins().0;
                self.page.write_line(&margin, &rule)?;
                self.page.request_gap();
            }
            Event::TaskListMarker(done) => self.push_text(if done { "[x] " } else { "[ ] " }),
        }
        Ok(())
    }

    fn push_text(&mut self, text: &str) {
        let mut style = Style::new();
        if self.bold > 0 {
            style = style.bold();
        }
        if self.italic > 0 {
            style = style.italic();
        }
        let text = expand_tabs(text);
        match self.spans.last_mut() {
            Some(last) if last.style == style => last.text.push_str(&text),
            _ => self.spans.push(StyledSpan { style, text }),
        }
    }

    fn start_tag(&mut self, tag: Tag<'_>) -> io::Result<()> {
        match tag {
            Tag::Paragraph => self.end_block(),
            Tag::Heading { level, .. } => {
                self.end_block()?;
                self.bold += 1;
                let marks = "#".repeat(heading_level(level));
                self.spans.push(StyledSpan {
                    style: DIM,
                    text: format!("{marks} "),
                });
                Ok(())
            }
            Tag::BlockQuote(_) => {
                self.end_block()?;
                self.open_container("> ".to_owned(), "> ".to_owned(), None, false);
                Ok(())
            }
            Tag::CodeBlock(_) => {
                self.end_block()?;
                self.code = Some(String::new());
                Ok(())
            }
            Tag::List(number) => {
                let was_inside = self.levels.iter().any(|level| level.is_list);
                self.end_block()?;
                self.is_first = !was_inside;
                self.open_container(String::new(), String::new(), number, true);
                self.is_tight = true;
                Ok(())
            }
            Tag::Item => {
                self.end_block()?;
                if self.is_tight && !std::mem::take(&mut self.is_first) {
                    self.page.suppress_gap();
                }
                self.begin_item();
                Ok(())
            }
            Tag::Strong => {
                self.bold += 1;
                Ok(())
            }
            Tag::Emphasis => {
                self.italic += 1;
                Ok(())
            }
            Tag::Strikethrough => {
                self.push_text("~~");
                Ok(())
            }
            Tag::Link { dest_url, .. } => {
                let at = self.spans.iter().map(|s| s.text.len()).sum();
                self.links.push((dest_url.into_string(), at));
                Ok(())
            }
            Tag::Image { dest_url, .. } => {
                let at = self.spans.iter().map(|s| s.text.len()).sum();
                self.links.push((dest_url.into_string(), at));
                self.push_text("[image] ");
                Ok(())
            }
            Tag::Table(_) => {
                self.end_block()?;
                self.table = Some(TextTable::default());
                Ok(())
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.begin_row();
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn end_tag(&mut self, tag: TagEnd) -> io::Result<()> {
        match tag {
            TagEnd::Paragraph => {
                // Items with paragraphs stand apart.
                if self.levels.iter().any(|level| level.is_list) {
                    self.is_tight = false;
                }
                self.end_block()
            }
            TagEnd::Heading(_) => {
                self.bold = self.bold.saturating_sub(1);
                self.end_block()
            }
            TagEnd::BlockQuote(_) => {
                self.end_block()?;
                self.close_container();
                Ok(())
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::List(_) => {
                self.end_block()?;
                self.close_container();
                self.page.request_gap();
                Ok(())
            }
            TagEnd::Item => {
                self.end_block()?;
                if let Some(level) = self.levels.last_mut() {
                    level.first = None;
                }
                Ok(())
            }
            TagEnd::Strong => {
                self.bold = self.bold.saturating_sub(1);
                Ok(())
            }
            TagEnd::Emphasis => {
                self.italic = self.italic.saturating_sub(1);
                Ok(())
            }
            TagEnd::Strikethrough => {
                self.push_text("~~");
                Ok(())
            }
            TagEnd::Link | TagEnd::Image => {
                self.end_link();
                Ok(())
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.spans);
                if let Some(table) = &mut self.table {
                    table.add_cell(cell);
                }
                Ok(())
            }
            TagEnd::Table => {
                let (first, rest) = self.take_margins();
                if let Some(table) = self.table.take() {
                    table.write_table(self.page, &first, &rest)?;
                    self.page.request_gap();
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Says where a link leads, unless its words are its address.
    fn end_link(&mut self) {
        let Some((target, at)) = self.links.pop() else {
            return;
        };
        let all: String = self.spans.iter().map(|s| s.text.as_str()).collect();
        let words = all.get(at..).unwrap_or_default().trim_matches('`');
        let is_shown = words == target || target.strip_prefix("mailto:") == Some(words);
        if !target.is_empty() && !is_shown {
            self.push_text(&format!(" ({target})"));
        }
    }

    fn open_container(&mut self, first: String, rest: String, number: Option<u64>, is_list: bool) {
        if self.levels.len() >= DEEPEST {
            self.deeper += 1;
            return;
        }
        self.levels.push(OpenContainer {
            first: (!first.is_empty()).then_some(first),
            rest,
            number,
            is_list,
        });
    }

    fn close_container(&mut self) {
        match self.deeper.checked_sub(1) {
            Some(deeper) => self.deeper = deeper,
            None => drop(self.levels.pop()),
        }
    }

    /// Begins an item of the list.
    fn begin_item(&mut self) {
        let Some(level) = self.levels.last_mut().filter(|level| level.is_list) else {
            return;
        };
        let mark = match &mut level.number {
            Some(number) => {
                let mark = format!("{number}. ");
                *number = number.saturating_add(1);
                mark
            }
            None => "• ".to_owned(),
        };
        level.rest = " ".repeat(unicode_width::UnicodeWidthStr::width(mark.as_str()));
        level.first = Some(mark);
    }

    /// What stands before the next line, and before those that follow.
    fn take_margins(&mut self) -> (String, String) {
        let (mut first, mut rest) = (self.margin.clone(), self.margin.clone());
        for level in &mut self.levels {
            first.push_str(&level.first.take().unwrap_or_else(|| level.rest.clone()));
            rest.push_str(&level.rest);
        }
        (first, rest)
    }

    /// Writes what was read of a paragraph or heading.
    fn end_block(&mut self) -> io::Result<()> {
        if self.table.is_some() {
            return Ok(());
        }
        let spans = std::mem::take(&mut self.spans);
        if spans.iter().all(|span| span.text.trim().is_empty()) {
            return Ok(());
        }
        let (first, rest) = self.take_margins();
        self.page.write_spans(&first, &rest, &spans)?;
        if !self.is_tight || !self.levels.iter().any(|level| level.is_list) {
            self.page.request_gap();
        }
        Ok(())
    }

    fn end_code(&mut self) -> io::Result<()> {
        let Some(code) = self.code.take() else {
            return Ok(());
        };
        for line in code.trim_end_matches('\n').split('\n') {
            let (first, _) = self.take_margins();
            self.page
                .write_folded(&format!("{first}  "), Style::new(), line)?;
        }
        self.page.request_gap();
        Ok(())
    }
}

fn heading_level(level: HeadingLevel) -> usize {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

/// The style of a heading of a table.
pub(super) const HEAD: Style = BOLD;
