//! Named fields from the beginning of a record, without parsing all of it: of one that is too long to
//! be held, and of one that a list passes over.

use std::io::Read;

use memchr::memchr2;
use memchr::memmem::Finder;
use rethread_json::{Event, Pull, PullError};

/// A member of a record that is read from its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HeadField<'a> {
    /// The object that it stands in.
    pub(crate) owner: HeadOwner,
    /// Its key.
    pub(crate) key: &'a str,
    /// Its value.
    pub(crate) value: HeadValue<'a>,
}

/// The object that a member stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeadOwner {
    /// The record itself.
    Record,
    /// The one object inside the record whose members are given, too.
    Inner,
}

/// The value of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeadValue<'a> {
    /// A string, decoded.
    Text(&'a str),
    /// True or false.
    Bool(bool),
    /// A number or `null`.
    Other,
    /// An object.
    Object,
    /// An array.
    Array,
}

/// Gives the members of an object, and of the object `inner` in it, in their order and as far as the
/// bytes go; whether it is an object at all. A string of more than `longest` bytes is not given. An
/// error says that the bytes end, or are no JSON, before the object ends.
pub(crate) fn head_fields(
    record: impl Read,
    inner: &str,
    longest: usize,
    mut take: impl FnMut(HeadField<'_>),
) -> Result<bool, PullError> {
    let mut pull = Pull::new(record);
    let is_object = pull.next_event()? == Event::BeginObject;
    let (mut key, mut text) = (ShortWord::new(longest), ShortWord::new(longest));
    let mut in_inner = false;
    loop {
        let (value, is_nested) = match pull.next_event()? {
            Event::Key(chunk) => {
                let is_last = chunk.last;
                key.add(&chunk.bytes);
                let depth = pull.depth();
                if is_last && depth == 1 {
                    in_inner = key.get() == Some(inner);
                } else if is_last && !(in_inner && depth == 2) {
                    key.clear();
                }
                continue;
            }
            Event::String(chunk) => {
                let is_last = chunk.last;
                text.add(&chunk.bytes);
                if !is_last {
                    continue;
                }
                (text.get().map(HeadValue::Text), false)
            }
            Event::Bool(truth) => (Some(HeadValue::Bool(truth)), false),
            Event::Number(_) | Event::Null => (Some(HeadValue::Other), false),
            Event::BeginObject => (Some(HeadValue::Object), true),
            Event::BeginArray => (Some(HeadValue::Array), true),
            Event::EndObject | Event::EndArray => (None, false),
            Event::End => return Ok(is_object),
        };
        // What is nested is a level deeper than its key.
        let owner = match pull.depth() - usize::from(is_nested) {
            1 => Some(HeadOwner::Record),
            2 if in_inner => Some(HeadOwner::Inner),
            _ => None,
        };
        if let (Some(owner), Some(key), Some(value)) = (owner, key.get(), value)
            && !key.is_empty()
        {
            take(HeadField { owner, key, value });
        }
        key.clear();
        text.clear();
    }
}

/// A text of a record that is too long to be held, as far as its beginning tells.
pub(crate) fn head_text(start: &[u8], key: &str) -> Option<String> {
    let mut found = None;
    // That the bytes end before the record does is why only they are looked at.
    let _ = head_fields(start, "", usize::MAX, |field| {
        if let (HeadOwner::Record, HeadValue::Text(text)) = (field.owner, field.value)
            && field.key == key
        {
            found = Some(text.to_owned());
        }
    });
    found
}

/// A string as far as it is short enough.
struct ShortWord {
    bytes: Vec<u8>,
    longest: usize,
    is_long: bool,
}

impl ShortWord {
    fn new(longest: usize) -> Self {
        Self {
            bytes: Vec::new(),
            longest,
            is_long: false,
        }
    }

    fn add(&mut self, bytes: &[u8]) {
        self.is_long |= self.bytes.len() + bytes.len() > self.longest;
        if !self.is_long {
            self.bytes.extend_from_slice(bytes);
        }
    }

    fn get(&self) -> Option<&str> {
        let text = std::str::from_utf8(&self.bytes).ok();
        text.filter(|_| !self.is_long)
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.is_long = false;
    }
}

/// Cuts the first `look` bytes of a line before the first nested value: only plain members of the
/// outer object stand before it, so nothing inside of something looks like one of them.
pub(crate) fn plain_members(line: &[u8], look: usize) -> Option<(&[u8], &[u8])> {
    let start = line.get(..line.len().min(look))?;
    let nested = memchr2(b'{', b'[', start.get(1..)?)?;
    start.split_at_checked(nested + 1)
}

/// The string without escapes behind a key, spelled as in `"type":"`.
pub(crate) fn word_behind<'a>(key: &Finder<'_>, members: &'a [u8]) -> Option<&'a [u8]> {
    let value = members.get(key.find(members)? + key.needle().len()..)?;
    Some(plain_word(value)?.0)
}

/// The string without escapes that begins here, behind its opening quote; and what follows its closing
/// quote.
pub(crate) fn plain_word(rest: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = memchr2(b'"', b'\\', rest)?;
    if rest.get(end) != Some(&b'"') {
        return None;
    }
    Some((rest.get(..end)?, rest.get(end + 1..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(record: &str, longest: usize) -> (Vec<String>, Option<bool>) {
        let mut found = Vec::new();
        let whole = head_fields(record.as_bytes(), "message", longest, |field| {
            let HeadField { owner, key, value } = field;
            found.push(format!("{owner:?} {key}={value:?}"));
        });
        (found, whole.ok())
    }

    #[test]
    fn members_of_a_record_and_of_the_object_in_it() {
        let record = r#"{"id":"a","n":[{"id":"no"}],"message":{"role":"b","x":{"role":"no"},"ok":true},"p":null,"t":"cut"#;
        let (found, whole) = fields(record, usize::MAX);
        let expected = [
            r#"Record id=Text("a")"#,
            "Record n=Array",
            "Record message=Object",
            r#"Inner role=Text("b")"#,
            "Inner x=Object",
            "Inner ok=Bool(true)",
            "Record p=Other",
        ];
        assert_eq!(found, expected);
        assert_eq!(whole, None, "it does not end");
    }

    #[test]
    fn long_strings_and_what_is_no_object() {
        let (found, whole) = fields(r#"{"a":"12345","b":"1234","long key":1}"#, 4);
        assert_eq!(found, [r#"Record b=Text("1234")"#]);
        assert_eq!(whole, Some(true));
        assert_eq!(fields(r#"["a",{"b":1}]"#, 4).1, Some(false));
        assert_eq!(fields("{} {}", 4).1, None);
    }

    #[test]
    fn plain_beginnings_of_lines() {
        let line = br#"{"type":"user","id":"a\"b","message":{"id":"no"}}"#;
        let (plain, nested) = plain_members(line, 100).unwrap();
        assert_eq!(nested, br#"{"id":"no"}}"#);
        let behind = |key: &str| word_behind(&Finder::new(key), plain);
        assert_eq!(behind("\"type\":\""), Some(&b"user"[..]));
        assert_eq!(behind("\"id\":\""), None, "it has escapes");
        assert_eq!(behind("\"uuid\":\""), None);
        assert_eq!(plain_members(line, 20), None);
        assert_eq!(plain_members(b"", 20), None);
    }
}
