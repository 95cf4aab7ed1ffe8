//! One event of a log: what it is, and what is known of it.

use std::borrow::Cow;

use rethread_json::Value;
use rethread_model::{Kind, ModelRef, Role, Usage, Visibility};

use crate::fields::{filled_of, is_true, string_of};

/// One event.
pub(super) struct LogEvent<'a> {
    pub(super) type_name: Cow<'a, str>,
    /// The whole event, and what it says; none of one that is too long to be held.
    pub(super) value: Option<Value<'a>>,
    pub(super) data: Option<Value<'a>>,
    /// The sub-agent that it is of.
    pub(super) agent: Option<String>,
}

/// How types begin of events that only say how the client worked.
const QUIET: [&str; 11] = [
    "hook.",
    "permission.",
    "assistant.turn_",
    "assistant.usage",
    "tool.execution_",
    "session.start",
    "session.shutdown",
    "session.usage_checkpoint",
    "session.binary_asset",
    "session.compaction_start",
    "session.tools_updated",
];

impl<'a> LogEvent<'a> {
    /// The event that an object is; none if it is no event.
    pub(super) fn of(value: Value<'a>) -> Option<Self> {
        let data = value.get("data").filter(|data| data.is_object())?;
        Some(Self {
            type_name: value.get("type")?.str()?,
            value: Some(value),
            data: Some(data),
            agent: filled_of(value, "agentId").or_else(|| filled_of(data, "parentToolCallId")),
        })
    }

    /// A text of what it says.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        filled_of(self.data?, key)
    }

    /// A model that it names.
    pub(super) fn model(&self, key: &str) -> Option<ModelRef> {
        self.text(key).map(|id| ModelRef { provider: None, id })
    }

    /// What the event is for a reader; none if it says nothing about the conversation.
    pub(super) fn kind(&self) -> Option<(Kind, Visibility)> {
        use Visibility::{Hidden, Injected, UiOnly, Visible};
        let is_true = |key| self.data.is_some_and(|data| is_true(data, key));
        Some(match self.type_name.as_ref() {
            "user.message" => {
                let is_told = self.text("source").is_some_and(|source| source != "user");
                let is_told = is_told || is_true("isAutopilotContinuation");
                (
                    Kind::Message(Role::User),
                    if is_told { Injected } else { Visible },
                )
            }
            "assistant.message" => (Kind::Message(Role::Assistant), Visible),
            "tool.execution_complete" => (Kind::Message(Role::Tool), Visible),
            "system.message" | "system.notification" => (Kind::Message(Role::System), Injected),
            "session.model_change" => (Kind::ModelChange, Visible),
            "session.compaction_complete" if is_true("success") => (Kind::Compaction, Visible),
            "session.usage_record" => (Kind::Usage, Hidden),
            name if QUIET.iter().any(|quiet| name.starts_with(quiet)) => return None,
            _ => (Kind::Event, UiOnly),
        })
    }

    /// What a response cost, where the event tells.
    pub(super) fn usage(&self) -> Option<Usage> {
        let data = self.data?;
        let output = data.get("outputTokens").and_then(Value::u64);
        match self.type_name.as_ref() {
            "session.usage_record" => data.get("usage").map(read_usage),
            "assistant.message" => output.map(|output| Usage {
                output,
                ..Usage::default()
            }),
            _ => None,
        }
    }

    /// What names the response that a usage is of.
    pub(super) fn usage_key(&self) -> Option<String> {
        let own = self.text("apiCallId");
        own.or_else(|| string_of(self.data?.get("usage")?, "apiCallId"))
    }
}

/// Token counts, in which what a cache answered counts as input.
pub(super) fn read_usage(value: Value<'_>) -> Usage {
    let count = |key| value.get(key).and_then(Value::u64).unwrap_or(0);
    let (read, write) = (count("cacheReadTokens"), count("cacheWriteTokens"));
    Usage {
        input: count("inputTokens").saturating_sub(read.saturating_add(write)),
        cache_read: read,
        cache_write: write,
        output: count("outputTokens"),
        reasoning: count("reasoningTokens"),
        ..Usage::default()
    }
}
