//! What is found of damage in documents, held and in blocks.

use proptest::prelude::*;

use super::value::ValueScan;
use super::*;
use crate::tree::Tree;

fn text(document: &str) -> Option<String> {
    let mended = mend(document.as_bytes(), &["list"])?;
    assert_eq!(mended.bytes.len(), document.len());
    Some(String::from_utf8(mended.bytes).unwrap())
}

#[test]
fn a_damaged_value_becomes_null_and_the_rest_stays() {
    for (document, expected) in [
        (r#"{"a":"\q","list":[1]}"#, r#"{"a":null,"list":[1]}"#),
        (r#"[{"a":tru},{"b":1}]"#, r#"[null     ,{"b":1}]"#),
        // The quote that ends a string is gone.
        (
            "{\"list\": [\n  {\"a\": \"x},\n  {\"a\": \"y\"}\n]}",
            "{\"list\": [\n  null     ,\n  {\"a\": \"y\"}\n]}",
        ),
        (
            r#"{"list":[{"a":1,"b":2},{"a":"x,"b":{"c":3}},{"a":4,"b":5}]}"#,
            r#"{"list":[{"a":1,"b":2},null                ,{"a":4,"b":5}]}"#,
        ),
    ] {
        assert_eq!(text(document).as_deref(), Some(expected));
    }
}

#[test]
fn what_is_whole_or_merely_cut_off_is_not_mended() {
    for document in [r#"{"list":[{"a":1}]}"#, r#"{"list":[{"a":1},{"a"#, "", "5"] {
        assert_eq!(text(document), None, "{document}");
    }
}

#[test]
fn every_byte_of_a_list_can_be_damaged() {
    let whole = "{\"id\":\"s\",\"list\":[\n  {\"a\":\"one\",\"b\":[1]},\n  {\"a\":\"two\",\"b\":[2]},\n  {\"a\":\"three\",\"b\":[3]}\n]}";
    let second = whole.find("{\"a\":\"two").unwrap();
    for at in second..second + "{\"a\":\"two\",\"b\":[2]}".len() {
        let mut document = whole.as_bytes().to_vec();
        document[at] = 1;
        let mended = mend(&document, &["list"]);
        let mended = mended.unwrap_or_else(|| panic!("byte {at}"));
        let tree = Tree::parse(&mended.bytes).unwrap();
        let list = tree.root(&mended.bytes).get("list").unwrap();
        let items: Vec<_> = list.items().map(|i| i.raw().to_vec()).collect();
        assert_eq!(items.len(), 3, "byte {at}");
        assert_eq!(items[0], b"{\"a\":\"one\",\"b\":[1]}");
        assert_eq!(items[2], b"{\"a\":\"three\",\"b\":[3]}");
    }
}

/// Reads bytes of a slice, fewer at a time than are asked for.
fn reading(document: &[u8]) -> impl FnMut(u64, &mut [u8]) -> io::Result<usize> {
    move |at, out| {
        let at = usize::try_from(at).unwrap().min(document.len());
        let count = out.len().min(document.len() - at).min(3);
        out[..count].copy_from_slice(&document[at..at + count]);
        Ok(count)
    }
}

/// Words of documents, whole and broken.
fn words() -> impl Strategy<Value = Vec<u8>> {
    let words = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\"a\":",
        "\"b\":",
        "\"list\":",
        "\"list\": [\n  ",
        "{\"a\":1,\"b\":2}",
        "{\"a\": \"x\"}",
        ",\n  {\"a\":\"y,\"b\":3}",
        ",\n  ",
        "\n",
        " ",
        "\t",
        "tru",
        "true",
        "null",
        "-1.5e3",
        "01",
        "\\",
        "\\u00e9",
        "\\q",
        "\u{1}",
        "\u{e9}",
        "text",
        "{\"info\":{},\"list\":[",
        "]}",
        "\u{feff}",
    ];
    let word = proptest::sample::select(words.to_vec());
    proptest::collection::vec(word, 0..40).prop_map(|words| words.concat().into_bytes())
}

/// A document as programs write it.
fn documents() -> impl Strategy<Value = Vec<u8>> {
    let item = prop_oneof![
        "[a-z\"\\\\{},]{0,12}".prop_map(|text| serde_json::json!({ "a": text, "b": [1, text] })),
        (0..99_i32).prop_map(|n| serde_json::json!({ "id": n, "at": { "x": [n] } })),
        (0..99_i32).prop_map(|n| serde_json::json!(n)),
    ];
    let items = proptest::collection::vec(item, 0..8);
    (items, any::<bool>(), 0..3).prop_map(|(items, is_pretty, shape)| {
        let document = match shape {
            0 => serde_json::json!({ "id": { "a": 1 }, "list": items, "more": "x" }),
            1 => serde_json::json!({ "list": items }),
            _ => serde_json::json!(items),
        };
        if is_pretty {
            serde_json::to_vec_pretty(&document).unwrap()
        } else {
            serde_json::to_vec(&document).unwrap()
        }
    })
}

/// Documents in which bytes were replaced, removed and put in.
fn damaged_documents() -> impl Strategy<Value = Vec<u8>> {
    let byte = proptest::sample::select(b"\x01\"{}[],: \n\\x\xFF".to_vec());
    let change = (any::<proptest::sample::Index>(), byte, 0..3);
    (documents(), proptest::collection::vec(change, 1..4)).prop_map(|(mut document, changes)| {
        for (index, byte, how) in changes {
            let at = index.index(document.len());
            match how {
                0 => document[at] = byte,
                1 => document.insert(at, byte),
                _ if document.len() > 1 => drop(document.remove(at)),
                _ => {}
            }
        }
        document
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// However little of a document is held, the same values are damaged.
    #[test]
    fn blocks_of_any_size_give_what_a_held_document_gives(
        document in prop_oneof![words(), damaged_documents()],
        block in 1_usize..9,
    ) {
        let held = mend(&document, &["list"]);
        let damaged = held.as_ref().map(|held| held.damaged.clone()).unwrap_or_default();
        let found = find_in_blocks(reading(&document), document.len() as u64, &["list"], block);
        prop_assert_eq!(found.unwrap(), damaged);
    }

    /// Bytes that are masked in pieces are those that are masked at once.
    #[test]
    fn a_document_is_masked_in_pieces(document in damaged_documents(), piece in 1_usize..9) {
        if let Some(held) = mend(&document, &["list"]) {
            let mut bytes = document;
            let mut start = 0;
            for part in bytes.chunks_mut(piece) {
                mask_damaged(&held.damaged, start, part);
                start += part.len() as u64;
            }
            prop_assert_eq!(bytes, held.bytes);
        }
    }

    /// A value ends where the span tree says, or is wrong there.
    #[test]
    fn values_end_where_a_tree_says(
        text in prop_oneof![words(), documents(), damaged_documents()],
        block in 1_usize..9,
    ) {
        let mut tree = Tree::default();
        let expected = tree.parse_part(&text, 0).map_err(|fault| (fault.offset as u64, fault.kind));
        let mut blocks = ReadBlocks::new(reading(&text), text.len() as u64, block);
        let mut scan = ValueScan::default();
        let found = scan.value_end(&mut blocks, 0);
        let found = found.map_err(|fault| (fault.offset, fault.kind));
        prop_assert_eq!(found, expected.map(|end| end as u64));
        if expected.is_ok() {
            let keys = tree.root(&text).members().take(2);
            let keys: Vec<u8> = keys.flat_map(|(key, _)| key.raw().to_vec()).collect();
            prop_assert_eq!(scan.first_keys, keys);
        }
    }
}

#[test]
fn what_cannot_be_read_is_an_error() {
    let read_at = |_: u64, _: &mut [u8]| Err(io::Error::other("gone"));
    let failure = find_damaged(read_at, 10, &[]).unwrap_err();
    assert_eq!(failure.to_string(), "gone");
}
