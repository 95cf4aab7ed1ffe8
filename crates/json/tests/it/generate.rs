//! JSON with odd spellings, and bytes that nearly are JSON.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// How odd the JSON may be.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Oddity {
    /// `serde_json` can read it.
    Tame,
    /// Lone surrogates, invalid UTF-8, numbers out of range.
    Wild,
}

fn space() -> impl Strategy<Value = Vec<u8>> {
    select(vec!["", "", "", " ", "\n", "\r\n  ", "\t"]).prop_map(|s| s.as_bytes().to_vec())
}

fn number(oddity: Oddity) -> BoxedStrategy<Vec<u8>> {
    let plain = select(vec![
        "0",
        "-0",
        "1",
        "-1",
        "1.0",
        "1e3",
        "1E+2",
        "120e-1",
        "0.5",
        "-0.0",
        "1e-400",
        "9007199254740993",
        "18446744073709551615",
        "-9223372036854775808",
        "123456789012345678901234567890",
        "1.10",
        "10000000000000000000000e-21",
    ])
    .prop_map(|s| s.as_bytes().to_vec());
    let regex =
        "-?(0|[1-9][0-9]{0,24})(\\.[0-9]{1,5})?([eE][+-]?[0-9]{1,2})?".prop_map(String::into_bytes);
    match oddity {
        Oddity::Tame => prop_oneof![plain, regex].boxed(),
        Oddity::Wild => prop_oneof![plain, regex, Just(b"1e400".to_vec())].boxed(),
    }
}

fn string(oddity: Oddity) -> BoxedStrategy<Vec<u8>> {
    let escapes = select(vec![
        "\\\"",
        "\\\\",
        "\\/",
        "\\b",
        "\\f",
        "\\n",
        "\\r",
        "\\t",
        "\\u0041",
        "\\u00e9",
        "\\uD83D\\uDE00",
        "\\u0000",
        "\\uFFFF",
        "ü",
        "😀",
        "\u{7f}",
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\u{2028}",
    ])
    .prop_map(|s| s.as_bytes().to_vec());
    let plain = "[ -!#-\\[\\]-~]{0,20}".prop_map(String::into_bytes);
    let wild = select(vec![
        &b"\\ud800"[..],
        b"\\uDC00",
        b"\\ud800\\ud800\\udc00",
        b"\xFF",
        b"\xED\xA0\x80",
        b"\xE2\x82",
    ])
    .prop_map(<[u8]>::to_vec);
    let part = match oddity {
        Oddity::Tame => prop_oneof![escapes, plain].boxed(),
        Oddity::Wild => prop_oneof![2 => escapes, 2 => plain, 1 => wild].boxed(),
    };
    vec(part, 0..6)
        .prop_map(|parts| [b"\"", &parts.concat()[..], b"\""].concat())
        .boxed()
}

fn key(oddity: Oddity) -> BoxedStrategy<Vec<u8>> {
    let common = select(vec![
        r#""a""#,
        r#""b""#,
        r#""c""#,
        r#""\u0061""#,
        r#""type""#,
        r#""""#,
    ])
    .prop_map(|s| s.as_bytes().to_vec());
    prop_oneof![4 => common, 1 => string(oddity)].boxed()
}

/// One value without white space around it.
pub(crate) fn value(oddity: Oddity) -> BoxedStrategy<Vec<u8>> {
    let words = select(vec!["null", "true", "false"]).prop_map(|s| s.as_bytes().to_vec());
    let leaf = prop_oneof![words, number(oddity), string(oddity)];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![array(inner.clone()), object_of(inner, oddity)]
    })
    .boxed()
}

fn array(inner: BoxedStrategy<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    (vec((space(), inner, space()), 0..6), space()).prop_map(|(items, empty)| {
        let items: Vec<_> = items
            .into_iter()
            .map(|(a, v, b)| [a, v, b].concat())
            .collect();
        enclose(b"[", &items, &empty, b"]")
    })
}

fn object_of(inner: BoxedStrategy<Vec<u8>>, oddity: Oddity) -> impl Strategy<Value = Vec<u8>> {
    let member = (space(), key(oddity), space(), space(), inner, space());
    (vec(member, 0..6), space()).prop_map(|(members, empty)| {
        let member = |(a, k, b, c, v, d)| [a, k, b, b":".to_vec(), c, v, d].concat();
        let members: Vec<_> = members.into_iter().map(member).collect();
        enclose(b"{", &members, &empty, b"}")
    })
}

fn enclose(open: &[u8], parts: &[Vec<u8>], empty: &[u8], close: &[u8]) -> Vec<u8> {
    let inside = if parts.is_empty() {
        empty.to_vec()
    } else {
        parts.join(&b","[..])
    };
    [open, &inside, close].concat()
}

/// An object.
pub(crate) fn object(oddity: Oddity) -> BoxedStrategy<Vec<u8>> {
    object_of(value(oddity), oddity).boxed()
}

/// One value with white space around it.
pub(crate) fn document(oddity: Oddity) -> BoxedStrategy<Vec<u8>> {
    (space(), value(oddity), space())
        .prop_map(|(a, v, b)| [a, v, b].concat())
        .boxed()
}

/// JSON that was damaged here and there, perhaps not at all.
pub(crate) fn nearly(oddity: Oddity) -> BoxedStrategy<Vec<u8>> {
    let bytes = select(b"{}[]\",:\\/ \n\0ue019-+.tfnEx\x1f".to_vec());
    let damage = (any::<prop::sample::Index>(), 0..4_u8, bytes);
    (document(oddity), vec(damage, 0..4))
        .prop_map(|(mut json, damages)| {
            for (index, how, byte) in damages {
                let at = index.index(json.len() + 1);
                match how {
                    0 => json.insert(at, byte),
                    1 if at < json.len() => json[at] = byte,
                    2 if at < json.len() => drop(json.remove(at)),
                    3 => json.truncate(at),
                    _ => {}
                }
            }
            json
        })
        .boxed()
}

/// A reader that gives as little at a time as it is told.
pub(crate) struct Chunked<'a> {
    pub(crate) rest: &'a [u8],
    pub(crate) sizes: &'a [usize],
    pub(crate) turn: usize,
}

impl std::io::Read for Chunked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let size = self.sizes[self.turn % self.sizes.len()];
        self.turn += 1;
        if self.turn % 7 == 3 {
            return Err(std::io::ErrorKind::Interrupted.into());
        }
        let count = size.min(buffer.len()).min(self.rest.len());
        let (now, later) = self.rest.split_at(count);
        buffer[..count].copy_from_slice(now);
        self.rest = later;
        Ok(count)
    }
}
