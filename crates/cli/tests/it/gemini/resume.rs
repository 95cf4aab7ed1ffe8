//! How a session goes on in the client.

use insta::assert_snapshot;

use super::write::started;
use super::{HASH, lay_out};
use crate::world::{World, json};

#[test]
fn resume_is_the_clients_own_command_and_says_what_it_deletes() {
    let w = World::new();
    let (id, path) = started(&w, &[]);
    w.ok(&["append", &id, "Hello"]);
    let call = format!("cd {} && gemini --resume {id}\n", w.project.display());
    let fresh = w.run(&["resume", &id, "--print"]);
    assert_eq!((fresh.code, fresh.err.as_str()), (0, ""), "{fresh:?}");
    assert_eq!(fresh.out, call);
    let later = |args: &[&str]| {
        let mut command = w.command(args);
        command.env("RETHREAD_NOW", "2026-12-16T12:00:00.000Z");
        crate::world::run_with(command, b"")
    };
    let old = later(&["resume", &id, "--print"]);
    assert_eq!((old.code, old.out.as_str()), (0, call.as_str()), "{old:?}");
    assert_snapshot!(w.plain(&old.err), @"
    note: [ROOT]/home/.gemini/tmp/shop/chats/session-2026-11-15T12-00-5b7cfc0b-3e3af1dd.jsonl: nothing changed in this session for 30 days: Gemini CLI deletes it the next time it is started for anything else
    hint: go on with it, or `rename` it, which counts as a change
    ");
    // Another one is in danger as soon as the client is started for this one.
    let made = json(&later(&["new", "--format", "gemini", "--json"]).out);
    let new = made["id"].as_str().unwrap();
    assert_eq!(later(&["append", new, "Hello"]).code, 0);
    let other = later(&["resume", new, "--print"]);
    assert_snapshot!(w.plain(&other.err), @"note: [ROOT]/home/.gemini/tmp/shop/chats: 1 other file beside this session did not change for 30 days: Gemini CLI deletes it when it starts, unless `general.sessionRetention` in its settings says otherwise");
    // One that was just renamed is not old, whenever something was last said in it.
    assert_eq!(later(&["rename", &id, "Kept"]).code, 0);
    assert_eq!(later(&["resume", &id, "--print"]).err, "");
    assert!(path.is_file());
    lay_out(&w, "0.20/document");
    let checkpoint = w
        .home
        .join(".gemini/tmp")
        .join(HASH)
        .join("checkpoint-old.json");
    let refused = w.run(&["resume", checkpoint.to_str().unwrap(), "--print"]);
    assert_ne!(refused.code, 0, "{refused:?}");
}
