//! What is said, in eight bytes each: to see later whether somebody changed it.

use rethread_json::{Tree, Value};
use rethread_model::{Blob, Block, Bodies, Media};
use sha2::{Digest, Sha256};

use super::{media, said};

/// What a block means that somebody says.
pub(super) fn said(bodies: &dyn Bodies, role: &str, one: &Block) -> u64 {
    let mark = block(bodies, one);
    words(&[role, &mark.to_string()])
}

/// What a block means. Ids are each client's own.
pub(super) fn block(bodies: &dyn Bodies, one: &Block) -> u64 {
    match one {
        Block::Text(text) => words(&["text", text.value.trim()]),
        Block::Aside { text, .. } => words(&["aside", &text.value]),
        Block::Thinking(thought) => words(&["thinking", thought.text.value.trim()]),
        Block::ToolCall(call) => {
            let input = said::input(call);
            words(&["call", &call.name, &String::from_utf8_lossy(&input)])
        }
        Block::ToolResult(result) => {
            let word = if result.is_error { "error" } else { "fine" };
            words(&["result", word, &said::output(result)])
        }
        Block::Image(media) => picture(bodies, "image", media),
        Block::File(media) => picture(bodies, "file", media),
        Block::Unknown { type_name, raw } => words(&[type_name, &raw.to_text()]),
    }
}

fn picture(bodies: &dyn Bodies, word: &str, shown: &Media) -> u64 {
    if let Some((_, data)) = media::base64(bodies, shown) {
        return words(&[word, &data]);
    }
    let name = match &shown.blob {
        Blob::Url(name) | Blob::Missing(name) => Some(name.as_str()),
        _ => shown.name.as_deref(),
    };
    words(&[word, name.unwrap_or_default()])
}

/// What a few words mean.
pub(super) fn words(words: &[&str]) -> u64 {
    let mut hash = Sha256::new();
    for word in words {
        hash.update((word.len() as u64).to_le_bytes());
        hash.update(word);
    }
    let digest = hash.finalize();
    let first = digest.first_chunk();
    first.map_or(0, |first| u64::from_be_bytes(*first))
}

/// What a block may mean, in the words that every format takes, once a format has written and read
/// it: some have no thoughts, and some cannot say that a tool failed.
pub(super) fn possible(role: &str, block: &[u8]) -> Vec<u64> {
    let Ok(tree) = Tree::parse(block) else {
        return Vec::new();
    };
    let value = tree.root(block);
    let text = |key: &str| value.get(key).and_then(Value::str).unwrap_or_default();
    let marks: Vec<u64> = match text("type").as_ref() {
        kind @ ("text" | "thinking") => [kind, "text"]
            .iter()
            .map(|kind| words(&[kind, text("text").trim()]))
            .collect(),
        "tool_use" => {
            let input = value.get("input").map(Value::raw).unwrap_or_default();
            let input = String::from_utf8_lossy(input);
            vec![words(&["call", &text("tool_name"), &input])]
        }
        "tool_result" => ["fine", "error"]
            .iter()
            .map(|word| words(&["result", word, &text("output")]))
            .collect(),
        kind @ ("image" | "file") => {
            let bytes = if value.get("data").is_some() {
                text("data")
            } else {
                text("url")
            };
            vec![words(&[kind, &bytes])]
        }
        _ => Vec::new(),
    };
    marks
        .iter()
        .map(|mark| words(&[role, &mark.to_string()]))
        .collect()
}
