//! Asking every format where it keeps conversations.

use std::collections::BTreeSet;
use std::path::PathBuf;

use rethread_formats::{Env, FORMATS, Home, Root, Source, by_name};
use rethread_model::Note;

use crate::known::remembered;
use crate::neighbours;

/// What was found without reading any conversation.
#[derive(Debug, Default)]
pub struct Discovery {
    /// The places that hold conversations.
    pub roots: Vec<Root>,
    /// The sessions in them.
    pub sources: Vec<Source>,
    /// Places that could not be read.
    pub notes: Vec<Note>,
}

impl Discovery {
    /// Adds places, and the sessions in those that are new.
    pub(crate) fn add(&mut self, roots: Vec<Root>) -> usize {
        let before = self.sources.len();
        for root in roots {
            let known = |r: &Root| r.format == root.format && same(&r.path, &root.path);
            if self.roots.iter().any(known) {
                continue;
            }
            if let Some(format) = by_name(root.format) {
                format.list(&root, &mut |found| match found {
                    Ok(source) => self.sources.push(source),
                    Err(note) => self.notes.push(note),
                });
            }
            self.roots.push(root);
        }
        before
    }
}

fn same(a: &PathBuf, b: &PathBuf) -> bool {
    a == b
        || matches!((std::fs::canonicalize(a), std::fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}

/// The places around the current folder.
pub(crate) fn here(env: &Env) -> Discovery {
    let mut found = Discovery::default();
    found.add(locate(env, &[]));
    found
}

/// Everything that can be found by names alone, in other homes too.
pub fn discover(env: &Env) -> Discovery {
    let mut found = discover_own(env);
    for home in &env.others {
        let other = discover_other(env, home);
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
pub(crate) fn discover_own(env: &Env) -> Discovery {
    let mut found = here(env);
    found.add(locate(env, &known_workspaces(env)));
    found
}

/// What is in another home.
pub(crate) fn discover_other(env: &Env, home: &Home) -> Discovery {
    let mut found = Discovery::default();
    let folder = [home.folder.clone()];
    found.add(locate_in(&env.inside(home), home, &folder));
    found
}

/// The places in another home. What lies around its folder here is not of that home.
pub(crate) fn locate_in(inner: &Env, home: &Home, known: &[PathBuf]) -> Vec<Root> {
    let mut roots = locate(inner, known);
    roots.retain(|root| root.path.starts_with(&home.folder));
    roots
}

pub(crate) fn locate(env: &Env, known: &[PathBuf]) -> Vec<Root> {
    FORMATS
        .iter()
        .flat_map(|format| format.locate(env, known))
        .collect()
}

/// Projects that sessions of other agents name, and those that we wrote to. With homes named by
/// the user, only what lies in them counts.
pub(crate) fn known_workspaces(env: &Env) -> Vec<PathBuf> {
    let mut known: BTreeSet<PathBuf> = neighbours::workspaces(env).into_iter().collect();
    let ours = remembered(env).into_iter();
    let in_homes = |p: &PathBuf| !env.homes_are_given || env.homes.iter().any(|h| p.starts_with(h));
    known.extend(ours.filter(in_homes));
    if env.homes_are_given {
        known.extend(env.homes.iter().cloned());
    }
    known.into_iter().collect()
}
