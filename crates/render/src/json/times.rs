//! Moments as text, many of the same day one after the other.

use rethread_model::Moment;

/// Milliseconds of a day.
const DAY: i64 = 24 * 60 * 60 * 1000;

/// Writes moments. The messages of a session are mostly of one day, so its date is worked out once.
#[derive(Default)]
pub(super) struct MomentWriter {
    /// The last day, counted from 1970, and how its moments begin.
    day: Option<(i64, String)>,
}

impl MomentWriter {
    /// Adds a moment as it is spelled everywhere.
    pub(super) fn write_moment(&mut self, out: &mut Vec<u8>, time: Moment) {
        let millis = time.millis();
        let (day, rest) = (millis.div_euclid(DAY), millis.rem_euclid(DAY));
        if self.day.as_ref().is_none_or(|(last, _)| *last != day) {
            let text = time.to_string();
            let date = text.split('T').next().unwrap_or_default();
            self.day = Some((day, format!("{date}T")));
        }
        if let Some((_, date)) = &self.day {
            out.extend_from_slice(date.as_bytes());
        }
        for (unit, digits, behind) in [
            (60 * 60 * 1000, 10, b':'),
            (60 * 1000, 10, b':'),
            (1000, 10, b'.'),
            (1, 100, b'Z'),
        ] {
            let mut number = if unit == 1 {
                rest % 1000
            } else {
                rest / unit % 60
            };
            let mut place = digits;
            while place > 0 {
                out.push(b'0' + u8::try_from(number / place).unwrap_or(0));
                number %= place;
                place /= 10;
            }
            out.push(behind);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rethread_model::Moment;

    use super::*;

    proptest! {
        #[test]
        fn moments_are_spelled_as_everywhere(
            all in prop::collection::vec((-3_000_i64..80_000, 0..DAY), 1..6)
        ) {
            let mut times = MomentWriter::default();
            for (day, rest) in all {
                let Some(time) = Moment::from_millis(day * DAY + rest) else { continue };
                let mut out = Vec::new();
                times.write_moment(&mut out, time);
                prop_assert_eq!(String::from_utf8(out).unwrap(), time.to_string());
            }
        }
    }
}
