//! What a tool was given, so that people see what it was about: changes as changes, code as code.

use std::borrow::Cow;
use std::io;

use rethread_model::{Diff, Text, ToolCall, ToolInput};
use serde_json::value::RawValue;

use super::code::language_of;
use super::diff::{Change, is_diff, unified, unified_counts};
use super::links::linked;
use super::out::Out;
use super::prose::block;
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
const PATHS: [&str; 7] = [
    "file_path",
    "filePath",
    "path",
    "absolute_path",
    "notebook_path",
    "filename",
    "file",
];

/// What agents call a command.
const COMMANDS: [&str; 4] = ["command", "cmd", "script", "bash_command"];

/// What says in a few words what is looked for.
const SEARCHES: [&str; 3] = ["pattern", "query", "url"];

/// What else says in a few words what a call is about, the best first.
const HINTS: [&str; 5] = ["description", "prompt", "skill", "name", "id"];

/// Longer values stand below their names.
const SHORT: usize = 100;

/// What a tool was given.
pub(super) enum Input<'a> {
    Nothing,
    /// Text that is no JSON.
    Text(Cow<'a, str>),
    /// JSON that is no object.
    Json(String),
    Members(Vec<Member<'a>>, Vec<Edit>),
}

/// A change of a text; the path is empty where it is that of the call.
pub(super) struct Edit {
    path: String,
    old: String,
    new: String,
}

/// One member of an object.
pub(super) struct Member<'a> {
    name: String,
    value: Value<'a>,
}

enum Value<'a> {
    Text(String),
    Json(&'a RawValue),
}

impl<'a> Input<'a> {
    pub(super) fn of(call: &'a ToolCall) -> Self {
        let text = |t: &Option<Text>| t.as_ref().map_or(String::new(), |t| t.value.clone());
        let edit = |diff: &Diff| Edit {
            path: diff.path.clone(),
            old: text(&diff.old),
            new: text(&diff.new),
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

    fn path(&self) -> Option<&str> {
        PATHS.iter().find_map(|name| self.text(name))
    }

    /// What the call is about, in a few words.
    pub(super) fn hint(&self) -> Option<&str> {
        match self {
            Self::Nothing | Self::Json(_) => None,
            Self::Text(text) => text.trim().lines().next(),
            Self::Members(..) => {
                let named = |names: &[&str]| names.iter().find_map(|name| self.text(name));
                let found = named(&COMMANDS).or_else(|| named(&SEARCHES));
                found.or_else(|| self.path()).or_else(|| named(&HINTS))
            }
        }
    }

    /// How many lines came and went, of a call that changes something.
    pub(super) fn counts(&self) -> Option<(u64, u64)> {
        match self {
            Self::Members(_, changes) if !changes.is_empty() => {
                let counts = changes
                    .iter()
                    .map(|e| Change::between(&e.old, &e.new).counts());
                Some(counts.fold((0, 0), |(a, b), (c, d)| (a + c, b + d)))
            }
            Self::Text(text) if is_diff(text) => Some(unified_counts(text)),
            _ => {
                let patches = ["patch", "input", "patchText", "diff"];
                let patch = patches.iter().find_map(|name| self.text(name));
                patch.filter(|p| is_diff(p)).map(unified_counts)
            }
        }
    }

    pub(super) fn write(&self, out: &mut Out<'_>) -> io::Result<()> {
        match self {
            Self::Nothing => Ok(()),
            Self::Text(text) => block(out, "", text),
            Self::Json(json) => block(out, "json", json),
            Self::Members(members, changes) => {
                let language = self.path().map_or("", language_of);
                for member in members {
                    member.write(out, language)?;
                }
                for Edit { path, old, new } in changes {
                    if !path.is_empty() {
                        out.raw("<p class=media><code>")?;
                        out.line(path)?;
                        out.raw("</code></p>\n")?;
                    }
                    Change::between(old, new).write(out)?;
                }
                Ok(())
            }
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

    /// Writes the member; `language` is that of the file that the call is about.
    fn write(&self, out: &mut Out<'_>, language: &str) -> io::Result<()> {
        out.raw("<div class=arg><b>")?;
        out.line(&self.name)?;
        out.raw("</b> ")?;
        let is_command = COMMANDS.contains(&self.name.as_str());
        match &self.value {
            Value::Text(text) if is_diff(text) => unified(out, text)?,
            Value::Text(text) if is_command => block(out, "sh", text)?,
            Value::Text(text) if text.len() > SHORT || text.contains('\n') => {
                let is_file = ["content", "contents", "file_text", "new_source", "code"];
                let is_file = is_file.contains(&self.name.as_str());
                block(out, if is_file { language } else { "" }, text)?;
            }
            Value::Text(text) => short(out, text)?,
            Value::Json(raw) => match pretty(raw.get().as_bytes()) {
                Some(json) if json.contains('\n') => block(out, "json", &json)?,
                _ => short(out, raw.get())?,
            },
        }
        out.raw("</div>\n")
    }
}

fn short(out: &mut Out<'_>, text: &str) -> io::Result<()> {
    out.raw("<code>")?;
    linked(out, text)?;
    out.raw("</code>")
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
