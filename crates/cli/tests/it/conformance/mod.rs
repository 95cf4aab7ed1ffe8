//! What the document asks for and no other test shows: see `docs/conformance/atsf.md`.

mod messages;
mod store;
mod threads;
mod tools;

use std::fs;
use std::path::Path;

use rethread_formats::Source;
use rethread_formats::atsf::FORMAT;
use rethread_model::Head;
use serde_json::Value;

use crate::world::{World, fixtures, json};

const DOCUMENT_ID: &str = "a1b2c3d4-e5f6-7890-abcd-ef1234567890";

fn example(name: &str) -> String {
    fs::read_to_string(fixtures().join("1.1/document").join(name)).unwrap()
}

/// Puts the document's `thread.json` into the store, with a log.
fn document_thread(w: &World, log: &str) {
    fs::create_dir_all(w.folder(DOCUMENT_ID)).unwrap();
    for (name, text) in [
        ("thread.json", example("thread.json").as_str()),
        ("messages.jsonl", log),
    ] {
        fs::write(w.folder(DOCUMENT_ID).join(name), text).unwrap();
    }
}

fn source(folder: &Path) -> Source {
    let id = folder.file_name().unwrap().to_str().unwrap().to_owned();
    Source::new(FORMAT, id, folder.to_owned())
}

fn head(folder: &Path) -> Head {
    FORMAT.reader().read(&source(folder)).unwrap().session.head
}

fn assert_fields(object: &Value, fields: &[(&str, Value)]) {
    for (pointer, expected) in fields {
        assert_eq!(object.pointer(pointer), Some(expected), "{pointer}");
    }
}

fn new_id(w: &World, args: &[&str]) -> String {
    let mut all = vec!["new", "--format", "atsf", "--json"];
    all.extend(args);
    json(&w.ok(&all))["id"].as_str().unwrap().to_owned()
}

/// Runs every verb that changes a thread: another message, a message anew, a title, a copy.
fn every_verb(w: &World, id: &str) {
    let added = w.ok(&["append", id, "one more"]);
    w.ok(&["append", id, "--replace", added.trim(), "and changed"]);
    w.ok(&["rename", id, "another title"]);
    w.ok(&["fork", id]);
}

/// The one thread beside these.
fn new_folder(w: &World, known: &[&str]) -> String {
    let folders = fs::read_dir(w.project.join(".agent/threads")).unwrap();
    let names = folders.map(|e| e.unwrap().file_name().into_string().unwrap());
    let new: Vec<String> = names.filter(|n| !known.contains(&n.as_str())).collect();
    assert_eq!(new.len(), 1, "{new:?}");
    new[0].clone()
}
