//! What a file is, from its beginning.

use std::io::Read;
use std::path::Path;

use rethread_disk::open_read;
use rethread_json::{Tree, Value, split_lines};

use super::document::LISTS;
use super::meta::{LogMeta, is_meta};
use crate::outline::{Outline, gap_before, read_outline};

/// How much of a file is looked at to find out what it is.
const LOOK: u64 = 1024 * 1024;

/// What a file of the client is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClientFile {
    /// A chat, as a log of lines.
    Log,
    /// A chat, as one document.
    Document,
    /// A conversation that the person saved under a name.
    Checkpoint,
    /// The prompts of all sessions of a project.
    Prompts,
}

/// Whether a file is one of lines, by its name.
pub(super) fn has_lines(path: &Path) -> bool {
    name(path).contains(".jsonl")
}

fn name(path: &Path) -> std::borrow::Cow<'_, str> {
    path.file_name().unwrap_or_default().to_string_lossy()
}

/// What a file is, and the id of the session in it; none if it is not the client's.
pub(super) fn file_kind(path: &Path) -> Option<(ClientFile, Option<String>)> {
    let mut start = Vec::new();
    let file = open_read(path).ok()?;
    file.take(LOOK).read_to_end(&mut start).ok()?;
    if has_lines(path) {
        let is_named = name(path).starts_with("session-");
        log(&start, is_named).map(|meta| (ClientFile::Log, meta.id))
    } else {
        let outline = read_outline(start.as_slice(), &LISTS).ok()?;
        let meta = outline_meta(&outline, &start);
        document(&outline, &start, &meta).map(|what| (what, meta.id))
    }
}

/// The first line that is whole decides: it says what the session is, or changes that. In a file
/// that is named like a session, it may also be a message.
fn log(start: &[u8], is_named: bool) -> Option<LogMeta> {
    let mut tree = Tree::default();
    let whole = |line: &[u8], tree: &mut Tree| tree.parse_into(line).is_ok();
    let (_, line) = split_lines(start).find(|(_, line)| whole(line, &mut tree))?;
    let first = tree.root(line);
    let is_header = is_meta(first) && ["uuid", "type"].iter().all(|key| first.get(key).is_none());
    let is_change = first.get("$set").is_some_and(Value::is_object);
    let is_ours = is_header || is_change || is_named && is_message(first);
    let mut meta = LogMeta::default();
    if is_header {
        meta.merge(first);
    }
    is_ours.then_some(meta)
}

/// Whether an object is a message of a chat.
fn is_message(value: Value<'_>) -> bool {
    const TYPES: [&str; 5] = ["user", "gemini", "info", "warning", "error"];
    let word = value.get("type").and_then(Value::str);
    let has_id = value.get("id").is_some_and(|id| id.str().is_some());
    has_id && word.is_some_and(|w| TYPES.contains(&w.as_ref()))
}

/// What the members of a document say of the whole.
pub(super) fn outline_meta(outline: &Outline, bytes: &[u8]) -> LogMeta {
    let mut meta = LogMeta::default();
    for (key, range) in &outline.members {
        let range = usize::try_from(range.start)
            .ok()
            .zip(usize::try_from(range.end).ok());
        let value = range.and_then(|(start, end)| bytes.get(start..end));
        set_meta(&mut meta, key, value.unwrap_or_default());
    }
    meta
}

/// Takes one member into account: its bytes from behind the key on.
pub(super) fn set_meta(meta: &mut LogMeta, key: &str, bytes: &[u8]) {
    let bytes = bytes.get(gap_before(bytes)..).unwrap_or_default();
    let mut tree = Tree::default();
    if tree.parse_into(bytes).is_ok() {
        meta.set(key, tree.root(bytes));
    }
}

/// What a document is, by the first item of its list.
fn document(outline: &Outline, bytes: &[u8], meta: &LogMeta) -> Option<ClientFile> {
    let (key, items) = outline.list.as_ref()?;
    let mut tree = Tree::default();
    let first = items.first().and_then(|item| {
        let start = usize::try_from(item.start).ok()?;
        tree.parse_prefix(bytes, start).ok()?;
        Some(tree.root(bytes))
    });
    kind_of_list(key, first, meta)
}

/// What a list of messages under this key is.
pub(super) fn kind_of_list(
    key: &str,
    first: Option<Value<'_>>,
    meta: &LogMeta,
) -> Option<ClientFile> {
    let has = |key: &str| first.is_some_and(|f| f.get(key).is_some());
    let is_content = has("role") && has("parts");
    match key {
        "messages" => {
            let is_message = first.is_some_and(is_message);
            let is_chat = meta.id.is_some() && (meta.project_hash.is_some() || is_message);
            (is_chat || is_message && has("timestamp")).then_some(ClientFile::Document)
        }
        "history" => is_content.then_some(ClientFile::Checkpoint),
        _ if has("messageId") && has("sessionId") => Some(ClientFile::Prompts),
        _ => is_content.then_some(ClientFile::Checkpoint),
    }
}
