//! Databases of OpenCode that somebody made up.

use std::fs;
use std::path::Path;

use rusqlite::Connection;

use super::bounded;
use crate::opencode::store::{data, database};
use crate::world::{World, strace, tree};

/// A database with so many sessions of one message each, and no index at all.
fn without_indexes(path: &Path, sessions: u32) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut db = Connection::open(path).unwrap();
    db.execute_batch(
        "CREATE TABLE project (id text, worktree text);
        CREATE TABLE session (id text, project_id text, parent_id text, directory text, title text,
          version text, time_created int, time_updated int);
        CREATE TABLE message (id text, session_id text, time_created int, time_updated int,
          data text);
        CREATE TABLE part (id text, message_id text, session_id text, time_created int,
          time_updated int, data text);",
    )
    .unwrap();
    let tx = db.transaction().unwrap();
    for n in 0..sessions {
        tx.execute(
            "INSERT INTO session VALUES (?1, 'p', NULL, '/x', ?2, '1', ?3, ?3)",
            (format!("ses_{n}"), format!("Session {n}"), n),
        )
        .unwrap();
        tx.execute(
            "INSERT INTO message VALUES (?1, ?2, ?3, ?3, '{\"role\":\"user\"}')",
            (format!("msg_{n}"), format!("ses_{n}"), n),
        )
        .unwrap();
        tx.execute(
            "INSERT INTO part VALUES (?1, ?2, ?3, ?4, ?4, '{\"type\":\"text\",\"text\":\"hi\"}')",
            (
                format!("prt_{n}"),
                format!("msg_{n}"),
                format!("ses_{n}"),
                n,
            ),
        )
        .unwrap();
    }
    tx.commit().unwrap();
}

/// The seconds of processor time that listing took, and what was listed.
fn listed(w: &World) -> (f64, String) {
    use wait4::Wait4 as _;
    let out = tempfile::NamedTempFile::new().unwrap();
    let mut command = w.command(&["list", "--tsv"]);
    let child = command.stdout(out.reopen().unwrap()).spawn().unwrap();
    let ended = child.wait4().unwrap();
    assert!(ended.status.success());
    let used = ended.rusage.utime + ended.rusage.stime;
    (used.as_secs_f64(), fs::read_to_string(out.path()).unwrap())
}

#[test]
fn listing_takes_as_long_as_there_are_sessions_without_any_index() {
    let mut times = Vec::new();
    for sessions in [4_000, 16_000] {
        let w = World::new();
        without_indexes(&data(&w).join("opencode.db"), sessions);
        let (time, list) = listed(&w);
        assert_eq!(list.lines().count(), sessions as usize);
        assert!(list.contains("\tSession 7\n"), "{list}");
        times.push(time);
    }
    // Four times as many; with a look at all rows for each session it would be sixteen times.
    assert!(times[1] < 10.0 * times[0], "{times:?}");
}

/// Adds a column to a table, and makes another one such a column: they are computed when they are
/// asked for, and take all memory that SQLite allows. It is not asked what it thinks of that.
fn compute(db: &Connection, table: &str, column: &str) {
    let computed = "text AS (printf('%.*c', 900000000, 'x'))";
    let sql: String = db
        .query_row(
            "SELECT sql FROM sqlite_master WHERE name = ?1",
            [table],
            |row| row.get(0),
        )
        .unwrap();
    let sql = if column.is_empty() {
        let (columns, end) = sql.rsplit_once(')').unwrap();
        format!("{columns}, bomb {computed}){end}")
    } else {
        sql.replacen(
            &format!("{column} text"),
            &format!("{column} {computed}"),
            1,
        )
    };
    db.execute_batch("PRAGMA writable_schema = ON").unwrap();
    let changed = db
        .execute(
            "UPDATE sqlite_master SET sql = ?1 WHERE name = ?2",
            (sql, table),
        )
        .unwrap();
    assert_eq!(changed, 1);
}

#[test]
fn what_a_schema_computes_is_neither_computed_nor_kept() {
    let w = World::new();
    let path = data(&w).join("opencode.db");
    database(&path, "1.18/everything");
    let db = Connection::open(&path).unwrap();
    let id: String = db
        .query_row("SELECT session_id FROM message LIMIT 1", [], |r| r.get(0))
        .unwrap();
    db.execute_batch("ALTER TABLE part ADD COLUMN mood text DEFAULT 'as it was'")
        .unwrap();
    for table in ["session", "message", "part"] {
        compute(&db, table, "");
    }
    drop(db);
    let list = bounded(&w, &["list", "--tsv"]);
    assert!(list.out.contains(&id), "{list:?}");
    for args in [
        &["show", &id][..],
        &["show", &id, "--json"],
        &["context", &id],
        &["tree", &id],
    ] {
        let shown = bounded(&w, args);
        assert!(matches!(shown.code, 0 | 3), "{args:?} {}", shown.err);
        assert!(!shown.out.contains("xxxx"), "{args:?}");
    }
    // A column that somebody added travels along, and one that is computed does not.
    let raw = bounded(&w, &["show", &id, "--to", "raw"]);
    assert!(raw.out.contains(r#""mood":"as it was""#), "{}", raw.err);
    assert!(!raw.out.contains("bomb"));
}

#[test]
fn a_table_of_computed_columns_is_refused_and_the_rest_is_listed() {
    let w = World::new();
    w.thread("A good thread");
    let path = data(&w).join("opencode.db");
    without_indexes(&path, 1);
    let db = Connection::open(&path).unwrap();
    compute(&db, "session", "title");
    compute(&db, "message", "data");
    drop(db);
    let list = bounded(&w, &["list", "--tsv"]);
    assert_eq!(list.code, 3, "{list:?}");
    assert!(list.out.contains("A good thread"), "{list:?}");
    assert!(list.err.contains("message.data"), "{list:?}");
}

/// A page of a table, of which all children are this one page.
fn page_of(child: u32, page_size: usize) -> Vec<u8> {
    const CELLS: u16 = 400;
    let mut page = vec![0; page_size];
    let mut end = page_size;
    for n in 0..CELLS {
        // A child, and a row number of two bytes.
        let [high, low] = (n + 1).to_be_bytes();
        let number = [0x80 | (high << 1) | (low >> 7), low & 0x7f];
        end -= 6;
        page[end..end + 4].copy_from_slice(&child.to_be_bytes());
        page[end + 4..end + 6].copy_from_slice(&number);
        let at = 12 + 2 * usize::from(n);
        let place = u16::try_from(end).unwrap();
        page[at..at + 2].copy_from_slice(&place.to_be_bytes());
    }
    page[0] = 5;
    page[3..5].copy_from_slice(&CELLS.to_be_bytes());
    page[5..7].copy_from_slice(&u16::try_from(end).unwrap().to_be_bytes());
    page[8..12].copy_from_slice(&child.to_be_bytes());
    page
}

/// A few pages that name each other say that there are a hundred thousand million rows.
#[test]
fn rows_without_end_are_given_up() {
    let w = World::new();
    w.thread("A good thread");
    let path = data(&w).join("opencode.db");
    without_indexes(&path, 1);
    let db = Connection::open(&path).unwrap();
    let number = |sql| db.query_row(sql, [], |row| row.get::<_, u32>(0)).unwrap();
    let root = number("SELECT rootpage FROM sqlite_master WHERE name = 'message'");
    let size = number("PRAGMA page_size") as usize;
    let count = number("PRAGMA page_count");
    drop(db);
    let mut bytes = fs::read(&path).unwrap();
    let place = (root as usize - 1) * size;
    let leaf = bytes[place..place + size].to_vec();
    bytes.extend(leaf);
    for child in 1..=3 {
        bytes.extend(page_of(count + child, size));
    }
    bytes[place..place + size].copy_from_slice(&page_of(count + 4, size));
    bytes[28..32].copy_from_slice(&(count + 4).to_be_bytes());
    fs::write(&path, bytes).unwrap();
    let list = bounded(&w, &["list", "--tsv"]);
    assert_eq!(list.code, 3, "{list:?}");
    assert!(list.out.contains("A good thread"), "{list:?}");
    assert!(list.err.contains("far more work"), "{list:?}");
    let shown = bounded(&w, &["show", "ses_0"]);
    assert_ne!(shown.code, 0, "{}", shown.err);
}

/// With a log and without its index, with both, and with neither: nothing in the folder is opened
/// for writing, made, removed or changed.
#[test]
fn nothing_beside_a_database_is_opened_for_writing() {
    let Some(strace) = strace() else { return };
    for suffixes in [
        &[""][..],
        &["", "-wal"],
        &["", "-wal", "-shm"],
        &["", "-shm"],
    ] {
        let w = World::new();
        let original = w.root.join("original.db");
        database(&original, "1.18/everything");
        let db = Connection::open(&original).unwrap();
        db.pragma_update(None, "journal_mode", "WAL").unwrap();
        db.execute("UPDATE session SET title = 'From the log'", [])
            .unwrap();
        let id: String = db
            .query_row("SELECT session_id FROM message LIMIT 1", [], |r| r.get(0))
            .unwrap();
        fs::create_dir_all(data(&w)).unwrap();
        for suffix in suffixes {
            let from = w.root.join(format!("original.db{suffix}"));
            fs::copy(from, data(&w).join(format!("opencode.db{suffix}"))).unwrap();
        }
        let before = tree(&data(&w));
        let database = data(&w).join("opencode.db");
        let database = database.to_str().unwrap();
        for args in [&["list", "--tsv"][..], &["show", &id], &["check", database]] {
            let log = w.root.join("calls");
            let command = w.command(args);
            let mut traced = std::process::Command::new(&strace);
            traced
                .args(["-f", "-qq", "-e", "trace=%file", "-o"])
                .arg(&log)
                .arg(command.get_program())
                .args(command.get_args())
                .current_dir(&w.project)
                .env_clear()
                .envs(command.get_envs().filter_map(|(k, v)| Some((k, v?))));
            let output = traced.output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            if suffixes.contains(&"-wal") && args[0] == "list" {
                assert!(said.contains("From the log"), "{suffixes:?} {output:?}");
            }
            let calls = fs::read_to_string(&log).unwrap();
            let folder = data(&w).to_str().unwrap().to_owned();
            let writes = [
                "O_RDWR", "O_WRONLY", "O_CREAT", " unlink", " rename", " mkdir", " link",
                " symlink",
            ];
            let bad: Vec<&str> = calls
                .lines()
                .filter(|call| call.contains(&folder))
                .filter(|call| writes.iter().any(|w| call.contains(w)))
                .collect();
            assert!(bad.is_empty(), "{suffixes:?} {args:?} {bad:#?}");
            assert!(calls.contains("opencode.db"), "{args:?}");
            fs::remove_file(&log).unwrap();
        }
        assert!(tree(&data(&w)) == before, "{suffixes:?}");
    }
}
