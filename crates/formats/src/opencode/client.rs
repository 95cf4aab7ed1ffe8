//! How a session is continued in its own client.

use std::path::PathBuf;

use rethread_model::Summary;

use super::store::{SessionStorage, storage_of};
use super::{OpenCode, SLUG};
use crate::{Client, Resume};

impl Client for OpenCode {
    fn program(&self) -> &'static str {
        SLUG
    }

    fn resume(&self, summary: &Summary) -> Option<Resume> {
        // The client shows nothing but what is in its database.
        let kept = storage_of(&summary.path).ok()?;
        matches!(kept, SessionStorage::Database).then(|| Resume {
            program: self.program(),
            args: vec!["-s".to_owned(), summary.head.id.clone()],
            folder: summary.head.workspace.path.as_ref().map(PathBuf::from),
        })
    }

    fn refusal(&self, summary: &Summary) -> Option<(String, String)> {
        let path = summary.path.display();
        let is_document = matches!(storage_of(&summary.path), Ok(SessionStorage::Export(..)));
        is_document.then(|| {
            (
                format!(
                    "`{path}` is a document, and OpenCode goes on with what is in its database"
                ),
                format!("`opencode import {path}` takes it in"),
            )
        })
    }
}
