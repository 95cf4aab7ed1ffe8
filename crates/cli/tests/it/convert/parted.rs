//! Conversations that left some ways again.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;

use rethread_engine::{MessageDefaults, MessageInput, NewSession, Source, by_name};
use rethread_formats::{Branch, EntryRef};
use rethread_model::{Block, Bodies as _, Body, EntryIx, Visibility};
use serde_json::{Value, json as value};

use super::Desk;
use crate::world::json;

pub(super) const KEEPERS: [&str; 5] = ["claude-code", "codex", "gemini", "pi", "atomic"];

pub(super) fn said(role: &str, blocks: &Value) -> MessageInput {
    let message = value!({
        "index": 1, "role": role, "timestamp": "2026-11-15T10:00:00.000Z", "content": blocks,
        "metadata": {"model": {"name": "m-1"}},
    });
    MessageInput::Json {
        bytes: message.to_string().into_bytes(),
        line: 1,
        unsaid: MessageDefaults {
            role: None,
            model: Some("acme/m-1".to_owned()),
        },
    }
}

fn text(role: &str, text: &str) -> MessageInput {
    said(role, &value!([{"type": "text", "text": text}]))
}

pub(super) fn question(words: &str) -> MessageInput {
    text("user", words)
}

pub(super) fn answer(words: &str) -> MessageInput {
    text("assistant", words)
}

/// Says something in a session, behind an entry where one is named; gives the id of the last.
pub(super) fn say(
    desk: &Desk,
    source: &Source,
    at: Option<&str>,
    messages: &[MessageInput],
) -> String {
    let format = source.format;
    let w = desk.writing();
    let appended = match at {
        None => format.writable().unwrap().append(&w, source, messages),
        Some(id) => {
            let at = EntryRef {
                id: id.to_owned(),
                offset: 0,
            };
            let branch = Branch {
                at: &at,
                summary: None,
                messages,
            };
            format
                .writable()
                .unwrap()
                .tree()
                .unwrap()
                .branch(&w, source, &branch)
        }
    };
    let ids: Vec<String> = appended
        .unwrap()
        .ids
        .into_iter()
        .map(Result::unwrap)
        .collect();
    ids.last().cloned().unwrap()
}

pub(super) fn session(desk: &Desk, format: &str) -> Source {
    let format = by_name(format).unwrap();
    let new = NewSession {
        cwd: desk.world.project.clone(),
        root: Some(desk.root(format)),
        ..NewSession::default()
    };
    let made = format
        .writable()
        .unwrap()
        .create(&desk.writing(), &new)
        .unwrap();
    Source::new(format, made.id, made.path)
}

/// A conversation that left a way, and a way on that way, before it went on.
pub(super) fn parted(desk: &Desk, format: &str) -> Source {
    let source = session(desk, format);
    let first = say(
        desk,
        &source,
        None,
        &[question("Which tests fail?"), answer("One fails.")],
    );
    let left = say(
        desk,
        &source,
        None,
        &[question("Leave it."), answer("Left.")],
    );
    say(
        desk,
        &source,
        None,
        &[question("Why so?"), answer("Because.")],
    );
    say(
        desk,
        &source,
        Some(&left),
        &[question("Say more."), answer("No more.")],
    );
    let call =
        value!([{"type": "tool_use", "tool_id": "c1", "tool_name": "mend", "input": {"a": 1}}]);
    let result = value!([{"type": "tool_result", "tool_id": "c1", "output": "done"}]);
    say(
        desk,
        &source,
        Some(&first),
        &[
            question("Mend it."),
            said("assistant", &call),
            said("user", &result),
            answer("Mended."),
        ],
    );
    source
}

/// What is said on each way of a session, from its beginning to its end.
pub(super) fn ways(source: &Source) -> BTreeSet<Vec<String>> {
    let c = source.format.reader().read(source).unwrap();
    let texts = |ix: EntryIx| match c.body(ix) {
        Body::Message(message) if c.session.entry(ix).visibility == Visibility::Visible => message
            .blocks
            .iter()
            .filter_map(|block| match block {
                Block::Text(text) => Some(text.value.trim().to_owned()),
                Block::ToolCall(call) => Some(format!("call {}", call.name)),
                Block::ToolResult(_) => Some("result".to_owned()),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    let mut all: BTreeSet<Vec<String>> = c
        .session
        .indexed()
        .filter(|(_, entry)| !entry.beside)
        .map(|(ix, _)| c.session.path(ix).into_iter().flat_map(texts).collect())
        .collect();
    let begins = all.clone();
    all.retain(|way| {
        let goes_on = |other: &Vec<String>| other.len() > way.len() && other.starts_with(way);
        !begins.iter().any(goes_on)
    });
    all
}

/// A conversation that went back, and said nothing since.
pub(super) fn taken_back(desk: &Desk, format: &str) -> Source {
    let source = session(desk, format);
    let talk = [
        question("Which tests fail?"),
        answer("One fails."),
        question("Leave it."),
        answer("Left."),
    ];
    say(desk, &source, None, &talk);
    let last = |what: &str| {
        let text = fs::read_to_string(&source.path).unwrap();
        let found = text.lines().rfind(|line| line.contains(what)).unwrap();
        json(found)
    };
    let record = match format {
        "gemini" => value!({"$rewindTo": last("Leave it.")["id"]}),
        _ => value!({
            "timestamp": "2026-11-15T11:00:00.000Z", "type": "event_msg",
            "payload": {"type": "thread_rolled_back", "num_turns": 1},
        }),
    };
    let mut log = fs::OpenOptions::new()
        .append(true)
        .open(&source.path)
        .unwrap();
    writeln!(log, "{record}").unwrap();
    source
}
