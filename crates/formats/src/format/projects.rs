//! Projects that hold the store of a format.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rethread_model::{Note, Summary};

use crate::{Made, OpenError, WriteError, Writing};

/// Projects that hold the store of a format, and what they want done.
pub trait Projects: Sync {
    /// The project that a session of this folder is put into.
    fn project_of(&self, folder: &Path) -> PathBuf;

    /// The project that holds a session, by the path of the session.
    fn holder_of<'a>(&self, session: &'a Path) -> Option<&'a Path>;

    /// Prepares a project for conversations.
    fn init(&self, w: &Writing<'_>, folder: &Path) -> Result<Made, WriteError>;

    /// The hooks of a project, if it has any, and what was noticed on reading its configuration.
    fn hooks(&self, project: &Path) -> Result<(Option<Hooks>, Vec<Note>), OpenError>;

    /// Whether the project wants a worktree for each new session.
    fn wants_worktree(&self, project: &Path) -> Result<bool, OpenError>;

    /// The file in a session's folder that describes it.
    fn description_file(&self) -> &'static str;

    /// What a list shows of a session that is gone, by the description that was kept of it.
    fn described(&self, folder: &Path, description: Vec<u8>) -> Option<Summary>;
}

/// The hooks of a project. A hook that makes no sense is kept as the reason why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hooks {
    /// The file that has them.
    pub config: PathBuf,
    /// The block's own bytes: what trust is about.
    pub raw: Vec<u8>,
    /// Links to be made in the worktree.
    pub symlinks: Vec<Result<SymlinkHook, String>>,
    /// Commands to be run in it, in this order.
    pub commands: Vec<Result<CommandHook, String>>,
    /// What is said to the agent first.
    pub initial_prompt: Option<Result<String, String>>,
}

/// A link to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymlinkHook {
    /// What it leads to, from the repository's root.
    pub source: String,
    /// Where it stands, from the worktree's root.
    pub target: String,
}

/// A command to be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandHook {
    /// The line for the shell.
    pub command: String,
    /// What it is called for people.
    pub label: Option<String>,
    /// How long it may run; none is for ever.
    pub timeout: Option<Duration>,
    /// Whether the next one runs although this one failed.
    pub continue_on_error: bool,
    /// The platforms it is for; all where none are named.
    pub platforms: Option<Vec<String>>,
}

impl CommandHook {
    /// Whether it is for this platform.
    pub fn is_for_this_platform(&self) -> bool {
        let here = match std::env::consts::OS {
            "macos" => "darwin",
            "windows" => "win32",
            other => other,
        };
        self.platforms
            .as_ref()
            .is_none_or(|names| names.iter().any(|n| n == here))
    }
}
