//! The title of a conversation and the facts below it, and times as people tell them.

use std::io;

use anstyle::Style as Ink;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use rethread_model::{LinkKind, Moment};
use unicode_width::UnicodeWidthStr;

use super::page::TextPage;
use super::paint::{BOLD, DIM};
use super::wrap::StyledSpan;
use crate::sums::{format_cost, token_count};
use crate::{Style, View, fit, one_line};

/// Tells times, from a clock and in a zone.
pub(super) struct TimeLabels {
    zone: TimeZone,
    today: Option<Date>,
    /// The day that was named last.
    day: Option<Date>,
}

impl TimeLabels {
    pub(super) fn new(style: &Style) -> Self {
        let today = style.now.map(|now| local_date(now, &style.zone));
        Self {
            zone: style.zone.clone(),
            today,
            day: None,
        }
    }

    /// `10:02`, with the day where it is another than before.
    pub(super) fn time_heading(&mut self, time: Moment) -> String {
        let day = local_date(time, &self.zone);
        let is_new = self.day.replace(day) != Some(day);
        if is_new {
            format!("{} {}", self.day_word(day), self.minute_label(time))
        } else {
            self.minute_label(time)
        }
    }

    /// `today 10:02 – 10:42`
    fn span_label(&mut self, start: Moment, end: Option<Moment>) -> String {
        let first = local_date(start, &self.zone);
        self.day = Some(first);
        let mut text = format!("{} {}", self.day_word(first), self.minute_label(start));
        let Some(end) = end.filter(|end| {
            self.minute_label(*end) != self.minute_label(start)
                || local_date(*end, &self.zone) != first
        }) else {
            return text;
        };
        let last = local_date(end, &self.zone);
        text.push_str(" – ");
        if last != first {
            text.push_str(&self.day_word(last));
            text.push(' ');
        }
        text.push_str(&self.minute_label(end));
        text
    }

    fn minute_label(&self, time: Moment) -> String {
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

fn local_date(time: Moment, zone: &TimeZone) -> Date {
    time.timestamp().to_zoned(zone.clone()).date()
}

/// The title, and one or two lines of facts.
pub(super) fn write_head(
    page: &mut TextPage<'_>,
    clock: &mut TimeLabels,
    view: &View<'_>,
) -> io::Result<()> {
    let head = &view.session.head;
    let title = match &head.title {
        Some(title) => fit(title.text.trim(), page.width),
        None => "(no title)".to_owned(),
    };
    page.write_text("", BOLD, &title)?;
    let facts = fact_lines(clock, view);
    // Facts wrap between each other, not inside.
    let measure = page.text_width(0).max(page.width.min(120));
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
    page.request_gap();
    Ok(())
}

fn fact_line(page: &mut TextPage<'_>, line: &str) -> io::Result<()> {
    let span = StyledSpan {
        style: DIM,
        text: line.to_owned(),
    };
    if line.width() > page.width {
        return page.write_spans("", "", &[span]);
    }
    let line = page.paint.paint_text(Ink::new().dimmed(), line);
    page.write_line("", &line)
}

fn fact_lines(clock: &mut TimeLabels, view: &View<'_>) -> Vec<String> {
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
    let (start, end) = view.first_and_last();
    let when = start.or(end).map(|start| clock.span_label(start, end));
    let usage = view.total_usage();
    let tokens = usage.map(|usage| token_count(usage.total()));
    let cost = usage.and_then(|usage| format_cost(&usage));
    let parent = head.links.iter().find(|l| l.kind == LinkKind::Parent);
    let parent = parent.map(|link| format!("sub-agent of {}", link.session));
    let converted = view.converted_from();
    let converted = converted.map(|from| format!("converted from {} {}", from.format, from.id));
    vec![
        view.agent_fact().to_owned(),
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
