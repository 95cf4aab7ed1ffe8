//! Reading a session, whichever way it is stored.

use rethread_model::{Link, LinkKind, Note, RawRef, SessionBuilder, Summary};

use super::entries::add_entries;
use super::facts::{SessionFacts, parsed};
use super::said::PlacedMessage;
use super::store::{SessionStorage, file_stem, list_names, storage_of};
use super::summary::{of_database, of_export, of_tree};
use super::{FORMAT, OpenCode, body, export, session_rows, tree};
use crate::times::with_times;
use crate::unusable::document_unusable;
use crate::{BodyReader, Conversation, Native, OpenError, Part, Reader, Source, Want};

impl Reader for OpenCode {
    /// What a list shows of a session.
    fn summarize(&self, source: &Source, want: Want) -> Summary {
        let path = &source.path;
        let found = storage_of(path).and_then(|kept| match kept {
            SessionStorage::Database => of_database(path, &source.id, want),
            SessionStorage::Tree(place) => of_tree(&place, source, want),
            SessionStorage::Export(file, len) => of_export(source, file, len, want),
        });
        match found {
            Ok(summary) => Summary {
                path: path.clone(),
                ..summary
            },
            Err(e) => {
                let mut summary = source.new_summary();
                document_unusable(&mut summary, &e);
                summary
            }
        }
    }

    /// Reads a session.
    fn read(&self, source: &Source) -> Result<Conversation, OpenError> {
        let Gathered {
            parts,
            facts,
            said,
            unclaimed,
            notes,
            children,
            started_by,
        } = gather(source)?;
        let mut builder = SessionBuilder::new(facts.head(&source.id, None));
        for raw in unclaimed {
            builder.unclaimed(raw);
        }
        let mut links = add_entries(&mut builder, &said, &facts);
        for child in children {
            if links.iter().all(|link| link.session != child) {
                links.push(Link {
                    kind: LinkKind::SubAgent,
                    session: child,
                    entry: None,
                    tool_call: None,
                });
            }
        }
        let head = builder.head();
        if let Some(parent) = head.links.iter_mut().find(|l| l.kind == LinkKind::Parent) {
            parent.tool_call = started_by;
        }
        head.links.extend(links);
        let native = Native { parts };
        let mut session = with_times(builder.finish());
        if facts.is_untitled() {
            let prompt = body::first_prompt(&native, &session);
            session.head.title = facts.head(&source.id, prompt.as_deref()).title;
        }
        let mut source = source.clone();
        source.id.clone_from(&session.head.id);
        Ok(Conversation {
            source,
            native,
            session,
            notes,
        })
    }

    fn bodies(&self) -> &dyn BodyReader {
        self
    }

    /// The sub-agents that a session started, by their own word.
    fn subagents(&self, session: &Conversation) -> Vec<Source> {
        let path = &session.source.path;
        let id = &session.session.head.id;
        match storage_of(path) {
            Ok(SessionStorage::Database) => {
                let found = session_rows::child_ids(path, id).unwrap_or_default();
                let source = |id| Source::new(FORMAT, id, path.clone());
                found.into_iter().map(source).collect()
            }
            Ok(SessionStorage::Tree(place)) => {
                let beside = place.info.parent().map(|f| list_names(f, &mut |_| {}));
                let mut found = Vec::new();
                for file in beside.into_iter().flatten() {
                    let bytes = rethread_disk::read_small(&file).unwrap_or_default();
                    let facts = parsed(&bytes, SessionFacts::of_info);
                    if facts.is_some_and(|f| f.parent.as_ref() == Some(id)) {
                        found.push(Source::new(FORMAT, file_stem(&file), file));
                    }
                }
                found
            }
            // What was exported lies anywhere.
            Ok(SessionStorage::Export(..)) | Err(_) => Vec::new(),
        }
    }

    /// The rows of a session in a database.
    fn rows(&self, source: &Source) -> Result<Option<Native>, OpenError> {
        if !matches!(storage_of(&source.path)?, SessionStorage::Database) {
            return Ok(None);
        }
        let parts = gather(source)?.parts;
        Ok(Some(Native { parts }))
    }
}

/// All of a session before its entries are made.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) parts: Vec<Part>,
    pub(super) facts: SessionFacts,
    /// The messages in order, with their parts.
    pub(super) said: Vec<PlacedMessage>,
    pub(super) unclaimed: Vec<RawRef>,
    pub(super) notes: Vec<Note>,
    /// The sessions of sub-agents, by the store's own word.
    pub(super) children: Vec<String>,
    /// The call that started this session.
    pub(super) started_by: Option<String>,
}

/// Reads all of a session's records.
fn gather(source: &Source) -> Result<Gathered, OpenError> {
    match storage_of(&source.path)? {
        SessionStorage::Database => session_rows::gather_rows(&source.path, &source.id),
        SessionStorage::Tree(place) => tree::gather_files(&place),
        SessionStorage::Export(file, len) => export::gather_export(&source.path, file, len),
    }
}
