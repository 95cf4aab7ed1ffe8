//! Conversations as a page that needs nothing but a browser: no script, nothing from outside.
//!
//! Markup is part of this program, and everything else is escaped ([`out::HtmlWriter`]). A policy in the page
//! forbids whatever could still load or run.

mod ansi;
mod branches;
mod code;
mod diff;
mod head;
mod index;
mod input;
mod item;
mod links;
mod media;
mod out;
mod prose;
mod times;
mod tool;
mod turn;

use std::collections::BTreeMap;
use std::io::{self, Write};

use rethread_model::EntryIx;

use self::branches::{Branch, Branches};
pub use self::head::HTML_GENERATOR;
pub use self::index::{IndexRow, html_index};
pub(crate) use self::out::HtmlWriter;
use crate::notice::Notice;
use crate::reading::Speaker;
use crate::{Options, View};

const STYLE: &str = include_str!("html/style.css");

/// Nothing is loaded and nothing runs, whatever the page holds.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; \
                      base-uri 'none'; form-action 'none'";

/// Where another session is, seen from the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionTarget {
    /// In the file with this name, beside the page.
    File(String),
    /// On the same page: the session with this number, counted from 1.
    Here(u64),
}

/// What a page shows beside the entries of a view.
#[derive(Clone, Copy)]
pub struct PageContext<'a> {
    /// Whether branches that were left come behind what is shown.
    pub branches: bool,
    /// The page that leads to this one and others, a file with this name beside it.
    pub index: Option<&'a str>,
    /// Where the session with an id is, if it can be reached.
    pub find: &'a dyn Fn(&str) -> Option<SessionTarget>,
}

impl PageContext<'_> {
    /// Nothing.
    pub const NOTHING: PageContext<'static> = PageContext {
        branches: false,
        index: None,
        find: &|_| None,
    };
}

/// Writes a conversation as a page of its own.
pub fn write_html(
    out: &mut dyn Write,
    view: &View<'_>,
    o: &Options,
    a: &PageContext<'_>,
) -> io::Result<()> {
    let mut page = Html::begin_page(out, head::page_title(view), false)?;
    page.write_session(1, view, o, a)?;
    page.end_page()
}

/// A page of one conversation or of several, written from its beginning to its end.
pub struct Html<'a> {
    out: HtmlWriter<'a>,
    /// Whether there may be more than one session.
    several: bool,
    contents: Vec<head::ContentsEntry>,
}

impl<'a> Html<'a> {
    /// Begins a page.
    pub fn begin_page(out: &'a mut dyn Write, title: &str, several: bool) -> io::Result<Self> {
        let mut page = Self {
            out: HtmlWriter::new(out),
            several,
            contents: Vec::new(),
        };
        head::write_head(&mut page.out, title)?;
        if several {
            head::write_controls(&mut page.out)?;
        }
        Ok(page)
    }

    /// Writes a session, under a number that [`SessionTarget::Here`] finds it by.
    pub fn write_session(
        &mut self,
        number: u64,
        view: &View<'_>,
        o: &Options,
        a: &PageContext<'_>,
    ) -> io::Result<()> {
        let entries: Vec<EntryIx> = view.shown_entries().collect();
        let branches = if a.branches {
            Branches::beside_entries(view.session, &entries)
        } else {
            Branches::default()
        };
        let mut flow = SessionPage {
            session: number,
            page: self,
            view,
            options: *o,
            around: *a,
            branches: &branches.at,
            entry: None,
            named: None,
            speaker: None,
            prompt_number: None,
            events: Vec::new(),
            day: None,
        };
        flow.write_header()?;
        flow.write_entries(&entries)?;
        for (number, branch) in (1..).zip(&branches.all) {
            flow.write_branch(number, branch)?;
        }
        flow.page.out.write_markup("</main>\n")
    }
}

/// A session that is being written.
struct SessionPage<'p, 'o, 'v> {
    page: &'p mut Html<'o>,
    session: u64,
    view: &'v View<'v>,
    options: Options,
    around: PageContext<'v>,
    branches: &'v BTreeMap<EntryIx, Vec<usize>>,
    /// The entry that is being written.
    entry: Option<EntryIx>,
    /// The entry whose number was given to something last.
    named: Option<EntryIx>,
    /// Who speaks, if somebody does.
    speaker: Option<Speaker>,
    /// The number of a turn of the person that is not in the list of contents yet.
    prompt_number: Option<u64>,
    /// What happened since the last item, and is no trouble.
    events: Vec<Notice>,
    /// The day that was named last.
    day: Option<String>,
}

impl<'o> SessionPage<'_, 'o, '_> {
    fn out(&mut self) -> &mut HtmlWriter<'o> {
        &mut self.page.out
    }

    fn write_branch(&mut self, number: u64, branch: &Branch) -> io::Result<()> {
        self.out().write_markup("<details class=branch id=\"")?;
        self.write_anchor("b", number)?;
        self.out().write_markup("\"><summary><b>")?;
        self.out().write_markup(match (branch.side, branch.from) {
            (true, _) => "Sub-agent",
            (false, Some(_)) => "Branch ",
            (false, None) => "Another beginning ",
        })?;
        if !branch.side {
            self.out().write_number(number)?;
        }
        self.out().write_markup("</b> <span>")?;
        self.out().write_number(branch.messages as u64)?;
        self.out().write_markup(if branch.messages == 1 {
            " message</span></summary>\n"
        } else {
            " messages</span></summary>\n"
        })?;
        self.day = None;
        self.write_entries(&branch.entries)?;
        self.out().write_markup("</details>\n")
    }

    /// Writes the name of a place in the page: of a message or a branch of this session.
    fn write_anchor(&mut self, kind: &'static str, number: u64) -> io::Result<()> {
        if self.page.several {
            let session = self.session;
            self.out().write_markup("s")?;
            self.out().write_number(session)?;
            self.out().write_markup("-")?;
        }
        self.out().write_markup(kind)?;
        self.out().write_number(number)
    }
}
