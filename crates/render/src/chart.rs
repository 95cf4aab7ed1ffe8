//! Numbers as lengths and shades, for terminals.

use std::collections::BTreeMap;

use jiff::ToSpan as _;
use jiff::civil::Date;

/// A bar of at most so many columns, in eighths of one; something that is not nothing has at least one
/// eighth.
///
/// ```
/// use rethread_render::draw_bar;
///
/// assert_eq!(draw_bar(8.0, 8.0, 4), "████");
/// assert_eq!(draw_bar(3.0, 8.0, 4), "█▌");
/// assert_eq!(draw_bar(0.001, 8.0, 4), "▏");
/// assert_eq!(draw_bar(0.0, 8.0, 4), "");
/// ```
pub fn draw_bar(value: f64, most: f64, columns: usize) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    if !(value > 0.0 && most > 0.0) {
        return String::new();
    }
    let eighths = eighths_of((value / most).min(1.0), columns).max(1);
    let part = PARTS.get(eighths % 8).copied().unwrap_or_default();
    format!("{}{part}", "█".repeat(eighths / 8))
}

/// A bar of exactly so many columns, of which a part is full: `███████░░░`.
///
/// ```
/// use rethread_render::draw_gauge;
///
/// assert_eq!(draw_gauge(0.71, 10), "███████░░░");
/// assert_eq!(draw_gauge(3.0, 4), "████");
/// ```
pub fn draw_gauge(part: f64, columns: usize) -> String {
    let full = (eighths_of(part.clamp(0.0, 1.0), columns) / 8).min(columns);
    format!("{}{}", "█".repeat(full), "░".repeat(columns - full))
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "the part is between 0 and 1, and terminals have few columns"
)]
fn eighths_of(part: f64, columns: usize) -> usize {
    (part * columns as f64 * 8.0).round() as usize
}

/// A calendar of days: a column a week, a row a weekday, each day as dark as its number is large.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DayCalendar {
    /// The names of months above the weeks that they begin in.
    pub months: String,
    /// The rows, from Monday to Sunday, with the names of some weekdays before them.
    pub rows: Vec<String>,
}

/// So many columns stand before the days.
const CALENDAR_MARGIN: usize = 4;

/// Draws the last weeks up to a day, as many as fit into so many columns, a year at most.
pub fn draw_calendar(days: &BTreeMap<Date, f64>, today: Date, columns: usize) -> DayCalendar {
    let weeks = (columns.saturating_sub(CALENDAR_MARGIN) / 2).min(53);
    let back = i64::from(today.weekday().to_monday_zero_offset());
    let this_monday = today.checked_sub(back.days());
    let first = this_monday.and_then(|monday| {
        let weeks = i64::try_from(weeks).unwrap_or(1);
        monday.checked_sub((weeks - 1).weeks())
    });
    let (Ok(first), true) = (first, weeks > 0) else {
        return DayCalendar::default();
    };
    let shown = days.range(first..=today).map(|(_, value)| *value);
    let most = shown.fold(0.0_f64, f64::max);
    let mut calendar = DayCalendar {
        months: " ".repeat(CALENDAR_MARGIN),
        rows: Vec::with_capacity(7),
    };
    for (row, name) in ["Mon", "", "Wed", "", "Fri", "", "Sun"].iter().enumerate() {
        let mut line = format!("{name:CALENDAR_MARGIN$}");
        for week in 0..weeks {
            let after = i64::try_from(week * 7 + row).unwrap_or_default();
            let Some(day) = first.checked_add(after.days()).ok().filter(|d| *d <= today) else {
                break;
            };
            line.push(shade_of(days.get(&day).copied().unwrap_or(0.0), most));
            line.push(' ');
        }
        calendar.rows.push(line.trim_end().to_owned());
    }
    let mut last = None;
    for week in 0..weeks {
        let after = i64::try_from(week).unwrap_or_default();
        let Ok(monday) = first.checked_add(after.weeks()) else {
            break;
        };
        let wide = calendar.months.chars().count();
        let at = CALENDAR_MARGIN + week * 2;
        if last.is_some_and(|month| month != monday.month()) && wide <= at {
            calendar.months.push_str(&" ".repeat(at - wide));
            calendar.months.push_str(&monday.strftime("%b").to_string());
            calendar.months.push(' ');
        }
        last = Some(monday.month());
    }
    calendar.months.truncate(calendar.months.trim_end().len());
    calendar
}

/// What a day is drawn as: one of four shades by its root, so that one large day does not hide all others.
fn shade_of(value: f64, most: f64) -> char {
    if !(value > 0.0 && most > 0.0) {
        return '·';
    }
    match (value / most).sqrt() {
        part if part < 0.25 => '░',
        part if part < 0.5 => '▒',
        part if part < 0.75 => '▓',
        _ => '█',
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn a_calendar_ends_with_today() {
        let days = [
            (date(2026, 11, 2), 1.0),
            (date(2026, 11, 11), 100.0),
            (date(2026, 11, 18), 30.0),
            (date(2026, 11, 19), 9999.0),
        ];
        let calendar = draw_calendar(&days.into(), date(2026, 11, 18), 12);
        assert_eq!(calendar.months, "      Nov");
        assert_eq!(
            calendar.rows,
            [
                "Mon · ░ · ·",
                "    · · · ·",
                "Wed · · █ ▓",
                "    · · ·",
                "Fri · · ·",
                "    · · ·",
                "Sun · · ·"
            ]
        );
        assert_eq!(
            draw_calendar(&days.into(), date(2026, 11, 18), 3).rows,
            [""; 0]
        );
    }
}
