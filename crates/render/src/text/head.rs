//! The title of a conversation and the facts below it, and times as people tell them.

use std::io;

use anstyle::Style as Ink;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use rethread_model::{LinkKind, Moment};
use unicode_width::UnicodeWidthStr;

use super::page::Page;
use super::paint::{BOLD, DIM};
use super::wrap::Span;
use crate::sums::{cost, token_count};
use crate::{Style, View, fit, one_line};

/// Tells times, from a clock and in a zone.
pub(super) struct Clock {
    zone: TimeZone,
    today: Option<Date>,
    /// The day that was named last.
    day: Option<Date>,
}

impl Clock {
    pub(super) fn new(style: &Style) -> Self {
        let today = style.now.map(|now| date(now, &style.zone));
        Self {
            zone: style.zone.clone(),
            today,
            day: None,
        }
    }

    /// `10:02`, with the day where it is another than before.
    pub(super) fn heading(&mut self, time: Moment) -> String {
        let day = date(time, &self.zone);
        let is_new = self.day.replace(day) != Some(day);
        if is_new {
            format!("{} {}", self.day_word(day), self.minute(time))
        } else {
            self.minute(time)
        }
    }

    /// `today 10:02 – 10:42`
    fn span(&mut self, start: Moment, end: Option<Moment>) -> String {
        let first = date(start, &self.zone);
        self.day = Some(first);
        let mut text = format!("{} {}", self.day_word(first), self.minute(start));
        let Some(end) = end.filter(|end| {
            self.minute(*end) != self.minute(start) || date(*end, &self.zone) != first
        }) else {
            return text;
        };
        let last = date(end, &self.zone);
        text.push_str(" – ");
        if last != first {
            text.push_str(&self.day_word(last));
            text.push(' ');
        }
        text.push_str(&self.minute(end));
        text
    }

    fn minute(&self, time: Moment) -> String {
        let local = time.timestamp().to_zoned(self.zone.clone());
        local.strftime("%H:%M").to_string()
    }

    /// `today`, `yesterday`, `12 Nov`, `12 Nov 2025`
    fn day_word(&self, day: Date) -> String {
        if let Some(today) = self.today {
            if day == today {
                return "today".to_owned();
            }
            if today.yesterday().is_ok_and(|yesterday| day == yesterday) {
                return "yesterday".to_owned();
            }
            if day.year() == today.year() {
                return day.strftime("%-d %b").to_string();
            }
        }
        day.strftime("%-d %b %Y").to_string()
    }
}

fn date(time: Moment, zone: &TimeZone) -> Date {
    time.timestamp().to_zoned(zone.clone()).date()
}

/// The title, and one or two lines of facts.
pub(super) fn write_head(
    page: &mut Page<'_>,
    clock: &mut Clock,
    view: &View<'_>,
) -> io::Result<()> {
    let head = &view.session.head;
    let title = match &head.title {
        Some(title) => fit(title.text.trim(), page.width),
        None => "(no title)".to_owned(),
    };
    page.text("", BOLD, &title)?;
    let facts = facts(clock, view);
    // Facts wrap between each other, not inside.
    let measure = page.measure(0).max(page.width.min(120));
    let mut line = String::new();
    for fact in facts.iter().filter(|fact| !fact.is_empty()) {
        let fact = one_line(fact);
        if !line.is_empty() && line.width() + 3 + fact.width() > measure {
            let whole = std::mem::take(&mut line);
            fact_line(page, &whole)?;
        }
        if !line.is_empty() {
            line.push_str(" · ");
        }
        line.push_str(&fact);
    }
    fact_line(page, &line)?;
    page.part();
    Ok(())
}

fn fact_line(page: &mut Page<'_>, line: &str) -> io::Result<()> {
    let span = Span {
        style: DIM,
        text: line.to_owned(),
    };
    if line.width() > page.width {
        return page.words("", "", &[span]);
    }
    let line = page.paint.with(Ink::new().dimmed(), line);
    page.line("", &line)
}

fn facts(clock: &mut Clock, view: &View<'_>) -> Vec<String> {
    let head = &view.session.head;
    let folder = head.workspace.path.as_deref().map(|path| {
        let path = path.trim_end_matches(['/', '\\']);
        path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned()
    });
    let branch = head.workspace.branch.as_deref();
    let place = match (folder, branch) {
        (Some(folder), Some(branch)) => format!("{folder} ({branch})"),
        (folder, _) => folder.unwrap_or_default(),
    };
    let (start, end) = view.times();
    let when = start.or(end).map(|start| clock.span(start, end));
    let usage = view.usage();
    let tokens = usage.map(|usage| token_count(usage.total()));
    let cost = usage.and_then(|usage| cost(&usage));
    let parent = head.links.iter().find(|l| l.kind == LinkKind::Parent);
    let parent = parent.map(|link| format!("sub-agent of {}", link.session));
    let converted = view.converted_from();
    let converted = converted.map(|from| format!("converted from {} {}", from.format, from.id));
    vec![
        view.agent_name().to_owned(),
        place,
        when.unwrap_or_default(),
        view.message_words(),
        tokens.unwrap_or_default(),
        cost.unwrap_or_default(),
        parent.unwrap_or_default(),
        converted.unwrap_or_default(),
        head.id.clone(),
    ]
}
