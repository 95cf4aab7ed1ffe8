//! Text from conversations is data: nothing of it reaches the terminal as a command.

use crate::world::World;

const HOSTILE: &str = "\u{1b}]52;c;ZXZpbA==\u{7}\u{1b}[2J\u{1b}[31mred\u{9b}31m\u{8}\u{202e}evil\u{2066}\u{feff}\r\u{0}";

#[test]
fn no_escape_or_control_character_is_ever_printed() {
    let w = World::new();
    let id = w.thread(&HOSTILE.replace('\0', ""));
    let hostile = serde_json::to_string(HOSTILE).unwrap();
    let message = format!(
        r#"{{"role":"agent","content":[{{"type":"text","text":{hostile}}},{{"type":"thinking","text":{hostile}}},{{"type":{hostile}}}],"toolCalls":[{{"toolCallId":"t","name":{hostile},"title":{hostile},"status":{hostile},"input":{hostile},"output":{hostile},"diff":{{"path":{hostile},"oldText":{hostile},"newText":{hostile}}}}}],"model":{hostile}}}"#
    );
    w.message(&id, &message);
    for args in [
        &["show", &id][..],
        &["show", &id, "--thinking"],
        &["show", &id, "--to", "markdown", "--thinking"],
        &["show", &id, "--to", "html", "--thinking"],
        &["list"],
        &["list", "--tsv"],
        &[],
        &["show", "zzzz\u{1b}[31m"],
        &["append", &id, "--replace", "\u{1b}[31m", "x"],
    ] {
        let answer = w.run(args);
        for (name, text) in [("stdout", &answer.out), ("stderr", &answer.err)] {
            let bad = text.chars().find(|c| {
                (c.is_control() && !matches!(c, '\n' | '\t'))
                    || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
            });
            assert_eq!(bad, None, "{args:?} {name}: {text:?}");
        }
    }
}

#[test]
fn colours_come_only_when_asked_for() {
    let w = World::new();
    let id = w.thread("T");
    w.ok(&["append", &id, "x"]);
    assert!(!w.ok(&["show", &id]).contains('\u{1b}'));
    assert!(w.ok(&["show", &id, "--color", "always"]).contains('\u{1b}'));
    let forced = w
        .command(&["show", &id])
        .env("CLICOLOR_FORCE", "1")
        .output()
        .unwrap();
    assert!(forced.stdout.contains(&0x1b));
    let never = w
        .command(&["show", &id, "--color", "never"])
        .env("CLICOLOR_FORCE", "1")
        .output()
        .unwrap();
    assert!(!never.stdout.contains(&0x1b));
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let w = World::new();
    for i in 0..50 {
        w.thread(&format!("thread {i}"));
    }
    let script = format!(
        "for i in 1 2 3 4 5; do '{0}' list | head -1 >/dev/null; done; '{0}' show latest | true",
        env!("CARGO_BIN_EXE_rethread")
    );
    let output = std::process::Command::new("sh")
        .args(["-c", &script])
        .current_dir(&w.project)
        .env("HOME", &w.home)
        .output()
        .unwrap();
    assert!(
        output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
