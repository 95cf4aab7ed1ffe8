//! What a tool was given, so that people see what it was about.

use std::borrow::Cow;

use rethread_model::{Diff, Text, ToolCall, ToolInput};
use serde_json::value::RawValue;

use super::change::{is_patch, patch_counts};
use super::{Change, FileChange, relative_path};
use crate::json::{pretty_value, raw_members, string_value};

/// What agents call the text before a change, and the text after it.
const CHANGES: [(&str, &str); 5] = [
    ("old_string", "new_string"),
    ("oldText", "newText"),
    ("oldString", "newString"),
    ("old_str", "new_str"),
    ("old_text", "new_text"),
];

/// What agents call the file that a call is about.
const PATHS: [&str; 8] = [
    "file_path",
    "filePath",
    "path",
    "absolute_path",
    "notebook_path",
    "filename",
    "file",
    "dir_path",
];

/// What agents call a command.
pub(crate) const COMMANDS: [&str; 4] = ["command", "cmd", "script", "bash_command"];

/// What says in a few words what is looked for.
const SEARCHES: [&str; 3] = ["pattern", "query", "url"];

/// What else says in a few words what a call is about, the best first.
const HINTS: [&str; 6] = ["description", "prompt", "skill", "name", "id", "text"];

/// What agents call a patch.
const PATCHES: [&str; 4] = ["patch", "input", "patchText", "diff"];

/// What agents call the whole text of a file.
pub(crate) const CONTENTS: [&str; 3] = ["content", "contents", "file_text"];

/// What agents call a list of things to do.
const PLANS: [&str; 2] = ["todos", "plan"];

/// Longer plans are not looked into.
const LOOK: usize = 64 * 1024;

/// What a tool was given.
pub(crate) enum CallInput<'a> {
    Nothing,
    /// Text that is no JSON.
    Text(Cow<'a, str>),
    /// JSON that is no object.
    Json(String),
    Members(Vec<InputMember<'a>>, Vec<TextEdit>),
}

/// A change of a text; the path is empty where it is that of the call.
pub(crate) struct TextEdit {
    pub(crate) path: String,
    pub(crate) old: String,
    pub(crate) new: String,
    /// Whether the texts are whole files.
    pub(crate) whole: bool,
}

/// One member of an object.
pub(crate) struct InputMember<'a> {
    pub(crate) name: String,
    pub(crate) value: InputValue<'a>,
}

/// The value of a member.
pub(crate) enum InputValue<'a> {
    Text(String),
    Json(&'a RawValue),
}

impl<'a> CallInput<'a> {
    pub(crate) fn of_call(call: &'a ToolCall) -> Self {
        let text = |t: &Option<Text>| t.as_ref().map_or(String::new(), |t| t.value.clone());
        let edit = |diff: &Diff| TextEdit {
            path: diff.path.clone(),
            old: text(&diff.old),
            new: text(&diff.new),
            whole: true,
        };
        let changes: Vec<TextEdit> = call.diffs.iter().map(edit).collect();
        match &call.input {
            None if changes.is_empty() => Self::Nothing,
            None => Self::Members(Vec::new(), changes),
            Some(ToolInput::Text(text)) if changes.is_empty() => Self::Text((&text.value).into()),
            Some(ToolInput::Text(text)) => {
                let value = InputValue::Text(text.value.clone());
                let name = "input".to_owned();
                Self::Members(vec![InputMember { name, value }], changes)
            }
            Some(ToolInput::Json(json)) => {
                if let Some(all) = raw_members(json.bytes()) {
                    return Self::of_members(all, changes);
                }
                match pretty_value(json.bytes()) {
                    Some(pretty) => Self::Json(pretty),
                    None => Self::Text(json.to_text().into()),
                }
            }
        }
    }

    /// Takes the changes out of the members of an object, unless they are known better.
    fn of_members(mut all: Vec<(String, &'a RawValue)>, known: Vec<TextEdit>) -> Self {
        let mut found = Vec::new();
        let mut gone: Vec<&str> = Vec::new();
        if let Some(edit) = parse_edit(&all) {
            gone.extend(old_and_new(&all));
            found.push(edit);
        }
        let edits = all.iter().find(|(name, _)| name == "edits");
        if let Some(edits) = edits.and_then(|(_, value)| edits_of(value)) {
            gone.push("edits");
            found.extend(edits);
        }
        all.retain(|(name, _)| !gone.contains(&name.as_str()));
        let members = all.into_iter().map(InputMember::new).collect();
        Self::Members(members, if known.is_empty() { found } else { known })
    }

    fn text_member(&self, name: &str) -> Option<&str> {
        let Self::Members(members, _) = self else {
            return None;
        };
        members.iter().find_map(|m| match &m.value {
            InputValue::Text(text) if m.name == name && !text.trim().is_empty() => {
                Some(text.as_str())
            }
            _ => None,
        })
    }

    fn first_text_member(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.text_member(name))
    }

    /// The file that the call is about.
    pub(crate) fn file_path(&self) -> Option<&str> {
        self.first_text_member(&PATHS)
    }

    /// The command that is run.
    pub(crate) fn command(&self) -> Option<Cow<'_, str>> {
        if let Some(command) = self.first_text_member(&COMMANDS) {
            return Some(command.into());
        }
        let Self::Members(members, _) = self else {
            return None;
        };
        let is_command = |m: &&InputMember<'_>| COMMANDS.contains(&m.name.as_str());
        let value = members.iter().find(is_command).map(|m| &m.value);
        let Some(InputValue::Json(words)) = value else {
            return None;
        };
        let words: Vec<String> = serde_json::from_str(words.get()).ok()?;
        match words.as_slice() {
            [] => None,
            [_, flag, script] if ["-c", "-lc"].contains(&flag.as_str()) => {
                Some(script.clone().into())
            }
            words => Some(words.join(" ").into()),
        }
    }

    /// What is looked for.
    pub(crate) fn search_term(&self) -> Option<&str> {
        self.first_text_member(&SEARCHES)
    }

    /// What the call is about, in a few words. Paths are seen from the workspace; `title` is what the
    /// agent calls it.
    pub(crate) fn describe_input(
        &self,
        workspace: Option<&str>,
        title: Option<&str>,
    ) -> Option<String> {
        if let Some(command) = self.command() {
            return Some(without_folder(command.trim(), workspace).to_owned());
        }
        if let Some(search) = self.search_term() {
            let path = self.file_path().map(|path| relative_path(path, workspace));
            return Some(match path.filter(|path| *path != ".") {
                Some(path) => format!("{search} in {path}"),
                None => search.to_owned(),
            });
        }
        if let Some(path) = self.file_path() {
            return Some(relative_path(path, workspace).to_owned());
        }
        let patched = self.patched_files(workspace);
        let own = title.map(|t| relative_path(t, workspace).to_owned());
        own.or(patched)
            .or_else(|| self.plan_progress())
            .or_else(|| self.first_text_member(&HINTS).map(str::to_owned))
            .or_else(|| self.first_short())
    }

    /// The files of a patch.
    fn patched_files(&self, workspace: Option<&str>) -> Option<String> {
        let paths: Vec<String> = match self {
            Self::Members(_, edits) if !edits.is_empty() => {
                edits.iter().map(|e| e.path.clone()).collect()
            }
            _ => {
                let files = FileChange::of_patch(self.patch_text()?);
                files.iter().map(|f| f.path.to_string()).collect()
            }
        };
        let (first, others) = paths.split_first()?;
        let first = relative_path(first, workspace);
        Some(match others.len() {
            _ if first.is_empty() => return None,
            0 => first.to_owned(),
            n => format!("{first} and {n} more"),
        })
    }

    /// The text that is a patch.
    pub(crate) fn patch_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text.as_ref()),
            _ => self.first_text_member(&PATCHES),
        }
        .filter(|text| is_patch(text))
    }

    /// How far a plan is: `2 of 5 done`.
    pub(crate) fn plan_progress(&self) -> Option<String> {
        let Self::Members(members, _) = self else {
            return None;
        };
        let is_plan = |m: &&InputMember<'_>| PLANS.contains(&m.name.as_str());
        let InputValue::Json(raw) = &members.iter().find(is_plan)?.value else {
            return None;
        };
        if raw.get().len() > LOOK {
            return None;
        }
        let steps: Vec<serde_json::Value> = serde_json::from_str(raw.get()).ok()?;
        let is_done = |step: &&serde_json::Value| {
            step.get("status").and_then(serde_json::Value::as_str) == Some("completed")
        };
        let done = steps.iter().filter(is_done).count();
        Some(format!("{done} of {} done", steps.len()))
    }

    /// The first thing that is short.
    fn first_short(&self) -> Option<String> {
        match self {
            Self::Nothing => None,
            Self::Json(json) => Some(json.clone()),
            Self::Text(text) => text.trim().lines().next().map(str::to_owned),
            Self::Members(members, _) => {
                let first = members.iter().find_map(|m| match &m.value {
                    InputValue::Text(text) if text.trim().is_empty() => None,
                    InputValue::Text(text) => Some(format!("{}: {}", m.name, text.trim())),
                    InputValue::Json(raw) => Some(format!("{}: {}", m.name, raw.get())),
                });
                first.filter(|first| !first.is_empty())
            }
        }
    }

    /// The changes that the call asks for, by file.
    pub(crate) fn requested_changes(&self) -> Vec<FileChange<'_>> {
        match self {
            Self::Members(_, edits) if !edits.is_empty() => edits
                .iter()
                .map(|edit| FileChange {
                    path: edit.path.as_str().into(),
                    note: None,
                    change: Change::between_texts(&edit.old, &edit.new, edit.whole),
                })
                .collect(),
            _ => self
                .patch_text()
                .map(FileChange::of_patch)
                .unwrap_or_default(),
        }
    }

    /// The text of a file that the call writes whole.
    pub(crate) fn written_text(&self) -> Option<&str> {
        self.file_path()
            .and_then(|_| self.first_text_member(&CONTENTS))
    }

    /// How many lines came and went, of a call that changes something.
    pub(crate) fn line_counts(&self) -> Option<(u64, u64)> {
        match self {
            Self::Members(_, changes) if !changes.is_empty() => {
                let counts = changes
                    .iter()
                    .map(|e| Change::between_texts(&e.old, &e.new, false).line_counts());
                Some(counts.fold((0, 0), |(a, b), (c, d)| (a + c, b + d)))
            }
            _ => self.patch_text().map(patch_counts),
        }
    }
}

impl<'a> InputMember<'a> {
    fn new((name, value): (String, &'a RawValue)) -> Self {
        let value = match string_value(value) {
            Some(text) => InputValue::Text(text),
            None => InputValue::Json(value),
        };
        Self { name, value }
    }
}

/// A command without the step into the workspace before it.
fn without_folder<'a>(command: &'a str, workspace: Option<&str>) -> &'a str {
    let inside = workspace.and_then(|folder| {
        let rest = command.strip_prefix("cd ")?.strip_prefix(folder)?;
        rest.trim_start_matches('/').strip_prefix(" && ")
    });
    inside.unwrap_or(command)
}

/// The names of the text before a change and of the one after it, if an object has both.
fn old_and_new(members: &[(String, &RawValue)]) -> Vec<&'static str> {
    let has = |name: &str| members.iter().any(|(n, _)| n == name);
    let found = CHANGES.iter().find(|(old, new)| has(old) && has(new));
    found.map_or(Vec::new(), |(old, new)| vec![old, new])
}

/// The change that an object describes.
fn parse_edit(members: &[(String, &RawValue)]) -> Option<TextEdit> {
    let names = old_and_new(members);
    let text = |name: &&str| {
        let member = members.iter().find(|(n, _)| n == name)?;
        string_value(member.1)
    };
    let [old, new] = names.as_slice() else {
        return None;
    };
    Some(TextEdit {
        path: String::new(),
        old: text(old)?,
        new: text(new)?,
        whole: false,
    })
}

/// The changes in a list, if all that is in it are some.
fn edits_of(list: &RawValue) -> Option<Vec<TextEdit>> {
    let list: Vec<&RawValue> = serde_json::from_str(list.get()).ok()?;
    let each = list
        .into_iter()
        .map(|edit| parse_edit(&raw_members(edit.get().as_bytes())?));
    let all: Option<Vec<_>> = each.collect();
    all.filter(|all| !all.is_empty())
}

#[cfg(test)]
mod tests {
    use rethread_model::Json;

    use super::*;

    #[test]
    fn calls_say_what_they_are_about() {
        for (input, title, about) in [
            (r#"{"file_path":"/w/src/a.rs"}"#, None, "src/a.rs"),
            (
                r#"{"command":"cd /w && cargo test","description":"Test"}"#,
                None,
                "cargo test",
            ),
            (r#"{"command":["bash","-lc","ls -l"]}"#, None, "ls -l"),
            (r#"{"command":["git","status"]}"#, None, "git status"),
            (r#"{"pattern":"fn a","path":"/w/src"}"#, None, "fn a in src"),
            (
                r#"{"description":"Look around","prompt":"…"}"#,
                None,
                "Look around",
            ),
            (
                r#"{"todos":[{"status":"completed"},{"status":"pending"}]}"#,
                None,
                "1 of 2 done",
            ),
            (r#"{"session_id":7,"chars":""}"#, None, "session_id: 7"),
            (r#"{"x":1}"#, Some("A title"), "A title"),
            (
                r#"{"input":"*** Begin Patch\n*** Update File: /w/a\n+x\n*** Add File: b\n+y"}"#,
                None,
                "a and 1 more",
            ),
            ("[1]", None, "[\n  1\n]"),
        ] {
            let mut call = ToolCall::new("1", "tool");
            call.input = Some(ToolInput::Json(Json::new(input.as_bytes())));
            let said = CallInput::of_call(&call).describe_input(Some("/w"), title);
            assert_eq!(said.as_deref(), Some(about), "{input}");
        }
        assert_eq!(
            CallInput::of_call(&ToolCall::new("1", "x")).describe_input(None, None),
            None
        );
    }
}
