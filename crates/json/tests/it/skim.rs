use std::ops::Range;

use proptest::prelude::*;
use rethread_json::{ObjectShape, Passed, Skim, Strayed, Tree, Value};

use crate::generate::{self, Oddity};

/// The only value of a text.
fn whole(mut skim: Skim<'_>) -> Result<Passed<'_>, Strayed> {
    let value = skim.pass()?;
    if skim.is_done() {
        Ok(value)
    } else {
        Err(Strayed)
    }
}

/// The same member by member and item by item, each of which is passed over.
fn stepwise(mut skim: Skim<'_>) -> Result<usize, Strayed> {
    let mut passed = 0;
    if skim.enter_object() {
        while skim.next_key()?.is_some() {
            skim.pass()?;
            passed += 1;
        }
    } else if skim.enter_array() {
        while skim.next_item()? {
            skim.pass()?;
            passed += 1;
        }
    } else {
        skim.pass()?;
    }
    if skim.is_done() {
        Ok(passed)
    } else {
        Err(Strayed)
    }
}

/// The members of an object: a number that stands for the key, and where the value is.
type Members = Result<Vec<(u64, Range<usize>)>, Strayed>;

fn number(key: &[u8]) -> u64 {
    let add = |sum: u64, byte: &u8| sum.wrapping_mul(31).wrapping_add(u64::from(*byte));
    key.iter().fold(1, add)
}

fn one_by_one(mut skim: Skim<'_>) -> Members {
    let mut found = Vec::new();
    if skim.enter_object() {
        while let Some(key) = skim.next_key()? {
            found.push((number(&key.bytes()), skim.pass()?.span()));
        }
    }
    Ok(found)
}

fn as_the_others(mut skim: Skim<'_>, others: &mut ObjectShape<u64>) -> Members {
    let mut found = Vec::new();
    if skim.enter_alike(others) {
        while let Some(key) = skim.next_alike(others)? {
            found.push((key, skim.pass()?.span()));
        }
    }
    Ok(found)
}

/// Objects of members that are spelled in few ways, some of them wrong.
fn similar() -> impl Strategy<Value = String> {
    let between =
        prop::sample::select(vec![",", ",\n    ", ", ", "", "\t,", ",,", "}", " \u{a0},"]);
    let key = prop::sample::select(vec![
        "\"a\":",
        "\"b\": ",
        "\"c\" : ",
        "\"\\u0061\":",
        "b:",
        "\"long long long long long long long long long long\": ",
    ]);
    let value = prop::sample::select(vec!["1", "\"x\"", "{\"a\": [1, 2]}", "[]", "tru"]);
    let end = prop::sample::select(vec!["}", "\n}", "", "]"]);
    let member = (between, key, value);
    (proptest::collection::vec(member, 0..6), end, " {0,99}").prop_map(|(members, end, rest)| {
        let mut text = String::from("{");
        for (at, (between, key, value)) in members.iter().enumerate() {
            // Mostly right.
            if at > 0 || between.trim().len() > 1 {
                text.push_str(between);
            }
            text.push_str(key);
            text.push_str(value);
        }
        text + end + &rest
    })
}

/// Compares what was found with the same value of a tree, and all in it.
fn assert_same(found: Passed<'_>, value: Value<'_>) {
    let mut pairs = vec![(found, value)];
    while let Some((found, value)) = pairs.pop() {
        assert_eq!(found.span(), value.span());
        assert_eq!(found.raw(), value.raw());
        assert_eq!(found.text(), value.text());
        assert_eq!(found.content(), value.content());
        assert_eq!(found.u64(), value.u64());
        assert_eq!(found.i64(), value.i64());
        assert_eq!(found.f64(), value.f64());
        assert_eq!(found.is_str("a"), value.is_str("a"));
        if let Some(text) = value.str() {
            assert_eq!(found.is_str(&text), value.is_str(&text));
        }
        assert_eq!(found.bool(), value.bool());
        assert_eq!(found.is_null(), value.is_null());
        assert_eq!(found.is_object(), value.is_object());
        assert_eq!(found.is_array(), value.is_array());
        assert_eq!(found.items().count(), value.items().count());
        pairs.extend(found.items().zip(value.items()));
        assert_eq!(found.members().count(), value.members().count());
        for ((key, inner), (name, value_of)) in found.members().zip(value.members()) {
            let name = name.str().unwrap();
            assert_eq!(key.text(), name);
            if !name.contains('\u{FFFD}') {
                assert_eq!(key.bytes(), name.as_bytes());
                let last = found.get(&name).map(Passed::span);
                assert_eq!(last, value.get(&name).map(Value::span));
            }
            pairs.push((inner, value_of));
        }
    }
}

proptest! {
    #[test]
    fn values_are_those_of_a_tree(src in generate::document(Oddity::Wild)) {
        let tree = Tree::parse(&src).unwrap();
        for skim in [Skim::checking(&src), Skim::trusting(&src)] {
            assert_same(whole(skim.clone()).unwrap(), tree.root(&src));
            stepwise(skim).unwrap();
        }
    }

    #[test]
    fn checking_accepts_what_a_tree_accepts(src in generate::nearly(Oddity::Wild)) {
        let is_json = Tree::parse(&src).is_ok();
        prop_assert_eq!(whole(Skim::checking(&src)).is_ok(), is_json);
        prop_assert_eq!(stepwise(Skim::checking(&src)).is_ok(), is_json);
    }

    #[test]
    fn objects_that_look_alike_are_read_like_others(
        texts in proptest::collection::vec(similar(), 1..12),
        docs in proptest::collection::vec(generate::nearly(Oddity::Wild), 0..3),
    ) {
        let mut checked = ObjectShape::new(number);
        let mut trusted = ObjectShape::new(number);
        let texts: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
        let docs = docs.iter().map(Vec::as_slice);
        let all: Vec<&[u8]> = texts.iter().copied().chain(docs).collect();
        for src in all.iter().chain(&all) {
            let skim = Skim::checking(src);
            prop_assert_eq!(as_the_others(skim.clone(), &mut checked), one_by_one(skim));
            let skim = Skim::trusting(src);
            prop_assert_eq!(as_the_others(skim.clone(), &mut trusted), one_by_one(skim));
        }
    }

    #[test]
    fn trusting_comes_to_an_end(src in generate::nearly(Oddity::Wild)) {
        if let Ok(found) = whole(Skim::trusting(&src)) {
            let mut inside = vec![found];
            let mut seen = 0;
            while let Some(found) = inside.pop() {
                seen += 1;
                prop_assert!(found.span().end <= src.len());
                let _ = (found.text(), found.u64());
                inside.extend(found.items());
                inside.extend(found.members().map(|(_, value)| value));
            }
            prop_assert!(seen <= src.len());
        }
        let _ = stepwise(Skim::trusting(&src));
    }
}

#[test]
fn long_strings_end_at_their_own_quotes() {
    for slashes in 0..40 {
        let inside = format!("{}{}", "x".repeat(slashes), "\\\\".repeat(slashes));
        let src = format!("[\"{inside}\", \"{inside}\\\"]\", {{\"a\": \"}}\"}}]");
        for skim in [
            Skim::checking(src.as_bytes()),
            Skim::trusting(src.as_bytes()),
        ] {
            assert_eq!(stepwise(skim), Ok(3), "{src}");
        }
    }
}

#[test]
fn nesting_may_be_as_deep_as_the_text_is_long() {
    let deep = [vec![b'['; 200_000], vec![b']'; 200_000]].concat();
    assert!(whole(Skim::checking(&deep)).is_ok());
    assert!(whole(Skim::trusting(&deep)).is_ok());
    assert!(whole(Skim::checking(&deep[1..])).is_err());
    assert!(whole(Skim::trusting(&deep[..399_999])).is_err());
}
