//! What a record is, from the beginning of its line alone: for lists, which look at every line of a
//! machine, and for lines too long to be held.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::kit::plain_word;

/// How far into a line its types are looked for.
const LOOK: usize = 1024;

/// What the beginning of a line tells, in bytes as they stand there: few of these words are ever
/// needed as text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LineHead<'a> {
    /// When it was written, as spelled.
    pub(super) time: &'a [u8],
    /// Its type.
    pub(super) outer: &'a [u8],
    /// The type of its payload; empty where that is not the first thing in it.
    pub(super) inner: &'a [u8],
    /// The role of a message, where it stands near the beginning.
    pub(super) role: &'a [u8],
    /// Where the line goes on behind the type of the payload.
    pub(super) at: usize,
}

/// Looks at the beginning of a line. None unless it is written exactly as the client writes it:
/// then the line must be parsed.
pub(super) fn read_line_head(line: &[u8]) -> Option<LineHead<'_>> {
    let start = line.get(..line.len().min(LOOK))?;
    let rest = start.strip_prefix(b"{\"timestamp\":\"")?;
    let (time, rest) = plain_word(rest)?;
    let rest = match rest.strip_prefix(b",\"ordinal\":") {
        Some(rest) => {
            let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
            rest.get(digits..)?
        }
        None => rest,
    };
    let (outer, rest) = plain_word(rest.strip_prefix(b",\"type\":\"")?)?;
    let rest = rest.strip_prefix(b",\"payload\":{")?;
    let (inner, rest) = match rest.strip_prefix(b"\"type\":\"") {
        Some(rest) => plain_word(rest)?,
        None => (&b""[..], rest),
    };
    let role = (inner == b"message").then(|| role(rest)).flatten();
    Some(LineHead {
        time,
        outer,
        inner,
        role: role.unwrap_or_default(),
        at: start.len() - rest.len(),
    })
}

/// What stands before a role.
const ROLE: &[u8] = b",\"role\":\"";
static ROLES: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(ROLE));

/// A role among the first members, with nothing nested before it.
fn role(rest: &[u8]) -> Option<&[u8]> {
    let at = ROLES.find(rest)?;
    let before = rest.get(..at)?;
    if before.iter().any(|b| matches!(b, b'{' | b'[' | b'\\')) {
        return None;
    }
    let (role, _) = plain_word(rest.get(at + ROLE.len()..)?)?;
    Some(role)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_as_the_client_writes_them() {
        let line = br#"{"timestamp":"T","ordinal":7,"type":"response_item","payload":{"type":"message","id":"m","role":"user","content":["#;
        let found = LineHead {
            time: b"T",
            outer: b"response_item",
            inner: b"message",
            role: b"user",
            at: 79,
        };
        assert_eq!(read_line_head(line), Some(found));
        let line = br#"{"timestamp":"T","type":"turn_context","payload":{"cwd":"/"}}"#;
        let found = read_line_head(line).unwrap_or_default();
        assert_eq!(
            (found.outer, found.inner, found.role),
            (&b"turn_context"[..], &b""[..], &b""[..])
        );
    }

    #[test]
    fn other_lines_must_be_parsed() {
        for line in [
            &br#"{"type":"message","role":"user"}"#[..],
            br#"{"timestamp":"a\"b","type":"x","payload":{}}"#,
            br#"{"timestamp":"T","type":"response_item"}"#,
            br#"{"timestamp":"T","type":"respo"#,
            b"",
        ] {
            assert_eq!(read_line_head(line), None);
        }
        let nested = br#"{"timestamp":"T","type":"response_item","payload":{"type":"message","x":{"y":1,"role":"user"}}}"#;
        assert_eq!(read_line_head(nested).map(|g| g.role), Some(&b""[..]));
    }
}
