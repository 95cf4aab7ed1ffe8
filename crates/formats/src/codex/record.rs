//! What a record is, by the names it carries: the same for every generation of the format.

use rethread_json::Value;
use rethread_model::Moment;

use crate::fields::string_of;

/// What becomes of a type of record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Care {
    /// It is a part of the conversation, or says something about it.
    Understood,
    /// It is shown as something that happened.
    Event,
    /// It is bookkeeping of the client, kept as it is.
    Unread,
    /// Nobody met it before: kept as it is, too.
    New,
}

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RolloutType {
    /// Facts about the session.
    Meta,
    /// Something of the model's own stream.
    Item(Item),
    /// Something of the stream that people see.
    Event(Ev),
    /// The settings of a turn.
    TurnContext,
    /// The past was replaced.
    Compacted,
    /// What one response cost.
    Usage,
    /// Bookkeeping.
    Quiet,
    /// A type that is known and not read.
    Unread,
    /// Anything else.
    Unknown,
}

/// What an item of the model's stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// Text of a role.
    Message,
    /// What another agent said to this one.
    AgentMessage,
    /// Reasoning.
    Reasoning,
    /// A call of a tool.
    Call,
    /// A call that the vendor answers itself.
    HostedCall,
    /// What a tool answered.
    Output,
    /// The place of a past that was replaced.
    Compaction,
}

/// What an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ev {
    /// The person's words, as shown.
    User,
    /// The model's words, as shown.
    Agent,
    /// Reasoning, as shown.
    Thought,
    /// Something about a call, which it names.
    Call,
    /// A turn began.
    Started,
    /// A turn ended.
    Complete,
    /// Tokens so far.
    Tokens,
    /// The past was replaced.
    Compacted,
    /// The last turns were taken back.
    RolledBack,
    /// The conversation was named.
    Title,
    /// Something worth showing.
    Notice,
    /// Bookkeeping.
    Quiet,
    /// Known, and not read.
    Unread,
    /// Anything else.
    Unknown,
}

/// One record, whatever its generation.
#[derive(Clone, Copy, Debug)]
pub(super) struct RolloutRecord<'a> {
    pub(super) what: RolloutType,
    /// What it says: its `payload`, or itself where it is bare. For a finished item of the shown
    /// stream, that item.
    pub(super) payload: Value<'a>,
    root: Value<'a>,
    /// Whether it has a `payload`.
    is_wrapped: bool,
    time: Option<Value<'a>>,
    ordinal: Option<Value<'a>>,
}

impl<'a> RolloutRecord<'a> {
    /// Looks at a value that stands on a line.
    pub(super) fn of(root: Value<'a>) -> Self {
        let keys = ["payload", "type", "timestamp", "created_at", "ordinal"];
        let [payload, outer, time, created, ordinal] = root.pick(keys);
        let payload = payload.filter(|p| p.is_object());
        let is_wrapped = payload.is_some();
        let outer = outer.and_then(Value::str);
        let (what, payload) = match (outer, payload) {
            (Some(outer), Some(payload)) => wrapped(&outer, payload),
            (outer, _) => (bare(outer.as_deref(), root), root),
        };
        Self {
            what,
            payload,
            root,
            is_wrapped,
            time: time.or(created),
            ordinal,
        }
    }

    /// When it was written.
    pub(super) fn time(&self) -> Option<Moment> {
        self.time?.str()?.parse().ok()
    }

    /// Its number in a paginated file.
    pub(super) fn ordinal(&self) -> Option<u64> {
        self.ordinal?.u64()
    }

    /// The turn that it belongs to.
    pub(super) fn turn(&self) -> Option<String> {
        string_of(self.payload, "turn_id")
    }

    /// What becomes of it.
    pub(super) fn care(&self) -> Care {
        match self.what {
            RolloutType::Meta
            | RolloutType::Item(_)
            | RolloutType::TurnContext
            | RolloutType::Compacted
            | RolloutType::Usage
            | RolloutType::Event(
                Ev::User
                | Ev::Agent
                | Ev::Thought
                | Ev::Call
                | Ev::Tokens
                | Ev::Compacted
                | Ev::RolledBack
                | Ev::Title,
            ) => Care::Understood,
            RolloutType::Event(Ev::Notice | Ev::Complete) => Care::Event,
            RolloutType::Quiet
            | RolloutType::Unread
            | RolloutType::Event(Ev::Started | Ev::Quiet | Ev::Unread) => Care::Unread,
            RolloutType::Unknown | RolloutType::Event(Ev::Unknown) => Care::New,
        }
    }

    /// Its type, as `response_item/message`; bare records begin with `bare`.
    pub(super) fn name(&self) -> String {
        let word = |value: Value<'_>, key| string_of(value, key).unwrap_or_default();
        let outer = word(self.root, "type");
        let mut name = match self.root.get("payload").filter(|p| p.is_object()) {
            Some(payload) => {
                let inner = word(payload, "type");
                let item = payload.at(&["item", "type"]).and_then(Value::str);
                let item = item.filter(|_| inner.starts_with("item_"));
                let parts = [outer, inner, item.unwrap_or_default().into_owned()];
                join(&parts)
            }
            None if self.what == RolloutType::Meta => "bare/header".to_owned(),
            None => {
                let kind = word(self.root, "record_type");
                join(&["bare".to_owned(), kind, outer])
            }
        };
        if let Some(role) = string_of(self.payload, "role") {
            name.push('/');
            name.push_str(&role);
        }
        name
    }

    /// Whether it is a record of this format at all.
    pub(super) fn is_ours(&self) -> bool {
        match self.what {
            RolloutType::Unknown | RolloutType::Event(Ev::Unknown) => false,
            RolloutType::Item(_) | RolloutType::Unread => self.is_wrapped,
            _ => true,
        }
    }
}

/// The type of the record on a line, and what becomes of it; none if the line is no JSON object.
///
/// ```
/// use rethread_formats::codex::{Care, record_type};
/// let line = br#"{"timestamp":"2026-01-01T00:00:00Z","type":"world_state","payload":{}}"#;
/// assert_eq!(record_type(line), Some(("world_state".to_owned(), Care::Unread)));
/// ```
pub fn record_type(line: &[u8]) -> Option<(String, Care)> {
    let tree = rethread_json::Tree::parse(line).ok()?;
    let root = Some(tree.root(line)).filter(|root| root.is_object())?;
    let record = RolloutRecord::of(root);
    Some((record.name(), record.care()))
}

fn join(parts: &[String]) -> String {
    let parts: Vec<&str> = parts
        .iter()
        .map(String::as_str)
        .filter(|p| !p.is_empty())
        .collect();
    parts.join("/")
}

fn wrapped<'a>(outer: &str, payload: Value<'a>) -> (RolloutType, Value<'a>) {
    let inner = payload.get("type").and_then(Value::str);
    let what = match outer {
        "session_meta" => RolloutType::Meta,
        "response_item" => item(inner.as_deref(), payload),
        "event_msg" => {
            let inner = inner.unwrap_or_default();
            if let Some(item) = payload.get("item").filter(|_| inner == "item_completed") {
                let kind = item.get("type").and_then(Value::str).unwrap_or_default();
                return (RolloutType::Event(finished(&kind)), item);
            }
            RolloutType::Event(event(&inner))
        }
        "turn_context" => RolloutType::TurnContext,
        "compacted" => RolloutType::Compacted,
        "token_usage_record" => RolloutType::Usage,
        "world_state"
        | "inter_agent_communication_metadata"
        | "security_risk_score"
        | super::carrier::OURS => RolloutType::Quiet,
        "inter_agent_communication" => RolloutType::Event(Ev::Notice),
        _ => RolloutType::Unknown,
    };
    (what, payload)
}

/// Records without a wrapper: a header, state lines, and items.
fn bare(outer: Option<&str>, root: Value<'_>) -> RolloutType {
    if root.get("record_type").is_some() {
        return RolloutType::Quiet;
    }
    if outer.is_none() && root.get("role").is_none() {
        let has = |key| root.get(key).is_some();
        let is_header = has("id") && has("timestamp") && (has("instructions") || has("git"));
        return if is_header {
            RolloutType::Meta
        } else {
            RolloutType::Unknown
        };
    }
    item(outer, root)
}

fn item(kind: Option<&str>, payload: Value<'_>) -> RolloutType {
    RolloutType::Item(match kind {
        Some("message") => Item::Message,
        // Some writers leave the type of a message out.
        None if payload.get("role").is_some() => Item::Message,
        Some("agent_message") => Item::AgentMessage,
        Some("reasoning") => Item::Reasoning,
        Some("function_call" | "custom_tool_call" | "local_shell_call" | "tool_search_call") => {
            Item::Call
        }
        Some("web_search_call" | "image_generation_call") => Item::HostedCall,
        Some(
            "function_call_output"
            | "custom_tool_call_output"
            | "tool_search_output"
            | "local_shell_call_output",
        ) => Item::Output,
        Some("compaction" | "compaction_summary" | "context_compaction") => Item::Compaction,
        Some("ghost_snapshot" | "compaction_trigger" | "additional_tools") => {
            return RolloutType::Quiet;
        }
        // Other programs' words for calls; the client does not read them either.
        Some("tool_call" | "tool_result" | "function_result" | "other") => {
            return RolloutType::Unread;
        }
        _ => return RolloutType::Unknown,
    })
}

fn event(kind: &str) -> Ev {
    match kind {
        "user_message" => Ev::User,
        "agent_message" => Ev::Agent,
        "agent_reasoning" | "agent_reasoning_raw_content" => Ev::Thought,
        "exec_command_begin"
        | "exec_command_end"
        | "patch_apply_begin"
        | "patch_apply_end"
        | "mcp_tool_call_begin"
        | "mcp_tool_call_end"
        | "web_search_begin"
        | "web_search_end"
        | "image_generation_begin"
        | "image_generation_end"
        | "view_image_tool_call"
        | "dynamic_tool_call_request"
        | "dynamic_tool_call_response"
        | "collab_agent_spawn_begin"
        | "collab_agent_spawn_end"
        | "collab_agent_interaction_begin"
        | "collab_agent_interaction_end"
        | "collab_waiting_begin"
        | "collab_waiting_end"
        | "collab_close_begin"
        | "collab_close_end"
        | "collab_resume_begin"
        | "collab_resume_end"
        | "exec_approval_request"
        | "apply_patch_approval_request" => Ev::Call,
        "task_started" | "turn_started" => Ev::Started,
        "task_complete" | "turn_complete" => Ev::Complete,
        "token_count" => Ev::Tokens,
        "context_compacted" => Ev::Compacted,
        "thread_rolled_back" => Ev::RolledBack,
        "thread_name_updated" => Ev::Title,
        "turn_aborted"
        | "error"
        | "stream_error"
        | "warning"
        | "guardian_warning"
        | "guardian_assessment"
        | "deprecation_notice"
        | "model_reroute"
        | "entered_review_mode"
        | "exited_review_mode"
        | "thread_goal_updated"
        | "sub_agent_activity"
        | "undo_started"
        | "undo_completed"
        | "plan_update"
        | "background_event" => Ev::Notice,
        "thread_settings_applied"
        | "session_configured"
        | "agent_reasoning_section_break"
        | "item_started"
        | "turn_diff"
        | "shutdown_complete"
        | "hook_started"
        | "hook_completed"
        | "mcp_startup_update"
        | "mcp_startup_complete"
        | "exec_command_output_delta"
        | "thread_queue_changed" => Ev::Quiet,
        // Met in files that other programs made up.
        "turn.completed" | "codex/event/raw_item" | "account/rateLimits/updated" => Ev::Unread,
        _ => Ev::Unknown,
    }
}

/// Items that paginated files keep once they are finished.
fn finished(kind: &str) -> Ev {
    match kind {
        "UserMessage" => Ev::User,
        "AgentMessage" => Ev::Agent,
        "Reasoning" => Ev::Thought,
        "CommandExecution"
        | "FileChange"
        | "McpToolCall"
        | "DynamicToolCall"
        | "CollabAgentToolCall"
        | "WebSearch"
        | "ImageView"
        | "ImageGeneration"
        | "Extension" => Ev::Call,
        "ContextCompaction" => Ev::Compacted,
        "Plan" | "HookPrompt" | "SubAgentActivity" | "EnteredReviewMode" | "ExitedReviewMode" => {
            Ev::Notice
        }
        _ => Ev::Unknown,
    }
}
