//! Where sessions live, and what their folders and files are called.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use rethread_disk::{Entry, EntryKind, OpenFolder, is_temporary};
use rethread_json::Document;
use rethread_model::{Note, Summary};

use super::files::FilesHere;
use super::ulid::is_id;
use super::{AgentUse, FORMAT, ulid};
use crate::kit::{agent_folders, is_absent};
use crate::{Dependencies, Env, OpenError, Root, Source, Store};

/// The program's folder among the data of all programs.
const AGENTUSE: &str = "agentuse";
pub(super) const PROJECT: &str = "project";
pub(super) const SESSION: &str = "session";
pub(super) const SUBAGENT: &str = "subagent";
pub(super) const SESSION_JSON: &str = "session.json";
pub(super) const MESSAGE_JSON: &str = "message.json";
pub(super) const TOOLS_JSON: &str = "tools.json";
pub(super) const CONTEXT_JSON: &str = "context.json";
pub(super) const PART: &str = "part";
pub(super) const ARTIFACT: &str = "artifact";

impl Store for AgentUse {
    /// The data folders that are there.
    fn locate(&self, env: &Env, _known: &[PathBuf]) -> Vec<Root> {
        let there = data_folders(env)
            .into_iter()
            .filter(|f| f.join(PROJECT).is_dir());
        there.map(|path| Root::known(FORMAT, path)).collect()
    }

    fn watched_folders(&self, root: &Root) -> Vec<(PathBuf, bool)> {
        vec![(root.path.join(PROJECT), true)]
    }

    fn list(&self, root: &Root, out: &mut dyn FnMut(Result<Source, Note>)) {
        list_folder(&root.path, out);
    }

    /// The sessions at a path that the user named.
    fn at_path(&self, path: &Path) -> Vec<Source> {
        let mut found = Vec::new();
        let mut add = |source: Result<Source, Note>| found.extend(source.ok());
        match path_role(path) {
            None => {}
            Some(PathRole::Session(folder)) => add(Ok(source_at(folder))),
            Some(PathRole::Sessions(folder)) => list_sessions(&folder, &mut add),
            // A home is no store: it holds those of all agents, with the sessions of all projects.
            Some(PathRole::Data(folder)) if folder == in_home(path) => {}
            Some(PathRole::Data(folder)) => list_folder(&folder, &mut add),
        }
        found
    }

    /// The files of a session, its description first. Those of sub-agents are their own.
    fn files(&self, source: &Source) -> Result<Vec<PathBuf>, OpenError> {
        let found = FilesHere::scan(&source.path)?;
        let mut files: Vec<PathBuf> = found.all().map(|f| f.path.clone()).collect();
        let description = source.path.join(SESSION_JSON);
        if let Some(at) = files.iter().position(|f| *f == description) {
            files[..=at].rotate_right(1);
        }
        if files.is_empty() {
            return Err(source.not_ours());
        }
        Ok(files)
    }

    /// All files, and the folders that they are in: a new one makes a folder another one.
    fn dependencies(&self, source: &Source, _: &Summary) -> Dependencies {
        let Ok(found) = FilesHere::scan(&source.path) else {
            return Dependencies::on(vec![source.path.clone()]);
        };
        let files = found.all().map(|f| f.path.clone());
        Dependencies::on(found.folders.iter().cloned().chain(files).collect())
    }

    fn keeps_folders(&self) -> bool {
        true
    }
}

/// The program's data folders, there or not: the one that a variable names, else one in each home,
/// at the same place on every platform.
pub(super) fn data_folders(env: &Env) -> Vec<PathBuf> {
    let data = agent_folders(env, "XDG_DATA_HOME", ".local/share");
    data.into_iter().map(|data| data.join(AGENTUSE)).collect()
}

/// The sessions of a data folder, sub-agents behind the session that started them.
pub(super) fn list_folder(data: &Path, out: &mut dyn FnMut(Result<Source, Note>)) {
    for project in folders(&data.join(PROJECT), SESSION, out) {
        if project.may_have {
            list_sessions(&project.path.join(SESSION), out);
        }
    }
}

/// The sessions in a folder of sessions, and those nested in them to any depth.
pub(super) fn list_sessions(folder: &Path, out: &mut dyn FnMut(Result<Source, Note>)) {
    let mut waiting = folders(folder, SUBAGENT, out);
    waiting.reverse();
    while let Some(session) = waiting.pop() {
        let Some(id) = session_id(&session.path) else {
            continue;
        };
        if session.may_have {
            let mut nested = folders(&session.path.join(SUBAGENT), SUBAGENT, out);
            nested.reverse();
            waiting.append(&mut nested);
        }
        out(Ok(Source::new(FORMAT, id, session.path)));
    }
}

/// The id of the session in a folder: in its name, else the name itself where a description is in
/// it. None if the folder is no session.
fn session_id(folder: &Path) -> Option<String> {
    let name = folder.file_name()?.to_string_lossy();
    match split_name(&name) {
        Some((id, _)) => Some(id.to_owned()),
        None => folder
            .join(SESSION_JSON)
            .is_file()
            .then(|| name.into_owned()),
    }
}

/// Id and agent in the name of a session's folder.
pub(super) fn split_name(name: &str) -> Option<(&str, &str)> {
    let (id, rest) = name.split_at_checked(ulid::LEN)?;
    let agent = rest.strip_prefix('-')?;
    is_id(id).then_some((id, agent))
}

/// A folder, and whether there may be a folder of the asked name in it.
struct FolderHere {
    path: PathBuf,
    may_have: bool,
}

/// The folders in a folder, in the order of their names. Links are not followed.
fn folders(of: &Path, inner: &str, out: &mut dyn FnMut(Result<Source, Note>)) -> Vec<FolderHere> {
    let unreadable = |e: &io::Error| Note::damage(format!("cannot be read: {e}")).at(of);
    let mut open = match OpenFolder::open(of) {
        Ok(open) => open,
        Err(e) if is_absent(&e) => return Vec::new(),
        Err(e) => {
            out(Err(unreadable(&e)));
            return Vec::new();
        }
    };
    let mut names = Vec::new();
    for entry in open.entries() {
        match entry {
            Ok(Entry { name, kind }) => {
                if kind == EntryKind::Folder && !is_temporary(&name) {
                    names.push(name);
                }
            }
            Err(e) => out(Err(unreadable(&e))),
        }
    }
    names.sort_unstable();
    // Most have none, and asking from here is cheaper than by a whole path.
    let here = |name: OsString| FolderHere {
        path: of.join(&name),
        may_have: open.may_have(&Path::new(&name).join(inner)),
    };
    names.into_iter().map(here).collect()
}

/// What a path is to us.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PathRole {
    /// A session's folder, or something in it.
    Session(PathBuf),
    /// A folder of sessions: `session` or `subagent`.
    Sessions(PathBuf),
    /// A program's data folder, which holds `project`.
    Data(PathBuf),
}

/// What a path is that somebody named.
pub(super) fn path_role(path: &Path) -> Option<PathRole> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    if !path.is_dir() {
        // A file belongs to the nearest session around it.
        std::fs::symlink_metadata(&path).ok()?;
        let is_json = path.extension().is_some_and(|e| e == "json" || e == "txt");
        let holder = path.ancestors().skip(1).take(3).find(|f| is_session(f));
        return holder
            .filter(|_| is_json)
            .map(|f| PathRole::Session(f.to_owned()));
    }
    if is_session(&path) {
        return Some(PathRole::Session(path));
    }
    // A message's folder, or that of its parts.
    if let Some(session) = path.ancestors().skip(1).take(2).find(|f| is_session(f))
        && path.strip_prefix(session).is_ok_and(|inner| {
            let first = inner
                .components()
                .next()
                .map(|c| c.as_os_str().to_string_lossy());
            first.is_some_and(|name| is_id(&name))
        })
    {
        return Some(PathRole::Session(session.to_owned()));
    }
    for sessions in [path.clone(), path.join(SESSION)] {
        let is_named = sessions
            .file_name()
            .is_some_and(|n| n == SESSION || n == SUBAGENT);
        if is_named && holds_sessions(&sessions) {
            return Some(PathRole::Sessions(sessions));
        }
    }
    let above = path.parent().filter(|_| path.ends_with(PROJECT));
    let inner = [path.clone(), path.join(AGENTUSE), in_home(&path)];
    let holds = |data: &PathBuf| project_folders(data).any(|p| holds_sessions(&p.join(SESSION)));
    let mut candidates = above.map(Path::to_owned).into_iter().chain(inner);
    candidates.find(holds).map(PathRole::Data)
}

/// The data folder in a home.
fn in_home(home: &Path) -> PathBuf {
    let home = std::path::absolute(home).unwrap_or_else(|_| home.to_owned());
    home.join(".local").join("share").join(AGENTUSE)
}

fn project_folders(data: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(data.join(PROJECT)).into_iter().flatten();
    entries.filter_map(|e| Some(e.ok()?.path()))
}

fn holds_sessions(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut folders = entries.filter_map(|e| Some(e.ok()?.path()));
    folders.any(|f| f.is_dir() && session_id(&f).is_some())
}

/// Whether a folder is a session: by its name where sessions are kept, or by its description.
fn is_session(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let holder = folder.parent().and_then(Path::file_name);
    let is_kept = holder.is_some_and(|n| n == SESSION || n == SUBAGENT);
    if split_name(&name).is_some() && (is_kept || folder.join(SESSION_JSON).is_file()) {
        return folder.is_dir();
    }
    let described = || {
        let bytes = rethread_disk::read_small(&folder.join(SESSION_JSON)).ok()?;
        let document = Document::parse(bytes).ok()?;
        let root = document.root();
        let is_ours = root.at(&["agent", "isSubAgent"]).is_some() && root.get("project").is_some();
        Some(is_ours)
    };
    described().unwrap_or(false)
}

/// The session in a folder.
pub(super) fn source_at(folder: PathBuf) -> Source {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let id = split_name(&name)
        .map_or(name.as_ref(), |(id, _)| id)
        .to_owned();
    Source::new(FORMAT, id, folder)
}

/// The session that a folder is nested in, and the folder of that session.
pub(super) fn parent_of(folder: &Path) -> Option<&Path> {
    let holder = folder.parent()?;
    holder.file_name().filter(|n| *n == SUBAGENT)?;
    holder.parent()
}

/// The key of the project that a session's folder is kept under: `project/<key>/session/…`.
pub(super) fn project_key(folder: &Path) -> Option<String> {
    // Compared by the last name alone: a list asks this for every session.
    let is_named = |path: &Path, name: &str| path.file_name().is_some_and(|n| n == name);
    let sessions = folder.ancestors().find(|f| is_named(f, SESSION))?;
    let key = sessions.parent()?;
    key.parent().filter(|p| is_named(p, PROJECT))?;
    Some(key.file_name()?.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_folders() {
        let id = "01KQT1K50CRD3FNF13AABN9X8Q";
        assert_eq!(split_name(&format!("{id}-a-b")), Some((id, "a-b")));
        assert_eq!(split_name(&format!("{id}-")), Some((id, "")));
        assert_eq!(split_name(id), None);
        assert_eq!(split_name("01KQT1K50CRD3FNF13AABN9é8Q-x"), None);
        assert_eq!(split_name("notes"), None);
    }

    #[test]
    fn the_key_is_the_folder_above_the_sessions() {
        let key = |path: &str| project_key(Path::new(path));
        let top = "/d/agentuse/project/0123456789abcdef/session/X-a";
        assert_eq!(key(top).as_deref(), Some("0123456789abcdef"));
        let nested = format!("{top}/subagent/Y-b/subagent/Z-c");
        assert_eq!(key(&nested).as_deref(), Some("0123456789abcdef"));
        assert_eq!(key("/elsewhere/X-a"), None);
    }
}
