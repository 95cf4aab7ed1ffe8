//! Moments as people type them: `2026-11-01`, `2026-11-01T10:00`, `7d`, `yesterday`, `monday`,
//! `november`, `last week`.

use jiff::civil::{Date, DateTime, Weekday};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned};
use rethread_model::Moment;

/// Which end of a day, a week or a month is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Its first moment.
    Since,
    /// Its last moment.
    Until,
}

/// The text is no moment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no time: try `2026-11-01`, `2026-11-01T10:00`, `7d`, `yesterday`, `monday`, `november` or `last week`"
)]
pub struct NotAMoment(pub String);

/// Reads a moment, with `now` and the user's time zone for what is relative.
pub fn parse_moment(
    text: &str,
    bound: Bound,
    now: Moment,
    zone: &TimeZone,
) -> Result<Moment, NotAMoment> {
    let now = now.timestamp().to_zoned(zone.clone());
    parse_timestamp(text.trim(), bound, &now)
        .map(Moment::from)
        .ok_or_else(|| NotAMoment(text.to_owned()))
}

fn parse_timestamp(text: &str, bound: Bound, now: &Zoned) -> Option<Timestamp> {
    let words = text.to_lowercase();
    if words == "now" {
        return Some(now.timestamp());
    }
    if let Some(days) = named_days(&words, now.date()) {
        return range_edge(days, bound, now.time_zone());
    }
    if let Some(span) = parse_ago(&words) {
        return Some(now.checked_sub(span).ok()?.timestamp());
    }
    if let Ok(timestamp) = text.parse::<Timestamp>() {
        return Some(timestamp);
    }
    if text.contains(['T', 't', ' '])
        && let Ok(local) = text.parse::<DateTime>()
    {
        return Some(local.to_zoned(now.time_zone().clone()).ok()?.timestamp());
    }
    let date: Date = text.parse().ok()?;
    range_edge(DayRange::one_day(date), bound, now.time_zone())
}

/// Some days in a row.
#[derive(Clone, Copy)]
struct DayRange {
    first: Date,
    last: Date,
}

impl DayRange {
    fn one_day(date: Date) -> Self {
        Self {
            first: date,
            last: date,
        }
    }

    fn week_from(first: Date) -> Option<Self> {
        let last = first.checked_add(Span::new().days(6)).ok()?;
        Some(Self { first, last })
    }

    fn month_of(date: Date) -> Self {
        Self {
            first: date.first_of_month(),
            last: date.last_of_month(),
        }
    }

    fn whole_year(year: i16) -> Option<Self> {
        Some(Self {
            first: Date::new(year, 1, 1).ok()?,
            last: Date::new(year, 12, 31).ok()?,
        })
    }
}

/// Days that have a name: `yesterday`, `monday`, `last week`, `november`, `november 2025`, `2025`. A
/// weekday or a month alone is the last one that has begun; with `last`, the last one that is over.
fn named_days(words: &str, today: Date) -> Option<DayRange> {
    let mut words = words.split_whitespace();
    let (first, second) = (words.next()?, words.next());
    if words.next().is_some() {
        return None;
    }
    match (first, second) {
        ("today", None) => Some(DayRange::one_day(today)),
        ("yesterday", None) => Some(DayRange::one_day(today.yesterday().ok()?)),
        ("this" | "last", Some(name)) => relative_days(first == "last", name, today),
        (name, None) => {
            if let Some(weekday) = parse_weekday(name) {
                return weekday_before(today, weekday, 0).map(DayRange::one_day);
            }
            if let Some(month) = parse_month(name) {
                let is_over_or_now = month <= today.month();
                let year = today.year() - i16::from(!is_over_or_now);
                return Some(DayRange::month_of(Date::new(year, month, 1).ok()?));
            }
            numbered_days(name)
        }
        (name, Some(year)) => {
            let year = plain_year(year)?;
            Some(DayRange::month_of(
                Date::new(year, parse_month(name)?, 1).ok()?,
            ))
        }
    }
}

/// What follows `this` or `last`.
fn relative_days(is_last: bool, name: &str, today: Date) -> Option<DayRange> {
    let back = i64::from(is_last);
    match name {
        "week" => {
            let monday = weekday_before(today, Weekday::Monday, 0)?;
            DayRange::week_from(monday.checked_sub(Span::new().weeks(back)).ok()?)
        }
        "month" => {
            let first = today.first_of_month();
            let first = first.checked_sub(Span::new().months(back)).ok()?;
            Some(DayRange::month_of(first))
        }
        "year" => DayRange::whole_year(today.year() - i16::from(is_last)),
        _ => {
            if let Some(weekday) = parse_weekday(name) {
                return weekday_before(today, weekday, back).map(DayRange::one_day);
            }
            let month = parse_month(name)?;
            let is_over = month < today.month() || month == today.month() && !is_last;
            let year = today.year() - i16::from(!is_over);
            Some(DayRange::month_of(Date::new(year, month, 1).ok()?))
        }
    }
}

/// `2025-11` and `2025`.
fn numbered_days(text: &str) -> Option<DayRange> {
    match text.split_once('-') {
        None => DayRange::whole_year(plain_year(text)?),
        Some((year, month)) if month.len() == 2 => {
            let first = Date::new(plain_year(year)?, month.parse().ok()?, 1).ok()?;
            Some(DayRange::month_of(first))
        }
        Some(_) => None,
    }
}

fn plain_year(text: &str) -> Option<i16> {
    let is_plain = text.len() == 4 && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|year| is_plain && *year >= 1970)
}

/// The last such weekday that is at least so many days before today.
fn weekday_before(today: Date, weekday: Weekday, least: i64) -> Option<Date> {
    let back = i64::from(today.weekday().since(weekday));
    let back = if back < least { back + 7 } else { back };
    today.checked_sub(Span::new().days(back)).ok()
}

/// The number of a name among names of which three letters are enough.
fn by_beginning(name: &str, names: &[&str]) -> Option<usize> {
    let is_long_enough = name.len() >= 3;
    let place = names.iter().position(|whole| whole.starts_with(name))?;
    is_long_enough.then_some(place)
}

fn parse_weekday(name: &str) -> Option<Weekday> {
    const NAMES: [&str; 7] = [
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
    ];
    let offset = i8::try_from(by_beginning(name, &NAMES)?).ok()?;
    Weekday::from_monday_zero_offset(offset).ok()
}

fn parse_month(name: &str) -> Option<i8> {
    const NAMES: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    i8::try_from(by_beginning(name, &NAMES)? + 1).ok()
}

/// The first moment of the first day, or the last moment of the last.
fn range_edge(days: DayRange, bound: Bound, zone: &TimeZone) -> Option<Timestamp> {
    let start = |date: Date| Some(date.to_zoned(zone.clone()).ok()?.timestamp());
    match bound {
        Bound::Since => start(days.first),
        Bound::Until => {
            let next = start(days.last.tomorrow().ok()?)?;
            next.checked_sub(Span::new().milliseconds(1)).ok()
        }
    }
}

/// `7d`, `2w`, `36h`, `90m`, `3 days ago`.
fn parse_ago(text: &str) -> Option<Span> {
    let text = text.strip_suffix(" ago").unwrap_or(text).trim();
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (count, unit) = text.split_at_checked(digits)?;
    let count: i64 = count.parse().ok()?;
    let unit = unit.trim();
    match unit.strip_suffix('s').unwrap_or(unit) {
        "m" | "min" | "minute" => Span::new().try_minutes(count),
        "h" | "hour" => Span::new().try_hours(count),
        "d" | "day" => Span::new().try_days(count),
        "w" | "week" => Span::new().try_weeks(count),
        "month" => Span::new().try_months(count),
        "y" | "year" => Span::new().try_years(count),
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
        parse_moment(text, bound, now, &zone).map(|m| m.to_string())
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
            ("last month", Until, "2026-10-31T22:59:59.999Z"),
            ("this month", Since, "2026-10-31T23:00:00.000Z"),
            // The eleventh is a Wednesday.
            ("monday", Since, "2026-11-08T23:00:00.000Z"),
            ("Mon", Until, "2026-11-09T22:59:59.999Z"),
            ("wednesday", Since, "2026-11-10T23:00:00.000Z"),
            ("last wednesday", Since, "2026-11-03T23:00:00.000Z"),
            ("thursday", Since, "2026-11-04T23:00:00.000Z"),
            ("last monday", Since, "2026-11-08T23:00:00.000Z"),
            ("november", Since, "2026-10-31T23:00:00.000Z"),
            ("november", Until, "2026-11-30T22:59:59.999Z"),
            ("last november", Since, "2025-10-31T23:00:00.000Z"),
            ("dec", Since, "2025-11-30T23:00:00.000Z"),
            ("february", Until, "2026-02-28T22:59:59.999Z"),
            ("feb 2024", Until, "2024-02-29T22:59:59.999Z"),
            ("2025-03", Since, "2025-02-28T23:00:00.000Z"),
            ("2025", Until, "2025-12-31T22:59:59.999Z"),
            ("last year", Since, "2024-12-31T23:00:00.000Z"),
            ("3 days ago", Since, "2026-11-08T15:30:00.000Z"),
            ("1 hour", Since, "2026-11-11T14:30:00.000Z"),
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
            "mo",
            "last",
            "last last week",
            "november 20",
            "next week",
            "2025-1",
            "0001",
            "3 fortnights",
        ] {
            assert!(at(text, Bound::Since).is_err(), "{text}");
        }
    }
}
