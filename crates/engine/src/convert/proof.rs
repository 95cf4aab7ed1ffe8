//! Whether a change of an original is the one that somebody made in what carries it: the original is told
//! to the format of the carrier once more, and must say the same there.

use rethread_disk::ScratchFolder;
use rethread_formats::carry::Scope;
use rethread_formats::{Conversation, Source, Writing};

use super::changes::{SessionChanges, WrittenBlocks};
use super::history::MessageHistory;
use super::unified;
use super::write::converted_digests;
use crate::Error;

/// Whether a changed original says where it was carried what the carrier says now, and nothing else.
/// Where that cannot be tried, because it was told otherwise then, nothing else of the original may say
/// what was changed.
pub(super) fn is_proved(
    w: &Writing<'_>,
    here: &Conversation,
    (original, changed): (&Conversation, &Conversation),
    (before, changes): (&WrittenBlocks, &SessionChanges),
) -> Result<bool, Error> {
    if told_again(w, here, original, before.scope)?.as_ref() != Some(&before.marks) {
        return Ok(changes.are_of_unique_words(here, original, before));
    }
    let mut wanted = before.marks.clone();
    for change in &changes.blocks {
        if let Some(mark) = wanted.get_mut(change.place) {
            *mark = change.mark;
        }
    }
    Ok(told_again(w, here, changed, before.scope)? == Some(wanted))
}

/// What an original says where it is carried; none where it cannot be told again.
fn told_again(
    w: &Writing<'_>,
    here: &Conversation,
    original: &Conversation,
    scope: Scope,
) -> Result<Option<Vec<u64>>, Error> {
    if here.source.format.is_for_exports() {
        let folder = ScratchFolder::new()?;
        let again =
            unified::exported_session(w, &original.source, &folder.path().join("again.ndjson"))?;
        return Ok(
            again.map(|again| MessageHistory::only_digests(&again, &again, scope).block_digests())
        );
    }
    let root = store_of(&here.source);
    Ok(converted_digests(w, original, (here.source.format, root), scope).ok())
}

/// The folder that a session lies in: formats look there for how their stores are laid out.
fn store_of(source: &Source) -> Option<std::path::PathBuf> {
    source.path.parent().map(std::path::Path::to_owned)
}
