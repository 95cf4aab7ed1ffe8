//! Where the values of a JSON document are, of whatever size: its members, and the items of the
//! list in it. Damage ends the outline; what came before it is known.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;

use rethread_disk::read_at;
use rethread_json::{Event, Pull, PullError};

/// A document of up to this length is held as a whole. Of a longer one only its pieces are.
pub(crate) const WHOLE: u64 = 16 * 1024 * 1024;

/// Where things are in a document.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    /// The members of the document, with their bytes from behind the key on.
    pub(crate) members: Vec<(String, Range<u64>)>,
    /// The list of messages, with its key; that of a document which is a list is empty.
    pub(crate) list: Option<(String, Vec<Range<u64>>)>,
    /// Where the document stops being JSON, and why.
    pub(crate) fault: Option<(u64, String)>,
}

/// Looks through a document. The list is the first under one of these keys.
pub(crate) fn read_outline(reader: impl Read, lists: &[&str]) -> io::Result<Outline> {
    let mut outline = Outline::default();
    let mut pull = Pull::new(reader);
    match outline.walk(&mut pull, lists) {
        Ok(()) => Ok(outline),
        Err(PullError::Syntax { offset, kind }) => {
            outline.fault = Some((offset, kind.to_string()));
            Ok(outline)
        }
        Err(PullError::Io(e)) => Err(e),
    }
}

impl Outline {
    fn walk(&mut self, pull: &mut Pull<impl Read>, lists: &[&str]) -> Result<(), PullError> {
        match pull.next_event()? {
            Event::BeginObject => {}
            Event::BeginArray => {
                self.items(pull, String::new())?;
                return pull.next_event().map(drop);
            }
            _ => return Ok(()),
        }
        let mut key = Vec::new();
        loop {
            match pull.next_event()? {
                Event::Key(chunk) => {
                    key.extend_from_slice(&chunk.bytes);
                    if !chunk.last {
                        continue;
                    }
                }
                Event::EndObject => return pull.next_event().map(drop),
                _ => continue,
            }
            let name = String::from_utf8_lossy(&key).into_owned();
            key.clear();
            let start = pull.offset();
            let is_list = self.list.is_none() && lists.contains(&name.as_str());
            match pull.next_event()? {
                Event::BeginArray if is_list => {
                    self.items(pull, name)?;
                    continue;
                }
                Event::BeginArray | Event::BeginObject => pull.skip_container()?,
                Event::String(chunk) if !chunk.last => pull.skip_value()?,
                _ => {}
            }
            self.members.push((name, start..pull.offset()));
        }
    }

    /// The items of the list that was just begun. Each is known as soon as it is whole.
    fn items(&mut self, pull: &mut Pull<impl Read>, key: String) -> Result<(), PullError> {
        let (_, items) = self.list.insert((key, Vec::new()));
        loop {
            let before = pull.offset();
            let start = match pull.next_event()? {
                Event::EndArray => return Ok(()),
                Event::BeginArray | Event::BeginObject => {
                    let start = pull.offset().saturating_sub(1);
                    pull.skip_container()?;
                    start
                }
                Event::String(chunk) if !chunk.last => {
                    pull.skip_value()?;
                    before
                }
                _ => before,
            };
            items.push(start..pull.offset());
        }
    }
}

/// Reads bytes of a file; fewer come back when it was cut meanwhile.
pub(crate) fn bytes_at(file: &File, range: Range<u64>) -> io::Result<Vec<u8>> {
    let len = usize::try_from(range.end.saturating_sub(range.start)).map_err(io::Error::other)?;
    let mut bytes = vec![0; len];
    let n = read_at(file, range.start, &mut bytes)?;
    bytes.truncate(n);
    Ok(bytes)
}

/// How many bytes stand before a value that belong to what is around it.
pub(crate) fn gap_before(bytes: &[u8]) -> usize {
    let is_around = |b: &u8| matches!(b, b',' | b':' | b' ' | b'\t' | b'\r' | b'\n');
    bytes.iter().take_while(|b| is_around(b)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(json: &str) -> (Vec<(String, String)>, Vec<String>, bool) {
        let found = read_outline(json.as_bytes(), &["messages"]).unwrap();
        let text = |r: &Range<u64>| {
            let range = usize::try_from(r.start).unwrap()..usize::try_from(r.end).unwrap();
            json[range].to_owned()
        };
        let members = found.members.iter();
        let items = found.list.iter().flat_map(|(_, items)| items);
        (
            members.map(|(k, r)| (k.clone(), text(r))).collect(),
            items.map(text).collect(),
            found.fault.is_some(),
        )
    }

    #[test]
    fn members_and_items_stand_where_they_are_said_to() {
        let (members, items, fault) =
            pieces(r#" {"a" : "x", "messages":[ {"b":[1]} , 2,"s"], "c":{"messages":[3]}} "#);
        let expected = [("a", r#" : "x""#), ("c", r#":{"messages":[3]}"#)];
        assert_eq!(members, expected.map(|(k, v)| (k.to_owned(), v.to_owned())));
        assert_eq!(items, [r#"{"b":[1]}"#, " , 2", ",\"s\""]);
        assert!(!fault);
    }

    #[test]
    fn what_stands_before_damage_is_known() {
        let (_, items, fault) = pieces(r#"[{"a":1},{"b":2},{"c"#);
        assert_eq!(items, [r#"{"a":1}"#, r#"{"b":2}"#]);
        assert!(fault);
        let (members, items, fault) = pieces(r#"{"sessionId":"x","messages":[{"a":1}]}}"#);
        assert_eq!((members.len(), items.len(), fault), (1, 1, true));
    }
}
