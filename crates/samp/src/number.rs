//! Numbers, as the document's own language spells them.

use rethread_json::{Kind, Value};

/// The moment that a number names: 0 for what is no integer, the nearest end for what is too far.
pub(crate) fn unix_seconds(ts: Value<'_>) -> i64 {
    let raw = ts.raw();
    if ts.kind() != Kind::Number {
        return 0;
    }
    if is_whole(raw) {
        return ts.i64().unwrap_or(if raw.starts_with(b"-") {
            i64::MIN
        } else {
            i64::MAX
        });
    }
    // Programs that write fractions of seconds mean these.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "a cast to an integer stops at its ends"
    )]
    ts.f64().map_or(0, |float| float.floor() as i64)
}

/// Whether a number is spelled as an integer.
pub(crate) fn is_whole(raw: &[u8]) -> bool {
    !raw.iter().any(|b| matches!(b, b'.' | b'e' | b'E'))
}

/// Numbers in Python's spelling; anything else as it is, for it has no canonical form.
pub(crate) fn write_as_python_does(out: &mut Vec<u8>, value: Value<'_>) {
    let raw = value.raw();
    if value.kind() != Kind::Number {
        out.extend_from_slice(raw);
    } else if raw == b"-0" {
        out.push(b'0');
    } else if is_whole(raw) {
        out.extend_from_slice(raw);
    } else {
        let float = std::str::from_utf8(raw).ok().and_then(|r| r.parse().ok());
        out.extend_from_slice(python_float(float.unwrap_or(0.0)).as_bytes());
    }
}

/// `repr` of a float: the shortest digits that name it, with an exponent where it is very large or
/// very small.
pub(crate) fn python_float(float: f64) -> String {
    if float.is_infinite() {
        let sign = if float < 0.0 { "-" } else { "" };
        return format!("{sign}Infinity");
    }
    let size = float.abs();
    if float == 0.0 || (1e-4..1e16).contains(&size) {
        let text = format!("{float}");
        return if text.contains('.') {
            text
        } else {
            text + ".0"
        };
    }
    let text = format!("{float:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    format!("{digits}e{sign}{exponent:0>2}")
}
