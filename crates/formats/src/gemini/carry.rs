//! What travels along in a log, and where logs go.

use std::path::{Path, PathBuf};

use rethread_disk::LockedLog;
use rethread_json::{Object, Value};

use super::SLUG;
use super::layout::with_id;
use super::project::CHATS;
use super::write::project_folder;
use crate::carry::{Goods, Place, Put, below, in_lines, put_files};
use crate::{Conversation, OpenError, Source, WriteError, Writing};

/// The key of a line that holds what the client has no place for. It skips lines without an id.
pub(super) const OURS: &str = "rethreadCarried";

/// The project's folder, which also holds what tools gave.
pub(super) fn base(source: &Source) -> PathBuf {
    let folder = source.path.parent();
    let project = folder.filter(|f| f.ends_with(CHATS)).and_then(Path::parent);
    project.or(folder).unwrap_or(&source.path).to_owned()
}

/// Puts a session into its project's folder. The client knows sessions by their ids, whatever their
/// files are called: an id that is there in another file is taken.
pub(super) fn put(w: &Writing<'_>, place: &Place, goods: &Goods) -> Result<Put, WriteError> {
    let mut shelf = project_folder(w, place)?;
    if !goods.main().contains('/') {
        shelf.push(CHATS);
    }
    let path = below(&shelf, goods.main())?;
    let other = with_id(&Source::new(SLUG, goods.id.clone(), path.clone()));
    match other.filter(|other| *other != path) {
        Some(path) => Err(WriteError::Exists {
            id: goods.id.clone(),
            path,
        }),
        None => put_files(w, goods, &shelf),
    }
}

/// Keeps values in lines of their own.
pub(super) fn stow(w: &Writing<'_>, source: &Source, items: &[Vec<u8>]) -> Result<(), WriteError> {
    let mut log = LockedLog::open(&source.path, w.lock_timeout)?;
    let mut lines = Vec::new();
    for item in items {
        lines.extend(Object::new().raw(OURS, item).finish());
        lines.push(b'\n');
    }
    log.append(&lines)?;
    if w.durability.syncs() {
        log.sync()?;
    }
    Ok(())
}

/// The values that travel in a log.
pub(super) fn stowed(conversation: &Conversation) -> Result<Vec<Vec<u8>>, OpenError> {
    fn find(line: Value<'_>) -> Option<Value<'_>> {
        line.get(OURS)
    }
    in_lines(conversation, find)
}
