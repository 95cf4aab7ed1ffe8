//! Hostile names.

use std::collections::BTreeSet;

use crate::world::World;

pub(super) const HOW_MANY: usize = 500;
/// What lies outside of the store, at every level that a name could lead to.
pub(super) const SECRET: &str = "secret.png";

const SEPARATORS: &[&str] = &[
    "/", "\\", "//", "/./", "\\\\", "/\\", "%2f", "%5c", "%252f", "%c0%af", "\u{2215}", "\u{2044}",
    "\u{ff0f}", "\u{ff3c}", "\u{29f8}", "\u{29f5}",
];
const PLAIN: &[&str] = &[
    "",
    ".",
    "..",
    "...",
    "....",
    "/",
    "\\",
    "//",
    "~",
    "~root",
    "$HOME",
    "%HOME%",
    "*",
    "?",
    "[a-z]*",
    "{a,b}",
    "-",
    "--",
    "-rf",
    "--force",
    "--yes",
    "--json",
    "--id=x",
    "--help",
    "--cwd=/",
    "-o/",
    "@file",
    "#1",
    "latest",
    "atsf:",
    "atsf:..",
    "atsf:../..",
    "a#..",
    "#..",
    "thread.json",
    "messages.jsonl",
    "assets",
    "config.json",
    ".git",
    ".gitignore",
    ".agent",
    "null",
    "true",
    "0",
    "-1",
    "'",
    "\"",
    "`",
    "``",
    "`id`",
    "$(id)",
    "&",
    ";",
    "|",
    "<",
    ">",
    "!",
    "!!",
    "%",
    "%s%n",
    "%00",
    "%0a",
    "\\0",
    "\\n",
    "\u{feff}",
    "\u{200b}",
    "\u{fffd}",
    "\u{301}",
    "a\u{301}",
    "\u{1f469}\u{200d}\u{1f4bb}",
];
const DEVICES: &[&str] = &[
    "con",
    "PRN",
    "aux",
    "NUL",
    "com1",
    "LPT9",
    "com\u{b9}",
    "conin$",
    "clock$",
];
const ODD: &[char] = &[
    '\0', '\u{1}', '\u{7}', '\u{8}', '\t', '\n', '\r', '\u{1b}', '\u{7f}', '\u{85}', '\u{9b}',
    '\u{a0}', '\u{61c}', '\u{200e}', '\u{200f}', '\u{2028}', '\u{2029}', '\u{202a}', '\u{202e}',
    '\u{2066}', '\u{2069}', '\u{3000}', ' ', '.', ':', '<', '>', '"', '|', '?', '*',
];

/// Names that lead to a file outside, or would make one.
fn paths(w: &World) -> Vec<String> {
    let root = w.root.display();
    let home = w.home.display();
    vec![
        format!("{root}/{SECRET}"),
        format!("{root}/outside/{SECRET}"),
        format!("file://{root}/{SECRET}"),
        format!("/proc/self/root{root}/{SECRET}"),
        format!("{home}/{SECRET}"),
        format!("~/{SECRET}"),
        format!("$HOME/{SECRET}"),
        format!("${{HOME}}/{SECRET}"),
        format!("`echo {root}/{SECRET}`"),
        format!("$(touch {root}/made)"),
        format!("; touch {root}/made"),
        format!("| tee {root}/made"),
        format!("{root}/made"),
        format!("{SECRET}\0.png"),
        format!("../{SECRET}\0"),
        format!("../{SECRET}#x"),
        format!("../{SECRET}?x"),
        format!("outside/{SECRET}"),
        format!("assets/../../{SECRET}"),
        format!("C:{SECRET}"),
        format!("C:\\{SECRET}"),
        format!("c:/{SECRET}"),
        format!("\\\\?\\C:\\{SECRET}"),
        format!("\\\\.\\{SECRET}"),
        format!("\\\\host\\share\\{SECRET}"),
        format!("//host/share/{SECRET}"),
        format!("{SECRET}:stream"),
        format!("{SECRET}::$DATA"),
    ]
}

/// Hostile names, always the same.
pub(super) fn names(w: &World) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for separator in SEPARATORS {
        for dots in ["..", ".", "...", "%2e%2e", "\u{2025}", "..\u{200b}", ".. "] {
            names.push(format!("{dots}{separator}{SECRET}"));
            names.push(format!(
                "a{separator}{dots}{separator}{dots}{separator}{SECRET}"
            ));
        }
        for depth in 1..=6 {
            names.push(format!(
                "{}{SECRET}",
                format!("..{separator}").repeat(depth)
            ));
        }
        names.push(format!("{separator}{SECRET}"));
        names.push(format!("{SECRET}{separator}"));
        names.push(format!("{separator}etc{separator}passwd"));
    }
    names.extend(paths(w));
    names.extend(PLAIN.iter().map(|name| (*name).to_owned()));
    for device in DEVICES {
        for end in ["", ".png", ".tar.gz", " .txt", ":", "."] {
            names.push(format!("{device}{end}"));
        }
    }
    for odd in ODD {
        names.extend([
            format!("{odd}{SECRET}"),
            format!("{SECRET}{odd}"),
            format!("secret{odd}.png"),
            format!("..{odd}/{SECRET}"),
        ]);
    }
    for len in [200, 255, 256, 300, 1000, 4095, 4096, 5000] {
        names.push("x".repeat(len));
        names.push("\u{e9}".repeat(len / 2));
        names.push(format!("{}{SECRET}", "../".repeat(len / 3)));
    }
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    // Some of every kind.
    let all = names.len();
    assert!(all >= HOW_MANY, "{all}");
    let is_kept = |i: usize| (i + 1) * HOW_MANY / all > i * HOW_MANY / all;
    let kept = (0..).zip(names).filter(|(i, _)| is_kept(*i));
    kept.map(|(_, name)| name).collect()
}
