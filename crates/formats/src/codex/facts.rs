//! What records say about the whole session: title, times, folder. Lists and readers use the same
//! rules.

use std::path::Path;

use rethread_json::Value;
use rethread_model::{Head, Moment, Title, TitleSource};

use super::said::{ContentPart, content_parts, folder_in, is_injected};
use crate::fields::string_of;
use crate::first_prompt::{FirstPrompt, asked_in_editor};
use crate::kit::saved_struct;
use crate::times::Times;

/// What the records so far say.
#[derive(Clone, Debug, Default)]
pub(super) struct RolloutFacts {
    name: Option<String>,
    first_prompt: FirstPrompt,
    /// The first prompt of the session that this one was forked from.
    inherited_prompt: FirstPrompt,
    folder: Option<String>,
    /// When its messages were written.
    pub(super) times: Times,
}

saved_struct!(RolloutFacts {
    name,
    first_prompt,
    inherited_prompt,
    folder,
    times,
});

impl RolloutFacts {
    /// Takes a message of the user's role into account.
    pub(super) fn user(&mut self, message: Value<'_>) {
        if self.first_prompt.has_words() && self.folder.is_some() {
            return;
        }
        for text in content_parts(message).filter_map(ContentPart::text) {
            if self.folder.is_none() {
                self.folder = folder_in(&text).map(str::to_owned);
            }
            self.shown(&text);
        }
    }

    /// Takes the person's words as shown into account: they count where the model's stream has none.
    pub(super) fn shown(&mut self, text: &str) {
        // Editors say what is open before what the person asks, in one text.
        if !is_injected(text) || asked_in_editor(text).is_some() {
            self.first_prompt.add(text);
        }
    }

    /// What follows is the session's own: a fork is named after what was asked in it.
    pub(super) fn own(&mut self) {
        self.inherited_prompt = std::mem::take(&mut self.first_prompt);
    }

    /// Whether everything is known that the beginning of a session can say.
    pub(super) fn has_prompt(&self) -> bool {
        self.first_prompt.has_words()
    }

    /// Takes a change of the name into account.
    pub(super) fn title(&mut self, event: Value<'_>) {
        let name = string_of(event, "thread_name").map(|n| n.trim().to_owned());
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
        let given = given.map(|text| Title {
            text,
            source: TitleSource::User,
        });
        let made = || self.first_prompt.title().or(self.inherited_prompt.title());
        head.title = given.or_else(made);
    }
}
