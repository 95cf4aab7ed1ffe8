//! `context`: what a model would see at a point of a conversation.

use rethread_catalog::find;
use rethread_formats::{Conversation, Env, NativeContext, WriteError};
use rethread_model::{EntryIx, Note};

use crate::show::{open, open_with_workspace};
use crate::{Error, entry};

/// A conversation, and the way to the point that was asked for.
#[derive(Debug)]
pub struct ContextPoint {
    /// The conversation.
    pub conversation: Conversation,
    /// The entries from the root to that point.
    pub path: Vec<EntryIx>,
}

/// Reads a conversation up to an entry; up to the leaf where none is named.
pub fn context_point(env: &Env, name: &str, at: Option<&str>) -> Result<ContextPoint, Error> {
    let conversation = open_with_workspace(env, &find(env, name)?)?;
    let path = match at {
        Some(at) => conversation
            .session
            .path(entry::find_entry(&conversation, at)?),
        None => conversation.session.active_path(),
    };
    Ok(ContextPoint { conversation, path })
}

/// What a model would see at an entry, in the format's own words, and what was wrong.
pub fn native_context(
    env: &Env,
    name: &str,
    at: Option<&str>,
) -> Result<(NativeContext, Vec<Note>), Error> {
    let source = find(env, name)?;
    let format = source.format;
    if let Some(words) = format.reader().bodies().own_words() {
        let ContextPoint { conversation, path } = context_point(env, name, at)?;
        let context = words.context(&conversation, &path);
        return Ok((context, conversation.notes));
    }
    let at = match at {
        Some(at) => Some(entry::entry_ref(&open(&source)?, at)?),
        None => None,
    };
    match format.reader().native_context(&source, at.as_ref())? {
        Some(seen) => Ok(seen),
        None => Err(WriteError::Unsupported {
            format: format.slug(),
            what: "words of their own for what a model sees",
        }
        .into()),
    }
}
