//! What a file may look like.

use rethread_formats::pi::EntryKind;

use super::world::{HEADER, messages, said, session, world};

#[test]
fn damaged_and_blank_lines_are_passed_over() {
    let w = world();
    let good = messages(&[("a", ""), ("b", "a")]);
    let lines: Vec<&str> = good.lines().collect();
    let text = format!(
        "\ngarbage\n{}\n\n{{torn\n{}\n[1]\n42\nnull\n\"x\"\n{}\n",
        lines[0], lines[1], lines[2]
    );
    let s = w.open(&w.put("s.jsonl", &text));
    assert_eq!(said(&s), ["user: a", "user: b"]);
    assert_eq!(s.entries().len(), 2);
}

#[test]
fn carriage_returns_and_a_byte_order_mark_are_no_harm() {
    let w = world();
    let text = format!("\u{feff}{}", messages(&[("a", "")]).replace('\n', "\r\n"));
    let s = w.open(&w.put("s.jsonl", &text));
    assert_eq!(said(&s), ["user: a"]);
    assert_eq!(s.header().raw(), HEADER.as_bytes());
}

#[test]
fn a_second_header_is_no_entry() {
    let w = world();
    let text = messages(&[("a", "")]) + &HEADER.replace("\"s\"", "\"t\"") + "\n";
    let s = w.open(&w.put("s.jsonl", &text));
    assert_eq!(s.session_id(), "s");
    assert_eq!(s.entries().len(), 1);
}

#[test]
fn a_version_in_quotes_is_a_version() {
    let w = world();
    let text = messages(&[("a", "")]).replace("\"version\":3", "\"version\":\"3\"");
    let s = w.open(&w.put("s.jsonl", &text));
    assert_eq!(s.header().version(), 3);
    assert_eq!(s.entries()[0].id(), "a");
}

#[test]
fn of_entries_with_one_id_the_last_is_found() {
    let w = world();
    let text = messages(&[("a", ""), ("a", ""), ("b", "a")]).replacen(
        "\"content\":\"a\"",
        "\"content\":\"first\"",
        1,
    );
    let s = w.open(&w.put("s.jsonl", &text));
    assert_eq!(s.entries().len(), 3);
    assert_eq!(said(&s), ["user: a", "user: b"]);
    let tree = s.tree();
    assert_eq!(tree.roots(), [0, 1]);
    assert_eq!(tree.node(1).unwrap().children, [2]);
}

#[test]
fn ids_need_not_be_hexadecimal_and_types_need_not_be_known() {
    let w = world();
    let s = w.open(&w.put(
        "s.jsonl",
        &session(&[r#"{"type":"mystery","id":"e5f6g7h8","parentId":null}"#]),
    ));
    assert_eq!(s.leaf_id(), Some("e5f6g7h8"));
    assert_eq!(s.leaf_entry().unwrap().kind(), EntryKind::Other);
    assert_eq!(s.leaf_entry().unwrap().type_name(), "mystery");
}

#[test]
fn an_entry_without_an_id_is_listed_and_never_found() {
    let w = world();
    let text = messages(&[("a", "")]) + "{\"type\":\"custom\",\"customType\":\"x\"}\n";
    let s = w.open(&w.put("s.jsonl", &text));
    assert_eq!(s.entries().len(), 2);
    assert_eq!(s.leaf_id(), Some("a"));
    assert!(s.entry("").is_none());
}

#[test]
fn labels_are_read_from_the_file() {
    let w = world();
    let text = messages(&[("a", "")])
        + r#"{"type":"label","id":"l","parentId":"a","timestamp":"2025-01-01T00:00:02.000Z","targetId":"a","label":"x"}"#;
    assert_eq!(w.open(&w.put("s.jsonl", &text)).label("a"), Some("x"));
}
