//! Sessions measured by what the client would stumble over.

use std::fs;
use std::path::PathBuf;

use insta::assert_snapshot;

use super::{BASE, CASES, home, start};
use crate::world::{json, tree};

#[test]
fn check_names_what_the_client_would_stumble_over() {
    let w = home(&CASES);
    let home = w.home.join(".codex");
    let answer = w.run(&["check", home.to_str().unwrap()]);
    assert_eq!(answer.code, 1, "{answer:?}");
    let text = w.plain(&answer.out).replace("[ROOT]/home/.codex/", "");
    assert_snapshot!("codex_check", text);
    let (id, path) = start(&w, &[]);
    w.ok(&["append", &id, "Fine"]);
    let fine = w.run(&["check", path.to_str().unwrap()]);
    assert_eq!((fine.code, fine.out.as_str()), (0, ""), "{fine:?}");
}

#[test]
fn check_knows_the_numbers_of_pages() {
    let w = home(&["0.166/forks"]);
    let is_base = |(p, _): &(PathBuf, Vec<u8>)| p.to_str().unwrap().contains(BASE);
    let (path, bytes) = tree(&w.home.join(".codex"))
        .into_iter()
        .find(is_base)
        .unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let rules = |text: &str| {
        fs::write(&path, text).unwrap();
        let answer = w.run(&["check", path.to_str().unwrap(), "--json"]);
        let rules = answer
            .out
            .lines()
            .filter_map(|l| json(l)["rule"].as_str().map(str::to_owned));
        rules.collect::<Vec<_>>()
    };
    assert_eq!(rules(&text), Vec::<String>::new());
    assert_eq!(rules(&text.replace("\"ordinal\":3,", "")), ["ordinal"]);
    assert_eq!(
        rules(&text.replace("\"ordinal\":3,", "\"ordinal\":4,")),
        ["ordinal", "ordinal"]
    );
    assert_eq!(
        rules(&text.replace("\"paginated\"", "\"striped\"")),
        ["history-mode"]
    );
    assert_eq!(
        rules(&text.replace("\"cli_version\"", "\"x\"")),
        ["meta-field"]
    );
    let without_first: String = text.split_inclusive('\n').skip(1).collect();
    assert_eq!(rules(&without_first), ["meta-first"]);
    assert_eq!(
        rules(&text.replace("UserMessage", "HookPrompt")),
        ["preview"]
    );
}
