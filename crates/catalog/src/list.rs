//! Summaries of everything that was found.

use std::collections::BTreeSet;
use std::path::PathBuf;

use rayon::prelude::*;
use rethread_formats::{Env, Home, Root, Source, Want, by_name};
use rethread_model::{Note, Summary};

use crate::copies::without_mere_descriptions;
use crate::discover::{Discovery, discover_other, discover_own, locate, locate_in};
use crate::hashed::name_workspaces;
use crate::kept::gone;

/// All sessions of this machine.
#[derive(Debug, Default)]
pub struct Listing {
    /// A summary for each, in no particular order.
    pub sessions: Vec<Summary>,
    /// The places that hold them.
    pub roots: Vec<Root>,
    /// Places that could not be read.
    pub notes: Vec<Note>,
}

/// Sessions name folders, and those may hold sessions again: so often at the most.
const ROUNDS: usize = 8;

/// Summarizes all sessions, also those of folders that the user named and of other homes. `progress`
/// is told how many of how many are done.
pub fn list(
    env: &Env,
    want: Want,
    named: &[PathBuf],
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Listing {
    let mut all = list_own(env, want, named, progress);
    for home in &env.others {
        let other = list_other(env, home, want, progress);
        all.sessions.extend(other.sessions);
        all.roots.extend(other.roots);
        all.notes.extend(other.notes);
    }
    all
}

/// What is in another home. The folders that its sessions name are folders there.
fn list_other(
    env: &Env,
    home: &Home,
    want: Want,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Listing {
    let inner = env.inside(home);
    let mut found = discover_other(env, home);
    let locate = |folders: &[PathBuf]| locate_in(&inner, home, folders);
    let here = |path: &str| home.path_here(path);
    let mut sessions = summarize_all(&mut found, want, &locate, &here, progress);
    name_workspaces(&inner, &mut sessions);
    let mut sessions = without_mere_descriptions(sessions, |s| {
        Source::new(s.head.format, s.head.id.clone(), s.path.clone())
    });
    for session in &mut sessions {
        let path = &session.path;
        let provenance = &mut session.head.provenance;
        provenance.get_or_insert_with(|| home.provenance(path));
    }
    Listing {
        sessions,
        roots: found.roots,
        notes: found.notes,
    }
}

fn list_own(
    env: &Env,
    want: Want,
    named: &[PathBuf],
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Listing {
    let mut found = discover_own(env);
    found.add(locate(env, named));
    let locate = |folders: &[PathBuf]| locate(env, folders);
    let here = |path: &str| Some(PathBuf::from(path)).filter(|p| p.is_absolute());
    let mut sessions = summarize_all(&mut found, want, &locate, &here, progress);
    name_workspaces(env, &mut sessions);
    let mut sessions = without_mere_descriptions(sessions, |s| {
        Source::new(s.head.format, s.head.id.clone(), s.path.clone())
    });
    if !env.homes_are_given {
        sessions.extend(gone(env));
    }
    Listing {
        sessions,
        roots: found.roots,
        notes: found.notes,
    }
}

/// Summarizes what was found, and what is found in the folders that those sessions name. `here` says
/// where such a folder is.
fn summarize_all(
    found: &mut Discovery,
    want: Want,
    locate: &dyn Fn(&[PathBuf]) -> Vec<Root>,
    here: &dyn Fn(&str) -> Option<PathBuf>,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Vec<Summary> {
    let mut sessions: Vec<Summary> = Vec::new();
    let mut asked = BTreeSet::new();
    for _ in 0..ROUNDS {
        let start = sessions.len();
        sessions.append(&mut summarize(&found.sources[start..], want, progress));
        let named = named_folders(&sessions[start..], here, &mut asked);
        if named.is_empty() || found.add(locate(&named)) == found.sources.len() {
            break;
        }
    }
    sessions
}

fn summarize(
    sources: &[Source],
    want: Want,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Vec<Summary> {
    let done = std::sync::atomic::AtomicUsize::new(0);
    sources
        .par_iter()
        .map(|source| {
            let format = by_name(source.format);
            let summary = format
                .map(|f| f.summarize(source, want))
                .unwrap_or_default();
            let done = done.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
            progress(done, sources.len());
            summary
        })
        .collect()
}

/// Folders that sessions were held in and that nobody looked at yet.
fn named_folders(
    sessions: &[Summary],
    here: &dyn Fn(&str) -> Option<PathBuf>,
    asked: &mut BTreeSet<PathBuf>,
) -> Vec<PathBuf> {
    let mut named = Vec::new();
    for session in sessions {
        let workspace = &session.head.workspace;
        let worktree = workspace.worktree.as_ref().map(|w| &w.path);
        for path in workspace.path.iter().chain(worktree) {
            let Some(path) = here(path) else { continue };
            if asked.insert(path.clone()) && path.is_dir() {
                named.push(path);
            }
        }
    }
    named
}
