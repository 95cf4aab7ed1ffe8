//! `list`: all sessions, filtered and sorted.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use rethread_catalog::{
    AskedWorkspace, FindError, Listing, ShortIds, absolute, is_path, keep, list as list_all,
    sources_at, why_none_at,
};
use rethread_disk::Durability;
use rethread_formats::{Env, Root, Source, Want, by_name};
use rethread_model::{Moment, Note, Provenance, Summary};

use crate::subagents::with_parents;

/// Which sessions are wanted.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Workspaces: `.`, a path, or part of a name. Any of them will do.
    pub workspaces: Vec<String>,
    /// Agents, by format or by their own id. Any of them will do.
    pub agents: Vec<String>,
    /// Only sessions in which something was said at or after this.
    pub since: Option<Moment>,
    /// Only sessions in which something was said at or before this.
    pub until: Option<Moment>,
    /// Models, by a part of their name or of `provider/name`. Any of them will do.
    pub models: Vec<String>,
    /// Homes, by their names. Any of them will do.
    pub homes: Vec<String>,
    /// Also sessions that their agent hides from people.
    pub hidden: bool,
    /// Also sessions of sub-agents, which else count with the sessions that started them.
    pub subagents: bool,
    /// Whether sizes are wanted, which costs a look at every file of a session.
    pub sizes: bool,
}

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
    /// How many bytes it has.
    Size,
}

/// A list of sessions.
#[derive(Debug, Default)]
pub struct Listed {
    /// The sessions.
    pub sessions: Vec<Summary>,
    /// What to call the sessions, and all others of the library.
    pub names: SessionNames,
    /// Where they were found.
    pub roots: Vec<Root>,
    /// What was noticed: places that could not be read, and damage in the sessions listed.
    pub notes: Vec<Note>,
    /// Whether all that the user named are exports without sessions: then none is no failure.
    pub holds_none: bool,
}

/// What to call the sessions of a list.
#[derive(Debug, Default)]
pub struct SessionNames {
    library: ShortIds,
    /// Sessions at paths that the user named, which nothing else leads to, by their paths and ids.
    elsewhere: HashMap<(PathBuf, String), NameAtPath>,
}

#[derive(Debug)]
struct NameAtPath {
    /// The path as the user typed it.
    typed: String,
    /// What to call it there, where it is not the only one.
    id: Option<String>,
}

impl SessionNames {
    /// The names of everything that was found.
    pub(crate) fn of_library(found: &Listing) -> Self {
        Self {
            library: ShortIds::new(&found.sources, &found.sessions),
            elsewhere: HashMap::new(),
        }
    }

    /// A name of a session that every command takes, as long as nothing new appears.
    pub fn name(&self, session: &Summary) -> String {
        let key = (session.path.clone(), session.head.id.clone());
        match self.elsewhere.get(&key) {
            Some(NameAtPath {
                typed,
                id: Some(id),
            }) => format!("{typed}#{id}"),
            Some(NameAtPath { typed, id: None }) => typed.clone(),
            None => self.library.name(session),
        }
    }

    /// Calls sessions at a path that will not stay by their ids alone.
    pub fn forget_path(&mut self, typed: &str) {
        self.elsewhere.retain(|_, name| name.typed != typed);
    }

    /// Adds what is at a path that the user named, unless the library knows it.
    fn add(&mut self, typed: &str, there: &[Summary], known: &HashSet<&Path>) {
        let ids = ShortIds::new(&[], there);
        for session in there.iter().filter(|s| !known.contains(s.path.as_path())) {
            let key = (session.path.clone(), session.head.id.clone());
            let name = NameAtPath {
                typed: typed.to_owned(),
                id: (there.len() > 1).then(|| ids.short_id(&session.head.id)),
            };
            self.elsewhere.insert(key, name);
        }
    }
}

/// Lists sessions, the greatest first.
pub fn list(
    env: &Env,
    filter: &Filter,
    sort: Sort,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Listed {
    let want = Want {
        usage: sort == Sort::Tokens,
        size: filter.sizes || sort == Sort::Size,
    };
    let named = Named::of(env, &filter.workspaces, want);
    let mut found = Listing::default();
    if named.files < filter.workspaces.len() || filter.workspaces.is_empty() {
        found = list_all(env, want, &filter.folders(env), progress);
    }
    found.notes.extend(named.notes.iter().cloned());
    let mut names = SessionNames::of_library(&found);
    let known: HashSet<&Path> = found.sources.iter().map(|s| s.path.as_path()).collect();
    for (typed, there) in filter.workspaces.iter().zip(&named.there) {
        names.add(typed, there, &known);
    }
    let holds_none = named.empty > 0 && named.empty == filter.workspaces.len();
    keep_worktree_threads(env, &found.roots, &found.sessions);
    let gathered = |sessions| {
        if filter.subagents {
            sessions
        } else {
            with_parents(sessions)
        }
    };
    let asked = filter.workspaces.iter();
    let mut asked: Vec<AskedWorkspace> = asked.map(|name| AskedWorkspace::new(env, name)).collect();
    let mut sessions: Vec<Summary> = gathered(found.sessions);
    sessions.retain(|s| {
        filter.takes(s) && (asked.is_empty() || asked.iter_mut().any(|asked| asked.has(env, s)))
    });
    let key = |s: &Summary| (s.path.clone(), s.head.id.clone());
    let mut listed: HashSet<(PathBuf, String)> = if named.there.is_empty() {
        HashSet::new()
    } else {
        sessions.iter().map(key).collect()
    };
    for (filter, there) in named.sessions(filter) {
        for session in gathered(there) {
            if filter.takes(&session) && listed.insert(key(&session)) {
                sessions.push(session);
            }
        }
    }
    sort_by(&mut sessions, sort);
    let mut notes = found.notes;
    notes.extend(sessions.iter().flat_map(|s| s.notes.iter().cloned()));
    Listed {
        sessions,
        names,
        roots: found.roots,
        notes,
        holds_none,
    }
}

/// What is at the paths that the user named.
#[derive(Default)]
struct Named {
    /// The sessions at each path.
    there: Vec<Vec<Summary>>,
    /// How many of the names are files.
    files: usize,
    /// How many of these are exports without sessions.
    empty: usize,
    /// Paths that cannot be looked at, and files that are no sessions.
    notes: Vec<Note>,
}

impl Named {
    fn of(env: &Env, names: &[String], want: Want) -> Self {
        let mut named = Self::default();
        for name in names {
            let path = absolute(&env.cwd, Path::new(name));
            let is_file = path.is_file();
            named.files += usize::from(is_file);
            let sources = sources_at(&path).into_iter();
            let summary = |source: Source| Some(by_name(source.format)?.summarize(&source, want));
            let there: Vec<Summary> = sources.filter_map(summary).collect();
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
    let is_linked = |root: &&Root| root.path.join(".git").is_file();
    let worktrees: HashSet<&Path> = roots
        .iter()
        .filter(is_linked)
        .map(|root| root.path.as_path())
        .collect();
    if worktrees.is_empty() {
        return;
    }
    let is_in_worktree = |s: &&Summary| s.path.ancestors().any(|folder| worktrees.contains(folder));
    for session in sessions.iter().filter(is_in_worktree) {
        let source = Source::new(session.head.format, String::new(), session.path.clone());
        if by_name(source.format).is_some_and(|f| f.is_whole(&source)) {
            let _ = keep(env, &session.path, Durability::None);
        }
    }
}

/// Sorts the greatest first; what is equal, by id and path, so that the order is always the same.
pub(crate) fn sort_by(sessions: &mut [Summary], sort: Sort) {
    let tokens = |s: &Summary| s.counts.usage.map_or(0, |u| u.total());
    sessions.sort_by(|a, b| {
        let order = match sort {
            Sort::Updated => b.head.updated.cmp(&a.head.updated),
            Sort::Created => b.head.created.cmp(&a.head.created),
            Sort::Messages => b.counts.messages.cmp(&a.counts.messages),
            Sort::Tokens => tokens(b).cmp(&tokens(a)),
            Sort::Size => b.size.cmp(&a.size),
        };
        order.then_with(|| (&a.head.id, &a.path).cmp(&(&b.head.id, &b.path)))
    });
}

impl Filter {
    /// The folders that the user named: they are looked at, whoever knows them.
    fn folders(&self, env: &Env) -> Vec<PathBuf> {
        let paths = self.workspaces.iter().filter(|name| is_path(name));
        let folders = paths.map(|name| absolute(&env.cwd, Path::new(name)));
        folders.filter(|folder| folder.is_dir()).collect()
    }

    /// Whether a session is wanted, whatever its workspace.
    pub(crate) fn takes(&self, session: &Summary) -> bool {
        let head = &session.head;
        let any = |list: &[String], fits: &dyn Fn(&str) -> bool| {
            list.is_empty() || list.iter().any(|item| fits(item))
        };
        (self.hidden || !head.hidden || self.subagents && session.is_subagent())
            && any(&self.agents, &|agent| {
                by_name(agent)
                    .is_some_and(|f| [head.format, head.held_by()].contains(&f.about().slug))
                    || head.agent.id.as_deref() == Some(agent)
            })
            && any(&self.models, &|asked| {
                head.model.as_ref().is_some_and(|model| {
                    let provider = model.provider.as_deref().unwrap_or_default();
                    let name = format!("{provider}/{}", model.id).to_lowercase();
                    name.contains(&asked.to_lowercase())
                })
            })
            && any(&self.homes, &|home| {
                let own = head.provenance.as_ref().map(Provenance::home);
                own.as_deref().unwrap_or("local").eq_ignore_ascii_case(home)
            })
            && self
                .since
                .is_none_or(|since| head.updated.is_some_and(|t| t >= since))
            && self
                .until
                .is_none_or(|until| head.updated.is_some_and(|t| t <= until))
    }
}
