//! The session record: one line with everything.

use std::io::{self, Write};

use rethread_model::{Body, EntryIx, Message, ModelRef, Role};

use super::entry::entry_object;
use super::graph::graph;
use super::message::{Around, Envelope, write_message};
use super::session::opened_object;
use super::tree::Tree;
use crate::View;
use crate::json::Writer;
use crate::notice::model_name;
use crate::tool::only_results;
use crate::view::span;

/// Writes the session record of the unified vocabulary: one line of JSON.
///
/// Each message is written when its body was read, so no more than one is in memory. Entries that
/// are no messages are in the `extensions` of the message before them, as `followed_by`; those
/// before the first message are in its `preceded_by`. `graph` is there if what was written forks.
pub fn session_record(out: &mut dyn Write, view: &View<'_>) -> io::Result<()> {
    let session = view.session;
    let shown: Vec<EntryIx> = view.shown().collect();
    let is_message = |ix: &EntryIx| session.entry(*ix).kind.is_message();
    let mut tree = Tree::new(session, shown.iter().copied().filter(is_message));
    let mut w = Writer::new(out);
    w.open("{")?;
    w.member("type", "session")?;
    w.key("session")?;
    let object = opened_object(
        &session.head,
        span(session),
        session.message_count(),
        &view.source,
    );
    w.literal(&serde_json::to_string(&object)?)?;
    messages(&mut w, view, &shown, &mut tree)?;
    graph(&mut w, session, &mut tree)?;
    w.close("}")?;
    out.write_all(b"\n")
}

/// Writes what a model would see as one line of JSON: `messages`, `model` and `thinking_level`.
pub fn context_object(
    out: &mut dyn Write,
    view: &View<'_>,
    model: Option<&ModelRef>,
    thinking_level: Option<&str>,
) -> io::Result<()> {
    let shown: Vec<EntryIx> = view.shown().collect();
    let mut tree = Tree::new(view.session, shown.iter().copied());
    let mut w = Writer::new(out);
    w.open("{")?;
    messages(&mut w, view, &shown, &mut tree)?;
    w.member_or_null("model", model.map(model_name).as_deref())?;
    w.member_or_null("thinking_level", thinking_level)?;
    w.close("}")?;
    out.write_all(b"\n")
}

/// Writes the messages among these entries; each holds the entries around it that are none.
fn messages(
    w: &mut Writer<'_>,
    view: &View<'_>,
    shown: &[EntryIx],
    tree: &mut Tree,
) -> io::Result<()> {
    let is_message = |ix: &EntryIx| view.session.entry(*ix).kind.is_message();
    w.key("messages")?;
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
        let around = Around {
            before: &|w| entries(w, view, "preceded_by", &shown[before.clone()]),
            after: &|w| entries(w, view, "followed_by", &shown[at + 1..next]),
        };
        index += one(w, view, tree, ix, index, around)?;
        before = 0..0;
        at = next;
    }
    w.close("]")
}

/// Writes the message or messages of one entry; gives back how many.
fn one(
    w: &mut Writer<'_>,
    view: &View<'_>,
    tree: &mut Tree,
    ix: EntryIx,
    index: u64,
    around: Around<'_>,
) -> io::Result<u64> {
    let session = view.session;
    let entry = session.entry(ix);
    let message = match view.bodies.body(ix) {
        Body::Message(message) => message,
        _ => Message::new(Role::System, Vec::new()),
    };
    let parent = tree.parent(session, ix).map(|p| tree.last(session, p).0);
    let envelope = Envelope {
        index,
        uuid: session.id(ix),
        parent_uuid: parent.as_deref(),
        time: entry.time,
        visibility: entry.visibility,
        inherited: entry.inherited,
        side: entry.side,
        usage_key: session.usage_key(ix),
        logical_parent: entry
            .logical_parent
            .filter(|l| l.get() < session.entries().len())
            .map(|l| session.id(l)),
        head: &session.head,
    };
    let written = write_message(w, &envelope, &message, around)?;
    tree.note(ix, index, written.count > 1, results_only(&message));
    Ok(written.count)
}

fn entries(
    w: &mut Writer<'_>,
    view: &View<'_>,
    key: &'static str,
    some: &[EntryIx],
) -> io::Result<()> {
    w.open_if_used(key, "[");
    for ix in some {
        let entry = view.session.entry(*ix);
        entry_object(w, view.session.id(*ix), entry, &view.bodies.body(*ix))?;
    }
    w.close_if_used("]")
}

fn results_only(message: &Message) -> bool {
    matches!(message.role, Role::User | Role::Tool) && only_results(message)
}
