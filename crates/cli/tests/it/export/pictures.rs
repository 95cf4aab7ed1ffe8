//! Pictures of pages, for people to look at.

use std::fs;
use std::path::{Path, PathBuf};

use rethread_judges::{Browser, PageView};

use super::narrow::furnished;
use crate::world::World;

/// Where pictures stay: the folder that `RETHREAD_PICTURES` names, else `pictures` in the folder of
/// builds.
pub(super) fn folder() -> PathBuf {
    let named = std::env::var_os("RETHREAD_PICTURES").map(PathBuf::from);
    let folder =
        named.unwrap_or_else(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join("../pictures"));
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Takes a picture, and gives its bytes.
pub(super) fn take(browser: &Browser, page: &Path, look: PageView, png: &Path) -> Vec<u8> {
    let _ = fs::remove_file(png);
    browser.take_screenshot(page, look, png);
    let picture = fs::read(png).unwrap();
    assert!(picture.starts_with(b"\x89PNG"), "{}", png.display());
    picture
}

/// The width and the height of a picture, which its first block says.
fn size(png: &[u8]) -> (u32, u32) {
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

/// The page of the longest session of a format.
fn page(w: &World, format: &str) -> PathBuf {
    let args = ["export", "--aw", "--agent", format, "--html", "-o", format];
    let answer = w.run(&args);
    assert!([0, 3].contains(&answer.code), "{answer:?}");
    let pages = answer.out.lines().map(|path| w.project.join(path));
    let pages = pages.filter(|path| !path.ends_with("index.html"));
    let len = |path: &PathBuf| fs::metadata(path).unwrap().len();
    pages.max_by_key(len).unwrap()
}

#[test]
fn pages_of_every_format_on_a_phone_and_on_a_desk_by_day_and_by_night() {
    let w = furnished();
    let Some(browser) = Browser::start(&w.root.join("profile")) else {
        return;
    };
    let folder = folder();
    let formats = [
        "claude-code",
        "codex",
        "gemini",
        "agentuse",
        "pi",
        "opencode",
        "atsf",
    ];
    for format in formats {
        let page = page(&w, format);
        for width in [390, 1280] {
            let [day, night] = [false, true].map(|dark| {
                let name = if dark { "dark" } else { "light" };
                let png = folder.join(format!("{format}-{width}-{name}.png"));
                let look = PageView {
                    size: (width, 844),
                    dark,
                    whole: true,
                };
                take(&browser, &page, look, &png)
            });
            assert_eq!(size(&day).0, width, "{format}");
            assert!(size(&day).1 > 300, "{format}: {:?}", size(&day));
            assert_ne!(day, night, "{format} is as dark by day");
        }
    }
    let index = w.project.join("claude-code/index.html");
    for width in [390, 1280] {
        let look = PageView {
            size: (width, 844),
            dark: false,
            whole: true,
        };
        take(
            &browser,
            &index,
            look,
            &folder.join(format!("index-{width}.png")),
        );
    }
}
