//! Tables and numbers for people.

use anstyle::{AnsiColor, Style};
use jiff::tz::TimeZone;
use rethread_engine::last_name;
use rethread_model::{Moment, Provenance, State, Summary};
use rethread_render::{one_line, width};

/// A moment in the user's own time.
pub(crate) fn time(moment: Option<Moment>, zone: &TimeZone) -> String {
    let Some(moment) = moment else {
        return "-".to_owned();
    };
    let local = moment.timestamp().to_zoned(zone.clone());
    local.strftime("%Y-%m-%d %H:%M").to_string()
}

/// A count with thin groups: `12 345`.
pub(crate) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// What a list calls a session.
pub(crate) fn title(summary: &Summary) -> String {
    let title = summary
        .head
        .title
        .as_ref()
        .map_or("(no title)", |t| &t.text);
    let mark = match &summary.state {
        State::Ready => String::new(),
        State::Unsupported { version } => format!("[unsupported version {version}] "),
        State::Damaged => "[damaged] ".to_owned(),
        State::Unreadable => "[unreadable] ".to_owned(),
        State::Empty => "[empty] ".to_owned(),
        State::Gone => "[gone] ".to_owned(),
    };
    one_line(&format!("{mark}{title}")).into_owned()
}

/// What a table for people calls a session: a converted one says first where it came from.
pub(crate) fn title_with_origin(summary: &Summary) -> String {
    let title = title(summary);
    match &summary.head.converted_from {
        Some(from) => format!("[from {}] {title}", one_line(&from.format)),
        None => title,
    }
}

/// The last part of a session's workspace, behind the name of its home where that is another one.
pub(crate) fn workspace(summary: &Summary) -> String {
    let name = summary
        .head
        .workspace
        .path
        .as_deref()
        .map_or("-", last_name);
    let provenance = summary.head.provenance.as_ref();
    match provenance.map(Provenance::home).filter(|h| h != "local") {
        Some(home) => one_line(&format!("{home}:{name}")).into_owned(),
        None => one_line(name).into_owned(),
    }
}

/// Text in a colour, where colours are wanted.
pub(crate) fn paint(is_coloured: bool, style: Style, text: &str) -> String {
    if is_coloured && !text.is_empty() {
        format!("{style}{text}{style:#}")
    } else {
        text.to_owned()
    }
}

/// What an id is printed in.
pub(crate) const ID: Style = AnsiColor::Yellow.on_default();
/// What a workspace is printed in.
pub(crate) const WORKSPACE: Style = AnsiColor::Cyan.on_default();
/// What is beside the point.
pub(crate) const QUIET: Style = Style::new().dimmed();
/// What stands above something.
pub(crate) const HEADING: Style = Style::new().bold();

/// Text with spaces behind it, up to a width.
pub(crate) fn left(text: &str, to: usize) -> String {
    format!("{text}{}", " ".repeat(to.saturating_sub(width(text))))
}

/// Text with spaces before it, up to a width.
pub(crate) fn right(text: &str, to: usize) -> String {
    format!("{}{text}", " ".repeat(to.saturating_sub(width(text))))
}
