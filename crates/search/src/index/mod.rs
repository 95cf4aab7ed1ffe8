//! The full-text index: what the scan would find, without reading conversations again.
//!
//! A cache in a private folder: a document for each text, nothing stored but what a [`Hit`] says. Which
//! conversations are in it, and up to where, is in the catalogue, because only that knows what became of
//! a source since. A conversation that changed is scanned until it is indexed anew.

mod ask;
mod build;
mod directory;
mod entries;
mod schema;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rethread_catalog::{CatalogedSource, Catalogue, IndexedSource, RowId};
use rethread_disk::{DiskError, remove_folder, set_folder_aside};
use rethread_formats::Env;
use rethread_model::Note;
use tantivy::Index;

pub use build::{BuildReport, build_index};
use directory::IndexDirectory;
use schema::{IndexFields, register_tokenizer};

use crate::hit::SearchedSession;

/// The folder of the index in the cache.
const FOLDER: &str = "search-index";
/// Its name while it is out of the way.
const ASIDE: &str = "search-index.unusable";
/// The version of what is in it. It changes with the fields, and with how words are made.
const VERSION: u32 = 2;
/// The value in the catalogue that names the index which its rows are in.
const SETTING: &str = "search_index";

/// The index as it was when it was opened.
pub struct TextIndex {
    index: Index,
    fields: IndexFields,
    /// Up to where each source is in it.
    sources: HashMap<RowId, IndexedSource>,
    folder: PathBuf,
}

impl std::fmt::Debug for TextIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextIndex")
            .field("folder", &self.folder)
            .field("sources", &self.sources.len())
            .finish_non_exhaustive()
    }
}

/// What is in the index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexState {
    /// Its folder.
    pub folder: PathBuf,
    /// How many texts it has.
    pub texts: u64,
    /// How many conversations.
    pub sessions: u64,
    /// How many bytes its files have.
    pub size: u64,
}

/// What is not in the index yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PendingSessions {
    /// How many conversations are new, or changed.
    pub sessions: u64,
    /// How many bytes of them are new.
    pub bytes: u64,
}

/// Who made an index, and for which catalogue.
struct IndexMark {
    version: u32,
    id: String,
}

impl IndexMark {
    fn text(&self) -> String {
        format!("{} {}", self.version, self.id)
    }

    fn parse(text: &str) -> Option<Self> {
        let (version, id) = text.split_once(' ')?;
        Some(Self {
            version: version.parse().ok()?,
            id: id.to_owned(),
        })
    }
}

impl TextIndex {
    /// Opens the index of this environment. None where there is none, or none that can be used; then what
    /// is there is out of the way, and a note says so if that is not what always happens.
    pub fn open(env: &Env, catalogue: &Catalogue, notes: &mut Vec<Note>) -> Option<Self> {
        let folder = index_folder(env);
        if !env.uses_catalogue || !catalogue.is_kept() || !folder.join("meta.json").is_file() {
            return None;
        }
        match Self::open_in(&folder) {
            Ok((index, mark)) => {
                let known = catalogue.setting(SETTING);
                let is_known = known.as_deref() == Some(mark.text().as_bytes());
                if mark.version > VERSION {
                    let why = "a newer version of rethread made it";
                    set_aside(env, &folder, why, notes);
                    return None;
                }
                if mark.version < VERSION || !is_known {
                    // It was made for a catalogue that is there no more.
                    let _ = remove_folder(&folder);
                    return None;
                }
                let (index, opstamp) = index;
                let fields = IndexFields::of(&index.schema());
                let Some(fields) = fields else {
                    set_aside(env, &folder, "it is damaged", notes);
                    return None;
                };
                Some(Self {
                    sources: catalogue.indexed_sources(opstamp),
                    index,
                    fields,
                    folder,
                })
            }
            Err(e) => {
                set_aside(env, &folder, &format!("it is damaged: {e}"), notes);
                None
            }
        }
    }

    fn open_in(folder: &Path) -> tantivy::Result<((Index, u64), IndexMark)> {
        let index = Index::open(IndexDirectory::open(folder)?)?;
        register_tokenizer(&index);
        let metas = index.load_metas()?;
        let mark = metas.payload.as_deref().and_then(IndexMark::parse);
        let mark = mark.unwrap_or(IndexMark {
            version: 0,
            id: String::new(),
        });
        Ok(((index, metas.opstamp), mark))
    }

    /// Whether a source is in the index as it is now.
    pub fn has(&self, source: &CatalogedSource) -> bool {
        let known = source.row.and_then(|row| self.sources.get(&row));
        known.is_some_and(|known| known.upto == upto_of(source))
    }

    /// What is in it.
    pub fn state(&self) -> IndexState {
        let texts = self
            .index
            .reader()
            .map(|reader| reader.searcher().num_docs());
        let files = std::fs::read_dir(&self.folder).into_iter().flatten();
        let sizes = files.flatten().filter_map(|file| file.metadata().ok());
        IndexState {
            folder: self.folder.clone(),
            texts: texts.unwrap_or(0),
            sessions: self.sources.len() as u64,
            size: sizes.map(|meta| meta.len()).sum(),
        }
    }
}

/// What of these conversations is not in the index.
pub fn pending_sessions(
    index: Option<&TextIndex>,
    sessions: &[SearchedSession<'_>],
) -> PendingSessions {
    let mut pending = PendingSessions::default();
    for session in sessions {
        let source = session.cataloged;
        if source.row.is_none() || index.is_some_and(|index| index.has(source)) {
            continue;
        }
        let known = source.row.and_then(|row| index?.sources.get(&row)).copied();
        pending.sessions += 1;
        pending.bytes += match source.read_upto {
            Some(upto) => upto.saturating_sub(known.map_or(0, |known| known.upto)),
            None => session.summary.size,
        };
    }
    pending
}

/// Removes the index. Gives where it was, if there was one.
pub fn clear_index(env: &Env) -> Result<Option<PathBuf>, DiskError> {
    let folder = index_folder(env);
    match remove_folder(&folder) {
        Ok(()) => Ok(Some(folder)),
        Err(DiskError::NotFound { .. }) => Ok(None),
        Err(e) => Err(e),
    }
}

fn index_folder(env: &Env) -> PathBuf {
    env.cache.join(FOLDER)
}

/// Up to where a source is to be indexed.
fn upto_of(source: &CatalogedSource) -> u64 {
    source.read_upto.unwrap_or(IndexedSource::WHOLE)
}

fn set_aside(env: &Env, folder: &Path, why: &str, notes: &mut Vec<Note>) {
    let note = Note::remark(format!("the search index is built anew: {why}")).at(folder);
    if set_folder_aside(folder, &env.cache.join(ASIDE)).is_ok() {
        notes.push(note);
    } else {
        let why = format!("the search index is not used: {why}");
        notes.push(Note::quiet(why).at(folder));
    }
}
