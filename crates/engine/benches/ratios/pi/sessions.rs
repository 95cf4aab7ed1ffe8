//! Sessions like pi's: a person asks, the model thinks and calls tools, and tools say a lot.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use rethread_json::{Array, Object};

use crate::benchmark::Outcome;
use crate::messages::{Messages, time_at};

/// How long the long one is, in bytes.
const LONG: u64 = 100_000_000;

/// How many there are to list, and how long each is.
const MANY: u64 = 2000;
const SHORT: u64 = 50_000;

/// Writes one long session; says how many messages it has.
pub(crate) fn long(path: &Path) -> Outcome<u64> {
    write(path, "long", LONG, &mut Messages::new(1))
}

/// Writes many sessions into a folder; says how many.
pub(crate) fn many(folder: &Path) -> Outcome<u64> {
    let mut said = Messages::new(2);
    for n in 0..MANY {
        let id = format!("01a1e054-fcf9-71e6-a3da-{n:012x}");
        let name = format!("2026-11-15T17-50-28-602Z_{id}.jsonl");
        write(&folder.join(name), &id, SHORT, &mut said)?;
    }
    Ok(MANY)
}

/// Writes one session of about that length; says how many messages it has.
pub(crate) fn write(path: &Path, id: &str, bytes: u64, said: &mut Messages) -> Outcome<u64> {
    let file = File::create(path)?;
    let mut out = BufWriter::with_capacity(1 << 20, &file);
    let mut written = 0;
    let mut count = 0;
    let mut line = header(id)?;
    while written < bytes {
        line.push(b'\n');
        out.write_all(&line)?;
        written += line.len() as u64;
        line = entry(count, said)?;
        count += 1;
    }
    out.flush()?;
    // Else the system goes on writing while we measure.
    file.sync_all()?;
    Ok(count - 1)
}

/// A line of a very long session, by its place.
pub(super) fn line(said: &mut Messages, n: u64) -> Outcome<Vec<u8>> {
    match n.checked_sub(1) {
        Some(n) => entry(n, said),
        None => header(super::LONG.id),
    }
}

fn header(id: &str) -> Outcome<Vec<u8>> {
    let header = Object::new()
        .str("type", "session")
        .u64("version", 3)
        .str("id", id)
        .str("timestamp", &time_at(0)?.to_string())
        .str("cwd", "/home/me/app");
    Ok(header.finish())
}

fn entry(n: u64, said: &mut Messages) -> Outcome<Vec<u8>> {
    let time = time_at(n)?;
    let object = Object::new()
        .str("type", "message")
        .str("id", &format!("{n:08x}"));
    let object = match n.checked_sub(1) {
        Some(parent) => object.str("parentId", &format!("{parent:08x}")),
        None => object.null("parentId"),
    };
    let message = match n % 9 {
        0 => user(n, said),
        n if n % 2 == 1 => answer(n, said),
        _ => result(n, said),
    };
    let object = object.str("timestamp", &time.to_string());
    let message = message.i64("timestamp", time.millis()).finish();
    Ok(object.raw("message", &message).finish())
}

fn user(n: u64, said: &mut Messages) -> Object {
    Object::new()
        .str("role", "user")
        .str("content", &text(n, 200, said))
}

fn answer(n: u64, said: &mut Messages) -> Object {
    let thinking = Object::new()
        .str("type", "thinking")
        .str("thinking", &text(n, 300, said));
    let arguments = Object::new().str("path", "src/lines.rs").u64("limit", n);
    let call = Object::new()
        .str("type", "toolCall")
        .str("id", &format!("call_{n:08x}"))
        .str("name", "read")
        .raw("arguments", &arguments.finish());
    let content = Array::new().raw(&thinking.finish());
    let content = content.raw(&block(&text(n, 200, said))).raw(&call.finish());
    Object::new()
        .str("role", "assistant")
        .raw("content", &content.finish())
        .str("api", "anthropic-messages")
        .str("provider", "anthropic")
        .str("model", "some-model-4-5-20250929")
        .raw("usage", USAGE.as_bytes())
        .str("stopReason", "toolUse")
}

const USAGE: &str = r#"{"input":1480,"output":212,"cacheRead":0,"cacheWrite":0,"totalTokens":1692,"cost":{"input":0.00444,"output":0.00318,"cacheRead":0,"cacheWrite":0,"total":0.00762}}"#;

fn result(n: u64, said: &mut Messages) -> Object {
    let length = said.length() * 8;
    let content = Array::new().raw(&block(&text(n, length, said)));
    Object::new()
        .str("role", "toolResult")
        .str("toolCallId", &format!("call_{:08x}", n.saturating_sub(1)))
        .str("toolName", "read")
        .raw("content", &content.finish())
        .bool("isError", false)
}

fn block(text: &str) -> Vec<u8> {
    Object::new().str("type", "text").str("text", text).finish()
}

/// Prose. One half of what real sessions say is plain, and JavaScript needs half the memory for it.
fn text(n: u64, length: usize, said: &mut Messages) -> String {
    let mut text = said.prose(length);
    if n.is_multiple_of(2) {
        text.retain(|c| c.is_ascii());
    }
    text
}
