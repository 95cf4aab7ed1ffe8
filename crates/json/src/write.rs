//! Writing JSON: strings, and the two layouts.

use crate::error::SyntaxError;
use crate::scan;
use crate::tree::Tree;

/// Beyond that many levels, lines are indented no further: indentation would
/// grow with the square of the depth.
const MAX_LEVELS: usize = 100;

/// Drops the white space between tokens, and a byte order mark. Numbers and
/// escapes keep their spelling, and duplicate keys stay.
///
/// ```
/// let json = b"{ \"a\" : [ 1.0, \"\\/\" ] }\n";
/// assert_eq!(rethread_json::compact(json)?, br#"{"a":[1.0,"\/"]}"#);
/// # Ok::<(), rethread_json::SyntaxError>(())
/// ```
pub fn compact(json: &[u8]) -> Result<Vec<u8>, SyntaxError> {
    let tree = Tree::parse(json)?;
    let raw = tree.root(json).raw();
    let mut out = Vec::with_capacity(raw.len());
    for token in (Tokens { src: raw, pos: 0 }) {
        out.extend_from_slice(token);
    }
    Ok(out)
}

/// Lays a value out over lines as `JSON.stringify(value, null, indent)` does,
/// as if it were `level` containers deep: the first line is not indented, all
/// others are. Empty containers stay on one line, and so does everything when
/// `indent` is 0. Spelling is kept. What is not JSON is returned as it is.
///
/// ```
/// let pretty = rethread_json::pretty(br#"{"a":[1e0],"b":{}}"#, 2, 0);
/// assert_eq!(pretty, b"{\n  \"a\": [\n    1e0\n  ],\n  \"b\": {}\n}");
/// ```
pub fn pretty(json: &[u8], indent: usize, level: usize) -> Vec<u8> {
    if indent == 0 {
        return compact(json).unwrap_or_else(|_| json.to_vec());
    }
    let unit = vec![b' '; indent];
    let prefix = unit.repeat(level.min(MAX_LEVELS));
    lay_out(json, b"\n", &unit, &prefix)
}

/// [`pretty`] with any newline and indentation.
pub(crate) fn lay_out(json: &[u8], newline: &[u8], unit: &[u8], prefix: &[u8]) -> Vec<u8> {
    let Ok(tree) = Tree::parse(json) else {
        return json.to_vec();
    };
    let src = tree.root(json).raw();
    let mut out = Vec::with_capacity(src.len() + src.len() / 2);
    let mut depth = 0_usize;
    let break_line = |out: &mut Vec<u8>, depth: usize| {
        out.extend_from_slice(newline);
        out.extend_from_slice(prefix);
        for _ in 0..depth.min(MAX_LEVELS) {
            out.extend_from_slice(unit);
        }
    };
    let mut tokens = Tokens { src, pos: 0 }.peekable();
    while let Some(token) = tokens.next() {
        match token {
            b"{" | b"[" => {
                out.extend_from_slice(token);
                if let Some(close) = tokens.next_if(|next| matches!(*next, b"}" | b"]")) {
                    out.extend_from_slice(close);
                } else {
                    depth += 1;
                    break_line(&mut out, depth);
                }
            }
            b"}" | b"]" => {
                depth = depth.saturating_sub(1);
                break_line(&mut out, depth);
                out.extend_from_slice(token);
            }
            b"," => {
                out.push(b',');
                break_line(&mut out, depth);
            }
            b":" => out.extend_from_slice(b": "),
            _ => out.extend_from_slice(token),
        }
    }
    out
}

/// The tokens of valid JSON: strings whole, structure byte by byte, numbers and
/// words whole.
struct Tokens<'a> {
    src: &'a [u8],
    pos: usize,
}

impl<'a> Iterator for Tokens<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let start = scan::skip_space(self.src, self.pos);
        let end = match self.src.get(start)? {
            b'"' => scan::string_end(self.src, start).map_or(self.src.len(), |found| found.end),
            b'{' | b'}' | b'[' | b']' | b',' | b':' => start + 1,
            _ => {
                let is_end = |byte: &u8| scan::is_space(*byte) || b"{}[],:\"".contains(byte);
                let rest = &self.src[start..];
                start + rest.iter().position(is_end).unwrap_or(rest.len())
            }
        };
        self.pos = end;
        Some(&self.src[start..end])
    }
}

/// Writes a string in quotes, with the same few escapes as `JSON.stringify`.
///
/// ```
/// let mut out = Vec::new();
/// rethread_json::write_str(&mut out, "a/\"ü\"\n\u{1}");
/// assert_eq!(out, r#""a/\"ü\"\n\u0001""#.as_bytes());
/// ```
pub fn write_str(out: &mut Vec<u8>, s: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let bytes = s.as_bytes();
    out.reserve(bytes.len() + 2);
    out.push(b'"');
    let mut start = 0;
    loop {
        let stop = scan::plain_end(bytes, start);
        out.extend_from_slice(&bytes[start..stop]);
        let Some(&byte) = bytes.get(stop) else { break };
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0C => out.extend_from_slice(b"\\f"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            _ => {
                out.extend_from_slice(b"\\u00");
                out.push(HEX[usize::from(byte >> 4)]);
                out.push(HEX[usize::from(byte & 15)]);
            }
        }
        start = stop + 1;
    }
    out.push(b'"');
}

/// A string in quotes; see [`write_str`].
pub fn quote(s: &str) -> Vec<u8> {
    let mut out = Vec::new();
    write_str(&mut out, s);
    out
}
