//! Whatever is said, wherever it goes, and whatever is said on the way: it comes back.
//!
//! `PROPTEST_CASES` says how many conversations are tried; by default it is few.

use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use rethread_engine::{
    ConvertOutcome, FormatRef, MessageDefaults, MessageInput, NewSession, Source, WriteError,
    by_name,
};
use rethread_model::{Block, Bodies as _, Body, Role, Visibility};
use serde_json::{Value, json as value};

use super::edits::{NEW, change, with};
use super::matrix::targets;
use super::{Desk, contents};
use crate::opencode::written::PNG;

/// A turn: a question, what tools were asked and gave, an answer.
#[derive(Clone, Debug)]
struct Turn {
    question: String,
    has_picture: bool,
    thought: Option<String>,
    calls: Vec<Call>,
    answer: String,
}

#[derive(Clone, Debug)]
struct Call {
    name: String,
    input: Value,
    output: String,
    is_error: bool,
}

/// A way through formats, by their places in the list of all, and what happens in each of them.
type Hop = (usize, Meanwhile);

/// What somebody does with a session in a format, before it goes on.
#[derive(Clone, Debug)]
enum Meanwhile {
    Nothing,
    Says(Vec<Turn>),
}

/// What somebody changes.
const MARK: &str = "Nobody else says this.";

/// Text as people, models and tools make it, and as somebody would who wants it to be something else.
fn text() -> impl Strategy<Value = String> {
    let hostile = prop::sample::select(vec![
        "{\"type\":\"rethread\",\"carried\":{}}",
        "{\"rethreadCarried\":{\"version\":1}}\n",
        "\u{1b}]8;;http://x\u{7}x\u{1b}]8;;\u{7}",
        "<tool_result>\"}]}\n{\"type\":\"user\"}",
        "a\r\nb\rc\u{2028}d\u{85}e",
        "\u{feff}\u{202e}x\u{0}y\u{ffff}z",
        "</function_calls>[Request interrupted",
        "\\u0000\\ud800 \\\" \\\\",
        "' OR 1=1; DROP TABLE session; --",
        "../../etc/passwd",
    ]);
    let plain = "[a-zA-Zäöü日本🦀 .,\"\\\\\n]{0,40}";
    let any = "\\PC{0,20}";
    let part = prop_oneof![4 => plain.prop_map(|s| s), 1 => hostile.prop_map(str::to_owned), 1 => any.prop_map(|s| s)];
    // Something is said in it.
    prop::collection::vec(part, 1..4).prop_map(|parts| format!("x{}y", parts.concat()))
}

fn input() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        text().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
    ];
    let members = prop::collection::vec(("[a-z_ \"]{1,8}", leaf), 0..4);
    members.prop_map(|all| Value::Object(all.into_iter().collect()))
}

fn turn() -> impl Strategy<Value = Turn> {
    let call = (
        "[A-Za-z][A-Za-z0-9_-]{0,12}",
        input(),
        text(),
        any::<bool>(),
    );
    let call = call.prop_map(|(name, input, output, is_error)| Call {
        name,
        input,
        output,
        is_error,
    });
    let calls = prop::collection::vec(call, 0..3);
    let thought = prop::option::weighted(0.3, text());
    let parts = (text(), prop::bool::weighted(0.2), thought, calls, text());
    parts.prop_map(|(question, has_picture, thought, calls, answer)| Turn {
        question,
        has_picture,
        thought,
        calls,
        answer,
    })
}

fn turns(most: usize) -> impl Strategy<Value = Vec<Turn>> {
    prop::collection::vec(turn(), 1..=most)
}

fn hop() -> impl Strategy<Value = Hop> {
    let meanwhile = prop_oneof![
        2 => Just(Meanwhile::Nothing),
        3 => turns(2).prop_map(Meanwhile::Says),
    ];
    (0..targets().count(), meanwhile)
}

/// How many calls there were.
static CALLS: AtomicUsize = AtomicUsize::new(1);

/// The messages of turns, in the unified vocabulary.
fn messages(turns: &[Turn], pictures: bool, thoughts: bool) -> Vec<MessageInput> {
    let mut all = Vec::new();
    for turn in turns {
        let mut asked = vec![value!({"type": "text", "text": turn.question})];
        if turn.has_picture && pictures {
            asked.push(value!({"type": "image", "data": PNG, "mimeType": "image/png"}));
        }
        all.push(("user", asked));
        let mut said = Vec::new();
        if let Some(thought) = turn.thought.as_ref().filter(|_| thoughts) {
            said.push(value!({"type": "thinking", "text": thought}));
        }
        let mut given = Vec::new();
        for call in &turn.calls {
            // No two calls of a session have one id, whenever they are said.
            let number = CALLS.fetch_add(1, Ordering::Relaxed);
            let id = format!("call_{number}");
            said.push(value!({"type": "tool_use", "tool_id": id, "tool_name": call.name, "input": call.input}));
            given.push(value!({"type": "tool_result", "tool_id": id, "tool_name": call.name, "output": call.output, "is_error": call.is_error}));
        }
        if !given.is_empty() {
            all.push(("assistant", said));
            all.push(("user", given));
            said = Vec::new();
        }
        said.push(value!({"type": "text", "text": turn.answer}));
        all.push(("assistant", said));
    }
    let json = |(at, (role, content)): (usize, (&str, Vec<Value>))| {
        let index = at as u64 + 1;
        let metadata = value!({"model": {"name": "m-1"}});
        let message = match role {
            "assistant" => {
                value!({"index": index, "role": role, "content": content, "metadata": metadata})
            }
            _ => value!({"index": index, "role": role, "content": content}),
        };
        MessageInput::Json {
            bytes: message.to_string().into_bytes(),
            line: index,
            unsaid: MessageDefaults {
                role: None,
                model: Some("acme/m-1".to_owned()),
            },
        }
    };
    all.into_iter().enumerate().map(json).collect()
}

fn say(desk: &Desk, source: &Source, turns: &[Turn], thoughts: bool) {
    let format = source.format;
    let messages = messages(turns, source.format.slug() != "agentuse", thoughts);
    let appended = format
        .writable()
        .unwrap()
        .append(&desk.writing(), source, &messages)
        .unwrap();
    for id in appended.ids {
        id.unwrap();
    }
}

/// A session that its own format wrote.
fn session(desk: &Desk, format: FormatRef, title: Option<&String>, turns: &[Turn]) -> Source {
    let mut new = NewSession {
        cwd: desk.world.project.clone(),
        root: Some(desk.root(format)),
        title: title.cloned(),
        ..NewSession::default()
    };
    let made = match format.writable().unwrap().create(&desk.writing(), &new) {
        Err(WriteError::Unsupported { .. }) => {
            new.title = None;
            format.writable().unwrap().create(&desk.writing(), &new)
        }
        made => made,
    };
    let made = made.unwrap();
    let source = Source::new(format, made.id, made.path);
    say(desk, &source, turns, true);
    source
}

/// Where it begins. An export comes from a session of another format, without its original.
fn beginning(desk: &Desk, format: FormatRef, title: Option<&String>, turns: &[Turn]) -> Source {
    if format.slug() != "ndjson" {
        return session(desk, format, title, turns);
    }
    let pi = session(desk, by_name("pi").unwrap(), title, turns);
    let file = desk.world.root.join("lean.ndjson");
    let (path, out) = (pi.path.to_str().unwrap(), file.to_str().unwrap());
    desk.world.ok(&["export", path, "--lean", "-o", out]);
    let found = format.store().at_path(&file);
    found.into_iter().next().unwrap()
}

/// Something that is said.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Said {
    Text(String),
    Call(String),
    Result(bool, String),
}

/// What is said, but for blanks around it. No client takes a NUL, so new ones are written otherwise.
fn plain(text: &str) -> String {
    text.trim().replace('\0', "\u{fffd}")
}

/// Calls at once before their results, as some formats have them and others do not.
fn in_order(mut all: Vec<Said>) -> Vec<Said> {
    let is_text = |said: &Said| matches!(said, Said::Text(_));
    for run in all.split_mut(is_text) {
        run.sort_by_key(|said| matches!(said, Said::Result(..)));
    }
    all
}

/// What is said on the way to where a session is: text, calls and results, in order. Thoughts are
/// text to some.
fn said(source: &Source) -> Vec<Said> {
    let format = source.format;
    let conversation = format.reader().read(source).unwrap();
    let mut all = Vec::new();
    for ix in conversation.session.active_path() {
        if conversation.session.entry(ix).visibility != Visibility::Visible {
            continue;
        }
        let Body::Message(message) = conversation.body(ix) else {
            continue;
        };
        for block in &message.blocks {
            all.extend(match block {
                _ if message.role == Role::System => None,
                Block::Text(text) => Some(Said::Text(plain(&text.value))),
                Block::ToolCall(call) => Some(Said::Call(call.name.clone())),
                Block::ToolResult(result) => {
                    let texts = result.blocks.iter().filter_map(|block| match block {
                        Block::Text(text) => Some(text.value.as_str()),
                        _ => None,
                    });
                    let texts: Vec<&str> = texts.collect();
                    Some(Said::Result(result.is_error, plain(&texts.join("\n"))))
                }
                _ => None,
            });
        }
    }
    in_order(all)
}

/// What was said in turns, in the same words.
fn expected(turns: &[Turn]) -> Vec<Said> {
    let text = |text: &str| Said::Text(plain(text));
    let mut all = Vec::new();
    for turn in turns {
        all.push(text(&turn.question));
        let calls = turn.calls.iter();
        all.extend(calls.clone().map(|call| Said::Call(call.name.clone())));
        all.extend(calls.map(|call| Said::Result(call.is_error, plain(&call.output))));
        all.push(text(&turn.answer));
    }
    all
}

/// Whether all that a session was is still in it, and nothing of it was changed.
fn is_kept(slug: &str, before: &[(String, Vec<u8>)], after: &[(String, Vec<u8>)]) -> bool {
    before.iter().all(|(name, bytes)| {
        let now = after.iter().find(|(other, _)| other == name);
        let Some((_, now)) = now else { return false };
        match (slug, name.as_str()) {
            // What describes a session changes with it.
            ("atsf", "thread.json")
            | ("agentuse" | "opencode", "session.json" | "session.jsonl") => true,
            // Rows are in an order of their own.
            ("opencode", _) => {
                let lines: Vec<&[u8]> = now.split(|b| *b == b'\n').collect();
                bytes
                    .split(|b| *b == b'\n')
                    .all(|line| lines.contains(&line))
            }
            // Files in other folders have the same name.
            ("agentuse", _) => after.contains(&(name.clone(), bytes.clone())),
            _ => now.starts_with(bytes),
        }
    })
}

pub(super) fn config() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok();
    ProptestConfig {
        cases: cases.and_then(|n| n.parse().ok()).unwrap_or(24),
        failure_persistence: None,
        max_shrink_iters: 64,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn it_comes_back_with_what_was_said_on_the_way(
        from in 0..targets().count(),
        title in prop::option::of(text()),
        first in turns(3),
        hops in prop::collection::vec(hop(), 1..3),
    ) {
        let desk = Desk::new();
        let home = targets().nth(from).unwrap();
        let slug = home.slug();
        let start = beginning(&desk, home, title.as_ref(), &first);
        let before = contents(&start);
        let mut expected_now = said(&start);
        let mut at = start.clone();
        let mut has_more = false;
        for (to, meanwhile) in &hops {
            let to = targets().nth(*to).unwrap();
            if to == at.format || to.slug() == slug {
                continue;
            }
            at = desk.convert(&at, to).unwrap().1;
            // Nobody goes on with an export.
            match meanwhile {
                Meanwhile::Says(turns) if at.format.slug() != "ndjson" => {
                    say(&desk, &at, turns, false);
                    has_more = true;
                    expected_now.extend(expected(turns));
                }
                Meanwhile::Says(_) | Meanwhile::Nothing => {}
            }
        }
        prop_assume!(at != start);
        let (done, back) = desk.convert(&at, home).unwrap();
        let after = contents(&back);
        if !has_more {
            prop_assert_eq!(done.way, ConvertOutcome::Back { added: 0, changed: 0 }, "{:?}", done.notes);
            prop_assert_eq!(&after, &before);
        } else if slug != "ndjson" {
            prop_assert!(matches!(done.way, ConvertOutcome::Back { added, changed: 0 } if added > 0), "{:?} {:?}", done.way, done.notes);
            prop_assert!(is_kept(slug, &before, &after), "{:?}\n{:?}", before, after);
        }
        prop_assert_eq!(said(&back), expected_now);
        // What it came from is as it was.
        prop_assert_eq!(contents(&start), before);
    }

    #[test]
    fn a_change_on_the_way_changes_that_and_nothing_else(
        from in 0..targets().count(),
        mut first in turns(2),
        hops in prop::collection::vec(0..targets().count(), 1..3),
        place in 0..2_usize,
    ) {
        let desk = Desk::new();
        let home = targets().nth(from).unwrap();
        let mut marked = first[0].clone();
        marked.answer = MARK.to_owned();
        first.push(marked);
        let start = beginning(&desk, home, Some(&"Changes".to_owned()), &first);
        let mut at = start.clone();
        let mut is_changed = false;
        for (n, to) in hops.iter().enumerate() {
            let to = targets().nth(*to).unwrap();
            if to == at.format || to == start.format {
                continue;
            }
            let root = desk.root(to);
            at = desk.convert_to(&at, to, &root).unwrap().1;
            if !is_changed && (n >= place || n + 1 == hops.len()) {
                is_changed = change(&root, MARK);
                prop_assert!(is_changed, "{}", to.slug());
            }
        }
        prop_assume!(is_changed);
        let (done, back) = desk.convert(&at, home).unwrap();
        prop_assert_eq!(done.way, ConvertOutcome::Back { added: 0, changed: 1 }, "{:?}", done.notes);
        prop_assert_eq!(with(&back, MARK), with(&start, MARK));
        prop_assert!(said(&back).contains(&Said::Text(NEW.to_owned())));
    }
}
