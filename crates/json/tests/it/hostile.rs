//! Inputs that others refuse, change or die of.

use std::io::{Cursor, Read};

use rethread_json::{
    Document, Event, LINE_CAP, LineBytes, LineKind, Lines, Patch, Piece, Pull, Tree, Value,
    classify, compact, pretty, salvage,
};

fn nested(depth: usize) -> Vec<u8> {
    [b"[".repeat(depth), b"1".to_vec(), b"]".repeat(depth)].concat()
}

fn kept(json: &[u8]) {
    let document = Document::parse(json.to_vec()).unwrap();
    assert_eq!(document.root().raw(), json);
    assert_eq!(Patch::new(document.root()).finish(), json);
    assert_eq!(compact(json).unwrap(), json);
}

#[test]
fn odd_spellings_are_kept() {
    for json in [
        r#""\ud800""#,
        r#""\uDFFF\uD800""#,
        r#"{"a":1,"a":2,"\u0061":3}"#,
        "1e400",
        "-1E+400",
        "-0",
        "-0.0e-0",
        "123456789012345678901234567890",
        r#""\/\b\u002f\u0000""#,
        r#"{"$serde_json::private::Number":"1"}"#,
        "\"\u{7f}\u{feff}\"",
    ] {
        kept(json.as_bytes());
    }
    kept(b"\"\xFF\xC3\xED\xA0\x80\"");
}

#[test]
fn line_ends_and_marks_are_kept() {
    let bytes = b"\xEF\xBB\xBF{\"a\":1}\r\n\r\n\n{\"b\":2}{\"c\":3}\n\0\0\0\0{\"d\":4}\n{\"torn\":\n{\"last\":1}";
    let mut lines = Lines::new(&bytes[..]);
    let mut kinds = Vec::new();
    let mut rebuilt = Vec::new();
    while let Some(line) = lines.next_line().unwrap() {
        let whole = line.whole().unwrap();
        kinds.push(classify(whole));
        for piece in salvage(whole) {
            rebuilt.extend_from_slice(&whole[piece.range()]);
        }
        if line.span.terminated {
            rebuilt.push(b'\n');
        }
    }
    assert_eq!(rebuilt, bytes);
    let expected = [
        LineKind::Value,
        LineKind::Blank,
        LineKind::Blank,
        LineKind::Several,
        LineKind::Damaged,
        LineKind::Torn,
        LineKind::Value,
    ];
    assert_eq!(kinds, expected);
}

#[test]
fn a_run_of_nul_is_junk() {
    let line = [vec![0; 1_000_000], b"{\"a\":1}".to_vec()].concat();
    assert_eq!(
        salvage(&line),
        [
            Piece::Junk(0..1_000_000),
            Piece::Value(1_000_000..1_000_007)
        ]
    );
}

#[test]
fn nesting_of_200_000() {
    let json = nested(200_000);
    kept(&json);
    let spread = pretty(&json, 2, 0);
    assert_eq!(compact(&spread).unwrap(), json);
    assert_eq!(salvage(&json), [Piece::Value(0..json.len())]);
    assert_eq!(classify(&json[..300_000]), LineKind::Torn);
    salvage(&json[..300_000]);
}

#[test]
fn nesting_of_a_million() {
    let depth = 1_000_000;
    let json = nested(depth);
    let document = Document::parse(json.clone()).unwrap();
    let mut value = document.root();
    let mut levels = 0;
    while let Some(inner) = value.items().next() {
        value = inner;
        levels += 1;
    }
    assert_eq!((levels, value.i64()), (depth, Some(1)));
    let mut patch = Patch::new(document.root());
    patch.replace(value, b"2");
    assert_eq!(patch.finish()[depth], b'2');

    let mut pull = Pull::new(&json[..]);
    for _ in 0..depth {
        assert_eq!(pull.next_event().unwrap(), Event::BeginArray);
    }
    assert_eq!(pull.depth(), depth);
    pull.skip_container().unwrap();
    assert_eq!(pull.depth(), depth - 1);
}

#[test]
fn nested_objects_and_edits_at_every_level() {
    let depth = 20_000;
    let json = [r#"{"a":"#.repeat(depth), "1".to_owned(), "}".repeat(depth)].concat();
    let document = Document::parse(json.into_bytes()).unwrap();
    let mut patch = Patch::new(document.root());
    let mut value = document.root();
    while let Some(inner) = value.get("a") {
        patch.set(value, "b", b"2");
        value = inner;
    }
    let result = Document::parse(patch.finish()).unwrap();
    let mut value = result.root();
    let mut levels = 0;
    while let Some(inner) = value.get("a") {
        assert_eq!(value.get("b").and_then(Value::u64), Some(2));
        value = inner;
        levels += 1;
    }
    assert_eq!(levels, depth);
}

#[test]
fn a_million_keys() {
    let mut json = b"{".to_vec();
    for index in 0..1_000_000 {
        json.extend_from_slice(format!("\"k{index}\":{index},").as_bytes());
    }
    json.pop();
    json.push(b'}');
    let document = Document::parse(json).unwrap();
    assert_eq!(
        document.root().get("k999999").and_then(Value::u64),
        Some(999_999)
    );
    let mut patch = Patch::new(document.root());
    patch.remove(document.root(), "k500000");
    patch.set(document.root(), "new", b"1");
    assert_eq!(
        Document::parse(patch.finish())
            .unwrap()
            .root()
            .members()
            .count(),
        1_000_000
    );
}

/// A record whose one string is that long, made up as it is read.
fn giant(len: u64) -> impl Read {
    let head = Cursor::new(&b"{\"a\":\""[..]);
    head.chain(std::io::repeat(b'x').take(len))
        .chain(&b"\"}"[..])
}

const GIANT: u64 = 200 * 1024 * 1024;

#[test]
fn a_line_of_200_megabytes_is_passed_over() {
    let mut lines = Lines::new(
        Cursor::new(&b"{}\n"[..])
            .chain(giant(GIANT))
            .chain(&b"\n{}"[..]),
    );
    assert!(lines.next_line().unwrap().unwrap().whole().is_some());
    let line = lines.next_line().unwrap().unwrap();
    assert_eq!(
        (line.span.offset, line.span.len, line.span.number),
        (3, GIANT + 8, 2)
    );
    assert!(line.span.len > LINE_CAP as u64);
    let LineBytes::Giant { head } = line.bytes else {
        panic!("the line is longer than the cap");
    };
    assert!(head.starts_with(b"{\"a\":\"xxx") && head.len() <= 64 * 1024);
    let last = lines.next_line().unwrap().unwrap();
    assert_eq!(
        (last.span.offset, last.whole()),
        (GIANT + 12, Some(&b"{}"[..]))
    );
}

#[test]
fn a_string_of_200_megabytes_comes_in_chunks() {
    let mut pull = Pull::new(giant(GIANT));
    assert_eq!(pull.next_event().unwrap(), Event::BeginObject);
    let mut len = 0;
    loop {
        match pull.next_event().unwrap() {
            Event::String(chunk) => {
                assert!(chunk.bytes.len() <= 128 * 1024);
                len += chunk.bytes.len() as u64;
            }
            Event::End => break,
            _ => {}
        }
    }
    assert_eq!(len, GIANT);
}

#[test]
fn control_characters_in_strings_are_errors() {
    for byte in 0..0x20_u8 {
        for len in (0..20).chain(60..140) {
            let json = [b"\"", &b"x".repeat(len)[..], &[byte], b"xxxxxxxxxx\""].concat();
            assert_eq!(Tree::parse(&json).unwrap_err().offset, len + 1);
        }
    }
}
