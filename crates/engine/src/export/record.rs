//! One session as one line.

use std::cell::RefCell;
use std::io::{self, Write};

use rethread_formats::carry::{damaged_originals, original_files, write_object};
use rethread_formats::{Agents, Conversation, RecordKind, UnifiedRecord};
use rethread_json::{Patch, Tree, split_lines};
use rethread_model::{EntryIx, Moment, Note, RawRef};
use rethread_render::{Export, SourceInfo, Utf8, View, export_record, summary_entries};

use super::progress::{StepProgress, WatchedBodies};

/// How a session becomes a line.
pub(super) struct RecordOptions<'a> {
    /// Where it was found.
    pub(super) source: SourceInfo,
    /// When its file was changed, for a session that says nothing of time.
    pub(super) file_time: Moment,
    /// Leave out what the document's vocabulary cannot say.
    pub(super) lean: bool,
    /// Take the files of its sub-agents along, which are in no record of their own.
    pub(super) agents: bool,
    /// What was wrong.
    pub(super) notes: &'a RefCell<Vec<Note>>,
    /// How many bytes its files are.
    pub(super) size: u64,
    /// How far it is.
    pub(super) steps: StepProgress<'a>,
}

/// Writes the line of a session, whole.
pub(super) fn write_record(
    out: &mut dyn Write,
    conversation: &Conversation,
    way: RecordOptions<'_>,
) -> io::Result<()> {
    if !way.lean {
        way.notes.borrow_mut().extend(original_damage(conversation));
    }
    // Summaries are in what a lean line leaves out, and become messages of it.
    let adds_summaries =
        way.lean && !summary_entries(&conversation.session, conversation).is_empty();
    let exports = conversation.source.format.reader().exports();
    if let Some(record) = exports.and_then(|exports| exports.unified_record(conversation))
        && !adds_summaries
    {
        return as_it_is(out, conversation, record, &way);
    }
    let agents = (way.agents && !way.lean).then(|| Agents::of(conversation));
    let files = if way.lean {
        Vec::new()
    } else {
        original_files(conversation, agents.as_ref()).unwrap_or_else(|e| {
            let note = Note::damage(format!("its files do not come along: {e}"));
            let note = note.at(&conversation.source.path);
            way.notes.borrow_mut().push(note);
            Vec::new()
        })
    };
    let note = |note| way.notes.borrow_mut().push(note);
    // To pack the files takes about as long as to write what follows them.
    let passed = |read: u64| (way.steps)((read.min(way.size), way.size.saturating_mul(2)));
    let carry = |out: &mut dyn Write| write_object(out, &files, &mut |n| note(n), &passed);
    let packed = u64::from(!files.is_empty());
    let steps = |(done, of)| (way.steps)((done + packed * of, of + packed * of));
    let export = Export {
        lean: way.lean,
        file_time: way.file_time,
        original: (!files.is_empty()).then_some(&carry),
    };
    let entries: Vec<EntryIx> = conversation.session.indexed().map(|(ix, _)| ix).collect();
    let bodies = WatchedBodies {
        bodies: conversation,
        entries: entries.len(),
        steps: &steps,
    };
    let view = View {
        bodies: &bodies,
        ..record_view(conversation, way.source, entries)
    };
    export_record(out, &view, &export)
}

/// What is wrong with originals that travel along, which are copied as they are.
pub(super) fn original_damage(conversation: &Conversation) -> Vec<Note> {
    damaged_originals(conversation).unwrap_or_else(|e| {
        let note = Note::damage(format!("what travels along cannot be read: {e}"));
        vec![note.at(&conversation.source.path)]
    })
}

/// Writes a line with some entries of a session, with all that they say. The files that the session
/// came from hold the others, too, and do not come along.
pub(super) fn write_part(
    out: &mut dyn Write,
    conversation: &Conversation,
    entries: Vec<EntryIx>,
    way: RecordOptions<'_>,
) -> io::Result<()> {
    let export = Export {
        lean: way.lean,
        file_time: way.file_time,
        original: None,
    };
    export_record(
        out,
        &record_view(conversation, way.source, entries),
        &export,
    )
}

fn record_view(conversation: &Conversation, source: SourceInfo, entries: Vec<EntryIx>) -> View<'_> {
    View {
        session: &conversation.session,
        bodies: conversation,
        entries,
        path: &conversation.source.path,
        source,
        agent: None,
        summary: None,
    }
}

/// Copies a line that is in the unified vocabulary already: nothing in it is computed anew. Lines of
/// unknown types that stand around it go with it.
fn as_it_is(
    out: &mut dyn Write,
    conversation: &Conversation,
    line: UnifiedRecord,
    way: &RecordOptions<'_>,
) -> io::Result<()> {
    let lean = way.lean;
    let native = &conversation.native;
    let raw = |record| RawRef {
        part: line.part,
        record,
    };
    let is_carried = |record| native.record_kind(raw(record)) == Some(RecordKind::Carried);
    let mut out = Utf8::new(out);
    if let Some(before) = line.before {
        unknown_lines(&mut out, &native.read(raw(before))?)?;
    }
    let mut at = line.first;
    while at <= line.last {
        let (done, of) = (at - line.first, line.last - line.first);
        (way.steps)((done.into(), of.into()));
        if !lean && (is_carried(at) || native.record_kind(raw(at)) == Some(RecordKind::Giant)) {
            native.copy(raw(at), &mut out)?;
            at += 1;
            continue;
        }
        let mut bytes = native.read(raw(at))?;
        if lean && is_carried(at + 1) {
            bytes.extend_from_slice(b"null");
            at += 2;
            bytes.extend(native.read(raw(at))?);
        }
        if at == line.last {
            bytes.truncate(bytes.trim_ascii_end().len());
        }
        if lean {
            bytes = without_extensions(bytes);
        }
        out.write_all(&bytes)?;
        at += 1;
    }
    out.write_all(b"\n")?;
    if let Some(behind) = line.behind {
        unknown_lines(&mut out, &native.read(raw(behind))?)?;
    }
    out.finish()
}

/// Copies lines that are JSON. Others were noted when the file was read.
fn unknown_lines(out: &mut dyn Write, bytes: &[u8]) -> io::Result<()> {
    for (_, line) in split_lines(bytes) {
        if Tree::parse(line).is_ok() {
            out.write_all(line.trim_ascii_end())?;
            out.write_all(b"\n")?;
        }
    }
    Ok(())
}

/// A piece of a line without what `extensions` hold: of a message, or of the session object.
fn without_extensions(bytes: Vec<u8>) -> Vec<u8> {
    let start = bytes.iter().position(|b| *b == b'{').unwrap_or(0);
    let (around, object) = bytes.split_at(start);
    let mut tree = Tree::default();
    if tree.parse_into(object).is_ok() {
        let message = tree.root(object);
        let Some(metadata) = message.get("metadata") else {
            return bytes;
        };
        if metadata.get("extensions").is_none() {
            return bytes;
        }
        let mut patch = Patch::new(message);
        if metadata.members().count() == 1 {
            patch.remove(message, "metadata");
        } else {
            patch.remove(metadata, "extensions");
        }
        return [around, &patch.finish()].concat();
    }
    let Some(at) = memchr::memmem::find(&bytes, b"\"session\":{") else {
        return bytes;
    };
    let at = at + b"\"session\":".len();
    let Ok(end) = tree.parse_prefix(&bytes, at) else {
        return bytes;
    };
    let session = tree.root(&bytes);
    if session.get("extensions").is_none() {
        return bytes;
    }
    let mut tree = Tree::default();
    let object = bytes.get(at..end).unwrap_or_default();
    if tree.parse_into(object).is_err() {
        return bytes;
    }
    let mut patch = Patch::new(tree.root(object));
    patch.remove(tree.root(object), "extensions");
    let tail = bytes.get(end..).unwrap_or_default();
    [&bytes[..at], &patch.finish(), tail].concat()
}
