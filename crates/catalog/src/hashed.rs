//! Projects that a store knows only by a hash: found among the folders that are known from elsewhere.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rethread_formats::{Env, gemini};
use rethread_model::Summary;

use crate::discover::known_workspaces;

/// Says of sessions of Gemini CLI which project they belong to, where only its hash is known: that
/// of a folder that another session names, that we wrote to, or that the current folder is in.
pub(crate) fn name_workspaces(env: &Env, sessions: &mut [Summary]) {
    let is_open = |s: &Summary| s.head.format == "gemini" && s.head.workspace.path.is_none();
    if !sessions.iter().any(is_open) {
        return;
    }
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
    let hashes: BTreeMap<String, String> = named.map(|p| (gemini::project_hash(&p), p)).collect();
    for session in sessions.iter_mut().filter(|s| is_open(s)) {
        let workspace = &mut session.head.workspace;
        let hash = workspace.encoded.as_ref();
        workspace.path = hash.and_then(|hash| hashes.get(hash)).cloned();
    }
}
