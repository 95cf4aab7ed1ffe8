//! Which sessions there are.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jiff::Timestamp;
use rethread_disk::open_read;
use rethread_json::{Lines, Tree, Value};
use rethread_model::Moment;

use super::content::Content;
use super::header::SessionHeader;
use super::host::Host;
use super::{SessionError, SessionManager, load, names};
use crate::pi::entry::{millis_of, name_of};

/// What a list says of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionInfo {
    /// Its file.
    pub path: PathBuf,
    /// Its id.
    pub id: String,
    /// The folder that the work is done in; empty if the session does not say.
    pub cwd: String,
    /// Its name.
    pub name: Option<String>,
    /// The file of the session that it was forked from.
    pub parent_session_path: Option<String>,
    /// When it began, if that can be read.
    pub created: Option<Moment>,
    /// When the user or the model last said something.
    pub modified: Moment,
    /// How many messages it has, of whatever role.
    pub message_count: usize,
    /// What the user said first; `(no messages)` if that is nothing.
    pub first_message: String,
    /// What the user and the model said, to search in.
    pub all_messages_text: String,
    /// Whether a workflow made it for its own ends.
    pub is_internal: bool,
}

impl SessionManager {
    /// The sessions of a working directory, the one with the latest message first. `on_progress`
    /// is told after each file how many of how many were read. Files that are no sessions are left
    /// out; in a folder that is given, so are sessions of other working directories.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let home = tempfile::tempdir()?;
    /// # let env = Env::from_variables(Default::default(), Some(home.path().into()), home.path().into())?;
    /// # let host = Host::atomic(env);
    /// let mut session = SessionManager::create(&host, "/my/project", None)?;
    /// session.append_message(NewPiMessage::user("hello"))?;
    /// let mut seen = Vec::new();
    /// let list = SessionManager::list(
    ///     &host,
    ///     "/my/project",
    ///     None,
    ///     Some(&mut |done, all| seen.push((done, all))),
    /// )?;
    /// assert_eq!(list[0].first_message, "hello");
    /// assert_eq!(seen, [(1, 1)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn list(
        host: &Host,
        cwd: impl AsRef<Path>,
        session_dir: Option<&Path>,
        on_progress: Option<&mut dyn FnMut(usize, usize)>,
    ) -> Result<Vec<SessionInfo>, SessionError> {
        let cwd = host.resolve(cwd.as_ref());
        let Some(dir) = session_dir else {
            let files = session_files(&host.default_session_dir(&cwd)?);
            return Ok(infos(&files, on_progress));
        };
        let mut infos = infos(&session_files(&host.resolve(dir)), on_progress);
        infos.retain(|info| is_of(&info.cwd, &cwd));
        Ok(infos)
    }

    /// The sessions of all working directories; those that lie in `session_dir` where one is
    /// given.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let home = tempfile::tempdir()?;
    /// # let env = Env::from_variables(Default::default(), Some(home.path().into()), home.path().into())?;
    /// # let host = Host::atomic(env);
    /// for project in ["/one", "/two"] {
    ///     let mut session = SessionManager::create(&host, project, None)?;
    ///     session.append_message(NewPiMessage::user("hello"))?;
    /// }
    /// let mut seen = 0;
    /// let all = SessionManager::list_all(&host, None, Some(&mut |done, _| seen = done))?;
    /// assert_eq!((all.len(), seen), (2, 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn list_all(
        host: &Host,
        session_dir: Option<&Path>,
        on_progress: Option<&mut dyn FnMut(usize, usize)>,
    ) -> Result<Vec<SessionInfo>, SessionError> {
        let files = if let Some(dir) = session_dir {
            session_files(&host.resolve(dir))
        } else {
            let mut folders = names_in(&host.sessions_root()?);
            folders.retain(|path| path.is_dir());
            folders.iter().flat_map(|dir| session_files(dir)).collect()
        };
        Ok(infos(&files, on_progress))
    }
}

/// The session file in a folder that was written to last; with `cwd`, only among sessions whose
/// header names it.
pub fn most_recent_session(dir: &Path, cwd: Option<&Path>) -> Option<PathBuf> {
    let files = session_files(dir).into_iter();
    let mut files: Vec<_> = files.filter_map(|f| Some((mtime(&f)?, f))).collect();
    files.sort_by_key(|(time, _)| Reverse(*time));
    let is_wanted = |header: SessionHeader| match cwd {
        Some(cwd) => is_of(header.cwd().unwrap_or_default(), cwd),
        None => true,
    };
    let mut files = files.into_iter().map(|(_, path)| path);
    files.find(|path| load::header(path).is_some_and(is_wanted))
}

fn is_of(said: &str, cwd: &Path) -> bool {
    !said.is_empty() && names::resolve(Path::new(said), Path::new("")) == cwd
}

fn mtime(path: &Path) -> Option<SystemTime> {
    path.metadata().ok()?.modified().ok()
}

/// What is in a folder, sorted by name; nothing if it cannot be read.
fn names_in(dir: &Path) -> Vec<PathBuf> {
    let found = std::fs::read_dir(dir).into_iter().flatten();
    let mut names: Vec<_> = found.filter_map(|entry| Some(entry.ok()?.path())).collect();
    names.sort();
    names
}

fn session_files(dir: &Path) -> Vec<PathBuf> {
    let mut files = names_in(dir);
    files.retain(|path| names::is_session_file(path));
    files
}

fn infos(
    files: &[PathBuf],
    mut on_progress: Option<&mut dyn FnMut(usize, usize)>,
) -> Vec<SessionInfo> {
    let mut infos = Vec::new();
    for (at, path) in files.iter().enumerate() {
        infos.extend(info(path));
        if let Some(on_progress) = &mut on_progress {
            on_progress(at + 1, files.len());
        }
    }
    infos.sort_by_key(|info| Reverse(info.modified));
    infos
}

/// What has been seen of a file.
#[derive(Default)]
struct ListTally {
    name: Option<String>,
    count: usize,
    first: Option<String>,
    said: String,
    latest: i64,
}

fn info(path: &Path) -> Option<SessionInfo> {
    let mut lines = Lines::new(open_read(path).ok()?);
    let mut tree = Tree::default();
    let mut header: Option<SessionHeader> = None;
    let mut tally = ListTally::default();
    while let Some(line) = lines.next_line().ok()? {
        let Some(line) = line.whole().filter(|line| tree.parse_into(line).is_ok()) else {
            continue;
        };
        let value = tree.root(line);
        if header.is_none() {
            header = Some(SessionHeader::of(value)?);
        } else {
            tally.add(value);
        }
    }
    let header = header?;
    let created = header.millis().and_then(Moment::from_millis);
    let said = Moment::from_millis(tally.latest).filter(|_| tally.latest > 0);
    let modified = said.or(created).or_else(|| {
        let written = Timestamp::try_from(mtime(path)?).ok()?;
        Some(written.into())
    })?;
    Some(SessionInfo {
        path: path.to_owned(),
        id: header.id().to_owned(),
        cwd: header.cwd().unwrap_or_default().to_owned(),
        name: tally.name,
        parent_session_path: header.parent_session().map(str::to_owned),
        created,
        modified,
        message_count: tally.count,
        first_message: tally.first.unwrap_or_else(|| "(no messages)".to_owned()),
        all_messages_text: tally.said,
        is_internal: header.is_internal(),
    })
}

impl ListTally {
    fn add(&mut self, entry: Value<'_>) {
        let is = |name| entry.get("type").is_some_and(|t| t.is_str(name));
        if is("session_info") {
            self.name = name_of(entry);
        }
        if !is("message") {
            return;
        }
        self.count += 1;
        let Some(message) = entry.get("message") else {
            return;
        };
        let has_role = |name| message.get("role").is_some_and(|r| r.is_str(name));
        let is_user = has_role("user");
        if !is_user && !has_role("assistant") {
            return;
        }
        let time = message.get("timestamp").and_then(Value::i64);
        let time = time.or_else(|| entry.get("timestamp").and_then(millis_of));
        self.latest = self.latest.max(time.unwrap_or(0));
        let text = message.get("content").map(Content::text_in);
        let Some(text) = text.filter(|text| !text.is_empty()) else {
            return;
        };
        if is_user && self.first.is_none() {
            self.first = Some(text.clone());
        }
        if !self.said.is_empty() {
            self.said.push(' ');
        }
        self.said.push_str(&text);
    }
}
