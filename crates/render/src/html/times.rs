//! Times as a page tells them: in UTC, because nobody knows where it is read.

use jiff::Zoned;
use rethread_model::Moment;

fn in_utc(time: Moment) -> Zoned {
    time.timestamp().to_zoned(jiff::tz::TimeZone::UTC)
}

/// `10:30`
pub(super) fn clock_time(time: Moment) -> String {
    in_utc(time).strftime("%H:%M").to_string()
}

/// `Friday, 14 February 2025`
pub(super) fn long_day(time: Moment) -> String {
    in_utc(time).strftime("%A, %-d %B %Y").to_string()
}

/// `14 February 2025, 10:30:00 UTC`
pub(super) fn long_moment(time: Moment) -> String {
    in_utc(time).strftime("%-d %B %Y, %H:%M:%S UTC").to_string()
}

/// `14 Feb 2025, 10:30 – 11:02`, `14 Feb 2025, 23:50 – 15 Feb 2025, 00:10`
pub(super) fn from_to(start: Option<Moment>, end: Option<Moment>) -> Option<String> {
    let start = start.or(end)?;
    let end = end.unwrap_or(start);
    let (first, last) = (in_utc(start), in_utc(end));
    let whole = "%-d %b %Y, %H:%M";
    let begin = first.strftime(whole).to_string();
    let end = if first.date() != last.date() {
        last.strftime(whole).to_string()
    } else if clock_time(start) == clock_time(end) {
        return Some(begin);
    } else {
        clock_time(end)
    };
    Some(format!("{begin} – {end}"))
}

#[cfg(test)]
mod tests {
    use super::from_to;

    #[test]
    fn a_span_says_no_day_twice() {
        let at = |text: &str| text.parse().ok();
        for (start, end, said) in [
            (
                "2025-02-14T10:30:00Z",
                "2025-02-14T11:02:00Z",
                "14 Feb 2025, 10:30 – 11:02",
            ),
            (
                "2025-02-14T10:30:00Z",
                "2025-02-14T10:30:59Z",
                "14 Feb 2025, 10:30",
            ),
            (
                "2025-02-14T23:50:00Z",
                "2025-02-15T00:10:00Z",
                "14 Feb 2025, 23:50 – 15 Feb 2025, 00:10",
            ),
            ("", "2025-02-15T00:10:00Z", "15 Feb 2025, 00:10"),
        ] {
            assert_eq!(from_to(at(start), at(end)).as_deref(), Some(said));
        }
        assert_eq!(from_to(None, None), None);
    }
}
