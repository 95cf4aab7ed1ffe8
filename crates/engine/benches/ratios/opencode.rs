//! Sessions in a database of OpenCode: a list leaves alone what was said in them, and reading them
//! is compared with a document model of the same rows.

use std::fs;
use std::path::{Path, PathBuf};

use rethread_engine::{Filter, Sort, list};
use rethread_formats::opencode::OpenCode;
use rethread_formats::{Env, Format as _, Source};
use rethread_model::Bodies as _;
use rusqlite::{Connection, OpenFlags};

use crate::benchmark::{Aim, Benchmark, Outcome, Pair, Side};
use crate::clock::Clock;

pub(crate) static LIST: Benchmark = Benchmark {
    name: "opencode-list",
    subject: "list the sessions in a database of 1 GB",
    peer: "read them all, with what each entry says",
    aim: Aim::TimeAtMost(0.05),
    clock: Clock::Cpu,
    runs: 1,
    // 1 GB in all.
    make: |folder| make(folder, Task::List, 100_000),
};

pub(crate) static READ: Benchmark = Benchmark {
    name: "opencode-read",
    subject: "read the sessions in a database, entries on demand",
    peer: "serde_json::Value of every message and part",
    aim: Aim::Known,
    clock: Clock::Cpu,
    runs: 1,
    make: |folder| make(folder, Task::Open, 2_000),
};

pub(crate) static ROWS: Benchmark = Benchmark {
    name: "opencode-rows",
    subject: "read the sessions in a database, entries on demand",
    peer: "copy every message and part out of it",
    aim: Aim::Known,
    clock: Clock::Cpu,
    runs: 1,
    make: |folder| make(folder, Task::Rows, 2_000),
};

pub(crate) static BODIES: Benchmark = Benchmark {
    name: "opencode-bodies",
    subject: "the same, every entry decoded",
    peer: "serde_json::Value of every message and part",
    aim: Aim::Known,
    clock: Clock::Cpu,
    runs: 1,
    make: |folder| make(folder, Task::Read, 2_000),
};

/// What is done with a database.
#[derive(Clone, Copy)]
enum Task {
    List,
    Open,
    /// The same, against what nobody can do without.
    Rows,
    Read,
}

const SESSIONS: usize = 200;
const MESSAGES: usize = 50;

const SCHEMA: &str = include_str!("../../../../fixtures/opencode/1.18/schema.sql");

/// Makes a database in which every message has a text of this length.
fn make(folder: &Path, task: Task, text: usize) -> Outcome<Box<dyn Pair>> {
    let home = fs::canonicalize(folder)?;
    let mut env = Env::from_variables(
        std::collections::BTreeMap::new(),
        Some(home.clone()),
        home.clone(),
    )?;
    env.use_homes(std::slice::from_ref(&home));
    let data = home.join(".local/share/opencode");
    fs::create_dir_all(&data)?;
    let path = data.join("opencode.db");
    let mut db = Connection::open(&path)?;
    db.execute_batch(SCHEMA)?;
    let sources = fill(&mut db, text)?;
    db.close().map_err(|(_, e)| e)?;
    Ok(Box::new(Database {
        env,
        task,
        sources: sources
            .into_iter()
            .map(|id| Source::new("opencode", id, path.clone()))
            .collect(),
        path,
    }))
}

/// Writes sessions in which people ask and a model answers; gives their ids.
fn fill(db: &mut Connection, text: usize) -> Outcome<Vec<String>> {
    let tx = db.transaction()?;
    tx.execute_batch("INSERT INTO project (id, worktree, time_created, time_updated, sandboxes) VALUES ('global', '/', 1, 1, '[]')")?;
    let text = "the quick brown fox jumps over \\\"the\\\" lazy dog ".repeat(text / 46);
    let part = format!("{{\"type\":\"text\",\"text\":\"{text}\"}}");
    let model = "\"providerID\":\"acme\",\"modelID\":\"large\"";
    let tokens =
        "\"tokens\":{\"input\":1,\"output\":1,\"reasoning\":0,\"cache\":{\"read\":0,\"write\":0}}";
    let mut ids = Vec::new();
    for s in 0..SESSIONS {
        let id = format!("ses_{s:012}");
        let time = 1_763_200_000_000_i64 + i64::try_from(s)?;
        tx.execute(
            "INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated)
             VALUES (?1, 'global', ?1, '/home/me', 'Work', '1.18.33', ?2, ?2)",
            (&id, time),
        )?;
        for m in 0..MESSAGES {
            let message = format!("msg_{s:06}{m:06}");
            let data = if m % 2 == 0 {
                format!(
                    "{{\"role\":\"user\",\"time\":{{\"created\":{time}}},\"model\":{{{model}}}}}"
                )
            } else {
                format!(
                    "{{\"role\":\"assistant\",\"time\":{{\"created\":{time}}},{model},{tokens}}}"
                )
            };
            tx.execute(
                "INSERT INTO message VALUES (?1, ?2, ?3, ?3, ?4)",
                (&message, &id, time + i64::try_from(m)?, data),
            )?;
            tx.execute(
                "INSERT INTO part VALUES (?1, ?2, ?3, ?4, ?4, ?5)",
                (format!("prt_{s:06}{m:06}"), &message, &id, time, &part),
            )?;
        }
        ids.push(id);
    }
    tx.commit()?;
    Ok(ids)
}

struct Database {
    env: Env,
    task: Task,
    sources: Vec<Source>,
    path: PathBuf,
}

impl Database {
    fn list(&self) -> Outcome {
        let listed = list(&self.env, &Filter::default(), Sort::Tokens, &|_, _| {});
        let messages: u64 = listed.sessions.iter().map(|s| s.counts.messages).sum();
        if messages != (SESSIONS * MESSAGES) as u64 {
            return Err(format!("the list knows of {messages} messages").into());
        }
        Ok(())
    }

    fn open(&self) -> Outcome {
        for source in &self.sources {
            std::hint::black_box(OpenCode.read(source)?);
        }
        Ok(())
    }

    fn read(&self) -> Outcome {
        for source in &self.sources {
            let conversation = OpenCode.read(source)?;
            for (ix, _) in conversation.session.indexed() {
                std::hint::black_box(conversation.body(ix));
            }
        }
        Ok(())
    }

    /// Every row as a document.
    fn parse(&self) -> Outcome {
        self.rows(|data| {
            std::hint::black_box(serde_json::from_slice::<serde_json::Value>(data)?);
            Ok(())
        })
    }

    /// Every row as it is.
    fn copy(&self) -> Outcome {
        self.rows(|data| {
            std::hint::black_box(data.to_vec());
            Ok(())
        })
    }

    fn rows(&self, take: impl Fn(&[u8]) -> Outcome) -> Outcome {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let db = Connection::open_with_flags(&self.path, flags)?;
        for table in ["message", "part"] {
            let mut query =
                db.prepare(&format!("SELECT data FROM {table} WHERE session_id = ?1"))?;
            for source in &self.sources {
                let mut rows = query.query([&source.id])?;
                while let Some(row) = rows.next()? {
                    take(row.get_ref(0)?.as_bytes()?)?;
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
            (Side::Subject, Task::Open | Task::Rows) => self.open(),
            (Side::Peer, Task::Rows) => self.copy(),
            (Side::Peer, Task::List) | (Side::Subject, Task::Read) => self.read(),
            (Side::Peer, Task::Open | Task::Read) => self.parse(),
        }
    }
}
