//! Why a verb failed.

use std::path::{Path, PathBuf};

use rethread_catalog::{FindError, HomeError};
use rethread_disk::DiskError;
use rethread_formats::{OpenError, WriteError};

/// Why a verb failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The session was not found, or several were.
    #[error(transparent)]
    Find(#[from] FindError),
    /// The session could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Homes could not be opened.
    #[error(transparent)]
    Home(#[from] HomeError),
    /// Something could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The disk refused.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// Some files of a session are gone, and some are where they were.
    #[error("{}", partly_removed(.cause, .gone, .left, *.trashed))]
    PartlyRemoved {
        /// What was in the way.
        cause: DiskError,
        /// What is gone.
        gone: Vec<PathBuf>,
        /// What was not tried.
        left: Vec<PathBuf>,
        /// Whether what is gone is in the trash.
        trashed: bool,
    },
    /// No entry has that name.
    #[error("no entry of `{}` is named `{name}`", .path.display())]
    NoEntry {
        /// The name.
        name: String,
        /// The session.
        path: PathBuf,
    },
    /// Several entries have that name.
    #[error("`{name}` could be {count} entries of `{}`", .path.display())]
    AmbiguousEntry {
        /// The name.
        name: String,
        /// How many.
        count: usize,
        /// The session.
        path: PathBuf,
    },
    /// There is nothing at a path that some document speaks of.
    #[error("`{}` is no store, session or file that can be checked", .path.display())]
    NothingToCheck {
        /// The path.
        path: PathBuf,
    },
    /// The `git` program refused.
    #[error("{0}")]
    Git(String),
    /// It is not done without being told twice.
    #[error("{message}")]
    Refused {
        /// Why not.
        message: String,
        /// How to insist.
        hint: String,
    },
    /// What was written, or came along, is not what it must be. The user can do nothing about it.
    #[error("{0}")]
    Verification(String),
    /// Whoever reads along does not take what is written.
    #[error("{0}")]
    Output(std::io::Error),
    /// What was asked for makes no sense.
    #[error("{message}")]
    Usage {
        /// What is wrong.
        message: String,
        /// What to do instead.
        hint: Option<String>,
    },
}

impl Error {
    /// What was asked for makes no sense.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::Usage {
            message: message.into(),
            hint: None,
        }
    }

    /// The `git` program refused.
    pub(crate) fn git(e: &rethread_project::GitError) -> Self {
        Self::Git(e.to_string())
    }

    /// Whether the request itself was wrong, rather than what it met.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Usage { .. }
                | Self::Home(HomeError::Settings { .. } | HomeError::NotAMachine(_))
                | Self::Write(
                    WriteError::Unsupported { .. }
                        | WriteError::ReadOnly { .. }
                        | WriteError::BadInput(_),
                )
        )
    }

    /// The file concerned.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Open(e) => e.path(),
            Self::Write(e) => e.path(),
            Self::Home(e) => e.path(),
            Self::Disk(e)
            | Self::PartlyRemoved { cause: e, .. }
            | Self::Find(FindError::Unreadable(e)) => e.path(),
            Self::NoEntry { path, .. }
            | Self::AmbiguousEntry { path, .. }
            | Self::Find(FindError::Damaged { path, .. })
            | Self::NothingToCheck { path } => Some(path),
            Self::Find(_)
            | Self::Git(_)
            | Self::Refused { .. }
            | Self::Verification(_)
            | Self::Output(_)
            | Self::Usage { .. } => None,
        }
    }

    /// The line concerned.
    pub fn line(&self) -> Option<u64> {
        match self {
            Self::Open(e) => e.line(),
            Self::Write(e) => e.line(),
            Self::Home(e) => e.line(),
            _ => None,
        }
    }

    /// What to do next.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Open(e) => e.hint(),
            Self::Write(e) => e.hint(),
            Self::Home(e) => e.hint(),
            Self::Disk(e)
            | Self::PartlyRemoved { cause: e, .. }
            | Self::Find(FindError::Unreadable(e)) => e.hint(),
            Self::Find(FindError::NotFound { .. }) => {
                Some("`rethread list` shows what there is".to_owned())
            }
            Self::NoEntry { .. } => Some("`rethread show SESSION --json` shows the ids".to_owned()),
            Self::NothingToCheck { .. } => Some(
                "name a session, a project, an agent's folder, or one of its files".to_owned(),
            ),
            Self::Usage { hint, .. } => hint.clone(),
            Self::Refused { hint, .. } => Some(hint.clone()),
            Self::Verification(_) => Some(
                "nothing was written; `rethread export SESSION --source` copies its files as they are"
                    .to_owned(),
            ),
            Self::Find(_) | Self::Git(_) | Self::Output(_) | Self::AmbiguousEntry { .. } => None,
        }
    }

    /// A short name for scripts.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Find(FindError::Ambiguous { .. }) | Self::AmbiguousEntry { .. } => "ambiguous",
            Self::Disk(_)
            | Self::PartlyRemoved { .. }
            | Self::Output(_)
            | Self::Home(HomeError::Disk(_))
            | Self::Find(FindError::Unreadable(_)) => "io",
            Self::Find(FindError::Damaged { .. }) => "damaged",
            Self::Find(_) | Self::NoEntry { .. } | Self::NothingToCheck { .. } => "not_found",
            Self::Open(e) => e.kind(),
            Self::Write(e) => e.kind(),
            Self::Git(_) => "git",
            Self::Refused { .. } => "refused",
            Self::Verification(_) => "verification",
            Self::Usage { .. } | Self::Home(_) => "usage",
        }
    }
}

/// What went and what did not, in one line.
fn partly_removed(cause: &DiskError, gone: &[PathBuf], left: &[PathBuf], trashed: bool) -> String {
    let list = |paths: &[PathBuf]| {
        let paths = paths.iter().map(|path| format!("`{}`", path.display()));
        paths.collect::<Vec<_>>().join(", ")
    };
    let place = if trashed { "in the trash" } else { "deleted" };
    let gone = list(gone);
    match list(left).as_str() {
        "" => format!("{cause}; {place} already: {gone}"),
        left => format!("{cause}; {place} already: {gone}; not tried: {left}"),
    }
}
