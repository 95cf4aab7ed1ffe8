//! Changes to a session that is there. All of them add lines.

use rethread_disk::Durability;
use rethread_json::Tree;
use rethread_model::Moment;

use super::addition::Addition;
use super::message::entries_to_add;
use super::{open, refused};
use crate::pi::manager::SessionManager;
use crate::pi::{CURRENT_VERSION, Flavour};
use crate::{
    Appended, Branch, EntryRef, MessageInput, Migrated, Migrator, Source, TreeWriter, WriteError,
    Writing,
};

impl Migrator for Flavour {
    /// Brings a session to the current version.
    fn migrate(&self, w: &Writing<'_>, source: &Source) -> Result<Migrated, WriteError> {
        let Some(header) = crate::pi::manager::header_of(&source.path) else {
            return Err(source.not_ours().into());
        };
        let mut session = open(self, w, source)?;
        let backup = session.migrate();
        let backup = backup.map_err(|e| refused(e, self, &source.path))?;
        let from = header.version();
        Ok(Migrated {
            from: from.to_string(),
            to: from.max(CURRENT_VERSION).to_string(),
            backup,
        })
    }
}

impl TreeWriter for Flavour {
    /// Goes on from an earlier entry.
    fn branch(
        &self,
        w: &Writing<'_>,
        source: &Source,
        branch: &Branch<'_>,
    ) -> Result<Appended, WriteError> {
        if branch.summary.is_none() && branch.messages.is_empty() {
            return Err(WriteError::BadInput(
                "a bare move to another entry is not stored: give a summary or a message"
                    .to_owned(),
            ));
        }
        let mut addition = Addition::open(self, w, source)?;
        let (session, at) = (&mut addition.session, branch.at.id.as_str());
        let moved = match branch.summary {
            Some(summary) => session
                .branch_with_summary(Some(at), summary, None, None)
                .map(Some),
            None => session.branch(at).map(|()| None),
        };
        let summary = moved.map_err(|e| refused(e, self, &source.path))?;
        let mut ids = add_messages(self, w, &mut addition, branch.messages)?;
        ids.splice(0..0, summary.map(Ok));
        write_addition(addition, ids)
    }

    /// Sets a bookmark, or takes it away.
    fn label(
        &self,
        w: &Writing<'_>,
        source: &Source,
        entry: &EntryRef,
        label: Option<&str>,
    ) -> Result<Appended, WriteError> {
        let mut addition = Addition::open(self, w, source)?;
        let id = addition.session.append_label_change(&entry.id, label);
        let id = id.map_err(|e| refused(e, self, &source.path))?;
        write_addition(addition, vec![Ok(id)])
    }
}

/// What came of each message.
type AppendResults = Vec<Result<String, WriteError>>;

/// Writes what was added.
pub(in crate::pi) fn write_addition(
    addition: Addition<'_>,
    ids: AppendResults,
) -> Result<Appended, WriteError> {
    let notes = addition.write()?.into_iter().collect();
    Ok(Appended { ids, notes })
}

/// Adds messages where the session is. With `strict`, all of them are understood before one is
/// added.
pub(in crate::pi) fn add_messages(
    flavour: &Flavour,
    w: &Writing<'_>,
    addition: &mut Addition<'_>,
    messages: &[MessageInput],
) -> Result<AppendResults, WriteError> {
    let path = addition.path().to_owned();
    if w.strict {
        for message in messages {
            entries_to_add(message, addition)?;
        }
    }
    let mut ids = Vec::with_capacity(messages.len());
    for message in messages {
        let added = entries_to_add(message, addition).and_then(|parts| {
            let session = &mut addition.session;
            session.set_time(said_at(message));
            let mut last = String::new();
            for part in parts {
                let added = part.append_to(session);
                last = added.map_err(|e| refused(e, flavour, &path))?;
            }
            Ok(last)
        });
        ids.push(added.map_err(|e| e.in_message(message)));
    }
    addition.session.set_time(None);
    Ok(ids)
}

/// When a message says that it was said.
fn said_at(message: &MessageInput) -> Option<Moment> {
    match message {
        MessageInput::Text(_) => None,
        MessageInput::Message(new) => new.time,
        MessageInput::Json { bytes, .. } => {
            let tree = Tree::parse(bytes).ok()?;
            tree.root(bytes).get("timestamp")?.str()?.parse().ok()
        }
    }
}

/// Makes what was added survive a crash of the machine, where that was asked for.
pub(in crate::pi) fn sync_session(
    flavour: &Flavour,
    w: &Writing<'_>,
    source: &Source,
    session: &SessionManager,
) -> Result<(), WriteError> {
    if w.durability == Durability::None {
        return Ok(());
    }
    let synced = session.sync();
    synced.map_err(|e| refused(e, flavour, &source.path))
}
