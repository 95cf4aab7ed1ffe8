//! Every method of the document has a name here.

use std::collections::BTreeMap;

/// Names that are not the document's in the spelling of Rust.
const OTHERWISE: [(&str, &str); 2] = [
    ("getBranch", "branch_path"),
    ("appendCustomMessageEntry", "append_custom_message"),
];

#[test]
fn every_method_of_the_document_is_offered() {
    let methods = include_str!("../../../../../fixtures/pi/document/methods.txt");
    let sources = [
        include_str!("../../../src/pi/manager/append.rs"),
        include_str!("../../../src/pi/manager/branched.rs"),
        include_str!("../../../src/pi/manager/create.rs"),
        include_str!("../../../src/pi/manager/info.rs"),
        include_str!("../../../src/pi/manager/list.rs"),
        include_str!("../../../src/pi/manager/navigate.rs"),
    ];
    let otherwise = BTreeMap::from(OTHERWISE);
    let mut count = 0;
    for method in methods.lines() {
        let plain = method.strip_prefix("get").unwrap_or(method);
        let name = match otherwise.get(method) {
            Some(name) => (*name).to_owned(),
            None => snake(plain),
        };
        let is_there = |source: &str| source.contains(&format!("    pub fn {name}("));
        assert!(sources.iter().any(|s| is_there(s)), "{method}: no {name}");
        count += 1;
    }
    assert_eq!(count, 37);
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
