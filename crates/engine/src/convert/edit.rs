//! Changing single strings in the files of a session: all other bytes stay.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Read as _;
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

use rethread_disk::{Mode, create_with, ensure_folder, open_read};
use rethread_formats::carry::{SessionFiles, join_checked};
use rethread_formats::{Conversation, PartKind, Writing};
use rethread_json::{Patch, Tree, Value, compact, quote};
use rethread_model::RawRef;

use super::changes::{BlockEdit, OriginalEdits};
use super::original::BlockWords;
use crate::Error;

/// How deep JSON in strings of JSON is looked at.
const DEPTH: u32 = 2;

/// Copies the files of a session to another folder, with these changes. None if what is to be changed
/// is not found, or not told apart from what is not.
pub(super) fn apply_edits(
    w: &Writing<'_>,
    session: &Conversation,
    (goods, folder): (&SessionFiles, &Path),
    edits: &OriginalEdits,
) -> Result<Option<SessionFiles>, Error> {
    let mut records: BTreeMap<RawRef, ChangedRecord> = BTreeMap::new();
    for edit in &edits.list {
        if !change_records(session, edit, &mut records) {
            return Ok(None);
        }
    }
    let mut changed: BTreeMap<&str, Vec<(Range<usize>, ChangedRecord)>> = BTreeMap::new();
    for (raw, record) in records {
        let Some((name, span)) = locate_record(session, goods, (raw, &record.was))? else {
            return Ok(None);
        };
        changed.entry(name).or_default().push((span, record));
    }
    for name in &goods.names {
        let bytes = read_file(&goods.folder.join(name))?;
        let Some(bytes) = splice_records(&bytes, changed.get(name.as_str())) else {
            return Ok(None);
        };
        let path = join_checked(folder, name)?;
        if let Some(parent) = path.parent() {
            ensure_folder(parent, &Mode::Private, w.durability)?;
        }
        let _ = create_with(&path, Mode::Private, w.durability, |out| {
            out.write_all(&bytes)
        })?;
    }
    Ok(Some(SessionFiles {
        folder: folder.to_owned(),
        ..goods.clone()
    }))
}

/// A record that is changed.
struct ChangedRecord {
    was: Vec<u8>,
    now: Vec<u8>,
}

/// Changes the records of an entry.
fn change_records(
    session: &Conversation,
    edit: &BlockEdit,
    records: &mut BTreeMap<RawRef, ChangedRecord>,
) -> bool {
    let mut found = Vec::new();
    for raw in session.session.origin(edit.entry) {
        let bytes = match records.get(raw) {
            Some(record) => record.now.clone(),
            None => match session.native.read(*raw) {
                Ok(bytes) => bytes,
                Err(_) => return false,
            },
        };
        found.push((*raw, bytes));
    }
    let count_of = |which: WhichMatch<'_>| -> Vec<usize> {
        let records = found.iter();
        records
            .map(|(_, b)| replace_words(b, edit, which).1)
            .collect()
    };
    let mut which = WhichMatch::All;
    let mut counts = count_of(which);
    if edit.same > 1 {
        // Where several say the same, it must be clear which one is meant.
        let count: usize = counts.iter().sum();
        which = match &edit.call {
            Some(call) => WhichMatch::Of(call),
            None if count == edit.same => WhichMatch::Nth(edit.before),
            None => return false,
        };
        counts = match which {
            WhichMatch::Of(_) => count_of(which),
            _ => counts,
        };
    }
    if counts.iter().sum::<usize>() == 0 {
        return false;
    }
    let mut passed = 0;
    for ((raw, bytes), count) in found.into_iter().zip(counts) {
        let which = match which {
            WhichMatch::Nth(nth) => WhichMatch::Nth(nth.wrapping_sub(passed)),
            which => which,
        };
        passed += count;
        let is_here = match which {
            WhichMatch::Nth(nth) => nth < count,
            WhichMatch::All | WhichMatch::Of(_) => true,
        };
        if count > 0 && is_here {
            let now = replace_words(&bytes, edit, which).0;
            let record = records.entry(raw);
            let record = record.or_insert_with(|| ChangedRecord {
                was: bytes,
                now: Vec::new(),
            });
            record.now = now;
        }
    }
    true
}

/// Which of several equal words are changed.
#[derive(Clone, Copy)]
enum WhichMatch<'a> {
    All,
    /// The one at this place among them.
    Nth(usize),
    /// Those that stand with this call.
    Of(&'a str),
}

/// What formats call the id of a call, where its result stands or beside that; the most telling first.
const CALLS: [&str; 7] = [
    "tool_use_id",
    "toolCallId",
    "tool_id",
    "call_id",
    "callId",
    "callID",
    "id",
];

/// The call that an object is about.
fn call_of(value: Value<'_>) -> Option<String> {
    let id = CALLS.iter().find_map(|key| value.get(key)?.str());
    id.map(Cow::into_owned)
}

/// A record with other words, and how often those that are meant are in it. What stands around its
/// value, such as the comma before an item, stays.
fn replace_words(record: &[u8], edit: &BlockEdit, which: WhichMatch<'_>) -> (Vec<u8>, usize) {
    let mut found = 0;
    let start = record.iter().position(|b| *b == b'{').unwrap_or(0);
    let end = Tree::default().parse_prefix(record, start);
    let end = end.unwrap_or(record.len());
    let value = record.get(start..end).unwrap_or_default();
    let value = replaced_in(("", None), value, edit, which, (&mut found, DEPTH));
    match (value, record.get(..start), record.get(end..)) {
        (Some(value), Some(before), Some(behind)) => ([before, &value, behind].concat(), found),
        _ => (record.to_vec(), 0),
    }
}

fn replaced_in(
    (key, call): (&str, Option<Rc<str>>),
    json: &[u8],
    edit: &BlockEdit,
    which: WhichMatch<'_>,
    (found, depth): (&mut usize, u32),
) -> Option<Vec<u8>> {
    let tree = Tree::parse(json).ok()?;
    let root = tree.root(json);
    let mut patch = Patch::new(root);
    // Each value with its key, and the call that it is about; the key of an item is that of the list.
    let mut values = vec![(Cow::Borrowed(key), root, call)];
    while let Some((key, value, call)) = values.pop() {
        if value_says(&key, value, &edit.was) {
            let (counts, is_meant) = match which {
                WhichMatch::All => (true, true),
                WhichMatch::Nth(nth) => (true, nth == *found),
                WhichMatch::Of(id) => (call.as_deref() == Some(id), call.as_deref() == Some(id)),
            };
            if is_meant {
                patch.replace(value, &json_of(&edit.now));
            }
            *found += usize::from(counts);
            continue;
        }
        let call = match which {
            WhichMatch::Of(_) => call_of(value).map(Rc::from).or(call),
            WhichMatch::All | WhichMatch::Nth(_) => None,
        };
        let start = values.len();
        let members = value.members();
        values.extend(members.map(|(key, value)| {
            let key = key.str().unwrap_or_default();
            (key, value, call.clone())
        }));
        values.extend(value.items().map(|item| (key.clone(), item, call.clone())));
        values[start..].reverse();
        // Some clients keep JSON in strings.
        if depth > 0
            && let Some(text) = value.str().filter(|t| t.starts_with(['{', '[']))
        {
            let was = *found;
            let around = (key.as_ref(), call.clone());
            let inside = replaced_in(around, text.as_bytes(), edit, which, (found, depth - 1));
            if let Some(inside) = inside.filter(|_| *found > was) {
                patch.replace(value, &quote(&String::from_utf8_lossy(&inside)));
            }
        }
    }
    Some(patch.finish())
}

/// What formats call words that somebody says or a tool gives. Names of branches, roles and models
/// may be spelled like such words, and are none.
const WORDS: [&str; 18] = [
    "content",
    "delta",
    "error",
    "llmContent",
    "message",
    "output",
    "prompt",
    "reasoning",
    "response",
    "result",
    "resultDisplay",
    "stdout",
    "summary",
    "task",
    "text",
    "thinking",
    "thought",
    "user",
];

/// What formats call that which a tool is given.
const INPUTS: [&str; 5] = ["args", "arguments", "input", "parameters", "rawInput"];

fn value_says(key: &str, value: Value<'_>, words: &BlockWords) -> bool {
    match words {
        BlockWords::Text(text) | BlockWords::Output(text, _) => {
            WORDS.contains(&key) && value.is_str(text)
        }
        BlockWords::Input(_) if !INPUTS.contains(&key) => false,
        BlockWords::Input(json) if value.is_object() || value.is_array() => {
            compact(value.raw()).is_ok_and(|compact| compact == *json)
        }
        BlockWords::Input(json) => value.raw() == json.as_slice(),
    }
}

fn json_of(words: &BlockWords) -> Vec<u8> {
    match words {
        BlockWords::Text(text) | BlockWords::Output(text, _) => quote(text),
        BlockWords::Input(json) => json.clone(),
    }
}

/// The file that a record is in, and where. Rows of a database are lines of a file for each table, and
/// those of sub-agents have files of their own.
fn locate_record<'a>(
    session: &Conversation,
    goods: &'a SessionFiles,
    (raw, was): (RawRef, &[u8]),
) -> Result<Option<(&'a str, Range<usize>)>, Error> {
    let Some(part) = session.native.parts.get(raw.part as usize) else {
        return Ok(None);
    };
    let Some(span) = part.span(raw.record) else {
        return Ok(None);
    };
    let (Ok(start), Ok(end)) = (usize::try_from(span.start), usize::try_from(span.end)) else {
        return Ok(None);
    };
    for name in &goods.names {
        let is_it = match part.kind {
            PartKind::Rows { table } => {
                let is_table = name.rsplit('/').next() == Some(&format!("{table}.jsonl"));
                is_table && read_file(&goods.folder.join(name))?.get(start..end) == Some(was)
            }
            PartKind::Lines | PartKind::Document => goods.folder.join(name) == part.path,
            PartKind::Opaque => false,
        };
        if is_it {
            return Ok(Some((name, start..end)));
        }
    }
    Ok(None)
}

/// Bytes with some records in them replaced; none if those are not there: the file may be compressed.
fn splice_records(
    bytes: &[u8],
    changes: Option<&Vec<(Range<usize>, ChangedRecord)>>,
) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    let mut changes: Vec<&(Range<usize>, ChangedRecord)> = changes.into_iter().flatten().collect();
    changes.sort_by_key(|(range, _)| range.start);
    for (range, record) in changes {
        if bytes.get(range.clone())? != record.was {
            return None;
        }
        out.extend(bytes.get(at..range.start)?);
        out.extend(&record.now);
        at = range.end;
    }
    out.extend(bytes.get(at..)?);
    Some(out)
}

fn read_file(path: &Path) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    open_read(path)?
        .read_to_end(&mut bytes)
        .map_err(|cause| rethread_disk::DiskError::Read {
            path: path.to_owned(),
            cause,
        })?;
    Ok(bytes)
}
