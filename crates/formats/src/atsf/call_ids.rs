//! Ids of tool calls: each is there once in a thread, so that a result names one call.

use std::collections::HashSet;

use memchr::memmem::Finder;
use rethread_disk::{DiskError, LockedLog};
use rethread_json::{Lines, Tree, Value};

use super::prepare::PreparedLine;
use super::tally::each_object;
use crate::error::read_failed;
use crate::fields::string_of;
use crate::{MessageInput, WriteError};

/// So many ids are looked for one by one.
const FEW: usize = 8;

/// Refuses messages with a call whose id is in the log, or in a message before it. The line of the log
/// that begins at `replaced` does not count.
pub(super) fn refuse_known_calls(
    log: &LockedLog,
    messages: &[MessageInput],
    prepared: &mut [Result<PreparedLine, WriteError>],
    replaced: Option<u64>,
) -> Result<(), WriteError> {
    let calls: Vec<Vec<String>> = prepared
        .iter()
        .map(|p| p.as_ref().map(|p| calls_of(&p.line)).unwrap_or_default())
        .collect();
    let asked: HashSet<&str> = calls.iter().flatten().map(String::as_str).collect();
    let mut known = in_log(log, &asked, replaced)?;
    for ((message, prepared), calls) in messages.iter().zip(prepared).zip(&calls) {
        if let Some(id) = calls.iter().find(|id| known.contains(*id)) {
            let line = message.line();
            let why = format!("the `toolCallId` `{id}` is in the thread already");
            *prepared = Err(WriteError::BadMessage { line, why });
        } else {
            known.extend(calls.iter().cloned());
        }
    }
    Ok(())
}

/// The ids of the calls in a line.
fn calls_of(line: &[u8]) -> Vec<String> {
    let tree = Tree::parse(line);
    tree.map_or_else(|_| Vec::new(), |tree| ids(tree.root(line)).collect())
}

fn ids(message: Value<'_>) -> impl Iterator<Item = String> {
    let calls = message.get("toolCalls").into_iter().flat_map(Value::items);
    calls.filter_map(|call| string_of(call, "toolCallId"))
}

/// Whether every program spells an id the same in JSON.
fn is_plain(id: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b':');
    !id.is_empty() && id.bytes().all(is_plain)
}

/// Those of some ids that calls in the log have.
fn in_log(
    log: &LockedLog,
    asked: &HashSet<&str>,
    replaced: Option<u64>,
) -> Result<HashSet<String>, DiskError> {
    let mut found = HashSet::new();
    if asked.is_empty() {
        return Ok(found);
    }
    let failed = read_failed(log.path());
    // A program that writes on and on asks this for each message, so most lines are not parsed.
    let signs: Vec<Finder<'_>> = if asked.len() <= FEW && asked.iter().all(|id| is_plain(id)) {
        asked.iter().map(|id| Finder::new(*id)).collect()
    } else {
        vec![Finder::new("toolCallId")]
    };
    let mut tree = Tree::default();
    let mut lines = Lines::new(log.reader(0));
    while let Some(line) = lines.next_line().map_err(failed)? {
        let Some(bytes) = line.whole() else { continue };
        let is_sign = |sign: &Finder<'_>| sign.find(bytes).is_some();
        if replaced == Some(line.span.offset) || !signs.iter().any(is_sign) {
            continue;
        }
        each_object(bytes, &mut tree, |message| {
            found.extend(ids(message).filter(|id| asked.contains(id.as_str())));
        });
    }
    Ok(found)
}
