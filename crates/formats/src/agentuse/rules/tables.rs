//! What the document says of the fields of each interface, and what later programs add.

use super::law::{AGENT, BASE, FILE, MESSAGE, PARTS, REASONING, SESSION, STEP_FINISH, TEXT, TOOL};
use crate::check::fields::{Field, Is, may, must};

pub(super) const SESSION_INFO: &[Field] = &[
    must(SESSION, "id", Is::Text),
    may(SESSION, "parentSessionID", Is::Text),
    must(SESSION, "agent", Is::Object),
    may(SESSION, "agent.id", Is::Text),
    must(SESSION, "agent.name", Is::Text),
    may(SESSION, "agent.filePath", Is::Text),
    may(SESSION, "agent.description", Is::Text),
    must(SESSION, "agent.isSubAgent", Is::Bool),
    must(SESSION, "model", Is::Text),
    must(SESSION, "version", Is::Text),
    may(SESSION, "mock", Is::Bool),
    must(SESSION, "config", Is::Object),
    may(SESSION, "config.timeout", Is::Number),
    may(SESSION, "config.maxSteps", Is::Number),
    may(SESSION, "config.mcpServers", Is::Array),
    may(SESSION, "config.mcpServers[]", Is::Text),
    may(SESSION, "config.subagents", Is::Array),
    may(SESSION, "config.subagents[]", Is::Object),
    must(SESSION, "config.subagents[].path", Is::Text),
    may(SESSION, "config.subagents[].name", Is::Text),
    must(SESSION, "project", Is::Object),
    must(SESSION, "project.root", Is::Text),
    must(SESSION, "project.cwd", Is::Text),
    may(SESSION, "trigger", Is::Text),
    may(SESSION, "status", Is::Text),
    must(SESSION, "time", Is::Object),
    must(SESSION, "time.created", Is::Number),
    must(SESSION, "time.updated", Is::Number),
    may(SESSION, "error", Is::Object),
    must(SESSION, "error.message", Is::Text),
    must(SESSION, "error.code", Is::Text),
    must(SESSION, "error.time", Is::Number),
    may(SESSION, "channels", Is::Object),
];

pub(super) const MESSAGE_FIELDS: &[Field] = &[
    must(MESSAGE, "id", Is::Text),
    must(MESSAGE, "sessionID", Is::Text),
    must(MESSAGE, "time", Is::Object),
    must(MESSAGE, "time.created", Is::Number),
    may(MESSAGE, "time.completed", Is::Number),
    must(MESSAGE, "user", Is::Object),
    must(MESSAGE, "user.prompt", Is::Object),
    must(MESSAGE, "user.prompt.task", Is::Text),
    may(MESSAGE, "user.prompt.user", Is::Text),
    must(MESSAGE, "assistant", Is::Object),
    must(MESSAGE, "assistant.system", Is::Array),
    may(MESSAGE, "assistant.system[]", Is::Text),
    must(MESSAGE, "assistant.modelID", Is::Text),
    must(MESSAGE, "assistant.providerID", Is::Text),
    must(MESSAGE, "assistant.mode", Is::Text),
    must(MESSAGE, "assistant.path", Is::Object),
    must(MESSAGE, "assistant.path.cwd", Is::Text),
    must(MESSAGE, "assistant.path.root", Is::Text),
    must(MESSAGE, "assistant.cost", Is::Number),
    must(MESSAGE, "assistant.tokens", Is::Object),
    must(MESSAGE, "assistant.tokens.input", Is::Number),
    must(MESSAGE, "assistant.tokens.output", Is::Number),
    must(MESSAGE, "assistant.tokens.reasoning", Is::Number),
    must(MESSAGE, "assistant.tokens.cache", Is::Object),
    must(MESSAGE, "assistant.tokens.cache.read", Is::Number),
    must(MESSAGE, "assistant.tokens.cache.write", Is::Number),
    may(MESSAGE, "assistant.error", Is::Object),
    must(MESSAGE, "assistant.error.message", Is::Text),
    may(MESSAGE, "assistant.error.type", Is::Text),
    may(MESSAGE, "assistant.error.stack", Is::Text),
    may(MESSAGE, "assistant.context", Is::Object),
    may(MESSAGE, "assistant.summary", Is::Bool),
];

pub(super) const PART_BASE: &[Field] = &[
    must(BASE, "id", Is::Text),
    must(BASE, "sessionID", Is::Text),
    must(BASE, "messageID", Is::Text),
    must(PARTS, "type", Is::Text),
];

/// What a type of part has beside the fields of all parts; none where nobody knows the type.
pub(super) fn of_type(name: &str) -> Option<&'static [Field]> {
    Some(match name {
        "text" => TEXT_FIELDS,
        "reasoning" => REASONING_FIELDS,
        "tool" => TOOL_FIELDS,
        "file" => FILE_FIELDS,
        "agent" => AGENT_FIELDS,
        "step-start" => &[],
        "step-finish" => STEP_FINISH_FIELDS,
        "snapshot" => SNAPSHOT_FIELDS,
        "patch" => PATCH_FIELDS,
        "compaction" => COMPACTION_FIELDS,
        "learning" => LEARNING_FIELDS,
        "error" => ERROR_FIELDS,
        "log" => LOG_FIELDS,
        _ => return None,
    })
}

const TEXT_FIELDS: &[Field] = &[
    must(TEXT, "text", Is::Text),
    may(TEXT, "synthetic", Is::Bool),
    may(TEXT, "role", Is::Text),
    may(TEXT, "time", Is::Object),
    must(TEXT, "time.start", Is::Number),
    may(TEXT, "time.end", Is::Number),
];

const REASONING_FIELDS: &[Field] = &[
    must(REASONING, "text", Is::Text),
    may(REASONING, "metadata", Is::Object),
    must(REASONING, "time", Is::Object),
    must(REASONING, "time.start", Is::Number),
    may(REASONING, "time.end", Is::Number),
];

const TOOL_FIELDS: &[Field] = &[
    must(TOOL, "callID", Is::Text),
    must(TOOL, "tool", Is::Text),
    must(TOOL, "state", Is::Object),
    must(TOOL, "state.status", Is::Text),
];

/// What a state of a tool has; none for a word that is no state. `input` and `output` can be any
/// value, so they are looked at apart.
pub(super) fn of_state(status: &str) -> Option<(&'static [Field], &'static [&'static str])> {
    Some(match status {
        "pending" => (PENDING, &[]),
        "running" => (RUNNING, &["input"]),
        "completed" => (COMPLETED, &["input", "output"]),
        "error" => (FAILED, &["input"]),
        _ => return None,
    })
}

const PENDING: &[Field] = &[
    may(TOOL, "suspendedAt", Is::Number),
    may(TOOL, "resumePayload", Is::Object),
    must(TOOL, "resumePayload.kind", Is::Text),
];

const RUNNING: &[Field] = &[
    may(TOOL, "title", Is::Text),
    may(TOOL, "metadata", Is::Object),
    must(TOOL, "time", Is::Object),
    must(TOOL, "time.start", Is::Number),
];

const COMPLETED: &[Field] = &[
    may(TOOL, "title", Is::Text),
    may(TOOL, "metadata", Is::Object),
    must(TOOL, "time", Is::Object),
    must(TOOL, "time.start", Is::Number),
    must(TOOL, "time.end", Is::Number),
];

const FAILED: &[Field] = &[
    must(TOOL, "error", Is::Text),
    may(TOOL, "metadata", Is::Object),
    must(TOOL, "time", Is::Object),
    must(TOOL, "time.start", Is::Number),
    must(TOOL, "time.end", Is::Number),
];

const FILE_FIELDS: &[Field] = &[
    must(FILE, "mime", Is::Text),
    may(FILE, "filename", Is::Text),
    must(FILE, "url", Is::Text),
    may(FILE, "source", Is::Object),
    must(FILE, "source.type", Is::Text),
    must(FILE, "source.path", Is::Text),
    may(FILE, "source.text", Is::Object),
    must(FILE, "source.text.value", Is::Text),
    must(FILE, "source.text.start", Is::Number),
    must(FILE, "source.text.end", Is::Number),
];

const AGENT_FIELDS: &[Field] = &[
    must(AGENT, "name", Is::Text),
    may(AGENT, "source", Is::Object),
    must(AGENT, "source.value", Is::Text),
    must(AGENT, "source.start", Is::Number),
    must(AGENT, "source.end", Is::Number),
];

const STEP_FINISH_FIELDS: &[Field] = &[
    must(STEP_FINISH, "cost", Is::Number),
    must(STEP_FINISH, "tokens", Is::Object),
    must(STEP_FINISH, "tokens.input", Is::Number),
    must(STEP_FINISH, "tokens.output", Is::Number),
    must(STEP_FINISH, "tokens.reasoning", Is::Number),
    must(STEP_FINISH, "tokens.cache", Is::Object),
    must(STEP_FINISH, "tokens.cache.read", Is::Number),
    must(STEP_FINISH, "tokens.cache.write", Is::Number),
];

const SNAPSHOT_FIELDS: &[Field] = &[must(PARTS, "snapshot", Is::Text)];

const PATCH_FIELDS: &[Field] = &[
    must(PARTS, "hash", Is::Text),
    must(PARTS, "files", Is::Array),
    may(PARTS, "files[]", Is::Text),
];

const COMPACTION_FIELDS: &[Field] = &[
    must(PARTS, "reason", Is::Text),
    must(PARTS, "tokensBefore", Is::Number),
    must(PARTS, "tokensAfter", Is::Number),
    must(PARTS, "messagesBefore", Is::Number),
    must(PARTS, "messagesAfter", Is::Number),
    may(PARTS, "usagePercentBefore", Is::Number),
    must(PARTS, "time", Is::Object),
    must(PARTS, "time.start", Is::Number),
];

const LEARNING_FIELDS: &[Field] = &[
    must(PARTS, "status", Is::Text),
    must(PARTS, "source", Is::Text),
    must(PARTS, "count", Is::Number),
    may(PARTS, "titles", Is::Array),
    may(PARTS, "titles[]", Is::Text),
    may(PARTS, "detail", Is::Text),
    must(PARTS, "time", Is::Object),
    must(PARTS, "time.start", Is::Number),
];

const ERROR_FIELDS: &[Field] = &[
    must(PARTS, "source", Is::Text),
    may(PARTS, "code", Is::Text),
    must(PARTS, "message", Is::Text),
    may(PARTS, "detail", Is::Text),
    may(PARTS, "statusCode", Is::Number),
    must(PARTS, "time", Is::Object),
    must(PARTS, "time.start", Is::Number),
];

const LOG_FIELDS: &[Field] = &[
    must(PARTS, "level", Is::Text),
    must(PARTS, "message", Is::Text),
    may(PARTS, "toolId", Is::Text),
    must(PARTS, "time", Is::Object),
    must(PARTS, "time.start", Is::Number),
];
