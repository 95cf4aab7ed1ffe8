//! A real browser, which tests ask what it makes of a page that we wrote.

use std::path::Path;

use serde_json::{Value, json};

use crate::{Process, installed};

/// Chromium, without a window. It ends with the test.
#[derive(Debug)]
pub struct Browser(Process);

/// How a page is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// The window, in pixels.
    pub size: (u32, u32),
    /// Whether the person prefers dark colours.
    pub dark: bool,
    /// Whether all of it is on a picture, however high that becomes, or what the window shows.
    pub whole: bool,
}

/// A page after it was opened.
#[derive(Debug)]
pub struct Opened {
    /// What it is made of by then.
    pub dom: String,
    /// What the browser asked for, the page itself first.
    pub requests: Vec<String>,
    /// What it complained about.
    pub errors: Vec<String>,
}

/// How much room a page takes, with every fold open.
#[derive(Debug)]
pub struct Extent {
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
    pub fn at(folder: &Path) -> Option<Self> {
        let program = installed("RETHREAD_JUDGE_CHROMIUM")?;
        let node = installed("RETHREAD_JUDGE_NODE_24")?;
        let driver = concat!(env!("CARGO_MANIFEST_DIR"), "/src/browser.mjs");
        let args = [driver.as_ref(), program.as_ref(), folder.as_ref()];
        Some(Self(Process::start(&node, &args)))
    }

    /// Opens a page, and lets two seconds of its own time pass, so that whatever wants to run or load
    /// does.
    ///
    /// # Panics
    ///
    /// If the browser does not run.
    pub fn open(&self, page: &Path) -> Opened {
        let answer = self.ask(&json!({ "page": page, "size": [1280, 900], "dark": false }));
        let list = |name: &str| {
            let all = answer[name].as_array().into_iter().flatten();
            all.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        Opened {
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
    pub fn measure(&self, page: &Path, size: (u32, u32)) -> Extent {
        let question = json!({ "page": page, "size": size, "dark": false, "measure": true });
        let answer = self.ask(&question);
        let beyond = answer["beyond"].as_array().into_iter().flatten();
        Extent {
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
    pub fn picture(&self, page: &Path, look: Look, png: &Path) {
        let Look { size, dark, whole } = look;
        let question =
            json!({ "page": page, "size": size, "dark": dark, "whole": whole, "png": png });
        self.ask(&question);
    }

    /// How far below the top of the window everything is that a selector finds and that can be seen.
    ///
    /// # Panics
    ///
    /// If the browser does not run.
    pub fn tops(&self, page: &Path, size: (u32, u32), selector: &str) -> Vec<i64> {
        let question = json!({ "page": page, "size": size, "dark": false, "find": selector });
        let answer = self.ask(&question);
        let tops = answer["tops"].as_array();
        let tops = tops.unwrap_or_else(|| panic!("{selector}: {answer}"));
        tops.iter().filter_map(Value::as_i64).collect()
    }

    /// Prints a page, into a PDF file.
    ///
    /// # Panics
    ///
    /// If the browser does not run.
    pub fn print(&self, page: &Path, pdf: &Path) {
        self.ask(&json!({ "page": page, "size": [1280, 900], "dark": true, "pdf": pdf }));
    }

    fn ask(&self, question: &Value) -> Value {
        let answer = self.0.ask(question.to_string().as_bytes());
        let answer: Value = serde_json::from_slice(&answer).unwrap_or_default();
        assert!(answer["dom"].is_string(), "{question}: {answer}");
        answer
    }
}
