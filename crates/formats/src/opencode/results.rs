//! Results of tools, put where their calls are.

use super::append::OpenSession;
use super::draft::MessageDraft;
use super::tool::CallOutput;
use crate::WriteError;

/// Where a result went.
pub(super) enum Holder {
    /// Into a message that was there, by its id.
    Message(String),
    /// Into a message that comes with it, by its place.
    Draft(usize),
}

impl OpenSession<'_, '_> {
    /// Puts results of tools where their calls are: in messages that come with them, else in parts
    /// that wait in the database.
    pub(super) fn place_results(
        &self,
        drafts: &mut [Result<MessageDraft, WriteError>],
    ) -> Result<Vec<Option<Holder>>, WriteError> {
        let mut holders = Vec::new();
        for at in 0..drafts.len() {
            let mut holder = None;
            let results = match &mut drafts[at] {
                Ok(draft) => std::mem::take(&mut draft.results),
                Err(_) => Vec::new(),
            };
            for result in results {
                let home = match self.put_into_draft(&mut drafts[..=at], &result) {
                    Some(place) => Some(Holder::Draft(place)),
                    None => self.put_into_row(&result)?.map(Holder::Message),
                };
                if home.is_none() {
                    drafts[at] = Err(WriteError::BadMessage {
                        line: None,
                        why: format!("no call `{}` waits for a result", result.call),
                    });
                    break;
                }
                holder = holder.or(home);
            }
            holders.push(holder);
        }
        Ok(holders)
    }

    fn put_into_draft(
        &self,
        drafts: &mut [Result<MessageDraft, WriteError>],
        result: &CallOutput,
    ) -> Option<usize> {
        let now = self.w.env.now();
        for (at, draft) in drafts.iter_mut().enumerate().rev() {
            let parts = draft.iter_mut().flat_map(|d| d.parts.iter_mut());
            for part in parts {
                if let Some(written) = result.written_into(part, now) {
                    *part = written;
                    return Some(at);
                }
            }
        }
        None
    }

    fn put_into_row(&self, result: &CallOutput) -> Result<Option<String>, WriteError> {
        let now = self.w.env.now();
        let sql = "SELECT id, message_id, data FROM part WHERE session_id = ?1
            AND instr(data, ?2) > 0 ORDER BY time_created DESC, id DESC";
        self.change.ask(|tx| {
            let mut query = tx.prepare(sql)?;
            let mut rows = query.query([self.id, &result.call])?;
            while let Some(row) = rows.next()? {
                let data = row.get_ref(2)?.as_bytes().unwrap_or_default();
                let Some(written) = result.written_into(data, now) else {
                    continue;
                };
                let (id, message): (String, String) = (row.get(0)?, row.get(1)?);
                let data = String::from_utf8_lossy(&written).into_owned();
                let update = "UPDATE part SET data = ?1, time_updated = ?2 WHERE id = ?3";
                tx.execute(update, (data, now.millis(), &id))?;
                return Ok(Some(message));
            }
            Ok(None)
        })
    }
}
