//! The rules by their short names, and the headings of the document under which they stand.

use crate::check::law::{Law, law};

pub(super) const STRUCTURE: &str = "Directory Structure";
pub(super) const COMPONENTS: &str = "Path Components";
pub(super) const SUBAGENTS: &str = "Subagent Sessions";
pub(super) const SESSION: &str = "SessionInfo";
pub(super) const MESSAGE: &str = "Message";
pub(super) const PARTS: &str = "Parts";
pub(super) const BASE: &str = "Base Fields";
pub(super) const TYPES: &str = "Part Types";
pub(super) const TEXT: &str = "TextPart";
pub(super) const REASONING: &str = "ReasoningPart";
pub(super) const TOOL: &str = "ToolPart";
pub(super) const FILE: &str = "FilePart";
pub(super) const AGENT: &str = "AgentPart";
pub(super) const STEP_FINISH: &str = "StepFinishPart";

pub(super) const NO_DESCRIPTION: Law = law("description-missing", STRUCTURE);
pub(super) const NO_MESSAGE: Law = law("message-missing", STRUCTURE);
pub(super) const STRANGER: Law = law("unknown-file", STRUCTURE);
pub(super) const LINK: Law = law("link", STRUCTURE);
pub(super) const FOLDER: Law = law("folder-name", COMPONENTS);
pub(super) const AGENT_NAME: Law = law("agent-name", COMPONENTS);
pub(super) const PROJECT_KEY: Law = law("project-key", COMPONENTS);
pub(super) const ULID: Law = law("ulid", COMPONENTS);
pub(super) const PARENT: Law = law("parent-session", SUBAGENTS);
pub(super) const IS_SUBAGENT: Law = law("is-sub-agent", SUBAGENTS);
pub(super) const SESSION_WORD: Law = law("session-word", SESSION);
pub(super) const TIME_ORDER: Law = law("time-order", SESSION);
pub(super) const MESSAGE_SESSION: Law = law("session-id", MESSAGE);
pub(super) const PART_SESSION: Law = law("session-id", BASE);
pub(super) const PART_MESSAGE: Law = law("message-id", BASE);
pub(super) const PART_TYPE: Law = law("part-type", TYPES);
pub(super) const STATUS: Law = law("tool-status", TOOL);
pub(super) const SOURCE: Law = law("source-type", FILE);
pub(super) const ARTIFACT: Law = law("artifact", TOOL);
