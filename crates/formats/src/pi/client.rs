//! How a session is continued in its own client.

use std::path::PathBuf;

use rethread_model::Summary;

use super::Flavour;
use crate::{Client, Resume};

impl Client for Flavour {
    fn program(&self) -> &'static str {
        self.slug
    }

    fn resume(&self, summary: &Summary) -> Option<Resume> {
        // Both programs take its file.
        let file = summary.path.to_string_lossy().into_owned();
        Some(Resume {
            program: self.slug,
            args: vec!["--session".to_owned(), file],
            folder: summary.head.workspace.path.as_ref().map(PathBuf::from),
        })
    }
}
