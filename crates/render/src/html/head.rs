//! The beginning and the end of a page, and what is said about a session.

use std::io;

use rethread_model::{Head, LinkKind};

use super::index::last_name;
use super::out::HtmlWriter;
use super::times::{from_to, long_moment};
use super::{Html, POLICY, STYLE, SessionPage, SessionTarget};
use crate::View;
use crate::media::percent_encoded;
use crate::notice::model_name;
use crate::sums::{format_cost, format_seconds, format_tokens, token_count};

/// A session in the list of contents.
pub(super) struct ContentsEntry {
    title: String,
    session: u64,
    /// The numbers of what the person said, with its beginning.
    prompts: Vec<(u64, String)>,
}

/// How much of a title or a prompt stands in the list of contents, in columns.
const EXCERPT: usize = 80;

/// What a page of ours has in its head, by which its next version may take its place.
pub const HTML_GENERATOR: &str = "<meta name=generator content=rethread>";

/// The title of a page with one session.
pub(super) fn page_title<'a>(view: &View<'a>) -> &'a str {
    let title = view.session.head.title.as_ref();
    title.map_or("(no title)", |t| t.text.as_str())
}

/// Begins a page.
pub(super) fn write_head(out: &mut HtmlWriter<'_>, title: &str) -> io::Result<()> {
    out.write_markup("<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n")?;
    out.write_markup("<meta http-equiv=\"Content-Security-Policy\" content=\"")?;
    out.write_markup(POLICY)?;
    out.write_markup("\">\n<meta name=referrer content=no-referrer>\n")?;
    out.write_markup("<meta name=viewport content=\"width=device-width, initial-scale=1\">\n")?;
    out.write_markup(HTML_GENERATOR)?;
    out.write_markup("\n<title>")?;
    out.write_line(title)?;
    out.write_markup("</title>\n<style>\n")?;
    out.write_markup(STYLE)?;
    out.write_markup("</style>\n</head>\n<body>\n")
}

/// Ends a page.
pub(super) fn write_tail(out: &mut HtmlWriter<'_>) -> io::Result<()> {
    out.write_markup("</body>\n</html>\n")
}

/// What is shown and what is not, which the style alone decides.
pub(super) fn write_controls(out: &mut HtmlWriter<'_>) -> io::Result<()> {
    out.write_markup(
        "<p class=controls role=group aria-label=Show>\
         <label class=all><input type=checkbox id=show-all> Expand all</label> \
         <label><input type=checkbox id=show-tools checked> Tools</label> \
         <label><input type=checkbox id=show-thinking checked> Thinking</label> \
         <label><input type=checkbox id=show-injected checked> Injected</label></p>\n",
    )
}

impl Html<'_> {
    /// Ends the page with its list of contents, which the style puts beside it.
    pub fn end_page(mut self) -> io::Result<()> {
        let contents = std::mem::take(&mut self.contents);
        self.out
            .write_markup("<nav id=contents>\n<h2>Contents</h2>\n")?;
        for chapter in &contents {
            let several = self.several;
            let out = &mut self.out;
            if several {
                out.write_markup("<p><a href=\"#s")?;
                out.write_number(chapter.session)?;
                out.write_markup("\">")?;
                out.write_line(&chapter.title)?;
                out.write_markup("</a></p>\n")?;
            }
            if chapter.prompts.is_empty() {
                continue;
            }
            out.write_markup("<ul>\n")?;
            for (number, excerpt) in &chapter.prompts {
                out.write_markup("<li><a href=\"#")?;
                if several {
                    out.write_markup("s")?;
                    out.write_number(chapter.session)?;
                    out.write_markup("-")?;
                }
                out.write_number(*number)?;
                out.write_markup("\">")?;
                out.write_line(excerpt)?;
                out.write_markup("</a></li>\n")?;
            }
            out.write_markup("</ul>\n")?;
        }
        self.out.write_markup("</nav>\n")?;
        write_tail(&mut self.out)
    }
}

impl SessionPage<'_, '_, '_> {
    pub(super) fn write_header(&mut self) -> io::Result<()> {
        let view = self.view;
        let head = &view.session.head;
        let session = self.session;
        self.page.contents.push(ContentsEntry {
            title: crate::fit(page_title(view), EXCERPT),
            session,
            prompts: Vec::new(),
        });
        self.out().write_markup("<main id=\"s")?;
        self.out().write_number(session)?;
        self.out().write_markup("\">\n<header class=page>\n")?;
        if let Some(index) = self.around.index {
            self.out().write_markup("<p class=up><a href=\"./")?;
            self.out().write_text(&percent_encoded(index))?;
            self.out().write_markup("\">All conversations</a></p>\n")?;
        }
        self.out().write_markup("<h1>")?;
        self.out().write_line(page_title(view))?;
        self.out()
            .write_markup("</h1>\n<details class=facts><summary>")?;
        let line = facts_line(view);
        self.out().write_line(&line)?;
        self.out().write_markup("</summary>\n<dl>\n")?;
        let agent = [
            view.agent_name(),
            head.agent.version.as_deref().unwrap_or_default(),
        ];
        let (start, end) = view.first_and_last();
        let count = view.message_facts(self.around.branches);
        for (name, value, is_code) in [
            ("Agent", Some(agent.join(" ").trim_end().to_owned()), false),
            ("Model", head.model.as_ref().map(model_name), true),
            ("Workspace", head.workspace.path.clone(), true),
            ("Branch", head.workspace.branch.clone(), true),
            ("Started", start.map(long_moment), false),
            ("Ended", end.map(long_moment), false),
            ("Messages", Some(count), false),
            (
                "Tokens",
                view.total_usage().map(|sum| format_tokens(&sum)),
                false,
            ),
            ("Duration", head.duration_ms.map(format_seconds), false),
            ("Session", Some(head.id.clone()), true),
            ("Source", Some(view.first_path().to_owned()), true),
        ] {
            if let Some(value) = value.filter(|v| !v.is_empty()) {
                self.write_fact(name, &value, is_code)?;
            }
        }
        self.write_links()?;
        self.out().write_markup("</dl>\n</details>\n")?;
        if !self.page.several {
            write_controls(self.out())?;
        }
        self.out().write_markup("</header>\n")
    }

    fn write_fact(&mut self, name: &'static str, value: &str, is_code: bool) -> io::Result<()> {
        let out = self.out();
        let is_long = is_code && value.len() > 48;
        out.write_markup(if is_long {
            "<div class=all><dt>"
        } else {
            "<div><dt>"
        })?;
        out.write_markup(name)?;
        out.write_markup(if is_code {
            "</dt><dd><code>"
        } else {
            "</dt><dd>"
        })?;
        out.write_line(value)?;
        out.write_markup(if is_code {
            "</code></dd></div>\n"
        } else {
            "</dd></div>\n"
        })
    }

    /// The sessions that this one belongs with.
    fn write_links(&mut self) -> io::Result<()> {
        for (kind, name) in [
            (LinkKind::Parent, "Started by"),
            (LinkKind::ForkOf, "Fork of"),
            (LinkKind::Continues, "Continues"),
            (LinkKind::ContinuedIn, "Continued in"),
            (LinkKind::SubAgent, "Sub-agents"),
            (LinkKind::Review, "Review"),
        ] {
            let links = &self.view.session.head.links;
            let mut ids: Vec<&str> = Vec::new();
            for link in links.iter().filter(|l| l.kind == kind) {
                if !ids.contains(&link.session.as_str()) {
                    ids.push(&link.session);
                }
            }
            if ids.is_empty() {
                continue;
            }
            self.out().write_markup("<div><dt>")?;
            self.out().write_markup(name)?;
            self.out().write_markup("</dt><dd>")?;
            for (at, id) in ids.into_iter().enumerate() {
                self.out().write_markup(if at == 0 { "" } else { "<br>" })?;
                self.write_reference(id)?;
            }
            self.out().write_markup("</dd></div>\n")?;
        }
        Ok(())
    }

    /// Writes the id of another session, as a link where it can be reached.
    pub(super) fn write_reference(&mut self, id: &str) -> io::Result<()> {
        let found = (self.around.find)(id);
        let out = self.out();
        match &found {
            Some(SessionTarget::File(name)) => {
                out.write_markup("<a href=\"./")?;
                out.write_text(&percent_encoded(name))?;
                out.write_markup("\">")?;
            }
            Some(SessionTarget::Here(number)) => {
                out.write_markup("<a href=\"#s")?;
                out.write_number(*number)?;
                out.write_markup("\">")?;
            }
            None => {}
        }
        out.write_markup("<code>")?;
        out.write_line(id)?;
        out.write_markup("</code>")?;
        if found.is_some() {
            out.write_markup("</a>")
        } else {
            Ok(())
        }
    }

    /// Adds what the person said first in their turn to the list of contents.
    pub(super) fn add_prompt(&mut self, text: &str) {
        let Some(number) = self.prompt_number.take() else {
            return;
        };
        let excerpt = crate::fit(text.trim().lines().next().unwrap_or_default(), EXCERPT);
        if let (Some(chapter), false) = (self.page.contents.last_mut(), excerpt.is_empty()) {
            chapter.prompts.push((number, excerpt));
        }
    }
}

/// What is most worth knowing of a session, on one line.
fn facts_line(view: &View<'_>) -> String {
    let head = &view.session.head;
    let (start, end) = view.first_and_last();
    let messages = match view.message_count() {
        1 => "1 message".to_owned(),
        n => format!("{n} messages"),
    };
    let usage = view.total_usage();
    let facts = [
        Some(view.agent_fact().to_owned()),
        workspace_label(head),
        from_to(start, end),
        Some(messages),
        usage.map(|usage| token_count(usage.total())),
        usage.and_then(|usage| format_cost(&usage)),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    facts.join(" · ")
}

/// `shop (main)`
fn workspace_label(head: &Head) -> Option<String> {
    let name = last_name(head.workspace.path.as_deref()?);
    Some(match &head.workspace.branch {
        Some(branch) => format!("{name} ({branch})"),
        None => name,
    })
}
