//! Sessions of OpenCode: found, listed, read and shown, from databases, old stores and exports.

mod corpus;
mod exported;
mod exports;
mod judged;
mod live;
mod projects;
mod resumed;
pub(crate) mod store;
pub(crate) mod written;

use std::fs;

use insta::assert_snapshot;
use rethread_formats::{Source, Want, opencode::FORMAT};
use rethread_model::{
    Blob, Block, Bodies, Body, EntryIx, Kept, Kind, LinkKind,
    Role::{Assistant, User},
    TitleSource,
};

use self::store::{
    assert_accounted, data, database, fixtures, installed, integrity, names, read, restore, rows,
};
use crate::world::{World, copy, json};

const EVERYTHING: &str = "ses_5aaaaaaaa001Everything0001";
const CHILD: &str = "ses_5aaaaaaaa002Child00000001";
const REVERTED: &str = "ses_5aaaaaaaa003Reverted000001";
const DAMAGED: &str = "ses_5bbbbbbbb001Damaged0000001";
const TREE: &str = "ses_6dddddddd001Tree0000000001";
const FIRST: &str = "ses_7eeeeeeee001First000000001";

/// A world with a database and old stores of both generations.
fn world() -> World {
    let w = World::new();
    installed(&w, "1.18/everything");
    for case in ["1.1/tree", "0.3/first"] {
        copy(&fixtures().join(case), &data(&w));
    }
    w
}

#[test]
fn all_ways_of_keeping_sessions_are_listed() {
    let w = world();
    assert_snapshot!("opencode_list", w.plain(&w.ok(&["list", "--subagents"])));
    let all = w.ok(&["list", "--subagents", "--json", "--sort", "tokens"]);
    let of = |id: &str| {
        let mut lines = all.lines().map(json);
        lines.find(|s| s["id"] == id).unwrap()
    };
    assert_eq!(
        of(EVERYTHING)["message_count"],
        4,
        "a compaction is no message"
    );
    assert_eq!(of(REVERTED)["title"], "Rename the shop");
    assert_eq!(of(TREE)["message_count"], 2);
    assert_eq!(of(FIRST)["message_count"], 3);
}

#[test]
fn show_as_text_markdown_and_json() {
    let w = world();
    assert_snapshot!(
        "opencode_show",
        w.plain(&w.ok(&["show", EVERYTHING, "--thinking"]))
    );
    assert_snapshot!("opencode_tree", w.plain(&w.ok(&["tree", EVERYTHING])));
    assert_snapshot!(
        "opencode_json",
        w.plain(&w.ok(&["show", EVERYTHING, "--json"]))
    );
    for id in [CHILD, FIRST] {
        assert_snapshot!(format!("opencode_show_{id}"), w.plain(&w.ok(&["show", id])));
    }
    let markdown = w.ok(&["show", REVERTED, "--to", "markdown"]);
    assert!(markdown.contains("Renamed."), "{markdown}");
    assert!(
        !markdown.contains("Delete everything"),
        "it was taken back: {markdown}"
    );
}

#[test]
fn a_part_that_is_no_message_is_shown_as_what_it_is_and_no_model_sees_it() {
    let w = World::new();
    let path = installed(&w, "1.18/everything");
    let db = rusqlite::Connection::open(&path).unwrap();
    let sql = "INSERT INTO part (id, message_id, session_id, time_created, time_updated, data)
        SELECT 'prt_zz' || ?1, id, session_id, 1, 1, ?2 FROM message
        WHERE session_id = ?3 ORDER BY time_created DESC, id DESC LIMIT 1";
    for (n, data) in (0_u32..).zip([
        r#"{"type":"agent","name":"explore","source":{"value":"@explore","start":0,"end":8}}"#,
        r#"{"type":"snapshot","snapshot":"dd44"}"#,
        r#"{"type":"patch","hash":"ee55","files":["/a.ts","/b.ts"]}"#,
        r#"{"type":"hologram","beams":1}"#,
    ]) {
        assert_eq!(db.execute(sql, (n, data, EVERYTHING)), Ok(1));
    }
    db.close().unwrap();
    let shown = w.ok(&["show", EVERYTHING]);
    let context = w.ok(&["context", EVERYTHING]);
    for part in [
        "[agent: explore]",
        "[snapshot: dd44]",
        "[patch: /a.ts, /b.ts]",
        "[unknown block: hologram]",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
        assert!(!context.contains(part), "{part}: {context}");
    }
    for native in [&["show"][..], &["context", "--native"]] {
        let mut args = vec![native[0], EVERYTHING, "--json"];
        args.extend(&native[1..]);
        assert!(w.ok(&args).contains("\"beams\":1"), "{args:?}");
    }
}

#[test]
fn a_session_of_a_database_is_named_behind_its_path() {
    let w = World::new();
    let path = w.root.join("copy.db");
    database(&path, "1.18/everything");
    let several = w.run(&["show", path.to_str().unwrap()]);
    assert_eq!(several.code, 1, "{several:?}");
    assert!(several.err.contains(REVERTED), "{several:?}");
    let named = format!("{}#{CHILD}", path.display());
    assert!(w.ok(&["show", &named]).contains("Find the listeners"));
    let nobody = w.run(&["show", &format!("{}#ses_none", path.display())]);
    assert_eq!(nobody.code, 1, "{nobody:?}");
}

#[test]
fn databases_of_channels_and_of_a_variable_are_found() {
    let w = World::new();
    database(&data(&w).join("opencode-dev.db"), "1.18/everything");
    database(&data(&w).join("mine.sqlite"), "1.18/damaged");
    database(&data(&w).join("notes.db"), "1.18/damaged");
    let ids = |out: &str| out.lines().count();
    assert_eq!(ids(&w.ok(&["list", "--tsv", "--subagents"])), 3);
    for named in [
        "mine.sqlite",
        data(&w).join("mine.sqlite").to_str().unwrap(),
    ] {
        let list = w
            .command(&["list", "--tsv", "--subagents"])
            .env("OPENCODE_DB", named)
            .output();
        let out = String::from_utf8(list.unwrap().stdout).unwrap();
        assert_eq!(ids(&out), 4, "{named}: {out}");
    }
    let list = w
        .command(&["list", "--tsv", "--subagents"])
        .env("OPENCODE_DB", ":memory:")
        .output();
    assert_eq!(ids(&String::from_utf8(list.unwrap().stdout).unwrap()), 3);
    fs::create_dir_all(w.root.join("xdg")).unwrap();
    fs::rename(data(&w), w.root.join("xdg/opencode")).unwrap();
    assert_eq!(ids(&w.run(&["list", "--tsv", "--subagents"]).out), 0);
    let list = w
        .command(&["list", "--tsv", "--subagents"])
        .env("XDG_DATA_HOME", w.root.join("xdg"))
        .output();
    assert_eq!(ids(&String::from_utf8(list.unwrap().stdout).unwrap()), 3);
}

#[test]
fn what_is_no_database_of_opencode_is_said_once() {
    let w = World::new();
    let path = data(&w).join("opencode.db");
    fs::create_dir_all(data(&w)).unwrap();
    // A client that starts for the first time has made the file, and nothing in it.
    fs::write(&path, "").unwrap();
    let empty = w.run(&["list"]);
    assert_eq!(empty.err, "no sessions were found\n", "{empty:?}");
    fs::write(&path, "notes, and many of them".repeat(50)).unwrap();
    let listed = w.run(&["list"]);
    assert_eq!(listed.code, 1, "{listed:?}");
    assert_snapshot!(w.plain(&listed.err), @"
    warning: [ROOT]/home/.local/share/opencode/opencode.db: not a SQLite database
    no sessions were found
    ");
    fs::remove_file(&path).unwrap();
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute_batch("CREATE TABLE notes (id text)").unwrap();
    db.close().unwrap();
    let listed = w.run(&["list"]);
    assert_eq!(listed.code, 1, "{listed:?}");
    assert_snapshot!(w.plain(&listed.err), @"
    note: [ROOT]/home/.local/share/opencode/opencode.db: a SQLite database, but not OpenCode's: it has no table `session`
    no sessions were found
    ");
    let shown = w.run(&["show", path.to_str().unwrap()]);
    assert_eq!(shown.code, 1, "{shown:?}");
    assert_snapshot!(w.plain(&shown.err), @"error: `[ROOT]/home/.local/share/opencode/opencode.db` is no session that can be read");
}

#[test]
fn old_stores_and_exports_are_saved_byte_for_byte() {
    let w = world();
    let storage = data(&w).join("storage/session/prj_shop");
    let first = data(&w).join("project");
    let mut described = FORMAT
        .store()
        .at_path(&storage.join(format!("{TREE}.json")));
    for (path, _) in crate::world::tree(&first) {
        described.extend(FORMAT.store().at_path(&path));
    }
    let export = fixtures()
        .join("1.18/export")
        .join(format!("{}.json", exports::ID));
    described.extend(FORMAT.store().at_path(&export));
    let ids: Vec<&str> = described.iter().map(|s| s.id.as_str()).collect();
    assert_eq!(ids, [TREE, FIRST, exports::ID]);
    for source in described {
        let conversation = FORMAT.reader().read(&source).unwrap();
        assert_accounted(&conversation);
        // Every file of the session is a part of it.
        let parts: Vec<_> = conversation.native.parts.iter().map(|p| &p.path).collect();
        for file in FORMAT.store().files(&source).unwrap() {
            assert!(parts.contains(&&file), "{}", file.display());
        }
    }
}

#[test]
fn a_session_that_was_moved_into_the_database_is_listed_once() {
    let w = world();
    let moved = data(&w)
        .join("storage/session/prj_shop")
        .join(format!("{CHILD}.json"));
    fs::write(
        &moved,
        format!("{{\"id\":\"{CHILD}\",\"time\":{{\"created\":1}}}}"),
    )
    .unwrap();
    let messages = data(&w).join("storage/message").join(CHILD);
    fs::create_dir_all(&messages).unwrap();
    let count = || {
        w.ok(&["list", "--tsv", "--subagents"])
            .lines()
            .filter(|l| l.contains(CHILD))
            .count()
    };
    assert_eq!(count(), 1);
    for n in 0..3 {
        fs::write(
            messages.join(format!("msg_{n}.json")),
            "{\"role\":\"assistant\"}",
        )
        .unwrap();
    }
    assert_eq!(
        count(),
        2,
        "there is more in the old store than in the database"
    );
}

#[test]
fn messages_are_in_the_order_of_time_and_what_was_taken_back_is_a_branch() {
    let w = world();
    let path = data(&w).join("opencode.db");
    let everything = read(&path, EVERYTHING);
    let session = &everything.session;
    let kinds: Vec<Kind> = session.entries().iter().map(|e| e.kind).collect();
    assert_eq!(
        kinds,
        [
            Kind::Message(User),
            Kind::Event,
            Kind::Message(Assistant),
            Kind::Message(Assistant),
            Kind::Compaction,
            Kind::Message(User),
        ]
    );
    let compaction = everything.body(EntryIx::new(4).unwrap());
    let Body::Compaction(compaction) = compaction else {
        panic!("{compaction:?}");
    };
    assert_eq!(compaction.trigger.as_deref(), Some("manual"));
    assert_eq!(
        compaction.kept,
        Kept::From("msg_000000000003Done0000000000".to_owned())
    );
    assert!(session.find("msg_000000000004Compact0000000").is_some());
    let reverted = read(&path, REVERTED);
    assert_eq!(reverted.session.entries().len(), 4);
    assert_eq!(reverted.session.active_path().len(), 2);
    assert!(reverted.session.head.archived);
    assert_eq!(
        reverted.session.head.title.unwrap().source,
        TitleSource::FirstPrompt
    );
}

#[test]
fn tasks_and_their_sessions_name_each_other() {
    let w = world();
    let path = data(&w).join("opencode.db");
    let parent = read(&path, EVERYTHING).session.head.links;
    let child = read(&path, CHILD).session.head.links;
    let [link] = parent.as_slice() else {
        panic!("{parent:?}");
    };
    assert_eq!(
        (link.kind, link.session.as_str()),
        (LinkKind::SubAgent, CHILD)
    );
    assert_eq!(link.tool_call.as_deref(), Some("call_4"));
    let [link] = child.as_slice() else {
        panic!("{child:?}");
    };
    assert_eq!(
        (link.kind, link.session.as_str()),
        (LinkKind::Parent, EVERYTHING)
    );
    assert_eq!(link.tool_call.as_deref(), Some("call_4"));
}

#[test]
fn pictures_are_found_where_they_are_in_the_record() {
    let w = world();
    let conversation = read(&data(&w).join("opencode.db"), EVERYTHING);
    let Body::Message(message) = conversation.body(EntryIx::new(0).unwrap()) else {
        panic!("no message");
    };
    let Some(Block::Image(media)) = message.blocks.get(1) else {
        panic!("{:?}", message.blocks);
    };
    let Blob::Inline { record, start, len } = media.blob else {
        panic!("{:?}", media.blob);
    };
    let bytes = conversation.native.read(record).unwrap();
    let start = usize::try_from(start).unwrap();
    let data = &bytes[start..start + usize::try_from(len).unwrap()];
    assert!(data.starts_with(b"iVBORw0KGgo") && data.ends_with(b"ggg=="));
}

#[test]
fn tokens_are_those_that_the_client_recorded() {
    let w = world();
    let path = data(&w).join("opencode.db");
    for id in [EVERYTHING, CHILD] {
        let source = Source::new(
            rethread_formats::opencode::FORMAT,
            id.to_owned(),
            path.clone(),
        );
        let summary = FORMAT.reader().summarize(
            &source,
            Want {
                usage: true,
                ..Want::default()
            },
        );
        let recorded = summary.head.recorded_usage[0].usage;
        let ours = summary.counts.usage.unwrap();
        assert_eq!(ours.total(), recorded.total());
        assert_eq!(ours.reasoning, recorded.reasoning);
        let (ours, recorded) = (ours.cost.unwrap().usd, recorded.cost.unwrap().usd);
        assert!((ours - recorded).abs() < 1e-9, "{ours} {recorded}");
    }
}

#[test]
fn what_is_damaged_is_named_and_kept() {
    let w = World::new();
    let path = installed(&w, "1.18/damaged");
    let shown = w.run(&["show", DAMAGED]);
    assert_eq!(shown.code, 3, "{shown:?}");
    assert_snapshot!(
        "opencode_damaged",
        w.plain(&format!("{}---\n{}", shown.out, shown.err))
    );
    let conversation = read(&path, DAMAGED);
    assert_accounted(&conversation);
    let mut saved = Vec::new();
    conversation.native.save_all(&mut saved).unwrap();
    let saved = String::from_utf8(saved).unwrap();
    for kept in [
        "\"mood\":\"calm\"",
        "$blob",
        "not json",
        "msg_v2",
        "To whom?",
    ] {
        assert!(saved.contains(kept), "{kept}: {saved}");
    }
}

#[test]
fn rows_come_back_with_every_column() {
    let w = World::new();
    for case in ["1.18/everything", "1.18/damaged"] {
        let path = w.root.join("original.db");
        let _ = fs::remove_file(&path);
        database(&path, case);
        let original = rusqlite::Connection::open(&path).unwrap();
        for id in [EVERYTHING, CHILD, REVERTED, DAMAGED] {
            if rows(&original, "session", id).is_empty() {
                continue;
            }
            let conversation = read(&path, id);
            assert_accounted(&conversation);
            let copy = w.root.join("copy.db");
            let _ = fs::remove_file(&copy);
            database(&copy, case);
            let db = rusqlite::Connection::open(&copy).unwrap();
            db.execute_batch("PRAGMA foreign_keys = OFF; DELETE FROM session; DELETE FROM message; DELETE FROM part; DELETE FROM todo; DELETE FROM session_message").unwrap();
            restore(&conversation.native, &db);
            for table in ["session", "message", "part", "todo", "session_message"] {
                assert_eq!(rows(&db, table, id), rows(&original, table, id), "{table}");
            }
            drop(db);
            assert_eq!(integrity(&copy), "ok");
        }
    }
}

#[test]
fn raw_gives_the_rows_and_never_the_database() {
    let w = world();
    let out = w.ok(&["show", EVERYTHING, "--to", "raw"]);
    assert!(out.lines().map(json).all(|row| row.is_object()));
    assert!(!out.contains("NOBODY-READS-THIS") && !out.contains("Find the listeners\"}"));
    let folder = w.root.join("out");
    w.ok(&[
        "show",
        EVERYTHING,
        "--to",
        "raw",
        "-o",
        folder.to_str().unwrap(),
    ]);
    assert_eq!(names(&folder), [format!("{EVERYTHING}.jsonl")]);
    assert_eq!(
        fs::read_to_string(folder.join(format!("{EVERYTHING}.jsonl"))).unwrap(),
        out
    );
}

#[test]
fn removing_never_takes_the_database_along() {
    let w = world();
    let path = data(&w).join("opencode.db");
    let refused = w.run(&["rm", EVERYTHING, "--yes"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.err.contains("--force"), "{refused:?}");
    assert!(path.is_file());
}

#[test]
fn reading_changes_no_byte() {
    let w = world();
    let before = crate::world::tree(&w.home);
    for args in [
        &["list"][..],
        &["show", EVERYTHING],
        &["show", TREE],
        &["tree", REVERTED],
    ] {
        w.run(args);
    }
    assert!(crate::world::tree(&w.home) == before);
}

#[test]
fn resume_is_the_clients_own_command() {
    let w = world();
    let answer = w.run(&["resume", EVERYTHING, "--print"]);
    let call = format!("cd /home/me/shop/web && opencode -s {EVERYTHING}\n");
    assert_eq!((answer.code, answer.out), (0, call), "{}", answer.err);
    // The client no longer looks at old files.
    let refused = w.run(&["resume", TREE, "--print"]);
    assert_ne!(refused.code, 0, "{refused:?}");
    assert!(refused.err.contains("no client"), "{refused:?}");
}

#[test]
fn what_sub_agents_used_counts_once_with_their_parent() {
    let w = World::new();
    installed(&w, "1.18/everything");
    crate::sums::assert_counted_once(&w, EVERYTHING, CHILD);
}

/// A world with sessions of every way of keeping them, the first in a database with everything.
pub(crate) fn everything() -> (World, [&'static str; 4]) {
    (world(), [EVERYTHING, CHILD, TREE, FIRST])
}
