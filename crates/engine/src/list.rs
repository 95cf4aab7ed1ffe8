//! `list`: all sessions, filtered and sorted.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use rethread_catalog::{
    AskedWorkspace, FindError, Listing, absolute, is_path, keep, list as list_all, sources_at,
    why_none_at,
};
use rethread_disk::{Durability, path_of_text};
use rethread_formats::{Env, Root, Source, Want, summarize};
use rethread_model::{Note, State, Summary};

use crate::Error;
use crate::filter::Filter;
use crate::queried::QueriedSessions;
use crate::session_names::SessionNames;
use crate::subagents::{with_own_subagents, with_parents};

/// What a list is sorted by; the greatest comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// When something was last said.
    #[default]
    Updated,
    /// When it began.
    Created,
    /// How many messages there are.
    Messages,
    /// How many tokens were used.
    Tokens,
    /// How much it cost, where that was recorded.
    Cost,
    /// How many bytes it has.
    Size,
}

/// A list of sessions.
#[derive(Debug, Default)]
pub struct Listed {
    /// The sessions.
    pub sessions: Vec<Summary>,
    /// How many there were before those that were asked for were chosen.
    pub looked_at: usize,
    /// What to call the sessions, and all others of the library.
    pub names: SessionNames,
    /// Where they were found.
    pub roots: Vec<Root>,
    /// What was noticed: places that could not be read, and damage in the sessions listed.
    pub notes: Vec<Note>,
    /// Whether there is no conversation in any of the files that the user named: then none is no
    /// failure.
    pub holds_none: bool,
}

/// Lists sessions, the greatest first.
pub fn list(
    env: &Env,
    filter: &Filter,
    sort: Sort,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Listed, Error> {
    let want = Want {
        usage: filter.usage || matches!(sort, Sort::Tokens | Sort::Cost),
        size: filter.sizes || sort == Sort::Size,
    };
    let mut named = Named::of(env, &filter.workspaces, filter.subagents);
    if !want.usage {
        named.leave_out_usage();
    }
    let mut found = Listing::default();
    if named.files < filter.workspaces.len() || filter.workspaces.is_empty() {
        found = list_all(env, want, &filter.folders(env), progress);
    }
    found.notes.extend(named.notes.iter().cloned());
    let mut names = SessionNames::of_library(&found);
    let known: HashSet<&Path> = found.sources.iter().map(|s| s.path.as_path()).collect();
    for (typed, there) in filter.workspaces.iter().zip(&named.there) {
        names.add_path(typed, there, &known);
    }
    let holds_none = named.empty > 0 && named.empty == filter.workspaces.len();
    keep_worktree_threads(env, &found.roots, &found.sessions);
    let mut queried = QueriedSessions::of(env, filter, &found);
    let all = found.sessions.iter().chain(named.there.iter().flatten());
    filter.check(env, &all)?;
    queried.check(env, &all)?;
    let gathered = |sessions| {
        if filter.subagents {
            sessions
        } else {
            with_parents(sessions)
        }
    };
    let asked = filter.workspaces.iter();
    let mut asked: Vec<AskedWorkspace> = asked.map(|name| AskedWorkspace::new(env, name)).collect();
    let mut is_asked = |s: &Summary| {
        asked.is_empty()
            || asked
                .iter_mut()
                .any(|asked| asked.has(env, s) || filter.titles && has_in_title(asked, s))
    };
    let mut sessions: Vec<Summary> = gathered(found.sessions);
    let mut looked_at = sessions.len();
    sessions.retain(&mut is_asked);
    sessions.retain(|session| queried.takes(env, session));
    filter.take(env, &mut sessions);
    let mut empty = found.empty;
    empty.retain(is_asked);
    filter.take(env, &mut empty);
    let key = |s: &Summary| (s.path.clone(), s.head.id.clone());
    let mut listed: HashSet<(PathBuf, String)> = if named.there.is_empty() {
        HashSet::new()
    } else {
        sessions.iter().map(key).collect()
    };
    for (filter, there) in named.sessions(filter) {
        let is_empty = |s: &Summary| s.state == State::Empty;
        let (silent, there) = there.into_iter().partition(is_empty);
        empty.extend::<Vec<Summary>>(silent);
        let mut there = gathered(there);
        looked_at += there.len();
        there.retain(|session| queried.takes(env, session));
        filter.take(env, &mut there);
        there.retain(|session| listed.insert(key(session)));
        sessions.append(&mut there);
    }
    sort_by(&mut sessions, sort);
    let mut notes = found.notes;
    let noted = sessions.iter().chain(&empty);
    notes.extend(noted.flat_map(|s| s.notes.iter().cloned()));
    Ok(Listed {
        sessions,
        looked_at,
        names,
        roots: found.roots,
        notes,
        holds_none,
    })
}

/// Whether a list with this filter shows a session.
pub(crate) fn is_wanted(env: &Env, filter: &Filter, session: &Summary) -> bool {
    let mut asked = filter.workspaces.iter();
    let is_in_asked = |name: &String| {
        let path = absolute(&env.cwd, &path_of_text(name));
        let mut asked = AskedWorkspace::new(env, name);
        path == session.path
            || asked.has(env, session)
            || filter.titles && has_in_title(&asked, session)
    };
    (filter.subagents || !session.is_subagent())
        && (filter.workspaces.is_empty() || asked.any(is_in_asked))
        && filter.takes(env, session)
}

/// Whether the word that somebody named, where it is no path, is in a session's title.
pub(crate) fn has_in_title(asked: &AskedWorkspace, session: &Summary) -> bool {
    let (word, title) = (asked.word(), session.head.title.as_ref());
    word.zip(title)
        .is_some_and(|(word, title)| title.text.to_lowercase().contains(word))
}

/// What is at the paths that the user named.
#[derive(Default)]
struct Named {
    /// The sessions at each path.
    there: Vec<Vec<Summary>>,
    /// How many of the names are files.
    files: usize,
    /// At how many of them there is something, and no conversation in it.
    empty: usize,
    /// Paths that cannot be looked at, and files that are no sessions.
    notes: Vec<Note>,
}

impl Named {
    /// `apart`: sub-agents are sessions of their own.
    fn of(env: &Env, names: &[String], apart: bool) -> Self {
        let mut named = Self::default();
        for name in names {
            let path = absolute(&env.cwd, &path_of_text(name));
            let is_file = path.is_file();
            named.files += usize::from(is_file);
            let sources = sources_at(&path);
            let is_one = is_file || sources.len() == 1;
            let sources = sources.into_iter();
            let summary = |source: Source| {
                let summary = summarize(&source, Want::WHOLE);
                // In a folder, or in a file of many, they are all among what is found.
                if is_one && !apart {
                    with_own_subagents(&source, summary)
                } else {
                    summary
                }
            };
            let there: Vec<Summary> = sources.map(summary).collect();
            let are_empty = there.iter().all(|s| s.state == State::Empty);
            named.empty += usize::from(are_empty && !there.is_empty());
            if there.is_empty() {
                let why = why_none_at(&path).err();
                let why = why.filter(|e| is_file || matches!(e, FindError::Unreadable(_)));
                let is_file_or_path = is_file || is_path(name);
                let note = |e: FindError| match e {
                    FindError::NoSessions { .. } => Note::remark(e.to_string()),
                    _ => Note::damage(e.to_string()),
                };
                let is_empty = matches!(why, Some(FindError::NoSessions { .. }));
                named.empty += usize::from(is_empty);
                named
                    .notes
                    .extend(why.filter(|_| is_file_or_path).map(note));
            }
            named.there.push(there);
        }
        named
    }

    fn leave_out_usage(&mut self) {
        for session in self.there.iter_mut().flatten() {
            session.counts.usage = None;
        }
    }

    /// The sessions at each path, and which of them are wanted. Who names the path of one session
    /// wants to see it, whatever its agent hides.
    fn sessions(self, filter: &Filter) -> impl Iterator<Item = (Filter, Vec<Summary>)> {
        let filter = Filter {
            workspaces: Vec::new(),
            ..filter.clone()
        };
        self.there.into_iter().map(move |there| {
            let hidden = filter.hidden || there.len() == 1;
            let filter = Filter {
                hidden,
                ..filter.clone()
            };
            (filter, there)
        })
    }
}

/// Keeps descriptions of threads in linked git worktrees, which take their threads with them when
/// they go. A list is no less a list if that fails.
fn keep_worktree_threads(env: &Env, roots: &[Root], sessions: &[Summary]) {
    let worktrees: HashSet<&Path> = roots
        .iter()
        .filter(|root| root.is_in_linked_worktree())
        .map(|root| root.path.as_path())
        .collect();
    if worktrees.is_empty() {
        return;
    }
    let is_in_worktree = |s: &&Summary| s.path.ancestors().any(|folder| worktrees.contains(folder));
    for session in sessions.iter().filter(is_in_worktree) {
        let source = Source::of_summary(session);
        if source.is_some_and(|source| source.format.store().is_whole(&source)) {
            let _ = keep(env, &session.path, Durability::None);
        }
    }
}

/// Sorts the greatest first; what is equal, by id and path, so that the order is always the same.
pub(crate) fn sort_by(sessions: &mut [Summary], sort: Sort) {
    let tokens = |s: &Summary| s.counts.usage.map_or(0, |u| u.total());
    let cost = |s: &Summary| s.counts.usage.and_then(|u| u.cost).map_or(0.0, |c| c.usd);
    sessions.sort_by(|a, b| {
        let order = match sort {
            Sort::Updated => b.head.updated.cmp(&a.head.updated),
            Sort::Created => b.head.created.cmp(&a.head.created),
            Sort::Messages => b.counts.messages.cmp(&a.counts.messages),
            Sort::Tokens => tokens(b).cmp(&tokens(a)),
            Sort::Cost => cost(b).total_cmp(&cost(a)),
            Sort::Size => b.size.cmp(&a.size),
        };
        order.then_with(|| (&a.head.id, &a.path).cmp(&(&b.head.id, &b.path)))
    });
}
