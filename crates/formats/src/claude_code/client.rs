//! How a session is continued in its own client.

use std::path::PathBuf;

use rethread_model::Summary;

use super::ClaudeCode;
use crate::{Client, Resume};

impl Client for ClaudeCode {
    fn program(&self) -> &'static str {
        "claude"
    }

    fn finds_by_folder(&self) -> bool {
        true
    }

    fn resume(&self, summary: &Summary) -> Option<Resume> {
        // Nobody continues a sub-agent: the session that started it does.
        let head = &summary.head;
        (!summary.is_subagent()).then(|| Resume {
            program: self.program(),
            args: vec!["--resume".to_owned(), head.id.clone()],
            folder: head.workspace.path.as_ref().map(PathBuf::from),
        })
    }
}
