//! Lists of sessions that fit the terminal.

use anstyle::{AnsiColor, Style};
use jiff::{Timestamp, Zoned};
use rethread_engine::{SessionNames, Sort, by_name};
use rethread_model::{Moment, State, Summary};
use rethread_render::{byte_count, dollars, fit, one_line, short_count, width};

use crate::context::Context;
use crate::table::{
    HEADING, ID, QUIET, WORKSPACE, count, left, paint, right, title_with_origin, workspace,
};

/// How a moment is written in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TimeForm {
    /// `2026-11-15 20:41`
    Full,
    /// `15 Nov 20:41`; of another year, `15 Nov 2025`.
    Short,
    /// `20:41` today, `15 Nov` this year, else `Nov 2025`.
    Least,
}

impl TimeForm {
    fn width(self) -> usize {
        match self {
            Self::Full => 16,
            Self::Short => 12,
            Self::Least => 8,
        }
    }

    fn write(self, moment: Option<Moment>, now: &Zoned) -> String {
        let Some(moment) = moment else {
            return "-".to_owned();
        };
        let local = moment.timestamp().to_zoned(now.time_zone().clone());
        let is_this_year = local.year() == now.year();
        let form = match self {
            Self::Full => "%Y-%m-%d %H:%M",
            Self::Short if is_this_year => "%e %b %H:%M",
            Self::Short => "%e %b  %Y",
            Self::Least if local.date() == now.date() => "%H:%M",
            Self::Least if is_this_year => "%e %b",
            Self::Least => "%b %Y",
        };
        local.strftime(form).to_string()
    }
}

/// Which columns a table has beside the ids and titles, and how wide they may be.
#[derive(Clone, Copy, Debug)]
struct Shape {
    /// Agents by their whole names, by their shortest, or not at all.
    agent: Option<AgentForm>,
    time: TimeForm,
    messages: bool,
    /// The most that a workspace takes; none are shown at zero.
    workspace: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AgentForm {
    Whole,
    Shortest,
}

/// From the widest to the narrowest: the first that leaves enough for titles is taken.
const SHAPES: [Shape; 6] = {
    const WIDEST: Shape = Shape {
        agent: Some(AgentForm::Whole),
        time: TimeForm::Full,
        messages: true,
        workspace: 24,
    };
    const MIDDLE: Shape = Shape {
        time: TimeForm::Short,
        workspace: 14,
        ..WIDEST
    };
    const SHORT: Shape = Shape {
        agent: Some(AgentForm::Shortest),
        workspace: 12,
        ..MIDDLE
    };
    const NARROW: Shape = Shape {
        time: TimeForm::Least,
        messages: false,
        workspace: 10,
        ..SHORT
    };
    const NARROWER: Shape = Shape {
        workspace: 0,
        ..NARROW
    };
    const NARROWEST: Shape = Shape {
        agent: None,
        ..NARROWER
    };
    [WIDEST, MIDDLE, SHORT, NARROW, NARROWER, NARROWEST]
};

/// Names of sessions up to this width line up; on a terminal a longer one stands on a line of its own,
/// unless most are longer. Elsewhere it moves the rest of its line.
const WIDEST_NAME: usize = 20;

/// The least that is left for a title.
pub(crate) const LEAST_TITLE: usize = 8;

/// How wide the column of the names is: a few long ones do not widen it, and many only where they leave
/// two thirds of the columns to all else.
pub(crate) fn name_width<'a>(
    names: impl Iterator<Item = &'a str> + Clone,
    columns: Option<usize>,
) -> usize {
    let widths = names.map(width);
    let short = || widths.clone().filter(|w| *w <= WIDEST_NAME);
    let are_long = short().count() * 2 < widths.clone().count();
    let widest = widths.clone().max().unwrap_or(8);
    if are_long && columns.is_none_or(|columns| widest * 3 <= columns) {
        widest
    } else {
        short().max().unwrap_or(8)
    }
}

/// How a list of sessions is shown.
pub(crate) struct SessionTable<'a> {
    names: &'a SessionNames,
    sort: Sort,
    now: Zoned,
    columns: Option<usize>,
    is_coloured: bool,
}

/// The widths of the columns.
struct Widths {
    name: usize,
    agent: usize,
    messages: usize,
    sorted: usize,
    workspace: usize,
}

impl Widths {
    /// The columns before the title.
    fn before_title(&self, shape: Shape) -> usize {
        let columns = [
            self.name,
            self.agent,
            shape.time.width(),
            self.messages,
            self.sorted,
            self.workspace,
        ];
        columns.iter().filter(|w| **w > 0).map(|w| w + 2).sum()
    }
}

/// A column that is shown because the list is sorted by it.
struct SortedColumn {
    heading: &'static str,
    cell: fn(&Summary) -> String,
}

impl<'a> SessionTable<'a> {
    pub(crate) fn new(context: &Context, names: &'a SessionNames, sort: Sort) -> Self {
        let now: Timestamp = context.env.now().timestamp();
        Self {
            names,
            sort,
            now: now.to_zoned(context.zone().clone()),
            columns: context.columns,
            is_coloured: context.colour,
        }
    }

    /// The lines of the table: on a terminal with a heading, and as wide as that is.
    pub(crate) fn lines(&self, sessions: &[Summary]) -> Vec<String> {
        let names: Vec<String> = sessions
            .iter()
            .map(|s| one_line(&self.names.name_of(s)).into_owned())
            .collect();
        let (shape, widths) = self.shape(sessions, &names);
        let mut lines = Vec::new();
        if self.columns.is_some() {
            lines.push(self.heading(shape, &widths));
        }
        for (session, name) in sessions.iter().zip(&names) {
            let is_apart = self.columns.is_some() && width(name) > widths.name;
            if is_apart {
                lines.push(paint(self.is_coloured, ID, name));
            }
            let beside = if is_apart { "" } else { name };
            lines.push(self.row(session, beside, shape, &widths));
        }
        lines
    }

    /// The widest shape that leaves enough for titles.
    fn shape(&self, sessions: &[Summary], names: &[String]) -> (Shape, Widths) {
        let shapes = || SHAPES.iter().map(|shape| self.sorted_shape(*shape));
        let widest = shapes().next().unwrap_or(SHAPES[0]);
        let Some(columns) = self.columns else {
            return (widest, self.widths(widest, sessions, names));
        };
        let wanted = (columns * 3 / 10).clamp(18, 60);
        let mut last = (widest, self.widths(widest, sessions, names));
        for shape in shapes() {
            let widths = self.widths(shape, sessions, names);
            let room = columns.saturating_sub(widths.before_title(shape));
            last = (shape, widths);
            if room >= wanted {
                break;
            }
        }
        last
    }

    /// What a list is sorted by is shown, however narrow it is.
    fn sorted_shape(&self, shape: Shape) -> Shape {
        Shape {
            messages: shape.messages || self.sort == Sort::Messages,
            ..shape
        }
    }

    fn widths(&self, shape: Shape, sessions: &[Summary], names: &[String]) -> Widths {
        let widest =
            |cell: &dyn Fn(&Summary) -> usize| sessions.iter().map(cell).max().unwrap_or(0);
        let heading = |text: &str| {
            if self.columns.is_some() {
                width(text)
            } else {
                0
            }
        };
        let names = names.iter().map(String::as_str);
        Widths {
            name: name_width(names, self.columns).max(heading("Session")),
            agent: shape.agent.map_or(0, |form| {
                widest(&|s| width(&agent(s, form))).max(heading("Agent"))
            }),
            messages: if shape.messages {
                widest(&|s| width(&count(s.counts.messages))).max(heading("Msgs"))
            } else {
                0
            },
            sorted: self.sorted_by().map_or(0, |column| {
                widest(&|s| width(&(column.cell)(s))).max(heading(column.heading))
            }),
            workspace: match shape.workspace {
                0 => 0,
                most => widest(&|s| width(&workspace(s)))
                    .min(most)
                    .max(heading("Workspace")),
            },
        }
    }

    /// The column that a list is sorted by, where it has none of its own.
    fn sorted_by(&self) -> Option<SortedColumn> {
        let column = |heading, cell| Some(SortedColumn { heading, cell });
        match self.sort {
            Sort::Tokens => column("Tokens", |s| {
                let usage = s.counts.usage;
                usage.map_or("-".to_owned(), |u| short_count(u.total()))
            }),
            Sort::Cost => column("Cost", |s| {
                let cost = s.counts.usage.and_then(|u| u.cost);
                cost.map_or("-".to_owned(), |c| dollars(c.usd))
            }),
            Sort::Size => column("Size", |s| byte_count(s.size)),
            Sort::Updated | Sort::Created | Sort::Messages => None,
        }
    }

    fn heading(&self, shape: Shape, w: &Widths) -> String {
        let time = match self.sort {
            Sort::Created => "Started",
            _ => "Updated",
        };
        let mut cells = vec![left("Session", w.name)];
        if shape.agent.is_some() {
            cells.push(left("Agent", w.agent));
        }
        cells.push(left(time, shape.time.width()));
        if shape.messages {
            cells.push(right("Msgs", w.messages));
        }
        if let Some(column) = self.sorted_by() {
            cells.push(right(column.heading, w.sorted));
        }
        if w.workspace > 0 {
            cells.push(left("Workspace", w.workspace));
        }
        cells.push("Title".to_owned());
        paint(self.is_coloured, HEADING, &cells.join("  "))
    }

    fn row(&self, session: &Summary, name: &str, shape: Shape, w: &Widths) -> String {
        let head = &session.head;
        let moment = match self.sort {
            Sort::Created => head.created.or(head.updated),
            _ => head.updated,
        };
        let paint = |style: Style, text: String| paint(self.is_coloured, style, &text);
        let mut cells = vec![paint(ID, left(name, w.name))];
        if let Some(form) = shape.agent {
            cells.push(left(&agent(session, form), w.agent));
        }
        let time = shape.time.write(moment, &self.now);
        cells.push(paint(QUIET, left(&time, shape.time.width())));
        if shape.messages {
            cells.push(right(&count(session.counts.messages), w.messages));
        }
        if let Some(column) = self.sorted_by() {
            cells.push(right(&(column.cell)(session), w.sorted));
        }
        if w.workspace > 0 {
            let fitted = fit(&workspace(session), w.workspace);
            cells.push(paint(WORKSPACE, left(&fitted, w.workspace)));
        }
        let title = title_with_origin(session);
        let longer = width(name).saturating_sub(w.name);
        let used = w.before_title(shape) + longer;
        let room = self
            .columns
            .map(|c| c.saturating_sub(used).max(LEAST_TITLE));
        let title = room.map_or(title.clone(), |room| fit(&title, room));
        cells.push(marked(self.is_coloured, session, title));
        cells.join("  ").trim_end().to_owned()
    }
}

/// A title, in red where the session cannot be used.
fn marked(is_coloured: bool, session: &Summary, title: String) -> String {
    match session.state {
        State::Ready => title,
        _ => paint(is_coloured, AnsiColor::Red.on_default(), &title),
    }
}

/// The agent that held a conversation.
fn agent(session: &Summary, form: AgentForm) -> String {
    let slug = session.head.held_by();
    let short = by_name(slug).filter(|_| form == AgentForm::Shortest);
    let aliases = short.map_or(&[][..], |f| f.about().aliases);
    let names = std::iter::once(&slug).chain(aliases);
    let shortest = names.min_by_key(|name| name.len());
    one_line(shortest.unwrap_or(&slug)).into_owned()
}
