//! What the model is shown, in the words of the programs themselves.

use std::collections::HashMap;

use rethread_model::Note;

use super::id::Id;
use super::manager::{Loaded, load};
use super::{Flavour, context};
use crate::{AskedEntry, NativeContext, OpenError, Source};

/// What the model is shown at an entry; at the last one where none is named. Also says what is
/// damaged in the file.
pub(crate) fn native_context(
    flavour: &Flavour,
    source: &Source,
    at: Option<&AskedEntry>,
) -> Result<(NativeContext, Vec<Note>), OpenError> {
    let Loaded::Session(lines) = load(&source.path)? else {
        return Err(OpenError::NotOurs {
            path: source.path.clone(),
            format: flavour.slug,
        });
    };
    let entries = lines.entries;
    let mut index: HashMap<Id, usize> = HashMap::with_capacity(entries.len());
    for (i, entry) in entries
        .iter()
        .enumerate()
        .filter(|(_, e)| !e.id().is_empty())
    {
        index.insert(Id::from(entry.id()), i);
    }
    let last = || {
        let named = entries.iter().rposition(|e| !e.id().is_empty());
        named.or(entries.len().checked_sub(1))
    };
    let from = match at {
        Some(at) => index.get(at.id.as_str()).copied().or_else(last),
        None => last(),
    };
    let path = from.map(|from| context::path(&entries, &index, from));
    let context = context::build(&path.unwrap_or_default(), flavour.program);
    let context = NativeContext {
        messages: context.messages,
        model: context.model.map(|model| model.raw().to_vec()),
        thinking_level: Some(context.thinking_level),
    };
    Ok((context, lines.passed_over))
}
