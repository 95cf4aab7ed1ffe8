//! What is known of the sessions of this machine from before, so that only what changed is read.
//!
//! A cache: one SQLite file in a private folder. It can be deleted at any time without loss, and never
//! makes an answer wrong. A source that was read has a row ([`facts`]) with all that its summary was made
//! of and what was seen of these files then; [`refresh`] compares, and reads what is another one now.
//! Where the file cannot be used, all is read and kept in memory.

mod database;
mod facts;
mod fresh;
mod indexed;
mod ledgers;
mod listed_places;
mod named_folders;
mod overview;
mod refresh;
mod write;

use std::cell::RefCell;
use std::path::PathBuf;

use rethread_disk::remove_folder;
use rethread_formats::{Env, Source};
use rethread_model::{Note, Summary};

use database::{Database, FOLDER};
pub use indexed::{IndexedBatch, IndexedEntries, IndexedSource};
pub use ledgers::KeptLedger;
pub(crate) use listed_places::{KnownProject, ListedPlaces, PlaceListing};
pub(crate) use named_folders::NamedFolders;
pub use overview::CatalogueState;
pub(crate) use refresh::SourcesOfRoot;

/// The number of a source in the catalogue. A source whose content was replaced, and not only added to,
/// gets another one; none is ever used twice, unless the catalogue is built anew.
pub type RowId = i64;

/// A source with its place in the catalogue.
#[derive(Clone, Debug)]
pub struct CatalogedSource {
    /// Where the session is.
    pub source: Source,
    /// The session's id, as it says itself.
    pub id: String,
    /// Its number; none where nothing could be written down.
    pub row: Option<RowId>,
    /// Up to which byte of its log was read, where it is a log that is only added to.
    pub read_upto: Option<u64>,
}

/// A source that was looked at, and what a list shows of it.
#[derive(Clone, Debug)]
pub(crate) struct RefreshedSource {
    pub(crate) summary: Summary,
    pub(crate) row: Option<RowId>,
    pub(crate) read_upto: Option<u64>,
}

/// What is known of sessions from before.
#[derive(Debug)]
pub struct Catalogue {
    /// None: all is kept in memory.
    database: RefCell<Option<Database>>,
    notes: RefCell<Vec<Note>>,
    /// How many sources were read because they were new or changed.
    read: RefCell<usize>,
}

impl Catalogue {
    /// Opens the catalogue of this environment. Trouble with it is only noted.
    pub fn open(env: &Env) -> Self {
        let mut notes = Vec::new();
        let database = if env.uses_catalogue {
            Database::open(env, &mut notes)
        } else {
            None
        };
        Self {
            database: RefCell::new(database),
            notes: RefCell::new(notes),
            read: RefCell::new(0),
        }
    }

    /// Whether what was found out is kept for the next time.
    pub fn is_kept(&self) -> bool {
        self.database.borrow().is_some()
    }

    /// How many sources were read, because they were new or had changed.
    pub fn sources_read(&self) -> usize {
        *self.read.borrow()
    }

    /// What was noticed so far, told once.
    pub(crate) fn take_notes(&self) -> Vec<Note> {
        self.notes.take()
    }

    /// Asks the database something. If that fails, nothing of it is used any more.
    fn ask<T>(&self, ask: impl FnOnce(&mut Database) -> rusqlite::Result<T>) -> Option<T> {
        let mut database = self.database.borrow_mut();
        match ask(database.as_mut()?) {
            Ok(answer) => Some(answer),
            Err(e) => {
                if let Some(broken) = database.take() {
                    self.notes.borrow_mut().push(broken.give_up(&e));
                }
                None
            }
        }
    }
}

/// Removes the catalogue. Gives where it was, if there was one.
pub fn clear_catalogue(env: &Env) -> Result<Option<PathBuf>, rethread_disk::DiskError> {
    let folder = env.cache.join(FOLDER);
    match remove_folder(&folder) {
        Ok(()) => Ok(Some(folder)),
        Err(rethread_disk::DiskError::NotFound { .. }) => Ok(None),
        Err(e) => Err(e),
    }
}
