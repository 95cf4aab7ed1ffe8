//! A call of a tool with its result, as one thing.

use std::borrow::Cow;

use rethread_model::{Json, ToolCall, ToolInput, ToolResult, ToolStatus};
use serde_json::Value;

use super::{CallInput, Change, FileChange, ToolOutput};
use crate::tool::{format_duration, full_name, is_failure, status_remark, status_sign};

/// Longer structured answers are not looked into for a change.
const LOOK: usize = 4 * 1024 * 1024;

/// A call of a tool with its result; one of them may be missing.
#[allow(
    clippy::struct_field_names,
    reason = "the call as its source has it, and what came of it"
)]
pub(crate) struct ToolUse {
    pub(crate) call: Option<ToolCall>,
    pub(crate) result: Option<ToolResult>,
    /// The tool's name, with the group it belongs to.
    pub(crate) name: String,
}

/// What kind of thing a call does, as far as it matters to a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallKind {
    /// It looks at something: what it found is rarely worth reading.
    Look,
    /// It changes files.
    Change,
    /// Anything else: what it printed is worth a look.
    Run,
}

/// How a call ended.
pub(crate) struct CallOutcome {
    /// `✓`, `✗`, `…`, `⊘` or `?`.
    pub(crate) sign: &'static str,
    /// Lines that came and went.
    pub(crate) counts: Option<(u64, u64)>,
    /// `exit 101`, `14 s`. Untrusted, not yet neutral.
    pub(crate) words: Vec<String>,
    /// How many lines of text came back, of a call that worked and changed nothing.
    pub(crate) lines: u64,
}

impl CallOutcome {
    /// `exit 101`, `14 s`, `212 lines`. Untrusted, not yet neutral.
    pub(crate) fn all_words(&self) -> Vec<String> {
        let lines = (self.lines > 0).then(|| self.line_count());
        self.words.iter().cloned().chain(lines).collect()
    }

    /// `212 lines`.
    pub(crate) fn line_count(&self) -> String {
        match self.lines {
            1 => "1 line".to_owned(),
            n => format!("{n} lines"),
        }
    }
}

impl ToolUse {
    pub(crate) fn new(mut call: ToolCall, result: Option<ToolResult>) -> Self {
        // As an export of it reads: what is not UTF-8 is U+FFFD before it is looked into.
        if let Some(ToolInput::Json(json)) = &mut call.input
            && std::str::from_utf8(json.bytes()).is_err()
        {
            *json = Json::from(json.to_text().into_bytes());
        }
        let name = full_name(&call);
        Self {
            name: tool_word(&name),
            call: Some(call),
            result,
        }
    }

    /// A result whose call is not there.
    pub(crate) fn result_alone(result: ToolResult, name: Option<String>) -> Self {
        let name = result.name.clone().or(name);
        let name = name.filter(|name| !name.trim().is_empty());
        Self {
            name: name.map_or_else(|| "tool".to_owned(), |name| tool_word(&name)),
            call: None,
            result: Some(result),
        }
    }

    pub(crate) fn input(&self) -> CallInput<'_> {
        self.call
            .as_ref()
            .map_or(CallInput::Nothing, CallInput::of_call)
    }

    /// What the call is about, in a few words. Untrusted, not yet neutral.
    pub(crate) fn describe_call(
        &self,
        input: &CallInput<'_>,
        workspace: Option<&str>,
    ) -> Option<String> {
        let title = self.call.as_ref().and_then(|call| {
            let title = call.title.as_deref();
            title.filter(|title| *title != call.name && !title.trim().is_empty())
        });
        input.describe_input(workspace, title)
    }

    pub(crate) fn is_failed(&self) -> bool {
        self.status_sign() == "✗"
    }

    fn status_sign(&self) -> &'static str {
        status_sign(self.status(), self.result.as_ref())
    }

    /// How far the call got. A source that keeps calls and results apart may not know that it is done.
    fn status(&self) -> &ToolStatus {
        match self.call.as_ref().map(|call| &call.status) {
            None => &ToolStatus::Completed,
            Some(ToolStatus::Pending | ToolStatus::Running) if self.result.is_some() => {
                &ToolStatus::Completed
            }
            Some(status) => status,
        }
    }

    pub(crate) fn call_kind(&self, input: &CallInput<'_>) -> CallKind {
        let kind = self.call.as_ref().and_then(|call| call.kind.as_deref());
        match kind {
            Some("read" | "search" | "fetch") => return CallKind::Look,
            Some("edit" | "delete" | "move") => return CallKind::Change,
            Some("execute") => return CallKind::Run,
            _ => {}
        }
        if input.line_counts().is_some() {
            return CallKind::Change;
        }
        if input.command().is_some() {
            return CallKind::Run;
        }
        let name = self.name.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
        if input.written_text().is_some() && has(&["write", "create"]) {
            return CallKind::Change;
        }
        let looks = [
            "read", "view", "glob", "grep", "search", "fetch", "list", "find", "get_",
        ];
        if has(&looks) || name == "ls" || name == "cat" || input.plan_progress().is_some() {
            CallKind::Look
        } else {
            CallKind::Run
        }
    }

    /// The changes of files that the call made, by file: as the client noted them, else as they were
    /// asked for.
    pub(crate) fn changes<'a>(&'a self, input: &'a CallInput<'_>) -> Vec<FileChange<'a>> {
        let name = self.name.to_lowercase();
        let edits = ["edit", "write", "patch", "replace", "update"];
        let changes = edits.iter().any(|word| name.contains(word))
            || input.line_counts().is_some()
            || input.written_text().is_some();
        if let Some(noted) = changes.then(|| self.noted_change()).flatten() {
            return vec![noted];
        }
        let asked = input.requested_changes();
        if !asked.is_empty() {
            return asked;
        }
        match input.written_text() {
            Some(text) if self.call_kind(input) == CallKind::Change => vec![FileChange {
                path: Cow::Borrowed(""),
                note: Some("written".to_owned()),
                change: Change::new_file(text),
            }],
            _ => Vec::new(),
        }
    }

    /// The change that the client noted beside the result, which knows the numbers of lines.
    fn noted_change(&self) -> Option<FileChange<'static>> {
        let json = self.result.as_ref()?.structured.as_ref()?;
        if json.bytes().len() > LOOK {
            return None;
        }
        let noted: Value = serde_json::from_slice(json.bytes()).ok()?;
        let change = if let Some(hunks) = noted.get("structuredPatch").and_then(Value::as_array) {
            Change::of_hunks(hunks)?
        } else {
            let text = noted.get("fileDiff").or_else(|| noted.get("diff"))?;
            let text = text.as_str()?;
            match FileChange::of_patch(text).into_iter().next() {
                Some(file) => into_owned_change(file.change),
                None => Change::of_numbered(text)?,
            }
        };
        Some(FileChange {
            path: Cow::Borrowed(""),
            note: None,
            change,
        })
    }

    /// How it ended. `changes` are those of the call.
    pub(crate) fn outcome(&self, changes: &[FileChange<'_>]) -> CallOutcome {
        let result = self.result.as_ref();
        let counts = changes
            .iter()
            .map(|file| file.change.line_counts())
            .reduce(|(a, b), (c, d)| (a + c, b + d));
        let (lines, noted) = result.map_or((0, None), ToolOutput::measure_result);
        let took = self
            .call
            .as_ref()
            .and_then(|call| call.duration_ms)
            .or(noted);
        let mut words = Vec::new();
        words.extend(status_remark(self.status(), result));
        words.extend(took.and_then(format_duration));
        let is_plain = changes.is_empty() && !result.is_some_and(is_failure);
        CallOutcome {
            sign: self.status_sign(),
            counts,
            words,
            lines: if is_plain { lines } else { 0 },
        }
    }
}

/// `mcp__linear__get_issue` is `linear/get_issue` to people.
fn tool_word(name: &str) -> String {
    match name.strip_prefix("mcp__") {
        Some(rest) if !rest.is_empty() => rest.replacen("__", "/", 1),
        _ => name.to_owned(),
    }
}

fn into_owned_change(change: Change<'_>) -> Change<'static> {
    let lines = change.lines.into_iter().map(super::ChangedLine::into_owned);
    Change {
        lines: lines.collect(),
    }
}
