use proptest::prelude::*;
use rethread_json::{Array, Object, Tree, compact, pretty, quote};

use crate::generate::{self, Oddity};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn layout_is_all_that_changes(json in generate::document(Oddity::Wild), indent in 0..5_usize, level in 0..3_usize) {
        let small = compact(&json).unwrap();
        prop_assert_eq!(&compact(&small).unwrap(), &small);
        let spread = pretty(&json, indent, level);
        prop_assert_eq!(compact(&spread).unwrap(), small);
        prop_assert_eq!(&pretty(&spread, indent, level), &spread);
    }

    #[test]
    fn pretty_is_that_of_serde_json(json in generate::object(Oddity::Tame)) {
        // Written by `serde_json`, spelling is the same on both sides.
        let judge: serde_json::Value = serde_json::from_slice(&json).unwrap();
        let small = serde_json::to_vec(&judge).unwrap();
        prop_assert_eq!(pretty(&small, 2, 0), serde_json::to_vec_pretty(&judge).unwrap());
    }

    #[test]
    fn strings_are_written_as_by_serde_json(text: String) {
        prop_assert_eq!(quote(&text), serde_json::to_vec(&text).unwrap());
    }

    #[test]
    fn control_characters_too(text in "[\\x00-\\x30\\x5c\\x7f]{0,40}") {
        prop_assert_eq!(quote(&text), serde_json::to_vec(&text).unwrap());
        let quoted = quote(&text);
        let tree = Tree::parse(&quoted).unwrap();
        prop_assert!(tree.root(&quoted).is_str(&text));
    }
}

#[test]
fn builders_write_compact_json() {
    let items = Array::new().str("a\n").raw(b"{}").u64(3).finish();
    let json = Object::new()
        .raw("items", &items)
        .i64("i", -1)
        .bool("b", true)
        .null("n")
        .opt_str("some", Some("x"))
        .opt_raw("none", None)
        .finish();
    assert_eq!(
        json,
        br#"{"items":["a\n",{},3],"i":-1,"b":true,"n":null,"some":"x"}"#
    );
    assert_eq!(Object::new().finish(), b"{}");
    assert_eq!(Array::new().finish(), b"[]");
}

#[test]
fn pretty_leaves_alone_what_is_no_json() {
    assert_eq!(pretty(b"{oops", 2, 0), b"{oops");
    assert_eq!(pretty(b"[[],1]", 2, 1), b"[\n    [],\n    1\n  ]");
}
