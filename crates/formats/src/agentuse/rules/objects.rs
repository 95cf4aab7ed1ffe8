//! The three kinds of objects, each judged by itself and by where it lies.

use rethread_json::{Kind, Value};

use super::law;
use super::tables::{MESSAGE_FIELDS, PART_BASE, SESSION_INFO, of_state, of_type};
use crate::agentuse::fields::moment_at_path;
use crate::agentuse::ulid;
use crate::check::fields::judge;
use crate::check::known::shown_text;
use crate::check::law::{Law, required};
use crate::check::sheet::Sheet;
use crate::check::walk::walk_values;

/// Where a session lies.
#[derive(Debug)]
pub(crate) struct SessionPlace {
    /// The id in the name of its folder.
    pub(crate) id: String,
    /// The id of the session that it is nested in.
    pub(crate) parent: Option<String>,
}

/// Where a message or a part lies: the ids in the names around it.
#[derive(Debug)]
pub(crate) struct ObjectIds<'a> {
    pub(crate) session: &'a str,
    pub(crate) message: &'a str,
    /// The id in its own name.
    pub(crate) id: &'a str,
}

const STATUSES: [&str; 4] = ["running", "completed", "error", "suspended"];
const TRIGGERS: [&str; 4] = ["scheduled", "manual", "slack", "api"];

/// Judges a description.
pub(crate) fn check_session_object(sheet: &mut Sheet<'_>, root: Value<'_>, place: &SessionPlace) {
    judge(sheet, root, "", SESSION_INFO);
    let folder = Expected::new(law::FOLDER, "the folder is named", &place.id);
    same(sheet, root, "id", &folder);
    is_ulid(sheet, root, "id");
    for (key, known) in [("status", &STATUSES), ("trigger", &TRIGGERS)] {
        // Others may add words to these.
        if let Some((at, message)) = not_among(root, &[key], known) {
            sheet.warning(law::SESSION_WORD, at, message);
        }
    }
    match (&place.parent, root.get("parentSessionID")) {
        (Some(parent), Some(_)) => {
            let parent = Expected::new(law::PARENT, "it is nested in", parent);
            same(sheet, root, "parentSessionID", &parent);
        }
        (Some(parent), None) => {
            let message = format!(
                "`parentSessionID` is missing; it is nested in {}",
                shown_text(parent)
            );
            sheet.error(law::PARENT, root.span().start, message);
        }
        (None, Some(value)) => {
            let message = "`parentSessionID` is there, but it is nested in no session";
            sheet.error(law::PARENT, value.span().start, message);
        }
        (None, None) => {}
    }
    let is_nested = place.parent.is_some();
    if let Some(value) = root.at(&["agent", "isSubAgent"])
        && value.bool().is_some_and(|said| said != is_nested)
    {
        let is = if is_nested {
            "nested in a session"
        } else {
            "nested in no session"
        };
        let said = if is_nested { "false" } else { "true" };
        let message = format!("`agent.isSubAgent` is `{said}`, but it is {is}");
        sheet.error(law::IS_SUBAGENT, value.span().start, message);
    }
    in_order(sheet, root, ["created", "updated"], law::TIME_ORDER);
    walk_values(sheet, root, &mut |_, _, _| {});
}

/// Judges a message.
pub(crate) fn check_message_object(sheet: &mut Sheet<'_>, root: Value<'_>, place: &ObjectIds<'_>) {
    judge(sheet, root, "", MESSAGE_FIELDS);
    let folder = Expected::new(law::FOLDER, "the folder is named", place.id);
    same(sheet, root, "id", &folder);
    let around = "it lies in the session";
    let session = Expected::new(law::MESSAGE_SESSION, around, place.session);
    same(sheet, root, "sessionID", &session);
    is_ulid(sheet, root, "id");
    in_order(sheet, root, ["created", "completed"], law::TIME_ORDER);
    walk_values(sheet, root, &mut |_, _, _| {});
}

/// Judges a part.
pub(crate) fn check_part_object(sheet: &mut Sheet<'_>, root: Value<'_>, place: &ObjectIds<'_>) {
    judge(sheet, root, "", PART_BASE);
    let file = Expected::new(law::FOLDER, "the file is named", place.id);
    same(sheet, root, "id", &file);
    let around = "it lies in the session";
    let session = Expected::new(law::PART_SESSION, around, place.session);
    same(sheet, root, "sessionID", &session);
    let around = "it lies in the message";
    let message = Expected::new(law::PART_MESSAGE, around, place.message);
    same(sheet, root, "messageID", &message);
    is_ulid(sheet, root, "id");
    if let Some(kind) = root.get("type")
        && let Some(name) = kind.str()
    {
        if let Some(fields) = of_type(&name) {
            judge(sheet, root, "", fields);
        } else {
            let message = format!("{} is no type of part; it is kept", shown_text(&name));
            sheet.warning(law::PART_TYPE, kind.span().start, message);
        }
        match name.as_ref() {
            "tool" => state(sheet, root),
            "file" => {
                let known = ["file", "symbol"];
                if let Some((at, message)) = not_among(root, &["source", "type"], &known) {
                    sheet.error(law::SOURCE, at, message);
                }
            }
            _ => {}
        }
    }
    walk_values(sheet, root, &mut |_, _, _| {});
}

/// The fields that a state of a tool must have.
fn state(sheet: &mut Sheet<'_>, part: Value<'_>) {
    let Some(state) = part.get("state").filter(|s| s.is_object()) else {
        return;
    };
    let Some(status) = state.get("status").filter(|s| s.kind() == Kind::String) else {
        return;
    };
    let word = status.str().unwrap_or_default();
    let Some((fields, any)) = of_state(&word) else {
        let known = "`pending`, `running`, `completed` or `error`";
        let message = format!("`state.status` is {}, not {known}", shown_text(&word));
        return sheet.error(law::STATUS, status.span().start, message);
    };
    judge(sheet, state, "state.", fields);
    for key in any {
        if state.get(key).is_none() {
            let message = format!("`state.{key}` is missing");
            sheet.error(required(law::TOOL), state.span().start, message);
        }
    }
    in_order(sheet, state, ["start", "end"], law::STATUS);
}

/// What a text must be by where it stands.
struct Expected<'a> {
    law: Law,
    /// What is called so.
    whose: &'static str,
    text: &'a str,
}

impl<'a> Expected<'a> {
    fn new(law: Law, whose: &'static str, text: &'a str) -> Self {
        Self { law, whose, text }
    }
}

/// A text must be the one that its place says.
fn same(sheet: &mut Sheet<'_>, root: Value<'_>, key: &str, expected: &Expected<'_>) {
    if let Some(value) = root.get(key)
        && let Some(text) = value.str().filter(|t| t != expected.text)
    {
        let (is, whose) = (shown_text(&text), expected.whose);
        let message = format!("`{key}` is {is}, but {whose} {}", shown_text(expected.text));
        sheet.error(expected.law, value.span().start, message);
    }
}

fn is_ulid(sheet: &mut Sheet<'_>, root: Value<'_>, key: &str) {
    if let Some(value) = root.get(key)
        && let Some(text) = value.str().filter(|t| !ulid::is_strict(t))
    {
        let message = format!("`{key}` is {}, not a ULID", shown_text(&text));
        sheet.error(law::ULID, value.span().start, message);
    }
}

/// What is wrong with a text that must be one of these words.
fn not_among(root: Value<'_>, path: &[&str], known: &[&str]) -> Option<(usize, String)> {
    let value = root.at(path)?;
    let text = value.str().filter(|t| !known.contains(&t.as_ref()))?;
    let (name, words) = (path.join("."), known.join("`, `"));
    let message = format!("`{name}` is {}, not one of `{words}`", shown_text(&text));
    Some((value.span().start, message))
}

fn in_order(sheet: &mut Sheet<'_>, root: Value<'_>, [first, second]: [&str; 2], law: Law) {
    let (start, end) = (
        moment_at_path(root, &["time", first]),
        moment_at_path(root, &["time", second]),
    );
    if let (Some(start), Some(end)) = (start, end)
        && end < start
        && let Some(value) = root.at(&["time", second])
    {
        let message = format!("`time.{second}` is before `time.{first}`");
        sheet.warning(law, value.span().start, message);
    }
}
