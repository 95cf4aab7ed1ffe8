//! Sessions of OpenCode: real ones against a document model of the same JSON, as the files that they
//! are and as rows of a database; a list of a large database, which leaves alone what was said in it;
//! and the memory that a very long session takes.

use std::fs;
use std::path::{Path, PathBuf};

use rethread_engine::{Filter, Sort, list};
use rethread_formats::opencode::FORMAT;
use rethread_formats::{Env, Source, Want};
use rethread_json::{Object, Tree, Value};
use rethread_model::Bodies as _;
use rusqlite::{Connection, OpenFlags, Transaction};

use crate::benchmark::{Aim, Benchmark, Outcome, Pair, Side};
use crate::clock::Clock;
use crate::corpus::{self, PEER};
use crate::long::{self, Agent, Kept};
use crate::messages::Messages;

pub(crate) static READ: Benchmark = Benchmark {
    name: "opencode-read",
    subject: "read OpenCode sessions, entries on demand",
    peer: PEER,
    aim: Aim::SpeedAtLeast(1.5),
    clock: Clock::Cpu,
    runs: 4,
    make: |_| files(corpus::Task::Open),
};

pub(crate) static LIST: Benchmark = Benchmark {
    name: "opencode-list",
    subject: "what a list shows of OpenCode sessions",
    peer: PEER,
    aim: Aim::SpeedAtLeast(5.0),
    clock: Clock::Cpu,
    runs: 4,
    make: |_| files(corpus::Task::List(Want::default())),
};

pub(crate) static ROWS: Benchmark = Benchmark {
    name: "opencode-rows",
    subject: "read the same from a database, entries on demand",
    peer: "serde_json::Value of every message and part",
    aim: Aim::Known,
    clock: Clock::Cpu,
    runs: 1,
    make: |folder| rows(folder, Task::Open),
};

pub(crate) static BODIES: Benchmark = Benchmark {
    name: "opencode-bodies",
    subject: "the same, every entry decoded",
    peer: "serde_json::Value of every message and part",
    aim: Aim::Known,
    clock: Clock::Cpu,
    runs: 1,
    make: |folder| rows(folder, Task::Read),
};

pub(crate) static LIST_MANY: Benchmark = Benchmark {
    name: "opencode-list-1gb",
    subject: "list the sessions in a database of 1 GB",
    peer: "read them all, with what each entry says",
    aim: Aim::TimeAtMost(0.05),
    clock: Clock::Cpu,
    runs: 1,
    make: many,
};

pub(crate) static LIST_MEMORY: Benchmark = long::benchmark(
    "opencode-list-2gb",
    "list an OpenCode session of 2 GB",
    |home| long::pair(&LONG, long::Task::List, home),
);

pub(crate) static SHOW_MEMORY: Benchmark = long::benchmark(
    "opencode-show-2gb",
    "show the last 20 entries of it",
    |home| long::pair(&LONG, long::Task::Show, home),
);

pub(crate) static WRITE_MEMORY: Benchmark =
    long::written_benchmark("opencode-write-500mb", |home| {
        long::written_pair(&LONG, home)
    });

/// A very long session.
pub(crate) static LONG: Agent = Agent {
    name: "opencode",
    id: "ses_5f0c5f0c0001aaaaaaaaaaaaaa",
    file: ".local/share/opencode/opencode.db",
    kept: Kept::Otherwise(write_long),
};

/// What is done with a database.
#[derive(Clone, Copy)]
enum Task {
    List,
    Open,
    Read,
}

const SCHEMA: &str = include_str!("../../../../fixtures/opencode/1.18/schema.sql");

/// How often real sessions stand in a database: there are few.
const TIMES: usize = 8;

/// How many sessions a large database has, how many messages each, and how long they are: 1 GB.
const SESSIONS: usize = 200;
const MESSAGES: usize = 50;
const LENGTH: usize = 100_000;

/// Real sessions, as the files that they are.
fn files(task: corpus::Task) -> Outcome<Box<dyn Pair>> {
    corpus::pair(corpus::files("opencode")?, FORMAT, task)
}

/// Real sessions, as rows.
fn rows(folder: &Path, task: Task) -> Outcome<Box<dyn Pair>> {
    let mut exports = Vec::new();
    for path in corpus::files("opencode")? {
        let bytes = fs::read(path)?;
        let is_export = |bytes: &[u8]| {
            let tree = Tree::parse(bytes).unwrap_or_default();
            tree.root(bytes).get("messages").is_some()
        };
        exports.extend(Some(bytes).filter(|bytes| is_export(bytes)));
    }
    if exports.is_empty() {
        return Err("there are no exports".into());
    }
    database(folder, task, |tx| {
        let mut ids = Vec::new();
        for export in (0..TIMES).flat_map(|_| &exports) {
            let id = format!("ses_{:012}", ids.len());
            let tree = Tree::parse(export)?;
            add_session(tx, &id)?;
            let messages = tree.root(export).get("messages");
            for message in messages.into_iter().flat_map(Value::items) {
                let info = message.get("info").ok_or("a message without `info`")?;
                let time = info.at(&["time", "created"]).and_then(Value::i64);
                let stored = named(info, &id)?;
                add_message(tx, &id, &stored, time.unwrap_or(0), &row(info))?;
                for part in message.get("parts").into_iter().flat_map(Value::items) {
                    add_part(tx, &id, &stored, &named(part, &id)?, &row(part))?;
                }
            }
            ids.push(id);
        }
        Ok(ids)
    })
}

/// The id of something in a session, with which it is the only one.
fn named(value: Value<'_>, session: &str) -> Outcome<String> {
    let id = value.get("id").and_then(Value::str).ok_or("no id")?;
    Ok(format!("{id}{session}"))
}

/// What a row has in its column `data`: all but what stands in others.
fn row(value: Value<'_>) -> Vec<u8> {
    let mut data = Object::new();
    for (key, member) in value.members() {
        let key = key.str().unwrap_or_default();
        if !["id", "sessionID", "messageID"].contains(&key.as_ref()) {
            data = data.raw(
                &key,
                &rethread_json::compact(member.raw()).unwrap_or_default(),
            );
        }
    }
    data.finish()
}

/// A large database, in which people ask and a model answers.
fn many(folder: &Path) -> Outcome<Box<dyn Pair>> {
    let text = "the quick brown fox jumps over \"the\" lazy dog ".repeat(LENGTH / 46);
    let part = Object::new()
        .str("type", "text")
        .str("text", &text)
        .finish();
    database(folder, Task::List, |tx| {
        let mut ids = Vec::new();
        for s in 0..SESSIONS {
            let id = format!("ses_{s:012}");
            add_session(tx, &id)?;
            for m in 0..MESSAGES {
                let message = format!("msg_{s:06}{m:06}");
                let data = info(m % 2 == 0);
                add_message(tx, &id, &message, i64::try_from(m)?, &data)?;
                add_part(tx, &id, &message, &format!("prt_{s:06}{m:06}"), &part)?;
            }
            ids.push(id);
        }
        Ok(ids)
    })
}

/// What a message says of itself.
fn info(is_question: bool) -> Vec<u8> {
    let model = Object::new()
        .str("providerID", "acme")
        .str("modelID", "large");
    if is_question {
        let info = Object::new().str("role", "user");
        return info.raw("model", &model.finish()).finish();
    }
    let cache = Object::new().u64("read", 0).u64("write", 0).finish();
    let tokens = Object::new()
        .u64("input", 1)
        .u64("output", 1)
        .u64("reasoning", 0);
    let tokens = tokens.raw("cache", &cache).finish();
    model
        .str("role", "assistant")
        .raw("tokens", &tokens)
        .finish()
}

/// A person asks, the model calls a tool that says a lot, and answers.
fn write_long(path: &Path, said: &mut Messages, length: u64) -> Outcome {
    let mut db = Connection::open(path)?;
    db.execute_batch(SCHEMA)?;
    let tx = db.transaction()?;
    add_project(&tx)?;
    add_session(&tx, LONG.id)?;
    let (mut written, mut n) = (0, 0);
    while written < length {
        let text = |text: &str| Object::new().str("type", "text").str("text", text).finish();
        let parts = if n % 2 == 0 {
            vec![text(&said.prose(200))]
        } else {
            let state = Object::new().str("status", "completed").raw("input", b"{}");
            let state = state.str("output", &said.prose(9000)).finish();
            let call = Object::new().str("type", "tool").str("tool", "bash");
            let call = call.str("callID", &format!("call_{n}"));
            vec![call.raw("state", &state).finish(), text(&said.prose(900))]
        };
        let message = format!("msg_{n:012}");
        let data = info(n % 2 == 0);
        add_message(&tx, LONG.id, &message, n, &data)?;
        written += data.len() as u64;
        for (at, part) in parts.iter().enumerate() {
            add_part(&tx, LONG.id, &message, &format!("prt_{n:012}{at}"), part)?;
            written += part.len() as u64;
        }
        n += 1;
    }
    tx.commit()?;
    db.close().map_err(|(_, e)| e)?;
    Ok(())
}

/// A database in a home, with the sessions that somebody writes and gives the ids of.
fn database(
    folder: &Path,
    task: Task,
    fill: impl FnOnce(&Transaction<'_>) -> Outcome<Vec<String>>,
) -> Outcome<Box<dyn Pair>> {
    let home = fs::canonicalize(folder)?;
    let mut env = Env::from_variables(
        std::collections::BTreeMap::new(),
        Some(home.clone()),
        home.clone(),
    )?;
    env.use_homes(std::slice::from_ref(&home));
    let path = home.join(LONG.file);
    fs::create_dir_all(path.parent().unwrap_or(&home))?;
    let mut db = Connection::open(&path)?;
    db.execute_batch(SCHEMA)?;
    let tx = db.transaction()?;
    add_project(&tx)?;
    let ids = fill(&tx)?;
    tx.commit()?;
    db.close().map_err(|(_, e)| e)?;
    let source = |id| Source::new(FORMAT, id, path.clone());
    Ok(Box::new(Database {
        env,
        task,
        sources: ids.into_iter().map(source).collect(),
        path,
    }))
}

fn add_project(tx: &Transaction<'_>) -> Outcome {
    tx.execute_batch("INSERT INTO project (id, worktree, time_created, time_updated, sandboxes) VALUES ('global', '/', 1, 1, '[]')")?;
    Ok(())
}

const TIME: i64 = 1_763_200_000_000;

fn add_session(tx: &Transaction<'_>, id: &str) -> Outcome {
    let sql = "INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated)
         VALUES (?1, 'global', ?1, '/home/me', 'Work', '1.18.33', ?2, ?2)";
    tx.prepare_cached(sql)?.execute((id, TIME))?;
    Ok(())
}

fn add_message(tx: &Transaction<'_>, session: &str, id: &str, time: i64, data: &[u8]) -> Outcome {
    let sql = "INSERT INTO message VALUES (?1, ?2, ?3, ?3, ?4)";
    let data = std::str::from_utf8(data)?;
    tx.prepare_cached(sql)?.execute((id, session, time, data))?;
    Ok(())
}

fn add_part(tx: &Transaction<'_>, session: &str, message: &str, id: &str, data: &[u8]) -> Outcome {
    let sql = "INSERT INTO part VALUES (?1, ?2, ?3, ?4, ?4, ?5)";
    let data = std::str::from_utf8(data)?;
    tx.prepare_cached(sql)?
        .execute((id, message, session, TIME, data))?;
    Ok(())
}

struct Database {
    env: Env,
    task: Task,
    sources: Vec<Source>,
    path: PathBuf,
}

impl Database {
    fn list(&self) -> Outcome {
        let listed = list(&self.env, &Filter::default(), Sort::Tokens, &|_, _| {})?;
        let messages: u64 = listed.sessions.iter().map(|s| s.counts.messages).sum();
        if messages != (SESSIONS * MESSAGES) as u64 {
            return Err(format!("the list knows of {messages} messages").into());
        }
        Ok(())
    }

    fn open(&self) -> Outcome {
        for source in &self.sources {
            std::hint::black_box(FORMAT.reader().read(source)?);
        }
        Ok(())
    }

    fn read(&self) -> Outcome {
        for source in &self.sources {
            let conversation = FORMAT.reader().read(source)?;
            for (ix, _) in conversation.session.indexed() {
                std::hint::black_box(conversation.body(ix));
            }
        }
        Ok(())
    }

    /// Every row as a document.
    fn parse(&self) -> Outcome {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let db = Connection::open_with_flags(&self.path, flags)?;
        for table in ["message", "part"] {
            let mut query =
                db.prepare(&format!("SELECT data FROM {table} WHERE session_id = ?1"))?;
            for source in &self.sources {
                let mut rows = query.query([&source.id])?;
                while let Some(row) = rows.next()? {
                    let data = row.get_ref(0)?.as_bytes()?;
                    std::hint::black_box(serde_json::from_slice::<serde_json::Value>(data)?);
                }
            }
        }
        Ok(())
    }
}

impl Pair for Database {
    fn run(&mut self, side: Side) -> Outcome {
        match (side, self.task) {
            (Side::Subject, Task::List) => self.list(),
            (Side::Subject, Task::Open) => self.open(),
            (Side::Peer, Task::List) | (Side::Subject, Task::Read) => self.read(),
            (Side::Peer, Task::Open | Task::Read) => self.parse(),
        }
    }
}
