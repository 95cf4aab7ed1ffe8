//! Prompts and answers in plain text.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rethread_json::{Object, Value};
use rethread_model::Role;

use super::Adding;
use crate::agentuse::SLUG;
use crate::agentuse::object::given;
use crate::agentuse::open::Exchange;
use crate::agentuse::prepare::{bad, chosen_id, completed, message, part, text_part, with_system};
use crate::agentuse::steps::Step;
use crate::{TextMessage, WriteError, picture};

impl Adding<'_, '_> {
    pub(super) fn text(&mut self, said: &TextMessage) -> Result<String, WriteError> {
        match said.role {
            Role::User if !said.images.is_empty() => Err(WriteError::Unsupported {
                format: SLUG,
                what: "pictures in prompts",
            }),
            Role::User => self.prompt(&said.text),
            Role::Assistant | Role::Tool => self.answer(said),
            Role::System => self.system(&said.text),
        }
    }

    /// A prompt begins an exchange: as the task of the first one, then as what the user adds to it.
    /// What was asked before and not answered stays a message of its own.
    pub(super) fn prompt(&mut self, text: &str) -> Result<String, WriteError> {
        match self.session.task()? {
            None => self.exchange(None, (text, None), &[]),
            Some(task) => self.exchange(None, (&task, Some(text)), &[]),
        }
    }

    /// A new exchange, with parts that were given.
    pub(super) fn exchange(
        &mut self,
        said: Option<Value<'_>>,
        prompt: (&str, Option<&str>),
        parts: &[Value<'_>],
    ) -> Result<String, WriteError> {
        let chosen = said.map(chosen_id).transpose()?.flatten();
        let id = chosen.unwrap_or_else(|| self.session.ids.next());
        let folder = self.session.exchange_folder(&id);
        let is_known = self.session.exchanges.iter().any(|e| e.id == id);
        if is_known || std::fs::symlink_metadata(&folder).is_ok() {
            return Err(WriteError::Exists { id, path: folder });
        }
        let message = message(self.session, &id, said, prompt)?;
        let mut written: Vec<(String, Vec<u8>)> = Vec::new();
        for given in parts {
            let (part_id, bytes) = part(self.session, &id, *given)?;
            if written.iter().any(|(known, _)| *known == part_id) {
                let path = folder.clone();
                return Err(WriteError::Exists { id: part_id, path });
            }
            written.push((part_id, bytes));
        }
        self.step(Step::Exchange {
            folder,
            message,
            parts: written,
        });
        Ok(id)
    }

    /// A text of the agent completes the exchange.
    fn answer(&mut self, said: &TextMessage) -> Result<String, WriteError> {
        let exchange = self.session.asked()?;
        let mut parts = Vec::new();
        if !said.text.is_empty() || said.images.is_empty() {
            parts.push(text_part(self.session, &said.text));
        }
        for path in &said.images {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let (bytes, mime) = picture::read(path)?;
            let data = STANDARD.encode(bytes);
            let file = Object::new()
                .str("type", "file")
                .str("mime", mime)
                .str("filename", &name)
                .str("url", &format!("data:{mime};base64,{data}"));
            parts.push(file.finish());
        }
        let id = self.add_parts(&exchange, &parts)?;
        let bytes = completed(self.session, &exchange, said.model.as_deref())?;
        self.step(Step::Replace(exchange.message(), bytes));
        Ok(id)
    }

    /// Adds parts to an exchange; gives the id of the first.
    pub(super) fn add_parts(
        &mut self,
        exchange: &Exchange,
        parts: &[Vec<u8>],
    ) -> Result<String, WriteError> {
        let mut first = None;
        for bytes in parts {
            let document = given(bytes).map_err(bad)?;
            let (id, bytes) = part(self.session, &exchange.id, document.root())?;
            let path = exchange.part(&id);
            if self.session.part(&id).is_some() {
                return Err(WriteError::Exists { id, path });
            }
            first.get_or_insert(id);
            self.step(Step::Create(path, bytes));
        }
        first.ok_or_else(|| bad("there is nothing in it"))
    }

    /// A system prompt belongs to an exchange that nobody answered yet.
    pub(super) fn system(&mut self, text: &str) -> Result<String, WriteError> {
        let exchange = self.session.asked()?;
        let document = self.session.read(&exchange.message())?;
        if self.session.is_answered(&exchange, document.root())? {
            return Err(bad(
                "the last message was answered; a system prompt comes before that",
            ));
        }
        let bytes = with_system(document.root(), text);
        self.step(Step::Replace(exchange.message(), bytes));
        Ok(exchange.id)
    }
}
