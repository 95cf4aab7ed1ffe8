//! Values of a source, spelled as they were.

use std::borrow::Cow;
use std::fmt;

use serde::Deserializer as _;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

use super::valid::validate_value;

/// Deeper values are not embedded: many readers of our output would refuse the whole line.
const DEPTH: u32 = 100;

/// A value as it can stand in one line of JSON: the same bytes, only without the white space
/// between values where that has line breaks, and with U+FFFD for what is not UTF-8. `None` for what
/// is not JSON or too deep.
pub(super) fn embeddable_value(bytes: &[u8]) -> Option<Cow<'_, str>> {
    let text = String::from_utf8_lossy(bytes);
    if validate_value(text.as_bytes(), DEPTH)?.breaks {
        return Some(Cow::Owned(without_space(&text)));
    }
    Some(text)
}

/// A value with one member a line, for people; the spelling of scalars and keys stays, and what is
/// not UTF-8 becomes U+FFFD. `None` for what is not JSON or too deep.
pub(crate) fn pretty_value(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    validate_value(text.as_bytes(), DEPTH)?;
    let compact = without_space(&text);
    let mut out = String::with_capacity(compact.len() * 2);
    let mut level = 0_usize;
    let mut opened = false;
    for (c, inside) in with_strings(&compact) {
        let closes = !inside && matches!(c, '}' | ']');
        if closes {
            level = level.saturating_sub(1);
        }
        if opened != closes {
            new_line(&mut out, level);
        }
        opened = !inside && matches!(c, '{' | '[');
        level += usize::from(opened);
        out.push(c);
        match c {
            ',' if !inside => new_line(&mut out, level),
            ':' if !inside => out.push(' '),
            _ => {}
        }
    }
    Some(out)
}

/// The members of an object, in order, with the spelling of their values. `None` for what is not an
/// object, or has keys that no text can hold.
pub(crate) fn raw_members(bytes: &[u8]) -> Option<Vec<(String, &RawValue)>> {
    struct MembersVisitor;
    impl<'de> Visitor<'de> for MembersVisitor {
        type Value = Vec<(String, &'de RawValue)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut all = Vec::new();
            while let Some(member) = map.next_entry()? {
                all.push(member);
            }
            Ok(all)
        }
    }
    let text = std::str::from_utf8(bytes).ok()?;
    let mut reader = serde_json::Deserializer::from_str(text);
    let all = reader.deserialize_map(MembersVisitor).ok()?;
    reader.end().ok()?;
    Some(all)
}

/// The text of a string value.
pub(crate) fn string_value(value: &RawValue) -> Option<String> {
    serde_json::from_str(value.get()).ok()
}

fn without_space(text: &str) -> String {
    with_strings(text)
        .filter(|(c, inside)| *inside || !matches!(c, ' ' | '\t' | '\n' | '\r'))
        .map(|(c, _)| c)
        .collect()
}

/// The characters of a valid JSON text, each with whether it belongs to a string.
fn with_strings(text: &str) -> impl Iterator<Item = (char, bool)> + '_ {
    let mut inside = false;
    let mut escaped = false;
    text.chars().map(move |c| {
        let was_inside = inside;
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = inside,
            '"' => inside = !inside,
            _ => {}
        }
        (c, was_inside || inside)
    })
}

fn new_line(out: &mut String, level: usize) {
    out.push('\n');
    for _ in 0..level {
        out.push_str("  ");
    }
}
