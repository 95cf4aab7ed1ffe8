//! How a session is continued in its own client.

use std::path::PathBuf;

/// The command that continues a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resume {
    /// The client.
    pub program: &'static str,
    /// What it is given.
    pub args: Vec<String>,
    /// The folder that the work was done in, where the session names one: the client must be
    /// started there.
    pub folder: Option<PathBuf>,
}
