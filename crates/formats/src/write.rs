//! What a user asks to be written, and what came of it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rethread_disk::{DiskError, Durability};
use rethread_model::{Note, Role};

use crate::{Env, NewMessage, RawJson, Source, WriteError};

/// How to write.
#[derive(Clone, Copy, Debug)]
pub struct Writing<'a> {
    /// Clock, randomness, folders.
    pub env: &'a Env,
    /// What is synced before success is reported.
    pub durability: Durability,
    /// How long to wait for another writer.
    pub lock_timeout: Duration,
    /// Write nothing at all where a part cannot be written.
    pub strict: bool,
}

impl Writing<'_> {
    /// The same, but nothing is synced: for what is only prepared and goes away again, and for what
    /// is synced together when all of it is there.
    #[must_use]
    pub fn unsynced(self) -> Self {
        Self {
            durability: Durability::None,
            ..self
        }
    }
}

/// A session to be started.
#[derive(Clone, Debug, Default)]
pub struct NewSession {
    /// The folder that the work is done in.
    pub cwd: PathBuf,
    /// The folder to write to as if it were the agent's root, where the user named one.
    pub root: Option<PathBuf>,
    /// The id; a fresh one where none is given.
    pub id: Option<String>,
    /// The title.
    pub title: Option<String>,
    /// The agent's identifier.
    pub agent_id: Option<String>,
    /// The agent's name.
    pub agent_name: Option<String>,
    /// The agent's version.
    pub agent_version: Option<String>,
    /// The protocol that drives the agent.
    pub protocol: Option<String>,
    /// That protocol's version: a JSON number.
    pub protocol_version: Option<String>,
    /// A JSON object of the application's own data.
    pub metadata: Option<Vec<u8>>,
    /// The session that starts this one as a sub-agent.
    pub parent: Option<Source>,
    /// Fields of the session's description, as a JSON object in the format's own vocabulary.
    pub session_json: Option<Vec<u8>>,
    /// What names the project's folder outside of git.
    pub project_key: Option<ProjectKey>,
    /// What names the session's folder.
    pub agent_key: Option<AgentKey>,
}

/// What names the folder of a project that is in no git repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProjectKey {
    /// One folder for all of them.
    Global,
    /// A folder for each, by the hash of its path.
    Hash,
}

/// What names the folder of a session, behind its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentKey {
    /// The agent's name.
    Name,
    /// The agent's identifier.
    Id,
}

impl NewSession {
    /// Refuses what only some formats have a use for: to ignore it would be a lie.
    pub(crate) fn refuse_special(&self, format: &'static str) -> Result<(), WriteError> {
        let asked = [
            AskedFor::value(self.parent.as_ref(), "sub-agents"),
            AskedFor::value(self.session_json.as_ref(), "description that can be given"),
            AskedFor::value(self.project_key.as_ref(), "project keys"),
            AskedFor::value(self.agent_key.as_ref(), "agent keys"),
        ];
        refuse_asked(format, &asked)
    }
}

/// Something that only some formats can do, and whether it was asked for.
pub(crate) struct AskedFor {
    pub(crate) is_asked: bool,
    /// What a format would have if it could do it.
    pub(crate) what: &'static str,
}

impl AskedFor {
    /// Of a value that is there where it was asked for.
    pub(crate) fn value<T>(value: Option<&T>, what: &'static str) -> Self {
        let is_asked = value.is_some();
        Self { is_asked, what }
    }
}

/// Refuses the first thing that was asked for, by what a format would have if it could do it.
pub(crate) fn refuse_asked(format: &'static str, asked: &[AskedFor]) -> Result<(), WriteError> {
    match asked.iter().find(|asked| asked.is_asked) {
        Some(AskedFor { what, .. }) => Err(WriteError::Unsupported { format, what }),
        None => Ok(()),
    }
}

/// A session or store that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// The session's id; the format's name for a store.
    pub id: String,
    /// Its main file or folder.
    pub path: PathBuf,
    /// The project that it belongs to.
    pub project: PathBuf,
    /// What was created, for people: nothing where all of it existed.
    pub created: Vec<PathBuf>,
    /// What was noticed.
    pub notes: Vec<Note>,
}

impl Made {
    /// A session that is one new file or folder.
    pub(crate) fn of_path(id: String, path: PathBuf, project: PathBuf) -> Self {
        Self {
            id,
            created: vec![path.clone()],
            path,
            project,
            notes: Vec::new(),
        }
    }

    /// The same, with what was noticed.
    pub(crate) fn with_notes(self, notes: Vec<Note>) -> Self {
        Self { notes, ..self }
    }
}

/// A message to be written.
#[derive(Clone, Debug)]
pub enum MessageInput {
    /// Plain text and pictures.
    Text(TextMessage),
    /// A whole message as JSON, in the format's own or the unified vocabulary.
    Json {
        /// The JSON.
        bytes: Vec<u8>,
        /// The line of the input, counted from 1.
        line: u64,
        /// What holds where the message does not say it.
        unsaid: MessageDefaults,
    },
    /// A message as the model has it.
    Message(Box<NewMessage>),
}

impl MessageInput {
    /// The line of the input, counted from 1, where there are several.
    pub(crate) fn line(&self) -> Option<u64> {
        match self {
            Self::Text(_) => None,
            Self::Json { line, .. } => Some(*line),
            Self::Message(new) => Some(new.number),
        }
    }
}

/// What holds where a message does not say it.
#[derive(Clone, Debug, Default)]
pub struct MessageDefaults {
    /// Who says it.
    pub role: Option<Role>,
    /// The model that answered.
    pub model: Option<String>,
}

/// A message of text and pictures.
#[derive(Clone, Debug)]
pub struct TextMessage {
    /// Who says it.
    pub role: Role,
    /// The text.
    pub text: String,
    /// Pictures, as files.
    pub images: Vec<PathBuf>,
    /// The model that answered.
    pub model: Option<String>,
}

/// An entry as the user named it and as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryRef {
    /// Its id.
    pub id: String,
    /// Where its record began when it was found.
    pub offset: u64,
}

/// A session to be copied up to an entry.
#[derive(Clone, Debug, Default)]
pub struct Fork {
    /// The last entry to be copied; all where none is named.
    pub at: Option<EntryRef>,
    /// The folder that the work goes on in; the source's project where none is named.
    pub cwd: Option<PathBuf>,
    /// The title; the source's where none is given.
    pub title: Option<String>,
}

/// A conversation that goes on from an earlier entry.
#[derive(Clone, Copy, Debug)]
pub struct Branch<'a> {
    /// The entry.
    pub at: &'a EntryRef,
    /// What is left behind, in a few words.
    pub summary: Option<&'a str>,
    /// What is said there.
    pub messages: &'a [MessageInput],
}

/// What came of bringing a session to the current version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Migrated {
    /// The version that it had.
    pub from: String,
    /// The version that it has now.
    pub to: String,
    /// Where the old file is; none where there was nothing to do.
    pub backup: Option<PathBuf>,
}

/// What a model would see, in a format's own words. Everything is JSON as the format spells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NativeContext {
    /// The messages.
    pub messages: Vec<RawJson>,
    /// The model, if one was chosen or answered.
    pub model: Option<Vec<u8>>,
    /// How much the model is to think.
    pub thinking_level: Option<String>,
}

/// What of a session is to be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Removal {
    /// These files and folders, in this order.
    Files(Vec<PathBuf>),
    /// Nothing any more: it had no file of its own, and is gone.
    Done,
}

/// What is to be said where messages are saved, and the file that describes their session could not
/// be brought up to date behind them: an error would make somebody save them once more.
pub(crate) fn saved_but(path: &Path, e: &DiskError) -> Note {
    let message = format!("what was given is saved, but the description is not up to date: {e}");
    let hint = "do not add it again; the next message brings the description up to date";
    Note::damage(message).at(path).hint(hint)
}

/// What came of messages that were to be added.
#[derive(Debug, Default)]
pub struct Appended {
    /// For each message its id, or why it was not saved.
    pub ids: Vec<Result<String, WriteError>>,
    /// What was noticed.
    pub notes: Vec<Note>,
}
