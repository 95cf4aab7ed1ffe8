//! One line of a log, as somebody wrote it.

use std::borrow::Cow;

use rethread_json::{SyntaxError, Tree, Value, write_str};

use crate::{id::Id, number, thread::to_nfc};

/// Reads lines. Its memory is used again from one line to the next.
///
/// ```
/// use rethread_samp::{LineReader, StoredId};
///
/// let mut reader = LineReader::default();
/// let line = br#"{"ts":1700000000,"from":"alice","to":"bob","thread":"t-1","body":"hell\u006f"}"#;
/// let record = reader.read(line)?;
/// assert_eq!(record.id().to_string(), "265340b752c60544");
/// assert_eq!(record.stored_id(), StoredId::Missing);
/// assert_eq!(record.body(), "hello");
/// # Ok::<(), rethread_samp::Unreadable>(())
/// ```
#[derive(Debug, Default)]
pub struct LineReader {
    tree: Tree,
}

/// Why a line is no record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unreadable {
    /// It is no JSON.
    #[error("not JSON: {0}")]
    Json(#[from] SyntaxError),
    /// It is JSON, but no object.
    #[error("not an object")]
    NotAnObject,
}

/// What a record says of its own id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredId {
    /// Nothing, as records of old do.
    Missing,
    /// The id that follows from its content.
    Right,
    /// Something else.
    Wrong(String),
}

/// A record: a view of one line, whose bytes stay as they are.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    line: &'a [u8],
    fields: [Option<Value<'a>>; KEYS.len()],
    has_more: bool,
}

/// What the document knows, in the order of the canonical form; `id` is not part of that.
const KEYS: [&str; 6] = ["body", "from", "thread", "to", "ts", "id"];
const BODY: usize = 0;
const FROM: usize = 1;
const THREAD: usize = 2;
const TO: usize = 3;
const TS: usize = 4;
const ID: usize = 5;

impl LineReader {
    /// Reads one line, without its line break.
    pub fn read<'a>(&'a mut self, line: &'a [u8]) -> Result<Record<'a>, Unreadable> {
        self.tree.parse_into(line)?;
        let root = self.tree.root(line);
        if !root.is_object() {
            return Err(Unreadable::NotAnObject);
        }
        let mut record = Record {
            line,
            fields: [None; KEYS.len()],
            has_more: false,
        };
        for (key, value) in root.members() {
            // Of several members with one name the last counts, as for every common reader.
            match field_index(key) {
                Some(at) => record.fields[at] = Some(value),
                None => record.has_more = true,
            }
        }
        Ok(record)
    }
}

/// Which of the known keys this is.
fn field_index(key: Value<'_>) -> Option<usize> {
    match key.content()? {
        b"body" => Some(BODY),
        b"from" => Some(FROM),
        b"thread" => Some(THREAD),
        b"to" => Some(TO),
        b"ts" => Some(TS),
        b"id" => Some(ID),
        // Keys can be spelled with escapes, too.
        other if other.contains(&b'\\') => KEYS.iter().position(|name| key.is_str(name)),
        _ => None,
    }
}

impl<'a> Record<'a> {
    /// The bytes of the line.
    pub fn raw(&self) -> &'a [u8] {
        self.line
    }

    /// Who wrote it, if it says so in a string.
    pub fn from(&self) -> Option<Cow<'a, str>> {
        self.fields[FROM].and_then(Value::str)
    }

    /// Whom it is for, if it says so in a string.
    pub fn to(&self) -> Option<Cow<'a, str>> {
        self.fields[TO].and_then(Value::str)
    }

    /// Whether it is for this one.
    pub fn is_to(&self, alias: &str) -> bool {
        self.fields[TO].is_some_and(|to| to.is_str(alias))
    }

    /// Whether it is from this one.
    pub fn is_from(&self, alias: &str) -> bool {
        self.fields[FROM].is_some_and(|from| from.is_str(alias))
    }

    /// Its thread, if it says so in a string.
    pub fn thread(&self) -> Option<Cow<'a, str>> {
        self.fields[THREAD].and_then(Value::str)
    }

    /// What it says; what is no string, as it is spelled; nothing where there is nothing.
    pub fn body(&self) -> Cow<'a, str> {
        match self.fields[BODY] {
            None => Cow::Borrowed(""),
            Some(body) => body
                .str()
                .unwrap_or_else(|| String::from_utf8_lossy(body.raw())),
        }
    }

    /// When it was written, in seconds since 1970; 0 if it does not say so in an integer, and the
    /// last moment there is if it is later than that.
    pub fn ts(&self) -> i64 {
        self.fields[TS].map_or(0, number::unix_seconds)
    }

    /// The bytes of one field, if the record has it: `ts`, `from`, `to`, `thread`, `body` or `id`.
    pub fn field(&self, key: &str) -> Option<Value<'a>> {
        let at = KEYS.iter().position(|name| *name == key)?;
        self.fields[at]
    }

    /// Whether it has members of which the document does not speak.
    pub fn has_more(&self) -> bool {
        self.has_more
    }

    /// Whether all its texts can be had: none holds half a character, which no id can be made of.
    pub fn is_text(&self) -> bool {
        let lossy = |value: Value<'_>| value.text().is_some_and(|text| text.lossy);
        !self.fields.iter().flatten().any(|value| lossy(*value))
    }

    /// The id that follows from what it says.
    pub fn id(&self) -> Id {
        Id::of_canonical(&self.canonical())
    }

    /// What it says of its own id.
    pub fn stored_id(&self) -> StoredId {
        self.stored_id_beside(self.id())
    }

    /// [`Record::stored_id`], for who has worked out the id already.
    pub(crate) fn stored_id_beside(&self, id: Id) -> StoredId {
        let Some(stored) = self.fields[ID].filter(|stored| !stored.is_null()) else {
            return StoredId::Missing;
        };
        match stored.str() {
            Some(text) if text.is_empty() => StoredId::Missing,
            Some(text) if text.parse() == Ok(id) => StoredId::Right,
            Some(text) => StoredId::Wrong(text.into_owned()),
            None => StoredId::Wrong(String::from_utf8_lossy(stored.raw()).into_owned()),
        }
    }

    /// The form of which the id is the hash: members in the order of their names, no space, raw
    /// UTF-8. A member that is missing is left out.
    pub fn canonical(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.line.len() + 16);
        for (at, key) in KEYS.iter().enumerate().take(ID) {
            let Some(value) = self.fields[at] else {
                continue;
            };
            out.push(if out.is_empty() { b'{' } else { b',' });
            out.push(b'"');
            out.extend_from_slice(key.as_bytes());
            out.extend_from_slice(b"\":");
            write_canonical(&mut out, value, at == BODY);
        }
        if out.is_empty() {
            out.push(b'{');
        }
        out.push(b'}');
        out
    }
}

fn write_canonical(out: &mut Vec<u8>, value: Value<'_>, is_body: bool) {
    // ASCII without an escape is its own canonical form.
    if let Some(content) = value.content()
        && content.is_ascii()
        && !content.contains(&b'\\')
    {
        out.extend_from_slice(value.raw());
        return;
    }
    match value.str() {
        Some(text) if is_body => write_str(out, &to_nfc(&text)),
        Some(text) => write_str(out, &text),
        None => number::write_as_python_does(out, value),
    }
}
