//! What a tool was given: changes as changes, code as code.

use std::io;

use super::code::language_of;
use super::diff::unified;
use super::links::linked;
use super::out::Out;
use super::prose::block;
use crate::json::pretty;
use crate::reading::{COMMANDS, CONTENTS, Input, Member, Value, is_patch};

/// Longer values stand below their names.
const SHORT: usize = 100;

/// Writes what a tool was given; without the changes that it asks for and their file, where these are
/// shown.
pub(super) fn write_input(
    out: &mut Out<'_>,
    input: &Input<'_>,
    changes_are_shown: bool,
) -> io::Result<()> {
    match input {
        Input::Nothing => Ok(()),
        Input::Text(text) if changes_are_shown && is_patch(text) => Ok(()),
        Input::Text(text) => block(out, "", text),
        Input::Json(json) => block(out, "json", json),
        Input::Members(members, _) => {
            let language = input.path().map_or("", language_of);
            let path = input.path();
            let is_change = |member: &&Member<'_>| match &member.value {
                Value::Text(text) => {
                    is_patch(text)
                        || CONTENTS.contains(&member.name.as_str())
                        || path == Some(text.as_str())
                }
                Value::Json(_) => false,
            };
            let shown = members
                .iter()
                .filter(|m| !changes_are_shown || !is_change(m));
            for member in shown {
                write_member(out, member, language)?;
            }
            Ok(())
        }
    }
}

/// Writes a member; `language` is that of the file that the call is about.
fn write_member(out: &mut Out<'_>, member: &Member<'_>, language: &str) -> io::Result<()> {
    out.raw("<div class=arg><b>")?;
    out.line(&member.name)?;
    out.raw("</b> ")?;
    let is_command = COMMANDS.contains(&member.name.as_str());
    match &member.value {
        Value::Text(text) if is_patch(text) => unified(out, text)?,
        Value::Text(text) if is_command => block(out, "sh", text)?,
        Value::Text(text) if text.len() > SHORT || text.contains('\n') => {
            let is_file = ["content", "contents", "file_text", "new_source", "code"];
            let is_file = is_file.contains(&member.name.as_str());
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

fn short(out: &mut Out<'_>, text: &str) -> io::Result<()> {
    out.raw("<code>")?;
    linked(out, text)?;
    out.raw("</code>")
}
