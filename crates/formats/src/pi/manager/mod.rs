//! Sessions as an agent works with them: made, opened, appended to, branched and read back.

mod append;
mod branched;
mod content;
mod create;
mod entry_json;
mod error;
mod giant;
mod header;
mod host;
mod info;
mod list;
mod load;
mod message;
pub(crate) mod names;
mod navigate;
mod new_message;
mod store;
mod system;
mod usage;

use std::collections::HashMap;
use std::path::PathBuf;

pub(crate) use branched::{Rehung, changed_entry, label_lines};
pub use content::{BlockKind, Content, ContentBlock};
pub use create::NewSessionOptions;
pub(crate) use entry_json::tool_in;
pub use error::SessionError;
pub use header::SessionHeader;
pub use host::{Agent, Host};
pub use list::{SessionInfo, most_recent_session};
pub(crate) use load::{LONGEST, LoadedEntry, LoadedFile, header as header_of, load, part_of, scan};
pub use message::{Message, MessageBody};
pub use names::session_folder;
pub use new_message::{NewAssistant, NewBash, NewPiMessage, NewToolResult, NewUser};
pub(crate) use store::bring_up_to_date;
pub use usage::{Cost, StopReason, Usage};

use rethread_json::Value;
use rethread_model::Moment;

use super::entry::{EntryKind, SessionEntry};
use super::id::Id;
use super::tree::Label;
use crate::fields::string_of;

/// One session: its entries, where in their tree one is, and the file that they go to.
///
/// Entries form a tree. The leaf is where one is: what is appended becomes its child and the new
/// leaf. [`SessionManager::branch`] moves the leaf to an earlier entry, so that what is appended
/// next begins another branch; nothing is ever removed.
///
/// The file appears with the first message of the user or the model, and never in the place of
/// another. From then on every entry is written at once, as one line in one write call. An entry
/// that could not be written is not in memory either. Files of older versions are read as if they
/// were of today's; the first append writes them anew and keeps the old one with `.bak` behind its
/// name.
///
/// One session manager is meant to write to a file at a time. Others that append to it are not
/// disturbed, but their entries are not seen here before the file is opened again.
///
/// ```
/// use rethread_formats::{Env, pi::{ContentBlock, Host, NewPiMessage, SessionManager}};
///
/// # let home = tempfile::tempdir()?;
/// # let env = Env::from_variables(Default::default(), Some(home.path().into()), home.path().into())?;
/// // In a program, `env` is `Env::system()?`.
/// let host = Host::atomic(env);
/// let mut session = SessionManager::create(&host, "/my/project", None)?;
/// let question = session.append_message(NewPiMessage::user("What is 6 × 7?"))?;
/// let answer = NewPiMessage::assistant([ContentBlock::text("42")])
///     .model("anthropic-messages", "anthropic", "claude-x");
/// session.append_message(answer)?;
///
/// // Ask differently, from before the answer.
/// session.branch(&question)?;
/// session.append_message(NewPiMessage::user("In words, please."))?;
/// assert_eq!(session.build_session_context().messages.len(), 2);
///
/// // It is all there when the session is opened again.
/// let again = SessionManager::open(&host, session.session_file().unwrap(), None)?;
/// assert_eq!(again.entries().len(), 3);
/// assert_eq!(again.leaf_id(), session.leaf_id());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SessionManager {
    host: Host,
    cwd: PathBuf,
    session_dir: PathBuf,
    /// None in memory.
    file: Option<PathBuf>,
    stored: Stored,
    header: SessionHeader,
    /// How many entries stand before those that are held: of a session that is only added to, all
    /// that are in its file.
    past: usize,
    entries: Vec<SessionEntry>,
    /// The last entry with each id.
    index: HashMap<Id, usize>,
    labels: HashMap<Id, Label>,
    leaf: Option<Id>,
    /// When what is added was said, where that is not now.
    time: Option<Moment>,
}

/// What the file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stored {
    /// Nothing yet; for sessions in memory, nothing ever.
    Nothing,
    /// All entries.
    All,
    /// All entries in an older version, in so many bytes.
    Old(u64),
}

/// What a `label` entry says.
struct LabelChange {
    target: Option<String>,
    text: Option<String>,
    timestamp: Option<String>,
}

impl LabelChange {
    fn of(entry: Value<'_>) -> Self {
        Self {
            target: string_of(entry, "targetId"),
            text: string_of(entry, "label"),
            timestamp: string_of(entry, "timestamp"),
        }
    }
}

impl SessionManager {
    /// Takes an entry into memory and moves to it.
    fn remember(&mut self, entry: SessionEntry) {
        self.note(self.past + self.entries.len(), &entry);
        self.entries.push(entry);
    }

    /// Passes by an entry that is not held, and moves to it.
    pub(crate) fn pass(&mut self, entry: Value<'_>) {
        let at = self.past;
        self.past += 1;
        if EntryKind::of(entry.get("type")) == EntryKind::Label {
            self.note_label(at, &LabelChange::of(entry));
        }
        self.move_to(at, Id::of(entry, "id"));
    }

    /// Notes what the entry at that place is called and does, and moves to it.
    fn note(&mut self, at: usize, entry: &SessionEntry) {
        if entry.kind() == EntryKind::Label {
            self.note_label(at, &entry.look(LabelChange::of));
        }
        self.move_to(at, Some(entry.id().into()));
    }

    fn move_to(&mut self, at: usize, id: Option<Id>) {
        if let Some(id) = id.filter(|id| !id.is_empty()) {
            self.index.insert(id.clone(), at);
            self.leaf = Some(id);
        }
    }

    fn note_label(&mut self, at: usize, change: &LabelChange) {
        let Some(target) = &change.target else {
            return;
        };
        match change.text.as_ref().filter(|text| !text.is_empty()) {
            Some(text) => {
                let before = self.labels.get(target.as_str());
                let label = Label {
                    since: before.map_or(at, |label| label.since),
                    text: text.clone(),
                    timestamp: change.timestamp.clone(),
                };
                self.labels.insert(Id::from(target.as_str()), label);
            }
            None => {
                self.labels.remove(target.as_str());
            }
        }
    }

    /// Forgets all entries and takes these instead.
    fn take(&mut self, header: SessionHeader, entries: Vec<SessionEntry>) {
        self.header = header;
        self.past = 0;
        self.index = HashMap::with_capacity(entries.len());
        self.labels.clear();
        self.leaf = None;
        for (at, entry) in entries.iter().enumerate() {
            self.note(at, entry);
        }
        self.entries = entries;
    }

    fn find(&self, id: &str) -> Result<usize, SessionError> {
        let found = self.index.get(id).copied();
        found.ok_or_else(|| SessionError::EntryNotFound { id: id.to_owned() })
    }
}
