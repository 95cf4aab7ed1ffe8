//! A database that somebody writes to while we read it.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use rethread_formats::{Source, Want, opencode::FORMAT};
use rusqlite::Connection;

use super::store::{data, database, installed, names};
use super::{CHILD, EVERYTHING};
use crate::world::{World, json, tree, while_repeating};

const NEW: &str = "ses_5ffffffff001New00000000001";

/// A writer as the client is one: with a log, and without any patience.
fn writer(path: &Path) -> Connection {
    let db = Connection::open(path).unwrap();
    db.pragma_update(None, "journal_mode", "WAL").unwrap();
    db.busy_timeout(std::time::Duration::ZERO).unwrap();
    db
}

fn write_session(db: &Connection) {
    db.execute_batch(&format!(
        "BEGIN IMMEDIATE;
        INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated)
          VALUES ('{NEW}', 'prj_shop', 'new', '/home/me/shop', 'Fresh from the log', '1', 5, 5);
        INSERT INTO message VALUES ('msg_new', '{NEW}', 5, 5, '{{\"role\":\"user\"}}');
        INSERT INTO part VALUES ('prt_new', 'msg_new', '{NEW}', 5, 5, '{{\"type\":\"text\",\"text\":\"only in the log\"}}');
        COMMIT;"
    ))
    .unwrap();
}

/// Lists and shows the session that is only in the log; nothing in the folder changes.
fn assert_read_without_trace(w: &World, folder: &Path) {
    let before = (names(folder), tree(folder));
    let list = w.ok(&["list", "--tsv"]);
    assert!(list.contains("Fresh from the log"), "{list}");
    assert!(w.ok(&["show", NEW]).contains("only in the log"));
    assert_eq!(names(folder), before.0);
    let without_index = |files: Vec<(std::path::PathBuf, Vec<u8>)>| -> Vec<_> {
        let is_index = |p: &Path| p.to_string_lossy().ends_with("-shm");
        files.into_iter().filter(|(p, _)| !is_index(p)).collect()
    };
    assert!(without_index(tree(folder)) == without_index(before.1));
}

#[test]
fn what_is_only_in_the_log_is_read_while_the_client_runs() {
    let w = World::new();
    let path = installed(&w, "1.18/everything");
    let db = writer(&path);
    write_session(&db);
    assert_eq!(
        names(&data(&w)),
        ["opencode.db", "opencode.db-shm", "opencode.db-wal"]
    );
    assert_read_without_trace(&w, &data(&w));
    // Our reading hinders nobody from cleaning up.
    db.close().unwrap();
    assert_eq!(names(&data(&w)), ["opencode.db"]);
    assert_read_without_trace(&w, &data(&w));
}

#[test]
fn a_log_that_was_left_behind_is_read_with_and_without_its_index() {
    for with_index in [true, false] {
        let w = World::new();
        let original = w.root.join("original.db");
        database(&original, "1.18/everything");
        let db = writer(&original);
        write_session(&db);
        fs::create_dir_all(data(&w)).unwrap();
        for suffix in ["", "-wal", "-shm"] {
            if with_index || suffix != "-shm" {
                let from = w.root.join(format!("original.db{suffix}"));
                fs::copy(from, data(&w).join(format!("opencode.db{suffix}"))).unwrap();
            }
        }
        assert_read_without_trace(&w, &data(&w));
    }
}

/// A writer was killed before the log had more than its header, or somebody wrote over that. With an
/// index that nobody finished, SQLite would wait for a header that fits.
#[test]
fn a_log_in_which_there_is_nothing_is_not_waited_for() {
    let w = World::new();
    let path = installed(&w, "1.18/everything");
    let plain = w.ok(&["list", "--tsv"]);
    let db = writer(&path);
    write_session(&db);
    let log = fs::read(data(&w).join("opencode.db-wal")).unwrap();
    db.close().unwrap();
    fs::remove_file(&path).unwrap();
    database(&path, "1.18/everything");
    let garbage = vec![0x37; log.len()];
    for log in [&log[..32], &log[..7], &garbage] {
        fs::write(data(&w).join("opencode.db-wal"), log).unwrap();
        fs::write(data(&w).join("opencode.db-shm"), vec![0; 32_768]).unwrap();
        let before = tree(&data(&w));
        assert_eq!(w.ok(&["list", "--tsv"]), plain);
        w.ok(&["show", EVERYTHING]);
        assert!(tree(&data(&w)) == before);
        // Who writes next brings it in order.
        w.ok(&["rename", CHILD, "Named"]);
        assert_eq!(names(&data(&w)), ["opencode.db"]);
        w.ok(&["rename", CHILD, "Child"]);
    }
}

/// All that is read of a session, or why it cannot be read.
fn rows(path: &Path, id: &str) -> Result<Vec<u8>, String> {
    let source = Source::new(
        rethread_formats::opencode::FORMAT,
        id.to_owned(),
        path.to_owned(),
    );
    let why = |e: rethread_formats::OpenError| e.kind().to_owned();
    let mut rows = Vec::new();
    let native = FORMAT.reader().read(&source).map_err(why)?.native;
    native.save_all(&mut rows).unwrap();
    Ok(rows)
}

/// A log is cut anywhere, as by a writer that was killed, and holds what was never committed. What
/// is read of it in our own memory is what SQLite makes of a copy that is its own.
#[test]
fn a_log_without_its_index_says_what_a_private_copy_says() {
    let w = World::new();
    let original = w.root.join("original.db");
    database(&original, "1.18/everything");
    let db = writer(&original);
    write_session(&db);
    db.execute("UPDATE session SET title = 'Later' WHERE id = ?1", [NEW])
        .unwrap();
    // Pages that do not fit into memory go to the log before anybody says whether they are meant.
    db.pragma_update(None, "cache_size", 1).unwrap();
    db.execute_batch("BEGIN IMMEDIATE").unwrap();
    for n in 0..40 {
        db.execute(
            "INSERT INTO part VALUES (?1, 'msg_new', ?2, 6, 6, ?3)",
            (format!("prt_{n}"), NEW, "never committed ".repeat(300)),
        )
        .unwrap();
    }
    let main = fs::read(&original).unwrap();
    let log = fs::read(w.root.join("original.db-wal")).unwrap();
    let frame = 24 + 4096;
    let frames = (log.len() - 32) / frame;
    let mut found = 0;
    for end in (0..=frames).flat_map(|n| [32 + n * frame, 32 + n * frame + 1000]) {
        let log = &log[..end.min(log.len())];
        let (left, copied) = (w.root.join("left"), w.root.join("copied"));
        for folder in [&left, &copied] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("opencode.db"), &main).unwrap();
            fs::write(folder.join("opencode.db-wal"), log).unwrap();
        }
        let copy = copied.join("opencode.db");
        writer(&copy)
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
            .unwrap();
        for id in [EVERYTHING, CHILD, NEW] {
            let own = rows(&left.join("opencode.db"), id);
            assert!(own == rows(&copy, id), "{end}: {id}");
            found += usize::from(own.is_ok() && id == NEW);
        }
        assert_eq!(names(&left), ["opencode.db", "opencode.db-wal"]);
        assert!(fs::read(left.join("opencode.db-wal")).unwrap() == log);
        assert!(fs::read(left.join("opencode.db")).unwrap() == main);
        fs::remove_dir_all(&left).unwrap();
        fs::remove_dir_all(&copied).unwrap();
    }
    assert!(found > 0, "no cut leaves the session");
    assert!(found < 2 * frames, "every cut leaves the session");
}

#[test]
fn a_folder_that_may_not_be_written_to_is_read() {
    let w = World::new();
    let path = installed(&w, "1.18/everything");
    let mut mode = fs::metadata(&path).unwrap().permissions();
    mode.set_readonly(true);
    fs::set_permissions(&path, mode).unwrap();
    assert!(w.ok(&["show", CHILD]).contains("Two."));
    assert_eq!(names(&data(&w)), ["opencode.db"]);
}

#[test]
fn a_database_with_a_page_of_garbage_is_read_as_far_as_possible() {
    let w = World::new();
    let path = w.root.join("opencode.db");
    database(&path, "1.18/everything");
    let whole = fs::read(&path).unwrap();
    let mut complete = 0;
    for page in 0..whole.len() / 4096 {
        let mut bytes = whole.clone();
        bytes[page * 4096..(page + 1) * 4096].fill(0xa5);
        fs::write(&path, &bytes).unwrap();
        for id in [EVERYTHING, CHILD] {
            let source = Source::new(
                rethread_formats::opencode::FORMAT,
                id.to_owned(),
                path.clone(),
            );
            FORMAT.reader().summarize(&source, Want::default());
            match FORMAT.reader().read(&source) {
                Ok(conversation) => {
                    super::store::assert_accounted(&conversation);
                    complete += usize::from(conversation.notes.is_empty());
                }
                Err(e) => assert!(e.to_string().contains("opencode.db"), "{e}"),
            }
        }
        assert!(fs::read(&path).unwrap() == bytes, "page {page}");
    }
    assert!(complete > 0, "not every page concerns these sessions");
    for end in [0, 50, 4096, whole.len() - 1] {
        fs::write(&path, &whole[..end]).unwrap();
        let shown = w.run(&["show", &format!("{}#{CHILD}", path.display())]);
        assert!(matches!(shown.code, 0 | 1 | 3), "{end}: {shown:?}");
    }
    assert_eq!(names(&w.root), ["home", "opencode.db", "shop"]);
}

/// How many messages somebody adds before changing those that are there.
const MOST: u32 = 400;

#[test]
fn a_writer_and_readers_never_notice_each_other() {
    let w = World::new();
    let path = installed(&w, "1.18/everything");
    let rounds = AtomicU32::new(0);
    // The client comes and goes, and its log is moved into the database.
    let write = || {
        let db = writer(&path);
        db.pragma_update(None, "wal_autocheckpoint", 8).unwrap();
        for _ in 0..20 {
            let round = rounds.fetch_add(1, Ordering::Relaxed);
            let text = "word ".repeat(200 + round as usize % 50);
            db.execute_batch("BEGIN IMMEDIATE").unwrap();
            // A slow reader must not find ever more to read, and become slower by that.
            let n = round % MOST;
            if round < MOST {
                db.execute(
                    "INSERT INTO message VALUES (?1, ?2, ?3, ?3, '{\"role\":\"user\"}')",
                    (
                        format!("msg_{n}"),
                        CHILD,
                        1_900_000_000_000_i64 + i64::from(n),
                    ),
                )
                .unwrap();
            }
            db.execute(
                "INSERT OR REPLACE INTO part VALUES (?1, ?2, ?3, 1, 1, json_object('type', 'text', 'text', ?4))",
                (format!("prt_{n}"), format!("msg_{n}"), CHILD, text),
            )
            .unwrap();
            db.execute_batch("COMMIT").unwrap();
        }
        db.close().unwrap();
    };
    // In processes of their own: connections of one process share what they know of the log.
    while_repeating(write, || {
        let mut seen = 0;
        let named = format!("{}#{CHILD}", path.display());
        for _ in 0..30 {
            let listed = w.run(&["list", "--tsv", "--subagents"]);
            let answer = (listed.code, listed.err.as_str(), listed.out.lines().count());
            assert_eq!(answer, (0, "", 3));
            let child = w.run(&["show", &named, "--json"]);
            assert_eq!((child.code, child.err.as_str()), (0, ""));
            let child = json(&child.out);
            let messages = child["messages"].as_array().unwrap();
            // A message and its part come in one transaction: neither is seen without the other.
            let is_empty = |m: &&serde_json::Value| m["content"].as_array().unwrap().is_empty();
            assert_eq!(messages.iter().find(is_empty), None);
            assert!(messages.len() >= seen, "what was there stays");
            seen = messages.len();
        }
    });
    // The next one who opens and closes it cleans up what the last one may have had to leave.
    writer(&path)
        .query_row("SELECT count(*) FROM part", [], |row| row.get::<_, i64>(0))
        .unwrap();
    assert_eq!(names(&data(&w)), ["opencode.db"]);
    assert_eq!(super::store::integrity(&path), "ok");
}
