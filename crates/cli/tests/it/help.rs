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

#[test]
fn completions_for_each_shell_know_every_command() {
    let w = World::new();
    for shell in ["bash", "zsh", "fish", "powershell", "nushell"] {
        let script = w.ok(&["completions", shell]);
        for word in ["restore", "worktree", "--durability", "--lock-timeout"] {
            let word = if shell == "fish" {
                word.trim_start_matches('-')
            } else {
                word
            };
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    let told = crate::world::json(&w.ok(&["completions", "fish", "--json"]));
    assert_eq!(told["shell"], "fish");
    assert_eq!(w.run(&["completions", "cmd"]).code, 2);
}

/// Bash itself completes a word with the script.
#[test]
#[cfg(unix)]
fn bash_completes_a_command() {
    let w = World::new();
    let script = w.root.join("completions.bash");
    std::fs::write(&script, w.ok(&["completions", "bash"])).unwrap();
    let ask = |words: &str| {
        let line = format!(
            "source '{}'; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _rethread rethread \"${{COMP_WORDS[COMP_CWORD]}}\"; echo \"${{COMPREPLY[@]}}\"",
            script.display()
        );
        let bash = std::process::Command::new("bash")
            .args(["-c", &line])
            .output();
        answer(bash.unwrap()).out
    };
    assert_eq!(ask("rethread rest").trim(), "restore");
    assert!(ask("rethread rm --dr").contains("--dry-run"));
}

/// What a shell says to a line, if it is installed.
#[cfg(unix)]
fn shell_answer(w: &World, shell: &str, line: &str) -> Option<String> {
    let command = std::process::Command::new(shell)
        .args(["-c", line])
        .env("HOME", &w.home)
        .output();
    let Ok(output) = command else {
        eprintln!("skipped: `{shell}` is not installed");
        return None;
    };
    let said = answer(output);
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{shell}: {said:?}");
    Some(said.out)
}

/// Fish completes a word with the script, and zsh takes it for its own.
#[test]
#[cfg(unix)]
fn fish_and_zsh_take_their_completions() {
    let w = World::new();
    let script = |shell: &str, name: &str| {
        let path = w.root.join(name);
        std::fs::write(&path, w.ok(&["completions", shell])).unwrap();
        path.display().to_string()
    };
    let fish = script("fish", "rethread.fish");
    let line = format!("source '{fish}'; complete -C 'rethread rest'");
    if let Some(said) = shell_answer(&w, "fish", &line) {
        assert!(said.starts_with("restore\t"), "{said}");
    }
    script("zsh", "_rethread");
    let line = format!(
        "fpath=('{root}' $fpath); autoload -Uz compinit; compinit -u -d '{root}/dump'; \
         autoload +X _rethread; echo $_comps[rethread]",
        root = w.root.display()
    );
    if let Some(said) = shell_answer(&w, "zsh", &line) {
        assert_eq!(said, "_rethread\n");
    }
}

#[test]
fn manual_pages_are_printed_or_written_for_each_command() {
    let w = World::new();
    let page = w.ok(&["man"]);
    assert!(page.contains(".TH rethread 1"), "{page}");
    assert!(page.contains("rethread\\-restore(1)"), "{page}");
    let written = w.ok(&["man", "-o", "share/man/man1"]);
    let names: Vec<&str> = written
        .lines()
        .map(|path| path.rsplit('/').next().unwrap())
        .collect();
    for name in ["rethread.1", "rethread-list.1", "rethread-msg-send.1"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let list = std::fs::read_to_string(w.project.join("share/man/man1/rethread-list.1")).unwrap();
    assert!(list.contains(".TH rethread-list 1"), "{list}");
    // Again, over what is there.
    assert_eq!(w.ok(&["man", "-o", "share/man/man1"]), written);
}
