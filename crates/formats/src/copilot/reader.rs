//! Reading a session: what its events say of the conversation, and of the session as a whole.

use rethread_json::Value;
use rethread_model::{Head, ModelRef, Summary, Title, Usage, UsageRecord, UsageScope};

use super::event::{LogEvent, read_usage};
use super::{Copilot, workspace};
use crate::fields::string_of;
use crate::first_prompt::FirstPrompt;
use crate::kit::{LinearDialect, LinearEntry, SaveScan, head_text, read_linear, summarize_linear};
use crate::{BodyReader, Conversation, OpenError, Reader, SavedScan, Source, Want};

impl Reader for Copilot {
    fn summarize(&self, source: &Source, want: Want) -> Summary {
        summarize_linear::<Self>(source, want, None, SaveScan::Never).0
    }

    fn summarize_from(
        &self,
        source: &Source,
        want: Want,
        from: Option<&SavedScan>,
    ) -> (Summary, Option<SavedScan>) {
        summarize_linear::<Self>(source, want, from, SaveScan::Always)
    }

    fn read(&self, source: &Source) -> Result<Conversation, OpenError> {
        read_linear::<Self>(source)
    }

    fn bodies(&self) -> &dyn BodyReader {
        self
    }
}

impl LinearDialect for Copilot {
    const CALLED: &'static str = "event";

    type Record<'a> = LogEvent<'a>;

    fn record(value: Value<'_>) -> Option<LogEvent<'_>> {
        LogEvent::of(value)
    }

    /// Its id and its time stand behind what it says.
    fn giant_record(start: &[u8]) -> Option<LogEvent<'static>> {
        Some(LogEvent {
            type_name: head_text(start, "type")?.into(),
            value: None,
            data: None,
            agent: None,
        })
    }

    fn entry<'a>(event: &'a LogEvent<'_>) -> Option<LinearEntry<'a>> {
        let (kind, visibility) = event.kind()?;
        let text = |key| event.value?.get(key)?.str();
        let calls = event.data.and_then(|data| data.get("toolRequests"));
        let usage = event.usage();
        Some(LinearEntry {
            id: text("id").unwrap_or_default(),
            kind,
            visibility,
            time: text("timestamp").and_then(|time| time.parse().ok()),
            agent: event.agent.as_deref(),
            tool_calls: calls.map_or(0, |calls| calls.items().count() as u64),
            usage_key: usage.and_then(|_| event.usage_key()),
            usage,
        })
    }

    fn add_fact(event: &LogEvent<'_>, head: &mut Head) {
        let model = match event.type_name.as_ref() {
            "session.start" | "session.resume" => {
                begin(event, head);
                event.model("selectedModel")
            }
            "session.model_change" => event.model("newModel"),
            "assistant.message" if event.agent.is_none() => event.model("model"),
            "session.shutdown" => {
                head.recorded_usage = recorded(event).unwrap_or_default();
                None
            }
            _ => None,
        };
        head.model = model.or(head.model.take());
    }

    fn prompt(event: &LogEvent<'_>) -> Option<String> {
        event.text("content")
    }

    fn title(source: &Source, prompt: &FirstPrompt) -> Option<Title> {
        workspace::title(&source.path, prompt)
    }
}

/// Takes what is said where a session begins, and where it is gone on with: the folder stays what it
/// was.
fn begin(event: &LogEvent<'_>, head: &mut Head) {
    let Some(data) = event.data else { return };
    if let Some(id) = event.text("sessionId") {
        head.id = id;
    }
    let version = data.get("version").map(Value::raw);
    let version = version.map(|version| String::from_utf8_lossy(version).into_owned());
    head.dialect = version.or(head.dialect.take());
    head.agent.version = event.text("copilotVersion").or(head.agent.version.take());
    let started = event.text("startTime").and_then(|time| time.parse().ok());
    head.created = head.created.or(started);
    let Some(context) = data.get("context") else {
        return;
    };
    let of = |key| string_of(context, key);
    let place = &mut head.workspace;
    place.path = place.path.take().or_else(|| of("cwd"));
    place.root = place.root.take().or_else(|| of("gitRoot"));
    place.branch = of("branch").or(place.branch.take());
    place.commit = of("headCommit").or(place.commit.take());
    let remote = of("repositoryHost").zip(of("repository"));
    let remote = remote.map(|(host, name)| format!("https://{host}/{name}"));
    place.remote = remote.or(place.remote.take());
}

/// What a client that is closed says of what each model cost.
fn recorded(event: &LogEvent<'_>) -> Option<Vec<UsageRecord>> {
    let data = event.data?;
    let metrics = data.get("modelMetrics");
    let metrics = metrics.or_else(|| data.at(&["accountingSnapshot", "modelMetrics"]))?;
    let record = |(name, metric): (Value<'_>, Value<'_>)| {
        let usage = Usage {
            scope: UsageScope::Cumulative,
            ..read_usage(metric.get("usage")?)
        };
        let id = name.str()?.into_owned();
        Some(UsageRecord {
            usage,
            model: Some(ModelRef { provider: None, id }),
            purpose: None,
        })
    };
    Some(metrics.members().filter_map(record).collect())
}
