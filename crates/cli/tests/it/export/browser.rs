//! What a real browser makes of a page: nothing runs, and nothing is loaded.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::Duration;

use rethread_judges::{Browser, OpenedPage, PageView};

use super::html::{SESSION, session};
use super::pictures;
use crate::world::World;

/// A door that the traps lead to. Whoever comes is turned away, and written down.
struct Door {
    address: String,
    porter: JoinHandle<Vec<String>>,
}

/// What the last visitor says.
const CLOSING: &str = "closing";

impl Door {
    fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let porter = std::thread::spawn(move || {
            let mut visitors = Vec::new();
            loop {
                let (mut visitor, _) = listener.accept().unwrap();
                // Some only look whether somebody is there.
                visitor
                    .set_read_timeout(Some(Duration::from_secs(1)))
                    .unwrap();
                let mut wish = String::new();
                let _ = BufReader::new(&visitor).read_line(&mut wish);
                if wish == CLOSING {
                    return visitors;
                }
                visitors.push(wish);
                let _ = visitor.write_all(
                    b"HTTP/1.1 404 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                );
            }
        });
        Self { address, porter }
    }

    /// Who came. They are let in one after the other, so nobody is missed.
    fn close(self) -> Vec<String> {
        let mut last = TcpStream::connect(&self.address).unwrap();
        last.write_all(CLOSING.as_bytes()).unwrap();
        drop(last);
        self.porter.join().unwrap()
    }
}

/// The hostile session, with all its addresses leading to the door.
fn trapped(door: &Door) -> String {
    let text = fs::read_to_string(session()).unwrap();
    text.replace("127.0.0.1:9/", &format!("{}/", door.address))
}

/// Its page.
fn exported(w: &World, door: &Door) -> PathBuf {
    let text = trapped(door);
    let path = w.project.join(format!("{SESSION}.jsonl"));
    fs::write(&path, text).unwrap();
    w.ok(&["export", path.to_str().unwrap(), "-o", "page.html"]);
    w.project.join("page.html")
}

/// A page with every fold open.
fn unfolded(page: &Path) -> PathBuf {
    let text = fs::read_to_string(page).unwrap();
    let open = page.with_file_name("open.html");
    fs::write(&open, text.replace("<details ", "<details open ")).unwrap();
    open
}

#[test]
fn nothing_runs_and_nothing_is_loaded() {
    let w = World::new();
    let Some(browser) = Browser::start(&w.root.join("profile")) else {
        return;
    };
    let door = Door::open();
    let page = exported(&w, &door);
    for page in [unfolded(&page), page] {
        let OpenedPage {
            dom,
            requests,
            errors,
        } = browser.open_page(&page);
        assert!(dom.contains("<html lang=\"en\">"), "something ran: {dom}");
        assert!(
            dom.contains("<title>Fix the redirect after sign-in &lt;/title&gt;"),
            "{dom}"
        );
        for tag in [
            "<script", "<iframe", "<link", "<object", "<video", "<svg", "<base",
        ] {
            assert!(!dom.contains(tag), "{tag}: {dom}");
        }
        assert_eq!(dom.matches("<main ").count(), 1);
        let articles = dom.matches("<article ").count();
        assert_eq!(dom.matches("</article>").count(), articles);
        let outside = |r: &String| !r.starts_with("file:") && !r.starts_with("data:image/png;");
        assert!(!requests.iter().any(outside), "{requests:?}");
        assert_eq!(requests.len(), 2, "the page and its picture: {requests:?}");
        assert_eq!(errors, Vec::<String>::new());
    }
    assert_eq!(door.close(), Vec::<String>::new(), "something was loaded");
}

#[test]
fn the_traps_are_traps_on_a_page_that_does_not_escape_them() {
    let w = World::new();
    let Some(browser) = Browser::start(&w.root.join("profile")) else {
        return;
    };
    let door = Door::open();
    // The page is to stay.
    let text = trapped(&door).replace("http-equiv", "hidden");
    let prompt = text
        .lines()
        .find(|l| l.contains("Somebody sent us"))
        .unwrap();
    let prompt: serde_json::Value = serde_json::from_str(prompt).unwrap();
    let naive = w.project.join("naive.html");
    fs::write(&naive, prompt["message"]["content"].as_str().unwrap()).unwrap();
    let opened = browser.open_page(&naive);
    assert!(opened.dom.contains("data-ran="), "{opened:?}");
    assert_ne!(door.close(), Vec::<String>::new(), "{opened:?}");
}

#[test]
fn the_policy_holds_even_if_something_is_not_escaped() {
    let w = World::new();
    let Some(browser) = Browser::start(&w.root.join("profile")) else {
        return;
    };
    let door = Door::open();
    let page = exported(&w, &door);
    let text = fs::read_to_string(&page).unwrap();
    let trap = format!(
        "<script>document.documentElement.dataset.ran = 1</script>\
         <img src=\"http://{0}/a.png\" onerror=\"document.documentElement.dataset.ran = 2\">\
         <link rel=stylesheet href=\"http://{0}/a.css\"><iframe src=\"http://{0}/a.html\"></iframe>\
         <style>@import url(http://{0}/b.css); body {{ background: url(http://{0}/b.png) }}</style>",
        door.address
    );
    fs::write(
        &page,
        text.replacen("</header>", &format!("{trap}</header>"), 1),
    )
    .unwrap();
    let OpenedPage { dom, errors, .. } = browser.open_page(&page);
    assert!(
        !errors.is_empty(),
        "the browser says what the policy forbids"
    );
    assert!(
        dom.contains("<script>") && dom.contains("<html lang=\"en\">"),
        "{dom}"
    );
    assert_eq!(door.close(), Vec::<String>::new(), "something was loaded");
}

/// The page with a box ticked or not.
fn with(page: &Path, from: &str, to: &str) -> PathBuf {
    let text = fs::read_to_string(page).unwrap();
    assert!(text.contains(from), "{from}: {text}");
    let changed = page.with_file_name("changed.html");
    fs::write(&changed, text.replace(from, to)).unwrap();
    changed
}

#[test]
fn what_is_shown_can_be_chosen_without_a_script() {
    let w = World::new();
    let Some(browser) = Browser::start(&w.root.join("profile")) else {
        return;
    };
    let door = Door::open();
    let page = exported(&w, &door);
    let size = (390, 844);
    let seen = |page: &Path, selector: &str| browser.element_tops(page, size, selector).len();
    for (name, what) in [("tools", ".tool"), ("thinking", ".thinking")] {
        assert!(seen(&page, what) > 0, "{what}");
        let box_id = format!("id=show-{name} checked");
        let without = with(&page, &box_id, box_id.trim_end_matches(" checked"));
        assert_eq!(seen(&without, what), 0, "{what}");
        assert!(seen(&without, ".prose") > 0);
    }
    let inside = ".tool:not([open]) > pre";
    assert_eq!(seen(&page, inside), 0, "folds are closed");
    let all = with(&page, "id=show-all", "id=show-all checked");
    assert!(seen(&all, inside) > 0, "folds are open");
    assert_eq!(door.close(), Vec::<String>::new());
}

#[test]
fn the_first_word_is_on_a_phones_first_screen() {
    let w = World::new();
    let Some(browser) = Browser::start(&w.root.join("profile")) else {
        return;
    };
    let door = Door::open();
    let page = exported(&w, &door);
    let tops = browser.element_tops(&page, (390, 844), "article.person .prose");
    assert!(tops.first().is_some_and(|top| *top < 500), "{tops:?}");
    assert!(
        browser.element_tops(&page, (390, 844), "dl").is_empty(),
        "facts are folded"
    );
    door.close();
}

#[test]
fn a_page_can_be_looked_at_and_printed() {
    let w = World::new();
    let Some(browser) = Browser::start(&w.root.join("profile")) else {
        return;
    };
    let door = Door::open();
    let page = exported(&w, &door);
    let open = unfolded(&page);
    let folder = pictures::folder();
    let (wide, narrow) = ((1280, 2000), (400, 1600));
    let mut seen: Vec<Vec<u8>> = Vec::new();
    for (name, page, size, dark) in [
        ("light", &page, wide, false),
        ("dark", &page, wide, true),
        ("open", &open, (1280, 6000), false),
        ("narrow", &page, narrow, false),
        ("narrow-dark", &open, (400, 6000), true),
    ] {
        let png = folder.join(format!("{name}.png"));
        let whole = false;
        let picture = pictures::take(&browser, page, PageView { size, dark, whole }, &png);
        assert!(!seen.contains(&picture), "{name} looks like another");
        seen.push(picture);
    }
    for (name, page) in [("folded", &page), ("unfolded", &open)] {
        let pdf = folder.join(format!("{name}.pdf"));
        let _ = fs::remove_file(&pdf);
        browser.print_pdf(page, &pdf);
        assert!(fs::read(&pdf).unwrap().starts_with(b"%PDF-"), "{name}");
    }
    assert_eq!(door.close(), Vec::<String>::new(), "something was loaded");
}
