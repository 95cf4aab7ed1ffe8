//! How a session is continued in its own client.

use std::path::PathBuf;

use rethread_model::Summary;

use super::{Codex, SLUG};
use crate::{Client, Resume};

impl Client for Codex {
    fn program(&self) -> &'static str {
        SLUG
    }

    fn resume(&self, summary: &Summary) -> Option<Resume> {
        Some(Resume {
            program: self.program(),
            args: vec!["resume".to_owned(), summary.head.id.clone()],
            folder: summary.head.workspace.path.as_ref().map(PathBuf::from),
        })
    }
}
