//! The types of records that the client is known to write, and what becomes of each.

use crate::Treatment;

/// What becomes of a type of record; none for one that is not known.
///
/// Types are named with what they hold: `$set/summary` is a change of the summary, `user/inlineData`
/// a part of what the user said, `gemini/.tokens` a field of an answer, `toolCalls/.status` one of a
/// call, `header/kind` a field of the header or of a document, `checkpoint/text` and `prompts/user`
/// what stands in those files.
///
/// ```
/// use rethread_formats::Treatment;
/// use rethread_formats::gemini::treatment;
/// assert_eq!(treatment("$rewindTo"), Some(Treatment::Understood));
/// assert_eq!(treatment("gemini/tomorrow"), None);
/// ```
pub fn treatment(name: &str) -> Option<Treatment> {
    Treatment::find(name, [UNDERSTOOD, EVENTS, UNREAD])
}

const UNDERSTOOD: &[&str] = &[
    "$rewindTo",
    "$set/directories",
    "$set/kind",
    "$set/lastUpdated",
    "$set/messages",
    "$set/projectHash",
    "$set/sessionId",
    "$set/startTime",
    "$set/summary",
    "checkpoint/fileData",
    "checkpoint/functionCall",
    "checkpoint/functionResponse",
    "checkpoint/inlineData",
    "checkpoint/text",
    "checkpoint/thought",
    "gemini/.model",
    "gemini/.thoughts",
    "gemini/.tokens",
    "gemini/.toolCalls",
    "gemini/fileData",
    "gemini/functionCall",
    "gemini/inlineData",
    "gemini/text",
    "gemini/thought",
    "header/directories",
    "header/history",
    "header/kind",
    "header/lastUpdated",
    "header/messages",
    "header/projectHash",
    "header/rethread",
    "header/sessionId",
    "header/startTime",
    "header/start_time",
    "header/summary",
    "model/text",
    "prompts/gemini",
    "prompts/user",
    "toolCalls/.agentId",
    "toolCalls/.args",
    "toolCalls/.displayName",
    "toolCalls/.id",
    "toolCalls/.name",
    "toolCalls/.result",
    "toolCalls/.resultDisplay",
    "toolCalls/.status",
    "user/fileData",
    "user/functionResponse",
    "user/inlineData",
    "user/text",
];

const EVENTS: &[&str] = &["error/text", "info/text", "warning/text"];

const UNREAD: &[&str] = &[
    "$set/memoryScratchpad",
    "checkpoint/.ts",
    "gemini/.sessionId",
    "gemini/codeExecutionResult",
    "gemini/executableCode",
    "header/authType",
    "header/memoryScratchpad",
    "header/meta",
    "toolCalls/.description",
    "toolCalls/.error",
    "toolCalls/.renderOutputAsMarkdown",
    "toolCalls/.timestamp",
    "user/.displayContent",
    "user/.sessionId",
];
