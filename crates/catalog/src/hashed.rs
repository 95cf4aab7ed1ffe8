//! Projects that a store knows only by a hash: found among the folders that are known from elsewhere.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rethread_formats::{Env, Want, gemini};
use rethread_model::{Head, Summary};

use crate::discover::known_workspaces;
use crate::list::list;

/// The folder of a session's project, where neither the session nor its store names it, but by a
/// hash. Looks through all sessions for the folders that they name, if it must.
pub fn named_workspace(env: &Env, head: &Head) -> Option<String> {
    if !is_open(head) {
        return None;
    }
    let hash = head.workspace.encoded.as_ref()?;
    let all = list(env, Want::default(), &[], &|_, _| {});
    hashes(env, &all.sessions).remove(hash)
}

/// Says of sessions of Gemini CLI which project they belong to, where only its hash is known: that
/// of a folder that another session names, that we wrote to, or that the current folder is in.
pub(crate) fn name_workspaces(env: &Env, sessions: &mut [Summary]) {
    if !sessions.iter().any(|s| is_open(&s.head)) {
        return;
    }
    let hashes = hashes(env, sessions);
    for session in sessions.iter_mut().filter(|s| is_open(&s.head)) {
        let workspace = &mut session.head.workspace;
        let hash = workspace.encoded.as_ref();
        workspace.path = hash.and_then(|hash| hashes.get(hash)).cloned();
    }
}

fn is_open(head: &Head) -> bool {
    head.format == "gemini" && head.workspace.path.is_none()
}

/// All folders that are known, by their hashes.
fn hashes(env: &Env, sessions: &[Summary]) -> BTreeMap<String, String> {
    let mut named: Vec<PathBuf> = known_workspaces(env);
    named.extend(env.cwd.ancestors().map(PathBuf::from));
    for workspace in sessions.iter().map(|s| &s.head.workspace) {
        let worktree = workspace.worktree.as_ref().map(|w| &w.path);
        let paths = workspace.path.iter().chain(&workspace.root).chain(worktree);
        named.extend(paths.map(PathBuf::from));
    }
    let named = named
        .into_iter()
        .filter_map(|p| p.into_os_string().into_string().ok());
    named.map(|p| (gemini::project_hash(&p), p)).collect()
}
