//! How much of a conversation goes along when another agent goes on with it.

use rethread_formats::Conversation;
use rethread_model::{Block, Bodies as _, Body, EntryIx, Kind, Message, Role, Visibility};

use crate::{Error, entry};

/// How much of a conversation goes along.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trim<'a> {
    /// Only the last so many messages, from the beginning of a turn on.
    pub last: Option<usize>,
    /// Only what comes from this entry on, from the beginning of its turn.
    pub from: Option<&'a str>,
    /// What is said in the place of the rest.
    pub summary: Option<&'a str>,
}

impl Trim<'_> {
    pub(super) fn is_all(&self) -> bool {
        *self == Self::default()
    }

    /// The entries that go along.
    pub(super) fn kept_entries(&self, conversation: &Conversation) -> Result<Vec<EntryIx>, Error> {
        let session = &conversation.session;
        let mut path = session.active_path();
        let is_turn = |ix: &EntryIx| {
            let entry = session.entry(*ix);
            entry.kind == Kind::Message(Role::User)
                && entry.visibility == Visibility::Visible
                && matches!(conversation.body(*ix), Body::Message(m) if is_asked(&m))
        };
        let mut start = 0;
        if let Some(name) = self.from {
            let from = entry::find_entry(conversation, name)?;
            let at = path.iter().position(|ix| *ix == from);
            start = at.ok_or_else(|| {
                Error::usage(format!(
                    "`{name}` is not on the way to where the session is"
                ))
            })?;
        }
        if let Some(last) = self.last {
            let messages = path.iter().enumerate().filter(|(_, ix)| {
                let entry = session.entry(**ix);
                entry.kind.is_message() && entry.visibility == Visibility::Visible
            });
            let places: Vec<usize> = messages.map(|(at, _)| at).collect();
            let at = places.len().saturating_sub(last.max(1));
            start = start.max(places.get(at).copied().unwrap_or(0));
        }
        let turn = path
            .get(..=start)
            .unwrap_or_default()
            .iter()
            .rposition(is_turn);
        path.drain(..turn.unwrap_or(0));
        Ok(path)
    }
}

/// Whether a message is something that a person asked, and not what a tool gave.
fn is_asked(message: &Message) -> bool {
    let is_result = |block: &Block| matches!(block, Block::ToolResult(_));
    !message.blocks.is_empty() && !message.blocks.iter().any(is_result)
}
