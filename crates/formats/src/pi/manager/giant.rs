//! What can be said in a few words of an entry that is too long to be held in memory.

use std::io::{self, Read};

use rethread_json::{Object, PullError};

use crate::kit::{HeadField, HeadOwner, HeadValue, head_fields};

/// The longest string that is one of the words.
const LONGEST: usize = 4096;

/// What says where an entry stands and who answered in it.
const OUTER: [&str; 7] = [
    "type",
    "id",
    "parentId",
    "timestamp",
    "firstKeptEntryId",
    "provider",
    "modelId",
];
const INNER: [&str; 4] = ["role", "api", "provider", "model"];

/// An object with the short strings that matter of a JSON object of any length, and of the message
/// in it; none if it is no JSON object. Memory does not follow its length.
pub(super) fn facts(reader: impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut outer = Object::new();
    let mut inner: Option<Object> = None;
    let whole = head_fields(reader, "message", LONGEST, |field| {
        let HeadField { owner, key, value } = field;
        match (owner, value) {
            (HeadOwner::Record, HeadValue::Object) if key == "message" => {
                inner.get_or_insert_with(Object::new);
            }
            (HeadOwner::Record, HeadValue::Text(text)) if OUTER.contains(&key) => {
                outer = std::mem::take(&mut outer).str(key, text);
            }
            (HeadOwner::Inner, HeadValue::Text(text)) if INNER.contains(&key) => {
                inner = Some(inner.take().unwrap_or_default().str(key, text));
            }
            _ => {}
        }
    });
    match whole {
        Ok(true) => {}
        Err(PullError::Io(e)) => return Err(e),
        Ok(false) | Err(PullError::Syntax { .. }) => return Ok(None),
    }
    let inner = inner.map(Object::finish);
    Ok(Some(outer.opt_raw("message", inner.as_deref()).finish()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_entry_is_told_by_its_short_strings() {
        let long = "x".repeat(LONGEST * 3);
        let entry = format!(
            r#"{{"type":"message","n":[{{"id":"no"}}],"message":{{"content":[{{"role":"no","text":"{long}"}}],"role":"assistant","{long}":"y","api":"a","usage":{{"provider":"no"}},"provider":"p","model":"m"}},"id":"e1","parentId":"e0"}}"#
        );
        let told = facts(entry.as_bytes()).unwrap().unwrap();
        assert_eq!(
            String::from_utf8(told).unwrap(),
            r#"{"type":"message","id":"e1","parentId":"e0","message":{"role":"assistant","api":"a","provider":"p","model":"m"}}"#
        );
        for no_object in ["[1]", "{\"id\":\"x\"", "{} {}", ""] {
            assert_eq!(facts(no_object.as_bytes()).unwrap(), None, "{no_object}");
        }
    }
}
