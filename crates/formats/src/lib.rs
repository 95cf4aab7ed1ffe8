//! How each agent writes a conversation down: one folder a format, and the registry.
//!
//! A [`Format`] finds its stores, lists what is in them, reads one conversation and, where it can,
//! writes. [`FORMATS`] is the registry: everything that must know all formats walks over it.

mod agents;
pub mod agentuse;
pub mod atomic;
pub mod atsf;
mod buffer;
pub mod carry;
mod check;
pub mod claude_code;
pub mod codex;
mod conversation;
pub mod copilot;
mod error;
mod few;
mod fields;
mod file_range;
mod first_prompt;
mod format;
pub mod gemini;
mod kit;
mod local_path;
mod mended;
mod native;
pub mod ndjson;
mod new_message;
pub mod opencode;
mod outline;
mod own_words;
mod packed;
mod passed;
pub mod pi;
mod picture;
mod raw_json;
mod registry;
mod salvaged;
mod session_log;
mod times;
mod transcript;
mod treatment;
mod unusable;
mod write;

pub use agents::Agents;
pub use check::{Violation, Weight};
pub use conversation::{Conversation, Sent};
pub use error::{OpenError, WriteError};
pub use format::{
    About, BodyReader, Can, Carrier, Client, CommandHook, Dependencies, Editor, ExportReader,
    Format, FormatRef, Found, Hooks, LocatedBy, LogWindow, Migrator, Projects, Reader, Resume,
    Root, Rules, SeenPlace, Source, Store, SubagentWriter, SymlinkHook, TreeWriter, Want, Writer,
};
pub use kit::{SUMMARY_VERSION, SavedScan, SavedState};
pub use local_path::{is_spelled_inside, is_windows_path, last_name, local_path};
pub use native::{Native, Part, PartKind, RecordKind, RecordTable, Spool, Spooled};
pub use ndjson::{UnifiedRecord, workspace_name};
pub use new_message::NewMessage;
pub use own_words::OwnWords;
pub use packed::ZstdWriter;
pub use raw_json::RawJson;
pub use registry::{FORMATS, PROJECT_FORMAT, by_name};
pub use rethread_env::{Env, EnvError, Home, HomeKind};
pub use transcript::{
    Attachments, Branches, Files, Keeps, StartedSubagent, StepKind, SubagentTranscript, Transcript,
    TranscriptStep, left_ways,
};
pub use treatment::Treatment;
pub use unusable::{has_no_sessions, summarize, summarize_from, unpacking_damage, why_empty};
pub use write::{
    AgentKey, Appended, Branch, EntryRef, Fork, Made, MessageDefaults, MessageInput, Migrated,
    NativeContext, NewSession, ProjectKey, Removal, TextMessage, Writing,
};
