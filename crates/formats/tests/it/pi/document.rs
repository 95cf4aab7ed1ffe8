//! Every method of the document has a name here, and an example.

use std::collections::BTreeMap;

#[path = "../../../examples/session_manager.rs"]
mod example;

/// The methods in the order of the document.
const METHODS: &str = include_str!("../../../../../fixtures/pi/document/methods.txt");

const EXAMPLE: &str = include_str!("../../../examples/session_manager.rs");

const SOURCES: [&str; 6] = [
    include_str!("../../../src/pi/manager/append.rs"),
    include_str!("../../../src/pi/manager/branched.rs"),
    include_str!("../../../src/pi/manager/create.rs"),
    include_str!("../../../src/pi/manager/info.rs"),
    include_str!("../../../src/pi/manager/list.rs"),
    include_str!("../../../src/pi/manager/navigate.rs"),
];

/// Names that are not the document's in the spelling of Rust.
const OTHERWISE: [(&str, &str); 2] = [
    ("getBranch", "branch_path"),
    ("appendCustomMessageEntry", "append_custom_message"),
];

/// What a method of the document is called here.
fn name_of(method: &str) -> String {
    match BTreeMap::from(OTHERWISE).get(method) {
        Some(name) => (*name).to_owned(),
        None => snake(method.strip_prefix("get").unwrap_or(method)),
    }
}

fn snake(camel: &str) -> String {
    let mut out = String::new();
    for c in camel.chars() {
        if c.is_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out
}

#[test]
fn every_method_of_the_document_is_offered_and_has_an_example() {
    for method in METHODS.lines() {
        let head = format!("    pub fn {}(", name_of(method));
        let found = SOURCES.iter().find_map(|source| source.split_once(&head));
        let (before, _) = found.unwrap_or_else(|| panic!("{method}: no `{head}`"));
        let docs = before.lines().rev();
        let mut docs = docs.take_while(|line| line.trim_start().starts_with("///"));
        assert!(docs.any(|line| line.trim() == "/// ```"), "{method}");
    }
    assert_eq!(METHODS.lines().count(), 37);
}

#[test]
fn the_example_goes_through_all_methods_in_the_order_of_the_document() {
    example::main().unwrap();
    let parts: Vec<&str> = EXAMPLE.split("\n\n    // ").skip(1).collect();
    assert_eq!(parts.len(), METHODS.lines().count());
    for (method, part) in METHODS.lines().zip(parts) {
        let heading = part.split(['\n', ':']).next();
        assert_eq!(heading, Some(method));
        let call = format!("{}(", name_of(method));
        assert!(part.contains(&call), "{method}: no `{call}`");
    }
}
