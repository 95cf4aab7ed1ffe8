//! Asking every format where it keeps conversations.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::PathBuf;

use rayon::prelude::*;
use rethread_disk::FileId;
use rethread_formats::{Env, FORMATS, FormatRef, Home, Root, Source};
use rethread_model::Note;

use crate::catalogue::{Catalogue, KnownProject, ListedPlaces, PlaceListing, SourcesOfRoot};
use crate::known::remembered;
use crate::neighbours;
use crate::path::sort_paths;

/// So many places are looked at by one thread after each other: one takes a few calls of the system.
const AT_ONCE: usize = 32;

/// What was found without reading any conversation.
#[derive(Debug, Default)]
pub struct Discovery {
    /// The places that hold conversations.
    pub roots: Vec<Root>,
    /// The sessions in them.
    pub sources: Vec<Source>,
    /// Places that could not be read.
    pub notes: Vec<Note>,
    /// Up to which of the sources each of the places has them.
    ends: Vec<usize>,
    /// The places, by their formats: one may be spelled in several ways.
    seen: HashSet<(FormatRef, FileId)>,
    /// The folders that were looked at for stores in them.
    pub(crate) looked_at: HashSet<OsString>,
    /// What was known of the places.
    pub(crate) listed: ListedPlaces,
}

impl Discovery {
    /// Adds places, and the sessions in those that are new.
    pub(crate) fn add(&mut self, mut roots: Vec<Root>) -> usize {
        let before = self.sources.len();
        roots.retain(|root| {
            let is_new = |id| self.seen.insert((root.format, id));
            root.id().is_none_or(is_new)
        });
        let known = &self.listed;
        let listed: Vec<PlaceListing> = {
            let roots = roots.par_iter().with_min_len(AT_ONCE);
            roots.map(|root| known.list_place(root)).collect()
        };
        for (root, place) in roots.iter().zip(listed) {
            self.listed.note(root, &place);
            for one in place.found {
                match one {
                    Ok(source) => self.sources.push(source),
                    Err(note) => self.notes.push(note),
                }
            }
            self.ends.push(self.sources.len());
        }
        self.roots.extend(roots);
        before
    }

    /// Adds folders of projects that are known as places, with the sessions in them. Gives those that must be
    /// located.
    fn add_known(&mut self, format: FormatRef, folders: &[PathBuf]) -> Vec<PathBuf> {
        let known = &self.listed;
        let look = |folder: &PathBuf| known.known_project(format, folder);
        let found: Vec<Option<KnownProject>> =
            folders.par_iter().with_min_len(AT_ONCE).map(look).collect();
        let mut rest = Vec::new();
        for (folder, found) in folders.iter().zip(found) {
            let Some(KnownProject { root, sources }) = found else {
                rest.push(folder.clone());
                continue;
            };
            let is_new = root.id().is_none_or(|id| self.seen.insert((format, id)));
            if is_new {
                self.sources.extend(sources);
                self.ends.push(self.sources.len());
                self.roots.push(root);
            }
        }
        rest
    }

    /// How many places there are so far.
    pub(crate) fn places(&self) -> usize {
        self.ends.len()
    }

    /// The sources of each place from this one on.
    pub(crate) fn by_root(&self, first: usize) -> Vec<SourcesOfRoot<'_>> {
        let mut start = first
            .checked_sub(1)
            .and_then(|at| self.ends.get(at).copied())
            .unwrap_or(0);
        let places = self.roots.iter().zip(&self.ends).skip(first);
        places
            .map(|(root, end)| {
                let sources = self.sources.get(start..*end).unwrap_or_default();
                start = *end;
                SourcesOfRoot { root, sources }
            })
            .collect()
    }
}

/// Which agents are looked at: one format alone, or all of them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FormatFilter {
    /// The format.
    pub(crate) only: Option<FormatRef>,
}

impl FormatFilter {
    fn formats(self) -> impl Iterator<Item = FormatRef> {
        let is_looked_at = move |f: &FormatRef| self.only.is_none_or(|only| *f == only);
        FORMATS.iter().copied().filter(is_looked_at)
    }

    /// Whether what other agents say may lead to more: a store in a project is found by the sessions
    /// that name the project.
    pub(crate) fn is_led_by_others(self) -> bool {
        self.formats().any(|f| !f.about().in_project.is_empty())
    }

    /// The places of these agents, around the current folder and in projects that are known.
    pub(crate) fn locate(self, env: &Env, known: &[PathBuf]) -> Vec<Root> {
        self.formats()
            .flat_map(|format| format.store().locate(env, known))
            .collect()
    }
}

/// The places around the current folder.
pub(crate) fn here(env: &Env, looked: FormatFilter) -> Discovery {
    discover_here(env, looked, ListedPlaces::default())
}

fn discover_here(env: &Env, looked: FormatFilter, listed: ListedPlaces) -> Discovery {
    let mut found = Discovery {
        listed,
        ..Discovery::default()
    };
    found.add(looked.locate(env, &[]));
    found
}

/// Everything that can be found by names alone, in other homes too.
pub fn discover(env: &Env) -> Discovery {
    discover_of(env, FormatFilter::default())
}

/// As [`discover`], of some agents.
pub(crate) fn discover_of(env: &Env, looked: FormatFilter) -> Discovery {
    let mut found = discover_own(env, looked, &Catalogue::open(env));
    for home in &env.others {
        let other = discover_other(env, home, looked);
        found.roots.extend(other.roots);
        found.notes.extend(other.notes);
        let at_home = |source| Source {
            home: Some(home.clone()),
            ..source
        };
        found.sources.extend(other.sources.into_iter().map(at_home));
    }
    found
}

/// What is in the user's own home.
pub(crate) fn discover_own(env: &Env, looked: FormatFilter, catalogue: &Catalogue) -> Discovery {
    let mut found = discover_here(env, looked, ListedPlaces::load(catalogue));
    if looked.is_led_by_others() {
        let known = known_workspaces(env, catalogue);
        for format in looked.formats() {
            let rest = found.add_known(format, &known);
            found.add(format.store().locate(env, &rest));
        }
        found.looked_at = known.into_iter().map(PathBuf::into_os_string).collect();
    }
    found
}

/// What is in another home.
pub(crate) fn discover_other(env: &Env, home: &Home, looked: FormatFilter) -> Discovery {
    let mut found = Discovery::default();
    let folder = [home.folder.clone()];
    found.add(locate_in(&env.inside(home), home, &folder, looked));
    found
}

/// The places in another home. What lies around its folder here is not of that home.
pub(crate) fn locate_in(
    inner: &Env,
    home: &Home,
    known: &[PathBuf],
    looked: FormatFilter,
) -> Vec<Root> {
    let mut roots = looked.locate(inner, known);
    roots.retain(|root| root.path.starts_with(&home.folder));
    roots
}

/// Projects that sessions of other agents name, and those that we wrote to. With homes named by
/// the user, only what lies in them counts.
pub(crate) fn known_workspaces(env: &Env, catalogue: &Catalogue) -> Vec<PathBuf> {
    let mut known = neighbours::workspaces(env, catalogue);
    let ours = remembered(env).into_iter();
    let in_homes = |p: &PathBuf| !env.homes_are_given || env.homes.iter().any(|h| p.starts_with(h));
    known.extend(ours.filter(in_homes));
    if env.homes_are_given {
        known.extend(env.homes.iter().cloned());
    }
    sort_paths(&mut known);
    known
}
