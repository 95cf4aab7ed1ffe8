//! Messages to be added.

use rethread_json::Object;

use super::content::{Content, ContentBlock};
use super::usage::{StopReason, Usage};

/// A message to be added: begin with [`NewPiMessage::user`], [`NewPiMessage::assistant`],
/// [`NewPiMessage::tool_result`] or [`NewPiMessage::bash`].
///
/// ```
/// use rethread_formats::pi::{ContentBlock, NewPiMessage, StopReason, Usage};
///
/// let question: NewPiMessage = NewPiMessage::user("What is in this picture?").into();
/// let answer: NewPiMessage = NewPiMessage::assistant([ContentBlock::text("A cat.")])
///     .model("anthropic-messages", "anthropic", "claude-x")
///     .usage(Usage { input: 900, output: 4, total_tokens: 904, ..Usage::default() })
///     .stop_reason(StopReason::Stop)
///     .into();
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum NewPiMessage {
    /// The user says something.
    User(NewUser),
    /// The model answers.
    Assistant(Box<NewAssistant>),
    /// A tool was run.
    ToolResult(NewToolResult),
    /// The user ran a command.
    Bash(NewBash),
}

/// The user says something; see [`NewPiMessage::user`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct NewUser {
    content: Content,
    timestamp: Option<i64>,
}

/// The model answers; see [`NewPiMessage::assistant`].
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct NewAssistant {
    content: Vec<ContentBlock>,
    api: String,
    provider: String,
    model: String,
    usage: Usage,
    stop_reason: StopReason,
    error_message: Option<String>,
    timestamp: Option<i64>,
}

/// A tool was run; see [`NewPiMessage::tool_result`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct NewToolResult {
    tool_call_id: String,
    tool_name: String,
    content: Vec<ContentBlock>,
    details: Option<Vec<u8>>,
    is_error: bool,
    timestamp: Option<i64>,
}

/// The user ran a command; see [`NewPiMessage::bash`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct NewBash {
    command: String,
    output: String,
    exit_code: Option<i64>,
    cancelled: bool,
    truncated: bool,
    full_output_path: Option<String>,
    exclude_from_context: bool,
    timestamp: Option<i64>,
}

impl NewPiMessage {
    /// The user says something: text, or blocks of text and pictures.
    pub fn user(content: impl Into<Content>) -> NewUser {
        NewUser {
            content: content.into(),
            timestamp: None,
        }
    }

    /// The model answers. What is not said is written as well: usage in zeros, and empty names.
    pub fn assistant(content: impl Into<Vec<ContentBlock>>) -> NewAssistant {
        NewAssistant {
            content: content.into(),
            api: String::new(),
            provider: String::new(),
            model: String::new(),
            usage: Usage::default(),
            stop_reason: StopReason::default(),
            error_message: None,
            timestamp: None,
        }
    }

    /// A tool was run, and this is what it gave.
    pub fn tool_result(
        tool_call_id: &str,
        tool_name: &str,
        content: impl Into<Vec<ContentBlock>>,
    ) -> NewToolResult {
        NewToolResult {
            tool_call_id: tool_call_id.to_owned(),
            tool_name: tool_name.to_owned(),
            content: content.into(),
            details: None,
            is_error: false,
            timestamp: None,
        }
    }

    /// The user ran a command, and this is what it printed.
    pub fn bash(command: &str, output: &str) -> NewBash {
        NewBash {
            command: command.to_owned(),
            output: output.to_owned(),
            exit_code: None,
            cancelled: false,
            truncated: false,
            full_output_path: None,
            exclude_from_context: false,
            timestamp: None,
        }
    }

    /// As JSON; `now` is for messages that do not say when they were said. `details` that are no
    /// JSON are an error.
    pub(crate) fn to_json(&self, now: i64) -> Result<Vec<u8>, rethread_json::SyntaxError> {
        Ok(match self {
            Self::User(m) => Object::new()
                .str("role", "user")
                .raw("content", &m.content.to_json())
                .i64("timestamp", m.timestamp.unwrap_or(now)),
            Self::Assistant(m) => Object::new()
                .str("role", "assistant")
                .raw("content", &blocks(&m.content))
                .str("api", &m.api)
                .str("provider", &m.provider)
                .str("model", &m.model)
                .raw("usage", &m.usage.to_json())
                .str("stopReason", m.stop_reason.as_str())
                .opt_str("errorMessage", m.error_message.as_deref())
                .i64("timestamp", m.timestamp.unwrap_or(now)),
            Self::ToolResult(m) => {
                let details = m.details.as_deref().map(rethread_json::compact);
                Object::new()
                    .str("role", "toolResult")
                    .str("toolCallId", &m.tool_call_id)
                    .str("toolName", &m.tool_name)
                    .raw("content", &blocks(&m.content))
                    .opt_raw("details", details.transpose()?.as_deref())
                    .bool("isError", m.is_error)
                    .i64("timestamp", m.timestamp.unwrap_or(now))
            }
            Self::Bash(m) => m.to_object(now),
        }
        .finish())
    }
}

fn blocks(blocks: &[ContentBlock]) -> Vec<u8> {
    Content::Blocks(blocks.to_vec()).to_json()
}

impl NewUser {
    /// When it was said, in milliseconds since 1970; now where this is not called.
    pub fn at(mut self, millis: i64) -> Self {
        self.timestamp = Some(millis);
        self
    }
}

impl NewAssistant {
    /// The kind of interface the model was asked through, who offers it, and which one it is.
    pub fn model(mut self, api: &str, provider: &str, model: &str) -> Self {
        api.clone_into(&mut self.api);
        provider.clone_into(&mut self.provider);
        model.clone_into(&mut self.model);
        self
    }

    /// What the answer cost.
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// Why the model stopped.
    pub fn stop_reason(mut self, reason: StopReason) -> Self {
        self.stop_reason = reason;
        self
    }

    /// What went wrong.
    pub fn error_message(mut self, message: &str) -> Self {
        self.error_message = Some(message.to_owned());
        self
    }

    /// When it was said, in milliseconds since 1970; now where this is not called.
    pub fn at(mut self, millis: i64) -> Self {
        self.timestamp = Some(millis);
        self
    }
}

impl NewToolResult {
    /// More about it, as JSON.
    pub fn details(mut self, json: &[u8]) -> Self {
        self.details = Some(json.to_vec());
        self
    }

    /// Whether the tool failed.
    pub fn is_error(mut self, is_error: bool) -> Self {
        self.is_error = is_error;
        self
    }

    /// When it was said, in milliseconds since 1970; now where this is not called.
    pub fn at(mut self, millis: i64) -> Self {
        self.timestamp = Some(millis);
        self
    }
}

impl NewBash {
    /// How the command ended.
    pub fn exit_code(mut self, code: i64) -> Self {
        self.exit_code = Some(code);
        self
    }

    /// The user stopped it.
    pub fn cancelled(mut self) -> Self {
        self.cancelled = true;
        self
    }

    /// The output is only a part; all of it may be in that file.
    pub fn truncated(mut self, full_output_path: Option<&str>) -> Self {
        self.truncated = true;
        self.full_output_path = full_output_path.map(str::to_owned);
        self
    }

    /// The model is not to know.
    pub fn exclude_from_context(mut self) -> Self {
        self.exclude_from_context = true;
        self
    }

    /// When it was run, in milliseconds since 1970; now where this is not called.
    pub fn at(mut self, millis: i64) -> Self {
        self.timestamp = Some(millis);
        self
    }

    fn to_object(&self, now: i64) -> Object {
        let code = self.exit_code.map(|code| code.to_string());
        let excluded = self.exclude_from_context.then_some(&b"true"[..]);
        Object::new()
            .str("role", "bashExecution")
            .str("command", &self.command)
            .str("output", &self.output)
            .opt_raw("exitCode", code.as_ref().map(String::as_bytes))
            .bool("cancelled", self.cancelled)
            .bool("truncated", self.truncated)
            .opt_str("fullOutputPath", self.full_output_path.as_deref())
            .opt_raw("excludeFromContext", excluded)
            .i64("timestamp", self.timestamp.unwrap_or(now))
    }
}

impl From<NewUser> for NewPiMessage {
    fn from(message: NewUser) -> Self {
        Self::User(message)
    }
}

impl From<NewAssistant> for NewPiMessage {
    fn from(message: NewAssistant) -> Self {
        Self::Assistant(Box::new(message))
    }
}

impl From<NewToolResult> for NewPiMessage {
    fn from(message: NewToolResult) -> Self {
        Self::ToolResult(message)
    }
}

impl From<NewBash> for NewPiMessage {
    fn from(message: NewBash) -> Self {
        Self::Bash(message)
    }
}
