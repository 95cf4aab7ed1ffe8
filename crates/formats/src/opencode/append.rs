//! Adding messages to a session in the database.

use std::collections::BTreeSet;

use rethread_json::Tree;
use rethread_model::{ModelRef, Usage};
use rusqlite::OptionalExtension as _;
use rusqlite::types::Value;

use super::connection::column_list;
use super::create::text_value;
use super::draft::MessageDraft;
use super::facts::{SessionFacts, parsed, project_root};
use super::ids::IdSource;
use super::rows::encode_row;
use super::writing::DatabaseChange;
use crate::fields::string_of;
use crate::{WriteError, Writing};

/// Whether an error is about the database, and not about one message.
pub(super) fn is_of_store(e: &WriteError) -> bool {
    !matches!(e, WriteError::BadMessage { .. } | WriteError::Exists { .. })
}

/// What a session says to messages that are added.
pub(super) struct OpenSession<'a, 'b> {
    pub(super) w: &'a Writing<'a>,
    pub(super) change: &'a DatabaseChange<'b>,
    ids: IdSource<'a>,
    pub(super) id: &'a str,
    pub(super) directory: String,
    pub(super) root: String,
    pub(super) agent: String,
    pub(super) model: Option<ModelRef>,
    pub(super) last_user: Option<String>,
    last_time: i64,
    used: Usage,
    /// The ids of the messages that were saved, in the order of the input.
    pub(super) saved: Vec<Option<String>>,
}

impl<'a, 'b> OpenSession<'a, 'b> {
    pub(super) fn of(
        w: &'a Writing<'a>,
        change: &'a DatabaseChange<'b>,
        id: &'a str,
    ) -> Result<Self, WriteError> {
        let line = change.ask(|tx| {
            let sql = format!(
                "SELECT {} FROM session WHERE id = ?1",
                column_list(tx, "session")?
            );
            tx.query_row(&sql, [id], encode_row).optional()
        })?;
        let line = line.ok_or_else(|| change.no_session(id))?;
        let facts = parsed(&line, SessionFacts::of_row).unwrap_or_default();
        if facts.revert.is_some() {
            return Err(WriteError::BadInput(
                "its last messages were taken back; go on in OpenCode, or `fork` it first"
                    .to_owned(),
            ));
        }
        let project = facts.project.clone().unwrap_or_default();
        let worktree = change.ask(|tx| {
            let sql = "SELECT worktree FROM project WHERE id = ?1";
            tx.query_row(sql, [&project], encode_row).optional()
        })?;
        let root = worktree.and_then(|line| {
            let tree = Tree::parse(&line).ok()?;
            project_root(tree.root(&line))
        });
        let head = facts.head(id, None);
        let directory = facts.directory.unwrap_or_default();
        let mut open = Self {
            w,
            change,
            ids: IdSource::new(w.env, change.there()?),
            id,
            root: root.unwrap_or_else(|| directory.clone()),
            directory,
            agent: facts.agent.unwrap_or_else(|| "build".to_owned()),
            model: head.model,
            last_user: None,
            last_time: 0,
            used: Usage::default(),
            saved: Vec::new(),
        };
        open.look_back()?;
        Ok(open)
    }

    /// Looks for the last question, the model that answered it, and the last time.
    fn look_back(&mut self) -> Result<(), WriteError> {
        let sql = "SELECT id, time_created, data FROM message WHERE session_id = ?1
            ORDER BY time_created DESC, id DESC";
        let (id, mut model) = (self.id, self.model.take());
        let (mut user, mut time) = (None, 0);
        self.change.ask(|tx| {
            let mut query = tx.prepare(sql)?;
            let mut rows = query.query([id])?;
            while let Some(row) = rows.next()? {
                time = time.max(row.get(1)?);
                let data = row.get_ref(2)?.as_bytes().unwrap_or_default();
                let Ok(tree) = Tree::parse(data) else {
                    continue;
                };
                let info = tree.root(data);
                let named = info.get("model").unwrap_or(info);
                model = model.take().or_else(|| {
                    Some(ModelRef {
                        provider: string_of(named, "providerID"),
                        id: string_of(named, "modelID")?,
                    })
                });
                if info.get("role").is_some_and(|r| r.is_str("user")) {
                    user = Some(row.get(0)?);
                    break;
                }
            }
            Ok(())
        })?;
        (self.model, self.last_user, self.last_time) = (model, user, time);
        Ok(())
    }

    /// Refuses messages whose id the user chose and that exists, here or among the others.
    pub(super) fn refuse_known_ids(
        &self,
        drafts: &mut [Result<MessageDraft, WriteError>],
    ) -> Result<(), WriteError> {
        let mut known = BTreeSet::new();
        for draft in drafts {
            let Ok(MessageDraft { id: Some(id), .. }) = draft else {
                continue;
            };
            let id = id.clone();
            if !known.insert(id.clone()) || self.change.exists("message", &id)? {
                let path = self.change.path();
                *draft = Err(WriteError::Exists { id, path });
            }
        }
        Ok(())
    }

    pub(super) fn id_of(&self, at: usize) -> Result<String, WriteError> {
        let saved = self.saved.get(at).cloned().flatten();
        saved.ok_or_else(|| WriteError::BadMessage {
            line: None,
            why: "the message with its call was not saved".to_owned(),
        })
    }

    /// Saves a message with its parts, and gives its id.
    pub(super) fn save(&mut self, draft: &MessageDraft) -> Result<String, WriteError> {
        let id = match &draft.id {
            Some(id) => id.clone(),
            None => self.ids.message(),
        };
        let asked = draft.time.unwrap_or(self.w.env.now()).millis();
        let time = asked.max(self.last_time + 1);
        let info = self.info(draft, time)?;
        self.last_time = time;
        let row = |id: String, data: &[u8]| {
            vec![
                ("id", Value::Text(id)),
                ("session_id", text_value(self.id)),
                ("time_created", Value::Integer(time)),
                ("time_updated", Value::Integer(time)),
                ("data", text_value(&String::from_utf8_lossy(data))),
            ]
        };
        self.change.insert("message", row(id.clone(), &info))?;
        for part in &draft.parts {
            let mut columns = row(self.ids.part(), part);
            columns.push(("message_id", text_value(&id)));
            self.change.insert("part", columns)?;
        }
        if let Some(model) = &draft.model {
            // What follows is of the same model, unless it says otherwise.
            let provider = model.provider.clone();
            let known = self.model.take().and_then(|m| m.provider);
            self.model = Some(ModelRef {
                provider: provider.or(known),
                id: model.id.clone(),
            });
        }
        if draft.is_answer {
            self.used += &draft.usage;
        } else {
            self.last_user = Some(id.clone());
        }
        Ok(id)
    }

    /// Notes in the session what was added.
    pub(super) fn touch(&self) -> Result<(), WriteError> {
        let now = self.w.env.now().millis().max(self.last_time);
        let sql = "UPDATE session SET time_updated = max(time_updated, ?1) WHERE id = ?2";
        self.change.ask(|tx| tx.execute(sql, (now, self.id)))?;
        let used = &self.used;
        for (column, count) in [
            ("tokens_input", used.input),
            ("tokens_output", used.output.saturating_sub(used.reasoning)),
            ("tokens_reasoning", used.reasoning),
            ("tokens_cache_read", used.cache_read),
            (
                "tokens_cache_write",
                used.cache_write.saturating_add(used.cache_write_1h),
            ),
        ] {
            let count = i64::try_from(count).unwrap_or(i64::MAX);
            if count > 0 && self.change.has("session", column) {
                let sql = format!("UPDATE session SET {column} = {column} + ?1 WHERE id = ?2");
                self.change.ask(|tx| tx.execute(&sql, (count, self.id)))?;
            }
        }
        Ok(())
    }
}
