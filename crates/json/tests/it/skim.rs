use proptest::prelude::*;
use rethread_json::{Passed, Skim, Strayed, Tree, Value};

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
