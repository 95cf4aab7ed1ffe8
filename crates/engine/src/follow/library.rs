//! All sessions of the library that are followed.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use rethread_catalog::{list as list_all, source_of, sources_at};
use rethread_formats::{Env, FORMATS, FormatRef, Root, Source, Want};
use rethread_model::Summary;
use rethread_watch::{FolderChanges, FolderWatch, WatchMethod, WatchedFolder, watch_folders};

use super::Followed;
use super::session::{SessionFollower, database_of, summary_of};
use crate::Error;
use crate::filter::Filter;
use crate::list::{Sort, is_wanted, list};

/// Sessions without a log in which something was said so many milliseconds ago are read at the beginning:
/// they are likely to go on.
const RECENTLY: i64 = 7 * 24 * 60 * 60 * 1000;

/// So many sessions are read at the beginning.
const MOST_READ: usize = 128;

/// So many of the files in a new folder are looked at.
const MOST_FILES: usize = 10_000;

/// So often is looked whether a store appeared: an agent makes its own when it is first used.
const STORES_INTERVAL: Duration = Duration::from_secs(3);

/// A session lies in a folder that is at most so deep below its own.
const DEEPEST: usize = 6;

/// Waits for what is said in any session.
pub struct LibraryFollow<'a> {
    env: &'a Env,
    filter: Filter,
    watch: FolderWatch,
    /// The stores that are watched.
    stores: HashSet<(FormatRef, PathBuf)>,
    /// When it was last looked whether there are more.
    stores_looked_at: Instant,
    sessions: Vec<SessionFollower>,
    /// By the path of their main file or folder, their places.
    places: HashMap<PathBuf, Vec<usize>>,
    /// Sessions that nobody asked for, by path and id.
    unwanted: HashSet<(PathBuf, String)>,
    waiting: VecDeque<Followed>,
}

/// Follows all sessions that a list with this filter would show, and new ones, from now on. What
/// was damaged before is no news.
pub fn follow_library(
    env: &Env,
    filter: Filter,
    method: WatchMethod,
) -> Result<LibraryFollow<'_>, Error> {
    let found = list_all(env, Want::default(), &filter.folders(env), &|_, _| {});
    let folders: BTreeSet<WatchedFolder> = found.roots.iter().flat_map(folders_of).collect();
    let folders: Vec<WatchedFolder> = folders.into_iter().collect();
    let watch = watch_folders(&folders, method);
    // Now that changes are told, what is there is what was said before.
    let listed = list(env, &filter, Sort::Updated, &|_, _| {})?;
    let mut follow = LibraryFollow {
        env,
        filter,
        watch,
        stores: found.roots.iter().map(store_of).collect(),
        stores_looked_at: Instant::now(),
        sessions: Vec::new(),
        places: HashMap::new(),
        unwanted: HashSet::new(),
        waiting: VecDeque::new(),
    };
    let now = env.now();
    let is_recent = |summary: &Summary| {
        let updated = summary.head.updated;
        updated.is_some_and(|updated| now.millis().saturating_sub(updated.millis()) < RECENTLY)
    };
    // The newest come first.
    let sessions: Vec<SessionFollower> = listed
        .sessions
        .par_iter()
        .enumerate()
        .filter_map(|(nth, summary)| {
            let source = source_of(env, summary)?;
            let is_read = nth < MOST_READ && is_recent(summary);
            Some(SessionFollower::of_source(source, now, is_read))
        })
        .collect();
    for session in sessions {
        follow.add_session(session);
    }
    for summary in found.sessions.iter().chain(&found.empty) {
        let place = (summary.path.clone(), summary.head.id.clone());
        let is_followed = follow.is_followed(&place.0, &place.1);
        if !is_followed && summary.counts.messages > 0 {
            follow.unwanted.insert(place);
        }
    }
    Ok(follow)
}

impl Iterator for LibraryFollow<'_> {
    type Item = Followed;

    fn next(&mut self) -> Option<Followed> {
        loop {
            if let Some(next) = self.waiting.pop_front() {
                return Some(next);
            }
            if let Some(changes) = self.watch.next_changes(Some(STORES_INTERVAL)) {
                self.look_at(&changes);
            }
            if self.stores_looked_at.elapsed() >= STORES_INTERVAL {
                self.look_for_stores();
                self.stores_looked_at = Instant::now();
            }
        }
    }
}

impl LibraryFollow<'_> {
    /// How many sessions are followed.
    pub fn session_count(&self) -> usize {
        self.sessions.len()
    }

    /// Watches stores that were not there before. What is in them is new.
    fn look_for_stores(&mut self) {
        let folders = self.filter.folders(self.env);
        let found = FORMATS
            .iter()
            .flat_map(|f| f.store().locate(self.env, &folders));
        let mut changes = FolderChanges::default();
        for root in found {
            if self.stores.insert(store_of(&root)) {
                for folder in folders_of(&root) {
                    self.watch.add_folder(&folder);
                    changes.paths.insert(folder.path);
                }
            }
        }
        self.look_at(&changes);
    }

    fn add_session(&mut self, session: SessionFollower) -> usize {
        let place = self.sessions.len();
        let places = self.places.entry(session.source.path.clone());
        places.or_default().push(place);
        self.sessions.push(session);
        place
    }

    fn is_followed(&self, path: &Path, id: &str) -> bool {
        let places = self.places.get(path).into_iter().flatten();
        let mut sessions = places.filter_map(|place| self.sessions.get(*place));
        sessions.any(|session| session.source.id == id)
    }

    fn look_at(&mut self, changes: &FolderChanges) {
        let mut concerned = BTreeSet::new();
        if changes.is_incomplete {
            concerned.extend(0..self.sessions.len());
        }
        for path in &changes.paths {
            self.find_concerned(path, &mut concerned);
            for inner in files_below(path) {
                self.find_concerned(&inner, &mut concerned);
            }
        }
        for place in concerned {
            if let Some(session) = self.sessions.get_mut(place) {
                self.waiting.extend(session.look_again());
            }
        }
    }

    /// The sessions that a change at a path concerns, also new ones.
    fn find_concerned(&mut self, path: &Path, concerned: &mut BTreeSet<usize>) {
        let main = database_of(path);
        let main = main.as_deref().unwrap_or(path);
        let known = main
            .ancestors()
            .take(DEEPEST)
            .find_map(|p| self.places.get(p));
        if let Some(known) = known {
            concerned.extend(known);
            // A file may hold several, and more later.
            let mut sessions = known.iter().filter_map(|place| self.sessions.get(*place));
            let is_shared = main != path || sessions.any(SessionFollower::is_in_database);
            if !is_shared {
                return;
            }
        }
        for source in new_sources(main) {
            let place = (source.path.clone(), source.id.clone());
            if self.unwanted.contains(&place) || self.is_followed(&source.path, &source.id) {
                continue;
            }
            let source = Source {
                home: self.env.home_of(&source.path).cloned(),
                ..source
            };
            let summary = summary_of(&source);
            if summary.counts.messages == 0 {
                // What it is is not known before something is said in it.
                continue;
            }
            if is_wanted(self.env, &self.filter, &summary) {
                concerned.insert(self.add_session(SessionFollower::of_new(source)));
            } else {
                self.unwanted.insert(place);
            }
        }
    }
}

fn store_of(root: &Root) -> (FormatRef, PathBuf) {
    (root.format, root.path.clone())
}

/// The folders in which a store's sessions are written.
fn folders_of(root: &Root) -> Vec<WatchedFolder> {
    let watched = root.format.store().watched_folders(root).into_iter();
    watched
        .map(|(path, is_deep)| WatchedFolder { path, is_deep })
        .collect()
}

/// The sessions that a file is, holds or belongs to.
fn new_sources(path: &Path) -> Vec<Source> {
    let mut at_path = sources_at(path);
    at_path.retain(|source| path.starts_with(&source.path));
    if !at_path.is_empty() {
        return at_path;
    }
    // Only a session that is a folder can be known by it; others lie in it side by side.
    let stores = FORMATS.iter().map(|format| format.store());
    let stores: Vec<_> = stores.filter(|store| store.keeps_folders()).collect();
    for folder in path.ancestors().skip(1).take(DEEPEST) {
        let found = stores.iter().flat_map(|store| store.at_path(folder));
        let sources: Vec<Source> = found.filter(|s| path.starts_with(&s.path)).collect();
        if !sources.is_empty() {
            return sources;
        }
    }
    Vec::new()
}

/// The files in a folder, and below it: of one that is new, nobody told when they were written.
fn files_below(path: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut left = vec![path.to_owned()];
    while let Some(folder) = left.pop() {
        let is_folder = std::fs::symlink_metadata(&folder).is_ok_and(|m| m.is_dir());
        if !is_folder || files.len() > MOST_FILES {
            continue;
        }
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => left.push(entry.path()),
                Ok(_) => files.push(entry.path()),
                Err(_) => {}
            }
        }
    }
    files
}
