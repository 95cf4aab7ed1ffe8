//! Reading a session, whichever way it is stored.

use rethread_model::{Link, LinkKind, Note, RawRef, SessionBuilder};

use super::entries::add_entries;
use super::facts::Facts;
use super::layout::{Kept, kept};
use super::said::Said;
use super::{body, export, store, tree};
use crate::times::dated;
use crate::{Conversation, Native, OpenError, Part, Source};

/// All of a session before its entries are made.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) parts: Vec<Part>,
    pub(super) facts: Facts,
    /// The messages in order, with their parts.
    pub(super) said: Vec<Said>,
    pub(super) unclaimed: Vec<RawRef>,
    pub(super) notes: Vec<Note>,
    /// The sessions of sub-agents, by the store's own word.
    pub(super) children: Vec<String>,
    /// The call that started this session.
    pub(super) started_by: Option<String>,
}

/// Reads all of a session's records.
fn gather(source: &Source) -> Result<Gathered, OpenError> {
    match kept(&source.path)? {
        Kept::Database => store::gather(&source.path, &source.id),
        Kept::Tree(place) => tree::gather(&place),
        Kept::Export(file, len) => export::gather(&source.path, file, len),
    }
}

/// Reads a session.
pub(super) fn read(source: &Source) -> Result<Conversation, OpenError> {
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
    let mut session = dated(builder.finish());
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

/// The rows of a session in a database.
pub(super) fn rows(source: &Source) -> Result<Option<Native>, OpenError> {
    if !matches!(kept(&source.path)?, Kept::Database) {
        return Ok(None);
    }
    let parts = gather(source)?.parts;
    Ok(Some(Native { parts }))
}
