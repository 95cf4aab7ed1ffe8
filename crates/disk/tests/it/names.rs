//! Hostile names.

use std::path::{Component, Path};

use proptest::prelude::*;
use rethread_disk::{SafeName, UnsafeName, join};

const GOOD: &[&str] = &[
    "a",
    "a.b",
    ".hidden",
    "..a",
    "a..b",
    "...a",
    "-rf",
    "--",
    "~",
    "$HOME",
    "`id`",
    "a b",
    "a;b",
    "con1",
    "comma",
    "com",
    "com10",
    "lpt",
    "console.log",
    "nullable",
    "xnul",
    "CONIN",
    "%2e%2e",
    "\u{e4}\u{f6}\u{fc}",
    "\u{65e5}\u{672c}",
    "\u{1f469}\u{200d}\u{1f4bb}",
    "a'b",
    "{}",
    "@",
    "#1",
];

const BAD: &[&str] = &[
    "",
    ".",
    "..",
    "/",
    "\\",
    "/etc",
    "a/b",
    "../a",
    "a/..",
    "a\\b",
    "..\\a",
    "C:",
    "C:\\",
    "c:a",
    "a:b",
    "a<",
    "a>",
    "\"a\"",
    "a|b",
    "a?",
    "*",
    " a",
    "a ",
    "a.",
    "a..",
    "...",
    "a .",
    "a. ",
    " ",
    "\u{a0}a",
    "a\u{3000}",
    "\0",
    "a\0",
    "\0a",
    "a\nb",
    "a\rb",
    "a\tb",
    "\x1b[31m",
    "\x7f",
    "\u{85}",
    "\u{9b}31m",
    "\u{2028}",
    "a\u{2029}b",
    "\u{202e}txt.exe",
    "a\u{200f}",
    "\u{2066}a",
    "\u{2069}",
    "\u{61c}",
    "a\u{200e}b",
];

const DEVICES: &[&str] = &["con", "prn", "aux", "nul", "conin$", "conout$", "clock$"];

#[test]
fn good_names_stay_as_they_are() {
    for name in GOOD {
        assert_eq!(SafeName::new(name).unwrap().as_str(), *name);
    }
    assert!(SafeName::new(&"x".repeat(255)).is_ok());
}

#[test]
fn bad_names_are_refused_in_words_that_do_no_harm() {
    for name in BAD {
        let e = SafeName::new(name).expect_err(name);
        harmless(&e);
    }
    let long = "x".repeat(256);
    let e = SafeName::new(&long).unwrap_err();
    assert!(
        matches!(e, UnsafeName::TooLong { len: 256, .. }) && e.to_string().len() < 200,
        "{e}"
    );
}

#[test]
fn every_control_and_forbidden_character_is_refused_everywhere() {
    let forbidden = "/\\:<>\"|?*".chars();
    let bidi = ('\u{202a}'..='\u{202e}').chain('\u{2066}'..='\u{2069}');
    let control = ('\0'..='\x1f').chain('\x7f'..='\u{9f}');
    for c in forbidden.chain(bidi).chain(control) {
        for name in [
            format!("{c}"),
            format!("{c}a"),
            format!("a{c}"),
            format!("a{c}b"),
        ] {
            harmless(&SafeName::new(&name).expect_err(&name));
        }
    }
}

#[test]
fn devices_are_refused_in_every_disguise() {
    let ports = ["com", "lpt"].into_iter().flat_map(|port| {
        ('0'..='9')
            .chain(['\u{b9}', '\u{b2}', '\u{b3}'])
            .map(move |n| format!("{port}{n}"))
    });
    for device in DEVICES.iter().map(|d| (*d).to_owned()).chain(ports) {
        let upper = device.to_ascii_uppercase();
        for name in [&device, &upper] {
            for end in ["", ".txt", ".tar.gz", " .txt", ".a b"] {
                let name = format!("{name}{end}");
                let e = SafeName::new(&name).expect_err(&name);
                assert!(matches!(e, UnsafeName::Device(_)), "{name}: {e}");
            }
        }
    }
}

fn harmless(e: &UnsafeName) {
    let words = e.to_string();
    assert!(
        !words
            .chars()
            .any(|c| c.is_control() || ('\u{2028}'..='\u{202e}').contains(&c))
    );
    assert!(!words.contains(['\u{200e}', '\u{200f}', '\u{61c}', '\u{2066}', '\u{2069}']));
    assert!(!words.ends_with('.') && words.len() < 1000, "{words}");
}

proptest! {
    #[test]
    fn whatever_is_accepted_is_one_name_in_the_folder(name in any::<String>()) {
        match SafeName::new(&name) {
            Ok(safe) => {
                let path = join(Path::new("/folder"), &safe);
                prop_assert_eq!(path.parent(), Some(Path::new("/folder")));
                prop_assert_eq!(path.components().count(), 3);
                let last = path.components().next_back();
                prop_assert_eq!(last, Some(Component::Normal(name.as_ref())));
            }
            Err(e) => harmless(&e),
        }
    }

    #[test]
    fn what_is_accepted_can_be_made(name in "[^/\\pC]{1,40}") {
        if let Ok(safe) = SafeName::new(&name) {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(join(folder.path(), &safe), b"").unwrap();
            prop_assert_eq!(crate::names_in(folder.path()), vec![name]);
        }
    }
}
