//! From what a user types to one entry of a session.

use rethread_formats::{Conversation, EntryRef};
use rethread_model::EntryIx;

use crate::Error;

/// Finds an entry by its id, the beginning of its id, or its place as `#12`, counted from 1.
pub(crate) fn find_entry(conversation: &Conversation, name: &str) -> Result<EntryIx, Error> {
    let session = &conversation.session;
    let path = &conversation.source.path;
    let missing = || Error::NoEntry {
        name: name.to_owned(),
        path: path.clone(),
    };
    if let Some(number) = name.strip_prefix('#') {
        let number: usize = number.parse().map_err(|_| missing())?;
        let place = number
            .checked_sub(1)
            .filter(|n| *n < session.entries().len());
        return place.and_then(EntryIx::new).ok_or_else(missing);
    }
    if name.is_empty() {
        return Err(missing());
    }
    if let Some(exact) = session.find(name) {
        return Ok(exact);
    }
    let begins = |ix: &EntryIx| session.id(*ix).starts_with(name);
    let found: Vec<EntryIx> = session.indexed().map(|(ix, _)| ix).filter(begins).collect();
    match found.as_slice() {
        [] => Err(missing()),
        [one] => Ok(*one),
        several => Err(Error::AmbiguousEntry {
            name: name.to_owned(),
            count: several.len(),
            path: path.clone(),
        }),
    }
}

/// The entry as a writer needs it.
pub(crate) fn entry_ref(conversation: &Conversation, name: &str) -> Result<EntryRef, Error> {
    let ix = find_entry(conversation, name)?;
    let origin = conversation.session.origin(ix).first();
    let span = origin.and_then(|raw| conversation.native.span(*raw));
    // An entry of several records has several ids, and the user may mean one of the records.
    let is_exact = conversation.session.find(name) == Some(ix);
    let id = if is_exact {
        name
    } else {
        conversation.session.id(ix)
    };
    Ok(EntryRef {
        id: id.to_owned(),
        offset: span.map_or(0, |s| s.start),
    })
}
