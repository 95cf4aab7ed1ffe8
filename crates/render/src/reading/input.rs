//! What a tool was given, so that people see what it was about.

use std::borrow::Cow;

use rethread_model::{Diff, Text, ToolCall, ToolInput};
use serde_json::value::RawValue;

use super::change::{is_patch, patch_counts};
use super::{Change, FileChange, relative};
use crate::json::{members, pretty, string};

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
pub(crate) enum Input<'a> {
    Nothing,
    /// Text that is no JSON.
    Text(Cow<'a, str>),
    /// JSON that is no object.
    Json(String),
    Members(Vec<Member<'a>>, Vec<Edit>),
}

/// A change of a text; the path is empty where it is that of the call.
pub(crate) struct Edit {
    pub(crate) path: String,
    pub(crate) old: String,
    pub(crate) new: String,
    /// Whether the texts are whole files.
    pub(crate) whole: bool,
}

/// One member of an object.
pub(crate) struct Member<'a> {
    pub(crate) name: String,
    pub(crate) value: Value<'a>,
}

/// The value of a member.
pub(crate) enum Value<'a> {
    Text(String),
    Json(&'a RawValue),
}

impl<'a> Input<'a> {
    pub(crate) fn of(call: &'a ToolCall) -> Self {
        let text = |t: &Option<Text>| t.as_ref().map_or(String::new(), |t| t.value.clone());
        let edit = |diff: &Diff| Edit {
            path: diff.path.clone(),
            old: text(&diff.old),
            new: text(&diff.new),
            whole: true,
        };
        let changes: Vec<Edit> = call.diffs.iter().map(edit).collect();
        match &call.input {
            None if changes.is_empty() => Self::Nothing,
            None => Self::Members(Vec::new(), changes),
            Some(ToolInput::Text(text)) if changes.is_empty() => Self::Text((&text.value).into()),
            Some(ToolInput::Text(text)) => {
                let value = Value::Text(text.value.clone());
                let name = "input".to_owned();
                Self::Members(vec![Member { name, value }], changes)
            }
            Some(ToolInput::Json(json)) => {
                if let Some(all) = members(json.bytes()) {
                    return Self::of_members(all, changes);
                }
                match pretty(json.bytes()) {
                    Some(pretty) => Self::Json(pretty),
                    None => Self::Text(json.to_text().into()),
                }
            }
        }
    }

    /// Takes the changes out of the members of an object, unless they are known better.
    fn of_members(mut all: Vec<(String, &'a RawValue)>, known: Vec<Edit>) -> Self {
        let mut found = Vec::new();
        let mut gone: Vec<&str> = Vec::new();
        if let Some(edit) = change(&all) {
            gone.extend(old_and_new(&all));
            found.push(edit);
        }
        let edits = all.iter().find(|(name, _)| name == "edits");
        if let Some(edits) = edits.and_then(|(_, value)| edits_of(value)) {
            gone.push("edits");
            found.extend(edits);
        }
        all.retain(|(name, _)| !gone.contains(&name.as_str()));
        let members = all.into_iter().map(Member::new).collect();
        Self::Members(members, if known.is_empty() { found } else { known })
    }

    fn text(&self, name: &str) -> Option<&str> {
        let Self::Members(members, _) = self else {
            return None;
        };
        members.iter().find_map(|m| match &m.value {
            Value::Text(text) if m.name == name && !text.trim().is_empty() => Some(text.as_str()),
            _ => None,
        })
    }

    fn named(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.text(name))
    }

    /// The file that the call is about.
    pub(crate) fn path(&self) -> Option<&str> {
        self.named(&PATHS)
    }

    /// The command that is run.
    pub(crate) fn command(&self) -> Option<Cow<'_, str>> {
        if let Some(command) = self.named(&COMMANDS) {
            return Some(command.into());
        }
        let Self::Members(members, _) = self else {
            return None;
        };
        let is_command = |m: &&Member<'_>| COMMANDS.contains(&m.name.as_str());
        let value = members.iter().find(is_command).map(|m| &m.value);
        let Some(Value::Json(words)) = value else {
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
    pub(crate) fn search(&self) -> Option<&str> {
        self.named(&SEARCHES)
    }

    /// What the call is about, in a few words. Paths are seen from the workspace; `title` is what the
    /// agent calls it.
    pub(crate) fn about(&self, workspace: Option<&str>, title: Option<&str>) -> Option<String> {
        if let Some(command) = self.command() {
            return Some(without_folder(command.trim(), workspace).to_owned());
        }
        if let Some(search) = self.search() {
            let path = self.path().map(|path| relative(path, workspace));
            return Some(match path.filter(|path| *path != ".") {
                Some(path) => format!("{search} in {path}"),
                None => search.to_owned(),
            });
        }
        if let Some(path) = self.path() {
            return Some(relative(path, workspace).to_owned());
        }
        let patched = self.patched(workspace);
        let own = title.map(|t| relative(t, workspace).to_owned());
        own.or(patched)
            .or_else(|| self.plan())
            .or_else(|| self.named(&HINTS).map(str::to_owned))
            .or_else(|| self.first())
    }

    /// The files of a patch.
    fn patched(&self, workspace: Option<&str>) -> Option<String> {
        let paths: Vec<String> = match self {
            Self::Members(_, edits) if !edits.is_empty() => {
                edits.iter().map(|e| e.path.clone()).collect()
            }
            _ => {
                let files = FileChange::of_patch(self.patch()?);
                files.iter().map(|f| f.path.to_string()).collect()
            }
        };
        let (first, others) = paths.split_first()?;
        let first = relative(first, workspace);
        Some(match others.len() {
            _ if first.is_empty() => return None,
            0 => first.to_owned(),
            n => format!("{first} and {n} more"),
        })
    }

    /// The text that is a patch.
    pub(crate) fn patch(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text.as_ref()),
            _ => self.named(&PATCHES),
        }
        .filter(|text| is_patch(text))
    }

    /// How far a plan is: `2 of 5 done`.
    pub(crate) fn plan(&self) -> Option<String> {
        let Self::Members(members, _) = self else {
            return None;
        };
        let is_plan = |m: &&Member<'_>| PLANS.contains(&m.name.as_str());
        let Value::Json(raw) = &members.iter().find(is_plan)?.value else {
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
    fn first(&self) -> Option<String> {
        match self {
            Self::Nothing => None,
            Self::Json(json) => Some(json.clone()),
            Self::Text(text) => text.trim().lines().next().map(str::to_owned),
            Self::Members(members, _) => {
                let first = members.iter().find_map(|m| match &m.value {
                    Value::Text(text) if text.trim().is_empty() => None,
                    Value::Text(text) => Some(format!("{}: {}", m.name, text.trim())),
                    Value::Json(raw) => Some(format!("{}: {}", m.name, raw.get())),
                });
                first.filter(|first| !first.is_empty())
            }
        }
    }

    /// The changes that the call asks for, by file.
    pub(crate) fn changes(&self) -> Vec<FileChange<'_>> {
        match self {
            Self::Members(_, edits) if !edits.is_empty() => edits
                .iter()
                .map(|edit| FileChange {
                    path: edit.path.as_str().into(),
                    note: None,
                    change: Change::between(&edit.old, &edit.new, edit.whole),
                })
                .collect(),
            _ => self.patch().map(FileChange::of_patch).unwrap_or_default(),
        }
    }

    /// The text of a file that the call writes whole.
    pub(crate) fn written(&self) -> Option<&str> {
        self.path().and_then(|_| self.named(&CONTENTS))
    }

    /// How many lines came and went, of a call that changes something.
    pub(crate) fn counts(&self) -> Option<(u64, u64)> {
        match self {
            Self::Members(_, changes) if !changes.is_empty() => {
                let counts = changes
                    .iter()
                    .map(|e| Change::between(&e.old, &e.new, false).counts());
                Some(counts.fold((0, 0), |(a, b), (c, d)| (a + c, b + d)))
            }
            _ => self.patch().map(patch_counts),
        }
    }
}

impl<'a> Member<'a> {
    fn new((name, value): (String, &'a RawValue)) -> Self {
        let value = match string(value) {
            Some(text) => Value::Text(text),
            None => Value::Json(value),
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
fn change(members: &[(String, &RawValue)]) -> Option<Edit> {
    let names = old_and_new(members);
    let text = |name: &&str| {
        let member = members.iter().find(|(n, _)| n == name)?;
        string(member.1)
    };
    let [old, new] = names.as_slice() else {
        return None;
    };
    Some(Edit {
        path: String::new(),
        old: text(old)?,
        new: text(new)?,
        whole: false,
    })
}

/// The changes in a list, if all that is in it are some.
fn edits_of(list: &RawValue) -> Option<Vec<Edit>> {
    let list: Vec<&RawValue> = serde_json::from_str(list.get()).ok()?;
    let each = list
        .into_iter()
        .map(|edit| change(&members(edit.get().as_bytes())?));
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
            let said = Input::of(&call).about(Some("/w"), title);
            assert_eq!(said.as_deref(), Some(about), "{input}");
        }
        assert_eq!(Input::of(&ToolCall::new("1", "x")).about(None, None), None);
    }
}
