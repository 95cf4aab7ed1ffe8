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

/// The program that continues the sessions of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Client {
    /// Its name, as it is found on the path.
    pub program: &'static str,
    /// Whether it finds only sessions of the folder that it is started in.
    pub finds_by_folder: bool,
}
