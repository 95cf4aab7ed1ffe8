//! Whether a transcript is one that the client resumes whole.

use std::collections::BTreeMap;
use std::path::Path;

use rethread_json::{Tree, Value};
use rethread_model::{Block, Bodies, Body, Note, Severity};

use super::record::TranscriptRecord;
use super::store::TranscriptName;
use super::{ClaudeCode, FORMAT};
use crate::{Conversation, OpenError, RecordKind, Rules, Source, Store, Violation, Weight};

/// Where `docs/formats/claude-code.md` says what a reader does about it.
const DAMAGE: &str = "Damage";
/// Where it says what is written.
const WRITTEN: &str = "What is written";
/// Where it says how files are called.
const PLACES: &str = "Where it lives";

impl Rules for ClaudeCode {
    /// Checks what is at a path, and gives how many files were looked at; none if it is not ours.
    fn check(&self, path: &Path, out: &mut dyn FnMut(Violation)) -> Result<Option<u64>, OpenError> {
        let sources = self.at_path(path);
        if sources.is_empty() {
            return Ok(None);
        }
        let mut files = 0;
        for source in &sources {
            let conversation = FORMAT.reader().read(source)?;
            files += conversation.native.parts.len() as u64;
            let mut found = Vec::new();
            name(source, &mut found);
            found.extend(conversation.notes.iter().map(|n| noted(source, n)));
            records(&conversation, &mut found);
            calls(&conversation, &mut found);
            found.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
            found.into_iter().for_each(&mut *out);
        }
        Ok(Some(files))
    }
}

fn violation(source: &Source, rule: &'static str, message: String) -> Violation {
    Violation {
        weight: Weight::Warning,
        path: source.path.clone(),
        line: None,
        rule,
        section: WRITTEN,
        message,
    }
}

/// Files of another name are not listed by the client.
fn name(source: &Source, out: &mut Vec<Violation>) {
    if TranscriptName::of(&source.path) == Some(TranscriptName::Unsure) {
        let message = "not named by a UUID; the client lists no such sessions".to_owned();
        out.push(Violation {
            section: PLACES,
            ..violation(source, "file-name", message)
        });
    }
}

/// What reading stumbled over. What was damaged, the client loses.
fn noted(source: &Source, note: &Note) -> Violation {
    let rule = match note.message.as_str() {
        m if m.contains("its parent is missing") => "missing-parent",
        m if m.contains("form a circle") => "circle",
        m if m.contains("its id was there before") => "duplicate-id",
        _ => "damaged-line",
    };
    let weight = match note.severity {
        Severity::Damage => Weight::Error,
        Severity::Remark | Severity::Quiet | Severity::Detail => Weight::Warning,
    };
    Violation {
        weight,
        path: note.path.clone().unwrap_or_else(|| source.path.clone()),
        line: note.line,
        section: DAMAGE,
        ..violation(source, rule, note.message.clone())
    }
}

/// What the client cannot do without: a record lacks it.
fn records(conversation: &Conversation, out: &mut Vec<Violation>) {
    let Some(part) = conversation.native.parts.first() else {
        return;
    };
    let source = &conversation.source;
    let mut line = 1;
    let mut tree = Tree::default();
    for number in 0..u32::try_from(part.record_count()).unwrap_or(u32::MAX) {
        let kind = part.record_kind(number);
        if kind == Some(RecordKind::Giant) {
            line += 1;
            continue;
        }
        let Ok(bytes) = part.read(number) else { break };
        if kind == Some(RecordKind::Value) && tree.parse_into(&bytes).is_ok() {
            let record = TranscriptRecord::of(tree.root(&bytes));
            for (weight, field, why) in lacking(&record) {
                let message = format!("`{field}` is missing: {why}");
                out.push(Violation {
                    weight,
                    line: Some(line),
                    ..violation(source, "required-field", message)
                });
            }
        }
        line += memchr::memchr_iter(b'\n', &bytes).count() as u64;
    }
}

fn lacking(record: &TranscriptRecord<'_>) -> Vec<(Weight, &'static str, &'static str)> {
    let type_name = record.type_name().unwrap_or_default();
    if !matches!(type_name.as_ref(), "user" | "assistant") {
        return Vec::new();
    }
    let mut lacks = Vec::new();
    let is_text = |v: Option<Value<'_>>| v.is_some_and(|v| v.content().is_some());
    if !is_text(record.uuid) {
        lacks.push((
            Weight::Error,
            "uuid",
            "the client resumes only the last turn",
        ));
    }
    if record.parent.is_none() {
        let why = "the client resumes only the last turn";
        lacks.push((Weight::Error, "parentUuid", why));
    }
    if !is_text(record.time) {
        let why = "the client does not find the session";
        lacks.push((Weight::Error, "timestamp", why));
    }
    if type_name == "assistant" {
        let of_message = |key| record.message.and_then(|m| m.get(key));
        if !is_text(of_message("id")) {
            let why = "some versions of the client mix up the order";
            lacks.push((Weight::Warning, "message.id", why));
        }
        if !is_text(of_message("model")) {
            let why = "some versions of the client hang";
            lacks.push((Weight::Warning, "message.model", why));
        }
    }
    lacks
}

/// Calls without results and results without calls on the active path: the vendor's API refuses
/// both, so the client makes up the ones and drops the others.
fn calls(conversation: &Conversation, out: &mut Vec<Violation>) {
    let mut open: BTreeMap<String, String> = BTreeMap::new();
    let mut orphans = Vec::new();
    for ix in conversation.session.active_path() {
        let Body::Message(message) = conversation.body(ix) else {
            continue;
        };
        for block in message.blocks {
            match block {
                Block::ToolCall(call) => {
                    open.insert(call.id, call.name);
                }
                Block::ToolResult(result) if open.remove(&result.call_id).is_none() => {
                    orphans.push(result.call_id);
                }
                _ => {}
            }
        }
    }
    let source = &conversation.source;
    for (id, name) in open {
        let message = format!("the call `{id}` of `{name}` has no result");
        out.push(violation(source, "call-without-result", message));
    }
    for id in orphans {
        let message = format!("a result for `{id}`, which nobody called");
        out.push(violation(source, "result-without-call", message));
    }
}
