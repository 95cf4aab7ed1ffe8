//! Moments in time, as conversations note them.

use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

use jiff::Timestamp;
use jiff::civil;
use jiff::tz::TimeZone;

/// A moment in milliseconds since 1970 in UTC: the precision that every agent writes.
///
/// The spelling of the source stays in its record; this is for sorting and showing.
///
/// ```
/// use rethread_model::Moment;
/// let m: Moment = "2025-02-14T11:30:00+01:00".parse().unwrap();
/// assert_eq!(m.to_string(), "2025-02-14T10:30:00.000Z");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(NonZeroU64);

/// What is added to the milliseconds, so that none is 0 and an `Option` of a moment takes no more
/// room than a moment.
const SHIFT: u64 = 1 << 63;

/// The text is no date and time that we can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotATime;

impl fmt::Display for NotATime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an ISO 8601 date and time")
    }
}

impl std::error::Error for NotATime {}

impl Moment {
    /// The start of 1970.
    pub const ZERO: Self = Self::new(0);

    const fn new(millis: i64) -> Self {
        match NonZeroU64::new(millis.cast_unsigned() ^ SHIFT) {
            Some(shifted) => Self(shifted),
            // Long before what a calendar can show.
            None => Self(NonZeroU64::MIN),
        }
    }

    /// The moment so many milliseconds after the start of 1970, if a calendar can show it.
    pub fn from_millis(millis: i64) -> Option<Self> {
        Timestamp::from_millisecond(millis)
            .ok()
            .map(|_| Self::new(millis))
    }

    /// Milliseconds since the start of 1970.
    pub fn millis(self) -> i64 {
        (self.0.get() ^ SHIFT).cast_signed()
    }

    /// The same moment for calculations with calendars and time zones.
    pub fn timestamp(self) -> Timestamp {
        Timestamp::from_millisecond(self.millis()).unwrap_or(Timestamp::UNIX_EPOCH)
    }

    /// Whether `text` is an ISO 8601 date and time in UTC, spelled as our formats demand: a `T`
    /// between date and time, and `Z` or a zero offset behind them.
    pub fn is_spelled_in_utc(text: &str) -> bool {
        let utc = text.ends_with('Z') || text.ends_with("+00:00");
        utc && text.as_bytes().get(10) == Some(&b'T') && text.parse::<Self>().is_ok()
    }

    /// The text if it is spelled in UTC, else the same moment so spelled; none if it is no moment.
    pub fn in_utc(text: &str) -> Option<String> {
        if Self::is_spelled_in_utc(text) {
            return Some(text.to_owned());
        }
        text.parse::<Self>().ok().map(|moment| moment.to_string())
    }
}

impl fmt::Debug for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Moment").field(&self.millis()).finish()
    }
}

impl From<Timestamp> for Moment {
    fn from(t: Timestamp) -> Self {
        Self::new(t.as_millisecond())
    }
}

/// A moment in the one spelling that nearly all have, `2025-02-14T10:30:00.000Z`: every record has
/// one, and reading it by all rules takes as long as all else that is read of a short record.
fn usual(text: &[u8]) -> Option<Moment> {
    let text: &[u8; 24] = text.try_into().ok()?;
    let marks = [4, 7, 10, 13, 16, 19, 23].map(|at| text[at]);
    if &marks != b"--T::.Z" {
        return None;
    }
    let number = |range: std::ops::Range<usize>| {
        text[range].iter().try_fold(0, |sum, digit| {
            let digit = digit.is_ascii_digit().then(|| i64::from(digit & 15))?;
            Some(sum * 10 + digit)
        })
    };
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute) = (number(11..13)?, number(14..16)?);
    let (second, milli) = (number(17..19)?, number(20..23)?);
    // Days that only some months have, and leap seconds, are for those who know all rules.
    let is_usual = (1970..9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=28).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    if !is_usual {
        return None;
    }
    // Years begin in March here, so that the day that some have more is their last.
    let (year, month) = if month < 3 {
        (year - 1, month + 9)
    } else {
        (year, month - 3)
    };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 1;
    let seconds = ((days - DAYS_TO_1970) * 24 + hour) * 3600 + minute * 60 + second;
    Some(Moment::new(seconds * 1000 + milli))
}

/// From the first of March of the year 0 to the start of 1970.
const DAYS_TO_1970: i64 = 719_468;

impl FromStr for Moment {
    type Err = NotATime;

    /// Reads what agents write: with or without fractions, with an offset, or (as UTC) without one.
    fn from_str(text: &str) -> Result<Self, NotATime> {
        let text = text.trim();
        if let Some(moment) = usual(text.as_bytes()) {
            return Ok(moment);
        }
        if let Ok(t) = text.parse::<Timestamp>() {
            return Ok(t.into());
        }
        // A plain date would be accepted by the calendar type, but it is no moment.
        if !text.contains(['T', 't', ' ']) {
            return Err(NotATime);
        }
        let local: civil::DateTime = text.parse().map_err(|_| NotATime)?;
        let zoned = local.to_zoned(TimeZone::UTC).map_err(|_| NotATime)?;
        Ok(zoned.timestamp().into())
    }
}

impl fmt::Display for Moment {
    /// `2025-02-14T10:30:00.000Z`, the spelling that we write everywhere.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let t = civil_utc(*self);
        write!(
            f,
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
            t.year(),
            t.month(),
            t.day(),
            t.hour(),
            t.minute(),
            t.second(),
            t.millisecond()
        )
    }
}

fn civil_utc(m: Moment) -> civil::DateTime {
    m.timestamp().to_zoned(TimeZone::UTC).datetime()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_moment() {
        let expected = Moment::from_millis(1_739_529_000_000).unwrap();
        for text in [
            "2025-02-14T10:30:00.000Z",
            "2025-02-14T10:30:00Z",
            "2025-02-14T11:30:00+01:00",
            "2025-02-14 10:30:00Z",
            "2025-02-14T10:30:00",
            " 2025-02-14T10:30:00.000000Z ",
        ] {
            assert_eq!(text.parse::<Moment>(), Ok(expected), "{text}");
        }
        assert_eq!(expected.to_string(), "2025-02-14T10:30:00.000Z");
    }

    #[test]
    fn moments_are_in_order_and_small() {
        let all = [-62_000_000_000_000, -1, 0, 1, 1_739_529_000_000].map(|millis| {
            let moment = Moment::from_millis(millis).unwrap();
            assert_eq!(moment.millis(), millis);
            moment
        });
        assert!(all.is_sorted());
        assert_eq!(size_of::<Option<Moment>>(), 8);
    }

    proptest::proptest! {
        /// The usual spelling is read by itself, to what the calendar makes of it.
        #[test]
        fn usual_moments(millis in 0_i64..253_000_000_000_000) {
            let text = Moment::from_millis(millis).unwrap().to_string();
            let found = usual(text.as_bytes()).map(Moment::millis);
            let rare = ["-29T", "-30T", "-31T"].iter().any(|day| text.contains(day));
            proptest::prop_assert_eq!(found, (!rare).then_some(millis), "{}", text);
        }
    }

    #[test]
    fn what_only_looks_usual() {
        for text in [
            "2025-02-30T00:00:00.000Z",
            "2025-00-01T00:00:00.000Z",
            "2025-01-00T00:00:00.000Z",
            "2025-01-01T24:00:00.000Z",
            "2025-01-01T00:60:00.000Z",
            "2025-01-01T00:00:0x.000Z",
        ] {
            assert_eq!(text.parse::<Moment>(), Err(NotATime), "{text}");
        }
    }

    #[test]
    fn what_is_no_moment() {
        for text in ["", "yesterday", "2025-02-14", "2025-13-01T00:00:00Z", "12"] {
            assert_eq!(text.parse::<Moment>(), Err(NotATime), "{text}");
        }
        assert_eq!(Moment::from_millis(i64::MAX), None);
    }

    #[test]
    fn utc_is_seen_in_the_spelling() {
        assert!(Moment::is_spelled_in_utc("2025-02-14T10:30:00Z"));
        assert!(Moment::is_spelled_in_utc("2025-02-14T10:30:00+00:00"));
        assert!(!Moment::is_spelled_in_utc("2025-02-14T10:30:00+01:00"));
        assert!(!Moment::is_spelled_in_utc("2025-02-14T10:30:00"));
        assert!(!Moment::is_spelled_in_utc("2025-02-14 10:30:00Z"));
        assert!(!Moment::is_spelled_in_utc(" 2025-02-14T10:30:00Z "));
        let utc = Moment::in_utc("2025-02-14T11:30:00+01:00");
        assert_eq!(utc.as_deref(), Some("2025-02-14T10:30:00.000Z"));
        assert_eq!(Moment::in_utc("soon"), None);
    }
}
