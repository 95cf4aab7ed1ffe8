use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use rethread_json::{Document, InsertAt, Patch, Value, compact, pretty};

use crate::generate::{self, Oddity};

#[derive(Clone, Debug)]
enum Edit {
    Set(&'static str, Vec<u8>),
    Insert(&'static str, Vec<u8>, InsertAt<'static>),
    Remove(&'static str),
}

fn edit() -> impl Strategy<Value = Edit> {
    let key = || select(vec!["a", "b", "c", "", "new", "ü\""]);
    let json = || generate::value(Oddity::Wild).prop_map(|json| compact(&json).unwrap());
    let place = prop_oneof![
        Just(InsertAt::First),
        Just(InsertAt::Last),
        key().prop_map(InsertAt::Before),
        key().prop_map(InsertAt::After),
    ];
    prop_oneof![
        (key(), json()).prop_map(|(key, json)| Edit::Set(key, json)),
        (key(), json(), place).prop_map(|(key, json, place)| Edit::Insert(key, json, place)),
        key().prop_map(Edit::Remove),
    ]
}

/// Names (none for those that are no text) and compact values, in order.
type Members = Vec<(Option<String>, Vec<u8>)>;

fn members(object: Value<'_>) -> Members {
    let name = |key: Value<'_>| {
        key.text()
            .filter(|text| !text.lossy)
            .map(|text| text.text.into_owned())
    };
    object
        .members()
        .map(|(key, value)| (name(key), compact(value.raw()).unwrap()))
        .collect()
}

/// What the edit must do, done to a plain list.
fn model(members: &mut Members, edit: &Edit) {
    let find = |members: &Members, key: &str| {
        members
            .iter()
            .rposition(|(name, _)| name.as_deref() == Some(key))
    };
    match edit {
        Edit::Set(key, json) => match find(members, key) {
            Some(at) => members[at].1.clone_from(json),
            None => members.push((Some((*key).to_owned()), json.clone())),
        },
        Edit::Insert(key, json, place) => {
            let at = match place {
                InsertAt::First => Some(0),
                InsertAt::Last => None,
                InsertAt::Before(key) => find(members, key),
                InsertAt::After(key) => find(members, key).map(|at| at + 1),
            };
            members.insert(
                at.unwrap_or(members.len()),
                (Some((*key).to_owned()), json.clone()),
            );
        }
        Edit::Remove(key) => members.retain(|(name, _)| name.as_deref() != Some(key)),
    }
}

fn make<'a>(patch: &mut Patch<'a>, object: Value<'a>, edit: &Edit) {
    match edit {
        Edit::Set(key, json) => patch.set(object, key, json),
        Edit::Insert(key, json, place) => patch.insert(object, key, json, *place),
        Edit::Remove(key) => patch.remove(object, key),
    }
}

fn edited(document: &Document, edits: &[Edit]) -> Vec<u8> {
    let mut patch = Patch::new(document.root());
    for edit in edits {
        make(&mut patch, document.root(), edit);
    }
    patch.finish()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_edits_keep_every_byte(json in generate::document(Oddity::Wild)) {
        let document = Document::parse(json.clone()).unwrap();
        prop_assert_eq!(Patch::new(document.root()).finish(), json);
    }

    #[test]
    fn edits_do_what_they_say(json in generate::object(Oddity::Wild), edits in vec(edit(), 1..6), layout in 0..3_u8) {
        let json = match layout {
            0 => json,
            1 => compact(&json).unwrap(),
            _ => pretty(&json, 2, 0),
        };
        let document = Document::parse(json).unwrap();
        let mut expected = members(document.root());
        for edit in &edits {
            model(&mut expected, edit);
        }
        let result = Document::parse(edited(&document, &edits)).unwrap();
        prop_assert_eq!(members(result.root()), expected);
        let is_empty = document.root().members().next().is_none();
        if layout == 1 {
            prop_assert_eq!(&compact(result.bytes()).unwrap(), result.bytes());
        } else if layout == 2 && !is_empty {
            let spread = pretty(result.bytes(), 2, 0);
            prop_assert_eq!(String::from_utf8_lossy(&spread), String::from_utf8_lossy(result.bytes()));
        }
    }

    #[test]
    fn set_changes_one_value_only(json in generate::object(Oddity::Tame), key in select(vec!["a", "b", "type", "new"]), new in generate::value(Oddity::Tame)) {
        let surrounded = [b"\xEF\xBB\xBF \r\n", &json[..], b"\n\n"].concat();
        let document = Document::parse(surrounded).unwrap();
        let mut patch = Patch::new(document.root());
        patch.set(document.root(), key, &new);
        let result = patch.finish();
        let is_surrounded = result.starts_with(b"\xEF\xBB\xBF \r\n{") && result.ends_with(b"}\n\n");
        prop_assert!(is_surrounded);
        let result = Document::parse(result).unwrap();
        let others = |document: &Document| -> Vec<(Vec<u8>, Vec<u8>)> {
            let target = document.root().get(key).map(Value::span);
            let others = document.root().members().filter(|(_, value)| Some(value.span()) != target);
            others.map(|(key, value)| (key.raw().to_vec(), value.raw().to_vec())).collect()
        };
        prop_assert_eq!(others(&document), others(&result));
        let mut judge: serde_json::Value = serde_json::from_slice(&json).unwrap();
        judge[key] = serde_json::from_slice(&new).unwrap();
        let found: serde_json::Value = serde_json::from_slice(result.root().raw()).unwrap();
        prop_assert_eq!(found, judge);
    }

    #[test]
    fn replacing_any_value_keeps_the_rest(json in generate::document(Oddity::Wild), which: prop::sample::Index) {
        let document = Document::parse(json.clone()).unwrap();
        let mut all = vec![document.root()];
        let mut at = 0;
        while let Some(&value) = all.get(at) {
            all.extend(value.items());
            all.extend(value.members().map(|(_, value)| value));
            at += 1;
        }
        let value = all[which.index(all.len())];
        let mut patch = Patch::new(document.root());
        patch.replace(value, b"\"new\"");
        let span = value.span();
        let expected = [&json[..span.start], b"\"new\"", &json[span.end..]].concat();
        prop_assert_eq!(patch.finish(), expected);
    }

    #[test]
    fn edits_everywhere_leave_json(json in generate::document(Oddity::Wild), edits in vec((any::<prop::sample::Index>(), 0..3_u8, edit()), 1..8)) {
        let document = Document::parse(json).unwrap();
        let mut all = vec![document.root()];
        let mut at = 0;
        while let Some(&value) = all.get(at) {
            all.extend(value.items());
            all.extend(value.members().flat_map(|(key, value)| [key, value]));
            at += 1;
        }
        let mut patch = Patch::new(document.root());
        for (index, how, edit) in &edits {
            let value = all[index.index(all.len())];
            match how {
                0 => patch.push(value, b"{\"pushed\":[]}"),
                1 => patch.replace(value, b"\"replaced\""),
                _ => make(&mut patch, value, edit),
            }
        }
        prop_assert!(Document::parse(patch.finish()).is_ok());
    }
}

fn patched(json: &str, edit: impl for<'a> FnOnce(&mut Patch<'a>, Value<'a>)) -> String {
    let document = Document::parse(json.as_bytes().to_vec()).unwrap();
    let mut patch = Patch::new(document.root());
    edit(&mut patch, document.root());
    String::from_utf8(patch.finish()).unwrap()
}

#[test]
fn spacing_is_imitated() {
    let add = |json| patched(json, |patch, root| patch.set(root, "n", b"1"));
    assert_eq!(add("{}"), r#"{"n":1}"#);
    assert_eq!(add(r#"{"a":1}"#), r#"{"a":1,"n":1}"#);
    assert_eq!(add(r#"{"a": 1}"#), r#"{"a": 1, "n": 1}"#);
    assert_eq!(add(r#"{ "a": 1,"b":2 }"#), r#"{ "a": 1,"b":2,"n": 1 }"#);
    assert_eq!(add("{\n\t\"a\": 1\n}\n"), "{\n\t\"a\": 1,\n\t\"n\": 1\n}\n");
    assert_eq!(
        add("{\r\n  \"a\" : 1\r\n}"),
        "{\r\n  \"a\" : 1,\r\n  \"n\" : 1\r\n}"
    );
    assert_eq!(add("{\n}"), "{\n  \"n\": 1\n}");
    assert_eq!(
        add("{\n\n    \"a\": 1}"),
        "{\n\n    \"a\": 1,\n    \"n\": 1}"
    );
    assert_eq!(add("[]"), "[]");
}

#[test]
fn containers_are_spread_where_their_container_is() {
    let add = |json| {
        patched(json, |patch, root| {
            patch.set(root, "n", br#"{"x":[1],"y":{}}"#);
        })
    };
    let spread = "{\n\t\"a\": 1,\n\t\"n\": {\n\t\t\"x\": [\n\t\t\t1\n\t\t],\n\t\t\"y\": {}\n\t}\n}";
    assert_eq!(add("{\n\t\"a\": 1\n}"), spread);
    assert_eq!(add("{\n\t\"a\": 1,\n\t\"n\": null\n}"), spread);
    assert_eq!(add(r#"{"a":1}"#), r#"{"a":1,"n":{"x":[1],"y":{}}}"#);
    let kept = patched("{\n  \"a\": 1\n}", |patch, root| {
        patch.set(root, "a", b"[\n1]");
    });
    assert_eq!(kept, "{\n  \"a\": [\n1]\n}");
}

#[test]
fn empty_containers_open_up() {
    let json = "{\n  \"a\": {\n    \"b\": {},\n    \"c\": []\n  }\n}";
    let result = patched(json, |patch, root| {
        patch.set(root.at(&["a", "b"]).unwrap(), "x", b"1");
        patch.set(root.at(&["a", "b"]).unwrap(), "y", b"[2]");
        patch.push(root.at(&["a", "c"]).unwrap(), b"{}");
    });
    assert_eq!(
        result.as_bytes(),
        pretty(br#"{"a":{"b":{"x":1,"y":[2]},"c":[{}]}}"#, 2, 0)
    );
    let flat = patched(r#"{"a": {}}"#, |patch, root| {
        patch.set(root.get("a").unwrap(), "x", b"1");
        patch.set(root.get("a").unwrap(), "y", b"2");
    });
    assert_eq!(flat, r#"{"a": {"x": 1, "y": 2}}"#);
}

#[test]
fn removing_takes_one_comma_along() {
    let remove = |json| patched(json, |patch, root| patch.remove(root, "x"));
    assert_eq!(remove(r#"{ "x": 1 , "a": 2 }"#), r#"{ "a": 2 }"#);
    assert_eq!(remove(r#"{"a":1, "x":2, "b":3}"#), r#"{"a":1, "b":3}"#);
    assert_eq!(remove(r#"{"a":1 , "x":2 }"#), r#"{"a":1 }"#);
    assert_eq!(remove(r#"{"x":1,"a":2,"x":3,"\u0078":4}"#), r#"{"a":2}"#);
    assert_eq!(remove("{\n  \"x\": 1\n}"), "{}");
    assert_eq!(remove("{\n  \"x\": 1,\n  \"a\": 2\n}"), "{\n  \"a\": 2\n}");
    assert_eq!(remove(r#"{"a":1}"#), r#"{"a":1}"#);
}

#[test]
fn edits_of_one_object_compose() {
    let result = patched(r#"{"a":1,"b":2,"c":3}"#, |patch, root| {
        patch.insert(root, "y", b"1", InsertAt::Last);
        patch.insert(root, "z", b"1", InsertAt::Last);
        patch.remove(root, "a");
        patch.insert(root, "first", b"1", InsertAt::First);
        patch.insert(root, "mid", b"1", InsertAt::After("b"));
        patch.set(root, "y", b"2");
        patch.set(root, "c", b"4");
        patch.remove(root, "z");
        patch.set(root, "a", b"5");
        patch.insert(root, "q", b"6", InsertAt::Before("missing"));
    });
    assert_eq!(
        result,
        r#"{"first":1,"b":2,"mid":1,"c":4,"y":2,"a":5,"q":6}"#
    );
}

#[test]
fn the_outer_edit_wins() {
    let json = r#"{"a":{"b":{"c":1}},"d":[1]}"#;
    let result = patched(json, |patch, root| {
        let a = root.get("a").unwrap();
        patch.replace(root.at(&["a", "b", "c"]).unwrap(), b"2");
        patch.set(a, "x", b"1");
        patch.push(root.get("d").unwrap(), b"2");
        patch.replace(root.get("d").unwrap(), b"null");
        patch.remove(root, "a");
    });
    assert_eq!(result, r#"{"d":null}"#);
    let all = patched(json, |patch, root| {
        patch.remove(root, "d");
        patch.replace(root, b"7");
    });
    assert_eq!(all, "7");
}

#[test]
fn values_of_other_documents_are_ignored() {
    let other = Document::parse(b"[1,2,3,[{}]]".to_vec()).unwrap();
    let document = Document::parse(b"{}".to_vec()).unwrap();
    let mut patch = Patch::new(document.root());
    let inner = other.root().items().last().unwrap();
    patch.replace(inner, b"1");
    patch.push(inner, b"1");
    patch.set(inner.items().next().unwrap(), "a", b"1");
    assert_eq!(patch.finish(), b"{}");
}
