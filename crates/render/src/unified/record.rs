//! The session record: one line with everything.

use std::borrow::Cow;
use std::io::{self, Write};

use rethread_model::{
    Block, Bodies, Body, EntryIx, Kind, Message, ModelRef, Moment, Piece, Role, Session, Summary,
    Visibility,
};

use serde_json::value::RawValue;

use super::entry::{EntryPlace, entry_object};
use super::facts::{SessionFacts, write_session_facts};
use super::form::{MessageContext, OriginalWriter, RecordForm};
use super::graph::write_graph;
use super::message::{Envelope, ExtensionWriter, MessageExtensions, NOTHING_AROUND, write_message};
use super::numbers::EntryNumbers;
use super::session::{exported_object, session_object};
use super::tree::MessageTree;
use crate::View;
use crate::json::JsonWriter;
use crate::notice::model_name;
use crate::tool::only_results;
use crate::view::{exported_times, session_span};

/// Writes the session record of the unified vocabulary: one line of JSON.
///
/// Each message is written when its body was read, so no more than one is in memory. Entries that
/// are no messages are in the `extensions` of the message before them, as `followed_by`; those
/// before the first message are in its `preceded_by`. `graph` is there if what was written forks.
///
/// `summary` is what a list says of the session: the numbers are those. What is known besides is told
/// as it was read.
pub fn session_record(out: &mut dyn Write, view: &View<'_>, summary: &Summary) -> io::Result<()> {
    let session = view.session;
    let shown: Vec<EntryIx> = view.shown_entries().collect();
    let is_message = |ix: &EntryIx| session.entry(*ix).kind.is_message();
    let mut tree = MessageTree::new(session, shown.iter().copied().filter(is_message));
    let mut w = JsonWriter::new(out);
    w.open("{")?;
    w.write_member("type", "session")?;
    w.begin_member("session")?;
    let object = session_object(&updated_summary(view, summary), &view.source);
    w.write_literal(&serde_json::to_string(&object)?)?;
    let mut saying = MessageContext::new(RecordForm::Shown, view.bodies);
    let shown = ShownEntries::new(view, &shown, None);
    write_messages(&mut w, &shown, &mut tree, &mut saying, NOTHING)?;
    write_graph(&mut w, session, &mut tree)?;
    w.close("}")?;
    w.end_line()
}

/// What a list says of a session, with what reading it told.
fn updated_summary(view: &View<'_>, summary: &Summary) -> Summary {
    let mut head = view.session.head.clone();
    let listed = &summary.head;
    (head.created, head.updated) = (listed.created, listed.updated);
    head.converted_from.clone_from(&listed.converted_from);
    Summary {
        head,
        ..summary.clone()
    }
}

const NOTHING: ExtensionWriter<'static> = NOTHING_AROUND.before;

/// How a session is exported.
#[derive(Clone, Copy)]
pub struct Export<'a> {
    /// Leave out `extensions`.
    pub lean: bool,
    /// When the session was held, if nobody noted it.
    pub file_time: Moment,
    /// Writes the files that the session came from; nothing where they are not to come along.
    pub original: Option<OriginalWriter<'a>>,
}

/// Writes the session record of an export: one line of JSON, with the document's own fields alone.
///
/// What these cannot say is in the `extensions` of messages, and what belongs to the session as a
/// whole in those of the first message; where there is no message, in those of the session object.
/// All entries of the view are written, in order, and each says where it hangs in the tree if that
/// is not behind the one before it. So a part of a session reads as a session of its own.
pub fn export_record(out: &mut dyn Write, view: &View<'_>, export: &Export<'_>) -> io::Result<()> {
    let session = view.session;
    let form = if export.lean {
        RecordForm::Lean
    } else {
        RecordForm::Export
    };
    let shown: Vec<EntryIx> = view.shown_entries().collect();
    // A lean export has no other place for summaries than messages.
    let summaries = match form {
        RecordForm::Lean => summary_entries(session, view.bodies),
        RecordForm::Shown | RecordForm::Export => Vec::new(),
    };
    let is_message =
        |ix: &EntryIx| session.entry(*ix).kind.is_message() || summaries.binary_search(ix).is_ok();
    let mut tree = MessageTree::new(session, shown.iter().copied().filter(is_message));
    tree.make_ids(session);
    let (start, end) = session_span(session);
    let times = exported_times(session, &summaries, export.file_time);
    let numbers = (!export.lean).then(|| EntryNumbers::new(session, &shown));
    let about = SessionFacts {
        session,
        entries: shown.len(),
        has_times: (start.is_some(), end.is_some()),
        leaf_entry: numbers.as_ref().and_then(EntryNumbers::leaf_number),
    };
    let whole = |w: &mut JsonWriter<'_>| {
        write_session_facts(w, &about)?;
        let Some(original) = export.original else {
            return Ok(());
        };
        w.begin_member("original")?;
        w.value_by(original)
    };
    let mut w = JsonWriter::new(out);
    w.open("{")?;
    w.write_member("type", "session")?;
    w.begin_member("session")?;
    let object = exported_object(&session.head, times, &view.source);
    w.members_of(&serde_json::to_string(&object)?)?;
    let shown = ShownEntries {
        summaries: &summaries,
        ..ShownEntries::new(view, &shown, numbers.as_ref())
    };
    if form == RecordForm::Export && !shown.entries.iter().any(is_message) {
        w.open_if_used("extensions", "{");
        whole(&mut w)?;
        write_entries(&mut w, &shown, "entries", shown.entries)?;
        w.close_if_used("}")?;
    }
    w.close("}")?;
    let mut saying = MessageContext::new(form, view.bodies);
    write_messages(&mut w, &shown, &mut tree, &mut saying, &whole)?;
    write_graph(&mut w, session, &mut tree)?;
    w.close("}")?;
    w.end_line()
}

/// Writes what a model would see as one line of JSON: `write_messages`, `model` and `thinking_level`.
pub fn context_object(
    out: &mut dyn Write,
    view: &View<'_>,
    model: Option<&ModelRef>,
    thinking_level: Option<&str>,
) -> io::Result<()> {
    let shown: Vec<EntryIx> = view.shown_entries().collect();
    let mut tree = MessageTree::new(view.session, shown.iter().copied());
    let mut w = JsonWriter::new(out);
    w.open("{")?;
    let mut saying = MessageContext::new(RecordForm::Shown, view.bodies);
    let shown = ShownEntries::new(view, &shown, None);
    write_messages(&mut w, &shown, &mut tree, &mut saying, NOTHING)?;
    w.member_or_null("model", model.map(model_name).as_deref())?;
    w.member_or_null("thinking_level", thinking_level)?;
    w.close("}")?;
    w.end_line()
}

/// Writes the messages among the entries of a view, one line of JSON each: a message object that
/// says which session and whose it is, instead of its place there.
pub fn message_lines(out: &mut dyn Write, view: &View<'_>) -> io::Result<()> {
    let session = view.session;
    let is_message = |ix: &EntryIx| session.entry(*ix).kind.is_message();
    let messages = || session.indexed().map(|(ix, _)| ix).filter(is_message);
    // Parents are named, whether they are among what is written or not.
    let mut tree = MessageTree::new(session, messages());
    let mut saying = MessageContext::new(RecordForm::Shown, view.bodies);
    let shown: Vec<EntryIx> = view.shown_entries().filter(is_message).collect();
    let written = ShownEntries::new(view, &shown, None);
    let id = serde_json::to_string(&session.head.id)?;
    let agent = serde_json::to_string(session.head.held_by())?;
    for ix in &shown {
        let mut bytes = vec![b'['];
        let mut w = JsonWriter::new(&mut bytes);
        let place = (*ix, 1);
        write_entry(
            &mut w,
            &written,
            &mut tree,
            place,
            NOTHING_AROUND,
            &mut saying,
        )?;
        w.finish()?;
        bytes.push(b']');
        // A message that holds calls with their results is two.
        let objects: Vec<&RawValue> = serde_json::from_slice(&bytes)?;
        for object in objects {
            // Which of the session's messages it is may not be known.
            let members = object.get().strip_prefix("{\"index\":");
            let members = members.and_then(|members| members.split_once(','));
            let (_, members) = members.unwrap_or_default();
            writeln!(out, "{{\"session_id\":{id},\"agent\":{agent},{members}")?;
        }
    }
    Ok(())
}

/// What is written of a session.
struct ShownEntries<'v, 'a> {
    view: &'v View<'a>,
    entries: &'v [EntryIx],
    /// Where entries hang, for an export that brings the tree back.
    numbers: Option<&'v EntryNumbers<'v>>,
    /// Summaries that are written as messages.
    summaries: &'v [EntryIx],
}

impl<'v, 'a> ShownEntries<'v, 'a> {
    fn new(
        view: &'v View<'a>,
        entries: &'v [EntryIx],
        numbers: Option<&'v EntryNumbers<'v>>,
    ) -> Self {
        Self {
            view,
            entries,
            numbers,
            summaries: &[],
        }
    }

    fn is_message(&self, ix: EntryIx) -> bool {
        let is_message = self.view.session.entry(ix).kind.is_message();
        is_message || self.summaries.binary_search(&ix).is_ok()
    }
}

/// Writes the messages among these entries; each holds the entries around it that are none, and the
/// first what is said of the whole.
fn write_messages<'a>(
    w: &mut JsonWriter<'_>,
    written: &ShownEntries<'_, 'a>,
    tree: &mut MessageTree,
    saying: &mut MessageContext<'a>,
    whole: ExtensionWriter<'_>,
) -> io::Result<()> {
    let is_message = |ix: &EntryIx| written.is_message(*ix);
    let shown = written.entries;
    w.begin_member("messages")?;
    w.open("[")?;
    let mut index = 1;
    let mut at = shown.iter().position(is_message).unwrap_or(shown.len());
    let mut before = 0..at;
    while at < shown.len() {
        let ix = shown[at];
        let next = shown[at + 1..]
            .iter()
            .position(is_message)
            .map_or(shown.len(), |n| at + 1 + n);
        let is_first = index == 1;
        let around = MessageExtensions {
            before: &|w| {
                if is_first {
                    whole(w)?;
                }
                write_entries(w, written, "preceded_by", &shown[before.clone()])
            },
            after: &|w| write_entries(w, written, "followed_by", &shown[at + 1..next]),
        };
        index += write_entry(w, written, tree, (ix, index), around, saying)?;
        before = 0..0;
        at = next;
    }
    w.close("]")
}

/// Writes the message or messages of one entry; gives back how many.
fn write_entry<'a>(
    w: &mut JsonWriter<'_>,
    written: &ShownEntries<'_, 'a>,
    tree: &mut MessageTree,
    (ix, index): (EntryIx, u64),
    around: MessageExtensions<'_>,
    saying: &mut MessageContext<'a>,
) -> io::Result<u64> {
    let view = written.view;
    let session = view.session;
    let entry = session.entry(ix);
    let body = view.bodies.body(ix);
    let is_summary = !entry.kind.is_message();
    let mut message = match summary_message(&body) {
        Some(summary) => summary,
        None => match body {
            Body::Message(message) => message,
            _ => Message::new(Role::System, Vec::new()),
        },
    };
    saying.note_calls(&message);
    let results_only = results_only(&message);
    let pieces = match saying.form {
        RecordForm::Shown => Vec::new(),
        RecordForm::Export | RecordForm::Lean => view.bodies.pieces(ix),
    };
    let all: usize = pieces.iter().map(|p| p.blocks).sum();
    let is_in_pieces = pieces.len() > 1 && all == message.blocks.len();
    // A summary is known by the record that says it.
    let pieces = if is_in_pieces || is_summary {
        pieces
    } else {
        Vec::new()
    };
    let parent = tree
        .written_parent(session, ix)
        .map(|p| tree.last_message(session, p).0);
    let named = |record: usize| match saying.form {
        RecordForm::Shown => None,
        RecordForm::Export | RecordForm::Lean => tree.named_parent(session, (ix, record)),
    };
    let own = pieces.first();
    if let Some(piece) = own.filter(|_| is_summary) {
        message.place.clone_from(&piece.place);
    }
    let named_parent = named(own.map_or(0, |piece| piece.record)).map(|(_, id)| id.to_owned());
    let uuid = match own {
        Some(piece) => Cow::Owned(piece.id.clone()),
        None => tree.message_id(session, ix),
    };
    let envelope = Envelope {
        index,
        uuid: &uuid,
        parent_uuid: named_parent.as_deref().or(parent.as_deref()),
        time: entry.time,
        visibility: if is_summary {
            // Nobody typed it.
            Visibility::Injected
        } else {
            entry.visibility
        },
        inherited: entry.inherited,
        side: entry.side,
        usage_key: session.usage_key(ix),
        logical_parent: entry
            .logical_parent
            .filter(|l| l.get() < session.entries().len())
            .map(|l| session.id(l)),
        head: &session.head,
        joined: false,
        parent_entry: written.numbers.and_then(|n| n.parent_number(ix)),
    };
    if pieces.len() > 1 {
        let parents = pieces.iter().map(|piece| named(piece.record));
        let parents: Vec<Option<&str>> = parents.map(|p| p.map(|(_, id)| id)).collect();
        let pieces_of = RecordPieces {
            list: &pieces,
            parents: &parents,
        };
        let count = in_pieces(w, &envelope, message, &pieces_of, around, saying)?;
        tree.note_written(ix, index, false, results_only);
        tree.note_pieces(ix, pieces);
        return Ok(count);
    }
    let written = write_message(w, &envelope, &message, around, saying)?;
    tree.note_written(ix, index, written.count > 1, results_only);
    if !pieces.is_empty() {
        tree.note_pieces(ix, pieces);
    }
    Ok(written.count)
}

/// The records that a message came in.
struct RecordPieces<'a> {
    list: &'a [Piece],
    /// What each of them names as its parent, where that is not the one before.
    parents: &'a [Option<&'a str>],
}

/// Writes a message as its source has it: a message for each of its records. What was used stands
/// with the last.
fn in_pieces(
    w: &mut JsonWriter<'_>,
    envelope: &Envelope<'_>,
    mut message: Message,
    pieces: &RecordPieces<'_>,
    around: MessageExtensions<'_>,
    saying: &MessageContext<'_>,
) -> io::Result<u64> {
    let mut rest = std::mem::take(&mut message.blocks).into_iter();
    let usage = message.usage.take();
    let error = message.error.take();
    let mut before: Option<&str> = None;
    let mut index = envelope.index;
    for (at, (piece, named)) in pieces.list.iter().zip(pieces.parents).enumerate() {
        let (is_first, is_last) = (at == 0, at + 1 == pieces.list.len());
        message.blocks = rest.by_ref().take(piece.blocks).collect();
        if piece.place.is_some() {
            message.place.clone_from(&piece.place);
        }
        message.stop_reason.clone_from(&piece.stop_reason);
        message.stop_sequence.clone_from(&piece.stop_sequence);
        if is_last {
            message.usage = usage;
            message.error.clone_from(&error);
        }
        let own = Envelope {
            index,
            uuid: &piece.id,
            parent_uuid: named.or(before).or(envelope.parent_uuid),
            time: piece.time.or(envelope.time),
            joined: !is_first,
            parent_entry: envelope.parent_entry.filter(|_| is_first),
            logical_parent: envelope.logical_parent.filter(|_| is_first),
            ..*envelope
        };
        let around = MessageExtensions {
            before: if is_first { around.before } else { NOTHING },
            after: if is_last { around.after } else { NOTHING },
        };
        write_message(w, &own, &message, around, saying)?;
        before = Some(&piece.id);
        index += 1;
    }
    Ok(index - envelope.index)
}

fn write_entries(
    w: &mut JsonWriter<'_>,
    written: &ShownEntries<'_, '_>,
    key: &'static str,
    some: &[EntryIx],
) -> io::Result<()> {
    let view = written.view;
    w.open_if_used(key, "[");
    for ix in some {
        let entry = view.session.entry(*ix);
        let place = written.numbers.map(|numbers| EntryPlace {
            parent_entry: numbers.parent_number(*ix),
            usage_key: view.session.usage_key(*ix),
        });
        let named = (view.session.id(*ix), entry);
        entry_object(w, named, &view.bodies.body(*ix), place)?;
    }
    w.close_if_used("]")
}

/// The entries of a session that say what a compaction or another branch came to, in order.
pub fn summary_entries(session: &Session, bodies: &dyn Bodies) -> Vec<EntryIx> {
    let is_one = |kind| matches!(kind, Kind::Compaction | Kind::BranchSummary);
    let kept = session.indexed().filter(|(_, entry)| is_one(entry.kind));
    let says = |ix: &EntryIx| summary_message(&bodies.body(*ix)).is_some();
    kept.map(|(ix, _)| ix).filter(says).collect()
}

/// A summary as a message: an answer where its client asked for it, else told to the model.
fn summary_message(body: &Body) -> Option<Message> {
    let (text, role) = match body {
        Body::Compaction(c) if c.question.is_some() => (c.summary.as_ref()?, Role::Assistant),
        Body::Compaction(c) => (c.summary.as_ref()?, Role::User),
        Body::BranchSummary(branch) => (&branch.summary, Role::User),
        _ => return None,
    };
    let has_text = !text.value.trim().is_empty();
    has_text.then(|| Message::new(role, vec![Block::Text(text.clone())]))
}

fn results_only(message: &Message) -> bool {
    matches!(message.role, Role::User | Role::Tool) && only_results(message)
}
