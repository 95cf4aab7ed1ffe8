//! Conversations as a page that needs nothing but a browser: no script, nothing from outside.
//!
//! Markup is part of this program, and everything else is escaped ([`out::Out`]). A policy in the page
//! forbids whatever could still load or run.

mod ansi;
mod branches;
mod code;
mod diff;
mod head;
mod input;
mod links;
mod media;
mod message;
mod notices;
mod out;
mod prose;
mod tool;

use std::collections::BTreeMap;
use std::io::{self, Write};

use rethread_model::{Body, EntryIx, Role};

use self::branches::{Branch, Branches};
use self::out::Out;
use crate::notice::{Repeats, model_name, notice};
use crate::reading::Ahead;
use crate::{Options, View};

const STYLE: &str = include_str!("html/style.css");

/// Nothing is loaded and nothing runs, whatever the page holds.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; \
                      base-uri 'none'; form-action 'none'";

/// Where another session is, seen from the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Elsewhere {
    /// In the file with this name, beside the page.
    File(String),
    /// On the same page: the session with this number, counted from 1.
    Here(u64),
}

/// What a page shows beside the entries of a view.
#[derive(Clone, Copy)]
pub struct Around<'a> {
    /// Whether branches that were left come behind what is shown.
    pub branches: bool,
    /// Where the session with an id is, if it can be reached.
    pub find: &'a dyn Fn(&str) -> Option<Elsewhere>,
}

impl Around<'_> {
    /// Nothing.
    pub const NOTHING: Around<'static> = Around {
        branches: false,
        find: &|_| None,
    };
}

/// Writes a conversation as a page of its own.
pub fn html(out: &mut dyn Write, view: &View<'_>, o: &Options, a: &Around<'_>) -> io::Result<()> {
    let mut page = Html::begin(out, title(view), false)?;
    page.session(1, view, o, a)?;
    page.end()
}

/// A page of one conversation or of several, written from its beginning to its end.
pub struct Html<'a> {
    out: Out<'a>,
    /// Whether there may be more than one session.
    several: bool,
    contents: Vec<head::Chapter>,
}

impl<'a> Html<'a> {
    /// Begins a page.
    pub fn begin(out: &'a mut dyn Write, title: &str, several: bool) -> io::Result<Self> {
        let mut page = Self {
            out: Out::new(out),
            several,
            contents: Vec::new(),
        };
        page.head(title)?;
        Ok(page)
    }

    /// Writes a session, under a number that [`Elsewhere::Here`] finds it by.
    pub fn session(
        &mut self,
        number: u64,
        view: &View<'_>,
        o: &Options,
        a: &Around<'_>,
    ) -> io::Result<()> {
        let entries: Vec<EntryIx> = view.shown().collect();
        let branches = if a.branches {
            Branches::beside(view.session, &entries)
        } else {
            Branches::default()
        };
        let mut flow = Flow {
            session: number,
            page: self,
            view,
            options: *o,
            around: *a,
            labels: view.labels(),
            branches: &branches.at,
            number: 0,
            model: view.session.head.model.as_ref().map(model_name),
            notices: Repeats::default(),
            hidden: 0,
            day: None,
            speaker: None,
        };
        flow.header()?;
        flow.entries(entries)?;
        for (number, branch) in (1..).zip(&branches.all) {
            flow.branch(number, branch)?;
        }
        flow.page.out.raw("</main>\n")
    }
}

/// The title of a page with one session.
fn title<'a>(view: &View<'a>) -> &'a str {
    let title = view.session.head.title.as_ref();
    title.map_or("(no title)", |t| t.text.as_str())
}

/// A session that is being written.
struct Flow<'p, 'o, 'v> {
    page: &'p mut Html<'o>,
    session: u64,
    view: &'v View<'v>,
    options: Options,
    around: Around<'v>,
    labels: BTreeMap<String, String>,
    branches: &'v BTreeMap<EntryIx, Vec<usize>>,
    number: u64,
    /// The model that was named last.
    model: Option<String>,
    notices: Repeats,
    /// Calls that were hidden since the last message.
    hidden: u64,
    /// The day that was named last.
    day: Option<String>,
    /// Who spoke last, if nothing stands in between.
    speaker: Option<Role>,
}

impl<'o> Flow<'_, 'o, '_> {
    fn out(&mut self) -> &mut Out<'o> {
        &mut self.page.out
    }

    fn entries(&mut self, entries: Vec<EntryIx>) -> io::Result<()> {
        let mut ahead = Ahead::new(self.view, entries);
        while let Some(step) = ahead.step() {
            match step.body {
                Body::Message(message) => {
                    self.message(step.ix, &message, step.taken, &mut ahead)?;
                }
                other => self.notice(notice(other))?,
            }
            self.parting(step.ix)?;
        }
        self.end_run()
    }

    /// Says which branches part from an entry.
    fn parting(&mut self, ix: EntryIx) -> io::Result<()> {
        let Some(numbers) = self.branches.get(&ix) else {
            return Ok(());
        };
        self.end_run()?;
        self.out().raw("<p class=notice>")?;
        for (at, number) in numbers.iter().enumerate() {
            self.out().raw(if at == 0 { "" } else { ", " })?;
            self.out().raw("<a href=\"#")?;
            self.anchor("b", *number as u64)?;
            self.out().raw("\">branch ")?;
            self.out().number(*number as u64)?;
            self.out().raw("</a>")?;
        }
        self.speaker = None;
        self.out().raw(" parts here</p>\n")
    }

    fn branch(&mut self, number: u64, branch: &Branch) -> io::Result<()> {
        self.out().raw("<details class=branch id=\"")?;
        self.anchor("b", number)?;
        self.out().raw("\"><summary><b>")?;
        self.out().raw(match (branch.side, branch.from) {
            (true, _) => "Sub-agent",
            (false, Some(_)) => "Branch ",
            (false, None) => "Another beginning ",
        })?;
        if !branch.side {
            self.out().number(number)?;
        }
        self.out().raw("</b> <span>")?;
        self.out().number(branch.messages as u64)?;
        self.out().raw(if branch.messages == 1 {
            " message</span></summary>\n"
        } else {
            " messages</span></summary>\n"
        })?;
        (self.day, self.speaker) = (None, None);
        self.entries(branch.entries.clone())?;
        self.out().raw("</details>\n")
    }

    /// Writes the name of a place in the page: of a message or a branch of this session.
    fn anchor(&mut self, kind: &'static str, number: u64) -> io::Result<()> {
        if self.page.several {
            let session = self.session;
            self.out().raw("s")?;
            self.out().number(session)?;
            self.out().raw("-")?;
        }
        self.out().raw(kind)?;
        self.out().number(number)
    }
}
