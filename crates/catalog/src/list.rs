//! Summaries of everything that was found.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::PathBuf;

use rethread_formats::{Env, FormatRef, Home, Root, Source, Want, local_path};
use rethread_model::{Note, State, Summary};
use rethread_project::is_folder;

use crate::catalogue::{CatalogedSource, Catalogue};
use crate::copies::without_mere_descriptions;
use crate::discover::{Discovery, FormatFilter, discover_other, discover_own, locate_in};
use crate::kept::gone;
use crate::whereabouts::{follow_moves, name_workspaces};

/// All sessions of this machine.
#[derive(Debug, Default)]
pub struct Listing {
    /// A summary for each, in no particular order.
    pub sessions: Vec<Summary>,
    /// All that was found by names, also what is no session of its own.
    pub sources: Vec<Source>,
    /// The same with what the catalogue knows of each.
    pub cataloged: Vec<CatalogedSource>,
    /// Healthy files in which nothing was said, which are no sessions to anybody.
    pub empty: Vec<Summary>,
    /// The places that hold them.
    pub roots: Vec<Root>,
    /// Places that could not be read.
    pub notes: Vec<Note>,
}

impl Listing {
    /// The sessions with what the catalogue knows of each, but for those of which only a description is
    /// left.
    pub fn cataloged_sessions(&self) -> Vec<(&Summary, &CatalogedSource)> {
        let key =
            |one: &CatalogedSource| (one.source.format, one.source.path.clone(), one.id.clone());
        let known: HashMap<_, _> = self.cataloged.iter().map(|one| (key(one), one)).collect();
        let find = |session| {
            let Source {
                format, path, id, ..
            } = Source::of_summary(session)?;
            Some((session, *known.get(&(format, path, id))?))
        };
        self.sessions.iter().filter_map(find).collect()
    }

    fn of(sessions: Vec<Summary>, found: Discovery, cataloged: Vec<CatalogedSource>) -> Self {
        let is_empty = |s: &Summary| s.state == State::Empty;
        let (empty, sessions) = sessions.into_iter().partition(is_empty);
        Self {
            sessions,
            sources: found.sources,
            cataloged,
            empty,
            roots: found.roots,
            notes: found.notes,
        }
    }
}

/// Sessions name folders, and those may hold sessions again: so often at the most.
const ROUNDS: usize = 8;

/// Summarizes all sessions, also those of folders that the user named and of other homes. `progress`
/// is told how many are read of how many that are new or changed.
pub fn list(
    env: &Env,
    want: Want,
    named: &[PathBuf],
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Listing {
    list_with(env, &Catalogue::open(env), want, named, progress)
}

/// As [`list()`], with a catalogue that is open.
pub fn list_with(
    env: &Env,
    catalogue: &Catalogue,
    want: Want,
    named: &[PathBuf],
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Listing {
    let asked = ListRequest {
        looked: FormatFilter::default(),
        catalogue,
        progress,
    };
    let mut all = list_as(env, named, asked);
    if !want.usage {
        for session in all.sessions.iter_mut().chain(&mut all.empty) {
            session.counts.usage = None;
        }
    }
    all
}

/// Summarizes the sessions of one format, by its short name. Other agents' stores are not looked at,
/// unless only they know where those of this one are.
pub(crate) fn list_only(env: &Env, format: Option<FormatRef>) -> Vec<Summary> {
    let mut looked = FormatFilter { only: format };
    if looked.is_led_by_others() {
        looked = FormatFilter::default();
    }
    let asked = ListRequest {
        looked,
        catalogue: &Catalogue::open(env),
        progress: &|_, _| {},
    };
    let mut sessions = list_as(env, &[], asked).sessions;
    sessions.retain(|s| format.is_none_or(|format| s.head.format == format.slug()));
    sessions
}

/// What is asked for.
#[derive(Clone, Copy)]
struct ListRequest<'a> {
    looked: FormatFilter,
    catalogue: &'a Catalogue,
    progress: &'a (dyn Fn(usize, usize) + Sync),
}

fn list_as(env: &Env, named: &[PathBuf], asked: ListRequest<'_>) -> Listing {
    let mut all = list_own(env, named, asked);
    for home in &env.others {
        let other = list_other(env, home, asked);
        all.sessions.extend(other.sessions);
        all.sources.extend(other.sources);
        all.cataloged.extend(other.cataloged);
        all.empty.extend(other.empty);
        all.roots.extend(other.roots);
        all.notes.extend(other.notes);
    }
    find_originals(&mut all.sessions);
    all.notes.extend(asked.catalogue.take_notes());
    all
}

/// Says of converted sessions where the one is that they were made of, if it is in the list.
fn find_originals(sessions: &mut [Summary]) {
    if sessions.iter().all(|s| s.head.converted_from.is_none()) {
        return;
    }
    let place = |s: &Summary| ((s.head.format, s.head.id.clone()), s.path.clone());
    let places: HashMap<(&str, String), PathBuf> = sessions.iter().map(place).collect();
    for session in sessions {
        if let Some(from) = &mut session.head.converted_from {
            let key = (from.format.as_str(), from.id.clone());
            from.path = places.get(&key).cloned();
        }
    }
}

/// What is in another home. The folders that its sessions name are folders there.
fn list_other(env: &Env, home: &Home, asked: ListRequest<'_>) -> Listing {
    let inner = env.inside(home);
    let mut found = discover_other(env, home, asked.looked);
    let locate = |folders: &[PathBuf]| locate_in(&inner, home, folders, asked.looked);
    let here = |path: &str| home.path_here(path);
    let (mut sessions, mut cataloged) = summarize_all(&mut found, asked, &locate, &here);
    for one in &mut cataloged {
        one.source.home = env.home_of(&one.source.path).cloned();
    }
    name_workspaces(&inner, &mut sessions, asked.catalogue);
    let mut sessions = without_mere_descriptions(sessions, Source::of_summary);
    for session in &mut sessions {
        let path = &session.path;
        let provenance = &mut session.head.provenance;
        provenance.get_or_insert_with(|| home.provenance(path));
    }
    Listing::of(sessions, found, cataloged)
}

fn list_own(env: &Env, named: &[PathBuf], asked: ListRequest<'_>) -> Listing {
    let looked = asked.looked;
    let mut found = discover_own(env, looked, asked.catalogue);
    if looked.is_led_by_others() {
        found.add(looked.locate(env, named));
    }
    let locate = |folders: &[PathBuf]| looked.locate(env, folders);
    let here = |path: &str| local_path(env, path);
    let (mut sessions, cataloged) = summarize_all(&mut found, asked, &locate, &here);
    found.listed.save(asked.catalogue);
    follow_moves(&mut sessions);
    name_workspaces(env, &mut sessions, asked.catalogue);
    let mut sessions = without_mere_descriptions(sessions, Source::of_summary);
    if !env.homes_are_given && looked.is_led_by_others() {
        sessions.extend(gone(env));
    }
    Listing::of(sessions, found, cataloged)
}

/// Summarizes what was found, and what is found in the folders that those sessions name. `here` says
/// where such a folder is.
fn summarize_all(
    found: &mut Discovery,
    asked: ListRequest<'_>,
    locate: &dyn Fn(&[PathBuf]) -> Vec<Root>,
    here: &dyn Fn(&str) -> Option<PathBuf>,
) -> (Vec<Summary>, Vec<CatalogedSource>) {
    let mut sessions: Vec<Summary> = Vec::new();
    let mut cataloged: Vec<CatalogedSource> = Vec::new();
    let mut looked_at = std::mem::take(&mut found.looked_at);
    let mut places = 0;
    for _ in 0..ROUNDS {
        let start = sessions.len();
        let roots = found.by_root(places);
        places = found.places();
        let refreshed = asked.catalogue.refresh(&roots, asked.progress);
        let sources = found.sources.iter().skip(start);
        for (source, one) in sources.zip(refreshed) {
            cataloged.push(CatalogedSource {
                source: source.clone(),
                id: one.summary.head.id.clone(),
                row: one.row,
                read_upto: one.read_upto,
            });
            sessions.push(one.summary);
        }
        if !asked.looked.is_led_by_others() {
            break;
        }
        let named = named_folders(&sessions[start..], here, &mut looked_at);
        if named.is_empty() || found.add(locate(&named)) == found.sources.len() {
            break;
        }
    }
    (sessions, cataloged)
}

/// Folders that sessions were held in and that nobody looked at yet.
fn named_folders(
    sessions: &[Summary],
    here: &dyn Fn(&str) -> Option<PathBuf>,
    looked_at: &mut HashSet<OsString>,
) -> Vec<PathBuf> {
    let mut named = Vec::new();
    for session in sessions {
        let workspace = &session.head.workspace;
        let worktree = workspace.worktree.as_ref().map(|w| &w.path);
        for path in workspace.path.iter().chain(worktree) {
            let Some(path) = here(path) else { continue };
            if looked_at.insert(path.clone().into_os_string()) && is_folder(&path) {
                named.push(path);
            }
        }
    }
    named
}
