//! Words that no file of the project may hold.

use crate::repository::{assert_none, files, root, text};

/// What must not be said, where, and why. Each is cut in two, so that this file does not say it.
const RULES: [Rule; 9] = [
    rule(["/wo", "rk/"], Where::Everywhere, MACHINE),
    rule(["/ro", "ot/"], Where::Everywhere, MACHINE),
    rule(["shared/", "corpus"], Where::NotCi, MACHINE),
    rule(["shared/", "seeds"], Where::Everywhere, MACHINE),
    rule(
        ["FIX", "ME"],
        Where::NotFixtures,
        "finish it, or leave it out",
    ),
    rule(["todo", "!("], Where::Code, "finish it, or leave it out"),
    rule(
        ["unimplemented", "!("],
        Where::Code,
        "finish it, or leave it out",
    ),
    rule(
        ["#[", "ignore"],
        Where::Code,
        "a test that does not run shows nothing",
    ),
    rule(
        ["Command::new(\"", "git\")"],
        Where::Program,
        "`project::program::git` starts it, so that nothing of a repository's own runs",
    ),
];

const MACHINE: &str = "that is a place on one machine";

struct Rule {
    words: [&'static str; 2],
    place: Where,
    why: &'static str,
}

#[derive(Clone, Copy)]
enum Where {
    Everywhere,
    /// `.ci/run` looks for conversations beside the checkout.
    NotCi,
    /// People say all kinds of things in conversations.
    NotFixtures,
    Code,
    /// What users run, but for the one place that may.
    Program,
}

const fn rule(words: [&'static str; 2], place: Where, why: &'static str) -> Rule {
    Rule { words, place, why }
}

impl Where {
    fn has(self, file: &str) -> bool {
        match self {
            Self::Everywhere => true,
            Self::NotCi => file != ".ci/run",
            Self::NotFixtures => !file.starts_with("fixtures/"),
            Self::Code => std::path::Path::new(file)
                .extension()
                .is_some_and(|e| e == "rs"),
            Self::Program => {
                file.starts_with("crates/")
                    && file.contains("/src/")
                    && file != "crates/project/src/program.rs"
            }
        }
    }
}

#[test]
fn no_file_says_what_it_must_not() {
    let root = root();
    let mut wrong = Vec::new();
    for file in files(&root) {
        wrong.extend(check(&file, &text(&root.join(&file))));
    }
    assert_none(&wrong);
}

fn check(file: &str, text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for rule in RULES.iter().filter(|rule| rule.place.has(file)) {
        let word = rule.words.concat();
        for (i, line) in text.lines().enumerate() {
            if line.contains(&word) {
                wrong.push(format!("{file}:{}: `{word}`: {}", i + 1, rule.why));
            }
        }
    }
    wrong
}

#[test]
fn each_rule_is_noticed_where_it_holds() {
    for rule in &RULES {
        let text = format!("fine\n  x{}y\n", rule.words.concat());
        let found = check("crates/json/src/lib.rs", &text);
        let [found] = found.as_slice() else {
            panic!("{found:?}");
        };
        assert!(found.starts_with("crates/json/src/lib.rs:2: "), "{found}");
    }
    let beside = ["shared/", "corpus"].concat();
    assert_none(&check(".ci/run", &beside));
    let unfinished = ["FIX", "ME ", "todo", "!("].concat();
    assert_none(&check("fixtures/atsf/1.1/x/messages.jsonl", &unfinished));
}

#[test]
fn files_of_every_kind_are_looked_at() {
    let files = files(&root());
    for file in [
        ".ci/run",
        "Cargo.toml",
        "CONTRIBUTING.md",
        "docs/conformance/atsf.md",
        "crates/formats/src/registry.rs",
        "xtask/tests/it/house_rules.rs",
    ] {
        assert!(
            files.iter().any(|f| f == file),
            "{file} is not among {files:?}"
        );
    }
}
