//! What entries say about the whole session: title, counts, times, usage. Lists and readers use the
//! same rules.

use std::path::Path;

use rethread_json::Value;
use rethread_model::{
    Activity, ConvertedFrom, Counts, Head, ModelRef, Moment, Title, TitleSource, Usage,
};

use super::carrier::OURS;
use super::fields::{read_usage, time};
use crate::carry::converted_from;
use crate::fields::{model_of, string_of};
use crate::first_prompt::FirstPrompt;
use crate::kit::saved_struct;
use crate::times::Times;

/// What the entries so far say.
#[derive(Clone, Debug, Default)]
pub(super) struct EntryFacts {
    pub(super) counts: Counts,
    name: Option<String>,
    first_prompt: FirstPrompt,
    /// The session that this one was converted from.
    pub(super) converted_from: Option<ConvertedFrom>,
    /// The model that answered last, or was chosen since.
    model: Option<ModelRef>,
    /// When its messages were written.
    pub(super) times: Times,
    pub(super) activity: Activity,
}

saved_struct!(EntryFacts {
    counts,
    name,
    first_prompt,
    converted_from,
    model,
    times,
    activity,
});

impl EntryFacts {
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
            "custom" if self.converted_from.is_none() => {
                let is_ours = |t: Value<'_>| t.is_str(OURS);
                if entry.get("customType").is_some_and(is_ours) {
                    self.converted_from = entry.get("data").and_then(converted_from);
                }
            }
            "custom_message" => self.add_other_message(time(entry)),
            "model_change" => self.model = model_of(entry, "modelId").or(self.model.take()),
            "session_info" => {
                let name = string_of(entry, "name").unwrap_or_default();
                self.name = Some(name.trim().to_owned()).filter(|n| !n.is_empty());
            }
            _ => {}
        }
        if let Some(sum) = &mut self.counts.usage {
            let said = entry.get("message").filter(|m| m.is_object());
            if let Some(more) = read_usage(said.unwrap_or(entry)) {
                *sum += &more;
            }
        }
    }

    /// Takes into account when a message was written. That is all that matters of one that neither the person
    /// nor the model said.
    pub(super) fn add_other_message(&mut self, time: Option<Moment>) {
        self.counts.messages += 1;
        self.times.add(time);
        self.activity.add_message(time);
    }

    fn message(&mut self, entry: Value<'_>) {
        let Some(message) = entry.get("message").filter(|m| m.is_object()) else {
            return;
        };
        let Some(role) = message.get("role").and_then(Value::str) else {
            return;
        };
        self.add_other_message(time(entry));
        match role.as_ref() {
            "user" => {
                self.counts.user_messages += 1;
                if !self.first_prompt.has_words() {
                    add_prompt(&mut self.first_prompt, message);
                }
            }
            "assistant" => {
                self.counts.assistant_messages += 1;
                self.model = model_of(message, "model").or(self.model.take());
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
        head.converted_from.clone_from(&self.converted_from);
        head.updated = head.created;
        self.times.fill(head);
        head.updated = head.updated.or_else(changed);
        head.model = self.model.clone().or(head.model.take());
        let given = self.name.clone().map(|text| Title {
            text,
            source: TitleSource::User,
        });
        head.title = given.or_else(|| self.first_prompt.title());
    }
}

/// Takes the texts of a message of the person into account.
fn add_prompt(prompt: &mut FirstPrompt, message: Value<'_>) {
    let Some(content) = message.get("content") else {
        return;
    };
    let is_text = |b: &Value<'_>| b.get("type").is_some_and(|t| t.is_str("text"));
    let texts = content.items().filter(is_text);
    let texts = texts.filter_map(|b| b.get("text")?.str());
    for text in content.str().into_iter().chain(texts) {
        prompt.add(&text);
    }
}
