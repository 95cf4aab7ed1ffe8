//! Updates in place, merged as the program does.

use std::path::Path;

use rethread_json::{InsertAt, Object, Patch, Value, quote};

use super::{Adding, Planned};
use crate::agentuse::object::{merged_message, merged_part};
use crate::agentuse::open::Exchange;
use crate::agentuse::prepare::{check_message, check_part};
use crate::agentuse::steps::WriteStep;
use crate::agentuse::unified::Unified;
use crate::kit::{bad_message, read_object, read_unified};
use crate::{EntryRef, MessageInput, WriteError};

impl Adding<'_, '_> {
    pub(super) fn update_part(
        &mut self,
        exchange: &Exchange,
        path: &Path,
        update: Value<'_>,
    ) -> Result<String, WriteError> {
        let document = self.session.read(path)?;
        let state = document.root().get("state");
        let update =
            read_object(&gone_on(state, update, self.session.now())?).map_err(bad_message)?;
        let bytes = merged_part(document.root(), update.root());
        let id = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        check_part(&bytes, self.session, &exchange.id, &id)?;
        self.step(WriteStep::Replace(path.to_owned(), bytes));
        Ok(id)
    }

    pub(super) fn update_message(
        &mut self,
        exchange: &Exchange,
        update: Value<'_>,
    ) -> Result<String, WriteError> {
        let document = self.session.read(&exchange.message())?;
        let bytes = merged_message(document.root(), update);
        check_message(&bytes, self.session, &exchange.id)?;
        self.step(WriteStep::Replace(exchange.message(), bytes));
        Ok(exchange.id.clone())
    }

    /// An update of a message, or of one part.
    pub(super) fn update(mut self, entry: &EntryRef, input: &MessageInput) -> Planned {
        let exchanges = &self.session.exchanges;
        let exchange = exchanges.iter().find(|e| e.id == entry.id).cloned();
        let part = self.session.part(&entry.id);
        let update = match input {
            MessageInput::Json { bytes, .. } => read_object(bytes).map_err(bad_message)?,
            MessageInput::Text(_) | MessageInput::Message(_) => {
                let text = match input {
                    MessageInput::Text(said) => said.text.clone(),
                    _ => Unified::of(&read_unified(input)?, self.session.now()).text,
                };
                let text = quote(&text);
                let update = match &exchange {
                    Some(exchange) => self.prompt_with(exchange, &text)?,
                    None => Object::new().raw("text", &text).finish(),
                };
                read_object(&update).map_err(bad_message)?
            }
        };
        let id = match (exchange, part) {
            (Some(exchange), _) => {
                self.update_message(&exchange, update.root())?;
                let parts = update
                    .root()
                    .get("parts")
                    .into_iter()
                    .flat_map(Value::items);
                for given in parts {
                    self.update_or_add(&exchange, given)?;
                }
                exchange.id
            }
            (None, Some((exchange, path))) => self.update_part(&exchange, &path, update.root())?,
            (None, None) => {
                let path = self.session.exchange_folder("");
                let id = entry.id.clone();
                return Err(WriteError::NoEntry { id, path });
            }
        };
        Ok((id, self.steps))
    }

    /// The prompt of an exchange with another text: what the user added, else the task.
    fn prompt_with(&self, exchange: &Exchange, text: &[u8]) -> Result<Vec<u8>, WriteError> {
        let document = self.session.read(&exchange.message())?;
        let prompt = document.root().at(&["user", "prompt"]);
        let prompt = read_object(prompt.map_or(&b"{}"[..], Value::raw)).map_err(bad_message)?;
        let key = match prompt.root().get("user") {
            Some(_) => "user",
            None => "task",
        };
        let mut patch = Patch::new(prompt.root());
        patch.set(prompt.root(), key, text);
        let user = Object::new().raw("prompt", &patch.finish()).finish();
        Ok(Object::new().raw("user", &user).finish())
    }

    fn update_or_add(&mut self, exchange: &Exchange, value: Value<'_>) -> Result<(), WriteError> {
        let id = value.get("id").and_then(Value::str);
        let call = value.get("callID").and_then(Value::str);
        let mut known = id.and_then(|id| self.session.part(&id));
        if let (None, Some(call)) = (&known, call) {
            known = self.session.call(&call)?;
        }
        match known {
            Some((exchange, path)) => self.update_part(&exchange, &path, value).map(drop),
            None => self.add_parts(exchange, &[value.raw().to_vec()]).map(drop),
        }
    }
}

/// An update of a call whose state does not repeat what is known: its input stays, it began when it
/// began, and it ends now.
fn gone_on(old: Option<Value<'_>>, update: Value<'_>, now: i64) -> Result<Vec<u8>, WriteError> {
    let document = read_object(update.raw()).map_err(bad_message)?;
    let mut patch = Patch::new(document.root());
    let state = document.root().get("state").filter(|s| s.is_object());
    if let (Some(old), Some(state)) = (old, state) {
        if let Some(input) = old.get("input").filter(|_| state.get("input").is_none()) {
            patch.insert(state, "input", input.raw(), InsertAt::After("status"));
        }
        let status = state.get("status").and_then(Value::str).unwrap_or_default();
        let has_ended = matches!(status.as_ref(), "completed" | "error");
        if state.get("time").is_none() && (has_ended || status == "running") {
            let start = old.at(&["time", "start"]).map(Value::raw);
            let start = start.map_or_else(|| now.to_string().into_bytes(), <[u8]>::to_vec);
            let end = now.to_string().into_bytes();
            let end = has_ended.then_some(end.as_slice());
            let time = Object::new().raw("start", &start).opt_raw("end", end);
            patch.set(state, "time", &time.finish());
        }
    }
    Ok(patch.finish())
}
