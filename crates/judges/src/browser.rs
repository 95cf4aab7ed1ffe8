//! A real browser, which tests ask what it makes of a page that we wrote.

use std::path::Path;

use serde_json::{Value, json};

use crate::{JsonLineProcess, installed_program};

/// Chromium, without a window. It ends with the test.
#[derive(Debug)]
pub struct Browser(JsonLineProcess);

/// How a page is looked at.
#[derive(Clone, Copy, Debug)]
pub struct PageView {
    /// The window, in pixels.
    pub size: (u32, u32),
    /// Whether the person prefers dark colours.
    pub dark: bool,
    /// Whether all of it is on a picture, however high that becomes, or what the window shows.
    pub whole: bool,
}

/// A page after it was opened.
#[derive(Debug)]
pub struct OpenedPage {
    /// What it is made of by then.
    pub dom: String,
    /// What the browser asked for, the page itself first.
    pub requests: Vec<String>,
    /// What it complained about.
    pub errors: Vec<String>,
}

/// How much room a page takes, with every fold open.
#[derive(Debug)]
pub struct PageExtent {
    /// How wide all of it is, in pixels.
    pub width: u64,
    /// The beginnings of what reaches beyond the window and cannot be scrolled by itself.
    pub beyond: Vec<String>,
}

impl Browser {
    /// The browser, with a folder for what it remembers; none if it is not installed, and then the
    /// test is to be skipped.
    ///
    /// # Panics
    ///
    /// If it is not installed where `CI` is set.
    pub fn start(folder: &Path) -> Option<Self> {
        let program = installed_program("RETHREAD_JUDGE_CHROMIUM")?;
        let node = installed_program("RETHREAD_JUDGE_NODE_24")?;
        let driver = concat!(env!("CARGO_MANIFEST_DIR"), "/src/browser.mjs");
        let args = [driver.as_ref(), program.as_ref(), folder.as_ref()];
        Some(Self(JsonLineProcess::start(&node, &args)))
    }

    /// Opens a page, and lets two seconds of its own time pass, so that whatever wants to run or load
    /// does.
    ///
    /// # Panics
    ///
    /// If the browser does not run.
    pub fn open_page(&self, page: &Path) -> OpenedPage {
        let answer =
            self.send_request(&json!({ "page": page, "size": [1280, 900], "dark": false }));
        let list = |name: &str| {
            let all = answer[name].as_array().into_iter().flatten();
            all.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        OpenedPage {
            dom: answer["dom"].as_str().unwrap_or_default().to_owned(),
            requests: list("requests"),
            errors: list("errors"),
        }
    }

    /// Opens a page and all of its folds, and measures it.
    ///
    /// # Panics
    ///
    /// If the browser does not run.
    pub fn measure_page(&self, page: &Path, size: (u32, u32)) -> PageExtent {
        let question = json!({ "page": page, "size": size, "dark": false, "measure": true });
        let answer = self.send_request(&question);
        let beyond = answer["beyond"].as_array().into_iter().flatten();
        PageExtent {
            width: answer["width"].as_u64().unwrap_or(u64::MAX),
            beyond: beyond
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
        }
    }

    /// Takes a picture of a page, into a PNG file.
    ///
    /// # Panics
    ///
    /// If the browser does not run.
    pub fn take_screenshot(&self, page: &Path, look: PageView, png: &Path) {
        let PageView { size, dark, whole } = look;
        let question =
            json!({ "page": page, "size": size, "dark": dark, "whole": whole, "png": png });
        self.send_request(&question);
    }

    /// How far below the top of the window everything is that a selector finds and that can be seen.
    ///
    /// # Panics
    ///
    /// If the browser does not run.
    pub fn element_tops(&self, page: &Path, size: (u32, u32), selector: &str) -> Vec<i64> {
        let question = json!({ "page": page, "size": size, "dark": false, "find": selector });
        let answer = self.send_request(&question);
        let tops = answer["tops"].as_array();
        let tops = tops.unwrap_or_else(|| panic!("{selector}: {answer}"));
        tops.iter().filter_map(Value::as_i64).collect()
    }

    /// Prints a page, into a PDF file.
    ///
    /// # Panics
    ///
    /// If the browser does not run.
    pub fn print_pdf(&self, page: &Path, pdf: &Path) {
        self.send_request(&json!({ "page": page, "size": [1280, 900], "dark": true, "pdf": pdf }));
    }

    fn send_request(&self, question: &Value) -> Value {
        let answer = self.0.send_request(question.to_string().as_bytes());
        let answer: Value = serde_json::from_slice(&answer).unwrap_or_default();
        assert!(answer["dom"].is_string(), "{question}: {answer}");
        answer
    }
}
