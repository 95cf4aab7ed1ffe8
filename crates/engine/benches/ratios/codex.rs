//! Sessions of Codex: real ones against a document model, and the memory that a very long one takes.

use rethread_formats::{Want, codex as format};
use rethread_json::{Array, Object};

use crate::benchmark::{Aim, Benchmark, Outcome, Pair};
use crate::clock::Clock;
use crate::corpus::{self, PEER, Task};
use crate::long::{self, Agent, Kept};
use crate::messages::{Messages, time_at};

pub(crate) static READ: Benchmark = Benchmark {
    name: "codex-read",
    subject: "read Codex sessions, entries on demand",
    peer: PEER,
    aim: Aim::SpeedAtLeast(1.5),
    clock: Clock::Cpu,
    runs: 2,
    make: |_| real(Task::Open),
};

pub(crate) static BODIES: Benchmark = Benchmark {
    name: "codex-bodies",
    subject: "the same, every entry decoded",
    peer: PEER,
    aim: Aim::Known,
    clock: Clock::Cpu,
    runs: 2,
    make: |_| real(Task::Read),
};

pub(crate) static LIST: Benchmark = Benchmark {
    name: "codex-list",
    subject: "what a list shows of Codex sessions",
    peer: PEER,
    aim: Aim::SpeedAtLeast(5.0),
    clock: Clock::Cpu,
    runs: 2,
    make: |_| {
        real(Task::List(Want {
            usage: false,
            size: false,
        }))
    },
};

pub(crate) static TOKENS: Benchmark = Benchmark {
    name: "codex-tokens",
    subject: "the same, with tokens",
    peer: PEER,
    aim: Aim::SpeedAtLeast(5.0),
    clock: Clock::Cpu,
    runs: 2,
    make: |_| {
        real(Task::List(Want {
            usage: true,
            size: true,
        }))
    },
};

pub(crate) static LIST_MEMORY: Benchmark =
    long::benchmark("codex-list-2gb", "list a Codex session of 2 GB", |home| {
        long::pair(&LONG, long::Task::List, home)
    });

pub(crate) static SHOW_MEMORY: Benchmark =
    long::benchmark("codex-show-2gb", "show the last 20 entries of it", |home| {
        long::pair(&LONG, long::Task::Show, home)
    });

fn real(task: Task) -> Outcome<Box<dyn Pair>> {
    corpus::pair(corpus::files("codex")?, format::FORMAT, task)
}

pub(crate) static WRITE_MEMORY: Benchmark =
    long::written_benchmark("codex-write-500mb", |home| long::written_pair(&LONG, home));

/// A very long session.
pub(crate) static LONG: Agent = Agent {
    name: "codex",
    id: "019f36b8-7808-7b53-b256-85144c802798",
    file: ".codex/sessions/2026/07/06/rollout-2026-07-06T10-00-00-019f36b8-7808-7b53-b256-85144c802798.jsonl",
    kept: Kept::Lines(line),
};

/// A person asks, the model calls a tool, the tool says a lot, the model answers, and all but the
/// call is told twice, with the tokens behind it.
fn line(said: &mut Messages, n: u64) -> Outcome<Vec<u8>> {
    let turn = n / 8;
    let typed = |name: &str| Object::new().str("type", name);
    let call_id = format!("call_{turn:024}");
    // Both streams say the same.
    let mut own = Messages::new(turn);
    let (outer, payload) = match n % 8 {
        _ if n == 0 => {
            let meta = Object::new().str("id", LONG.id).str("cwd", "/home/me/app");
            let meta = meta.str("timestamp", &time_at(0)?.to_string());
            ("session_meta", meta.str("cli_version", "0.166.0"))
        }
        0 => {
            let context = Object::new().str("cwd", "/home/me/app");
            ("turn_context", context.str("model", "gpt-5.1-codex"))
        }
        1 => ("response_item", message("user", &own.prose(200))),
        2 => {
            let shown = typed("user_message").str("message", &own.prose(200));
            ("event_msg", shown)
        }
        3 => {
            let call = typed("function_call").str("name", "shell");
            let call = call.str("arguments", "{\"command\":[\"ls\"]}");
            ("response_item", call.str("call_id", &call_id))
        }
        4 => {
            let output = typed("function_call_output").str("call_id", &call_id);
            ("response_item", output.str("output", &said.prose(9000)))
        }
        5 => ("response_item", message("assistant", &own.prose(900))),
        6 => {
            let shown = typed("agent_message").str("message", &own.prose(900));
            ("event_msg", shown)
        }
        _ => {
            let total = Object::new().u64("input_tokens", n).u64("output_tokens", n);
            let info = Object::new().raw("total_token_usage", &total.finish());
            (
                "event_msg",
                typed("token_count").raw("info", &info.finish()),
            )
        }
    };
    Ok(Object::new()
        .str("timestamp", &time_at(n)?.to_string())
        .str("type", outer)
        .raw("payload", &payload.finish())
        .finish())
}

fn message(role: &str, text: &str) -> Object {
    let kind = if role == "user" {
        "input_text"
    } else {
        "output_text"
    };
    let part = Object::new().str("type", kind).str("text", text);
    let content = Array::new().raw(&part.finish()).finish();
    let message = Object::new().str("type", "message").str("role", role);
    message.raw("content", &content)
}
