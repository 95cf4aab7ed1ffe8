//! Real sessions, where a folder of them is at hand: `RETHREAD_CORPUS`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rethread_formats::opencode::{CLOSED_TABLES, FORMAT, RECORD_TYPES};
use rethread_formats::{Source, Want};
use rethread_judges::corpus;
use rethread_model::{Severity, State};
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

use super::exports::assert_listed;
use super::store::{assert_accounted, database, integrity, restore, rows};
use crate::world::{World, tree};

/// The files of OpenCode in the corpus.
fn files(corpus: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for (path, _) in tree(&corpus.join("opencode")) {
        found.push(path);
    }
    for entry in fs::read_dir(corpus.join("recorded")).unwrap() {
        let path = entry.unwrap().path();
        if path
            .file_name()
            .unwrap()
            .to_string_lossy()
            .starts_with("opencode")
        {
            found.extend(tree(&path).into_iter().map(|(path, _)| path));
        }
    }
    found
}

fn sources(corpus: &Path) -> Vec<Source> {
    files(corpus)
        .iter()
        .flat_map(|f| FORMAT.store().at_path(f))
        .collect()
}

#[test]
fn every_real_session_is_read_and_saved() {
    let Some(corpus) = corpus() else { return };
    let w = World::new();
    let found = sources(&corpus);
    assert!(found.len() >= 28, "{}", found.len());
    for source in found {
        let conversation = FORMAT.reader().read(&source).unwrap();
        let damage = |n: &&rethread_model::Note| n.severity == Severity::Damage;
        let notes: Vec<_> = conversation.notes.iter().filter(damage).collect();
        assert!(notes.is_empty(), "{}: {notes:?}", source.path.display());
        assert!(!conversation.session.entries().is_empty());
        assert_accounted(&conversation);
        if source.path.extension().is_some_and(|e| e == "db") {
            let copy = w.root.join("copy.db");
            let _ = fs::remove_file(&copy);
            fs::write(&copy, fs::read(&source.path).unwrap()).unwrap();
            let db = Connection::open(&copy).unwrap();
            let tables = ["session", "message", "part", "todo"];
            let original = tables.map(|t| rows(&db, t, &source.id));
            db.execute_batch("PRAGMA foreign_keys = ON").unwrap();
            db.execute("DELETE FROM session WHERE id = ?1", [&source.id])
                .unwrap();
            assert!(rows(&db, "part", &source.id).is_empty());
            restore(&conversation.native, &db);
            assert_eq!(tables.map(|t| rows(&db, t, &source.id)), original);
            drop(db);
            assert_eq!(integrity(&copy), "ok");
        }
        // An export is one document.
        if conversation.native.parts.len() == 1 {
            assert_listed(&source, &conversation);
        }
        let named = format!("{}#{}", source.path.display(), source.id);
        for args in [
            &["show"][..],
            &["show", "--to", "markdown"],
            &["show", "--json"],
            &["tree"],
        ] {
            let mut args = args.to_vec();
            args.insert(1, &named);
            let answer = w.run(&args);
            assert_eq!(answer.code, 0, "{args:?}: {answer:?}");
        }
    }
}

#[test]
fn no_file_of_another_agent_is_taken_for_one_of_ours() {
    let Some(corpus) = corpus() else { return };
    let mut looked_at = 0;
    for entry in fs::read_dir(&corpus).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        if !folder.is_dir() || name == "opencode" || name == "recorded" {
            continue;
        }
        for (path, _) in tree(&folder) {
            looked_at += 1;
            let found = FORMAT.store().at_path(&path);
            assert!(found.is_empty(), "{}", path.display());
        }
    }
    assert!(looked_at > 0);
}

#[test]
fn tokens_of_real_sessions_are_those_that_the_client_recorded() {
    let Some(corpus) = corpus() else { return };
    let mut compared = 0;
    for source in sources(&corpus) {
        let summary = FORMAT.reader().summarize(
            &source,
            Want {
                usage: true,
                ..Want::default()
            },
        );
        assert_eq!(summary.state, State::Ready, "{summary:?}");
        let Some(recorded) = summary.head.recorded_usage.first() else {
            continue;
        };
        let ours = summary.counts.usage.unwrap();
        let (a, b) = (recorded.usage, ours);
        assert_eq!(
            (a.input, a.output, a.reasoning),
            (b.input, b.output, b.reasoning)
        );
        assert_eq!((a.cache_read, a.cache_write), (b.cache_read, b.cache_write));
        compared += 1;
    }
    assert!(compared >= 4, "{compared}");
}

/// Counts the types of records in a JSON file: an export, or a file of an old store.
fn count_json(value: &Value, counts: &mut BTreeMap<String, u64>) {
    let mut add = |name: String| *counts.entry(name).or_default() += 1;
    let Some(object) = value.as_object() else {
        return;
    };
    if let (Some(info), Some(messages)) = (object.get("info"), object.get("messages")) {
        add("export".to_owned());
        count_json(info, counts);
        for message in messages.as_array().unwrap() {
            count_json(&message["info"], counts);
            for part in message["parts"].as_array().unwrap() {
                count_json(part, counts);
            }
        }
    } else if let Some(role) = object.get("role") {
        add(format!("message {}", role.as_str().unwrap()));
    } else if let Some(kind) = object.get("type").and_then(Value::as_str) {
        match value["state"]["status"].as_str() {
            Some(status) => add(format!("part tool {status}")),
            None => add(format!("part {kind}")),
        }
    } else if object.contains_key("time") {
        add("session".to_owned());
    }
}

fn count_database(path: &Path, counts: &mut BTreeMap<String, u64>) {
    let uri = format!("file:{}?immutable=1", path.display());
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let db = Connection::open_with_flags(uri, flags).unwrap();
    let column = |sql: &str| -> Vec<String> {
        let mut query = db.prepare(sql).unwrap();
        let found = query.query_map([], |row| row.get(0)).unwrap();
        found.collect::<Result<_, _>>().unwrap()
    };
    for table in column("SELECT name FROM sqlite_master WHERE type = 'table'") {
        if CLOSED_TABLES.contains(&table.as_str()) {
            continue;
        }
        let rows: u32 = db
            .query_row(&format!("SELECT count(*) FROM \"{table}\""), [], |row| {
                row.get(0)
            })
            .unwrap();
        *counts.entry(format!("table {table}")).or_default() += u64::from(rows);
    }
    *counts.entry("session".to_owned()).or_default() +=
        column("SELECT id FROM session").len() as u64;
    for table in ["message", "part"] {
        for data in column(&format!("SELECT data FROM {table}")) {
            count_json(&serde_json::from_str(&data).unwrap(), counts);
        }
    }
}

#[test]
fn every_type_of_record_is_known_and_in_the_docs() {
    let Some(corpus) = corpus() else { return };
    let mut counts = BTreeMap::new();
    for path in files(&corpus) {
        match path.extension().and_then(|e| e.to_str()) {
            Some("db") => count_database(&path, &mut counts),
            Some("json") => {
                let bytes = fs::read(&path).unwrap();
                count_json(&serde_json::from_slice(&bytes).unwrap(), &mut counts);
            }
            _ => {}
        }
    }
    let mut table = String::from(
        "| record | in real files | what becomes of it | |\n| --- | --- | --- | --- |\n",
    );
    for known in &RECORD_TYPES {
        let found = counts.remove(known.name).unwrap_or(0);
        let found = if found > 0 {
            found.to_string()
        } else {
            "–".to_owned()
        };
        let fate = known.fate.word();
        table.push_str(&format!(
            "| {} | {found} | {fate} | {} |\n",
            known.name, known.goes
        ));
    }
    assert!(counts.is_empty(), "types that nobody handles: {counts:?}");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats/opencode.md");
    let text = fs::read_to_string(&page).unwrap();
    let (start, end) = ("<!-- record types -->\n", "<!-- end of record types -->");
    let (before, rest) = text.split_once(start).unwrap();
    let (old, after) = rest.split_once(end).unwrap();
    let wanted = format!("\n{table}\n");
    if std::env::var_os("RETHREAD_BLESS").is_some() {
        fs::write(&page, format!("{before}{start}{wanted}{end}{after}")).unwrap();
    } else {
        assert_eq!(old, wanted, "RETHREAD_BLESS=1 writes the table anew");
    }
}

#[test]
fn a_table_that_nobody_knows_is_noticed() {
    let w = World::new();
    let path = w.root.join("new.db");
    database(&path, "1.18/everything");
    let db = Connection::open(&path).unwrap();
    db.execute_batch("CREATE TABLE dreams (id text)").unwrap();
    db.close().unwrap();
    let mut counts = BTreeMap::new();
    count_database(&path, &mut counts);
    let known = |name: &str| RECORD_TYPES.iter().any(|t| t.name == name);
    counts.retain(|name, _| !known(name));
    let unknown: Vec<&String> = counts.keys().collect();
    assert_eq!(unknown, ["part hologram", "table dreams"]);
}
