//! Real sessions, where a folder of them is at hand: `RETHREAD_CORPUS`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rethread_formats::Treatment;
use rethread_formats::claude_code::{FORMAT, known_types, treatment};
use rethread_formats::{Conversation, OpenError, Source, Want};
use rethread_judges::corpus;
use rethread_model::{Bodies, Body, Role, Severity, State, Usage};

/// The transcripts of the corpus, and other files of lines among them.
fn files(corpus: &Path) -> Vec<PathBuf> {
    let mut folders = vec![corpus.join("claude-code")];
    for entry in std::fs::read_dir(corpus.join("recorded")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name.starts_with("claude-") {
            folders.push(path);
        }
    }
    let mut found = Vec::new();
    while let Some(at) = folders.pop() {
        for entry in std::fs::read_dir(&at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "jsonl") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn source(file: &Path) -> Source {
    Source::new(
        rethread_formats::claude_code::FORMAT,
        String::new(),
        file.to_owned(),
    )
}

fn sessions(corpus: &Path) -> Vec<(PathBuf, Conversation)> {
    let mut found = Vec::new();
    for file in files(corpus) {
        match FORMAT.reader().read(&source(&file)) {
            Ok(conversation) => found.push((file, conversation)),
            Err(OpenError::NotOurs { .. }) => {
                assert!(
                    FORMAT.store().at_path(&file).is_empty(),
                    "{}",
                    file.display()
                );
            }
            Err(e) => panic!("{}: {e}", file.display()),
        }
    }
    found
}

/// Every part is saved as it was, and every record is accounted for.
fn assert_lossless(conversation: &Conversation) {
    let mut records = Vec::new();
    for (number, part) in (0_u32..).zip(&conversation.native.parts) {
        let mut saved = Vec::new();
        conversation.native.save(number, &mut saved).unwrap();
        let original = std::fs::read(&part.path).unwrap();
        assert!(saved == original, "{}", part.path.display());
        let count = u32::try_from(part.record_count()).unwrap();
        let tiled: Vec<u8> = (0..count).flat_map(|r| part.read(r).unwrap()).collect();
        assert!(tiled == original, "records tile {}", part.path.display());
        records.push(count);
    }
    assert_eq!(conversation.session.unaccounted(&records), None);
}

#[test]
fn every_real_session_is_read_and_saved_byte_for_byte() {
    let Some(corpus) = corpus() else { return };
    let found = sessions(&corpus);
    assert!(found.len() > 80, "{}", found.len());
    for (file, conversation) in &found {
        let name = file.display();
        assert_eq!(FORMAT.store().at_path(file).len(), 1, "{name}");
        assert_lossless(conversation);
        let session = &conversation.session;
        for (ix, _) in session.indexed() {
            conversation.body(ix);
        }
        let quick = FORMAT.reader().summarize(&source(file), Want::default());
        assert_eq!(quick.state, State::Ready, "{name}");
        assert_eq!(
            quick.counts.messages,
            session.message_count() as u64,
            "{name}"
        );
        // Lists know what readers know, except for what is only in the records they pass over.
        let mut head = session.head.clone();
        head.links.clone_from(&quick.head.links);
        assert_eq!(quick.head, head, "{name}");
        let slow = FORMAT.reader().summarize(
            &source(file),
            Want {
                usage: true,
                ..Want::default()
            },
        );
        assert_eq!(slow.counts.messages, quick.counts.messages, "{name}");
        assert_eq!(slow.counts.tool_calls, quick.counts.tool_calls, "{name}");
    }
}

/// Lines that hold more than one record, or a record whose parent is nowhere; and files that were
/// made by hand to be wrong.
#[test]
fn only_real_damage_is_named() {
    let Some(corpus) = corpus() else { return };
    for (file, conversation) in sessions(&corpus) {
        let by_hand = ["edge_cases.jsonl", "small.jsonl"];
        if by_hand.iter().any(|name| file.ends_with(name)) {
            continue;
        }
        for note in conversation
            .notes
            .iter()
            .filter(|n| n.severity == Severity::Damage)
        {
            let is_real = note.message.contains("values on one line")
                || note.message.contains("its parent is missing");
            assert!(is_real, "{}: {}", file.display(), note.message);
        }
    }
}

/// A place with several children is rarely a fork: parallel calls and progress make none.
#[test]
fn forks_are_rare() {
    let Some(corpus) = corpus() else { return };
    let mut forked = Vec::new();
    for (file, conversation) in sessions(&corpus) {
        let session = &conversation.session;
        let children = session.children();
        if session.indexed().any(|(ix, _)| children.of(ix).len() > 1) {
            forked.push(file.file_name().unwrap().to_str().unwrap().to_owned());
        }
    }
    assert!(forked.len() <= 4, "{forked:?}");
    assert!(forked.iter().any(|f| f == "claude_forked_session.jsonl"));
}

/// What responses used, each counted once across all files.
fn used(conversations: &[&Conversation]) -> Usage {
    let mut responses: BTreeMap<String, Usage> = BTreeMap::new();
    for conversation in conversations {
        let session = &conversation.session;
        for (ix, _) in session.indexed() {
            let Body::Message(message) = conversation.body(ix) else {
                continue;
            };
            if let (Role::Assistant, Some(used)) = (message.role, message.usage) {
                let key = session.usage_key(ix).unwrap().to_owned();
                responses.insert(key, used);
            }
        }
    }
    let mut sum = Usage::default();
    for used in responses.values() {
        sum += used;
    }
    sum
}

#[test]
fn totals_are_those_that_the_client_recorded() {
    let Some(corpus) = corpus() else { return };
    let recorded = corpus.join("recorded");
    let found = sessions(&corpus);
    let found: Vec<_> = found
        .iter()
        .filter(|(file, _)| file.starts_with(&recorded))
        .collect();
    let with_agents: Vec<&Conversation> = found
        .iter()
        .filter(|(file, _)| file.to_str().unwrap().contains("tools-subagent"))
        .map(|(_, conversation)| conversation)
        .collect();
    assert_eq!(with_agents.len(), 2);
    let sum = used(&with_agents);
    assert_eq!((sum.input, sum.output), (33, 83), "a response counts once");
    let mut compared = 0;
    for (file, conversation) in found {
        let of_client = &conversation.session.head.recorded_usage;
        if of_client.is_empty() {
            continue;
        }
        compared += 1;
        let listed = FORMAT.reader().summarize(
            &source(file),
            Want {
                usage: true,
                ..Want::default()
            },
        );
        let listed = listed.counts.usage.unwrap();
        let state = std::fs::read_to_string(file).unwrap();
        let state = state
            .lines()
            .rfind(|l| l.contains("\"cost-state\""))
            .unwrap();
        for (key, ours) in [
            ("inputTokens", listed.input),
            ("outputTokens", listed.output),
            ("cacheReadInputTokens", listed.cache_read),
        ] {
            assert!(
                state.contains(&format!("\"{key}\":{ours},")),
                "{key}: {state}"
            );
        }
        let cost = listed.cost.unwrap().usd;
        assert!(
            state.contains(&format!("\"totalCostUSD\":{cost},")),
            "{state}"
        );
    }
    assert_eq!(compared, 2);
}

/// The types of the records of a file.
fn types_of(line: &str, found: &mut BTreeSet<String>) {
    let Ok(value) = serde_json::from_str::<serde_json::Value>(line) else {
        return;
    };
    if !value.is_object() {
        return;
    }
    let text = |v: &serde_json::Value| v.as_str().unwrap_or("untyped").to_owned();
    let type_name = text(&value["type"]);
    match type_name.as_str() {
        "system" => {
            found.insert(format!("system/{}", text(&value["subtype"])));
        }
        "attachment" => {
            found.insert(format!("attachment/{}", text(&value["attachment"]["type"])));
        }
        "progress" => {
            found.insert(format!("progress/{}", text(&value["data"]["type"])));
        }
        "user" | "assistant" => match &value["message"]["content"] {
            serde_json::Value::Array(blocks) => {
                let typed = blocks.iter().filter(|b| b["type"].is_string());
                let types = typed.map(|b| text(&b["type"]));
                found.extend(types.map(|t| format!("{type_name}/{t}")));
            }
            serde_json::Value::String(_) => {
                found.insert(format!("{type_name}/text"));
            }
            _ => {
                found.insert(format!("{type_name}/nothing"));
            }
        },
        _ => {
            found.insert(type_name);
        }
    }
}

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats/claude-code.md")
}

const BEGIN: &str = "<!-- record types: generated -->\n";
const END: &str = "<!-- end of record types -->\n";

/// The table in the page, between its marks.
fn table_in(page: &str) -> (usize, usize) {
    let begin = page.find(BEGIN).unwrap() + BEGIN.len();
    (begin, page.find(END).unwrap())
}

#[test]
fn every_type_of_record_is_handled_and_in_the_table() {
    let Some(corpus) = corpus() else { return };
    let mut found = BTreeSet::new();
    for (file, _) in sessions(&corpus) {
        let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
        text.lines().for_each(|line| types_of(line, &mut found));
    }
    let unhandled: Vec<&String> = found.iter().filter(|t| treatment(t).is_none()).collect();
    assert!(unhandled.is_empty(), "nobody knows {unhandled:?}");
    let mut table = "| record | what becomes of it |\n| --- | --- |\n".to_owned();
    for name in &found {
        let word = treatment(name).unwrap().word();
        table.push_str(&format!("| `{name}` | {word} |\n"));
    }
    let text = std::fs::read_to_string(page()).unwrap();
    let (begin, end) = table_in(&text);
    if std::env::var_os("RETHREAD_BLESS").is_some() {
        let blessed = format!("{}{table}{}", &text[..begin], &text[end..]);
        std::fs::write(page(), blessed).unwrap();
        return;
    }
    assert_eq!(&text[begin..end], table, "run again with RETHREAD_BLESS=1");
}

/// What the table says is what the reader does, also where no corpus is at hand.
#[test]
fn the_table_is_true() {
    let text = std::fs::read_to_string(page()).unwrap();
    let (begin, end) = table_in(&text);
    let rows = text[begin..end].lines().skip(2);
    let mut checked = 0;
    for row in rows {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let name = cells[1].trim_matches('`');
        assert_eq!(
            treatment(name).map(Treatment::word),
            Some(cells[2]),
            "{row}"
        );
        checked += 1;
    }
    assert!(checked > 50, "{checked}");
    let all: BTreeSet<&str> = known_types().collect();
    assert_eq!(all.len(), known_types().count(), "a type is listed twice");
}
