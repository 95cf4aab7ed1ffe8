//! Workspaces of which the session itself does not say where they are now: projects that a store knows
//! only by a hash, which are found among the folders that are known from elsewhere, and projects that
//! were moved.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rethread_formats::{Env, FORMATS, FormatRef, Source, by_name};
use rethread_model::{Head, Summary};

use crate::catalogue::Catalogue;
use crate::discover::known_workspaces;
use crate::list::list_only;

/// The folder of a session's project, where the session does not say where it is now: because it was
/// moved, or because neither the session nor its store names it but by a hash. Looks through all
/// sessions for the folders that they name, if it must.
pub fn named_workspace(env: &Env, source: &Source, head: &Head) -> Option<String> {
    if let Some(now) = moved_workspace(source, head) {
        return Some(now);
    }
    let hash = open_hash(head)?;
    let catalogue = Catalogue::open(env);
    let others = || hashes(env, &list_only(env, None), &catalogue).remove(&hash);
    let known = hashes(env, &[], &catalogue).remove(&hash);
    known.or_else(others)
}

/// Where the folder of a session's project is, if it was moved. Paths of another home are not of this
/// machine, so nobody can tell there.
pub fn moved_workspace(source: &Source, head: &Head) -> Option<String> {
    let is_here = source.home.is_none();
    is_here.then(|| moved_to(&source.path, head))?
}

/// Says of sessions of this machine where their folders are, if they were moved.
pub(crate) fn follow_moves(sessions: &mut [Summary]) {
    for session in sessions {
        if let Some(now) = moved_to(&session.path, &session.head) {
            session.head.workspace.path = Some(now);
        }
    }
}

fn moved_to(path: &Path, head: &Head) -> Option<String> {
    let now = by_name(head.format)?
        .store()
        .moved_to(path, &head.workspace)?;
    now.into_os_string().into_string().ok()
}

/// Says of sessions which project they belong to, where only its hash is known: that of a folder that another session names, that we wrote to, or that the current folder is in.
pub(crate) fn name_workspaces(env: &Env, sessions: &mut [Summary], catalogue: &Catalogue) {
    if sessions.iter().all(|s| open_hash(&s.head).is_none()) {
        return;
    }
    let hashes = hashes(env, sessions, catalogue);
    for session in sessions {
        let named = open_hash(&session.head).and_then(|hash| hashes.get(&hash));
        if let Some(path) = named {
            session.head.workspace.path = Some(path.clone());
        }
    }
}

/// A project as a store knows it: by a hash.
type Hash = (FormatRef, String);

/// The hash of a session's project, where that is all that is known of it.
fn open_hash(head: &Head) -> Option<Hash> {
    let format = by_name(head.format)?;
    let hash = format.store().hash_of_project(&head.workspace)?;
    Some((format, hash))
}

/// All folders that are known, by their hashes.
fn hashes(env: &Env, sessions: &[Summary], catalogue: &Catalogue) -> BTreeMap<Hash, String> {
    let mut named: Vec<PathBuf> = known_workspaces(env, catalogue);
    named.extend(env.cwd.ancestors().map(PathBuf::from));
    for workspace in sessions.iter().map(|s| &s.head.workspace) {
        let worktree = workspace.worktree.as_ref().map(|w| &w.path);
        let paths = workspace.path.iter().chain(&workspace.root).chain(worktree);
        named.extend(paths.map(PathBuf::from));
    }
    let named = named
        .into_iter()
        .filter_map(|p| p.into_os_string().into_string().ok());
    let hashed = |path: String| {
        FORMATS.iter().filter_map(move |format| {
            let hash = format.store().hash_project(&path)?;
            Some(((*format, hash), path.clone()))
        })
    };
    named.flat_map(hashed).collect()
}
