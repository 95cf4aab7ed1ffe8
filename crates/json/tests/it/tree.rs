use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use rethread_json::{Document, Kind, SyntaxErrorKind, Tree, Value, string_at};

use crate::generate::{self, Oddity};

/// Whether both say the same. Depth is that of generated values, so recursion is fine.
fn same(value: Value<'_>, judge: &serde_json::Value) -> bool {
    match judge {
        serde_json::Value::Null => value.is_null(),
        serde_json::Value::Bool(bool) => value.bool() == Some(*bool),
        serde_json::Value::String(text) => {
            let found = value.text().unwrap();
            found.text == text.as_str() && !found.lossy && value.is_str(text)
        }
        serde_json::Value::Number(number) => {
            if let Some(int) = number.as_i64() {
                return value.i64() == Some(int) || value.raw() == b"-0";
            }
            if let Some(int) = number.as_u64() {
                return value.u64() == Some(int);
            }
            // `serde_json` may be off by a few units in the last place.
            let (ours, theirs) = (value.f64().unwrap(), number.as_f64().unwrap());
            (ours - theirs).abs() <= theirs.abs() * 1e-14
        }
        serde_json::Value::Array(items) => {
            value.is_array()
                && value.items().count() == items.len()
                && value.items().zip(items).all(|(a, b)| same(a, b))
        }
        serde_json::Value::Object(members) => {
            value.is_object()
                && members
                    .iter()
                    .all(|(key, b)| same(value.get(key).unwrap(), b))
                && value
                    .members()
                    .all(|(key, _)| members.contains_key(&*key.str().unwrap()))
        }
    }
}

/// Puts the text together again from spans alone.
fn rebuild(value: Value<'_>, src: &[u8], out: &mut Vec<u8>) {
    let mut done = value.span().start;
    let keys_and_values = value.members().flat_map(|(key, value)| [key, value]);
    for child in keys_and_values.chain(value.items()) {
        out.extend_from_slice(&src[done..child.span().start]);
        rebuild(child, src, out);
        done = child.span().end;
    }
    out.extend_from_slice(&src[done..value.span().end]);
}

/// What long strings are made of.
const PIECES: [&str; 10] = [
    "\\n",
    "\\\"",
    "\\\\",
    "\\u0041",
    "\\u00e9",
    "\\ud83d\\ude00",
    "ü",
    "x",
    "a line of words, ",
    "one that is longer than a block, so that a whole one of them has nothing in it that ends ",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_byte_is_kept(json in generate::document(Oddity::Wild)) {
        let document = Document::parse(json.clone()).unwrap();
        let root = document.root();
        prop_assert_eq!(&json[root.span()], root.raw());
        let mut rebuilt = json[..root.span().start].to_vec();
        rebuild(root, &json, &mut rebuilt);
        rebuilt.extend_from_slice(&json[root.span().end..]);
        prop_assert_eq!(&rebuilt, &json);
        prop_assert_eq!(document.into_bytes(), json);
    }

    #[test]
    fn values_are_those_of_serde_json(json in generate::document(Oddity::Tame)) {
        let judge: serde_json::Value = serde_json::from_slice(&json).unwrap();
        let document = Document::parse(json).unwrap();
        prop_assert!(same(document.root(), &judge));
    }

    #[test]
    fn accepts_what_serde_json_accepts(json in generate::nearly(Oddity::Tame)) {
        let judge = serde_json::from_slice::<serde_json::Value>(&json);
        let ours = Tree::parse(&json);
        let cannot_judge = std::str::from_utf8(&json).is_err()
            || judge.as_ref().is_err_and(|error| {
                let error = error.to_string();
                ["out of range", "surrogate", "hex escape"].iter().any(|why| error.contains(why))
            });
        if !cannot_judge {
            prop_assert_eq!(ours.is_ok(), judge.is_ok(), "{:?} {:?}", ours.err(), judge.err());
        }
    }

    #[test]
    fn torn_means_what_serde_json_calls_eof(json in generate::document(Oddity::Tame), at: prop::sample::Index) {
        let torn = &json[..at.index(json.len())];
        if std::str::from_utf8(torn).is_ok() && let Err(error) = Tree::parse(torn) {
            prop_assert!(error.is_torn(), "{} {:?}", error, String::from_utf8_lossy(torn));
            prop_assert!(serde_json::from_slice::<serde_json::Value>(torn).unwrap_err().is_eof());
        }
    }

    #[test]
    fn any_bytes_are_safe(bytes: Vec<u8>) {
        let mut tree = Tree::default();
        let _ = tree.parse_into(&bytes);
        let _ = tree.root(&bytes).raw();
        let _ = tree.parse_prefix(&bytes, bytes.len() / 2);
    }

    /// Long strings are looked at in blocks, and anything may stand where two of them meet.
    #[test]
    fn long_strings_are_those_of_serde_json(
        before in 0..70_usize,
        pieces in vec(select(PIECES.to_vec()), 0..30),
        wrong in proptest::option::of(select(vec!["\\x", "\\u12", "\n", "\\"])),
    ) {
        let content = "x".repeat(before) + &pieces.concat() + wrong.unwrap_or_default();
        let json = format!("[\"{content}\", 1]");
        let judge = serde_json::from_str::<(String, u8)>(&json).ok();
        let mut tree = Tree::default();
        let is_read = tree.parse_into(json.as_bytes()).is_ok();
        let has_numbers = tree.has_numbered_escapes();
        let text = tree.root(json.as_bytes()).items().next().and_then(|s| Some(s.str()?.into_owned()));
        prop_assert_eq!(is_read.then_some(text).flatten(), judge.as_ref().map(|(text, _)| text.clone()));
        let passed = string_at(json.as_bytes(), 1).map(|(text, _)| text.text.into_owned());
        if let Some((judge, _)) = judge {
            prop_assert_eq!(passed, Some(judge));
            prop_assert_eq!(has_numbers, pieces.iter().any(|p| p.starts_with("\\u")));
        }
    }

    /// A string that is decoded where it stands is the one that a tree finds there.
    #[test]
    fn strings_in_one_pass_are_those_of_a_tree(json in generate::nearly(Oddity::Wild)) {
        let mut tree = Tree::default();
        for at in (0..json.len()).filter(|at| json[*at] == b'"') {
            let end = tree.parse_prefix(&json, at).ok();
            let found = end.map(|end| (tree.root(&json).text().unwrap(), end));
            prop_assert_eq!(string_at(&json, at), found);
        }
    }

    #[test]
    fn integers_are_exact(int: i64, zeros in 0..5_usize) {
        let number = |spelling: String| {
            let document = Document::parse(spelling.into_bytes()).unwrap();
            (document.root().i64(), document.root().u64())
        };
        let expected = (Some(int), u64::try_from(int).ok());
        prop_assert_eq!(number(format!("{int}")), expected);
        prop_assert_eq!(number(format!("{int}.{}", "0".repeat(zeros + 1))), expected);
        prop_assert_eq!(number(format!("{int}{}e-{zeros}", "0".repeat(zeros))), expected);
        prop_assert_eq!(number(format!("{int}.5")), (None, None));
    }
}

fn parse(json: &str) -> Document {
    Document::parse(json.as_bytes().to_vec()).unwrap()
}

#[test]
fn last_duplicate_counts() {
    let document = parse(r#"{"a":1,"b":2,"\u0061":3}"#);
    let root = document.root();
    assert_eq!(root.get("a").unwrap().raw(), b"3");
    assert_eq!(root.members().count(), 3);
    assert!(root.get("c").is_none());
    assert!(root.get("a").unwrap().get("a").is_none());
}

#[test]
fn kinds_and_odd_numbers() {
    let document = parse(r#"[null,true,1e400,"",[],{},-0,1e3,0e999999999999999999999,1.5]"#);
    let items: Vec<_> = document.root().items().collect();
    let kinds: Vec<_> = items.iter().map(|item| item.kind()).collect();
    assert_eq!(
        kinds[..6],
        [
            Kind::Null,
            Kind::Bool,
            Kind::Number,
            Kind::String,
            Kind::Array,
            Kind::Object
        ]
    );
    assert_eq!((items[2].f64(), items[2].i64()), (None, None));
    assert_eq!((items[6].i64(), items[6].u64()), (Some(0), Some(0)));
    assert!(items[6].f64().unwrap().is_sign_negative());
    assert_eq!(items[7].u64(), Some(1000));
    assert_eq!(items[8].i64(), Some(0));
    assert_eq!((items[9].i64(), items[9].f64()), (None, Some(1.5)));
}

#[test]
fn lone_surrogates_are_lossy() {
    let document = parse(r#"["\ud800x","\ud83d\ude00","\udc00\ud800","\ud800\u0041"]"#);
    let texts: Vec<_> = document
        .root()
        .items()
        .map(|item| item.text().unwrap())
        .collect();
    assert_eq!((&*texts[0].text, texts[0].lossy), ("\u{FFFD}x", true));
    assert_eq!((&*texts[1].text, texts[1].lossy), ("😀", false));
    assert_eq!(&*texts[2].text, "\u{FFFD}\u{FFFD}");
    assert_eq!(&*texts[3].text, "\u{FFFD}A");
    assert!(!document.root().items().next().unwrap().is_str("\u{FFFD}x"));
}

#[test]
fn errors_say_where() {
    let error = |json: &str| Tree::parse(json.as_bytes()).unwrap_err();
    let found = error("{\n \"ü\": x}");
    assert_eq!((found.line, found.column, found.offset), (2, 7, 9));
    assert_eq!(found.kind, SyntaxErrorKind::ExpectedValue);
    for (json, kind) in [
        ("", SyntaxErrorKind::UnexpectedEnd),
        ("[1,]", SyntaxErrorKind::ExpectedValue),
        ("{,", SyntaxErrorKind::ExpectedKey),
        ("{\"a\" 1}", SyntaxErrorKind::ExpectedColon),
        ("{\"a\":1]", SyntaxErrorKind::ExpectedCommaOrBrace),
        ("[1}", SyntaxErrorKind::ExpectedCommaOrBracket),
        ("\"\\x\"", SyntaxErrorKind::InvalidEscape),
        ("\"\\u00g0\"", SyntaxErrorKind::InvalidEscape),
        ("\"\t\"", SyntaxErrorKind::ControlCharacter),
        ("01", SyntaxErrorKind::InvalidNumber),
        ("1.x", SyntaxErrorKind::InvalidNumber),
        ("nul1", SyntaxErrorKind::InvalidWord),
        ("1 2", SyntaxErrorKind::TrailingData),
        ("\0", SyntaxErrorKind::ExpectedValue),
    ] {
        assert_eq!(error(json).kind, kind, "{json}");
    }
}

#[test]
fn a_tree_can_be_used_again() {
    let mut tree = Tree::default();
    assert!(tree.root(b"").is_null());
    assert_eq!(tree.root(b"").raw(), b"");
    tree.parse_into(b"\xEF\xBB\xBF [1]\r").unwrap();
    assert!(tree.parse_into(b"[1").is_err());
    assert!(tree.root(b"[1").is_null());
    assert_eq!(tree.parse_prefix(b"[1] [2", 3).unwrap_err().offset, 6);
}
