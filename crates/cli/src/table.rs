//! Tables and numbers for people.

use jiff::tz::TimeZone;
use rethread_engine::SessionNames;
use rethread_model::{Moment, Provenance, State, Summary};
use rethread_render::{fit, one_line};

/// A moment in the user's own time.
pub(crate) fn time(moment: Option<Moment>, zone: &TimeZone) -> String {
    let Some(moment) = moment else {
        return "-".to_owned();
    };
    moment
        .timestamp()
        .to_zoned(zone.clone())
        .strftime("%Y-%m-%d %H:%M")
        .to_string()
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
        State::Gone => "[gone] ".to_owned(),
    };
    one_line(&format!("{mark}{title}")).into_owned()
}

/// The last part of a session's workspace, behind the name of its home where that is another one.
pub(crate) fn workspace(summary: &Summary) -> String {
    let path = summary.head.workspace.path.as_deref().unwrap_or("-");
    let name = path
        .trim_end_matches(['/', '\\'])
        .rsplit(['/', '\\'])
        .next()
        .unwrap_or(path);
    let name = if name.is_empty() { path } else { name };
    let provenance = summary.head.provenance.as_ref();
    match provenance.map(Provenance::home).filter(|h| h != "local") {
        Some(home) => fit(&format!("{home}:{name}"), 24),
        None => fit(name, 24),
    }
}

/// The rows of a list of sessions: id, agent, last change, messages, workspace, title.
pub(crate) fn sessions(
    sessions: &[Summary],
    names: &SessionNames,
    zone: &TimeZone,
    columns: Option<usize>,
) -> Vec<String> {
    let rows: Vec<[String; 5]> = sessions
        .iter()
        .map(|s| {
            [
                one_line(&names.name(s)).into_owned(),
                one_line(s.head.held_by()).into_owned(),
                time(s.head.updated, zone),
                count(s.counts.messages),
                workspace(s),
            ]
        })
        .collect();
    let width = |i: usize| rows.iter().map(|r| r[i].chars().count()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2), width(3), width(4)];
    let mut lines = Vec::new();
    for (row, session) in rows.iter().zip(sessions) {
        let [id, agent, updated, messages, workspace] = row;
        let left = format!(
            "{id:<a$}  {agent:<b$}  {updated:<c$}  {messages:>d$}  {workspace:<e$}  ",
            a = widths[0],
            b = widths[1],
            c = widths[2],
            d = widths[3],
            e = widths[4],
        );
        let room = columns.map(|c| c.saturating_sub(left.chars().count()).max(16));
        let title = title(session);
        let title = room.map_or(title.clone(), |room| fit(&title, room));
        lines.push(format!("{left}{title}").trim_end().to_owned());
    }
    lines
}
