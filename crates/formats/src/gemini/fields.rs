//! Fields of records, as the model wants them.

use rethread_json::{Passed, Skim, Strayed};
use rethread_model::{Moment, Usage};

/// The moment that a value spells.
pub(super) fn time(value: Passed<'_>) -> Option<Moment> {
    let spelled = value.content().and_then(<[u8]>::first_chunk);
    let as_client = || spelled.filter(|s: &&[u8; 24]| s.len() + 2 == value.raw().len());
    match as_client().and_then(client_time) {
        Some(time) => Some(time),
        None => value.str()?.parse().ok(),
    }
}

/// A moment as the client spells it, `2026-01-02T03:04:05.678Z`; none for all others.
fn client_time(spelled: &[u8; 24]) -> Option<Moment> {
    let number = |from: usize, len: usize| {
        let digits = spelled.get(from..from + len)?;
        digits.iter().try_fold(0_i64, |sum, digit| {
            let digit = digit.checked_sub(b'0').filter(|d| *d < 10)?;
            Some(sum * 10 + i64::from(digit))
        })
    };
    let signs = [
        (4, b'-'),
        (7, b'-'),
        (10, b'T'),
        (13, b':'),
        (16, b':'),
        (19, b'.'),
        (23, b'Z'),
    ];
    if signs.iter().any(|(at, sign)| spelled[*at] != *sign) {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 2)?, number(8, 2)?);
    let (hour, minute, second) = (number(11, 2)?, number(14, 2)?, number(17, 2)?);
    // Days that every month has, and no leap seconds: those are for the calendar.
    if !(1..=12).contains(&month)
        || !(1..=28).contains(&day)
        || hour > 23
        || minute > 59
        || second > 59
    {
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
    Moment::from_millis(seconds * 1_000 + number(20, 3)?)
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
            text in "[0-9]{4}-(0[0-9]|1[0-3])-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9]\\.[0-9]{3}Z?",
        ) {
            let json = quote(&text);
            let value = Skim::checking(&json).pass().unwrap();
            prop_assert_eq!(time(value), text.parse().ok());
        }
    }
}
