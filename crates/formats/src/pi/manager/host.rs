//! Whose sessions, and the machine they are on.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rethread_disk::Durability;

use super::error::SessionError;
use super::names;
use crate::Env;

/// The program whose folders are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Agent {
    /// pi, in `~/.pi/agent`.
    Pi,
    /// Atomic, in `~/.atomic/agent`.
    Atomic,
}

/// Whose sessions are managed, where, and with which clock and randomness.
///
/// ```
/// use rethread_formats::{Env, pi::Host};
/// # let env = Env::from_variables(Default::default(), Some("/home/me".into()), "/p".into())?;
/// let host = Host::pi(env);
/// let folder = host.default_session_dir("/p".as_ref())?;
/// assert_eq!(folder.to_str(), Some("/home/me/.pi/agent/sessions/--p--"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Host {
    pub(crate) env: Env,
    pub(super) agent: Agent,
    pub(crate) durability: Durability,
    pub(crate) lock_timeout: Duration,
}

/// How long another writer is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

impl Host {
    /// The sessions of that program.
    pub fn new(env: Env, agent: Agent) -> Self {
        Self {
            env,
            agent,
            durability: Durability::default(),
            lock_timeout: PATIENCE,
        }
    }

    /// pi's sessions.
    pub fn pi(env: Env) -> Self {
        Self::new(env, Agent::Pi)
    }

    /// Atomic's sessions.
    pub fn atomic(env: Env) -> Self {
        Self::new(env, Agent::Atomic)
    }

    /// What is synced: by default, files that are made or replaced; with [`Durability::Each`],
    /// every append as well.
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// How long another writer is waited for.
    #[must_use]
    pub fn lock_timeout(mut self, timeout: Duration) -> Self {
        self.lock_timeout = timeout;
        self
    }

    /// Clock, randomness and folders.
    pub fn env(&self) -> &Env {
        &self.env
    }

    /// The program's own folder.
    pub fn agent_dir(&self) -> Result<PathBuf, SessionError> {
        let (variables, name): (&[&str], _) = match self.agent {
            Agent::Pi => (&["PI_CODING_AGENT_DIR"], ".pi"),
            Agent::Atomic => (
                &["ATOMIC_CODING_AGENT_DIR", "PI_CODING_AGENT_DIR"],
                ".atomic",
            ),
        };
        if let Some(given) = self.variable(variables) {
            return Ok(given);
        }
        let home = self.env.homes.first().ok_or(SessionError::NoHome)?;
        Ok(home.join(name).join("agent"))
    }

    /// The folder of all sessions, with one folder in it for each working directory.
    pub fn sessions_root(&self) -> Result<PathBuf, SessionError> {
        Ok(self.agent_dir()?.join("sessions"))
    }

    /// The folder of the sessions of a working directory.
    pub fn default_session_dir(&self, cwd: &Path) -> Result<PathBuf, SessionError> {
        let cwd = self.resolve(cwd);
        Ok(self.sessions_root()?.join(names::session_folder(&cwd)))
    }

    /// The one folder for all sessions that the user asked for in a variable, if any. It is for
    /// the caller to pass it on.
    pub fn custom_session_dir(&self) -> Option<PathBuf> {
        match self.agent {
            Agent::Pi => self.variable(&["PI_CODING_AGENT_SESSION_DIR"]),
            Agent::Atomic => self.variable(&[
                "ATOMIC_CODING_AGENT_SESSION_DIR",
                "PI_CODING_AGENT_SESSION_DIR",
            ]),
        }
    }

    /// The first of these variables that is set, as a path.
    fn variable(&self, names: &[&str]) -> Option<PathBuf> {
        let given = names.iter().find_map(|name| self.env.agent_variable(name));
        let given = Path::new(given?);
        let home = self.env.homes.first();
        let path = match (given.strip_prefix("~"), home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => given.to_owned(),
        };
        Some(self.resolve(&path))
    }

    pub(crate) fn resolve(&self, path: &Path) -> PathBuf {
        names::resolve(&self.env.cwd, path)
    }
}
