//! What entries say about the whole session: title, counts, times, usage. Lists and readers use the
//! same rules.

use std::path::Path;

use rethread_json::Value;
use rethread_model::{Counts, Head, ModelRef, Moment, Title, TitleSource, Usage};

use super::fields::{model, time, usage};
use crate::fields::string;
use crate::times::Times;

/// The longest title that is made from a prompt, in characters.
const TITLE: usize = 200;

/// What the entries so far say.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    pub(super) counts: Counts,
    name: Option<String>,
    first_prompt: Option<String>,
    /// The model that answered last, or was chosen since.
    model: Option<ModelRef>,
    /// When its messages were written.
    pub(super) times: Times,
}

impl Facts {
    /// Facts that also add up usage.
    pub(super) fn with_usage(usage: bool) -> Self {
        let mut facts = Self::default();
        facts.counts.usage = usage.then(Usage::default);
        facts
    }

    /// Takes one more entry into account.
    pub(super) fn add(&mut self, entry: Value<'_>) {
        let type_name = entry.get("type").and_then(Value::str).unwrap_or_default();
        match type_name.as_ref() {
            "message" => self.message(entry),
            "custom_message" => self.times.add(time(entry)),
            "model_change" => self.model = model(entry, "modelId").or(self.model.take()),
            "session_info" => {
                let name = string(entry, "name").unwrap_or_default();
                self.name = Some(name.trim().to_owned()).filter(|n| !n.is_empty());
            }
            _ => {}
        }
        if let Some(sum) = &mut self.counts.usage {
            let said = entry.get("message").filter(|m| m.is_object());
            if let Some(more) = usage(said.unwrap_or(entry)) {
                *sum += &more;
            }
        }
    }

    /// Takes a message into account of which only the role and the time matter: neither the person
    /// nor the model said it.
    pub(super) fn add_other_message(&mut self, time: Option<Moment>) {
        self.counts.messages += 1;
        self.times.add(time);
    }

    fn message(&mut self, entry: Value<'_>) {
        let Some(message) = entry.get("message").filter(|m| m.is_object()) else {
            return;
        };
        let Some(role) = message.get("role").and_then(Value::str) else {
            return;
        };
        self.counts.messages += 1;
        self.times.add(time(entry));
        match role.as_ref() {
            "user" => {
                self.counts.user_messages += 1;
                if self.first_prompt.is_none() {
                    self.first_prompt = prompt(message);
                }
            }
            "assistant" => {
                self.counts.assistant_messages += 1;
                self.model = model(message, "model").or(self.model.take());
                let is_call = |b: &Value<'_>| b.get("type").is_some_and(|t| t.is_str("toolCall"));
                let content = message.get("content").into_iter().flat_map(Value::items);
                self.counts.tool_calls += content.filter(is_call).count() as u64;
            }
            _ => {}
        }
    }

    /// Fills in what the entries say. A session in which nobody said anything was last changed when
    /// it began, else when its file was.
    pub(super) fn fill(&self, head: &mut Head, path: &Path) {
        let changed = || {
            let modified = std::fs::metadata(path).and_then(|m| m.modified()).ok()?;
            jiff::Timestamp::try_from(modified).ok().map(Moment::from)
        };
        head.updated = head.created;
        self.times.fill(head);
        head.updated = head.updated.or_else(changed);
        head.model = self.model.clone().or(head.model.take());
        let given = self.name.clone().map(|text| (text, TitleSource::User));
        let made = self.first_prompt.clone();
        head.title = given
            .or_else(|| made.map(|text| (text, TitleSource::FirstPrompt)))
            .map(|(text, source)| Title { text, source });
    }
}

/// The first line that a message of the person has.
fn prompt(message: Value<'_>) -> Option<String> {
    let content = message.get("content")?;
    let is_text = |b: &Value<'_>| b.get("type").is_some_and(|t| t.is_str("text"));
    let texts = content.items().filter(is_text);
    let line = |text: &str| {
        let line = text.lines().map(str::trim).find(|l| !l.is_empty())?;
        Some(line.chars().take(TITLE).collect())
    };
    content
        .str()
        .into_iter()
        .chain(texts.filter_map(|b| b.get("text")?.str()))
        .find_map(|text| line(&text))
}
