//! How a session goes on in the client.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;

use super::written::started;
use super::{HASH, MAIN, lay_out, session};
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
    let refused = |path: &Path| {
        let refused = w.run(&["resume", path.to_str().unwrap(), "--print"]);
        assert_eq!((refused.code, refused.out.as_str()), (2, ""), "{refused:?}");
        refused.err
    };
    assert_snapshot!(refused(&checkpoint), @"
    error: a checkpoint is resumed from inside of Gemini CLI
    hint: say `/chat resume old` there
    ");
    assert_snapshot!(refused(&checkpoint.with_file_name("logs.json")), @"
    error: prompts of many sessions are no conversation to go on with
    hint: each prompt names its session
    ");
}

/// The client deletes what it cannot read: to start it for such a session would be the end of it.
#[test]
fn what_the_client_cannot_read_is_not_resumed() {
    let w = World::new();
    let (empty, _) = started(&w, &[]);
    for (name, why) in [
        (session("0.61/crlf-bom").to_str().unwrap(), "cannot read"),
        (session("0.61/no-header").to_str().unwrap(), "cannot read"),
        (session("0.20/torn").to_str().unwrap(), "cannot read"),
        (&empty, "nothing is said"),
    ] {
        let refused = w.run(&["resume", name, "--print"]);
        assert_eq!((refused.code, refused.out.as_str()), (2, ""), "{refused:?}");
        assert!(refused.err.contains(why), "{name}: {refused:?}");
        assert!(refused.err.contains("deletes it"), "{name}: {refused:?}");
    }
}

#[test]
fn resume_names_what_else_the_client_deletes() {
    let w = World::new();
    let chats = lay_out(&w, "0.61/everything").join("tmp/shop/chats");
    let notes = || {
        let answer = w.run(&["resume", MAIN, "--print"]);
        assert_eq!(answer.code, 0, "{answer:?}");
        w.plain(&answer.err)
    };
    // What the client itself named goes with the file that it begins when it resumes it.
    assert_snapshot!(notes(), @"
    note: [ROOT]/home/.gemini/tmp/shop/chats/session-2026-11-14T09-00-5d0f6f1e.jsonl: whenever Gemini CLI resumes a session, it begins another file with the same ending of its name, and the next time it is started for anything else it may delete all such files: this session, too
    hint: `fork` makes a copy with a name that stays; resume that
    ");
    fs::copy(
        session("0.61/crlf-bom"),
        chats.join("session-2026-11-14T12-00-4d4d4d4d.jsonl"),
    )
    .unwrap();
    // Nothing is said in this one, so nothing is lost with it, but for what is named alike.
    let stray = |id: &str, said: &str| {
        let header = format!(
            r#"{{"sessionId":"{id}","projectHash":"{HASH}","lastUpdated":"2026-11-15T11:00:00.000Z"}}"#
        );
        format!("{header}\n{{\"id\":\"1\",\"type\":\"user\",\"content\":\"{said}\"}}\n")
    };
    let id = "abcdef12-0000-4000-8000-000000000001";
    let begun = chats.join("session-2026-11-15T11-00-abcdef12.jsonl");
    fs::write(&begun, stray(id, "<session_context>")).unwrap();
    assert!(notes().contains("cannot read 1 other file"), "{}", notes());
    let said = chats.join("session-2026-11-14T11-00-abcdef12.jsonl");
    fs::write(&said, stray(id, "Hello")).unwrap();
    assert!(notes().contains("cannot read 2 other files"), "{}", notes());
    fs::remove_file(&begun).unwrap();
    assert!(notes().contains("cannot read 1 other file"), "{}", notes());
    // A copy of ours is named otherwise.
    let copy = w.ok(&["fork", MAIN]);
    let copy = copy.split_once('\t').unwrap().0;
    let answer = w.run(&["resume", copy, "--print"]);
    assert!(!answer.err.contains("begins another file"), "{answer:?}");
}
