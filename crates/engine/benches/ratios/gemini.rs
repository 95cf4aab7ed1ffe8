//! Real sessions of Gemini CLI against a document model. Those at hand are short, and what opening
//! a file costs would be all that is measured: so each goes on for longer, with its own messages.
//! And the memory that a very long one takes.

use std::fs;
use std::path::Path;

use rethread_formats::Want;
use rethread_formats::gemini::{FORMAT, project_hash};
use rethread_json::{Array, Object, Patch, Tree, Value, quote, split_lines};

use crate::benchmark::{Aim, Benchmark, Outcome, Pair};
use crate::clock::Clock;
use crate::corpus::{self, PEER, Task};
use crate::long::{self, Agent, Kept};
use crate::messages::{Messages, time_at};

/// How often the messages of a session come.
const TIMES: usize = 32;

pub(crate) static READ: Benchmark = Benchmark {
    name: "gemini-read",
    subject: "read Gemini sessions, entries on demand",
    peer: PEER,
    aim: Aim::SpeedAtLeast(1.5),
    clock: Clock::Cpu,
    runs: 8,
    make: |folder| real(folder, Task::Open),
};

pub(crate) static BODIES: Benchmark = Benchmark {
    name: "gemini-bodies",
    subject: "read Gemini sessions, every entry decoded",
    peer: PEER,
    aim: Aim::Known,
    clock: Clock::Cpu,
    runs: 8,
    make: |folder| real(folder, Task::Read),
};

pub(crate) static LIST: Benchmark = Benchmark {
    name: "gemini-list",
    subject: "what a list shows of Gemini sessions",
    peer: PEER,
    aim: Aim::SpeedAtLeast(5.0),
    clock: Clock::Cpu,
    runs: 8,
    make: |folder| real(folder, Task::List(Want::default())),
};

pub(crate) static LIST_MEMORY: Benchmark =
    long::benchmark("gemini-list-2gb", "list a Gemini session of 2 GB", |home| {
        long::pair(&LONG, long::Task::List, home)
    });

pub(crate) static SHOW_MEMORY: Benchmark = long::benchmark(
    "gemini-show-2gb",
    "show the last 20 entries of it",
    |home| long::pair(&LONG, long::Task::Show, home),
);

pub(crate) static WRITE_MEMORY: Benchmark =
    long::written_benchmark("gemini-write-500mb", |home| long::written_pair(&LONG, home));

/// A very long session.
pub(crate) static LONG: Agent = Agent {
    name: "gemini",
    id: "5f0c5f0c-0000-4000-8000-000000000003",
    file: ".gemini/tmp/app/chats/session-2026-01-01T00-00-5f0c5f0c.jsonl",
    kept: Kept::Lines(line),
};

/// A person asks, the model calls a tool that says a lot, and answers.
fn line(said: &mut Messages, n: u64) -> Outcome<Vec<u8>> {
    let time = time_at(n)?.to_string();
    if n == 0 {
        return Ok(Object::new()
            .str("sessionId", LONG.id)
            .str("projectHash", &project_hash("/home/me/app"))
            .str("startTime", &time)
            .str("lastUpdated", &time)
            .str("kind", "main")
            .finish());
    }
    let message = |type_name: &str, text: &str| {
        let message = Object::new().str("id", &format!("{n:08x}-0000-4000-8000-{n:012x}"));
        let message = message.str("timestamp", &time).str("type", type_name);
        message.str("content", text)
    };
    let tokens = Object::new()
        .u64("input", n)
        .u64("output", 9)
        .u64("cached", 0);
    let answer = |text: &str| {
        let answer = message("gemini", text).str("model", "gemini-2.5-pro");
        answer.raw("tokens", &tokens.finish())
    };
    Ok(match n % 3 {
        1 => message("user", &said.prose(200)).finish(),
        2 => {
            let id = format!("bash-{n}");
            let output = Object::new().str("output", &said.prose(9000)).finish();
            let given = Object::new().str("id", &id).str("name", "bash");
            let given = given.raw("response", &output).finish();
            let given = Object::new().raw("functionResponse", &given).finish();
            let call = Object::new()
                .str("id", &id)
                .str("name", "bash")
                .raw("args", b"{}");
            let call = call.raw("result", &Array::new().raw(&given).finish());
            let calls = Array::new().raw(&call.str("status", "success").finish());
            answer("").raw("toolCalls", &calls.finish()).finish()
        }
        _ => answer(&said.prose(900)).finish(),
    })
}

fn real(folder: &Path, task: Task) -> Outcome<Box<dyn Pair>> {
    let mut longer = Vec::new();
    for (n, path) in corpus::files("gemini")?.into_iter().enumerate() {
        let name = path.file_name().ok_or("a file without a name")?;
        // Some have the same name.
        let own = folder.join(n.to_string());
        fs::create_dir(&own)?;
        let bytes = fs::read(&path)?;
        let is_document = path.extension().is_some_and(|e| e == "json");
        let bytes = if is_document {
            document(bytes)
        } else {
            log(&bytes)
        };
        fs::write(own.join(name), bytes)?;
        longer.push(own.join(name));
    }
    corpus::pair(longer, FORMAT, task)
}

/// A document with more messages in its list.
fn document(bytes: Vec<u8>) -> Vec<u8> {
    let Ok(tree) = Tree::parse(&bytes) else {
        return bytes;
    };
    let root = tree.root(&bytes);
    let list = root.get("messages").or(root.get("history"));
    let list = list.unwrap_or(root);
    let items: Vec<Value<'_>> = list.items().collect();
    let (Some(first), Some(last)) = (items.first(), items.last()) else {
        return bytes.clone();
    };
    let mut out = bytes[..first.span().start].to_vec();
    for n in 0..TIMES {
        for item in &items {
            if !(n == 0 && item.span() == first.span()) {
                out.extend_from_slice(b",\n    ");
            }
            out.extend(again(item.raw(), n));
        }
    }
    out.extend_from_slice(&bytes[last.span().end..]);
    out
}

/// A log with more messages behind it.
fn log(bytes: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    if !out.ends_with(b"\n") {
        out.push(b'\n');
    }
    for n in 1..TIMES {
        for (_, line) in split_lines(bytes) {
            let tree = Tree::parse(line).unwrap_or_default();
            if tree.root(line).get("id").is_some() {
                out.extend(again(line, n));
                out.push(b'\n');
            }
        }
    }
    out
}

/// The same message with an id of its own.
fn again(message: &[u8], n: usize) -> Vec<u8> {
    let tree = Tree::parse(message).unwrap_or_default();
    let root = tree.root(message);
    let Some(id) = root.get("id").and_then(Value::str) else {
        return message.to_vec();
    };
    let mut patch = Patch::new(root);
    patch.set(root, "id", &quote(&format!("{id}-{n}")));
    patch.finish()
}
