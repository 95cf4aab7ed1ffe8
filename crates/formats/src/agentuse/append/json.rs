//! Whole messages and parts, in the format's own words or in the unified ones.

use rethread_json::{Document, Object, Patch, Value};
use rethread_model::{Block, Role};

use super::Adding;
use crate::agentuse::SLUG;
use crate::agentuse::prepare::NewPrompt;
use crate::agentuse::unified::{PartOutput, Unified};
use crate::kit::{bad_message, read_object};
use crate::{NewMessage, WriteError};

impl Adding<'_, '_> {
    /// A message or a part in the format's own words.
    pub(super) fn own(&mut self, root: Value<'_>) -> Result<String, WriteError> {
        if root.get("type").is_some() {
            return self.bare_part(root);
        }
        let parts: Vec<Value<'_>> = match root.get("parts") {
            None => Vec::new(),
            Some(parts) if parts.is_array() => parts.items().collect(),
            Some(_) => return Err(bad_message("`parts` is not an array")),
        };
        let task = self.session.task()?.unwrap_or_default();
        let is_said = root.at(&["user", "prompt", "task"]).is_some();
        let prompt = NewPrompt {
            task: if is_said { "" } else { &task },
            user: None,
        };
        self.exchange(Some(root), prompt, &parts)
    }

    /// A part by itself goes to the last exchange. A call that is known there goes on.
    fn bare_part(&mut self, value: Value<'_>) -> Result<String, WriteError> {
        let call = value.get("callID").and_then(Value::str);
        let known = match call {
            Some(call) => self.session.call(&call)?,
            None => None,
        };
        if let Some((exchange, path)) = known {
            return self.update_part(&exchange, &path, value);
        }
        let exchange = self.session.asked()?;
        self.add_parts(&exchange, &[value.raw().to_vec()])
    }

    /// A message as the model has it.
    pub(super) fn message(&mut self, new: &NewMessage) -> Result<String, WriteError> {
        let said = Unified::of(new, self.session.now());
        let role = new.message.role;
        let is_media = |block: &Block| matches!(block, Block::Image(_) | Block::File(_));
        if role != Role::Assistant && new.message.blocks.iter().any(is_media) {
            return Err(WriteError::Unsupported {
                format: SLUG,
                what: "pictures in prompts",
            });
        }
        let mut id = None;
        for result in &said.results {
            let placed = self.result(result)?;
            id.get_or_insert(placed);
        }
        match role {
            Role::User if said.parts.is_empty() => {}
            Role::User => return self.prompt(&said.text),
            Role::System => return self.system(&said.text),
            Role::Assistant | Role::Tool => return self.unified_answer(&said, id),
        }
        id.ok_or_else(|| bad_message("there is nothing in it"))
    }

    fn unified_answer(&mut self, said: &Unified, id: Option<String>) -> Result<String, WriteError> {
        let exchange = self.session.asked()?;
        let id = match id {
            Some(id) if said.parts.is_empty() => id,
            _ => self.add_parts(&exchange, &said.parts)?,
        };
        let mut update = Object::new();
        let is_done = said.parts.iter().all(|p| {
            let document = Document::parse(p.clone());
            document.is_ok_and(|d| d.root().at(&["state", "status"]).is_none())
        });
        if is_done {
            let time = Object::new().i64("completed", self.session.now()).finish();
            update = update.raw("time", &time);
        }
        if let Some(assistant) = &said.assistant {
            let old = self.session.read(&exchange.message())?;
            update = update.raw("assistant", &added(old.root(), assistant)?);
        }
        if !update.is_empty() {
            let update = read_object(&update.finish()).map_err(bad_message)?;
            self.update_message(&exchange, update.root())?;
        }
        Ok(id)
    }

    /// A result is written into the part of its call.
    fn result(&mut self, result: &PartOutput) -> Result<String, WriteError> {
        let now = self.session.now();
        let Some((exchange, path)) = self.session.call(&result.call_id)? else {
            let exchange = self.session.asked()?;
            return self.add_parts(&exchange, &[result.orphan(now)]);
        };
        let document = self.session.read(&path)?;
        let state = result.state(document.root().get("state"), now);
        let update =
            read_object(&Object::new().raw("state", &state).finish()).map_err(bad_message)?;
        self.update_part(&exchange, &path, update.root())
    }
}

/// What a response adds to the answer: its tokens to those that are there.
fn added(message: Value<'_>, assistant: &[u8]) -> Result<Vec<u8>, WriteError> {
    let new = read_object(assistant).map_err(bad_message)?;
    let mut patch = Patch::new(new.root());
    let paths: [&[&str]; 4] = [
        &["input"],
        &["output"],
        &["cache", "read"],
        &["cache", "write"],
    ];
    for path in paths {
        let old = message
            .at(&["assistant", "tokens"])
            .and_then(|t| t.at(path));
        let old = old.and_then(Value::u64).unwrap_or(0);
        if let Some(value) = new.root().get("tokens").and_then(|t| t.at(path)) {
            let sum = value.u64().unwrap_or(0).saturating_add(old);
            patch.replace(value, sum.to_string().as_bytes());
        }
    }
    Ok(patch.finish())
}
