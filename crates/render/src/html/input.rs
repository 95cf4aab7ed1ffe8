//! What a tool was given: changes as changes, code as code.

use std::io;

use super::code::language_of;
use super::diff::write_unified_diff;
use super::links::write_linked;
use super::out::HtmlWriter;
use super::prose::write_code_block;
use crate::json::pretty_value;
use crate::reading::{COMMANDS, CONTENTS, CallInput, InputMember, InputValue, is_patch};

/// Longer values stand below their names.
const SHORT: usize = 100;

/// Writes what a tool was given; without the changes that it asks for and their file, where these are
/// shown.
pub(super) fn write_input(
    out: &mut HtmlWriter<'_>,
    input: &CallInput<'_>,
    changes_are_shown: bool,
) -> io::Result<()> {
    match input {
        CallInput::Nothing => Ok(()),
        CallInput::Text(text) if changes_are_shown && is_patch(text) => Ok(()),
        CallInput::Text(text) => write_code_block(out, "", text),
        CallInput::Json(json) => write_code_block(out, "json", json),
        CallInput::Members(members, _) => {
            let language = input.file_path().map_or("", language_of);
            let path = input.file_path();
            let is_change = |member: &&InputMember<'_>| match &member.value {
                InputValue::Text(text) => {
                    is_patch(text)
                        || CONTENTS.contains(&member.name.as_str())
                        || path == Some(text.as_str())
                }
                InputValue::Json(_) => false,
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
fn write_member(
    out: &mut HtmlWriter<'_>,
    member: &InputMember<'_>,
    language: &str,
) -> io::Result<()> {
    out.write_markup("<div class=arg><b>")?;
    out.write_line(&member.name)?;
    out.write_markup("</b> ")?;
    let is_command = COMMANDS.contains(&member.name.as_str());
    match &member.value {
        InputValue::Text(text) if is_patch(text) => write_unified_diff(out, text)?,
        InputValue::Text(text) if is_command => write_code_block(out, "sh", text)?,
        InputValue::Text(text) if text.len() > SHORT || text.contains('\n') => {
            let is_file = ["content", "contents", "file_text", "new_source", "code"];
            let is_file = is_file.contains(&member.name.as_str());
            write_code_block(out, if is_file { language } else { "" }, text)?;
        }
        InputValue::Text(text) => write_short(out, text)?,
        InputValue::Json(raw) => match pretty_value(raw.get().as_bytes()) {
            Some(json) if json.contains('\n') => write_code_block(out, "json", &json)?,
            _ => write_short(out, raw.get())?,
        },
    }
    out.write_markup("</div>\n")
}

fn write_short(out: &mut HtmlWriter<'_>, text: &str) -> io::Result<()> {
    out.write_markup("<code>")?;
    write_linked(out, text)?;
    out.write_markup("</code>")
}
