//! What our session manager says of a session, in the words of the judge.

use rethread_formats::pi::{Leaf, SessionEntry, SessionManager};
use rethread_json::{Array, Object, quote};

use super::strings;

/// All of it, and the context at the entries at these places.
pub(super) fn view(session: &SessionManager, at: &[usize]) -> Vec<u8> {
    let entries = session.entries();
    let raw = |array: Array, entry: &SessionEntry| array.raw(entry.raw());
    let at = at.iter().fold(Array::new(), |array, &place| {
        array.raw(&at_entry(session, entries[place].id()))
    });
    let leaf_entry = session.leaf_entry().map(SessionEntry::id);
    Object::new()
        .raw("header", session.header().raw())
        .raw("entries", &entries.iter().fold(Array::new(), raw).finish())
        .raw("leaf", &or_null(session.leaf_id()))
        .raw("leafEntry", &or_null(leaf_entry))
        .raw("name", &or_null(session.session_name().as_deref()))
        .str("cwd", session.cwd().to_str().unwrap())
        .raw("tree", &tree(session))
        .raw("branch", &ids(&session.branch_path(None)))
        .raw("context", &session.build_session_context().to_json())
        .raw("at", &at.finish())
        .finish()
}

fn at_entry(session: &SessionManager, id: &str) -> Vec<u8> {
    let seen = session.build_session_context_at(Leaf::At(id));
    Object::new()
        .raw("children", &ids(&session.children(id)))
        .raw("branch", &ids(&session.branch_path(Some(id))))
        .raw("context", &seen.to_json())
        .finish()
}

fn tree(session: &SessionManager) -> Vec<u8> {
    let tree = session.tree();
    let nodes = tree.walk().fold(Array::new(), |array, node| {
        let node = Array::new()
            .u64(u64::try_from(node.depth).unwrap())
            .str(session.entries()[node.entry].id())
            .raw(&or_null(node.label.as_deref()))
            .raw(&or_null(node.label_timestamp.as_deref()));
        array.raw(&node.finish())
    });
    nodes.finish()
}

fn ids(entries: &[&SessionEntry]) -> Vec<u8> {
    strings(entries.iter().map(|entry| entry.id()))
}

pub(super) fn or_null(text: Option<&str>) -> Vec<u8> {
    text.map_or_else(|| b"null".to_vec(), quote)
}
