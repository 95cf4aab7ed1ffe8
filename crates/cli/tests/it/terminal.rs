//! Text from conversations is data: nothing of it reaches the terminal as a command.

use std::fs;

use pulldown_cmark::{Event, Options, Parser, Tag};

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

/// What JSON allows in strings and a terminal, a browser or a reader acts on. The last is beyond
/// what one escape can say.
const IN_JSON: &str =
    "\u{7f}\u{85}\u{9b}31m\u{2028}\u{2029}\u{61c}\u{200e}\u{202e}evil\u{2066}\u{feff}\u{e0041}";

#[test]
fn json_is_escaped_and_says_the_same() {
    let w = World::new();
    let id = w.thread(IN_JSON);
    let hostile = serde_json::to_string(IN_JSON).unwrap();
    let message = format!(
        r#"{{"role":"user","content":[{{"type":"text","text":{hostile}}},{{"type":"odd","raw":{hostile}}}]}}"#
    );
    w.message(&id, &message);
    let missing = format!("nobody{IN_JSON}");
    for args in [
        &["show", &id, "--json"][..],
        &["show", &id, "--to", "ndjson"],
        &["context", &id, "--json"],
        &["tree", &id, "--json"],
        &["list", "--json"],
        &["--json"],
        &["export", &id, "-o", "-"],
        &["check", "--json"],
        &["show", &missing, "--json"],
        &["rename", &id, IN_JSON, "--json"],
    ] {
        let answer = w.run(args);
        for (name, text) in [("stdout", &answer.out), ("stderr", &answer.err)] {
            let bad = text.chars().find(|c| {
                (c.is_control() && *c != '\n')
                    || matches!(c, '\u{61c}' | '\u{200e}' | '\u{feff}' | '\u{e0041}')
                    || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
            });
            assert_eq!(bad, None, "{args:?} {name}: {text:?}");
        }
        for line in answer.out.lines() {
            crate::world::json(line);
        }
    }
    let listed = crate::world::json(&w.ok(&["list", "--json"]));
    assert_eq!(listed["title"], IN_JSON, "{listed}");
    // An export is read as what it was made of.
    fs::write(
        w.project.join("a.ndjson"),
        w.ok(&["export", &id, "-o", "-"]),
    )
    .unwrap();
    let shown = |what: &str| {
        let shown = crate::world::json(&w.ok(&["show", what, "--json"]));
        shown["messages"][0]["content"].clone()
    };
    assert_eq!(shown("a.ndjson"), shown(&id));
    assert_eq!(shown(&id)[0]["text"], IN_JSON);
    // Files and originals are as they are.
    let log = w.log(&id);
    assert!(log.contains(IN_JSON));
    assert_eq!(w.ok(&["show", &id, "--to", "raw"]), log);
}

#[test]
fn no_cell_is_a_formula() {
    let w = World::new();
    for title in [
        "=1+1",
        "+1",
        "-1",
        "@SUM(1)",
        " =2",
        "\t=3",
        "\u{ff1d}4",
        "a=b",
    ] {
        w.ok(&["new", "--format", "atsf", &format!("--title={title}")]);
    }
    let list = w.ok(&["list", "--tsv"]);
    let titles: Vec<&str> = list
        .lines()
        .map(|l| l.split('\t').nth(6).unwrap())
        .collect();
    assert_eq!(titles.len(), 8);
    for cell in list.lines().flat_map(|line| line.split('\t')) {
        let start = cell.trim_start();
        assert!(
            !start.starts_with(['=', '+', '-', '@', '\u{ff1d}']),
            "{cell}"
        );
    }
    assert!(titles.contains(&"'=1+1"), "{titles:?}");
    assert!(titles.contains(&"a=b"), "{titles:?}");
    // Others are told what it is.
    assert!(w.ok(&["list", "--json"]).contains(r#""title":"=1+1""#));
}

/// What Markdown has that leads somewhere or loads something, each with a word that must be left.
#[test]
fn markdown_loads_nothing_and_leads_to_the_web_and_to_mail_alone() {
    let w = World::new();
    let id = w.thread("T [x](javascript:alert(0)) ![y](https://evil.example/t.png)");
    let text = "\
        one [a](javascript:alert(1)) [b]( JaVaScRiPt:alert(2)) [c](<javascript:alert(3)>)\n\
        [d](javascript&#58;alert(4)) [e](data:text/html,x) [f](file:///etc/passwd)\n\
        [g](vbscript:x) [h](//evil.example) [i](\n  javascript:alert(5)) [j](secret.html)\n\n\
        two ![k](https://evil.example/a.png) ![l][p] ![p] [m][q] [q]\n\n\
        [p]: https://evil.example/b.png\n\
        [q]: javascript:alert(6)\n\
        [r]:\n  javascript:alert(7)\n\n\
        <javascript:alert(8)> <img src=https://evil.example/c.png>\n\n\
        three [web](https://good.example) [mail](mailto:me@good.example) [Web](HTTP://good.example)\n\n\
        `![code](x) [code](javascript:x)`\n\n```\n![block](x) [block](javascript:x)\n```\n";
    let message = serde_json::json!({ "role": "agent", "content": text });
    w.message(&id, &message.to_string());
    let shown = w.ok(&["show", &id, "--to", "markdown"]);
    w.ok(&["export", &id, "--markdown", "-o", "pages"]);
    let exported = crate::world::tree(&w.project.join("pages"));
    let exported: Vec<String> = exported
        .into_iter()
        .map(|(_, bytes)| String::from_utf8(bytes).unwrap())
        .collect();
    assert!(!exported.is_empty());
    for page in exported.iter().chain([&shown]) {
        let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES;
        let mut links = Vec::new();
        for event in Parser::new_ext(page, options) {
            match event {
                Event::Start(Tag::Link { dest_url, .. }) => links.push(dest_url.to_string()),
                Event::Start(Tag::Image { dest_url, .. }) => panic!("{dest_url}: {page}"),
                _ => {}
            }
        }
        let is_good = |to: &String| {
            let to = to.to_lowercase();
            ["http://", "https://", "mailto:"]
                .iter()
                .any(|s| to.starts_with(s))
        };
        assert!(links.iter().all(is_good), "{links:?} {page}");
        assert!(links.len() >= 6, "{links:?} {page}");
        for whole in [
            "`![code](x) [code](javascript:x)`",
            "\n![block](x) [block](javascript:x)\n",
        ] {
            assert!(page.contains(whole), "{page}");
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
