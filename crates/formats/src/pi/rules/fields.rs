//! What the document says of fields, as tables.

use crate::check::fields::{Field, Is, may, must};

pub(super) const HEADER: &str = "SessionHeader";
pub(super) const ENTRY: &str = "Entry Types";
pub(super) const ENTRY_BASE: &str = "Entry Base";
const BASE_MESSAGES: &str = "Base Message Types (from @earendil-works/pi-ai)";
const MORE_MESSAGES: &str = "Extended Message Types (from Atomic coding-agent)";
const BLOCKS: &str = "Content Blocks";

pub(super) const HEADER_FIELDS: &[Field] = &[
    must(HEADER, "id", Is::Name),
    must(HEADER, "timestamp", Is::Time),
    must(HEADER, "cwd", Is::Text),
    may(HEADER, "parentSession", Is::Text),
];

pub(super) const BASE: &[Field] = &[
    must(ENTRY_BASE, "type", Is::Name),
    must(ENTRY_BASE, "timestamp", Is::Time),
];

pub(super) const PLACE: &[Field] = &[
    must(ENTRY_BASE, "id", Is::Name),
    must(ENTRY_BASE, "parentId", Is::TextOrNull),
];

/// What entries of a type hold; none for a type that nobody knows.
pub(super) fn needed_fields(type_name: &str) -> Option<&'static [Field]> {
    Some(match type_name {
        "message" => const { &[must("SessionMessageEntry", "message", Is::Object)] },
        "model_change" => {
            const {
                &[
                    must("ModelChangeEntry", "provider", Is::Text),
                    must("ModelChangeEntry", "modelId", Is::Text),
                ]
            }
        }
        "thinking_level_change" => {
            const { &[must("ThinkingLevelChangeEntry", "thinkingLevel", Is::Text)] }
        }
        "compaction" => {
            const {
                &[
                    must("CompactionEntry", "summary", Is::Text),
                    may("CompactionEntry", "firstKeptEntryId", Is::Text),
                    must("CompactionEntry", "tokensBefore", Is::Number),
                    may("CompactionEntry", "fromHook", Is::Bool),
                ]
            }
        }
        "branch_summary" => {
            const {
                &[
                    must("BranchSummaryEntry", "fromId", Is::Text),
                    must("BranchSummaryEntry", "summary", Is::Text),
                    may("BranchSummaryEntry", "fromHook", Is::Bool),
                ]
            }
        }
        "custom" => const { &[must("CustomEntry", "customType", Is::Text)] },
        "custom_message" => {
            const {
                &[
                    must("CustomMessageEntry", "customType", Is::Text),
                    must("CustomMessageEntry", "content", Is::Content),
                    must("CustomMessageEntry", "display", Is::Bool),
                ]
            }
        }
        "label" => {
            const {
                &[
                    must("LabelEntry", "targetId", Is::Text),
                    may("LabelEntry", "label", Is::Text),
                ]
            }
        }
        "session_info" => const { &[may("SessionInfoEntry", "name", Is::Text)] },
        // Later than the document.
        "context_edit" => const { &[must(ENTRY, "targetId", Is::Text)] },
        "usage" => const { &[must(ENTRY, "usage", Is::Object)] },
        "session_summary" => const { &[must(ENTRY, "summary", Is::Text)] },
        "context_window_change" | "context_compaction" => &[],
        _ => return None,
    })
}

/// What messages of a role hold; none for a role that nobody knows.
pub(super) fn of_role(role: &str) -> Option<&'static [Field]> {
    Some(match role {
        "user" => {
            const {
                &[
                    must(BASE_MESSAGES, "content", Is::Content),
                    must(BASE_MESSAGES, "timestamp", Is::Number),
                ]
            }
        }
        "assistant" => {
            const {
                &[
                    must(BASE_MESSAGES, "content", Is::Array),
                    must(BASE_MESSAGES, "api", Is::Text),
                    must(BASE_MESSAGES, "provider", Is::Text),
                    must(BASE_MESSAGES, "model", Is::Text),
                    must(BASE_MESSAGES, "usage", Is::Object),
                    must(BASE_MESSAGES, "usage.input", Is::Number),
                    must(BASE_MESSAGES, "usage.output", Is::Number),
                    must(BASE_MESSAGES, "usage.cacheRead", Is::Number),
                    must(BASE_MESSAGES, "usage.cacheWrite", Is::Number),
                    must(BASE_MESSAGES, "usage.cost", Is::Object),
                    must(BASE_MESSAGES, "usage.cost.total", Is::Number),
                    must(BASE_MESSAGES, "stopReason", Is::Text),
                    must(BASE_MESSAGES, "timestamp", Is::Number),
                ]
            }
        }
        "toolResult" => {
            const {
                &[
                    must(BASE_MESSAGES, "toolCallId", Is::Text),
                    must(BASE_MESSAGES, "toolName", Is::Text),
                    must(BASE_MESSAGES, "content", Is::Array),
                    must(BASE_MESSAGES, "isError", Is::Bool),
                    must(BASE_MESSAGES, "timestamp", Is::Number),
                ]
            }
        }
        "bashExecution" => {
            const {
                &[
                    must(MORE_MESSAGES, "command", Is::Text),
                    must(MORE_MESSAGES, "output", Is::Text),
                    must(MORE_MESSAGES, "cancelled", Is::Bool),
                    must(MORE_MESSAGES, "truncated", Is::Bool),
                    must(MORE_MESSAGES, "timestamp", Is::Number),
                ]
            }
        }
        "custom" | "hookMessage" => {
            const {
                &[
                    must(MORE_MESSAGES, "customType", Is::Text),
                    must(MORE_MESSAGES, "content", Is::Content),
                    must(MORE_MESSAGES, "display", Is::Bool),
                ]
            }
        }
        "branchSummary" | "compactionSummary" => {
            const { &[must(MORE_MESSAGES, "summary", Is::Text)] }
        }
        // Later than the document.
        "system" => const { &[must(BASE_MESSAGES, "content", Is::Content)] },
        _ => return None,
    })
}

pub(super) const BLOCK: &[Field] = &[must(BLOCKS, "type", Is::Name)];

/// What blocks of a type hold.
pub(super) fn of_block(kind: &str) -> &'static [Field] {
    match kind {
        "text" => const { &[must(BLOCKS, "text", Is::Text)] },
        "image" => {
            const {
                &[
                    must(BLOCKS, "data", Is::Text),
                    must(BLOCKS, "mimeType", Is::Text),
                ]
            }
        }
        "thinking" => const { &[must(BLOCKS, "thinking", Is::Text)] },
        "toolCall" => {
            const {
                &[
                    must(BLOCKS, "id", Is::Text),
                    must(BLOCKS, "name", Is::Text),
                    must(BLOCKS, "arguments", Is::Object),
                ]
            }
        }
        _ => &[],
    }
}
