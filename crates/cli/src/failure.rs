//! Why a command failed, and how that is said.

use std::io;

use rethread_engine::{EnvError, Error, FindError, NotAMoment, OpenError, WriteError};
use rethread_render::one_line;
use serde_json::{Map, Value, json};

use crate::exit::Exit;

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A verb failed.
    Engine(Box<Error>),
    /// A message could not be sent, read or found.
    Samp(Box<rethread_samp::Error>),
    /// Reading standard input or writing the answer failed.
    Io(io::Error),
    /// Whoever read the answer went away: the quiet end.
    ClosedPipe,
    /// The command line makes no sense.
    Usage {
        message: String,
        hint: Option<String>,
    },
}

impl Failure {
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Usage {
            message: message.into(),
            hint: None,
        }
    }

    /// The exit code that goes with it.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Engine(e) if e.is_usage() => Exit::Usage,
            Self::Samp(e) if e.is_usage() => Exit::Usage,
            Self::Engine(_) | Self::Samp(_) | Self::Io(_) => Exit::Failed,
            Self::ClosedPipe => Exit::Done,
            Self::Usage { .. } => Exit::Usage,
        }
    }

    /// One line of text; names and paths in it are neutralised.
    pub(crate) fn message(&self) -> String {
        let text = match self {
            Self::Engine(e) => e.to_string(),
            Self::Samp(e) => e.to_string(),
            Self::Io(e) => e.to_string(),
            Self::ClosedPipe => String::new(),
            Self::Usage { message, .. } => message.clone(),
        };
        one_line(&text).into_owned()
    }

    /// What to do next, a line each.
    pub(crate) fn hints(&self) -> Vec<String> {
        match self {
            Self::Engine(e) => {
                let candidates = match e.as_ref() {
                    Error::Find(FindError::Ambiguous { candidates, .. }) => candidates.as_slice(),
                    _ => &[],
                };
                let named = candidates.iter().take(MOST_CANDIDATES).map(|c| {
                    let path = c.path.display().to_string();
                    let name = one_line(&c.name);
                    if c.name.starts_with(&path) {
                        return name.into_owned();
                    }
                    format!("{name}  {}", one_line(&path))
                });
                let more = candidates.len().saturating_sub(MOST_CANDIDATES);
                let rest = (more > 0).then(|| format!("… and {more} more"));
                named.chain(rest).chain(e.hint()).collect()
            }
            Self::Samp(e) => e.hint().into_iter().collect(),
            Self::Usage { hint, .. } => hint.clone().into_iter().collect(),
            Self::Io(_) | Self::ClosedPipe => Vec::new(),
        }
    }

    /// The error for scripts.
    pub(crate) fn to_json(&self) -> Value {
        let mut error = Map::new();
        error.insert("kind".to_owned(), json!(self.kind()));
        error.insert("message".to_owned(), json!(self.message()));
        if let Self::Engine(e) = self {
            if let Some(path) = e.path() {
                error.insert("path".to_owned(), json!(path.to_string_lossy()));
            }
            if let Some(line) = e.line() {
                error.insert("line".to_owned(), json!(line));
            }
            if let Error::Find(FindError::Ambiguous { candidates, .. }) = e.as_ref() {
                let list = candidates.iter().map(
                    |c| json!({ "agent": c.format, "id": c.id, "path": c.path.to_string_lossy() }),
                );
                error.insert("candidates".to_owned(), list.collect());
            }
            if let Some(hint) = e.hint() {
                error.insert("hint".to_owned(), json!(hint));
            }
        }
        if let Self::Samp(e) = self {
            if let Some(path) = e.path() {
                error.insert("path".to_owned(), json!(path.to_string_lossy()));
            }
            if let rethread_samp::Error::Ambiguous { ids, .. } = e.as_ref() {
                let ids = ids.iter().map(|id| json!(id.to_string()));
                error.insert("candidates".to_owned(), ids.collect());
            }
            if let Some(hint) = e.hint() {
                error.insert("hint".to_owned(), json!(hint));
            }
        }
        if let Self::Usage {
            hint: Some(hint), ..
        } = self
        {
            error.insert("hint".to_owned(), json!(hint));
        }
        json!({ "error": error })
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Engine(e) => e.kind(),
            Self::Samp(e) => e.kind(),
            Self::Io(_) | Self::ClosedPipe => "io",
            Self::Usage { .. } => "usage",
        }
    }
}

/// How many sessions of an ambiguous name are listed for people.
const MOST_CANDIDATES: usize = 20;

impl From<Error> for Failure {
    fn from(e: Error) -> Self {
        match e {
            Error::Output(e) => e.into(),
            e => Self::Engine(Box::new(e)),
        }
    }
}

impl From<rethread_samp::Error> for Failure {
    fn from(e: rethread_samp::Error) -> Self {
        Self::Samp(Box::new(e))
    }
}

impl From<FindError> for Failure {
    fn from(e: FindError) -> Self {
        Error::from(e).into()
    }
}

impl From<WriteError> for Failure {
    fn from(e: WriteError) -> Self {
        Error::from(e).into()
    }
}

impl From<OpenError> for Failure {
    fn from(e: OpenError) -> Self {
        Error::from(e).into()
    }
}

impl From<rethread_disk::DiskError> for Failure {
    fn from(e: rethread_disk::DiskError) -> Self {
        Error::from(e).into()
    }
}

impl From<EnvError> for Failure {
    fn from(e: EnvError) -> Self {
        Self::usage(e.to_string())
    }
}

impl From<NotAMoment> for Failure {
    fn from(e: NotAMoment) -> Self {
        Self::usage(e.to_string())
    }
}

impl From<io::Error> for Failure {
    fn from(e: io::Error) -> Self {
        if e.kind() == io::ErrorKind::BrokenPipe {
            Self::ClosedPipe
        } else {
            Self::Io(e)
        }
    }
}
