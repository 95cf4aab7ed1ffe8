//! What can be said in a few words of an entry that is too long to be held in memory.

use std::io::{self, Read};

use rethread_json::{Event, Object, Pull, PullError};

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
    match told(reader) {
        Ok(told) => Ok(told),
        Err(PullError::Io(e)) => Err(e),
        Err(_) => Ok(None),
    }
}

fn told(reader: impl Read) -> Result<Option<Vec<u8>>, PullError> {
    let mut pull = Pull::new(reader);
    if pull.next_event()? != Event::BeginObject {
        return Ok(None);
    }
    let mut outer = Object::new();
    let mut inner: Option<Object> = None;
    // The last key at each of the two depths.
    let (mut key, mut value) = (Word::default(), Word::default());
    let mut in_message = false;
    loop {
        match pull.next_event()? {
            Event::Key(chunk) => {
                let last = chunk.last;
                key.add(&chunk.bytes);
                if last && pull.depth() == 1 {
                    in_message = key.is("message");
                }
                if last && pull.depth() > 2 {
                    key.clear();
                }
            }
            Event::String(chunk) => {
                let last = chunk.last;
                value.add(&chunk.bytes);
                if !last {
                    continue;
                }
                let depth = pull.depth();
                if let (Some(key), Some(value)) = (key.text(), value.text()) {
                    if depth == 1 && OUTER.contains(&key) {
                        outer = outer.str(key, value);
                    } else if depth == 2 && in_message && INNER.contains(&key) {
                        let message = inner.take().unwrap_or_default();
                        inner = Some(message.str(key, value));
                    }
                }
                key.clear();
                value.clear();
            }
            Event::End => break,
            Event::BeginObject => {
                if in_message && pull.depth() == 2 {
                    inner.get_or_insert_with(Object::new);
                }
                key.clear();
            }
            _ => key.clear(),
        }
    }
    let inner = inner.map(Object::finish);
    Ok(Some(outer.opt_raw("message", inner.as_deref()).finish()))
}

/// A string as far as it is short.
#[derive(Default)]
struct Word {
    bytes: Vec<u8>,
    is_long: bool,
}

impl Word {
    fn add(&mut self, bytes: &[u8]) {
        self.is_long |= self.bytes.len() + bytes.len() > LONGEST;
        if !self.is_long {
            self.bytes.extend_from_slice(bytes);
        }
    }

    fn is(&self, word: &str) -> bool {
        self.text() == Some(word)
    }

    fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.bytes)
            .ok()
            .filter(|_| !self.is_long)
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.is_long = false;
    }
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
