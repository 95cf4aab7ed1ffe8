//! A row as one line of JSON and back: an object of its columns, with their names, values and types.
//!
//! Text that is a JSON object or array stands there as it is, so that what is inside can be reached;
//! any other text is a JSON string. Integers and reals are told apart by their spelling. What JSON
//! cannot hold, bytes and text that is not UTF-8, is an object with one member, `$blob` or `$text`,
//! in base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rethread_json::{Object, Skim, Tree, Value as Json, write_str};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Row, Statement};

use super::members::Members;

const BLOB: &str = "$blob";
const TEXT: &str = "$text";

/// The line of a row, with its line break.
pub(super) fn encode_row(row: &Row<'_>) -> rusqlite::Result<Vec<u8>> {
    let mut line = Vec::new();
    Columns::of(row.as_ref()).write(row, &mut line)?;
    Ok(line)
}

/// The columns of some rows.
pub(super) struct Columns {
    /// What stands before the value of each: a comma and its name.
    before: Vec<Vec<u8>>,
    id: Option<usize>,
    message: Option<usize>,
    time: Option<usize>,
    data: Option<usize>,
}

/// What is wanted of a row whose line was written.
#[derive(Default)]
pub(super) struct WrittenRow<'r> {
    pub(super) id: &'r str,
    /// The message that it belongs to.
    pub(super) message: &'r str,
    pub(super) time: Option<ValueRef<'r>>,
    /// What the column `data` holds, if that stands in the line as it is.
    pub(super) data: Option<Members<'r>>,
}

impl Columns {
    pub(super) fn of(rows: &Statement<'_>) -> Self {
        let before = rows.column_names().enumerate().map(|(at, name)| {
            let mut before = if at == 0 { Vec::new() } else { vec![b','] };
            write_str(&mut before, name);
            before.push(b':');
            before
        });
        let column = |wanted| rows.column_names().rposition(|name| name == wanted);
        Self {
            before: before.collect(),
            id: column("id"),
            message: column("message_id"),
            time: column("time_created"),
            data: column("data"),
        }
    }

    /// Adds the line of a row, with its line break.
    pub(super) fn write<'r>(
        &self,
        row: &'r Row<'_>,
        out: &mut Vec<u8>,
    ) -> rusqlite::Result<WrittenRow<'r>> {
        let mut written = WrittenRow::default();
        out.push(b'{');
        for (at, before) in self.before.iter().enumerate() {
            out.extend_from_slice(before);
            let found = row.get_ref(at)?;
            let structure = value(found, out);
            let at = Some(at);
            if self.data == at {
                written.data = structure;
            } else if self.id == at {
                written.id = found.as_str().unwrap_or_default();
            } else if self.message == at {
                written.message = found.as_str().unwrap_or_default();
            } else if self.time == at {
                written.time = Some(found);
            }
        }
        out.extend_from_slice(b"}\n");
        Ok(written)
    }
}

/// Adds a value. Gives the members of one that stands there as it is.
fn value<'r>(value: ValueRef<'r>, line: &mut Vec<u8>) -> Option<Members<'r>> {
    let packed = |key, bytes: &[u8]| Object::new().str(key, &STANDARD.encode(bytes)).finish();
    match value {
        ValueRef::Null => line.extend_from_slice(b"null"),
        ValueRef::Integer(n) => {
            line.extend_from_slice(itoa::Buffer::new().format(n).as_bytes());
        }
        // The shortest spelling that is read back as the same number, always with a point or an
        // exponent; beyond all numbers is infinity.
        ValueRef::Real(f64::INFINITY) => line.extend_from_slice(b"9e999"),
        ValueRef::Real(f64::NEG_INFINITY) => line.extend_from_slice(b"-9e999"),
        ValueRef::Real(n) => line.extend_from_slice(format!("{n:?}").as_bytes()),
        ValueRef::Blob(bytes) => line.extend_from_slice(&packed(BLOB, bytes)),
        ValueRef::Text(bytes) => {
            // Most are, and that is told sooner.
            let is_text = bytes.is_ascii() || std::str::from_utf8(bytes).is_ok();
            if let Some(structure) = structure(bytes).filter(|_| is_text) {
                line.extend_from_slice(bytes);
                return Some(structure);
            }
            match std::str::from_utf8(bytes) {
                Ok(text) => write_str(line, text),
                Err(_) => line.extend_from_slice(&packed(TEXT, bytes)),
            }
        }
    }
    None
}

/// Text that can stand as it is: exactly one object or array, and none of those that mean something
/// to us.
fn structure(text: &[u8]) -> Option<Members<'_>> {
    if !matches!(text.first(), Some(b'{' | b'[')) || !matches!(text.last(), Some(b'}' | b']')) {
        return None;
    }
    let mut skim = Skim::checking(text);
    let members = Members::next(&mut skim).ok()?;
    let means_something = [BLOB, TEXT].iter().any(|key| members.get(key).is_some());
    (skim.is_done() && !means_something).then_some(members)
}

/// The columns of a row, by name, in their order.
pub(super) type RowValues = Vec<(String, Value)>;

/// The columns of a line, by name. None if it is no line of ours.
pub(super) fn decode_row(line: &[u8]) -> Option<RowValues> {
    let tree = Tree::parse(line).ok()?;
    let root = tree.root(line);
    root.members()
        .map(|(name, value)| Some((name.str()?.into_owned(), column(value)?)))
        .collect()
}

fn column(value: Json<'_>) -> Option<Value> {
    let packed = |key| {
        let text = value.get(key)?.str()?;
        STANDARD.decode(text.as_bytes()).ok()
    };
    if value.is_null() {
        return Some(Value::Null);
    }
    if let Some(text) = value.str() {
        return Some(Value::Text(text.into_owned()));
    }
    if value.is_object() || value.is_array() {
        if let Some(blob) = packed(BLOB) {
            return Some(Value::Blob(blob));
        }
        // Text that is not UTF-8 has no form that could be bound; it goes as bytes.
        if let Some(text) = packed(TEXT) {
            return Some(Value::Blob(text));
        }
        return String::from_utf8(value.raw().to_vec())
            .ok()
            .map(Value::Text);
    }
    let spelled = std::str::from_utf8(value.raw()).ok()?;
    if spelled.contains(['.', 'e', 'E']) {
        return spelled.parse().ok().map(Value::Real);
    }
    spelled.parse().ok().map(Value::Integer)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rusqlite::Connection;

    use super::*;

    fn back(value: &Value) -> Value {
        let db = Connection::open_in_memory().unwrap();
        let line = db.query_row("SELECT ?1 AS x", [value], encode_row).unwrap();
        let mut columns = decode_row(&line).unwrap();
        assert_eq!(columns.len(), 1);
        columns.remove(0).1
    }

    #[test]
    fn texts_that_look_like_something_else() {
        for text in [
            "",
            "null",
            "12",
            "{}",
            "{\"a\": [1e5, -0]}",
            "{\"$blob\":\"AA==\"}",
            " {}",
            "{} ",
            "[",
            "{\"a\":1}{\"b\":2}",
            "\u{0}\n",
        ] {
            let value = Value::Text(text.to_owned());
            assert_eq!(back(&value), value, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn every_value_comes_back(
            value in prop_oneof![
                Just(Value::Null),
                any::<i64>().prop_map(Value::Integer),
                any::<f64>().prop_filter("no number", |n| !n.is_nan()).prop_map(Value::Real),
                ".*".prop_map(Value::Text),
                any::<Vec<u8>>().prop_map(Value::Blob),
            ]
        ) {
            prop_assert_eq!(back(&value), value);
        }
    }
}
