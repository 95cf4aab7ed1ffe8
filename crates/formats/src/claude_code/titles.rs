//! What a session is called, and who called it that.

use rethread_json::Value;
use rethread_model::{Title, TitleSource, Visibility};

use super::said::string_is_for;
use crate::first_prompt::FirstPrompt;
use crate::kit::saved_struct;

/// The titles that records give.
#[derive(Clone, Debug, Default)]
pub(super) struct Titles {
    user: Option<String>,
    model: Option<String>,
    /// Summaries, with the record that each describes: that may be of another session.
    pub(super) summaries: Vec<(Option<String>, String)>,
    pub(super) first_prompt: FirstPrompt,
}

saved_struct!(Titles {
    user,
    model,
    summaries,
    first_prompt,
});

impl Titles {
    /// Takes a title that somebody gave. A person can clear theirs.
    pub(super) fn give(&mut self, source: TitleSource, text: Option<Value<'_>>) {
        let text = text.and_then(Value::str);
        let text = text.map(|t| t.trim().to_owned()).filter(|t| !t.is_empty());
        match source {
            TitleSource::User => self.user = text,
            _ => self.model = text.or(self.model.take()),
        }
    }

    /// Whether a title says the same as the one before it.
    pub(super) fn repeats(&self, source: TitleSource, text: Option<Value<'_>>) -> bool {
        let before = match source {
            TitleSource::User => &self.user,
            _ => &self.model,
        };
        let text = text.and_then(Value::str);
        before.is_some() && text.as_deref().map(str::trim) == before.as_deref()
    }

    /// The best of them. `has` says whether a record is in the file.
    pub(super) fn best(&self, has: &dyn Fn(&str) -> bool) -> Option<Title> {
        let title = |text: &Option<String>, source| {
            let text = text.clone()?;
            Some(Title { text, source })
        };
        let summary = || {
            let mut all = self.summaries.iter().rev();
            let (_, text) = all.find(|(leaf, _)| leaf.as_deref().is_none_or(has))?;
            title(&Some(text.clone()), TitleSource::Summary)
        };
        title(&self.user, TitleSource::User)
            .or_else(|| title(&self.model, TitleSource::Model))
            .or_else(summary)
            .or_else(|| self.first_prompt.title())
    }
}

/// Takes what stands in the place of the person into account. Of what the client put there, only the
/// commands count that it echoes.
pub(super) fn add_prompt(prompt: &mut FirstPrompt, content: Value<'_>) {
    let is_text = |b: &Value<'_>| b.get("type").is_some_and(|t| t.is_str("text"));
    let texts = content.items().filter(is_text);
    let lone = content.content().is_some().then_some(content);
    let all = lone.into_iter();
    for value in all.chain(texts.filter_map(|b| b.get("text"))) {
        if prompt.has_words() {
            return;
        }
        let Some(text) = value.str() else { continue };
        if string_is_for(value) == Visibility::Visible {
            prompt.add(&text);
        } else {
            prompt.add_echo(&text);
        }
    }
}
