//! Reading numbers from their spelling, exactly or not at all.

/// The integer that a valid number spells, if it fits.
pub(crate) fn parse_i64(raw: &[u8]) -> Option<i64> {
    i64::try_from(parse_integer(raw)?).ok()
}

/// The integer that a valid number spells, if it fits.
pub(crate) fn parse_u64(raw: &[u8]) -> Option<u64> {
    u64::try_from(parse_integer(raw)?).ok()
}

/// The nearest finite number.
pub(crate) fn parse_f64(raw: &[u8]) -> Option<f64> {
    let number: f64 = std::str::from_utf8(raw).ok()?.parse().ok()?;
    number.is_finite().then_some(number)
}

/// More digits than any integer that we return has.
const MAX_DIGITS: usize = 20;

fn parse_integer(raw: &[u8]) -> Option<i128> {
    let (negative, digits) = match raw.strip_prefix(b"-") {
        Some(digits) => (true, digits),
        None => (false, raw),
    };
    let size = if digits.len() < MAX_DIGITS && digits.iter().all(u8::is_ascii_digit) {
        i128::from(digits.iter().fold(0_u64, |sum, digit| {
            sum.wrapping_mul(10).wrapping_add(u64::from(digit & 15))
        }))
    } else {
        parse_long_integer(digits)?
    };
    Some(if negative { -size } else { size })
}

/// An integer with a fraction or an exponent, or a long one.
fn parse_long_integer(digits: &[u8]) -> Option<i128> {
    let exponent_at = digits.iter().position(|b| matches!(b, b'e' | b'E'));
    let (mantissa, exponent) = match exponent_at {
        Some(at) => (&digits[..at], parse_exponent(&digits[at + 1..])),
        None => (digits, 0),
    };
    let point = mantissa.iter().position(|&b| b == b'.');
    let (whole, fraction) = match point {
        Some(at) => (&mantissa[..at], &mantissa[at + 1..]),
        None => (mantissa, &[][..]),
    };
    let all = || whole.iter().chain(fraction);
    let Some(first) = all().position(|&b| b != b'0') else {
        return Some(0);
    };
    let from_end = all().rev().position(|&b| b != b'0')?;
    let count = whole.len() + fraction.len() - from_end - first;
    // The last digit that is not zero stands for that power of ten.
    let power = exponent
        .checked_sub(i64::try_from(fraction.len()).ok()?)?
        .checked_add(i64::try_from(from_end).ok()?)?;
    let power = u32::try_from(power).ok()?;
    if count.checked_add(power as usize)? > MAX_DIGITS {
        return None;
    }
    Some(read_digits(all().skip(first).take(count)) * 10_i128.pow(power))
}

/// An exponent, as good as infinite when it is too long to matter.
fn parse_exponent(spelling: &[u8]) -> i64 {
    let (negative, digits) = match spelling {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] | digits => (false, digits),
    };
    let size = digits.iter().fold(0_i64, |sum, digit| {
        sum.saturating_mul(10).saturating_add(i64::from(digit & 15))
    });
    if negative { -size } else { size }
}

fn read_digits<'a>(digits: impl Iterator<Item = &'a u8>) -> i128 {
    digits.fold(0, |sum, digit| sum * 10 + i128::from(digit & 15))
}
