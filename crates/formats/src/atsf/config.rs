//! The project's configuration: `.agent/config.json`.

use std::path::{Path, PathBuf};

use rethread_disk::read_small;
use rethread_json::{Document, Value};
use rethread_model::Note;
use rethread_project::Repository;

use super::store::{AGENT, CONFIG};
use super::version::Version;
use crate::OpenError;

/// A configuration, or none.
#[derive(Debug, Default)]
pub(crate) struct Config {
    document: Option<Document>,
    /// The main worktree's, for what this one does not say.
    main: Option<Document>,
    /// What was noticed on reading it.
    pub(crate) notes: Vec<Note>,
}

impl Config {
    /// Reads a project's configuration. A missing or damaged one counts as empty; a version that
    /// must be refused is an error.
    pub(crate) fn read(project: &Path) -> Result<Self, OpenError> {
        let path: PathBuf = project.join(AGENT).join(CONFIG);
        let bytes = match read_small(&path) {
            Ok(bytes) => bytes,
            Err(rethread_disk::DiskError::NotFound { .. }) => return Ok(Self::default()),
            Err(e) => return Ok(Self::damaged(Note::damage(e.to_string()))),
        };
        let document = match Document::parse(bytes) {
            Ok(document) if document.root().is_object() => document,
            Ok(_) => return Ok(Self::damaged(Note::damage("not a JSON object").at(path))),
            Err(e) => return Ok(Self::damaged(Note::damage(e.to_string()).at(path))),
        };
        let version = Version::of(document.root());
        version.refuse(&path)?;
        let notes = version.note(&path).into_iter().collect();
        Ok(Self {
            document: Some(document),
            main: None,
            notes,
        })
    }

    fn damaged(note: Note) -> Self {
        Self {
            document: None,
            main: None,
            notes: vec![note],
        }
    }

    /// The same, where a linked git worktree takes what it does not say itself from the main one.
    pub(crate) fn read_with_main(project: &Path) -> Result<Self, OpenError> {
        let mut config = Self::read(project)?;
        let repository = Repository::find(project).filter(Repository::is_linked_worktree);
        if let Some(main) = repository.and_then(|r| r.main_root()) {
            config.main = Self::read(&main)?.document;
        }
        Ok(config)
    }

    /// A value of the project's own configuration.
    pub(crate) fn value(&self, path: &[&str]) -> Option<Value<'_>> {
        self.document.as_ref()?.root().at(path)
    }

    fn text(&self, path: &[&str]) -> Option<String> {
        let of = |document: &Option<Document>| {
            let text = document.as_ref()?.root().at(path)?.str()?.into_owned();
            Some(text).filter(|t| !t.is_empty())
        };
        of(&self.document).or_else(|| of(&self.main))
    }

    /// The agent that new threads are for.
    pub(crate) fn agent_id(&self) -> Option<String> {
        self.text(&["defaults", "agentId"])
    }

    /// The mode that new threads start in.
    pub(crate) fn interaction_mode(&self) -> Option<String> {
        self.text(&["defaults", "interactionMode"])
    }

    /// The model that an agent answers with where a message does not say.
    pub(crate) fn model(&self, agent: &str) -> Option<String> {
        self.text(&["agentSettings", agent, "model"])
    }
}
