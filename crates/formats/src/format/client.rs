//! How a session is continued in its own client.

use std::path::PathBuf;

use rethread_model::{Note, Summary};

use crate::Env;

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
pub trait Client: Sync {
    /// Its name, as it is found on the path.
    fn program(&self) -> &'static str;

    /// Whether it finds only sessions of the folder that it is started in.
    fn finds_by_folder(&self) -> bool {
        false
    }

    /// The command that continues a session; none where the client does not take this one.
    fn resume(&self, summary: &Summary) -> Option<Resume>;

    /// Why the client does not continue a session that it is there for, and what to do next.
    fn refusal(&self, _: &Summary) -> Option<(String, String)> {
        None
    }

    /// What else the client does when it is started to continue a session, where the person may not
    /// expect it: such as to delete old ones.
    fn warnings(&self, _: &Env, _: &Summary) -> Vec<Note> {
        Vec::new()
    }
}
