//! The tour in README.md: every command of it runs, in order, in an empty home, and prints what the
//! page shows. `cargo xtask docs` writes the page and the picture of the terminal anew.
#![cfg(unix)]

mod page;
mod shell;
mod svg;

use std::fs;
use std::path::{Path, PathBuf};

use rethread_judges::{Browser, PageView};

use self::page::{Block, commands};
use self::shell::Shell;
use crate::world::World;

fn project(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(name)
}

fn is_blessing() -> bool {
    std::env::var_os("RETHREAD_BLESS").is_some()
}

#[test]
fn the_readme_shows_what_its_commands_print() {
    let path = project("README.md");
    let text = fs::read_to_string(&path).unwrap();
    let blocks = Block::all(&text);
    let asked: Vec<&str> = blocks.iter().flat_map(commands).collect();
    assert!(asked.len() > 15, "a tour has more commands: {asked:?}");
    let w = World::new();
    let answers = Shell::new(&w).run_all(&asked);
    let mut answers = answers.into_iter();
    let mut anew = String::new();
    let mut at = 0;
    for block in &blocks {
        anew += &text[at..block.begin];
        for shown in &block.shown {
            let answer = answers.next().unwrap();
            if !is_blessing() {
                assert!(
                    shown.fits(&answer),
                    "README.md shows for `{}`:\n{}\nand it prints:\n{answer}\n`cargo xtask docs` writes it anew",
                    shown.command,
                    shown.output,
                );
            }
            anew += &shown.with(&answer);
        }
        at = block.end;
    }
    anew += &text[at..];
    if is_blessing() {
        fs::write(&path, anew).unwrap();
    }
}

/// How the tour begins.
const SAMPLE: &str = "rethread sample demo";
const ENTER: &str = "export HOME=$PWD/demo/home; cd demo/shop";

/// What the picture of the terminal shows.
const SEEN: [&str; 2] = ["rethread list", "rethread show latest --last 4"];

#[test]
fn the_picture_of_the_terminal_is_what_is_printed() {
    let w = World::new();
    let mut shell = Shell::new(&w);
    shell.coloured = true;
    let mut asked = vec![SAMPLE, ENTER];
    asked.extend(SEEN);
    let answers = shell.run_all(&asked);
    let seen = SEEN.iter().zip(&answers[2..]);
    let seen: String = seen.map(|(c, a)| format!("$ {c}\n{a}\n\n")).collect();
    let picture = svg::of_terminal(seen.trim_end());
    let path = project("docs/pictures/terminal.svg");
    if is_blessing() {
        fs::write(&path, &picture).unwrap();
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        stored == picture,
        "docs/pictures/terminal.svg is not what is printed; run `cargo xtask docs`"
    );
    assert!(picture.contains("class=\""), "there are colours in it");
}

/// A browser draws letters as the machine has them, so pictures of a page are not compared.
#[test]
fn there_is_a_picture_of_a_page() {
    let path = project("docs/pictures/page.png");
    if is_blessing() {
        let w = World::new();
        let Some(browser) = Browser::start(&w.root) else {
            return;
        };
        let page = w.project.join("page.html");
        let asked = format!("rethread export latest -o '{}'", page.display());
        let shell = Shell::new(&w);
        shell.run_all(&[SAMPLE, ENTER, &asked]);
        let text = fs::read_to_string(&page).unwrap();
        fs::write(&page, shell.plain(&text)).unwrap();
        let look = PageView {
            size: (1000, 900),
            whole: false,
            dark: false,
        };
        browser.take_screenshot(&page, look, &path);
    }
    let picture = fs::read(&path).unwrap();
    assert!(picture.starts_with(b"\x89PNG"));
    assert!(picture.len() < 200_000, "{} bytes", picture.len());
}

#[test]
fn elisions_stand_for_any_lines_and_stay_when_the_page_is_written_anew() {
    let text = "```console\n$ a\none\n…\nfour\n\n$ b\n```\n";
    let blocks = Block::all(text);
    let [block] = blocks.as_slice() else {
        panic!("{blocks:?}");
    };
    assert_eq!(commands(block).collect::<Vec<_>>(), ["a", "b"]);
    let [a, b] = block.shown.as_slice() else {
        panic!("{block:?}");
    };
    assert!(a.fits("one\ntwo\nthree\nfour") && a.fits("one\nfour"));
    assert!(!a.fits("one\ntwo") && !a.fits("four") && !a.fits("one"));
    assert!(b.fits("") && !b.fits("x"));
    assert_eq!(a.with("one\ntwo\nthree\nfour"), "$ a\none\n…\nfour\n\n");
    assert_eq!(a.with("1\n2\n3"), "$ a\n1\n…\n3\n\n");
    assert_eq!(b.with("new"), "$ b\nnew\n");
}
