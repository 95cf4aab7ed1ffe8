//! A new session with what was said up to some message.

use std::fs;
use std::path::PathBuf;

use rethread_model::{Blob, Block, LinkKind};

use super::{MAIN, active, assert_lossless, lay_out, message};
use crate::world::{World, json, tree};

#[test]
fn a_fork_copies_the_way_to_an_entry() {
    let w = World::new();
    let home = lay_out(&w, "0.61/everything");
    let original = home.join("tmp/shop/chats/session-2026-11-14T09-00-5d0f6f1e.jsonl");
    let before = fs::read_to_string(&original).unwrap();
    let at = "a0000000-0000-4000-8000-000000000004";
    let made = json(&w.ok(&["fork", MAIN, "--at", at, "--json"]));
    let path = PathBuf::from(made["path"].as_str().unwrap());
    assert_eq!(path.parent(), original.parent());
    assert_eq!(fs::read_to_string(&original).unwrap(), before);
    let text = fs::read_to_string(&path).unwrap();
    let copied: Vec<&str> = text.lines().skip(1).collect();
    assert_eq!(copied.len(), 4);
    for line in &copied[1..] {
        assert!(before.contains(line), "each line keeps its bytes: {line}");
    }
    let c = assert_lossless(&path);
    let [fork, _] = c.session.head.links.as_slice() else {
        panic!("{:?}", c.session.head.links);
    };
    assert_eq!((fork.kind, fork.session.as_str()), (LinkKind::ForkOf, MAIN));
    assert_eq!(fork.entry.as_deref(), Some(at));
    assert!(c.session.entries().iter().all(|e| e.inherited));
    assert_eq!(
        c.session.head.title.as_ref().unwrap().text,
        "Fix the sign-in test"
    );
    // A document becomes a log, here in another project.
    lay_out(&w, "0.20/document");
    let made = json(&w.ok(&["fork", "8a8a8a8a", "--cwd", ".", "--title", "On", "--json"]));
    let path = PathBuf::from(made["path"].as_str().unwrap());
    assert!(path.starts_with(home.join("tmp/shop-1")), "{path:?}");
    assert_eq!(
        active(&assert_lossless(&path)),
        ["m1", "m2", "m3", "m4", "m5"]
    );
}

#[test]
fn a_fork_takes_along_what_its_tools_saved() {
    let w = World::new();
    let home = lay_out(&w, "0.61/everything");
    let outputs = home.join("tmp/shop/tool-outputs");
    let of_original: Vec<_> = tree(&outputs);
    let forked = |at: &str| {
        let made = json(&w.ok(&["fork", MAIN, "--at", at, "--json"]));
        let id = made["id"].as_str().unwrap().to_owned();
        (id, PathBuf::from(made["path"].as_str().unwrap()))
    };
    // The call whose answer was saved is not on the way to the first question.
    let (early, _) = forked("a0000000-0000-4000-8000-000000000001");
    assert!(!outputs.join(format!("session-{early}")).exists());
    let (late, path) = forked("a0000000-0000-4000-8000-000000000004");
    let copies = tree(&outputs.join(format!("session-{late}")));
    let [(copy, bytes)] = copies.as_slice() else {
        panic!("{copies:?}");
    };
    let name = copy.file_name().unwrap();
    let original = of_original
        .iter()
        .find(|(p, _)| p.file_name() == Some(name));
    assert_eq!(Some(bytes), original.map(|(_, bytes)| bytes));
    let c = assert_lossless(&path);
    let said = message(&c, "a0000000-0000-4000-8000-000000000002");
    let saved = said.blocks.iter().find_map(|b| match b {
        Block::ToolResult(result) => result.full_output.clone(),
        _ => None,
    });
    assert_eq!(saved, Some(Blob::File(copy.clone())));
    // It is its own: what becomes of the original does not matter to it.
    w.ok(&["rm", MAIN, "--force"]);
    assert!(of_original.iter().all(|(p, _)| !p.exists()));
    assert_eq!(&fs::read(copy).unwrap(), bytes);
}
