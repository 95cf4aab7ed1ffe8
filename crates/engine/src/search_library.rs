//! All conversations of this machine as a search needs them, and `index`.

use std::path::PathBuf;

use rethread_catalog::{Catalogue, CatalogueState, Listing, clear_catalogue, list_with};
use rethread_formats::{Env, Want};
use rethread_model::Note;
use rethread_search::{
    BuildReport, IndexState, PendingSessions, TextIndex, build_index, clear_index, pending_sessions,
};

use crate::Error;
use crate::search::searched_sessions;

/// So much that is not in the index is added to it after an answer; less is read each time.
const WORTH_ADDING: u64 = 4 << 20;

/// All conversations of this machine as a search needs them: what a list knows, and the index.
#[derive(Debug)]
pub struct SearchLibrary {
    pub(crate) listing: Listing,
    pub(crate) index: Option<TextIndex>,
    /// What was noticed.
    pub(crate) notes: Vec<Note>,
    catalogue: Catalogue,
}

/// What is known of conversations from before: the catalogue and the search index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexOverview {
    /// The catalogue; none where nothing is kept.
    pub catalogue: Option<CatalogueState>,
    /// The index; none where there is none yet.
    pub index: Option<IndexState>,
    /// What is not in the index.
    pub pending: PendingSessions,
}

impl SearchLibrary {
    /// Looks for all conversations. `progress` is told how many are read of how many that are new or
    /// changed.
    pub fn open(env: &Env, progress: &(dyn Fn(usize, usize) + Sync)) -> Self {
        let catalogue = Catalogue::open(env);
        let mut listing = list_with(env, &catalogue, Want::default(), &[], progress);
        let mut notes = std::mem::take(&mut listing.notes);
        let index = TextIndex::open(env, &catalogue, &mut notes);
        Self {
            listing,
            index,
            notes,
            catalogue,
        }
    }

    /// What was noticed so far.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Whether so much is not in the index that it is worth adding it now.
    pub fn is_worth_indexing(&self) -> bool {
        self.catalogue.is_kept() && self.pending().bytes > WORTH_ADDING
    }

    fn pending(&self) -> PendingSessions {
        pending_sessions(self.index.as_ref(), &searched_sessions(&self.listing))
    }

    /// Adds to the index what is not in it. `progress` is told how many bytes of how many are done.
    pub fn update_index(&self, env: &Env, progress: &(dyn Fn(u64, u64) + Sync)) -> BuildReport {
        let sessions = searched_sessions(&self.listing);
        build_index(env, &self.catalogue, &sessions, progress)
    }

    /// What is known from before.
    pub fn overview(&self) -> IndexOverview {
        IndexOverview {
            catalogue: self.catalogue.state(),
            index: self.index.as_ref().map(TextIndex::state),
            pending: self.pending(),
        }
    }
}

/// Removes what is known of conversations from before. Gives the folders that were there.
pub fn clear_search_cache(env: &Env) -> Result<Vec<PathBuf>, Error> {
    let index = clear_index(env)?;
    let catalogue = clear_catalogue(env)?;
    Ok(index.into_iter().chain(catalogue).collect())
}
