//! Messages that are there: their bytes, and what they say.

use rethread_json::{SyntaxError, Tree, Value};

use super::content::Content;
use super::usage::{StopReason, Usage};
use crate::fields::string_of;

/// A message of a session. The bytes are kept, fields that are not known here among them.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    raw: Vec<u8>,
    role: String,
    timestamp: Option<i64>,
    body: MessageBody,
}

/// What a message says, by its role.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum MessageBody {
    /// The user.
    User {
        /// What the user says.
        content: Content,
    },
    /// The model.
    Assistant {
        /// What it says, thinks and wants to be run.
        content: Content,
        /// The kind of interface it was asked through.
        api: String,
        /// Who offers it.
        provider: String,
        /// Which one it is.
        model: String,
        /// What the answer cost.
        usage: Option<Usage>,
        /// Why it stopped.
        stop_reason: Option<StopReason>,
        /// What went wrong.
        error_message: Option<String>,
    },
    /// What a tool gave.
    ToolResult {
        /// The call that it answers.
        tool_call_id: String,
        /// The tool.
        tool_name: String,
        /// What it gave.
        content: Content,
        /// More about it, as JSON.
        details: Option<Vec<u8>>,
        /// Whether it failed.
        is_error: bool,
    },
    /// A command that the user ran.
    BashExecution {
        /// The command.
        command: String,
        /// What it printed.
        output: String,
        /// How it ended.
        exit_code: Option<i64>,
        /// Whether the user stopped it.
        cancelled: bool,
        /// Whether the output is only a part.
        truncated: bool,
        /// Where all of the output is.
        full_output_path: Option<String>,
        /// Whether the model is not to know.
        exclude_from_context: bool,
    },
    /// A message of an extension.
    Custom {
        /// Which extension it belongs to.
        custom_type: String,
        /// What it says.
        content: Content,
        /// Whether it is shown to the user.
        display: bool,
        /// More about it, as JSON.
        details: Option<Vec<u8>>,
    },
    /// The summary of a branch that was left.
    BranchSummary {
        /// The summary.
        summary: String,
        /// The leaf of that branch.
        from_id: String,
    },
    /// The summary of what came before.
    CompactionSummary {
        /// The summary.
        summary: String,
        /// How long the context was before, in tokens.
        tokens_before: Option<u64>,
    },
    /// Instructions.
    System {
        /// What they say.
        content: Content,
    },
    /// A role that is not known here.
    Other {
        /// What it says.
        content: Content,
    },
}

impl Message {
    /// Takes a message that is given as JSON.
    ///
    /// ```
    /// use rethread_formats::pi::{Message, MessageBody};
    /// let message = Message::parse(br#"{"role":"user","content":"hello","mood":"fine"}"#)?;
    /// let MessageBody::User { content } = message.body() else { panic!() };
    /// assert_eq!(content.text(), "hello");
    /// assert_eq!(message.field("mood").as_deref(), Some(&b"\"fine\""[..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn parse(json: &[u8]) -> Result<Self, SyntaxError> {
        let tree = Tree::parse(json)?;
        Ok(Self::of(tree.root(json)))
    }

    pub(crate) fn of(value: Value<'_>) -> Self {
        let role = string_of(value, "role").unwrap_or_default();
        Self {
            raw: value.raw().to_vec(),
            timestamp: value.get("timestamp").and_then(Value::i64),
            body: body(&role, value),
            role,
        }
    }

    /// The JSON object exactly as it was written.
    pub fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// Who says it, as spelled.
    pub fn role(&self) -> &str {
        &self.role
    }

    /// When it was said, in milliseconds since 1970.
    pub fn timestamp(&self) -> Option<i64> {
        self.timestamp
    }

    /// What it says.
    pub fn body(&self) -> &MessageBody {
        &self.body
    }

    /// The content, if its role has one.
    pub fn content(&self) -> Option<&Content> {
        match &self.body {
            MessageBody::User { content }
            | MessageBody::Assistant { content, .. }
            | MessageBody::ToolResult { content, .. }
            | MessageBody::Custom { content, .. }
            | MessageBody::System { content }
            | MessageBody::Other { content } => Some(content),
            MessageBody::BashExecution { .. }
            | MessageBody::BranchSummary { .. }
            | MessageBody::CompactionSummary { .. } => None,
        }
    }

    /// The JSON of any field, known or not.
    pub fn field(&self, key: &str) -> Option<Vec<u8>> {
        let tree = Tree::parse(&self.raw).unwrap_or_default();
        let found = tree.root(&self.raw).get(key)?;
        Some(found.raw().to_vec())
    }
}

fn body(role: &str, value: Value<'_>) -> MessageBody {
    let text = |key| string_of(value, key).unwrap_or_default();
    let json = |key| value.get(key).map(|found| found.raw().to_vec());
    let flag = |key| value.get(key).and_then(Value::bool).unwrap_or(false);
    let content = || Content::of(value.get("content"));
    match role {
        "user" => MessageBody::User { content: content() },
        "assistant" => MessageBody::Assistant {
            content: content(),
            api: text("api"),
            provider: text("provider"),
            model: text("model"),
            usage: value.get("usage").map(Usage::of),
            stop_reason: string_of(value, "stopReason").map(|reason| reason.as_str().into()),
            error_message: string_of(value, "errorMessage"),
        },
        "toolResult" => MessageBody::ToolResult {
            tool_call_id: text("toolCallId"),
            tool_name: text("toolName"),
            content: content(),
            details: json("details"),
            is_error: flag("isError"),
        },
        "bashExecution" => MessageBody::BashExecution {
            command: text("command"),
            output: text("output"),
            exit_code: value.get("exitCode").and_then(Value::i64),
            cancelled: flag("cancelled"),
            truncated: flag("truncated"),
            full_output_path: string_of(value, "fullOutputPath"),
            exclude_from_context: flag("excludeFromContext"),
        },
        "custom" => MessageBody::Custom {
            custom_type: text("customType"),
            content: content(),
            display: flag("display"),
            details: json("details"),
        },
        "branchSummary" => MessageBody::BranchSummary {
            summary: text("summary"),
            from_id: text("fromId"),
        },
        "compactionSummary" => MessageBody::CompactionSummary {
            summary: text("summary"),
            tokens_before: value.get("tokensBefore").and_then(Value::u64),
        },
        "system" => MessageBody::System { content: content() },
        _ => MessageBody::Other { content: content() },
    }
}
