//! The verbs on sessions of pi and Atomic: what they write, and what they show.

mod messages;
mod shown;
mod trees;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::world::{World, json};

fn fixture(case: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut files = fs::read_dir(folder.join(case)).unwrap();
    files.next().unwrap().unwrap().path()
}

/// A session with one answered question; its path.
fn answered(w: &World, format: &str) -> String {
    let made = json(&w.ok(&["new", "--format", format, "--title", "Prices", "--json"]));
    let path = made["path"].as_str().unwrap().to_owned();
    w.ok(&["append", &path, "Round the prices."]);
    w.ok(&[
        "append", &path, "--role", "agent", "--model", "acme/m-1", "Done.",
    ]);
    path
}

fn entries(path: &str) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.ends_with('\n'), "{text}");
    text.lines().map(json).collect()
}

fn types(path: &str) -> Vec<String> {
    let word = |e: &Value| e["type"].as_str().unwrap().to_owned();
    entries(path).iter().map(word).collect()
}

/// The entries as a list of parents, by their places: 1 is the first behind the header.
fn parents(path: &str) -> Vec<Option<usize>> {
    let all = entries(path);
    let place = |id: &Value| all.iter().position(|e| e["id"] == *id && !id.is_null());
    all.iter().skip(1).map(|e| place(&e["parentId"])).collect()
}
