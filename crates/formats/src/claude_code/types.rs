//! The types of records that the client is known to write, and what becomes of each.

use crate::Treatment;

/// What becomes of a type of record; none for one that is not known. Types with further types are
/// named with both: `system/turn_duration`, `attachment/date`.
///
/// ```
/// use rethread_formats::Treatment;
/// use rethread_formats::claude_code::treatment;
/// assert_eq!(treatment("ai-title"), Some(Treatment::Understood));
/// assert_eq!(treatment("tomorrow"), None);
/// ```
pub fn treatment(name: &str) -> Option<Treatment> {
    Treatment::find(name, [&UNDERSTOOD, &EVENTS, &UNREAD])
}

/// All types that are known, in groups.
pub fn known_types() -> impl Iterator<Item = &'static str> {
    UNDERSTOOD.into_iter().chain(EVENTS).chain(UNREAD)
}

/// Whether the client writes records of this type outside the chain of messages.
pub(super) fn is_known(type_name: &str) -> bool {
    UNDERSTOOD.contains(&type_name) || UNREAD.contains(&type_name)
}

/// Whether records of this type are bookkeeping: kept, and nothing is made of them.
pub(super) fn is_bookkeeping(type_name: &str) -> bool {
    UNREAD.contains(&type_name)
}

const UNDERSTOOD: [&str; 24] = [
    "user/text",
    "user/tool_result",
    "user/image",
    "user/document",
    "user/nothing",
    "assistant/text",
    "assistant/thinking",
    "assistant/redacted_thinking",
    "assistant/tool_use",
    "assistant/nothing",
    "system/compact_boundary",
    "system/local_command",
    "attachment/queued_command",
    "custom-title",
    "ai-title",
    "summary",
    "last-prompt",
    "content-replacement",
    "cost-state",
    "relocated",
    "continued-in",
    "derived-from",
    "progress/agent_progress",
    "rethread",
];

const EVENTS: [&str; 53] = [
    "system/agents_killed",
    "system/api_error",
    "system/api_refusal",
    "system/away_summary",
    "system/bridge_status",
    "system/error",
    "system/informational",
    "system/memory_saved",
    "system/microcompact_boundary",
    "system/model_refusal_fallback",
    "system/session_start",
    "system/stop_hook_summary",
    "system/turn_duration",
    "attachment/agent_listing_delta",
    "attachment/auto_mode",
    "attachment/batching_reminder_sent",
    "attachment/budget_usd",
    "attachment/command_permissions",
    "attachment/compact_file_reference",
    "attachment/date",
    "attachment/date_change",
    "attachment/deferred_tools_delta",
    "attachment/diagnostics",
    "attachment/directory",
    "attachment/dynamic_skill",
    "attachment/edited_text_file",
    "attachment/environment",
    "attachment/file",
    "attachment/hook_additional_context",
    "attachment/hook_blocking_error",
    "attachment/hook_deferred_tool",
    "attachment/hook_non_blocking_error",
    "attachment/hook_success",
    "attachment/hook_system_message",
    "attachment/invoked_skills",
    "attachment/mcp_instructions_delta",
    "attachment/model",
    "attachment/nested_memory",
    "attachment/plan_mode",
    "attachment/plan_mode_exit",
    "attachment/prompt_snapshot",
    "attachment/read_truncation_notice",
    "attachment/remote_session_change",
    "attachment/session_context",
    "attachment/silent_turn_reminder",
    "attachment/skill_listing",
    "attachment/task_reminder",
    "attachment/task_status",
    "attachment/todo_reminder",
    "attachment/total_tokens_reminder",
    "attachment/ultra_effort_enter",
    "attachment/ultra_effort_exit",
    "assistant/fallback",
];

const UNREAD: [&str; 45] = [
    "agent-color",
    "agent-name",
    "agent-setting",
    "api-request",
    "api-request-blob",
    "api-request-shape",
    "atis-latch",
    "attribution-snapshot",
    "bridge-session",
    "data-flow-incomplete",
    "data-flow-records",
    "dev-mods",
    "ended-by-model",
    "file-history-delta",
    "file-history-snapshot",
    "fork-context-ref",
    "frame-link",
    "history-suppression",
    "isolation-latch",
    "marble-origami-commit",
    "marble-origami-snapshot",
    "memory-mode",
    "mode",
    "observer-ref",
    "permission-mode",
    "pr-link",
    "progress",
    "progress/bash_progress",
    "progress/hook_progress",
    "progress/mcp_progress",
    "progress/query_update",
    "progress/search_results_received",
    "progress/waiting_for_task",
    "queue-operation",
    "result",
    "resume-head-vouch",
    "session-owner",
    "speculation-accept",
    "started",
    "tag",
    "tool_use",
    "tool_result",
    "tools-used",
    "untyped",
    "worktree-state",
];
