//! Writing sessions.

use std::ops::Range;
use std::path::PathBuf;

use rethread_json::Object;
use rethread_model::Note;
use rusqlite::OptionalExtension as _;
use rusqlite::types::Value;

use super::append::{OpenSession, is_of_store};
use super::connection::column_list;
use super::create::{checked_object, existing_database, free_id, schema_version, slug, text_value};
use super::draft::MessageDraft;
use super::facts::{SessionFacts, parsed};
use super::fork::{CopiedSession, insert_row, noted_metadata};
use super::ids::IdSource;
use super::project::ProjectHome;
use super::results::Holder;
use super::rows::{decode_row, encode_row};
use super::store::{SessionStorage, database_for_writing, storage_of};
use super::transcript::{
    KEEPS, RowTranscript, named_model, one_part_message, summary_message, summary_request,
    take_back, unknown,
};
use super::writing::change_database;
use super::{FORMAT, OpenCode};
use crate::transcript::{StepHead, is_apart, left_branches, sums_up};
use crate::{
    Appended, Fork, Keeps, Made, MessageInput, NewSession, Source, StepKind, SubagentWriter,
    TranscriptStep, WriteError, Writer, Writing,
};

impl Writer for OpenCode {
    /// Starts a session.
    fn create(&self, w: &Writing<'_>, new: &NewSession) -> Result<Made, WriteError> {
        let path = match &new.root {
            Some(root) => Some(root.join("opencode.db")),
            None => database_for_writing(w.env),
        };
        let path = existing_database(path)?;
        let metadata = new.metadata.as_deref().map(checked_object).transpose()?;
        change_database(w, &path, |change| {
            let mut ids = IdSource::new(w.env, change.there()?);
            let id = match &new.id {
                Some(id) => free_id(change, id)?,
                None => ids.session(),
            };
            let home = ProjectHome::of(w, change, &new.cwd)?;
            let now = w.env.now();
            let title = match &new.title {
                Some(title) => title.clone(),
                None => format!("New session - {now}"),
            };
            let time = Value::Integer(now.millis());
            change.insert(
                "session",
                vec![
                    ("id", text_value(&id)),
                    ("project_id", text_value(&home.project)),
                    ("slug", text_value(&slug(&id))),
                    ("directory", text_value(&new.cwd.to_string_lossy())),
                    ("path", text_value(&home.relative)),
                    ("title", text_value(&title)),
                    ("version", text_value(&schema_version(change)?)),
                    (
                        "metadata",
                        metadata.as_deref().map_or(Value::Null, text_value),
                    ),
                    ("time_created", time.clone()),
                    ("time_updated", time),
                ],
            )?;
            Ok(Made {
                id,
                path: path.clone(),
                project: new.cwd.clone(),
                created: Vec::new(),
                notes: Vec::new(),
            })
        })
    }

    /// Adds messages. All that can be saved is saved at once.
    fn append(
        &self,
        w: &Writing<'_>,
        source: &Source,
        messages: &[MessageInput],
    ) -> Result<Appended, WriteError> {
        if !matches!(storage_of(&source.path)?, SessionStorage::Database) {
            return Err(FORMAT.cannot("way to be changed outside of the database"));
        }
        change_database(w, &source.path, |change| {
            let mut open = OpenSession::of(w, change, &source.id)?;
            let mut drafts: Vec<Result<MessageDraft, WriteError>> = {
                let now = open.w.env.now();
                messages.iter().map(|m| MessageDraft::of(m, now)).collect()
            };
            open.refuse_known_ids(&mut drafts)?;
            let holders = open.place_results(&mut drafts)?;
            let mut ids = Vec::with_capacity(drafts.len());
            for (draft, holder) in drafts.into_iter().zip(holders) {
                let saved = draft.and_then(|draft| match holder {
                    Some(Holder::Message(id)) if draft.parts.is_empty() => Ok(id),
                    Some(Holder::Draft(at)) if draft.parts.is_empty() => open.id_of(at),
                    _ => open.save(&draft),
                });
                open.saved.push(saved.as_ref().ok().cloned());
                match saved {
                    Err(e) if w.strict || is_of_store(&e) => return Err(e),
                    saved => ids.push(saved),
                }
            }
            open.touch()?;
            Ok(Appended {
                ids,
                notes: Vec::new(),
            })
        })
    }

    /// Sets a session's title. The time of its last message stays.
    fn rename(
        &self,
        w: &Writing<'_>,
        source: &Source,
        title: &str,
    ) -> Result<Vec<Note>, WriteError> {
        if !matches!(storage_of(&source.path)?, SessionStorage::Database) {
            return Err(FORMAT.cannot("way to be changed outside of the database"));
        }
        change_database(w, &source.path, |change| {
            let sql = "UPDATE session SET title = ?1 WHERE id = ?2";
            match change.ask(|tx| tx.execute(sql, [title, &source.id]))? {
                0 => Err(change.no_session(&source.id)),
                _ => Ok(Vec::new()),
            }
        })
    }

    /// Copies a session up to an entry. Messages and parts get ids of their own, as in the client;
    /// everything else in their rows stays.
    fn fork(&self, w: &Writing<'_>, source: &Source, fork: &Fork) -> Result<Made, WriteError> {
        if !matches!(storage_of(&source.path)?, SessionStorage::Database) {
            return Err(FORMAT.cannot("way to be forked outside of the database"));
        }
        change_database(w, &source.path, |change| {
            let line = change.ask(|tx| {
                let sql = format!(
                    "SELECT {} FROM session WHERE id = ?1",
                    column_list(tx, "session")?
                );
                tx.query_row(&sql, [&source.id], encode_row).optional()
            })?;
            let line = line.ok_or_else(|| change.no_session(&source.id))?;
            let facts = parsed(&line, SessionFacts::of_row).unwrap_or_default();
            let past = CopiedSession::of(change, source, fork, &facts)?;
            let mut ids = IdSource::new(w.env, change.there()?);
            let id = ids.session();
            let mut session = decode_row(&line).unwrap_or_default();
            let home = fork
                .cwd
                .as_deref()
                .map(|cwd| ProjectHome::of(w, change, cwd))
                .transpose()?;
            let now = Value::Integer(w.env.now().millis());
            let note = Object::new()
                .str("forkOf", &source.id)
                .opt_str("at", past.messages.last().map(|(id, _)| id.as_str()))
                .u64("messages", past.messages.len() as u64)
                .finish();
            let mut set = |name: &str, value: Value| {
                if let Some((_, old)) = session.iter_mut().find(|(column, _)| column == name) {
                    *old = value;
                }
            };
            set("id", text_value(&id));
            set("slug", text_value(&slug(&id)));
            set("metadata", text_value(&noted_metadata(&line, &note)));
            set("time_created", now.clone());
            set("time_updated", now);
            for gone in [
                "parent_id",
                "share_url",
                "revert",
                "time_compacting",
                "time_archived",
            ] {
                set(gone, Value::Null);
            }
            for counted in [
                "tokens_input",
                "tokens_output",
                "tokens_reasoning",
                "tokens_cache_read",
                "tokens_cache_write",
            ] {
                set(counted, Value::Integer(0));
            }
            set("cost", Value::Real(0.0));
            if let Some(title) = &fork.title {
                set("title", text_value(title));
            }
            let project = fork
                .cwd
                .clone()
                .or_else(|| facts.directory.clone().map(PathBuf::from));
            if let (Some(home), Some(cwd)) = (home, &fork.cwd) {
                set("directory", text_value(&cwd.to_string_lossy()));
                set("project_id", Value::Text(home.project));
                set("path", Value::Text(home.relative));
            }
            insert_row(change, "session", &session)?;
            past.copy(change, &mut ids, &source.id, &id)?;
            Ok(Made {
                id,
                path: source.path.clone(),
                project: project.unwrap_or_default(),
                created: Vec::new(),
                notes: Vec::new(),
            })
        })
    }

    fn keeps(&self) -> Keeps {
        KEEPS
    }

    /// All ways but one that was taken back last, if the conversation is where it parts: a session is one
    /// row of messages.
    fn leaves_out(&self, told: &mut dyn Iterator<Item = TranscriptStep>) -> Vec<Range<usize>> {
        let heads: Vec<StepHead> = told.map(|one| StepHead::of(&one)).collect();
        let end = heads.len().saturating_sub(1);
        let is_back = heads.last().is_some_and(|head| head.is_back);
        let is_out = |way: &Range<usize>| {
            let steps = heads.get(way.clone()).unwrap_or_default();
            way.end != end || !is_back || sums_up(steps) || !is_apart(steps)
        };
        left_branches(&heads).into_iter().filter(is_out).collect()
    }

    /// Writes a conversation into a session that was just made.
    fn write_transcript(
        &self,
        w: &Writing<'_>,
        source: &Source,
        told: &[TranscriptStep],
    ) -> Result<(), WriteError> {
        let mut teller = RowTranscript {
            w: Writing { strict: true, ..*w },
            source,
            said: Vec::new(),
            ids: Vec::with_capacity(told.len()),
        };
        // Each message is of some model, also where a summary comes before all that was said; later ones
        // are of the model of those before them.
        let model = told.iter().find_map(named_model);
        for one in told {
            match &one.step {
                StepKind::Message(message) => {
                    teller.said.push(MessageInput::Message(message.clone()));
                }
                StepKind::Compaction { summary, kept, .. } => {
                    teller.save()?;
                    let kept = kept.and_then(|kept| teller.ids.get(kept));
                    let time = one.time.unwrap_or_else(|| w.env.now());
                    let kept = kept.map(String::as_str);
                    let is_first = teller.ids.is_empty();
                    let model = is_first.then(|| model.clone().unwrap_or_else(unknown));
                    teller.said = vec![
                        one_part_message(summary_request(kept), time, model.clone()),
                        one_part_message(summary_message(summary), time, model),
                    ];
                    // The two are one step.
                    teller.save()?;
                    teller.ids.pop();
                }
                StepKind::Back => {
                    teller.save()?;
                    let first = told.iter().position(|other| other.after == one.after);
                    if let Some(first) = first.and_then(|first| teller.ids.get(first)) {
                        take_back(w, source, first)?;
                    }
                }
                StepKind::BranchSummary(_) | StepKind::Label { .. } => {
                    return Err(WriteError::Unsupported {
                        format: super::SLUG,
                        what: "branches or labels",
                    });
                }
            }
        }
        teller.save()
    }

    fn subagents(&self) -> Option<&dyn SubagentWriter> {
        Some(self)
    }
}
