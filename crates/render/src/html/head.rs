//! The beginning and the end of a page, and what is said about a session.

use std::io;

use rethread_model::{Head, LinkKind};

use super::index::last_name;
use super::out::Out;
use super::times::{from_to, moment};
use super::{Elsewhere, Flow, Html, POLICY, STYLE};
use crate::View;
use crate::media::percent_encoded;
use crate::notice::model_name;
use crate::sums::{cost, seconds, token_count, tokens};

/// A session in the list of contents.
pub(super) struct Chapter {
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
pub(super) fn title<'a>(view: &View<'a>) -> &'a str {
    let title = view.session.head.title.as_ref();
    title.map_or("(no title)", |t| t.text.as_str())
}

/// Begins a page.
pub(super) fn head(out: &mut Out<'_>, title: &str) -> io::Result<()> {
    out.raw("<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n")?;
    out.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"")?;
    out.raw(POLICY)?;
    out.raw("\">\n<meta name=referrer content=no-referrer>\n")?;
    out.raw("<meta name=viewport content=\"width=device-width, initial-scale=1\">\n")?;
    out.raw(HTML_GENERATOR)?;
    out.raw("\n<title>")?;
    out.line(title)?;
    out.raw("</title>\n<style>\n")?;
    out.raw(STYLE)?;
    out.raw("</style>\n</head>\n<body>\n")
}

/// Ends a page.
pub(super) fn tail(out: &mut Out<'_>) -> io::Result<()> {
    out.raw("</body>\n</html>\n")
}

/// What is shown and what is not, which the style alone decides.
pub(super) fn controls(out: &mut Out<'_>) -> io::Result<()> {
    out.raw(
        "<p class=controls role=group aria-label=Show>\
         <label class=all><input type=checkbox id=show-all> Expand all</label> \
         <label><input type=checkbox id=show-tools checked> Tools</label> \
         <label><input type=checkbox id=show-thinking checked> Thinking</label> \
         <label><input type=checkbox id=show-injected checked> Injected</label></p>\n",
    )
}

impl Html<'_> {
    /// Ends the page with its list of contents, which the style puts beside it.
    pub fn end(mut self) -> io::Result<()> {
        let contents = std::mem::take(&mut self.contents);
        self.out.raw("<nav id=contents>\n<h2>Contents</h2>\n")?;
        for chapter in &contents {
            let several = self.several;
            let out = &mut self.out;
            if several {
                out.raw("<p><a href=\"#s")?;
                out.number(chapter.session)?;
                out.raw("\">")?;
                out.line(&chapter.title)?;
                out.raw("</a></p>\n")?;
            }
            if chapter.prompts.is_empty() {
                continue;
            }
            out.raw("<ul>\n")?;
            for (number, excerpt) in &chapter.prompts {
                out.raw("<li><a href=\"#")?;
                if several {
                    out.raw("s")?;
                    out.number(chapter.session)?;
                    out.raw("-")?;
                }
                out.number(*number)?;
                out.raw("\">")?;
                out.line(excerpt)?;
                out.raw("</a></li>\n")?;
            }
            out.raw("</ul>\n")?;
        }
        self.out.raw("</nav>\n")?;
        tail(&mut self.out)
    }
}

impl Flow<'_, '_, '_> {
    pub(super) fn header(&mut self) -> io::Result<()> {
        let view = self.view;
        let head = &view.session.head;
        let session = self.session;
        self.page.contents.push(Chapter {
            title: crate::fit(title(view), EXCERPT),
            session,
            prompts: Vec::new(),
        });
        self.out().raw("<main id=\"s")?;
        self.out().number(session)?;
        self.out().raw("\">\n<header class=page>\n")?;
        if let Some(index) = self.around.index {
            self.out().raw("<p class=up><a href=\"./")?;
            self.out().text(&percent_encoded(index))?;
            self.out().raw("\">All conversations</a></p>\n")?;
        }
        self.out().raw("<h1>")?;
        self.out().line(title(view))?;
        self.out().raw("</h1>\n<details class=facts><summary>")?;
        let line = facts_line(view);
        self.out().line(&line)?;
        self.out().raw("</summary>\n<dl>\n")?;
        let agent = [
            view.agent_name(),
            head.agent.version.as_deref().unwrap_or_default(),
        ];
        let (start, end) = view.times();
        let count = view.message_facts(self.around.branches);
        for (name, value, is_code) in [
            ("Agent", Some(agent.join(" ").trim_end().to_owned()), false),
            ("Model", head.model.as_ref().map(model_name), true),
            ("Workspace", head.workspace.path.clone(), true),
            ("Branch", head.workspace.branch.clone(), true),
            ("Started", start.map(moment), false),
            ("Ended", end.map(moment), false),
            ("Messages", Some(count), false),
            ("Tokens", view.usage().map(|sum| tokens(&sum)), false),
            ("Duration", head.duration_ms.map(seconds), false),
            ("Session", Some(head.id.clone()), true),
            ("Source", Some(view.first_path().to_owned()), true),
        ] {
            if let Some(value) = value.filter(|v| !v.is_empty()) {
                self.fact(name, &value, is_code)?;
            }
        }
        self.links()?;
        self.out().raw("</dl>\n</details>\n")?;
        if !self.page.several {
            controls(self.out())?;
        }
        self.out().raw("</header>\n")
    }

    fn fact(&mut self, name: &'static str, value: &str, is_code: bool) -> io::Result<()> {
        let out = self.out();
        let is_long = is_code && value.len() > 48;
        out.raw(if is_long {
            "<div class=all><dt>"
        } else {
            "<div><dt>"
        })?;
        out.raw(name)?;
        out.raw(if is_code {
            "</dt><dd><code>"
        } else {
            "</dt><dd>"
        })?;
        out.line(value)?;
        out.raw(if is_code {
            "</code></dd></div>\n"
        } else {
            "</dd></div>\n"
        })
    }

    /// The sessions that this one belongs with.
    fn links(&mut self) -> io::Result<()> {
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
            self.out().raw("<div><dt>")?;
            self.out().raw(name)?;
            self.out().raw("</dt><dd>")?;
            for (at, id) in ids.into_iter().enumerate() {
                self.out().raw(if at == 0 { "" } else { "<br>" })?;
                self.reference(id)?;
            }
            self.out().raw("</dd></div>\n")?;
        }
        Ok(())
    }

    /// Writes the id of another session, as a link where it can be reached.
    pub(super) fn reference(&mut self, id: &str) -> io::Result<()> {
        let found = (self.around.find)(id);
        let out = self.out();
        match &found {
            Some(Elsewhere::File(name)) => {
                out.raw("<a href=\"./")?;
                out.text(&percent_encoded(name))?;
                out.raw("\">")?;
            }
            Some(Elsewhere::Here(number)) => {
                out.raw("<a href=\"#s")?;
                out.number(*number)?;
                out.raw("\">")?;
            }
            None => {}
        }
        out.raw("<code>")?;
        out.line(id)?;
        out.raw("</code>")?;
        if found.is_some() {
            out.raw("</a>")
        } else {
            Ok(())
        }
    }

    /// Adds what the person said first in their turn to the list of contents.
    pub(super) fn prompt(&mut self, text: &str) {
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
    let (start, end) = view.times();
    let messages = match view.message_count() {
        1 => "1 message".to_owned(),
        n => format!("{n} messages"),
    };
    let usage = view.usage();
    let facts = [
        Some(view.agent_name().to_owned()),
        workspace(head),
        from_to(start, end),
        Some(messages),
        usage.map(|usage| token_count(usage.total())),
        usage.and_then(|usage| cost(&usage)),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    facts.join(" · ")
}

/// `shop (main)`
fn workspace(head: &Head) -> Option<String> {
    let name = last_name(head.workspace.path.as_deref()?);
    Some(match &head.workspace.branch {
        Some(branch) => format!("{name} ({branch})"),
        None => name,
    })
}
