//! Folders that the beginnings of sessions name, for finding stores in projects.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rethread_disk::{FileStamp, FileTime};
use rethread_formats::SavedState;
use rusqlite::params;

use super::Catalogue;
use super::facts::{numbers_of, stamp_of};

/// What was known before of the newest sessions of projects, and what is new.
pub(crate) struct NamedFolders<'a> {
    catalogue: &'a Catalogue,
    known: HashMap<Vec<u8>, (Vec<u8>, Vec<u8>)>,
    news: Vec<(Vec<u8>, Vec<u8>, Vec<u8>)>,
}

impl<'a> NamedFolders<'a> {
    pub(crate) fn load(catalogue: &'a Catalogue) -> Self {
        let known = catalogue.ask(|db| {
            let sql = "SELECT project, file, facts FROM named_folder";
            let mut query = db.connection.prepare_cached(sql)?;
            let rows = query.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?;
            rows.collect()
        });
        Self {
            catalogue,
            known: known.unwrap_or_default(),
            news: Vec::new(),
        }
    }

    /// The folder that a session names, the newest of a project: as it is known, else as `read` finds it.
    pub(crate) fn folder_of(
        &mut self,
        project: &Path,
        session: &Path,
        stamp: FileStamp,
        read: impl FnOnce(&Path) -> Option<PathBuf>,
    ) -> Option<PathBuf> {
        let bytes = |path: &Path| path.as_os_str().as_encoded_bytes().to_vec();
        let (project, file) = (bytes(project), bytes(session));
        if let Some((known, facts)) = self.known.get(&project)
            && *known == file
            && let Some(known) = KnownFolder::load(facts, &stamp)
        {
            return known.folder;
        }
        let began = FileTime::now();
        let folder = read(session);
        if self.catalogue.is_kept() && !stamp.is_recent_at(began) {
            let mut facts = Vec::new();
            numbers_of(stamp).save(&mut facts);
            folder.save(&mut facts);
            self.news.push((project, file, facts));
        }
        folder
    }

    /// Writes down what is new. It is no matter if that fails.
    pub(crate) fn save(self) {
        let Self {
            catalogue, news, ..
        } = self;
        if news.is_empty() {
            return;
        }
        let mut database = catalogue.database.borrow_mut();
        let Some(db) = database.as_mut().filter(|db| !db.is_read_only) else {
            return;
        };
        let mut save = || {
            let transaction = db.connection.transaction()?;
            for (project, file, facts) in &news {
                let sql = "INSERT OR REPLACE INTO named_folder VALUES (?1, ?2, ?3)";
                let mut insert = transaction.prepare_cached(sql)?;
                insert.execute(params![project, file, facts])?;
            }
            transaction.commit()
        };
        if let Err(e) = save() {
            catalogue.notes.borrow_mut().extend(db.cannot_write(&e));
        }
    }
}

/// The folder that a session names, if it names one.
struct KnownFolder {
    folder: Option<PathBuf>,
}

impl KnownFolder {
    /// What is known of a session, if that is as it was.
    fn load(mut facts: &[u8], stamp: &FileStamp) -> Option<Self> {
        let known = stamp_of(SavedState::load(&mut facts)?);
        let folder = SavedState::load(&mut facts)?;
        (known == *stamp).then_some(Self { folder })
    }
}
