//! The sessions that places were found to hold, so that a place whose folder is as it was is not listed
//! again: there may be thousands of projects with a store of a few sessions each.

use std::path::PathBuf;

use rethread_disk::{FileStamp, FileTime};
use rethread_formats::{Root, SavedState, Source};
use rethread_model::Note;
use rusqlite::params;

use super::Catalogue;
use super::facts::{hash_of, numbers_of, stamp_of};

/// Of places with more sessions than these, nothing is kept: to list one costs less than its sessions do.
const MOST_SOURCES: usize = 32;

/// What is known of places from before, and what is new.
#[derive(Debug)]
pub(crate) struct ListedPlaces {
    began: FileTime,
    /// Whether something can be written down.
    is_kept: bool,
    /// Sorted by format and path.
    known: Vec<KnownPlace>,
    news: Vec<KnownPlace>,
}

#[derive(Debug)]
struct KnownPlace {
    format: String,
    path: Vec<u8>,
    facts: Vec<u8>,
}

/// The sessions of a place, and what is to be kept of them if that is new.
pub(crate) struct PlaceListing {
    pub(crate) found: Vec<Result<Source, Note>>,
    facts: Option<Vec<u8>>,
}

impl Default for ListedPlaces {
    /// Nothing is known.
    fn default() -> Self {
        Self {
            began: FileTime::now(),
            is_kept: false,
            known: Vec::new(),
            news: Vec::new(),
        }
    }
}

impl ListedPlaces {
    pub(crate) fn load(catalogue: &Catalogue) -> Self {
        let began = FileTime::now();
        let known = catalogue.ask(|db| {
            let sql = "SELECT format, path, listed FROM root WHERE listed IS NOT NULL \
                       ORDER BY format, path";
            let mut query = db.connection.prepare_cached(sql)?;
            let rows = query.query_map([], |row| {
                Ok(KnownPlace {
                    format: row.get(0)?,
                    path: row.get(1)?,
                    facts: row.get(2)?,
                })
            })?;
            rows.collect()
        });
        Self {
            began,
            is_kept: catalogue.is_kept(),
            known: known.unwrap_or_default(),
            news: Vec::new(),
        }
    }

    /// The sessions in a place: as they are known if nothing changed that decides it, else as its format
    /// lists them.
    pub(crate) fn list_place(&self, root: &Root) -> PlaceListing {
        let seen = self.is_kept.then(|| Seen::of(root)).flatten();
        let known = seen
            .as_ref()
            .and_then(|seen| load_sources(self.facts_of(root)?, seen, root));
        if let Some(sources) = known {
            return PlaceListing {
                found: sources.into_iter().map(Ok).collect(),
                facts: None,
            };
        }
        let mut found = Vec::new();
        root.format.store().list(root, &mut |one| found.push(one));
        let seen = seen.filter(|seen| seen.is_settled_at(self.began));
        let facts = seen.and_then(|seen| save_sources(&found, &seen, root));
        PlaceListing { found, facts }
    }

    fn facts_of(&self, root: &Root) -> Option<&[u8]> {
        let key = (root.format.slug(), root.path.as_os_str().as_encoded_bytes());
        let order = |place: &KnownPlace| (place.format.as_str(), place.path.as_slice()).cmp(&key);
        let at = self.known.binary_search_by(order).ok()?;
        Some(&self.known.get(at)?.facts)
    }

    /// Remembers what was found in a place until it is saved.
    pub(crate) fn note(&mut self, root: &Root, listed: &PlaceListing) {
        if let Some(facts) = &listed.facts {
            self.news.push(KnownPlace {
                format: root.format.slug().to_owned(),
                path: root.path.as_os_str().as_encoded_bytes().to_vec(),
                facts: facts.clone(),
            });
        }
    }

    /// Writes down what is new. It is no matter if that fails.
    pub(crate) fn save(&mut self, catalogue: &Catalogue) {
        let news = std::mem::take(&mut self.news);
        if news.is_empty() {
            return;
        }
        catalogue.ask_to_write(|connection| {
            let transaction = connection.transaction()?;
            for place in &news {
                let KnownPlace {
                    format,
                    path,
                    facts,
                } = place;
                let sql = "INSERT INTO root (format, path, listed) VALUES (?1, ?2, ?3) \
                           ON CONFLICT (format, path) DO UPDATE SET listed = excluded.listed";
                let mut insert = transaction.prepare_cached(sql)?;
                insert.execute(params![format, path, facts])?;
            }
            transaction.commit()
        });
    }
}

/// What is seen now of all that decides which sessions are in a place.
struct Seen {
    folder: FileStamp,
    files: Vec<Option<FileStamp>>,
}

impl Seen {
    /// None where it takes more than a look to know.
    fn of(root: &Root) -> Option<Self> {
        let folder = root.seen.folder?.stamp;
        let files = root.format.store().listed_by(root)?;
        Some(Self {
            folder,
            files: files.iter().map(|path| FileStamp::at(path)).collect(),
        })
    }

    fn is_settled_at(&self, time: FileTime) -> bool {
        let mut stamps = self.files.iter().flatten().chain([&self.folder]);
        stamps.all(|stamp| !stamp.is_recent_at(time))
    }
}

/// The bytes that are kept of a place. They begin with a hash of the others.
fn save_sources(found: &[Result<Source, Note>], seen: &Seen, root: &Root) -> Option<Vec<u8>> {
    if found.len() > MOST_SOURCES {
        return None;
    }
    let mut out = vec![0; 8];
    numbers_of(seen.folder).save(&mut out);
    (seen.files.len() as u64).save(&mut out);
    for stamp in &seen.files {
        stamp.map(numbers_of).save(&mut out);
    }
    (found.len() as u64).save(&mut out);
    for one in found {
        // What could not be looked at is looked at again.
        let source = one.as_ref().ok()?;
        if source.format != root.format || source.home.is_some() || source.window.is_some() {
            return None;
        }
        source.id.save(&mut out);
        source
            .path
            .strip_prefix(&root.path)
            .ok()?
            .to_owned()
            .save(&mut out);
        source.refused_store.save(&mut out);
        source.place.save(&mut out);
    }
    let hash = hash_of(out.get(8..)?);
    out.get_mut(..8)?.copy_from_slice(&hash.to_le_bytes());
    Some(out)
}

/// The sessions that are known, if all that decides it is as it was.
fn load_sources(facts: &[u8], seen: &Seen, root: &Root) -> Option<Vec<Source>> {
    let (hash, mut bytes) = facts.split_first_chunk()?;
    let bytes = &mut bytes;
    if stamp_of(SavedState::load(bytes)?) != seen.folder {
        return None;
    }
    let files = usize::try_from(u64::load(bytes)?).ok()?;
    if files != seen.files.len() {
        return None;
    }
    for stamp in &seen.files {
        if <Option<[u64; 5]>>::load(bytes)?.map(stamp_of) != *stamp {
            return None;
        }
    }
    if u64::from_le_bytes(*hash) != hash_of(facts.get(8..)?) {
        return None;
    }
    let len = usize::try_from(u64::load(bytes)?).ok()?;
    let mut sources = Vec::with_capacity(len.min(MOST_SOURCES));
    for _ in 0..len {
        let id = SavedState::load(bytes)?;
        let inside: PathBuf = SavedState::load(bytes)?;
        sources.push(Source {
            refused_store: SavedState::load(bytes)?,
            place: SavedState::load(bytes)?,
            ..Source::new(root.format, id, root.path.join(inside))
        });
    }
    bytes.is_empty().then_some(sources)
}
