//! Starting a session.

use std::path::{Path, PathBuf};

use rethread_json::Document;
use rethread_project::{Repository, relative};
use rusqlite::OptionalExtension as _;
use rusqlite::types::Value;

use super::ids::Ids;
use super::layout::database_for_writing;
use super::writing::{Change, change};
use crate::{Made, NewSession, WriteError, Writing};

/// The version that sessions are said to be of, where the database holds none to go by.
const VERSION: &str = "1.18.33";

/// The project of those folders that are in no repository.
const NO_PROJECT: &str = "global";

/// Starts a session.
pub(super) fn create(w: &Writing<'_>, new: &NewSession) -> Result<Made, WriteError> {
    let path = match &new.root {
        Some(root) => Some(root.join("opencode.db")),
        None => database_for_writing(w.env),
    };
    let path = path.filter(|p| p.is_file()).ok_or_else(|| {
        WriteError::BadInput(
            "there is no database of OpenCode yet; `opencode session list` makes one".to_owned(),
        )
    })?;
    let metadata = new.metadata.as_deref().map(object).transpose()?;
    change(w, &path, |change| {
        let mut ids = Ids::new(w.env, change.there()?);
        let id = match &new.id {
            Some(id) => free(change, id)?,
            None => ids.session(),
        };
        let home = Home::of(w, change, &new.cwd)?;
        let now = w.env.now();
        let title = match &new.title {
            Some(title) => title.clone(),
            None => format!("New session - {now}"),
        };
        let time = Value::Integer(now.millis());
        change.insert(
            "session",
            vec![
                ("id", text(&id)),
                ("project_id", text(&home.project)),
                ("slug", text(&slug(&id))),
                ("directory", text(&new.cwd.to_string_lossy())),
                ("path", text(&home.relative)),
                ("title", text(&title)),
                ("version", text(&version(change)?)),
                ("metadata", metadata.as_deref().map_or(Value::Null, text)),
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

/// A value that is text.
pub(super) fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

fn object(given: &[u8]) -> Result<String, WriteError> {
    let bad = || WriteError::BadInput("the metadata is not a JSON object".to_owned());
    let compact = rethread_json::compact(given).map_err(|_| bad())?;
    let document = Document::parse(compact).map_err(|_| bad())?;
    if !document.root().is_object() {
        return Err(bad());
    }
    String::from_utf8(document.into_bytes()).map_err(|_| bad())
}

/// An id that the user chose, if the client takes it and nobody has it.
fn free(change: &Change<'_>, id: &str) -> Result<String, WriteError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !id.starts_with("ses") || !id.chars().all(plain) {
        return Err(WriteError::BadInput(format!(
            "`{id}` cannot be a session's id: those begin with `ses` and are letters and digits"
        )));
    }
    if change.exists("session", id)? {
        return Err(WriteError::Exists {
            id: id.to_owned(),
            path: change.path(),
        });
    }
    Ok(id.to_owned())
}

/// A name for people that follows from the id.
pub(super) fn slug(id: &str) -> String {
    let end: String = id.chars().rev().take(6).collect();
    format!("rethread-{}", end.to_ascii_lowercase())
}

/// The version of the newest session.
fn version(change: &Change<'_>) -> Result<String, WriteError> {
    let newest = change.ask(|tx| {
        let sql = "SELECT version FROM session ORDER BY time_created DESC LIMIT 1";
        tx.query_row(sql, [], |row| row.get(0)).optional()
    })?;
    Ok(newest.unwrap_or_else(|| VERSION.to_owned()))
}

/// The project that a folder belongs to.
pub(super) struct Home {
    pub(super) project: String,
    /// The folder below the project's root.
    pub(super) relative: String,
}

impl Home {
    /// The project of a folder: that of its repository, which the client must know already, because
    /// only it can name it. What is in no repository belongs to one project together.
    pub(super) fn of(w: &Writing<'_>, change: &Change<'_>, cwd: &Path) -> Result<Self, WriteError> {
        let repository = Repository::find(cwd);
        let mut roots: Vec<PathBuf> = Vec::new();
        if let Some(repository) = &repository {
            roots.extend(repository.main_root());
            roots.push(repository.root().to_owned());
        }
        for root in &roots {
            let found = change.ask(|tx| {
                let sql = "SELECT id FROM project WHERE worktree = ?1 ORDER BY time_updated DESC";
                tx.query_row(sql, [root.to_string_lossy()], |row| row.get(0))
                    .optional()
            })?;
            if let Some(project) = found {
                let below = relative(root, cwd);
                let relative = if below == "." { String::new() } else { below };
                return Ok(Self { project, relative });
            }
        }
        let held_here = change.ask(|tx| {
            let sql = "SELECT project_id, path FROM session WHERE directory = ?1
                ORDER BY time_created DESC LIMIT 1";
            let without = sql.replace(", path", ", ''");
            let sql = if change.has("session", "path") {
                sql
            } else {
                &without
            };
            let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get::<_, Option<String>>(1)?));
            tx.query_row(sql, [cwd.to_string_lossy()], row).optional()
        })?;
        if let Some((project, relative)) = held_here {
            return Ok(Self {
                project,
                relative: relative.unwrap_or_default(),
            });
        }
        if let Some(root) = roots.last() {
            return Err(WriteError::BadInput(format!(
                "OpenCode does not know the project `{}` yet; run `opencode session list` in it once",
                root.display()
            )));
        }
        if !change.exists("project", NO_PROJECT)? {
            let time = Value::Integer(w.env.now().millis());
            change.insert(
                "project",
                vec![
                    ("id", text(NO_PROJECT)),
                    ("worktree", text("/")),
                    ("time_created", time.clone()),
                    ("time_updated", time),
                    ("sandboxes", text("[]")),
                ],
            )?;
        }
        Ok(Self {
            project: NO_PROJECT.to_owned(),
            relative: relative(Path::new("/"), cwd),
        })
    }
}
