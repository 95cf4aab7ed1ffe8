//! The sessions that places were found to hold, so that a place whose folder is as it was is not listed
//! again: there may be thousands of projects with a store of a few sessions each.

use std::path::Path;

use rethread_disk::{FileStamp, FileTime, see_folder};
use rethread_formats::{FormatRef, Found, Root, SavedState, SeenPlace, Source};
use rethread_model::Note;
use rusqlite::params;

use super::Catalogue;
use super::facts::{hash_of, numbers_of};

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

/// A folder of a project that is known as a place, with its sessions.
pub(crate) struct KnownProject {
    pub(crate) root: Root,
    pub(crate) sources: Vec<Source>,
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

    /// The folder of a project as a place, if it is known as one and nothing changed that decides it: then
    /// its format need not locate it.
    pub(crate) fn known_project(&self, format: FormatRef, folder: &Path) -> Option<KnownProject> {
        let facts = self.facts_of(format, folder)?;
        let by = format.store().located_by(folder)?;
        let root = Root {
            format,
            path: folder.to_owned(),
            found: Found::Known,
            seen: SeenPlace {
                folder: Some(see_folder(&by.sessions)?),
                is_main_worktree: true,
            },
        };
        let sources = load_sources(facts, &Seen::of(&root)?, &root)?;
        Some(KnownProject { root, sources })
    }

    /// The sessions in a place: as they are known if nothing changed that decides it, else as its format
    /// lists them.
    pub(crate) fn list_place(&self, root: &Root) -> PlaceListing {
        let seen = self.is_kept.then(|| Seen::of(root)).flatten();
        let known = seen
            .as_ref()
            .and_then(|seen| load_sources(self.facts_of(root.format, &root.path)?, seen, root));
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

    fn facts_of(&self, format: FormatRef, path: &Path) -> Option<&[u8]> {
        let key = (format.slug(), path.as_os_str().as_encoded_bytes());
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
    /// What says that it is a place by itself, where it is.
    boundary: Option<FileStamp>,
}

impl Seen {
    /// None where it takes more than a look to know.
    fn of(root: &Root) -> Option<Self> {
        let folder = root.seen.folder?.stamp;
        let store = root.format.store();
        let files = store.listed_by(root)?;
        // Only of a place by itself is it known that it is one.
        let boundary = if root.seen.is_main_worktree {
            Some(FileStamp::at(&store.located_by(&root.path)?.boundary)?)
        } else {
            None
        };
        Some(Self {
            folder,
            files: files.iter().map(|path| FileStamp::at(path)).collect(),
            boundary,
        })
    }

    fn is_settled_at(&self, time: FileTime) -> bool {
        let mut stamps = self.all_stamps().flatten();
        stamps.all(|stamp| !stamp.is_recent_at(time))
    }

    fn all_stamps(&self) -> impl Iterator<Item = Option<FileStamp>> {
        let files = self.files.iter().copied();
        files
            .chain(self.boundary.map(Some))
            .chain([Some(self.folder)])
    }

    /// The same bytes for the same, and for nothing else.
    fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(192);
        out.push(u8::from(self.boundary.is_some()));
        for stamp in self.all_stamps() {
            out.push(u8::from(stamp.is_some()));
            let numbers = numbers_of(stamp.unwrap_or_default());
            out.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        }
        out
    }
}

/// How much of a source is its path: all, or not.
const BY_PATH: u8 = 0;
const BY_MORE: u8 = 1;

/// The bytes that are kept of a place: a hash of all others, what was seen, and the sources.
fn save_sources(found: &[Result<Source, Note>], seen: &Seen, root: &Root) -> Option<Vec<u8>> {
    if found.len() > MOST_SOURCES {
        return None;
    }
    let mut out = vec![0; 8];
    out.extend(seen.to_bytes());
    for one in found {
        // What could not be looked at is looked at again.
        let source = one.as_ref().ok()?;
        if source.format != root.format || source.home.is_some() || source.window.is_some() {
            return None;
        }
        let inside = source.path.strip_prefix(&root.path).ok()?.to_str()?;
        let is_plain = source.refused_store.is_none() && source.place.is_none();
        let is_by_path = is_plain && id_of(inside) == Some(source.id.as_str());
        out.push(if is_by_path { BY_PATH } else { BY_MORE });
        out.extend(u32::try_from(inside.len()).ok()?.to_le_bytes());
        out.extend(inside.as_bytes());
        if !is_by_path {
            source.id.save(&mut out);
            source.refused_store.save(&mut out);
            source.place.save(&mut out);
        }
    }
    let hash = hash_of(out.get(8..)?);
    out.get_mut(..8)?.copy_from_slice(&hash.to_le_bytes());
    Some(out)
}

/// The sessions that are known, if all that decides it is as it was.
fn load_sources(facts: &[u8], seen: &Seen, root: &Root) -> Option<Vec<Source>> {
    let (hash, rest) = facts.split_first_chunk()?;
    let mut bytes = rest.strip_prefix(seen.to_bytes().as_slice())?;
    if u64::from_le_bytes(*hash) != hash_of(rest) {
        return None;
    }
    let bytes = &mut bytes;
    let mut sources = Vec::new();
    while let Some((kind, rest)) = bytes.split_first() {
        let (len, rest) = rest.split_first_chunk()?;
        let len = usize::try_from(u32::from_le_bytes(*len)).ok()?;
        let (inside, rest) = rest.split_at_checked(len)?;
        let inside = std::str::from_utf8(inside).ok()?;
        *bytes = rest;
        let path = root.path.join(inside);
        sources.push(if *kind == BY_PATH {
            Source::new(root.format, id_of(inside)?.to_owned(), path)
        } else {
            let id = SavedState::load(bytes)?;
            Source {
                refused_store: SavedState::load(bytes)?,
                place: SavedState::load(bytes)?,
                ..Source::new(root.format, id, path)
            }
        });
    }
    Some(sources)
}

/// The name of a session that is called as its file or folder is.
fn id_of(inside: &str) -> Option<&str> {
    inside.rsplit(std::path::is_separator).next()
}
