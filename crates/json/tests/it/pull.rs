use proptest::collection::vec;
use proptest::prelude::*;
use rethread_json::{Event, Pull, PullError, SyntaxErrorKind, Tree, Value, compact, write_str};

use crate::generate::{self, Chunked, Oddity};

/// Compact JSON from events, strings spelt as we spell them.
fn from_events<R: std::io::Read>(mut pull: Pull<R>) -> Result<Vec<u8>, PullError> {
    let mut out = Vec::new();
    let mut text = Vec::new();
    let mut comma = false;
    loop {
        let depth = pull.depth();
        let event = pull.next_event()?;
        let is_end = matches!(event, Event::EndObject | Event::EndArray);
        if comma && !is_end && depth > 0 && text.is_empty() {
            out.push(b',');
        }
        comma = true;
        match event {
            Event::BeginObject => out.push(b'{'),
            Event::EndObject => out.push(b'}'),
            Event::BeginArray => out.push(b'['),
            Event::EndArray => out.push(b']'),
            Event::Key(ref chunk) | Event::String(ref chunk) => {
                text.extend_from_slice(std::str::from_utf8(&chunk.bytes).unwrap().as_bytes());
                if chunk.last {
                    write_str(&mut out, std::str::from_utf8(&text).unwrap());
                    text.clear();
                }
            }
            Event::Number(number) => out.extend_from_slice(number),
            Event::Bool(bool) => out.extend_from_slice(bool.to_string().as_bytes()),
            Event::Null => out.extend_from_slice(b"null"),
            Event::End => return Ok(out),
        }
        match event {
            Event::BeginObject | Event::BeginArray => comma = false,
            Event::Key(chunk) if chunk.last => {
                out.push(b':');
                comma = false;
            }
            _ => {}
        }
    }
}

/// The same from a tree.
fn from_tree(value: Value<'_>, out: &mut Vec<u8>) {
    if let Some(text) = value.str() {
        write_str(out, &text);
    } else if value.is_object() {
        out.push(b'{');
        for (index, (key, value)) in value.members().enumerate() {
            out.extend_from_slice(if index > 0 { b"," } else { b"" });
            write_str(out, &key.str().unwrap());
            out.push(b':');
            from_tree(value, out);
        }
        out.push(b'}');
    } else if value.is_array() {
        out.push(b'[');
        for (index, item) in value.items().enumerate() {
            out.extend_from_slice(if index > 0 { b"," } else { b"" });
            from_tree(item, out);
        }
        out.push(b']');
    } else {
        out.extend_from_slice(value.raw());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn events_say_what_the_tree_says(json in generate::document(Oddity::Wild), sizes in vec(1..20_usize, 1..5)) {
        let tree = Tree::parse(&json).unwrap();
        let mut expected = Vec::new();
        from_tree(tree.root(&json), &mut expected);
        let reader = Chunked { rest: &json, sizes: &sizes, turn: 0 };
        prop_assert_eq!(from_events(Pull::new(reader)).unwrap(), expected);
    }

    #[test]
    fn both_accept_the_same(json in generate::nearly(Oddity::Wild), sizes in vec(1..20_usize, 1..5)) {
        let reader = Chunked { rest: &json, sizes: &sizes, turn: 0 };
        match (from_events(Pull::new(reader)), Tree::parse(&json)) {
            (Ok(_), Ok(_)) => {}
            (Err(PullError::Syntax { kind, .. }), Err(error)) => {
                prop_assert_eq!(kind == SyntaxErrorKind::UnexpectedEnd, error.is_torn());
            }
            (events, tree) => prop_assert!(false, "{:?} {:?}", events, tree.err()),
        }
    }

    #[test]
    fn any_bytes_are_safe(bytes: Vec<u8>) {
        let _ = from_events(Pull::new(&bytes[..]));
    }
}

#[test]
fn long_strings_come_in_chunks() {
    let text = "ü😀\n".repeat(60_000);
    let json = rethread_json::quote(&text);
    let mut pull = Pull::new(&json[..]);
    let mut decoded = Vec::new();
    let mut chunks = 0;
    while let Event::String(chunk) = pull.next_event().unwrap() {
        assert!(chunk.bytes.len() <= 140_000);
        decoded.extend_from_slice(std::str::from_utf8(&chunk.bytes).unwrap().as_bytes());
        chunks += 1;
    }
    assert!(chunks > 3);
    assert_eq!(decoded, text.as_bytes());
    assert_eq!(pull.offset(), json.len() as u64);
}

#[test]
fn values_can_be_skipped() {
    let json = br#"{"a":{"b":[1,{"c":"d"}]},"e":[1,2,3],"f":4}"#;
    let mut pull = Pull::new(&json[..]);
    assert_eq!(pull.next_event().unwrap(), Event::BeginObject);
    assert!(matches!(pull.next_event().unwrap(), Event::Key(_)));
    pull.skip_value().unwrap();
    assert!(matches!(pull.next_event().unwrap(), Event::Key(_)));
    assert_eq!(pull.next_event().unwrap(), Event::BeginArray);
    assert_eq!(pull.next_event().unwrap(), Event::Number(b"1"));
    pull.skip_container().unwrap();
    assert_eq!(pull.depth(), 1);
    pull.skip_value().unwrap();
    assert_eq!(pull.next_event().unwrap(), Event::EndObject);
    assert_eq!(pull.next_event().unwrap(), Event::End);
    assert_eq!(pull.next_event().unwrap(), Event::End);
}

#[test]
fn long_numbers_are_refused_or_kept() {
    let short = "1".repeat(60_000);
    assert_eq!(
        from_events(Pull::new(short.as_bytes())).unwrap(),
        short.as_bytes()
    );
    let long = "1".repeat(200_000);
    let mut pull = Pull::new(long.as_bytes());
    for _ in 0..2 {
        let error = pull.next_event().unwrap_err();
        assert!(matches!(
            error,
            PullError::Syntax {
                kind: SyntaxErrorKind::NumberTooLong,
                ..
            }
        ));
    }
}

#[test]
fn errors_say_where() {
    let mut pull = Pull::new(&b"\"ab\\u00g0\""[..]);
    assert_eq!(
        pull.next_event().unwrap_err().to_string(),
        "invalid escape in a string at byte 7"
    );
    let mut pull = Pull::new(&b"[1 2]"[..]);
    pull.next_event().unwrap();
    pull.next_event().unwrap();
    assert_eq!(
        pull.next_event().unwrap_err().to_string(),
        "expected `,` or `]` at byte 3"
    );
}

#[test]
fn compact_is_what_events_spell() {
    let json = b"{ \"a\" : [ 1e5 , -0 , \"x\" , { } ] }";
    assert_eq!(
        from_events(Pull::new(&json[..])).unwrap(),
        compact(json).unwrap()
    );
}
