//! The beginning and the end of a page, and what is said about a session.

use std::io;

use rethread_model::{LinkKind, Moment};

use super::{Elsewhere, Flow, Html, POLICY, STYLE, title};
use crate::media::percent_encoded;
use crate::notice::model_name;
use crate::sums::{seconds, tokens};
use crate::view::span;

/// A session in the list of contents.
pub(super) struct Chapter {
    title: String,
    session: u64,
    /// The numbers of what the person said, with its beginning.
    prompts: Vec<(u64, String)>,
}

/// How much of a title or a prompt stands in the list of contents, in columns.
const EXCERPT: usize = 80;

impl Html<'_> {
    pub(super) fn head(&mut self, title: &str) -> io::Result<()> {
        let out = &mut self.out;
        out.raw("<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n")?;
        out.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"")?;
        out.raw(POLICY)?;
        out.raw("\">\n<meta name=referrer content=no-referrer>\n")?;
        out.raw("<meta name=viewport content=\"width=device-width, initial-scale=1\">\n")?;
        out.raw("<meta name=generator content=rethread>\n<title>")?;
        out.line(title)?;
        out.raw("</title>\n<style>\n")?;
        out.raw(STYLE)?;
        out.raw("</style>\n</head>\n<body>\n")
    }

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
                out.raw("m")?;
                out.number(*number)?;
                out.raw("\">")?;
                out.line(excerpt)?;
                out.raw("</a></li>\n")?;
            }
            out.raw("</ul>\n")?;
        }
        self.out.raw("</nav>\n</body>\n</html>\n")
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
        self.out().raw("\">\n<header class=page>\n<h1>")?;
        self.out().line(title(view))?;
        self.out().raw("</h1>\n<dl>\n")?;
        let agent = [
            head.agent.name.as_deref().unwrap_or(head.held_by()),
            head.agent.version.as_deref().unwrap_or_default(),
        ];
        let (start, end) = span(view.session);
        let all = view.session.message_count();
        let branches = self.around.branches;
        let count = match view.shown_messages() {
            shown if shown == all || branches => all.to_string(),
            shown => format!("{all} ({shown} shown)"),
        };
        for (name, value, is_code) in [
            ("Agent", Some(agent.join(" ").trim_end().to_owned()), false),
            ("Model", head.model.as_ref().map(model_name), true),
            ("Workspace", head.workspace.path.clone(), true),
            ("Branch", head.workspace.branch.clone(), true),
            ("Started", start.map(moment), false),
            ("Ended", end.map(moment), false),
            ("Messages", Some(count), false),
            ("Tokens", tokens(head), false),
            ("Duration", head.duration_ms.map(seconds), false),
            ("Session", Some(head.id.clone()), true),
            ("Source", Some(view.first_path().to_owned()), true),
        ] {
            if let Some(value) = value.filter(|v| !v.is_empty()) {
                self.fact(name, &value, is_code)?;
            }
        }
        self.links()?;
        self.out().raw("</dl>\n</header>\n")
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

    /// Adds what the person said to the list of contents.
    pub(super) fn prompt(&mut self, text: &str) {
        let number = self.number;
        let excerpt = crate::fit(text.trim().lines().next().unwrap_or_default(), EXCERPT);
        if let (Some(chapter), false) = (self.page.contents.last_mut(), excerpt.is_empty()) {
            chapter.prompts.push((number, excerpt));
        }
    }
}

/// `14 February 2025, 10:30:00 UTC`
fn moment(time: Moment) -> String {
    let utc = time.timestamp().to_zoned(jiff::tz::TimeZone::UTC);
    utc.strftime("%-d %B %Y, %H:%M:%S UTC").to_string()
}
