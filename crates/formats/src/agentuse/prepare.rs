//! From what a user gives to messages and parts as they are written: completed, and checked.

use rethread_json::{Array, Document, Object, Patch, Value, quote};

use super::object::{laid_out, merged_object};
use super::open::LockedExchanges;
use super::rules::{ObjectIds, check_message_object, check_part_object, first_error};
use super::ulid;
use crate::WriteError;
use crate::fields::string_of;
use crate::kit::{bad_message, read_object};

/// The fields that tie a part to its place; they come last.
const BASE: [&str; 3] = ["id", "sessionID", "messageID"];

/// The id that a user chose; it must be one as the format has them.
pub(super) fn chosen_id(object: Value<'_>) -> Result<Option<String>, WriteError> {
    let Some(value) = object.get("id") else {
        return Ok(None);
    };
    let id = value.str().unwrap_or_default();
    if !ulid::is_strict(&id) {
        return Err(bad_message(format!("`id` is `{id}`, not a ULID")));
    }
    Ok(Some(id.into_owned()))
}

/// A part as it is written, with its id.
pub(super) fn written_part(
    session: &mut LockedExchanges<'_>,
    message: &str,
    part: Value<'_>,
) -> Result<(String, Vec<u8>), WriteError> {
    if !part.is_object() {
        return Err(bad_message("a part is not an object"));
    }
    let id = chosen_id(part)?.unwrap_or_else(|| session.ids.next());
    for (key, place) in [("sessionID", session.id.as_str()), ("messageID", message)] {
        if let Some(other) = string_of(part, key).filter(|said| said != place) {
            return Err(bad_message(format!(
                "`{key}` of a part is `{other}`, not `{place}`"
            )));
        }
    }
    let timed = timed(part, session.now())?;
    let mut object = Object::new();
    for (key, value) in timed.root().members() {
        let name = key.str().unwrap_or_default();
        if !BASE.contains(&name.as_ref()) {
            object = object.raw(&name, value.raw());
        }
    }
    let bytes = object
        .str("id", &id)
        .str("sessionID", &session.id)
        .str("messageID", message)
        .finish();
    check_part(&bytes, session, message, &id)?;
    Ok((id, laid_out(&bytes)))
}

/// Refuses a part that is against the document.
pub(super) fn check_part(
    bytes: &[u8],
    session: &LockedExchanges<'_>,
    message: &str,
    id: &str,
) -> Result<(), WriteError> {
    let place = ObjectIds {
        session: &session.id,
        message,
        id,
    };
    match first_error(bytes, |sheet, root| check_part_object(sheet, root, &place)) {
        Some(why) => Err(bad_message(format!("a part: {why}"))),
        None => Ok(()),
    }
}

/// Refuses a message that is against the document.
pub(super) fn check_message(
    bytes: &[u8],
    session: &LockedExchanges<'_>,
    id: &str,
) -> Result<(), WriteError> {
    let place = ObjectIds {
        session: &session.id,
        message: id,
        id,
    };
    match first_error(bytes, |sheet, root| {
        check_message_object(sheet, root, &place);
    }) {
        Some(why) => Err(bad_message(why)),
        None => Ok(()),
    }
}

/// A part with the times that its type must have: now, where it does not say.
fn timed(part: Value<'_>, now: i64) -> Result<Document, WriteError> {
    let document = read_object(part.raw()).map_err(bad_message)?;
    let root = document.root();
    let mut patch = Patch::new(root);
    let start = Object::new().i64("start", now).finish();
    let both = Object::new().i64("start", now).i64("end", now).finish();
    match string_of(root, "type").as_deref() {
        Some("reasoning" | "compaction" | "learning" | "error" | "log")
            if root.get("time").is_none() =>
        {
            patch.set(root, "time", &start);
        }
        Some("tool") => match root.get("state") {
            None => patch.set(root, "state", br#"{"status":"pending"}"#),
            Some(state) if state.is_object() && state.get("time").is_none() => {
                match string_of(state, "status").as_deref() {
                    Some("running") => patch.set(state, "time", &start),
                    Some("completed" | "error") => patch.set(state, "time", &both),
                    _ => {}
                }
            }
            Some(_) => {}
        },
        _ => {}
    }
    read_object(&patch.finish()).map_err(bad_message)
}

/// What a person asks for.
#[derive(Clone, Copy)]
pub(super) struct NewPrompt<'a> {
    /// What the session is about.
    pub(super) task: &'a str,
    /// What is said beside it.
    pub(super) user: Option<&'a str>,
}

/// A message as it is written.
pub(super) fn written_message(
    session: &LockedExchanges<'_>,
    id: &str,
    said: Option<Value<'_>>,
    asked: NewPrompt<'_>,
) -> Result<Vec<u8>, WriteError> {
    let of = |key: &str| said.and_then(|s| s.get(key));
    if let Some(other) = said
        .and_then(|s| string_of(s, "sessionID"))
        .filter(|s| *s != session.id)
    {
        let own = &session.id;
        return Err(bad_message(format!(
            "`sessionID` is `{other}`, not `{own}`"
        )));
    }
    let now = session.now().to_string().into_bytes();
    let time = merged_object(
        of("time"),
        "time",
        &[("created", Some(now)), ("completed", None)],
    );
    let prompt = merged_object(
        of("user").and_then(|u| u.get("prompt")),
        "user.prompt",
        &[
            ("task", Some(quote(asked.task))),
            ("user", asked.user.map(quote)),
        ],
    )
    .map_err(bad_message)?;
    let who = merged_object(of("user"), "user", &[("prompt", Some(b"{}".to_vec()))]);
    let who = with_member(&who.map_err(bad_message)?, "prompt", &prompt)?;
    let assistant = assistant(session, of("assistant"))?;
    let mut object = Object::new()
        .str("id", id)
        .str("sessionID", &session.id)
        .raw("time", &time.map_err(bad_message)?)
        .raw("user", &who)
        .raw("assistant", &assistant);
    for (key, value) in said.into_iter().flat_map(Value::members) {
        let name = key.str().unwrap_or_default();
        if !["id", "sessionID", "time", "user", "assistant", "parts"].contains(&name.as_ref()) {
            object = object.raw(&name, value.raw());
        }
    }
    let bytes = object.finish();
    check_message(&bytes, session, id)?;
    Ok(laid_out(&bytes))
}

fn assistant(
    session: &LockedExchanges<'_>,
    said: Option<Value<'_>>,
) -> Result<Vec<u8>, WriteError> {
    let description = session.description.root();
    let model = string_of(description, "model").unwrap_or_default();
    let provider = model.split_once(':').map_or("", |(provider, _)| provider);
    let of_project = |key| {
        let value = description.at(&["project", key]).and_then(Value::str);
        quote(&value.unwrap_or_default())
    };
    let of = |key: &str| said.and_then(|s| s.get(key));
    let path = merged_object(
        of("path"),
        "assistant.path",
        &[
            ("cwd", Some(of_project("cwd"))),
            ("root", Some(of_project("root"))),
        ],
    );
    let zero = || Some(b"0".to_vec());
    let cache = merged_object(
        of("tokens").and_then(|t| t.get("cache")),
        "assistant.tokens.cache",
        &[("read", zero()), ("write", zero())],
    );
    let tokens = merged_object(
        of("tokens"),
        "assistant.tokens",
        &[
            ("input", zero()),
            ("output", zero()),
            ("reasoning", zero()),
            ("cache", None),
        ],
    );
    let tokens = with_member(
        &tokens.map_err(bad_message)?,
        "cache",
        &cache.map_err(bad_message)?,
    )?;
    let whole = merged_object(
        said,
        "assistant",
        &[
            ("system", Some(b"[]".to_vec())),
            ("modelID", Some(quote(&model))),
            ("providerID", Some(quote(provider))),
            ("mode", Some(quote("build"))),
            ("path", Some(b"{}".to_vec())),
            ("cost", zero()),
            ("tokens", Some(b"{}".to_vec())),
        ],
    );
    // Members of these may be missing in what was given.
    let whole = with_member(
        &whole.map_err(bad_message)?,
        "path",
        &path.map_err(bad_message)?,
    )?;
    with_member(&whole, "tokens", &tokens)
}

/// An object with one member set; it keeps its place where it has one.
fn with_member(object: &[u8], key: &str, json: &[u8]) -> Result<Vec<u8>, WriteError> {
    let document = read_object(object).map_err(bad_message)?;
    let mut patch = Patch::new(document.root());
    patch.set(document.root(), key, json);
    Ok(patch.finish())
}

/// The message of an exchange with one more system prompt.
pub(super) fn with_system(message: Value<'_>, text: &str) -> Vec<u8> {
    let mut patch = Patch::new(message);
    let assistant = message.get("assistant").filter(|a| a.is_object());
    let system = assistant.and_then(|a| a.get("system"));
    let alone = Array::new().str(text).finish();
    match (assistant, system.filter(|s| s.is_array())) {
        (_, Some(system)) => patch.push(system, &quote(text)),
        (Some(assistant), None) => patch.set(assistant, "system", &alone),
        (None, None) => {
            let assistant = Object::new().raw("system", &alone).finish();
            patch.set(message, "assistant", &assistant);
        }
    }
    patch.finish()
}
