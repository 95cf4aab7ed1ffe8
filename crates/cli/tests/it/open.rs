//! `open`: the page of a session in the cache, and a browser that shows it.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::world::{Answer, World, answer, json};

/// A session with something in it.
fn session(w: &World) -> String {
    let id = w.thread("Talk <about> it");
    w.ok(&["append", &id, "--role", "user", "What is *this*?"]);
    w.ok(&["append", &id, "--role", "agent", "See https://a.example/b."]);
    id
}

/// A browser that writes down what it was told, and ends with this code.
fn browser(w: &World, name: &str, code: u8) -> PathBuf {
    let path = w.root.join(name);
    let log = w.root.join("opened");
    let script = format!(
        "#!/bin/sh\nprintf '%s|' '{name}' \"$#\" \"$@\" >> '{}'\nexit {code}\n",
        log.display()
    );
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn open(w: &World, args: &[&str], browsers: Option<&str>) -> Answer {
    let mut command = w.command(&[&["open"], args].concat());
    if let Some(browsers) = browsers {
        command.env("BROWSER", browsers);
    }
    answer(command.output().unwrap())
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn the_page_is_in_the_cache_and_is_private() {
    let w = World::new();
    let id = session(&w);
    let done = open(&w, &[&id, "--print"], None);
    assert_eq!(done.code, 0, "{done:?}");
    let page = PathBuf::from(done.out.trim_end());
    let folder = w.home.join(".cache/rethread/pages");
    assert_eq!(page, folder.join(format!("atsf-{id}.html")));
    assert_eq!((mode(&folder), mode(&page)), (0o700, 0o600));
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.contains("<h1>Talk &lt;about&gt; it</h1>"), "{text}");
    assert!(text.contains("<em>this</em>"), "{text}");
    assert_eq!(done.err, "");
    // The next one takes its place.
    w.ok(&["append", &id, "--role", "user", "And that?"]);
    let again = open(&w, &[&id, "--print", "--json"], None);
    let told = json(&again.out);
    assert_eq!(told["path"], page.to_str().unwrap());
    assert_eq!(
        (&told["id"], told["browser"].is_null()),
        (&id.as_str().into(), true)
    );
    assert!(fs::read_to_string(&page).unwrap().contains("And that?"));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}

#[test]
fn the_browser_that_is_asked_for_gets_the_path_and_nothing_else() {
    let w = World::new();
    let id = session(&w);
    let (bad, good) = (browser(&w, "bad", 3), browser(&w, "good", 0));
    let (bad, good) = (bad.to_str().unwrap(), good.to_str().unwrap());
    let asked = format!("{bad}:{good} --tab %s; $(touch owned):{bad}");
    let done = open(&w, &[&id, "--json"], Some(&asked));
    assert_eq!(done.code, 0, "{done:?}");
    let told = json(&done.out);
    assert_eq!(told["browser"], good);
    let page = told["path"].as_str().unwrap();
    let log = fs::read_to_string(w.root.join("opened")).unwrap();
    assert_eq!(
        log,
        format!("bad|1|{page}|good|4|--tab|{page};|$(touch|owned)|"),
        "in order, as words, and no further"
    );
    assert!(!w.project.join("owned").exists(), "no shell sees it");
}

#[test]
fn without_a_browser_it_says_where_the_page_is() {
    let w = World::new();
    let id = session(&w);
    for browsers in [None, Some("nowhere-to-be-found:./relative/browser")] {
        let done = open(&w, &[&id], browsers);
        assert_eq!(done.code, 0, "{done:?}");
        assert!(Path::new(done.out.trim_end()).is_file(), "{done:?}");
        assert!(done.err.contains("no browser could be started"), "{done:?}");
    }
}

#[test]
fn old_pages_go_and_nothing_else_does() {
    let w = World::new();
    let id = session(&w);
    let folder = w.home.join(".cache/rethread/pages");
    fs::create_dir_all(&folder).unwrap();
    let now: SystemTime = "2026-11-15T12:00:00Z"
        .parse::<jiff::Timestamp>()
        .unwrap()
        .into();
    let day = Duration::from_hours(24);
    for (name, days) in [("old.html", 8), ("young.html", 6), ("old.txt", 8)] {
        let file = fs::File::create(folder.join(name)).unwrap();
        file.set_modified(now - day * days).unwrap();
    }
    assert_eq!(open(&w, &[&id, "--print"], None).code, 0);
    assert!(!folder.join("old.html").exists());
    assert!(folder.join("young.html").exists() && folder.join("old.txt").exists());
}

#[test]
fn parts_and_what_is_left_out() {
    let w = World::new();
    let id = session(&w);
    let page = |args: &[&str]| {
        let done = open(&w, &[&[id.as_str(), "--print"], args].concat(), None);
        assert_eq!(done.code, 0, "{done:?}");
        fs::read_to_string(done.out.trim_end()).unwrap()
    };
    assert!(!page(&["--last", "1"]).contains("What is"));
    assert!(!page(&["--branch", "#1"]).contains("a.example"));
    assert!(page(&["--no-tools", "--no-thinking"]).contains("a.example"));
    let missing = open(&w, &["nothing", "--print"], None);
    assert_eq!(missing.code, 1, "{missing:?}");
}
