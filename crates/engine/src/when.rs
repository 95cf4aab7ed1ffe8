//! Moments as people type them: `2026-11-01`, `2026-11-01T10:00`, `7d`, `yesterday`, `last week`.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned};
use rethread_model::Moment;

/// Which end of a day or a week is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Its first moment.
    Since,
    /// Its last moment.
    Until,
}

/// The text is no moment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no time: try `2026-11-01`, `2026-11-01T10:00`, `7d`, `yesterday` or `last week`")]
pub struct NotAMoment(pub String);

/// Reads a moment, with `now` and the user's time zone for what is relative.
pub fn moment(
    text: &str,
    bound: Bound,
    now: Moment,
    zone: &TimeZone,
) -> Result<Moment, NotAMoment> {
    let now = now.timestamp().to_zoned(zone.clone());
    parse(text.trim(), bound, &now)
        .map(Moment::from)
        .ok_or_else(|| NotAMoment(text.to_owned()))
}

fn parse(text: &str, bound: Bound, now: &Zoned) -> Option<Timestamp> {
    let today = now.date();
    let day = |first: Date, last: Date| edge(first, last, bound, now.time_zone());
    match text {
        "now" => return Some(now.timestamp()),
        "today" => return day(today, today),
        "yesterday" => {
            let date = today.yesterday().ok()?;
            return day(date, date);
        }
        "this week" | "last week" => {
            let monday = today
                .checked_sub(Span::new().days(i64::from(today.weekday().to_monday_zero_offset())))
                .ok()?;
            let weeks = i64::from(text == "last week");
            let first = monday.checked_sub(Span::new().weeks(weeks)).ok()?;
            return day(first, first.checked_add(Span::new().days(6)).ok()?);
        }
        "last month" => {
            let last = today.first_of_month().yesterday().ok()?;
            return day(last.first_of_month(), last);
        }
        _ => {}
    }
    if let Some(span) = ago(text) {
        return Some(now.checked_sub(span).ok()?.timestamp());
    }
    if let Ok(timestamp) = text.parse::<Timestamp>() {
        return Some(timestamp);
    }
    if text.contains(['T', ' '])
        && let Ok(local) = text.parse::<DateTime>()
    {
        return Some(local.to_zoned(now.time_zone().clone()).ok()?.timestamp());
    }
    let date: Date = text.parse().ok()?;
    day(date, date)
}

/// The first moment of the first day, or the last moment of the last.
fn edge(first: Date, last: Date, bound: Bound, zone: &TimeZone) -> Option<Timestamp> {
    let start = |date: Date| Some(date.to_zoned(zone.clone()).ok()?.timestamp());
    match bound {
        Bound::Since => start(first),
        Bound::Until => {
            let next = start(last.tomorrow().ok()?)?;
            next.checked_sub(Span::new().milliseconds(1)).ok()
        }
    }
}

/// `7d`, `2w`, `36h`, `90m`.
fn ago(text: &str) -> Option<Span> {
    let text = text.strip_suffix(" ago").unwrap_or(text).trim();
    let unit = text.chars().last()?;
    let count: i64 = text.strip_suffix(unit)?.parse().ok().filter(|n| *n >= 0)?;
    match unit {
        'm' => Span::new().try_minutes(count),
        'h' => Span::new().try_hours(count),
        'd' => Span::new().try_days(count),
        'w' => Span::new().try_weeks(count),
        _ => return None,
    }
    .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, bound: Bound) -> Result<String, NotAMoment> {
        let now: Moment = "2026-11-11T15:30:00Z".parse().unwrap();
        let zone = TimeZone::fixed(jiff::tz::offset(1));
        moment(text, bound, now, &zone).map(|m| m.to_string())
    }

    #[test]
    fn what_people_type() {
        use Bound::{Since, Until};
        for (text, bound, expected) in [
            ("2026-11-01", Since, "2026-10-31T23:00:00.000Z"),
            ("2026-11-01", Until, "2026-11-01T22:59:59.999Z"),
            ("2026-11-01T10:00", Since, "2026-11-01T09:00:00.000Z"),
            ("2026-11-01T10:00:00Z", Since, "2026-11-01T10:00:00.000Z"),
            ("7d", Since, "2026-11-04T15:30:00.000Z"),
            ("2w", Since, "2026-10-28T15:30:00.000Z"),
            ("36h", Since, "2026-11-10T03:30:00.000Z"),
            ("today", Since, "2026-11-10T23:00:00.000Z"),
            ("yesterday", Since, "2026-11-09T23:00:00.000Z"),
            ("yesterday", Until, "2026-11-10T22:59:59.999Z"),
            ("last week", Since, "2026-11-01T23:00:00.000Z"),
            ("last week", Until, "2026-11-08T22:59:59.999Z"),
            ("last month", Since, "2026-09-30T23:00:00.000Z"),
        ] {
            assert_eq!(at(text, bound).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_time() {
        for text in [
            "",
            "soon",
            "7",
            "d",
            "-3d",
            "2026-13-01",
            "99999999999999d",
            "é",
        ] {
            assert!(at(text, Bound::Since).is_err(), "{text}");
        }
    }
}
