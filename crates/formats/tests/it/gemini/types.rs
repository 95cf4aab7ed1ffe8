//! Every type of record in the real files at hand is one that we know.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rethread_formats::gemini::{FORMAT, treatment};
use rethread_json::{Document, Value};

/// How often each type was met.
type Types = BTreeMap<String, u64>;

/// Fields that every message has.
const COMMON: [&str; 7] = [
    "id",
    "timestamp",
    "type",
    "content",
    "parts",
    "role",
    "message",
];

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(&at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The files of the corpus that are sessions of Gemini CLI.
fn corpus() -> Option<Vec<PathBuf>> {
    let corpus = rethread_judges::corpus()?;
    let mut found = files_below(&corpus.join("gemini"));
    found.extend(files_below(&corpus.join("recorded")));
    found.retain(|path| !FORMAT.store().at_path(path).is_empty());
    Some(found)
}

fn note(types: &mut Types, name: String) {
    *types.entry(name).or_default() += 1;
}

fn keys(value: Value<'_>) -> Vec<String> {
    let keys = value.members().filter_map(|(key, _)| key.str());
    keys.map(std::borrow::Cow::into_owned).collect()
}

fn part_types(types: &mut Types, group: &str, message: Value<'_>) {
    let content = message.get("content").or_else(|| message.get("parts"));
    let Some(content) = content else { return };
    let lone = (!content.is_array()).then_some(content);
    for part in lone.into_iter().chain(content.items()) {
        let is_thought = part.get("thought").and_then(Value::bool) == Some(true);
        let main = keys(part).into_iter().find(|k| k != "thoughtSignature");
        let name = match main {
            _ if is_thought => "thought".to_owned(),
            Some(key) => key,
            None => "text".to_owned(),
        };
        note(types, format!("{group}/{name}"));
    }
}

fn message_types(types: &mut Types, message: Value<'_>) {
    let word = message.get("type").and_then(Value::str);
    let group = word.map_or_else(|| "checkpoint".to_owned(), std::borrow::Cow::into_owned);
    part_types(types, &group, message);
    for key in keys(message) {
        if !COMMON.contains(&key.as_str()) {
            note(types, format!("{group}/.{key}"));
        }
    }
    for call in message.get("toolCalls").into_iter().flat_map(Value::items) {
        for key in keys(call) {
            note(types, format!("toolCalls/.{key}"));
        }
    }
}

fn record_types(types: &mut Types, value: Value<'_>) {
    if value.get("$rewindTo").is_some() {
        note(types, "$rewindTo".to_owned());
    } else if value.get("id").is_some() {
        message_types(types, value);
    } else if let Some(set) = value.get("$set") {
        for key in keys(set) {
            note(types, format!("$set/{key}"));
        }
        let inner = set.get("messages").into_iter().flat_map(Value::items);
        inner.for_each(|m| message_types(types, m));
    } else if value.is_array() {
        for item in value.items() {
            let word = item.get("type").and_then(Value::str);
            match word.filter(|_| item.get("messageId").is_some()) {
                Some(word) => note(types, format!("prompts/{word}")),
                None => message_types(types, item),
            }
        }
    } else {
        for key in keys(value) {
            note(types, format!("header/{key}"));
        }
        let lists = ["messages", "history"].into_iter();
        let inner = lists
            .filter_map(|key| value.get(key))
            .flat_map(Value::items);
        inner.for_each(|m| message_types(types, m));
    }
}

fn types_in(files: &[PathBuf]) -> Types {
    let mut types = Types::new();
    for path in files {
        let bytes = fs::read(path).unwrap();
        if path.extension().is_some_and(|e| e == "jsonl") {
            for (_, line) in rethread_json::split_lines(&bytes) {
                if let Ok(document) = Document::parse(line.to_vec()) {
                    record_types(&mut types, document.root());
                }
            }
        } else if let Ok(document) = Document::parse(bytes) {
            record_types(&mut types, document.root());
        }
    }
    types
}

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats/gemini.md")
}

const BEGIN: &str = "<!-- record types: written by the test `types`, with RETHREAD_BLESS=1 -->\n";
const END: &str = "<!-- end of record types -->";

fn table(types: &Types) -> String {
    let mut table = "| type | met | what becomes of it |\n| --- | --- | --- |\n".to_owned();
    for (name, count) in types {
        let word = treatment(name).map_or("unknown", rethread_formats::Treatment::word);
        table.extend(["| `", name, "` | ", &count.to_string(), " | ", word, " |\n"]);
    }
    table
}

#[test]
fn every_type_of_record_in_the_corpus_is_known_and_in_the_table() {
    let Some(files) = corpus() else { return };
    let types = types_in(&files);
    let unknown: Vec<&String> = types.keys().filter(|t| treatment(t).is_none()).collect();
    assert!(
        unknown.is_empty(),
        "say in types.rs what becomes of {unknown:#?}"
    );
    let text = fs::read_to_string(page()).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (old, after) = rest.split_once(END).unwrap();
    let new = table(&types);
    if std::env::var_os("RETHREAD_BLESS").is_some() {
        fs::write(page(), [before, BEGIN, &new, END, after].concat()).unwrap();
    } else {
        assert_eq!(old, new, "run this test with RETHREAD_BLESS=1");
    }
}

#[test]
fn a_type_that_nobody_knows_is_noticed() {
    let document =
        Document::parse(br#"{"id":"a","type":"gemini","content":[{"hologram":{}}]}"#.to_vec());
    let mut types = Types::new();
    record_types(&mut types, document.unwrap().root());
    assert_eq!(types.keys().collect::<Vec<_>>(), ["gemini/hologram"]);
    assert_eq!(treatment("gemini/hologram"), None);
}
