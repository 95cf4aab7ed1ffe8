//! Prompts, parts of answers, and what the system says.

use rethread_json::Value;

use super::Adding;
use crate::WriteError;
use crate::agentuse::open::Exchange;
use crate::agentuse::prepare::{NewPrompt, chosen_id, with_system, written_message, written_part};
use crate::agentuse::steps::WriteStep;
use crate::kit::{bad_message, read_object};

impl Adding<'_, '_> {
    /// A prompt begins an exchange: as the task of the first one, then as what the user adds to it.
    /// What was asked before and not answered stays a message of its own.
    pub(super) fn prompt(&mut self, text: &str) -> Result<String, WriteError> {
        match self.session.task()? {
            None => {
                let prompt = NewPrompt {
                    task: text,
                    user: None,
                };
                self.exchange(None, prompt, &[])
            }
            Some(task) => {
                let prompt = NewPrompt {
                    task: &task,
                    user: Some(text),
                };
                self.exchange(None, prompt, &[])
            }
        }
    }

    /// A new exchange, with parts that were given.
    pub(super) fn exchange(
        &mut self,
        said: Option<Value<'_>>,
        prompt: NewPrompt<'_>,
        parts: &[Value<'_>],
    ) -> Result<String, WriteError> {
        let chosen = said.map(chosen_id).transpose()?.flatten();
        let id = chosen.unwrap_or_else(|| self.session.ids.next());
        let folder = self.session.exchange_folder(&id);
        let is_known = self.session.exchanges.iter().any(|e| e.id == id);
        if is_known || std::fs::symlink_metadata(&folder).is_ok() {
            return Err(WriteError::Exists { id, path: folder });
        }
        let message = written_message(self.session, &id, said, prompt)?;
        let mut written: Vec<(String, Vec<u8>)> = Vec::new();
        for given in parts {
            let (part_id, bytes) = written_part(self.session, &id, *given)?;
            if written.iter().any(|(known, _)| *known == part_id) {
                let path = folder.clone();
                return Err(WriteError::Exists { id: part_id, path });
            }
            written.push((part_id, bytes));
        }
        self.step(WriteStep::Exchange {
            folder,
            message,
            parts: written,
        });
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
            let document = read_object(bytes).map_err(bad_message)?;
            let (id, bytes) = written_part(self.session, &exchange.id, document.root())?;
            let path = exchange.part(&id);
            if self.session.part(&id).is_some() {
                return Err(WriteError::Exists { id, path });
            }
            first.get_or_insert(id);
            self.step(WriteStep::Create(path, bytes));
        }
        first.ok_or_else(|| bad_message("there is nothing in it"))
    }

    /// A system prompt belongs to an exchange that nobody answered yet.
    pub(super) fn system(&mut self, text: &str) -> Result<String, WriteError> {
        let exchange = self.session.asked()?;
        let document = self.session.read(&exchange.message())?;
        if self.session.is_answered(&exchange, document.root())? {
            return Err(bad_message(
                "the last message was answered; a system prompt comes before that",
            ));
        }
        let bytes = with_system(document.root(), text);
        self.step(WriteStep::Replace(exchange.message(), bytes));
        Ok(exchange.id)
    }
}
