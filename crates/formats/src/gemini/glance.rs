//! Lines of which a list needs only the beginning and the end.

use memchr::memmem;

use rethread_model::{Kind, Moment, Role};

use super::message::{MessageHead, Said, kind};

/// How far into a line its id, time and type are looked for.
const START: usize = 512;

/// The head of a message of the model that called no tool. Everything else must be parsed: quotes
/// inside of texts are escaped, so that what is looked for here cannot stand in one.
pub(super) fn glance(line: &[u8]) -> Option<MessageHead> {
    let line = line.trim_ascii_end();
    if !line.ends_with(b"}") {
        return None;
    }
    let (id, rest) = quoted(line.get(..line.len().min(START))?, b"{\"id\":\"")?;
    let (time, rest) = quoted(rest, b",\"timestamp\":\"")?;
    let (word, _) = quoted(rest, b",\"type\":\"")?;
    let (kind, visibility) = kind(word);
    let is_plain = kind == Kind::Message(Role::Assistant)
        && memmem::find(line, b"\"toolCalls\":").is_none()
        && memmem::find(line, b"\"functionCall\":").is_none();
    if !is_plain {
        return None;
    }
    let model = memmem::rfind(line, b"\"model\":\"");
    let model = model.and_then(|at| quoted(&line[at..], b"\"model\":\""));
    Some(MessageHead {
        id: id.to_owned(),
        kind,
        visibility,
        time: time.parse::<Moment>().ok(),
        said: Said {
            model: model.map(|(model, _)| model.into()),
            ..Said::default()
        },
    })
}

/// A plain text behind this beginning, and what follows its closing quote.
fn quoted<'a>(bytes: &'a [u8], start: &[u8]) -> Option<(&'a str, &'a [u8])> {
    let rest = bytes.strip_prefix(start)?;
    let end = memchr::memchr2(b'"', b'\\', rest)?;
    if rest.get(end) != Some(&b'"') {
        return None;
    }
    let text = std::str::from_utf8(rest.get(..end)?).ok()?;
    Some((text, rest.get(end + 1..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_answers_are_known_at_a_glance() {
        let line = br#"{"id":"a","timestamp":"2026-01-02T00:00:00Z","type":"gemini","content":"say \"model\":\"x\"","model":"m-1"} "#;
        let head = glance(line).unwrap();
        assert_eq!(
            (head.id.as_str(), head.said.model.as_deref()),
            ("a", Some("m-1"))
        );
        for other in [
            &br#"{"id":"a","timestamp":"t","type":"user","content":""}"#[..],
            br#"{"id":"a","timestamp":"t","type":"gemini","toolCalls":[]}"#,
            br#"{"id":"a\n","timestamp":"t","type":"gemini","content":""}"#,
            br#"{"id":"a","timestamp":"t","type":"gemini","content":"to"#,
            br#"{"$set":{}}"#,
        ] {
            assert!(
                glance(other).is_none(),
                "{}",
                String::from_utf8_lossy(other)
            );
        }
    }
}
