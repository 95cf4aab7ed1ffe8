//! Every statement of a format's document is shown by a test that exists, or says why not.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path};

use crate::repository::{assert_none, files, put, root, text};

const COLUMN: &str = "Shown by";

#[test]
fn every_row_names_a_test_that_exists() {
    let root = root();
    let mut wrong = Vec::new();
    let mut rows = 0;
    for page in files(&root) {
        if page.starts_with("docs/conformance/") {
            let checked = check(&page, &text(&root.join(&page)), &root);
            rows += checked.rows;
            wrong.extend(checked.wrong);
        }
    }
    assert_none(&wrong);
    assert!(rows > 0, "there is no table in docs/conformance");
}

#[test]
fn each_behaviour_of_pi_has_a_test_of_its_own() {
    let page = text(&root().join("docs/conformance/pi-behaviours.md"));
    let rows = page.lines().filter_map(cells);
    let shown: Vec<String> = rows
        .filter_map(|mut cells| cells.pop())
        .filter(|cell| cell.starts_with('`'))
        .collect();
    assert_eq!(shown.len(), 76);
    let different: BTreeSet<&String> = shown.iter().collect();
    assert_eq!(different.len(), shown.len());
}

#[derive(Debug, Default)]
struct Checked {
    rows: usize,
    /// What is wrong, each with its file and line.
    wrong: Vec<String>,
}

/// Checks the tables of one page.
fn check(page: &str, text: &str, root: &Path) -> Checked {
    let mut checked = Checked::default();
    let mut table = Table::None;
    let mut in_code = false;
    for (i, line) in text.lines().enumerate() {
        in_code ^= line.trim_start().starts_with("```");
        let cells = if in_code { None } else { cells(line) };
        let Some(cells) = cells else {
            table = Table::None;
            continue;
        };
        let problem = match table {
            Table::None => {
                let column = cells.iter().position(|c| c == COLUMN);
                table = column.map_or(Table::Other, Table::Rows);
                match column {
                    Some(_) => None,
                    None => Some(format!("a table without a column `{COLUMN}`")),
                }
            }
            Table::Rows(_) if is_ruler(&cells) => None,
            Table::Rows(column) => {
                checked.rows += 1;
                let shown_by = cells.get(column).map_or("", String::as_str);
                check_cell(shown_by, root).err()
            }
            Table::Other => None,
        };
        if let Some(problem) = problem {
            checked.wrong.push(format!("{page}:{}: {problem}", i + 1));
        }
    }
    checked
}

enum Table {
    None,
    /// A table, and the place of its column.
    Rows(usize),
    /// A table without that column.
    Other,
}

/// The cells of a table's row. A `|` behind a `\` belongs to its cell.
fn cells(line: &str) -> Option<Vec<String>> {
    let inside = line.trim().strip_prefix('|')?;
    let mut cells = vec![String::new()];
    let mut escaped = false;
    for c in inside.chars() {
        match c {
            '|' if !escaped => cells.push(String::new()),
            c => cells.last_mut()?.push(c),
        }
        escaped = c == '\\' && !escaped;
    }
    // A row ends in a `|`, after which there is no cell.
    if cells.last().is_some_and(|c| c.trim().is_empty()) {
        cells.pop();
    }
    Some(cells.iter().map(|c| c.trim().to_owned()).collect())
}

fn is_ruler(cells: &[String]) -> bool {
    let rule = |c: &String| c.contains('-') && c.chars().all(|c| matches!(c, '-' | ':'));
    cells.iter().all(rule)
}

fn check_cell(cell: &str, root: &Path) -> Result<(), String> {
    for word in ["not yet:", "none:"] {
        if let Some(reason) = cell.strip_prefix(word) {
            let said = !reason.trim().is_empty();
            return said
                .then_some(())
                .ok_or(format!("`{word}` without a reason"));
        }
    }
    cell.split(',')
        .try_for_each(|name| check_name(name.trim(), root))
}

fn check_name(name: &str, root: &Path) -> Result<(), String> {
    let quoted = name.strip_prefix('`').and_then(|n| n.strip_suffix('`'));
    let (file, test) = quoted
        .and_then(|name| name.split_once(".rs::"))
        .ok_or(format!(
            "`{COLUMN}` is {}, not `path/to/file.rs::test_name`, `not yet: …` or `none: …`",
            if name.is_empty() { "empty" } else { name }
        ))?;
    let file = format!("{file}.rs");
    let inside = |c| matches!(c, Component::Normal(_));
    if !Path::new(&file).components().all(inside) {
        return Err(format!("`{file}` is not a path from the root"));
    }
    let source =
        fs::read_to_string(root.join(&file)).map_err(|_| format!("there is no `{file}`"))?;
    match find_test(&source, test) {
        Found::Test => Ok(()),
        Found::Function => Err(format!("`{test}` in `{file}` is a function, not a test")),
        Found::Nothing => Err(format!("there is no `{test}` in `{file}`")),
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Found {
    Test,
    Function,
    Nothing,
}

fn find_test(source: &str, name: &str) -> Found {
    let head = format!("fn {name}(");
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let mut found = Found::Nothing;
    for (i, line) in lines.iter().enumerate() {
        if !line.starts_with(&head) {
            continue;
        }
        found = Found::Function;
        // What stands between `#[test]` and the function: other attributes, of one or more
        // lines, and comments. Where something else ends or begins, no attribute is ours.
        let above = lines[..i].iter().rev();
        let mut ours = above.take_while(|l| !ends_something(l));
        if ours.any(|l| *l == "#[test]") {
            return Found::Test;
        }
    }
    found
}

fn ends_something(line: &str) -> bool {
    !line.starts_with("//") && (line.is_empty() || line.ends_with(['{', '}', ';']))
}

const SOURCE: &str = r#"
fn helper() {}

#[test]
fn plain() {}

#[test]
// A comment that ends in a brace }
#[cfg(unix)]
#[allow(
    clippy::unwrap_used,
    reason = "why"
)]
fn with_attributes() {}

proptest! {
    #[test]
    fn property(x in 0..3) {}
}
fn not_a_test() {}
// fn only_mentioned() {}
"#;

fn problems(rows: &[&str]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "crates/a/tests/it/b.rs", SOURCE);
    let head = "# Page\n\n| Section | Statement | Shown by |\n| --- | :-- | --- |";
    let rows = rows.iter().map(|row| format!("| § 1 | a \\| b | {row} |"));
    let lines: Vec<String> = [head.to_owned()].into_iter().chain(rows).collect();
    let text = lines.join("\n");
    let checked = check("page.md", &text, folder.path());
    assert_eq!(checked.rows, lines.len() - 1, "every row is looked at");
    checked.wrong
}

#[test]
fn rows_that_are_fine() {
    assert_none(&problems(&[
        "`crates/a/tests/it/b.rs::plain`",
        "`crates/a/tests/it/b.rs::plain`, `crates/a/tests/it/b.rs::with_attributes`",
        "`crates/a/tests/it/b.rs::property`",
        "not yet: it comes, with `this`, next",
        "none: nothing here writes",
    ]));
}

#[test]
fn rows_that_are_not() {
    for (row, problem) in [
        ("TBD", "`Shown by` is TBD, not"),
        ("", "`Shown by` is empty"),
        ("not yet:", "without a reason"),
        ("none: ", "without a reason"),
        (
            "crates/a/tests/it/b.rs::plain",
            "not `path/to/file.rs::test_name`",
        ),
        ("`plain`", "not `path/to/file.rs::test_name`"),
        ("`crates/a/tests/it/b.rs::plain`, TBD", "is TBD"),
        (
            "`crates/a/tests/it/c.rs::plain`",
            "there is no `crates/a/tests/it/c.rs`",
        ),
        (
            "`crates/../crates/a/tests/it/b.rs::plain`",
            "not a path from the root",
        ),
        ("`/etc/b.rs::plain`", "not a path from the root"),
        ("`crates/a/tests/it/b.rs::plai`", "there is no `plai`"),
        (
            "`crates/a/tests/it/b.rs::only_mentioned`",
            "there is no `only_mentioned`",
        ),
        ("`crates/a/tests/it/b.rs::helper`", "is a function"),
        ("`crates/a/tests/it/b.rs::not_a_test`", "is a function"),
    ] {
        let found = problems(&["none: fine", row]);
        let [found] = found.as_slice() else {
            panic!("{row}: {found:?}");
        };
        assert!(found.starts_with("page.md:6: "), "{row}: {found}");
        assert!(found.contains(problem), "{row}: {found}");
    }
}

#[test]
fn a_table_without_the_column_is_wrong() {
    let text = "| A | B |\n| - | - |\n| 1 | TBD |\n\n```\n| x |\n```\n";
    let checked = check("page.md", text, Path::new("."));
    assert_eq!(
        checked.wrong,
        ["page.md:1: a table without a column `Shown by`"]
    );
    assert_eq!(checked.rows, 0);
}

#[test]
fn a_row_that_lacks_cells_is_wrong() {
    let text = "| A | Shown by |\n| - | - |\n| 1 |\n";
    let checked = check("page.md", text, Path::new("."));
    assert_eq!((checked.rows, checked.wrong.len()), (1, 1));
}
