//! Sessions of Gemini CLI: found, listed, read, shown and written.

mod fork;
mod found;
mod judged;
mod lossless;
mod meaning;
mod resume;
mod tokens;
mod written;

use std::fs;
use std::path::{Path, PathBuf};

use rethread_formats::{Conversation, Source, gemini::FORMAT};
use rethread_model::{Bodies, Body, Message};

use crate::world::{World, copy, tree};

const MAIN: &str = "5d0f6f1e-3a51-4c0e-9a6b-0c5d8f1b2a01";
const CHILD: &str = "c7a4e9d2-1b7f-4f64-8a35-6f0e2d9b7c02";
const HASH: &str = "4a68c726aa051718fe4af11f691cc40edc7757ac525175fccc8ab9ab302342fe";

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/gemini")
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    tree(folder).into_iter().map(|(path, _)| path).collect()
}

/// The one session of a case.
fn session(case: &str) -> PathBuf {
    let mut files = files_below(&fixtures().join(case));
    assert_eq!(files.len(), 1, "{case}");
    files.remove(0)
}

fn read(path: &Path) -> Conversation {
    let source = Source::new(
        rethread_formats::gemini::FORMAT,
        String::new(),
        path.to_owned(),
    );
    FORMAT.reader().read(&source).unwrap()
}

fn everything() -> Conversation {
    let chats = fixtures().join("0.61/everything/tmp/shop/chats");
    read(&chats.join("session-2026-11-14T09-00-5d0f6f1e.jsonl"))
}

/// Makes a case the client's folder in a home.
fn lay_out(w: &World, case: &str) -> PathBuf {
    let home = w.home.join(".gemini");
    copy(&fixtures().join(case), &home);
    home
}

/// Reads a session and saves every part of it: the same bytes, every record accounted for.
fn assert_lossless(path: &Path) -> Conversation {
    let conversation = read(path);
    let mut records = Vec::new();
    for (number, part) in (0_u32..).zip(&conversation.native.parts) {
        let mut saved = Vec::new();
        conversation.native.save(number, &mut saved).unwrap();
        let original = fs::read(&part.path).unwrap();
        assert!(saved == original, "{}", part.path.display());
        let count = u32::try_from(part.record_count()).unwrap();
        let tiled: Vec<u8> = (0..count).flat_map(|r| part.read(r).unwrap()).collect();
        assert!(tiled == original, "records tile {}", part.path.display());
        records.push(count);
    }
    assert_eq!(conversation.session.unaccounted(&records), None);
    for (ix, _) in conversation.session.indexed() {
        conversation.body(ix);
    }
    conversation
}

/// The files of a folder that are sessions.
fn sessions_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = files_below(folder);
    files.retain(|path| !FORMAT.store().at_path(path).is_empty());
    files
}

fn message(c: &Conversation, id: &str) -> Message {
    match c.body(c.session.find(id).unwrap()) {
        Body::Message(message) => message,
        other => panic!("{id}: {other:?}"),
    }
}

/// The ids of the messages that the client would resume.
fn active(c: &Conversation) -> Vec<&str> {
    let path = c.session.active_path();
    path.into_iter().map(|ix| c.session.id(ix)).collect()
}
