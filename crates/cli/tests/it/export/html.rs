//! Pages: one for each session, or all on one.

use std::fs;
use std::path::{Path, PathBuf};

use super::{fixture, populated};
use crate::screens::without_facts;
use crate::world::{World, copy, json};

/// A session of Claude Code with pictures, changes, and texts that would like to be markup.
pub(super) const SESSION: &str = "c0ffee00-0000-4000-8000-00000000beef";

/// Where it is.
pub(super) fn session() -> PathBuf {
    fixture("claude-code/2.1/page").join(format!("{SESSION}.jsonl"))
}

/// The same as a file of the project.
fn copied(w: &World) -> String {
    let name = format!("{SESSION}.jsonl");
    fs::copy(session(), w.project.join(&name)).unwrap();
    name
}

/// The page of a session, without its style.
fn page(w: &World, args: &[&str]) -> String {
    let answer = w.run(&[&["export", "--html", "-o", "-"], args].concat());
    assert!([0, 3].contains(&answer.code), "{args:?}: {answer:?}");
    let (head, rest) = answer.out.split_once("<style>").unwrap();
    let (_, body) = rest.split_once("</style>").unwrap();
    format!("{head}{body}")
}

#[test]
fn a_page_for_each_session_or_one_for_all() {
    let w = populated();
    let out = w.ok(&["export", "--html", "-o", "pages"]);
    assert_eq!(out.lines().count(), 4, "three pages and an index: {out}");
    for path in out.lines() {
        assert!(path.ends_with(".html"), "{path}");
        let page = fs::read_to_string(w.project.join(path)).unwrap();
        assert!(page.starts_with("<!doctype html>\n"), "{page}");
        assert!(page.ends_with("</html>\n"), "{page}");
    }
    assert_eq!(w.ok(&["export", "-o", "all.html"]), "all.html\n");
    let all = fs::read_to_string(w.project.join("all.html")).unwrap();
    assert!(all.contains("<title>3 sessions</title>"), "{all}");
    assert_eq!(all.matches("<main ").count(), 3);
    assert_eq!(w.ok(&["export", "--html", "-o", "-"]), all);
    let answer = w.run(&["export", "-o", "all.html"]);
    assert_eq!(answer.code, 2, "{answer:?}");
    let both = w.ok(&["export", "--html", "--markdown", "--json", "-o", "both"]);
    let files = json(&both)["files"].as_array().unwrap().len();
    assert_eq!(files, 8, "{both}");
}

#[test]
fn a_folder_of_pages_has_an_index() {
    let w = populated();
    let out = w.ok(&["export", "--html", "-o", "pages"]);
    assert!(out.ends_with("pages/index.html\n"), "{out}");
    let index = fs::read_to_string(w.project.join("pages/index.html")).unwrap();
    let (_, body) = index.split_once("<body>").unwrap();
    insta::assert_snapshot!("index", w.plain(body));
    for page in out.lines().filter(|p| !p.ends_with("index.html")) {
        let name = page.rsplit('/').next().unwrap();
        assert!(
            body.contains(&format!("href=\"./{name}\"")),
            "{name}: {body}"
        );
        let page = fs::read_to_string(w.project.join(page)).unwrap();
        assert!(page.contains("<a href=\"./index.html\">"), "{page}");
    }
    let policy = "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:;";
    assert!(
        index.contains(policy) && !index.contains("<script"),
        "{index}"
    );
}

#[test]
fn one_page_needs_no_index_and_an_index_of_somebody_else_stays() {
    let w = populated();
    let page = w.ok(&["export", "latest", "--html", "-o", "one"]);
    assert!(!w.project.join("one/index.html").exists(), "{page}");
    fs::create_dir(w.project.join("pages")).unwrap();
    let index = w.project.join("pages/index.html");
    fs::write(&index, "<h1>mine</h1>").unwrap();
    let answer = w.run(&["export", "--html", "-o", "pages"]);
    assert_eq!(answer.code, 2, "{answer:?}");
    assert!(answer.err.contains("index.html` exists"), "{answer:?}");
    assert_eq!(fs::read_to_string(&index).unwrap(), "<h1>mine</h1>");
    assert_eq!(fs::read_dir(w.project.join("pages")).unwrap().count(), 1);
    w.ok(&["export", "--html", "--force", "-o", "pages"]);
    // One of ours is brought up to date.
    w.thread("More");
    let more = w.run(&["export", "--html", "-o", "pages"]);
    assert_eq!(more.code, 2, "pages exist: {more:?}");
    w.ok(&["export", "--html", "--force", "-o", "pages"]);
    let text = fs::read_to_string(&index).unwrap();
    assert!(text.contains("<h1>4 conversations</h1>"), "{text}");
}

#[test]
fn a_page_has_everything_and_asks_for_nothing() {
    let w = World::new();
    let page = page(&w, &[&copied(&w)]);
    insta::assert_snapshot!("page", w.plain(&page.replace(&cut(&page), "…")));
    for word in [
        "<script", "<iframe", "<link", "<object", "<video", "<svg", "<base",
    ] {
        assert!(!page.contains(word), "{word}");
    }
    let policy = "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:;";
    assert!(page.contains(policy), "{page}");
}

/// The bytes of the picture.
fn cut(page: &str) -> String {
    let (_, rest) = page.split_once("src=\"data:image/png;base64,").unwrap();
    rest.split_once('"').unwrap().0.to_owned()
}

#[test]
fn show_makes_the_same_page() {
    let w = World::new();
    let path = w.project.join(copied(&w)).to_str().unwrap().to_owned();
    let shown = w.ok(&["show", &path, "--to", "html"]);
    let exported = w.ok(&["export", &path, "-o", "-", "--html"]);
    assert_eq!(without_facts(&shown), without_facts(&exported));
}

#[test]
fn sub_agents_are_linked() {
    let w = World::new();
    copy(
        &fixture("claude-code/2.1/everything"),
        &w.home.join(".claude/projects/-home-me-shop"),
    );
    let out = w.run(&["export", "--aw", "--html", "-o", "pages"]);
    let pages: Vec<String> = out.out.lines().map(str::to_owned).collect();
    assert_eq!(pages.len(), 4, "{out:?}");
    let read = |part: &str| {
        let path = pages.iter().find(|p| p.contains(part)).unwrap();
        fs::read_to_string(w.project.join(path)).unwrap()
    };
    let parent = read("00000000aaaa");
    let child = pages.iter().find(|p| p.contains("a7")).unwrap();
    let name = child.rsplit('/').next().unwrap();
    assert!(parent.contains(&format!("href=\"./{name}\"")), "{name}");
    assert!(read("a7").contains("Started by"));
}

#[test]
fn pictures_in_files_of_a_session_are_part_of_the_page() {
    let w = World::new();
    let id = w.thread("Pictures");
    let png = w.root.join("a.png");
    fs::write(&png, b"\x89PNG\r\n\x1a\nnot really").unwrap();
    w.ok(&["append", &id, "Look", "--image", png.to_str().unwrap()]);
    let from_source = page(&w, &["."]);
    let picture = "src=\"data:image/png;base64,iVBORw0KGgpub3QgcmVhbGx5\"";
    assert!(from_source.contains(picture), "{from_source}");
    w.ok(&["export", "-o", "a.ndjson"]);
    fs::remove_dir_all(w.folder(&id)).unwrap();
    assert_eq!(page(&w, &["a.ndjson"]), from_source);
    w.ok(&["export", "a.ndjson", "--lean", "-o", "lean.ndjson"]);
    assert!(!page(&w, &["lean.ndjson"]).contains("<img"));
}

#[test]
fn a_damaged_session_is_shown_and_a_hopeless_one_is_left_out() {
    let w = populated();
    let lost = w.thread("Lost");
    fs::write(w.folder(&lost).join("thread.json"), "{{{").unwrap();
    let answer = w.run(&["export", "-o", "a.html"]);
    assert_eq!(answer.code, 3, "{answer:?}");
    assert!(answer.err.contains("left out"), "{answer:?}");
    let page = fs::read_to_string(w.project.join("a.html")).unwrap();
    assert_eq!(page.matches("<main ").count(), 3);
    for args in [&["-o", "b.html"][..], &["--html", "-o", "pages"]] {
        let strict = w.run(&[&["export", "--strict"], args].concat());
        assert_eq!(strict.code, 1, "{strict:?}");
    }
    assert!(!w.project.join("b.html").exists() && !w.project.join("pages").exists());
}

/// A page without what a list counts. An export holds no sub-agents that were not asked for, and no usage
/// apart from messages, so its own list counts less.
fn without_counts(page: &str) -> String {
    let is_row = |line: &&str| {
        let rows = ["Messages", "Tokens", "Cost"].map(|row| format!("<div><dt>{row}</dt>"));
        rows.iter().any(|row| line.starts_with(row))
    };
    let is_count = |fact: &&str| {
        let fact = fact.trim_end_matches("</summary>");
        let counts = [" message", " messages", " tokens"];
        counts.iter().any(|count| fact.ends_with(count)) || fact.contains('$')
    };
    let line = |line: &str| match line.strip_prefix("<details class=facts><summary>") {
        Some(facts) => facts.split(" · ").filter(|f| !is_count(f)).collect(),
        None => line.to_owned(),
    };
    let lines = page.lines().filter(|line| !is_row(line));
    lines.map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_page_of_an_export_is_that_of_its_source() {
    let w = World::new();

    let mut compared = 0;
    for format in ["claude-code", "codex", "pi", "gemini"] {
        for (file, _) in crate::world::tree(&fixture(format)) {
            let name = file.to_str().unwrap();
            for old in ["a.ndjson", "a.html", "b.html"] {
                let _ = fs::remove_file(w.project.join(old));
            }
            let is_log = file.extension().is_some_and(|e| e == "jsonl");
            let exported = |args: &[&str]| [0, 3].contains(&w.run(args).code);
            if !is_log || !exported(&["export", name, "-o", "a.ndjson"]) {
                continue;
            }
            // There is no page of no conversation.
            let lines = fs::read_to_string(w.project.join("a.ndjson")).unwrap();
            if lines.lines().count() < 2 {
                continue;
            }
            assert!(exported(&["export", name, "-o", "a.html"]), "{name}");
            w.ok(&["export", "a.ndjson", "-o", "b.html"]);
            let read = |f: &str| fs::read_to_string(w.project.join(f)).unwrap();
            let [a, b] = ["a.html", "b.html"].map(|f| without_counts(&read(f)));
            assert!(a == b, "{name} is another page");
            compared += 1;
        }
    }
    assert!(compared > 20, "{compared}");
}

#[test]
fn pages_of_an_export_are_named_like_those_of_their_source() {
    let w = World::new();
    let folder = w.home.join(".codex/sessions/2025/09/10");
    fs::create_dir_all(&folder).unwrap();
    // Nobody noted when it began, but for what was said first.
    let said = r#"{"timestamp":"2025-09-10T12:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Hello"}]}}"#;
    fs::write(
        folder.join("rollout-2025-01-01T00-00-00-odd.jsonl"),
        format!("{said}\n"),
    )
    .unwrap();
    let names = |args: &[&str]| {
        let answer = w.run(args);
        assert!([0, 3].contains(&answer.code), "{answer:?}");
        let names = answer.out.lines().map(|path| {
            let name = Path::new(path).file_stem().unwrap();
            name.to_str().unwrap().to_owned()
        });
        names.collect::<Vec<_>>()
    };
    names(&["export", "--aw", "-o", "a.ndjson"]);
    let of_source = names(&["export", "--aw", "--html", "-o", "one"]);
    assert!(
        of_source[0].starts_with("20250910_120001_"),
        "{of_source:?}"
    );
    assert_eq!(
        names(&["export", "a.ndjson", "--html", "-o", "two"]),
        of_source
    );
    assert_eq!(
        names(&["export", "--aw", "--markdown", "-o", "three"]),
        of_source
    );
}
