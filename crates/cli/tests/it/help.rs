//! The help: groups, colours, and what it looks like on narrow and wide terminals.

use insta::assert_snapshot;

use crate::world::{World, answer};

fn help(w: &World, args: &[&str], columns: usize) -> String {
    let mut command = w.command(args);
    let shown = answer(
        command
            .env("COLUMNS", columns.to_string())
            .output()
            .unwrap(),
    );
    assert_eq!((shown.code, shown.err.as_str()), (0, ""), "{args:?}");
    shown.out
}

/// Text without its colours.
fn stripped(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |all, part| all + part.split_once('m').unwrap().1)
}

#[test]
fn help_on_terminals_of_all_widths_with_and_without_colour() {
    let w = World::new();
    for columns in [50, 80, 160] {
        let plain = help(&w, &["--help"], columns);
        assert!(!plain.contains('\u{1b}'));
        assert_snapshot!(format!("help_{columns}"), plain);
        for args in [
            ["--help", "--color", "always"],
            ["--color", "always", "--help"],
        ] {
            assert_eq!(stripped(&help(&w, &args, columns)), plain, "{args:?}");
        }
        let widest = plain.lines().map(|l| l.chars().count()).max().unwrap();
        assert!(widest <= columns.min(100), "{widest}: {plain}");
    }
    let coloured = help(&w, &["-h", "--color=always"], 80);
    assert_snapshot!("help_coloured", coloured.replace('\u{1b}', "␛"));
}

#[test]
fn help_of_a_command_fits_its_examples_to_the_terminal() {
    let w = World::new();
    assert_snapshot!("help_fork_50", help(&w, &["fork", "-h"], 50));
    assert_snapshot!("help_fork_80", help(&w, &["fork", "-h"], 80));
    let same = help(&w, &["help", "fork"], 80);
    assert_eq!(same, help(&w, &["fork", "--help"], 80));
}

#[test]
fn commands_answer_to_the_names_that_people_have_in_their_fingers() {
    let w = World::new();
    let id = w.thread("The list is slow");
    w.ok(&["append", &id, "It takes four seconds."]);
    assert_eq!(w.ok(&["ls"]), w.ok(&["list"]));
    assert_eq!(w.ok(&["cat", &id]), w.ok(&["show", &id]));
    w.ok(&["delete", &id, "--yes", "--force"]);
    assert_eq!(w.run(&["show", &id]).code, 1);
}
