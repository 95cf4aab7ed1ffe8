//! What travels along in a log, and where logs go.

use std::path::{Path, PathBuf};

use rethread_disk::read_small;
use rethread_json::{Document, Object, Patch, Tree, Value, split_lines};

use super::client::is_old;
use super::project::CHATS;
use super::store::with_id;
use super::write::{project_folder, renew_session};
use super::{FORMAT, Gemini};
use crate::carry::{InstallTarget, Put, SessionFiles, in_lines, join_checked, put_files};
use crate::session_log::SessionLog;
use crate::{Carrier, Conversation, OpenError, Source, WriteError, Writing};

/// The key of a line that holds what the client has no place for. It skips lines without an id.
pub(super) const OURS: &str = "rethreadCarried";

/// When a session last changed, as it says itself.
const UPDATED: &str = "lastUpdated";

impl Carrier for Gemini {
    /// Keeps values in lines of their own.
    fn embed_original(
        &self,
        w: &Writing<'_>,
        source: &Source,
        items: &[Vec<u8>],
    ) -> Result<(), WriteError> {
        let mut log = SessionLog::open(w, &source.path)?;
        let mut lines = Vec::new();
        for item in items {
            lines.extend(Object::new().raw(OURS, item).finish());
            lines.push(b'\n');
        }
        log.append(&lines)?;
        Ok(())
    }

    /// The values that travel in a log.
    fn embedded_original(&self, conversation: &Conversation) -> Result<Vec<Vec<u8>>, OpenError> {
        fn find(line: Value<'_>) -> Option<Value<'_>> {
            line.get(OURS)
        }
        in_lines(conversation, find)
    }

    fn destination_folder(
        &self,
        _: &Writing<'_>,
        _: &InstallTarget,
        _main: &str,
    ) -> Result<PathBuf, WriteError> {
        Err(FORMAT.cannot("store that sessions can be put into"))
    }

    /// Puts a session into its project's folder. The client knows sessions by their ids, whatever their
    /// files are called: an id that is there in another file is taken.
    fn install(
        &self,
        w: &Writing<'_>,
        place: &InstallTarget,
        goods: &SessionFiles,
    ) -> Result<Put, WriteError> {
        let mut shelf = project_folder(w, place)?;
        let name = goods.main();
        // Prompts and checkpoints are beside the folder of chats.
        let is_chat = name != "logs.json" && !name.starts_with("checkpoint");
        if !name.contains('/') && is_chat {
            shelf.push(CHATS);
        }
        let path = join_checked(&shelf, goods.main())?;
        let other = with_id(&Source::new(FORMAT, goods.id.clone(), path.clone()));
        if let Some(path) = other.filter(|other| *other != path) {
            return Err(WriteError::Exists {
                id: goods.id.clone(),
                path,
            });
        }
        let here = goods.folder.join(goods.main());
        // Only in its own store does the client delete anything.
        if place.root.is_some() || !is_old(&here, w.env.now()) {
            return put_files(w, goods, &shelf);
        }
        if path.is_file() && is_renewed(&here, &path) {
            return Ok(Put::There(path));
        }
        if !path.is_file() {
            renew_session(w, &Source::new(FORMAT, goods.id.clone(), here))?;
        }
        match put_files(w, goods, &shelf)? {
            Put::New(path) => Ok(Put::Renewed(path)),
            put => Ok(put),
        }
    }
}

/// Whether a file is another one that was renewed, and nothing else.
fn is_renewed(old: &Path, new: &Path) -> bool {
    let (Ok(old), Ok(new)) = (read_small(old), read_small(new)) else {
        return false;
    };
    if let Some(added) = new.strip_prefix(old.as_slice()) {
        return split_lines(added).all(|(_, line)| is_renewal(line));
    }
    let of_any_time = |bytes: Vec<u8>| {
        let document = Document::parse(bytes).ok()?;
        let mut patch = Patch::new(document.root());
        patch.set(document.root(), UPDATED, b"0");
        Some(patch.finish())
    };
    of_any_time(old).is_some_and(|old| of_any_time(new) == Some(old))
}

/// Whether a line says that a session changed, and nothing else.
fn is_renewal(line: &[u8]) -> bool {
    let Ok(tree) = Tree::parse(line) else {
        return false;
    };
    let set = tree.root(line).get("$set");
    set.is_some_and(|set| set.get(UPDATED).is_some() && set.members().count() == 1)
}
