//! What people and models wrote, which is Markdown.

use std::borrow::Cow;
use std::io;

use pulldown_cmark::{
    Alignment, CodeBlockKind, CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd,
    TextMergeStream,
};

use super::code::write_code;
use super::diff::write_unified_diff;
use super::links::{open_link, write_linked};
use super::out::HtmlWriter;
use crate::reading::is_patch;

/// Longer texts are shown as they are.
const LONGEST: usize = 1024 * 1024;

/// How deep lists and quotes may be inside each other; what is deeper stands with the last of them.
const DEEPEST: usize = 24;

/// Writes Markdown. HTML in it is shown as text, links lead only to the web and to mail, and pictures
/// become links: nothing is loaded.
pub(super) fn write_prose(out: &mut HtmlWriter<'_>, text: &str) -> io::Result<()> {
    let text = text.trim_end();
    if text.len() > LONGEST {
        out.write_markup("<pre class=long>\n")?;
        write_linked(out, text)?;
        return out.write_markup("</pre>\n");
    }
    // A carriage return ends a line for some readers of Markdown; for us it comes before the end.
    let text = if text.contains('\r') {
        Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\u{240d}"))
    } else {
        Cow::Borrowed(text)
    };
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut prose = ProseWriter {
        out,
        open: Vec::new(),
        code: None,
        links: Vec::new(),
        aligned: Vec::new(),
        cell: 0,
        in_head: false,
    };
    for event in TextMergeStream::new(Parser::new_ext(&text, options)) {
        prose.write_event(event)?;
    }
    Ok(())
}

struct ProseWriter<'o, 'a> {
    out: &'o mut HtmlWriter<'a>,
    /// The end tags of lists, items and quotes that are open; none for one that is too deep.
    open: Vec<Option<&'static str>>,
    /// The language and the text of the code block that is open.
    code: Option<(String, String)>,
    /// For links and pictures that are open, how each is written.
    links: Vec<LinkForm>,
    aligned: Vec<Alignment>,
    cell: usize,
    in_head: bool,
}

/// How a link or a picture is written.
enum LinkForm {
    /// As a link.
    Open,
    /// As its words alone.
    Words,
    /// As its words, and where it leads.
    Named(String),
}

impl ProseWriter<'_, '_> {
    fn write_event(&mut self, event: Event<'_>) -> io::Result<()> {
        match event {
            Event::Start(tag) => self.start_tag(tag),
            Event::End(tag) => self.end_tag(tag),
            Event::Text(text) => match &mut self.code {
                Some((_, code)) => {
                    code.push_str(&text);
                    Ok(())
                }
                None => self.write_words(&text),
            },
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.out.write_markup("<code>")?;
                self.write_words(&text)?;
                self.out.write_markup("</code>")
            }
            Event::Html(text) | Event::InlineHtml(text) | Event::FootnoteReference(text) => {
                self.write_words(&text)
            }
            Event::SoftBreak => self.out.write_markup("\n"),
            Event::HardBreak => self.out.write_markup("<br>\n"),
            Event::Rule => self.out.write_markup("<hr>\n"),
            Event::TaskListMarker(true) => self.out.write_markup("<span class=task>☑</span> "),
            Event::TaskListMarker(false) => self.out.write_markup("<span class=task>☐</span> "),
        }
    }

    fn start_tag(&mut self, tag: Tag<'_>) -> io::Result<()> {
        match tag {
            Tag::Paragraph => self.out.write_markup("<p>"),
            Tag::HtmlBlock => self.out.write_markup("<p class=html>"),
            Tag::Heading { level, .. } => self.out.write_markup(heading_tags(level).0),
            Tag::BlockQuote(_) => self.open_nested("<blockquote>\n", "</blockquote>\n"),
            Tag::List(None) => self.open_nested("<ul>\n", "</ul>\n"),
            Tag::List(Some(1)) => self.open_nested("<ol>\n", "</ol>\n"),
            Tag::List(Some(first)) => {
                if self.open.len() < DEEPEST {
                    self.out.write_markup("<ol start=\"")?;
                    self.out.write_number(first)?;
                    self.out.write_markup("\">\n")?;
                }
                self.open_nested("", "</ol>\n")
            }
            Tag::Item => self.open_nested("<li>", "</li>\n"),
            Tag::CodeBlock(kind) => {
                let info = match kind {
                    CodeBlockKind::Fenced(info) => info,
                    CodeBlockKind::Indented => CowStr::Borrowed(""),
                };
                let language = info.split([' ', ',', '{', '\t']).next().unwrap_or_default();
                self.code = Some((language.to_owned(), String::new()));
                Ok(())
            }
            Tag::Table(aligned) => {
                self.aligned = aligned;
                self.out.write_markup("<div class=wide><table>\n")
            }
            Tag::TableHead => {
                (self.cell, self.in_head) = (0, true);
                self.out.write_markup("<tr>")
            }
            Tag::TableRow => {
                (self.cell, self.in_head) = (0, false);
                self.out.write_markup("<tr>")
            }
            Tag::TableCell => self.open_cell(),
            Tag::Emphasis => self.out.write_markup("<em>"),
            Tag::Strong => self.out.write_markup("<strong>"),
            Tag::Strikethrough => self.out.write_markup("<s>"),
            Tag::Link {
                dest_url,
                link_type: LinkType::Email,
                ..
            } => self.open_link(&format!("mailto:{dest_url}"), false),
            Tag::Link { dest_url, .. } => self.open_link(&dest_url, false),
            Tag::Image { dest_url, .. } => self.open_link(&dest_url, true),
            _ => Ok(()),
        }
    }

    fn end_tag(&mut self, tag: TagEnd) -> io::Result<()> {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.out.write_markup("</p>\n"),
            TagEnd::Heading(level) => self.out.write_markup(heading_tags(level).1),
            TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item => {
                match self.open.pop().flatten() {
                    Some(close) => self.out.write_markup(close),
                    None => Ok(()),
                }
            }
            TagEnd::CodeBlock => match self.code.take() {
                Some((language, text)) => write_code_block(self.out, &language, &text),
                None => Ok(()),
            },
            TagEnd::Table => self.out.write_markup("</table></div>\n"),
            TagEnd::TableHead | TagEnd::TableRow => self.out.write_markup("</tr>\n"),
            TagEnd::TableCell if self.in_head => self.out.write_markup("</th>"),
            TagEnd::TableCell => self.out.write_markup("</td>"),
            TagEnd::Emphasis => self.out.write_markup("</em>"),
            TagEnd::Strong => self.out.write_markup("</strong>"),
            TagEnd::Strikethrough => self.out.write_markup("</s>"),
            TagEnd::Link | TagEnd::Image => match self.links.pop() {
                Some(LinkForm::Open) => self.out.write_markup("</a>"),
                Some(LinkForm::Named(to)) => {
                    self.out.write_markup(" <code class=to>")?;
                    self.out.write_line(&to)?;
                    self.out.write_markup("</code>")
                }
                Some(LinkForm::Words) | None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Writes text, whose addresses are links unless it is part of one.
    fn write_words(&mut self, text: &str) -> io::Result<()> {
        if self.is_in_link() {
            self.out.write_text(text)
        } else {
            write_linked(self.out, text)
        }
    }

    fn is_in_link(&self) -> bool {
        self.links.iter().any(|l| matches!(l, LinkForm::Open))
    }

    /// Opens what may be inside itself.
    fn open_nested(&mut self, open: &'static str, close: &'static str) -> io::Result<()> {
        let fits = self.open.len() < DEEPEST;
        self.open.push(fits.then_some(close));
        if fits {
            self.out.write_markup(open)
        } else {
            Ok(())
        }
    }

    fn open_cell(&mut self) -> io::Result<()> {
        let aligned = self.aligned.get(self.cell);
        self.cell += 1;
        self.out.write_markup(match (self.in_head, aligned) {
            (true, Some(Alignment::Right)) => "<th class=right>",
            (true, Some(Alignment::Center)) => "<th class=center>",
            (true, _) => "<th>",
            (false, Some(Alignment::Right)) => "<td class=right>",
            (false, Some(Alignment::Center)) => "<td class=center>",
            (false, _) => "<td>",
        })
    }

    /// Opens a link. One inside another is shown as its words, and so is one that leads elsewhere than
    /// to the web or to mail; then it is said where.
    fn open_link(&mut self, to: &str, is_picture: bool) -> io::Result<()> {
        let is_inside = self.is_in_link();
        if is_picture {
            self.out.write_markup("▣ ")?;
        }
        let link = if is_inside {
            LinkForm::Words
        } else if leads_outside(to) {
            open_link(self.out, to)?;
            LinkForm::Open
        } else if to.is_empty() || to.starts_with("data:") {
            LinkForm::Words
        } else {
            LinkForm::Named(to.to_owned())
        };
        self.links.push(link);
        Ok(())
    }
}

/// Whether an address leads to the web or to mail.
pub(super) fn leads_outside(address: &str) -> bool {
    let scheme = address.split_once(':').map(|(scheme, _)| scheme);
    scheme.is_some_and(|s| {
        let known = ["http", "https", "mailto"];
        known.iter().any(|k| s.eq_ignore_ascii_case(k))
    })
}

/// Writes a block of code.
pub(super) fn write_code_block(
    out: &mut HtmlWriter<'_>,
    language: &str,
    text: &str,
) -> io::Result<()> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    if matches!(language, "diff" | "patch") || is_patch(text) {
        return write_unified_diff(out, text);
    }
    out.write_markup("<pre class=code>")?;
    if !language.is_empty() {
        out.write_markup("<b class=lang>")?;
        out.write_line(language)?;
        out.write_markup("</b>")?;
    }
    out.write_markup("<code>")?;
    write_code(out, language, text)?;
    out.write_markup("</code></pre>\n")
}

/// The tags of a heading: the page has its own above it.
fn heading_tags(level: HeadingLevel) -> (&'static str, &'static str) {
    match level {
        HeadingLevel::H1 => ("<h3>", "</h3>\n"),
        HeadingLevel::H2 => ("<h4>", "</h4>\n"),
        HeadingLevel::H3 => ("<h5>", "</h5>\n"),
        HeadingLevel::H4 | HeadingLevel::H5 | HeadingLevel::H6 => ("<h6>", "</h6>\n"),
    }
}
