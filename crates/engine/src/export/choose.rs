//! Which sessions are exported.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use jiff::Timestamp;
use rethread_catalog::{
    AskedWorkspace, FindError, Listing, find, holds_none, list as list_all, moved_workspace,
    source_of, sources_at, why_none_at,
};
use rethread_disk::path_of_text;
use rethread_formats::{Conversation, Env, FormatRef, Source, Want, summarize};
use rethread_model::{LinkKind, Moment, Note, State, Summary};
use rethread_render::SourceInfo;

use crate::show::{self, open};
use crate::subagents::{of_conversation, with_own_counts};
use crate::{Error, Filter, absolute};

/// Which sessions are wanted.
#[derive(Clone, Debug, Default)]
pub struct ExportSelection {
    /// Paths, workspaces or sessions; the current workspace where there is none.
    pub names: Vec<String>,
    /// All workspaces.
    pub all_workspaces: bool,
    /// Only these agents, and only sessions of this time. Its workspaces do not count.
    pub filter: Filter,
    /// Also sessions of sub-agents.
    pub subagents: bool,
}

/// The sessions to be exported, in the order of the export.
#[derive(Debug, Default)]
pub struct ChosenSessions {
    pub(super) sessions: Vec<ChosenSession>,
    /// What was noticed while looking for them.
    pub notes: Vec<Note>,
}

impl ChosenSessions {
    /// How many sessions there are.
    pub fn len(&self) -> usize {
        self.sessions.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    /// The sessions themselves.
    pub fn sources(&self) -> impl Iterator<Item = &Source> {
        self.sessions.iter().map(|choice| &choice.source)
    }
}

/// One session to be exported.
#[derive(Debug)]
pub(super) struct ChosenSession {
    pub(super) source: Source,
    pub(super) summary: Summary,
    /// The same with its sub-agents, where some are known.
    with_subagents: Option<Summary>,
    /// Whether its sub-agents were found together with it: in a list of all sessions, or in its file.
    is_listed: bool,
    /// When its file was changed, for sessions that say nothing of time.
    pub(super) file_time: Moment,
}

impl ChosenSession {
    pub(super) fn new(source: Source, summary: Summary) -> Self {
        let there = summary.head.provenance.as_ref();
        let file_time = there
            .and_then(|p| p.file_time)
            .or_else(|| file_time(&source))
            .unwrap_or(MOMENT_ZERO);
        Self {
            source,
            summary,
            with_subagents: None,
            is_listed: false,
            file_time,
        }
    }

    /// What a list says of it, which is what pages say.
    pub(super) fn listed_as(&self, conversation: &Conversation) -> Summary {
        if self.summary.state == State::Unreadable
            && let Ok(summary) = show::listed_as(conversation)
        {
            return summary;
        }
        match &self.with_subagents {
            Some(summary) => summary.clone(),
            None if self.is_listed => self.summary.clone(),
            None => of_conversation(conversation, self.summary.clone()),
        }
    }

    /// Opens it. A list may know its workspace where it does not say it itself, or where it is now.
    pub(super) fn open_session(&self) -> Result<Conversation, Error> {
        let mut conversation = open(&self.source)?;
        if self.summary.state == State::Unreadable {
            // The disk let us read it now, and not before: a page with other numbers would hide that.
            show::listed_as(&conversation)?;
        }
        let head = &mut conversation.session.head;
        if let Some(now) = moved_workspace(&self.source, head) {
            head.workspace.path = Some(now);
        } else if head.workspace.path.is_none() {
            let listed = &self.summary.head.workspace.path;
            head.workspace.path.clone_from(listed);
        }
        Ok(conversation)
    }

    pub(super) fn started(&self) -> Moment {
        let head = &self.summary.head;
        head.created.or(head.updated).unwrap_or(self.file_time)
    }

    /// What sessions are ordered by: their start, their source, their id.
    pub(super) fn sort_key(&self, started: Moment) -> SortKey {
        let head = &self.summary.head;
        (
            started,
            self.home_kind(),
            head.id.clone(),
            self.source.path.clone(),
            self.source.place,
        )
    }

    /// Where it came from, in the words of the unified vocabulary.
    pub(super) fn source_info(&self) -> SourceInfo {
        SourceInfo {
            kind: "local",
            host: None,
            path: self.source.path.to_string_lossy().into_owned(),
        }
    }

    /// What kind of home it was found in, and whose.
    pub(super) fn home_kind(&self) -> (String, Option<String>) {
        match &self.summary.head.provenance {
            Some(p) => (p.kind.clone(), p.host.clone()),
            None => ("local".to_owned(), None),
        }
    }
}

/// What sessions are ordered by.
pub(super) type SortKey = (
    Moment,
    (String, Option<String>),
    String,
    PathBuf,
    Option<u64>,
);

/// The start of 1970.
const MOMENT_ZERO: Moment = Moment::ZERO;

fn file_time(source: &Source) -> Option<Moment> {
    let files = source.format.store().files(source).unwrap_or_default();
    let path = files.first().unwrap_or(&source.path);
    let modified = std::fs::metadata(path).and_then(|m| m.modified()).ok()?;
    Timestamp::try_from(modified).ok().map(Moment::from)
}

/// Chooses the sessions to be exported, and puts them in order.
pub fn choose_sessions(
    env: &Env,
    ask: &ExportSelection,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<ChosenSessions, Error> {
    let mut ask = ask.clone();
    ask.filter.hidden = true;
    ask.filter.workspaces = Vec::new();
    if ask.names.is_empty() && !ask.all_workspaces {
        ask.names.push(".".to_owned());
    }
    let mut pool = SessionPool::default();
    let is_file = |name: &String| env.cwd.join(path_of_text(name)).is_file();
    if ask.all_workspaces || !ask.names.iter().all(is_file) {
        pool.list_sessions(env, &named_folders(env, &ask.names), progress);
    }
    let mut taken = BTreeSet::new();
    if ask.all_workspaces {
        taken.extend(0..pool.all.len());
    }
    for name in &ask.names {
        taken.extend(pool.find_named(env, name)?);
    }
    pool.count_subagents();
    let all = pool.all.iter().map(|choice| &choice.summary);
    ask.filter.check(env, &all)?;
    if ask.subagents {
        pool.add_subagents(&mut taken);
    }
    let named = pool.named_sessions;
    let mut chosen = ChosenSessions {
        notes: pool.notes,
        ..ChosenSessions::default()
    };
    for (at, choice) in pool.all.into_iter().enumerate() {
        let summary = &choice.summary;
        if !taken.contains(&at)
            || !ask.filter.takes(env, summary)
            || (!ask.subagents && parent_id(summary).is_some())
        {
            continue;
        }
        match summary.state {
            State::Gone => {
                let note = Note::remark("only its description is left; left out");
                chosen.notes.push(note.at(&summary.path));
                continue;
            }
            // Who names a session wants it, also where nothing was said yet.
            State::Empty if !named.contains(&at) || holds_none(&summary.path) => {
                chosen.notes.extend(summary.notes.iter().cloned());
                continue;
            }
            _ => {}
        }
        chosen.sessions.push(choice);
    }
    chosen
        .sessions
        .sort_by_cached_key(|c| c.sort_key(c.started()));
    Ok(chosen)
}

/// The folders that the user named: they are looked at, whoever knows them.
fn named_folders(env: &Env, names: &[String]) -> Vec<PathBuf> {
    let paths = names
        .iter()
        .map(|name| absolute(&env.cwd, &path_of_text(name)));
    paths.filter(|path| path.is_dir()).collect()
}

fn parent_id(summary: &Summary) -> Option<&str> {
    let links = &summary.head.links;
    let parent = links.iter().find(|l| l.kind == LinkKind::Parent)?;
    Some(&parent.session)
}

/// All sessions that are known so far.
#[derive(Default)]
struct SessionPool {
    all: Vec<ChosenSession>,
    places: BTreeMap<(FormatRef, PathBuf, String, Option<u64>), usize>,
    /// Those that the user named one by one.
    named_sessions: BTreeSet<usize>,
    notes: Vec<Note>,
}

impl SessionPool {
    fn list_sessions(
        &mut self,
        env: &Env,
        folders: &[PathBuf],
        progress: &(dyn Fn(usize, usize) + Sync),
    ) {
        let Listing {
            sessions,
            empty,
            notes,
            ..
        } = list_all(env, Want::WHOLE, folders, progress);
        self.notes.extend(notes);
        for summary in sessions.into_iter().chain(empty) {
            if let Some(source) = source_of(env, &summary) {
                let at = self.add_session(source, Some(summary));
                self.set_listed(&[at]);
            }
        }
    }

    /// Says that all that may be sub-agents of these are known.
    fn set_listed(&mut self, places: &[usize]) {
        for at in places {
            if let Some(choice) = self.all.get_mut(*at) {
                choice.is_listed = true;
            }
        }
    }

    /// Counts sub-agents with the sessions that started them.
    fn count_subagents(&mut self) {
        if !self.all.iter().any(|choice| choice.summary.is_subagent()) {
            return;
        }
        let all = self.all.iter().map(|choice| choice.summary.clone());
        let all: Vec<Summary> = all.collect();
        for (choice, counted) in self.all.iter_mut().zip(with_own_counts(&all)) {
            choice.with_subagents = counted.subagents.is_some().then_some(counted);
        }
    }

    fn add_session(&mut self, source: Source, summary: Option<Summary>) -> usize {
        let key = (
            source.format,
            source.path.clone(),
            source.id.clone(),
            source.place,
        );
        if let Some(at) = self.places.get(&key) {
            return *at;
        }
        let summary = match summary {
            Some(summary) => summary,
            None => summarize(&source, Want::WHOLE),
        };
        self.places.insert(key, self.all.len());
        self.all.push(ChosenSession::new(source, summary));
        self.all.len() - 1
    }

    /// What a name means: what is at that path, a workspace, or a session.
    fn find_named(&mut self, env: &Env, name: &str) -> Result<Vec<usize>, Error> {
        let path = absolute(&env.cwd, &path_of_text(name));
        if path.is_file() {
            let sources = sources_at(&path);
            if sources.is_empty() && !holds_none(&path) {
                find(env, name)?;
            }
            let found = sources.into_iter().map(|s| self.add_session(s, None));
            let found: Vec<usize> = found.collect();
            self.named_sessions.extend(&found);
            if found.len() > 1 {
                self.set_listed(&found);
            }
            return Ok(found);
        }
        let mut asked = if path.is_dir() {
            AskedWorkspace::folder(env, path.clone())
        } else {
            AskedWorkspace::new(env, name)
        };
        let all = self.all.iter().enumerate();
        let mut found: Vec<usize> = all
            .filter(|(_, choice)| asked.has(env, &choice.summary))
            .map(|(at, _)| at)
            .collect();
        if path.is_dir() {
            let here = sources_at(&path).into_iter();
            found.extend(here.map(|s| self.add_session(s, None)).collect::<Vec<_>>());
            if found.is_empty()
                && let Err(e @ FindError::Unreadable(_)) = why_none_at(&path)
            {
                return Err(e.into());
            }
        } else if found.is_empty() {
            found.push(self.add_session(find(env, name)?, None));
            self.named_sessions.extend(&found);
        }
        Ok(found)
    }

    /// Takes the sub-agents of those that are taken, and theirs.
    fn add_subagents(&self, taken: &mut BTreeSet<usize>) {
        let of = |choice: &ChosenSession, id: &str| {
            (choice.source.format, choice.home_kind(), id.to_owned())
        };
        let id = |choice: &ChosenSession| of(choice, &choice.summary.head.id);
        let mut parents: BTreeSet<_> = taken
            .iter()
            .filter_map(|at| self.all.get(*at))
            .map(id)
            .collect();
        loop {
            let before = taken.len();
            for (at, choice) in self.all.iter().enumerate() {
                let up = parent_id(&choice.summary).map(|p| of(choice, p));
                if up.is_some_and(|up| parents.contains(&up)) && taken.insert(at) {
                    parents.insert(id(choice));
                }
            }
            if taken.len() == before {
                break;
            }
        }
    }
}
