//! What people and models wrote, which is Markdown.

use std::borrow::Cow;
use std::io;

use pulldown_cmark::{
    Alignment, CodeBlockKind, CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd,
    TextMergeStream,
};

use super::code::code;
use super::diff::unified;
use super::links::{linked, open_link};
use super::out::Out;
use crate::reading::is_patch;

/// Longer texts are shown as they are.
const LONGEST: usize = 1024 * 1024;

/// How deep lists and quotes may be inside each other; what is deeper stands with the last of them.
const DEEPEST: usize = 24;

/// Writes Markdown. HTML in it is shown as text, links lead only to the web and to mail, and pictures
/// become links: nothing is loaded.
pub(super) fn prose(out: &mut Out<'_>, text: &str) -> io::Result<()> {
    let text = text.trim_end();
    if text.len() > LONGEST {
        out.raw("<pre class=long>\n")?;
        linked(out, text)?;
        return out.raw("</pre>\n");
    }
    // A carriage return ends a line for some readers of Markdown; for us it comes before the end.
    let text = if text.contains('\r') {
        Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\u{240d}"))
    } else {
        Cow::Borrowed(text)
    };
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut prose = Prose {
        out,
        open: Vec::new(),
        code: None,
        links: Vec::new(),
        aligned: Vec::new(),
        cell: 0,
        in_head: false,
    };
    for event in TextMergeStream::new(Parser::new_ext(&text, options)) {
        prose.event(event)?;
    }
    Ok(())
}

struct Prose<'o, 'a> {
    out: &'o mut Out<'a>,
    /// The end tags of lists, items and quotes that are open; none for one that is too deep.
    open: Vec<Option<&'static str>>,
    /// The language and the text of the code block that is open.
    code: Option<(String, String)>,
    /// For links and pictures that are open, how each is written.
    links: Vec<Link>,
    aligned: Vec<Alignment>,
    cell: usize,
    in_head: bool,
}

/// How a link or a picture is written.
enum Link {
    /// As a link.
    Open,
    /// As its words alone.
    Words,
    /// As its words, and where it leads.
    Named(String),
}

impl Prose<'_, '_> {
    fn event(&mut self, event: Event<'_>) -> io::Result<()> {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some((_, code)) => {
                    code.push_str(&text);
                    Ok(())
                }
                None => self.words(&text),
            },
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.out.raw("<code>")?;
                self.words(&text)?;
                self.out.raw("</code>")
            }
            Event::Html(text) | Event::InlineHtml(text) | Event::FootnoteReference(text) => {
                self.words(&text)
            }
            Event::SoftBreak => self.out.raw("\n"),
            Event::HardBreak => self.out.raw("<br>\n"),
            Event::Rule => self.out.raw("<hr>\n"),
            Event::TaskListMarker(true) => self.out.raw("<span class=task>☑</span> "),
            Event::TaskListMarker(false) => self.out.raw("<span class=task>☐</span> "),
        }
    }

    fn start(&mut self, tag: Tag<'_>) -> io::Result<()> {
        match tag {
            Tag::Paragraph => self.out.raw("<p>"),
            Tag::HtmlBlock => self.out.raw("<p class=html>"),
            Tag::Heading { level, .. } => self.out.raw(heading(level).0),
            Tag::BlockQuote(_) => self.nest("<blockquote>\n", "</blockquote>\n"),
            Tag::List(None) => self.nest("<ul>\n", "</ul>\n"),
            Tag::List(Some(1)) => self.nest("<ol>\n", "</ol>\n"),
            Tag::List(Some(first)) => {
                if self.open.len() < DEEPEST {
                    self.out.raw("<ol start=\"")?;
                    self.out.number(first)?;
                    self.out.raw("\">\n")?;
                }
                self.nest("", "</ol>\n")
            }
            Tag::Item => self.nest("<li>", "</li>\n"),
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
                self.out.raw("<div class=wide><table>\n")
            }
            Tag::TableHead => {
                (self.cell, self.in_head) = (0, true);
                self.out.raw("<tr>")
            }
            Tag::TableRow => {
                (self.cell, self.in_head) = (0, false);
                self.out.raw("<tr>")
            }
            Tag::TableCell => self.cell(),
            Tag::Emphasis => self.out.raw("<em>"),
            Tag::Strong => self.out.raw("<strong>"),
            Tag::Strikethrough => self.out.raw("<s>"),
            Tag::Link {
                dest_url,
                link_type: LinkType::Email,
                ..
            } => self.link(&format!("mailto:{dest_url}"), false),
            Tag::Link { dest_url, .. } => self.link(&dest_url, false),
            Tag::Image { dest_url, .. } => self.link(&dest_url, true),
            _ => Ok(()),
        }
    }

    fn end(&mut self, tag: TagEnd) -> io::Result<()> {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.out.raw("</p>\n"),
            TagEnd::Heading(level) => self.out.raw(heading(level).1),
            TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item => {
                match self.open.pop().flatten() {
                    Some(close) => self.out.raw(close),
                    None => Ok(()),
                }
            }
            TagEnd::CodeBlock => match self.code.take() {
                Some((language, text)) => block(self.out, &language, &text),
                None => Ok(()),
            },
            TagEnd::Table => self.out.raw("</table></div>\n"),
            TagEnd::TableHead | TagEnd::TableRow => self.out.raw("</tr>\n"),
            TagEnd::TableCell if self.in_head => self.out.raw("</th>"),
            TagEnd::TableCell => self.out.raw("</td>"),
            TagEnd::Emphasis => self.out.raw("</em>"),
            TagEnd::Strong => self.out.raw("</strong>"),
            TagEnd::Strikethrough => self.out.raw("</s>"),
            TagEnd::Link | TagEnd::Image => match self.links.pop() {
                Some(Link::Open) => self.out.raw("</a>"),
                Some(Link::Named(to)) => {
                    self.out.raw(" <code class=to>")?;
                    self.out.line(&to)?;
                    self.out.raw("</code>")
                }
                Some(Link::Words) | None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Writes text, whose addresses are links unless it is part of one.
    fn words(&mut self, text: &str) -> io::Result<()> {
        if self.is_in_link() {
            self.out.text(text)
        } else {
            linked(self.out, text)
        }
    }

    fn is_in_link(&self) -> bool {
        self.links.iter().any(|l| matches!(l, Link::Open))
    }

    /// Opens what may be inside itself.
    fn nest(&mut self, open: &'static str, close: &'static str) -> io::Result<()> {
        let fits = self.open.len() < DEEPEST;
        self.open.push(fits.then_some(close));
        if fits { self.out.raw(open) } else { Ok(()) }
    }

    fn cell(&mut self) -> io::Result<()> {
        let aligned = self.aligned.get(self.cell);
        self.cell += 1;
        self.out.raw(match (self.in_head, aligned) {
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
    fn link(&mut self, to: &str, is_picture: bool) -> io::Result<()> {
        let is_inside = self.is_in_link();
        if is_picture {
            self.out.raw("▣ ")?;
        }
        let link = if is_inside {
            Link::Words
        } else if leads_outside(to) {
            open_link(self.out, to)?;
            Link::Open
        } else if to.is_empty() || to.starts_with("data:") {
            Link::Words
        } else {
            Link::Named(to.to_owned())
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
pub(super) fn block(out: &mut Out<'_>, language: &str, text: &str) -> io::Result<()> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    if matches!(language, "diff" | "patch") || is_patch(text) {
        return unified(out, text);
    }
    out.raw("<pre class=code>")?;
    if !language.is_empty() {
        out.raw("<b class=lang>")?;
        out.line(language)?;
        out.raw("</b>")?;
    }
    out.raw("<code>")?;
    code(out, language, text)?;
    out.raw("</code></pre>\n")
}

/// The tags of a heading: the page has its own above it.
fn heading(level: HeadingLevel) -> (&'static str, &'static str) {
    match level {
        HeadingLevel::H1 => ("<h3>", "</h3>\n"),
        HeadingLevel::H2 => ("<h4>", "</h4>\n"),
        HeadingLevel::H3 => ("<h5>", "</h5>\n"),
        HeadingLevel::H4 | HeadingLevel::H5 | HeadingLevel::H6 => ("<h6>", "</h6>\n"),
    }
}
