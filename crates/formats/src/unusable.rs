//! Files that are no conversation, for all formats: which are healthy, which cannot be looked at, and
//! which are damaged.

use std::io::Read;
use std::path::Path;

use rethread_disk::{DiskError, open_read};
use rethread_model::{Head, LinkKind, Note, State, Summary, TitleSource};

use crate::{Can, ExportReader, FORMATS, FormatRef, OpenError, SavedScan, Source, Want, by_name};

/// How a pointer of Git LFS begins.
const POINTER: &[u8] = b"version https://git-lfs";
/// How much of a file is looked at.
const LOOK: u64 = 256;

/// Why an empty file is no conversation.
const EMPTY: &str = "an empty file; the session was never written";
/// Why a pointer of Git LFS is no conversation.
const ELSEWHERE: &str = "a pointer of Git LFS; the session itself is not here";
/// Why a document without anything in it is no conversation.
const NOTHING: &str = "an empty document; nothing was written to it yet";
/// Why a session without messages is no conversation.
const SILENT: &str = "nothing was said in it";

/// What a list shows of a session, whatever its format. All that lists go through this, so that they
/// agree on what a conversation is.
pub fn summarize(source: &Source, want: Want) -> Summary {
    settled(source.format.reader().summarize(source, want))
}

/// The same, going on from where an earlier scan of the session ended; and where the next one can go on.
pub fn summarize_from(
    source: &Source,
    want: Want,
    from: Option<&SavedScan>,
) -> (Summary, Option<SavedScan>) {
    let reader = source.format.reader();
    let (summary, saved) = reader.summarize_from(source, want, from);
    (settled(summary), saved)
}

fn settled(mut summary: Summary) -> Summary {
    settle_times(&mut summary.head);
    if is_silent(&summary) {
        summary.state = State::Empty;
        if summary.notes.is_empty() {
            let path = summary.path.clone();
            summary.notes.push(Note::quiet(SILENT).at(path));
        }
    }
    summary
}

/// A session never ends before it begins. One that was copied from another may say when the copy was
/// made, and its messages when they were written.
fn settle_times(head: &mut Head) {
    head.made = head.made.max(head.created);
    if head.updated.is_some() && head.created > head.updated {
        head.created = head.updated;
    }
}

/// Whether a healthy session is no conversation: neither a person nor a model said something in it,
/// nobody named it, and it started nobody else. Clients leave such files whenever they are opened and
/// closed again. What says when it began is a session that somebody started, even if nothing was said
/// in it yet; and formats without a client of their own have none that nobody meant.
fn is_silent(summary: &Summary) -> bool {
    let head = &summary.head;
    let counts = &summary.counts;
    let named = |source| source > TitleSource::Summary;
    // What clients tell the model by themselves is nothing that somebody said.
    let only_told =
        head.title.is_none() && counts.assistant_messages == 0 && counts.tool_calls == 0;
    let nothing_said = match counts.messages {
        0 => head.created.is_none(),
        _ => only_told,
    };
    let has_client = |format: FormatRef| format.can(Can::Resume);
    summary.state == State::Ready
        && by_name(head.format).is_some_and(has_client)
        && nothing_said
        && !head.title.as_ref().is_some_and(|t| named(t.source))
        && !head.links.iter().any(|l| l.kind == LinkKind::SubAgent)
}

/// Why a file without any record holds no conversation, if it is healthy: nothing was written to it,
/// or it is kept elsewhere.
pub fn why_empty(path: &Path) -> Option<&'static str> {
    let mut start = Vec::new();
    let file = open_read(path).ok()?;
    file.take(LOOK).read_to_end(&mut start).ok()?;
    let is_document = path.extension().is_some_and(|e| e == "json");
    let is_all = (start.len() as u64) < LOOK;
    match start.trim_ascii() {
        [] if is_all => Some(EMPTY),
        b"[]" | b"{}" if is_all && is_document => Some(NOTHING),
        text if text.starts_with(POINTER) => Some(ELSEWHERE),
        _ => None,
    }
}

/// Whether a file is an export in which there is no session. One that could be unpacked only in part
/// may have had some.
pub fn has_no_sessions(path: &Path) -> bool {
    exports().any(|exports| exports.has_no_sessions(path))
}

/// Why a packed file that is named as an export may be could be unpacked only in part.
pub fn unpacking_damage(path: &Path) -> Option<String> {
    exports().find_map(|exports| exports.unpacking_damage(path))
}

fn exports() -> impl Iterator<Item = &'static dyn ExportReader> {
    FORMATS
        .iter()
        .filter_map(|format| format.reader().exports())
}

/// Says of a session that its file holds no record: healthy if it is empty, else damaged for this
/// reason.
pub(crate) fn holds_no_record(summary: &mut Summary, otherwise: &str) {
    let path = summary.path.clone();
    let (state, note) = match why_empty(&path) {
        Some(why) => (State::Empty, Note::quiet(why)),
        None => (State::Damaged, Note::damage(otherwise)),
    };
    summary.state = state;
    summary.notes.push(note.at(path));
}

/// Says of a session that it could not be opened.
pub(crate) fn cannot_be_opened(summary: &mut Summary, e: &OpenError) {
    summary.state = match e {
        OpenError::Disk(DiskError::NotFound { .. }) => State::Empty,
        OpenError::Disk(e) if e.io().is_some() => State::Unreadable,
        _ => State::Damaged,
    };
    let note = match summary.state {
        State::Empty => Note::quiet(e.to_string()),
        _ => Note::damage(e.to_string()),
    };
    summary.notes.push(note.at(&summary.path));
}

/// Says of a session that is a whole document why it could not be read: healthy if the file is empty.
pub(crate) fn document_unusable(summary: &mut Summary, e: &OpenError) {
    match e {
        OpenError::Disk(_) => cannot_be_opened(summary, e),
        _ => holds_no_record(summary, &e.to_string()),
    }
}
