//! Beginning with a session: a new one, or one that is there.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rethread_disk::{DiskError, Mode, ensure_folder};

use super::header::SessionHeader;
use super::host::Host;
use super::list::most_recent_session;
use super::load::{LoadedFile, SessionLines, load};
use super::{SessionError, SessionManager, Stored, names};
use crate::pi::entry::SessionEntry;

/// What a new session is to be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewSessionOptions {
    /// Its id; a fresh one where none is given.
    pub id: Option<String>,
    /// The file of the session that it comes from.
    pub parent_session: Option<PathBuf>,
}

impl SessionManager {
    /// A new session for work in `cwd`, in the program's own folder or in `session_dir`. Folders
    /// are made at once, the file with the first message of the user or the model.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let home = tempfile::tempdir()?;
    /// # let env = Env::from_variables(Default::default(), Some(home.path().into()), home.path().into())?;
    /// # let host = Host::atomic(env);
    /// let mut session = SessionManager::create(&host, "/my/project", None)?;
    /// let file = session.session_file().unwrap().to_owned();
    /// assert!(!file.exists());
    /// session.append_message(NewPiMessage::user("hello"))?;
    /// assert!(file.exists());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create(
        host: &Host,
        cwd: impl AsRef<Path>,
        session_dir: Option<&Path>,
    ) -> Result<Self, SessionError> {
        let cwd = host.resolve(cwd.as_ref());
        let dir = match session_dir {
            Some(dir) => host.resolve(dir),
            None => host.default_session_dir(&cwd)?,
        };
        let mut session = Self::blank(host, cwd, dir);
        session.make_dir()?;
        session.begin(None, None);
        Ok(session)
    }

    /// The session in a file. If there is no file, a new session that will be written there; an
    /// empty file gets a header at once; a file that holds something else is an error and stays as
    /// it is.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let home = tempfile::tempdir()?;
    /// # let env = Env::from_variables(Default::default(), Some(home.path().into()), home.path().into())?;
    /// # let host = Host::atomic(env);
    /// let path = home.path().join("one.jsonl");
    /// let mut session = SessionManager::open(&host, &path, None)?;
    /// session.append_message(NewPiMessage::user("hello"))?;
    /// let again = SessionManager::open(&host, &path, None)?;
    /// assert_eq!(again.session_id(), session.session_id());
    ///
    /// let notes = home.path().join("notes.jsonl");
    /// std::fs::write(&notes, "buy milk\n")?;
    /// assert!(SessionManager::open(&host, &notes, None).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(
        host: &Host,
        path: impl AsRef<Path>,
        session_dir: Option<&Path>,
    ) -> Result<Self, SessionError> {
        Self::open_in(host, path, session_dir, None)
    }

    /// As [`SessionManager::open`], but for work in `cwd`, whatever the header says.
    pub fn open_in(
        host: &Host,
        path: impl AsRef<Path>,
        session_dir: Option<&Path>,
        cwd: Option<&Path>,
    ) -> Result<Self, SessionError> {
        let path = host.resolve(path.as_ref());
        let dir = match session_dir {
            Some(dir) => host.resolve(dir),
            None => path.parent().unwrap_or(&path).to_owned(),
        };
        let given = cwd.map(|cwd| host.resolve(cwd));
        let cwd = given.clone().unwrap_or_else(|| host.env.cwd.clone());
        let mut session = Self::blank(host, cwd, dir);
        session.file = Some(path.clone());
        session.set_session_file(&path)?;
        if let (None, Some(cwd)) = (given, session.header.cwd()) {
            session.cwd = host.resolve(Path::new(cwd));
        }
        session.make_dir()?;
        Ok(session)
    }

    /// The session in `cwd` that was written to last, or a new one. In a folder that is given,
    /// only sessions of `cwd` count.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let home = tempfile::tempdir()?;
    /// # let env = Env::from_variables(Default::default(), Some(home.path().into()), home.path().into())?;
    /// # let host = Host::atomic(env);
    /// let mut first = SessionManager::continue_recent(&host, "/my/project", None)?;
    /// first.append_message(NewPiMessage::user("hello"))?;
    /// let again = SessionManager::continue_recent(&host, "/my/project", None)?;
    /// assert_eq!(again.session_id(), first.session_id());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn continue_recent(
        host: &Host,
        cwd: impl AsRef<Path>,
        session_dir: Option<&Path>,
    ) -> Result<Self, SessionError> {
        let cwd = host.resolve(cwd.as_ref());
        let recent = match session_dir {
            Some(dir) => most_recent_session(&host.resolve(dir), Some(&cwd)),
            None => most_recent_session(&host.default_session_dir(&cwd)?, None),
        };
        match recent {
            Some(path) => Self::open_in(host, path, session_dir, Some(&cwd)),
            None => Self::create(host, cwd, session_dir),
        }
    }

    /// A session that is never written.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let home = tempfile::tempdir()?;
    /// # let env = Env::from_variables(Default::default(), Some(home.path().into()), home.path().into())?;
    /// # let host = Host::atomic(env);
    /// let mut session = SessionManager::in_memory(&host, "/my/project");
    /// session.append_message(NewPiMessage::user("hello"))?;
    /// assert_eq!(session.session_file(), None);
    /// assert!(!session.is_persisted());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn in_memory(host: &Host, cwd: impl AsRef<Path>) -> Self {
        let cwd = host.resolve(cwd.as_ref());
        let mut session = Self::blank(host, cwd, PathBuf::new());
        session.begin(None, None);
        session
    }

    /// A copy of a session for work in another folder, written at once. Entries keep their ids and
    /// their bytes; an older version becomes today's on the way.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let home = tempfile::tempdir()?;
    /// # let env = Env::from_variables(Default::default(), Some(home.path().into()), home.path().into())?;
    /// # let host = Host::atomic(env);
    /// let mut session = SessionManager::create(&host, "/my/project", None)?;
    /// session.append_message(NewPiMessage::user("hello"))?;
    /// let fork = SessionManager::fork_from(&host, session.session_file().unwrap(), "/other", None)?;
    /// assert_eq!(fork.entries(), session.entries());
    /// assert_eq!(fork.header().parent_session(), session.session_file().unwrap().to_str());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fork_from(
        host: &Host,
        source: impl AsRef<Path>,
        target_cwd: impl AsRef<Path>,
        session_dir: Option<&Path>,
    ) -> Result<Self, SessionError> {
        let source = host.resolve(source.as_ref());
        let lines = match load(&source) {
            Ok(LoadedFile::Session(lines)) => *lines,
            Ok(_) | Err(DiskError::NotFound { .. }) => {
                return Err(SessionError::CannotFork { path: source });
            }
            Err(e) => return Err(e.into()),
        };
        let mut session = Self::create(host, target_cwd, session_dir)?;
        lines.header.refuse_newer()?;
        session.begin(None, Some(&source));
        let header = session.header.clone();
        session.take(header, lines.entries);
        session.write_whole(&[])?;
        Ok(session)
    }

    /// A session that is only added to, in memory: `pass` tells it what it has.
    pub(crate) fn behind(host: &Host) -> Self {
        Self::blank(host, PathBuf::new(), PathBuf::new())
    }

    /// A session of these entries, in memory.
    pub(crate) fn of_entries(host: &Host, entries: Vec<SessionEntry>) -> Self {
        let mut session = Self::behind(host);
        let header = session.header.clone();
        session.take(header, entries);
        session
    }

    /// Takes the header of the session that is added to.
    pub(crate) fn follow(&mut self, header: SessionHeader) {
        self.header = header;
    }

    /// A new session that comes from a file, for work in another folder. Its entries are told it
    /// with `pass`, and it stays in memory: what is to be written, and where, is returned beside it.
    pub(crate) fn copy_of(
        host: &Host,
        source: &Path,
        cwd: &Path,
        session_dir: Option<&Path>,
    ) -> Result<(Self, PathBuf), SessionError> {
        let source = host.resolve(source);
        let mut session = Self::create(host, cwd, session_dir)?;
        session.begin(None, Some(&source));
        let path = session.file.take().unwrap_or_default();
        Ok((session, path))
    }

    /// Begins anew, with nothing of the old session. Returns the file that it will be in.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let env = Env::from_variables(Default::default(), Some("/home/me".into()), "/p".into())?;
    /// # let mut session = SessionManager::in_memory(&Host::atomic(env), "/p");
    /// use rethread_formats::pi::NewSessionOptions;
    /// session.append_message(NewPiMessage::user("hello"))?;
    /// session.new_session(NewSessionOptions { id: Some("mine".into()), ..Default::default() })?;
    /// assert_eq!(session.session_id(), "mine");
    /// assert!(session.entries().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new_session(
        &mut self,
        options: NewSessionOptions,
    ) -> Result<Option<&Path>, SessionError> {
        if let Some(id) = &options.id {
            names::check_session_id(id)?;
        }
        let parent = options.parent_session;
        self.begin(options.id.as_deref(), parent.as_deref());
        Ok(self.session_file())
    }

    /// Goes on with the session in another file, as [`SessionManager::open`] does; the working
    /// directory and the session folder stay. A session in memory reads the file and stays in
    /// memory.
    ///
    /// ```
    /// # use rethread_formats::{Env, pi::{Host, NewPiMessage, SessionManager}};
    /// # let home = tempfile::tempdir()?;
    /// # let env = Env::from_variables(Default::default(), Some(home.path().into()), home.path().into())?;
    /// # let host = Host::atomic(env);
    /// let mut session = SessionManager::create(&host, "/my/project", None)?;
    /// session.set_session_file(home.path().join("other.jsonl"))?;
    /// session.append_message(NewPiMessage::user("hello"))?;
    /// assert!(home.path().join("other.jsonl").exists());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_session_file(&mut self, path: impl AsRef<Path>) -> Result<(), SessionError> {
        let path = self.host.resolve(path.as_ref());
        match load(&path) {
            Ok(LoadedFile::Session(lines)) => {
                let SessionLines {
                    header,
                    entries,
                    old,
                    ..
                } = *lines;
                self.take(header, entries);
                self.stored = old.map_or(Stored::All, Stored::Old);
            }
            Ok(LoadedFile::Foreign) => return Err(SessionError::NotASession { path }),
            Ok(LoadedFile::Empty) => {
                let is_persisted = self.is_persisted();
                self.begin(None, None);
                if is_persisted {
                    self.append_to(&path, &[self.header.raw(), b"\n"].concat())?;
                    self.stored = Stored::All;
                }
            }
            Err(DiskError::NotFound { .. }) => self.begin(None, None),
            Err(e) => return Err(e.into()),
        }
        if self.is_persisted() {
            self.file = Some(path);
        }
        Ok(())
    }

    /// A manager without a session yet.
    fn blank(host: &Host, cwd: PathBuf, session_dir: PathBuf) -> Self {
        Self {
            host: host.clone(),
            // A place to be filled in: where there is a folder, there is a file.
            file: (!session_dir.as_os_str().is_empty()).then(PathBuf::new),
            header: SessionHeader::new("", "", &cwd, None),
            cwd,
            session_dir,
            stored: Stored::Nothing,
            past: 0,
            entries: Vec::new(),
            index: HashMap::new(),
            labels: HashMap::new(),
            leaf: None,
            time: None,
        }
    }

    /// A new header, and nothing else.
    pub(super) fn begin(&mut self, id: Option<&str>, parent: Option<&Path>) {
        let now = self.host.env.now();
        let timestamp = now.to_string();
        let fresh = || names::session_id(&self.host.env, now);
        let id = id.map_or_else(fresh, str::to_owned);
        let header = SessionHeader::new(&id, &timestamp, &self.cwd, parent);
        if self.file.is_some() {
            let name = names::session_file(&timestamp, &id);
            self.file = Some(self.session_dir.join(name));
        }
        self.take(header, Vec::new());
        self.stored = Stored::Nothing;
    }

    fn make_dir(&self) -> Result<(), SessionError> {
        let d = self.host.durability;
        Ok(ensure_folder(&self.session_dir, &Mode::Private, d)?)
    }
}
