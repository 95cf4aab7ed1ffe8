//! What records say about the whole session: title, times, folder. Lists and readers use the same
//! rules.

use std::path::Path;

use rethread_json::Value;
use rethread_model::{Head, Moment, Title, TitleSource};

use super::said::{Part, folder_in, is_injected, parts};
use crate::fields::string;
use crate::times::Times;

/// The longest title that is made from a prompt, in characters.
const TITLE: usize = 200;

/// What the records so far say.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    name: Option<String>,
    first_prompt: Option<String>,
    /// The first prompt of the session that this one was forked from.
    inherited_prompt: Option<String>,
    folder: Option<String>,
    /// When its messages were written.
    pub(super) times: Times,
}

impl Facts {
    /// Takes a message of the user's role into account.
    pub(super) fn user(&mut self, message: Value<'_>) {
        if self.first_prompt.is_some() && self.folder.is_some() {
            return;
        }
        for text in parts(message).filter_map(Part::text) {
            if self.folder.is_none() {
                self.folder = folder_in(&text).map(str::to_owned);
            }
            if self.first_prompt.is_none() && !is_injected(&text) {
                self.first_prompt = prompt(&text);
            }
        }
    }

    /// Takes the person's words as shown into account: they count where the model's stream has none.
    pub(super) fn shown(&mut self, text: &str) {
        if self.first_prompt.is_none() && !is_injected(text) {
            self.first_prompt = prompt(text);
        }
    }

    /// What follows is the session's own: a fork is named after what was asked in it.
    pub(super) fn own(&mut self) {
        self.inherited_prompt = self.first_prompt.take();
    }

    /// Whether everything is known that the beginning of a session can say.
    pub(super) fn has_prompt(&self) -> bool {
        self.first_prompt.is_some()
    }

    /// Takes a change of the name into account.
    pub(super) fn title(&mut self, event: Value<'_>) {
        let name = string(event, "thread_name").map(|n| n.trim().to_owned());
        self.name = name.filter(|n| !n.is_empty());
    }

    /// Fills in what the records say. `name` is the one that people gave, if they did.
    pub(super) fn fill(&self, head: &mut Head, path: &Path, name: impl FnOnce() -> Option<String>) {
        let changed = || {
            let modified = std::fs::metadata(path).and_then(|m| m.modified()).ok()?;
            jiff::Timestamp::try_from(modified).ok().map(Moment::from)
        };
        head.updated = head.created;
        self.times.fill(head);
        head.updated = head.updated.or_else(changed);
        let workspace = &mut head.workspace;
        workspace.path = workspace.path.take().or_else(|| self.folder.clone());
        let given = name().or_else(|| self.name.clone());
        let made = || self.first_prompt.clone().or(self.inherited_prompt.clone());
        head.title = given
            .map(|text| (text, TitleSource::User))
            .or_else(|| Some((made()?, TitleSource::FirstPrompt)))
            .map(|(text, source)| Title { text, source });
    }
}

/// The first line of a text that has something in it.
fn prompt(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|l| !l.is_empty())?;
    Some(line.chars().take(TITLE).collect())
}
