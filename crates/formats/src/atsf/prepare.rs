//! From what a user gives to one line of the log: checked, completed, and otherwise as given.

use std::collections::BTreeSet;
use std::path::Path;

use rethread_disk::SafeName;
use rethread_json::{Array, Document, InsertAt, Object, Patch, Value, quote};
use rethread_model::Moment;

use super::assets::{self, Asset};
use super::message::{ThreadMessageHead, message_head, word_of_role};
use super::results::ToolOutput;
use super::unified::{is_own, to_native};
use crate::fields::string_of;
use crate::kit::{GivenMessage, bad_message, given_time, read_message, read_object};
use crate::{Env, MessageDefaults, MessageInput, NewMessage, WriteError, picture};

/// A message that is ready to be written.
#[derive(Debug)]
pub(crate) struct PreparedLine {
    pub(crate) id: String,
    /// Whether the user chose the id, so that it may exist already.
    pub(crate) id_was_given: bool,
    /// The line without its line break; empty when the message held nothing but tool results.
    pub(crate) line: Vec<u8>,
    /// What counts of it: one head a line.
    pub(crate) heads: Vec<ThreadMessageHead>,
    pub(crate) assets: Vec<Asset>,
    /// Results for tool calls of earlier messages.
    pub(crate) outputs: Vec<ToolOutput>,
}

/// What completes a message that does not say it itself.
#[derive(Debug)]
pub(crate) struct ThreadDefaults<'a> {
    pub(crate) env: &'a Env,
    pub(crate) now: Moment,
    /// The model of agent messages.
    pub(crate) model: Option<String>,
    /// What makes ids of the same seed differ: where the message will stand.
    pub(crate) salt: u64,
    /// Id and timestamp of the message that this one replaces.
    pub(crate) replaces: Option<(String, Option<String>)>,
}

impl ThreadDefaults<'_> {
    fn id(&self) -> String {
        match &self.replaces {
            Some((id, _)) => id.clone(),
            None => self.env.uuid(&self.salt.to_le_bytes()).to_string(),
        }
    }

    fn timestamp(&self) -> String {
        let kept = self.replaces.as_ref().and_then(|(_, time)| time.clone());
        kept.unwrap_or_else(|| self.now.to_string())
    }
}

/// Makes a message ready to be written.
pub(crate) fn prepare_line(
    input: &MessageInput,
    d: &ThreadDefaults<'_>,
) -> Result<PreparedLine, WriteError> {
    let own = |root: Value<'_>, unsaid: &MessageDefaults| own_message(root, unsaid).transpose();
    let prepared = match read_message(input, own)? {
        GivenMessage::Native((document, model)) => {
            from_own(&document, model.as_deref(), d, Vec::new())
        }
        GivenMessage::New(new) => from_new(&new, d),
    };
    prepared.map_err(|e| e.in_message(input))
}

/// A message in our own vocabulary, with its role, and the model that holds where it says none.
fn own_message(
    root: Value<'_>,
    unsaid: &MessageDefaults,
) -> Result<Option<(Document, Option<String>)>, String> {
    let mut document = read_object(root.raw())?;
    if let Some(role) = unsaid.role.filter(|_| root.get("role").is_none()) {
        let root = document.root();
        let place = if root.get("id").is_some() {
            InsertAt::After("id")
        } else {
            InsertAt::First
        };
        let mut patch = Patch::new(root);
        patch.insert(root, "role", &quote(word_of_role(role)), place);
        document = read_object(&patch.finish())?;
    }
    let is_own = is_own(document.root());
    Ok(is_own.then(|| (document, unsaid.model.clone())))
}

/// Makes a message ready that is as the model has it.
fn from_new(new: &NewMessage, d: &ThreadDefaults<'_>) -> Result<PreparedLine, WriteError> {
    let (native, outputs) = to_native(new);
    if native.is_empty() {
        let id = new.id.clone().unwrap_or_default();
        return Ok(finish(Vec::new(), id, false, Vec::new(), outputs));
    }
    let document = read_object(&native).map_err(bad_message)?;
    from_own(&document, new.default_model.as_deref(), d, outputs)
}

fn finish(
    line: Vec<u8>,
    id: String,
    id_was_given: bool,
    assets: Vec<Asset>,
    outputs: Vec<ToolOutput>,
) -> PreparedLine {
    let heads = Document::parse(line.clone())
        .map(|d| message_head(d.root()))
        .into_iter()
        .collect();
    PreparedLine {
        id,
        id_was_given,
        line,
        heads,
        assets,
        outputs,
    }
}

/// Checks a message in our own vocabulary, and completes it.
fn from_own(
    document: &Document,
    model: Option<&str>,
    d: &ThreadDefaults<'_>,
    outputs: Vec<ToolOutput>,
) -> Result<PreparedLine, WriteError> {
    let root = document.root();
    let mut patch = Patch::new(root);
    let given_id = complete(root, &mut patch, model, d)?;
    let files = check_content(root, &mut patch)?;
    check_calls(root, &mut patch)?;
    let line = patch.finish();
    let id = given_id.clone().unwrap_or_else(|| {
        let parsed = Document::parse(line.clone()).ok();
        parsed
            .and_then(|p| string_of(p.root(), "id"))
            .unwrap_or_default()
    });
    Ok(finish(
        line,
        id,
        given_id.is_some() && d.replaces.is_none(),
        files,
        outputs,
    ))
}

/// Checks the message's own fields and adds what is missing. Gives the id that the user chose.
fn complete<'a>(
    root: Value<'a>,
    patch: &mut Patch<'a>,
    model: Option<&str>,
    d: &ThreadDefaults<'_>,
) -> Result<Option<String>, WriteError> {
    let role = string_of(root, "role").ok_or_else(|| bad_message("`role` is missing"))?;
    if !matches!(role.as_str(), "user" | "agent" | "system") {
        return Err(bad_message(format!(
            "`role` is `{role}`, not `user`, `agent` or `system`"
        )));
    }
    let id = match root.get("id") {
        None => None,
        Some(v) => Some(
            string_of(root, "id")
                .filter(|id| !id.is_empty() && v.text().is_some_and(|t| !t.lossy))
                .ok_or_else(|| bad_message("`id` is not a text"))?,
        ),
    };
    if let (Some(id), Some((kept, _))) = (&id, &d.replaces)
        && id != kept
    {
        return Err(bad_message(format!(
            "`id` is `{id}`, but the message to be replaced is `{kept}`"
        )));
    }
    if id.is_none() {
        patch.insert(root, "id", &quote(&d.id()), InsertAt::First);
    }
    match root.get("timestamp") {
        None => patch.insert(
            root,
            "timestamp",
            &quote(&d.timestamp()),
            InsertAt::After("role"),
        ),
        Some(value) => {
            let moment = given_time(root).map_err(bad_message)?.unwrap_or(d.now);
            let is_fine = value
                .str()
                .is_some_and(|text| Moment::is_spelled_in_utc(&text));
            if !is_fine {
                patch.replace(value, &quote(&moment.to_string()));
            }
        }
    }
    for key in ["stopReason", "model"] {
        if root.get(key).is_some_and(|v| v.str().is_none()) {
            return Err(bad_message(format!("`{key}` is not a text")));
        }
    }
    if let Some(tokens) = root.get("tokens") {
        let number = |key| tokens.get(key).is_none_or(|v: Value<'_>| v.f64().is_some());
        if !tokens.is_object() || !number("input") || !number("output") {
            return Err(bad_message(
                "`tokens` is not an object with the numbers `input` and `output`",
            ));
        }
    }
    if let Some(model) = model.or(d.model.as_deref())
        && role == "agent"
        && root.get("model").is_none()
    {
        patch.insert(root, "model", &quote(model), InsertAt::After("stopReason"));
    }
    Ok(id)
}

/// Checks the content, and moves inline pictures out of it.
fn check_content<'a>(root: Value<'a>, patch: &mut Patch<'a>) -> Result<Vec<Asset>, WriteError> {
    let Some(content) = root.get("content") else {
        if root.get("toolCalls").is_none() {
            return Err(bad_message("`content` is missing"));
        }
        patch.insert(root, "content", b"[]", InsertAt::After("timestamp"));
        return Ok(Vec::new());
    };
    if content.str().is_some() {
        let block = Object::new()
            .str("type", "text")
            .raw("text", content.raw())
            .finish();
        patch.replace(content, &Array::new().raw(&block).finish());
        return Ok(Vec::new());
    }
    if !content.is_array() {
        return Err(bad_message("`content` is not an array"));
    }
    let mut files = Vec::new();
    for (i, block) in content.items().enumerate() {
        let place = |why: &str| bad_message(format!("content block {}: {why}", i + 1));
        let kind = string_of(block, "type").ok_or_else(|| place("`type` is missing"))?;
        match kind.as_str() {
            "text" | "thinking" if block.get("text").and_then(Value::str).is_none() => {
                return Err(place("`text` is missing"));
            }
            "resource" if block.get("blob").is_none() && block.get("data").is_none() => {}
            "image" | "audio" | "resource" => {
                files.extend(check_media(block, patch).map_err(|e| place(&e))?);
            }
            _ => {}
        }
    }
    Ok(files)
}

fn check_media<'a>(block: Value<'a>, patch: &mut Patch<'a>) -> Result<Option<Asset>, String> {
    let inline = assets::inline_asset(block)?;
    let Some(inline) = inline else {
        let name = string_of(block, "assetRef")
            .ok_or("neither `assetRef` nor inline data: give base64 in `data`, or a data URL")?;
        SafeName::new(&name).map_err(|e| format!("`assetRef` is no file name: {e}"))?;
        if block.get("mimeType").is_none() {
            let mime = picture::mime_of_name(&name);
            patch.insert(block, "mimeType", &quote(mime), InsertAt::After("assetRef"));
        }
        return Ok(None);
    };
    for key in inline.keys {
        patch.remove(block, key);
    }
    let name = quote(&inline.asset.name);
    match block.get("assetRef") {
        Some(value) => patch.replace(value, &name),
        None => patch.insert(block, "assetRef", &name, InsertAt::After("type")),
    }
    patch.set(block, "mimeType", &quote(&inline.asset.mime));
    Ok(Some(inline.asset))
}

/// Checks the tool calls. Input and output given as JSON values become JSON text, as the format
/// has them.
fn check_calls<'a>(root: Value<'a>, patch: &mut Patch<'a>) -> Result<(), WriteError> {
    let Some(calls) = root.get("toolCalls") else {
        return Ok(());
    };
    if !calls.is_array() {
        return Err(bad_message("`toolCalls` is not an array"));
    }
    let mut seen = BTreeSet::new();
    for (i, call) in calls.items().enumerate() {
        let place = |why: String| bad_message(format!("tool call {}: {why}", i + 1));
        for key in ["toolCallId", "name", "status"] {
            if string_of(call, key).is_none() {
                return Err(place(format!("`{key}` is missing")));
            }
        }
        let id = string_of(call, "toolCallId").unwrap_or_default();
        if !seen.insert(id.clone()) {
            return Err(place(format!("the `toolCallId` `{id}` is there twice")));
        }
        for key in ["input", "output"] {
            match call.get(key).filter(|v| v.str().is_none()) {
                Some(value) if value.is_null() => patch.remove(call, key),
                Some(value) => patch.replace(value, &quote(&String::from_utf8_lossy(value.raw()))),
                None => {}
            }
        }
        if call.get("duration").is_some_and(|v| v.f64().is_none()) {
            return Err(place("`duration` is not a number".to_owned()));
        }
        if let Some(diff) = call.get("diff") {
            for key in ["path", "oldText", "newText"] {
                if string_of(diff, key).is_none() {
                    return Err(place(format!("`diff.{key}` is missing")));
                }
            }
        }
    }
    Ok(())
}

/// The agent whose model is the default: the one that the thread is of.
pub(crate) fn default_model(project: Option<&Path>, agent: Option<&str>) -> Option<String> {
    super::config::Config::read_with_main(project?)
        .ok()?
        .model(agent?)
}
