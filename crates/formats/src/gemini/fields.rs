//! Fields of records, as the model wants them.

use rethread_json::{Passed, Skim, Strayed};
use rethread_model::{Moment, Usage};

/// Reads moments, most of which are soon after the one before.
#[derive(Debug, Default)]
pub(super) struct Times {
    /// How the last one was spelled up to its minute, and when that minute began.
    minute: Option<([u8; MINUTE], i64)>,
}

/// The length of a moment up to its minute, as the client spells it.
const MINUTE: usize = 17;

impl Times {
    /// The moment that a value spells.
    pub(super) fn read(&mut self, value: Passed<'_>) -> Option<Moment> {
        let spelled = value.content().and_then(|text| text.try_into().ok());
        match spelled.and_then(|spelled| self.of_client(spelled)) {
            Some(time) => Some(time),
            None => value.str()?.parse().ok(),
        }
    }

    /// A moment as the client spells it, `2026-01-02T03:04:05.678Z`; none for all others.
    fn of_client(&mut self, spelled: &[u8; 24]) -> Option<Moment> {
        let (minute, rest) = spelled.split_first_chunk::<MINUTE>()?;
        let rest: &[u8; 7] = rest.try_into().ok()?;
        let (b'.', b'Z') = (rest[2], rest[6]) else {
            return None;
        };
        let start = match self.minute {
            Some((known, start)) if known == *minute => start,
            _ => begin(minute)?,
        };
        self.minute = Some((*minute, start));
        let digits = [rest[0], rest[1], rest[3], rest[4], rest[5]];
        let add = |sum, digit: u8| sum * 10 + i64::from(digit & 0x0F);
        let millis = digits.into_iter().fold(0, add);
        // Leap seconds are for the calendar.
        let is_plain = digits.iter().all(u8::is_ascii_digit) && millis < 60_000;
        Moment::from_millis(start + millis).filter(|_| is_plain)
    }
}

/// When a minute began, `2026-01-02T03:04:`, in milliseconds.
fn begin(minute: &[u8; MINUTE]) -> Option<i64> {
    const SPELLING: &[u8; MINUTE] = b"0000-00-00T00:00:";
    let is_spelled = |(byte, as_in): (&u8, &u8)| match as_in {
        b'0' => byte.is_ascii_digit(),
        sign => byte == sign,
    };
    if !minute.iter().zip(SPELLING).all(is_spelled) {
        return None;
    }
    let digit = |at: usize| i64::from(minute[at] & 0x0F);
    let two = |at: usize| digit(at) * 10 + digit(at + 1);
    let (year, month, day) = (two(0) * 100 + two(2), two(5), two(8));
    let (hour, minute) = (two(11), two(14));
    // Days that every month has.
    if !(1..=12).contains(&month) || !(1..=28).contains(&day) || hour > 23 || minute > 59 {
        return None;
    }
    // Counted from March on, so that a leap day is the last of its year.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days = year * 365 + year.div_euclid(4) - year.div_euclid(100)
        + year.div_euclid(400)
        + (month * 153 + 2) / 5
        + day
        - 1
        - 719_468;
    Some((days * 86_400 + hour * 3_600 + minute * 60) * 1_000)
}

/// Tokens of a response. The client counts cached input inside of `input`, and thoughts and what
/// the vendor's own tools read beside input and output.
pub(super) fn usage(skim: &mut Skim<'_>) -> Result<Option<Usage>, Strayed> {
    if !skim.enter_object() {
        skim.pass()?;
        return Ok(None);
    }
    let [mut input, mut output, mut cached, mut thoughts, mut tool] = [0; 5];
    let mut total = None;
    while let Some(key) = skim.next_key()? {
        let count = skim.pass()?.u64();
        let slot = match &*key.bytes() {
            b"input" => &mut input,
            b"output" => &mut output,
            b"cached" => &mut cached,
            b"thoughts" => &mut thoughts,
            b"tool" => &mut tool,
            b"total" => {
                total = count;
                continue;
            }
            _ => continue,
        };
        *slot = count.unwrap_or(0);
    }
    Ok(Some(Usage {
        input: input.saturating_sub(cached).saturating_add(tool),
        cache_read: cached,
        output: output.saturating_add(thoughts),
        reasoning: thoughts,
        recorded_total: total,
        ..Usage::default()
    }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rethread_json::quote;

    use super::*;

    proptest! {
        #[test]
        fn times_are_those_of_the_calendar(
            texts in proptest::collection::vec(
                "(19|20)[0-9]{2}-(0[0-9]|1[0-3])-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9]\\.[0-9]{3}Z?",
                1..4,
            ),
        ) {
            let mut times = Times::default();
            // Each twice: the second is in a minute that is known.
            for text in texts.iter().flat_map(|text| [text, text]) {
                let json = quote(text);
                let value = Skim::checking(&json).pass().unwrap();
                prop_assert_eq!(times.read(value), text.parse().ok());
            }
        }
    }
}
