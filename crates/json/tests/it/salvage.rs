use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use rethread_json::{LineKind, Piece, Tree, classify, compact, salvage};

use crate::generate::{self, Oddity};

fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        generate::nearly(Oddity::Wild),
        generate::object(Oddity::Wild),
        select(vec![
            &b"\0\0\0"[..],
            b"\xEF\xBB\xBF",
            b" ",
            b"{",
            b"{\"",
            b"}",
            b"garbage"
        ])
        .prop_map(<[u8]>::to_vec),
    ];
    vec(part, 0..5).prop_map(|parts| parts.concat())
}

fn check(line: &[u8]) -> Vec<Piece> {
    let pieces = salvage(line);
    let mut done = 0;
    for piece in &pieces {
        let range = piece.range();
        assert_eq!(range.start, done);
        assert!(!range.is_empty());
        done = range.end;
        if let Piece::Value(range) = piece {
            assert!(Tree::parse(&line[range.clone()]).is_ok());
        }
    }
    assert_eq!(done, line.len());
    pieces
}

fn values(line: &str) -> Vec<String> {
    let value = |piece| match piece {
        Piece::Value(range) => Some(line[range].to_owned()),
        Piece::Junk(_) => None,
    };
    check(line.as_bytes())
        .into_iter()
        .filter_map(value)
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn pieces_cover_every_byte(line in damaged()) {
        check(&line);
        classify(&line);
    }

    #[test]
    fn any_bytes_are_pieces(line: Vec<u8>) {
        check(&line);
        classify(&line);
    }

    #[test]
    fn whole_lines_are_values(line in generate::document(Oddity::Wild)) {
        prop_assert_eq!(classify(&line), LineKind::Value);
        let values = check(&line).into_iter().filter(|piece| matches!(piece, Piece::Value(_)));
        prop_assert_eq!(values.count(), 1);
    }

    #[test]
    fn a_record_after_a_torn_one_is_found(
        record in generate::object(Oddity::Tame),
        torn in generate::object(Oddity::Tame),
        at: prop::sample::Index,
    ) {
        let torn = &torn[..at.index(torn.len())];
        // Only `{"` and `{}` are looked for.
        let record = compact(&record).unwrap();
        let line = [torn, &record].concat();
        let last = check(&line).pop().unwrap();
        prop_assert_eq!(last, Piece::Value(torn.len()..line.len()));
    }
}

#[test]
fn torn_and_appended() {
    let record = r#"{"type":"user","n":{"b":1}}"#;
    for torn in [
        r#"{"a":"hel"#,
        r#"{"a":1,"#,
        r#"{"a":"#,
        r#"{"a":{"b":1},"c":"#,
        r#"{"a":{"b":1}"#,
        "{",
    ] {
        assert_eq!(values(&format!("{torn}{record}\r")), [record], "{torn}");
    }
}

#[test]
fn parts_of_a_torn_record_are_no_records() {
    assert!(values(r#"{"a":{"b":1},"c":"hel"#).is_empty());
    assert!(values(r#"{"a":[{"b":1},{"b":2},"#).is_empty());
}

#[test]
fn several_values_and_filler() {
    assert_eq!(
        values(r#"{"a":1}{"b":2} [3]"#),
        [r#"{"a":1}"#, r#"{"b":2}"#, "[3]"]
    );
    assert_eq!(values("\0\0\0{\"a\":1}\0\0"), [r#"{"a":1}"#]);
    assert_eq!(values("\u{feff}{}"), ["{}"]);
    assert_eq!(values("1 \"a\" null"), ["1", "\"a\"", "null"]);
    assert_eq!(values("oops 1 {\"a\":1} 2"), [r#"{"a":1}"#]);
    assert!(values("truefalse").is_empty());
    assert!(values("").is_empty());
}

#[test]
fn kinds_of_lines() {
    for (line, kind) in [
        ("", LineKind::Blank),
        (" \t\r", LineKind::Blank),
        ("\u{feff}", LineKind::Blank),
        ("\u{feff}{}", LineKind::Value),
        ("1 2", LineKind::Several),
        ("{\"a", LineKind::Torn),
        ("tru", LineKind::Torn),
        ("{}{\"a", LineKind::Damaged),
        ("{}}", LineKind::Damaged),
        ("\0\0", LineKind::Damaged),
        ("12abc", LineKind::Damaged),
    ] {
        assert_eq!(classify(line.as_bytes()), kind, "{line:?}");
    }
}

#[test]
fn hostile_lines_take_linear_time() {
    for unit in [
        r#"{""#,
        r#"{"a":"#,
        r#"{"a":["{","#,
        r#""{"a":"#,
        "{}{",
        r#"{"x":[{},"#,
        r#"{"a":"{"b":["#,
        "[{}",
    ] {
        check(unit.repeat(30_000).as_bytes());
    }
}
