//! Sessions that come down a pipe, and exports without sessions.

use std::fs;

use super::{example, fixture, lines, populated};
use crate::world::{World, json};

#[test]
fn what_comes_down_a_pipe_is_read_like_a_file() {
    let w = World::new();
    let text = fs::read(example()).unwrap();
    let file = example();
    let file = file.to_str().unwrap();
    for args in [
        &["list", "-", "--json"][..],
        &["export", "-", "-o", "-"],
        &["check", "-"],
    ] {
        let named: Vec<&str> = args
            .iter()
            .map(|a| {
                if *a == "-" && args[0] != "export" {
                    file
                } else {
                    a
                }
            })
            .collect();
        let named: Vec<&str> = match args[0] {
            "export" => vec!["export", file, "-o", "-"],
            _ => named,
        };
        let piped = w.pipe(args, &text);
        let read = w.run(&named);
        assert_eq!(piped.code, 0, "{args:?}: {piped:?}");
        assert_eq!(piped.out, read.out, "{args:?}");
    }
    let only: Vec<&str> = std::str::from_utf8(&text).unwrap().lines().collect();
    let one = format!("{}\n{}\n", only[0].replace(":2}", ":1}"), only[1]);
    let shown = w.pipe(&["show", "-"], &one);
    assert!(shown.out.contains("List files"), "{shown:?}");
    let tree = w.pipe(&["tree", "-", "--json"], &one);
    assert!(tree.out.contains("msg-002"), "{tree:?}");
    let context = w.pipe(&["context", "-", "--json"], &one);
    assert_eq!(json(&context.out)["messages"].as_array().unwrap().len(), 2);
    let converted = w.pipe(&["convert", "-", "--to", "pi", "-o", "out"], &one);
    assert_eq!(converted.code, 0, "{converted:?}");
    // Packed, and sessions of other formats.
    w.ok(&["export", file, "-o", "a.ndjson.gz"]);
    let packed = fs::read(w.project.join("a.ndjson.gz")).unwrap();
    assert_eq!(
        w.pipe(&["list", "-", "--json"], &packed)
            .out
            .lines()
            .count(),
        2
    );
    for name in [
        "claude-code/2.1/compaction/b1b2c3d4-0000-4000-8000-00000000cccc.jsonl",
        "opencode/1.18/export/ses_5cccccccc001Export00000001.json",
    ] {
        let bytes = fs::read(fixture(name)).unwrap();
        let shown = w.pipe(&["show", "-", "--to", "markdown"], &bytes);
        assert_eq!(shown.code, 0, "{name}: {shown:?}");
        let named = w.ok(&["show", fixture(name).to_str().unwrap(), "--to", "markdown"]);
        let is_said = |line: &&str| !line.starts_with("- Source:");
        let body = |text: &str| text.lines().filter(is_said).collect::<Vec<_>>().join("\n");
        assert_eq!(body(&shown.out), body(&named), "{name}");
    }
    let nothing = w.pipe(&["show", "-"], "");
    assert_eq!(nothing.code, 1, "{nothing:?}");
}

#[test]
#[cfg(target_os = "linux")]
fn open_pipes_can_be_named_by_their_paths() {
    let w = World::new();
    let text = fs::read(example()).unwrap();
    let listed = w.pipe(&["list", "/dev/stdin", "--json"], &text);
    assert_eq!(
        (listed.code, listed.out.lines().count()),
        (0, 2),
        "{listed:?}"
    );
    let shown = w.pipe(&["show", "/dev/stdin#c7e6"], &text);
    assert!(shown.out.contains("List files"), "{shown:?}");
    assert_eq!(w.pipe(&["check", "/dev/fd/0"], &text).code, 0);
}

#[test]
fn an_export_of_nothing_is_an_export() {
    let w = World::new();
    let answer = w.run(&["export", "--aw", "-o", "a.ndjson"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    assert!(answer.err.contains("no sessions were found"), "{answer:?}");
    let text = fs::read_to_string(w.project.join("a.ndjson")).unwrap();
    assert_eq!(
        text,
        "{\"type\":\"header\",\"schema_version\":\"1.0\",\"export_timestamp\":\"2026-11-15T12:00:00Z\",\"agent_types\":[],\"homes\":[],\"workspaces\":[],\"session_count\":0}\n"
    );
    assert_eq!(w.run(&["check", "a.ndjson"]).code, 0);
    let listed = w.run(&["list", "a.ndjson", "--json"]);
    assert_eq!((listed.code, listed.out.as_str()), (0, ""), "{listed:?}");
    assert_eq!(w.ok(&["export", "a.ndjson", "-o", "-"]), text);
    let shown = w.run(&["show", "a.ndjson"]);
    assert_eq!(shown.code, 1, "{shown:?}");
    assert!(shown.err.contains("holds no sessions"), "{shown:?}");
    // With another one it is nothing more.
    let w = populated();
    fs::write(w.project.join("none.ndjson"), &text).unwrap();
    w.ok(&["export", "-o", "some.ndjson"]);
    assert_eq!(lines(&w, &["none.ndjson", "some.ndjson"]).len(), 4);
    // What sessions nobody can read, is a failure as ever; so are pages of nothing.
    let w = World::new();
    let pages = w.run(&["export", "--aw", "--markdown", "-o", "pages"]);
    assert_eq!(pages.code, 1, "{pages:?}");
}

/// Where what came down a pipe is kept meanwhile is nobody's business.
#[test]
fn messages_name_the_pipe_and_not_the_file_behind_it() {
    let w = World::new();
    let whole = fs::read(example()).unwrap();
    let torn = &whole[..300];
    let claude = "claude-code/2.1/damaged/02b2c3d4-0000-4000-8000-000000000001.jsonl";
    let claude = fs::read(fixture(claude)).unwrap();
    let nothing = b"nothing".to_vec();
    let inputs: [(&str, &[u8]); 4] = [
        ("several sessions", &whole),
        ("a torn export", torn),
        ("a damaged session", &claude),
        ("no session", &nothing),
    ];
    for (what, input) in inputs {
        for args in [
            &["show", "-"][..],
            &["show", "-", "--json"],
            &["show", "-", "--to", "markdown"],
            &["list", "-"],
            &["list", "-", "--json"],
            &["tree", "-"],
            &["context", "-"],
            &["check", "-"],
            &["check", "-", "--json"],
            &["convert", "-", "--to", "pi", "--dry-run"],
            &["export", "-", "-o", "-"],
        ] {
            let answer = w.pipe(args, input);
            // An export carries the files that it is made of, and where they were.
            let out = answer.out.as_str();
            let out = if args[0] == "export" { "" } else { out };
            let said = format!("{out}{}", answer.err);
            let is_kept = said.contains("stdin.") || said.contains(".rethread.");
            assert!(!is_kept, "{what}, {args:?}: {answer:?}");
        }
    }
    let shown = w.pipe(&["show", "-"], &nothing);
    let error = "error: `standard input` is no session that can be read\n";
    assert_eq!(shown.err, error);
    let shown = w.pipe(&["show", "-", "--json"], torn);
    let warning = json(shown.err.lines().next().unwrap());
    assert_eq!(warning["warning"]["path"], "-", "{shown:?}");
    let shown = w.pipe(&["show", "-"], torn);
    assert!(
        shown.err.starts_with("warning: standard input:2: "),
        "{shown:?}"
    );
}

#[test]
fn a_packed_export_that_is_damaged_before_its_first_session_says_so() {
    let w = World::new();
    let file = example();
    for name in ["a.ndjson.gz", "a.ndjson.zst"] {
        w.ok(&["export", file.to_str().unwrap(), "-o", name]);
        let whole = fs::read(w.project.join(name)).unwrap();
        let path = w.project.join("cut.ndjson.gz");
        // Nothing of it, and not all of the first line.
        for length in [12, 40] {
            fs::write(&path, &whole[..length]).unwrap();
            for args in [
                &["list", "cut.ndjson.gz"][..],
                &["show", "cut.ndjson.gz"],
                &["tree", "cut.ndjson.gz"],
                &["context", "cut.ndjson.gz"],
                &["check", "cut.ndjson.gz"],
                &["convert", "cut.ndjson.gz", "--to", "pi"],
                &["export", "cut.ndjson.gz", "-o", "-"],
            ] {
                let answer = w.run(args);
                let said = format!("{}{}", answer.out, answer.err);
                assert_eq!(answer.code, 1, "{name}, {length}, {args:?}: {answer:?}");
                assert!(
                    said.contains("cut.ndjson.gz` is damaged before its first session: "),
                    "{name}, {length}, {args:?}: {said}"
                );
            }
            let piped = w.pipe(&["show", "-"], &whole[..length]);
            let error = "error: `standard input` is damaged before its first session: ";
            assert!(piped.err.starts_with(error), "{piped:?}");
        }
    }
}
