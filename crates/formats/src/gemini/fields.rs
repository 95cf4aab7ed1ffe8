//! Fields of records, as the model wants them.

use rethread_json::{Passed, Skim, Strayed};
use rethread_model::{Moment, Usage};

/// The moment that a value spells.
pub(super) fn time(value: Passed<'_>) -> Option<Moment> {
    let spelled: Option<&[u8; SPELLING.len()]> =
        value.content().and_then(|text| text.try_into().ok());
    match spelled.and_then(of_client) {
        Some(time) => Some(time),
        None => value.str()?.parse().ok(),
    }
}

/// How the client spells a moment.
const SPELLING: [u8; 24] = *b"0000-00-00T00:00:00.000Z";

/// What the high bit of each byte becomes when this is added to it, if the byte is less than 128:
/// set, unless it is a digit where there should be one, and zero elsewhere.
const DIGITS: [u8; SPELLING.len()] = {
    let mut digits = [0x7F; SPELLING.len()];
    let mut at = 0;
    while at < SPELLING.len() {
        if SPELLING[at] == b'0' {
            digits[at] = 0x76;
        }
        at += 1;
    }
    digits
};

/// A moment as the client spells it; none for others, and for those that are none. The calendar
/// would say the same, but takes many times as long.
fn of_client(spelled: &[u8; SPELLING.len()]) -> Option<Moment> {
    let words = |bytes: &[u8; SPELLING.len()]| {
        let (words, _) = bytes.as_chunks::<8>();
        [0, 1, 2].map(|word| u64::from_le_bytes(words[word]))
    };
    let [signs, digits] = [words(&SPELLING), words(&DIGITS)];
    let mut found = words(spelled);
    let mut wrong = 0;
    for at in 0..found.len() {
        found[at] ^= signs[at];
        wrong |= found[at] | found[at].wrapping_add(digits[at]);
    }
    if wrong & 0x8080_8080_8080_8080 != 0 {
        return None;
    }
    let digit = |at: usize| i64::from(spelled[at] & 0x0F);
    let two = |at: usize| digit(at) * 10 + digit(at + 1);
    let (year, month, day) = (two(0) * 100 + two(2), two(5), two(8));
    let (hour, minute, second) = (two(11), two(14), two(17));
    let milli = two(20) * 10 + digit(22);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    // Leap seconds are for the calendar.
    let is_time = hour < 24 && minute < 60 && second < 60;
    let is_date = (1..=12).contains(&month) && (1..=last).contains(&day);
    if !is_date || !is_time {
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
    let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second;
    Moment::from_millis(seconds * 1_000 + milli)
}

/// Tokens of a response. The client counts cached input inside of `input`, and thoughts and what
/// the vendor's own tools read beside input and output.
pub(super) fn read_usage(skim: &mut Skim<'_>) -> Result<Option<Usage>, Strayed> {
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
            text in "(00|19|20)[0-9]{2}-(0[0-9]|1[0-3])-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9]\\.[0-9]{3}Z?",
        ) {
            let json = quote(&text);
            let value = Skim::checking(&json).pass().unwrap();
            prop_assert_eq!(time(value), text.parse().ok());
        }
    }
}
