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
mod env;
mod error;
mod few;
mod fields;
mod first_prompt;
mod format;
mod format_ref;
pub mod gemini;
mod home;
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
mod resume;
mod salvaged;
mod session_log;
mod telling;
mod times;
mod unified;
mod unusable;
mod write;

pub use agents::Agents;
pub use check::{Violation, Weight};
pub use conversation::{Conversation, Sent};
pub use env::{Env, EnvError};
pub use error::{OpenError, WriteError};
pub use format::{About, Can, Format, Found, Root, Source, Want};
pub use format_ref::FormatRef;
pub use home::{Home, HomeKind};
pub use kit::SavedScan;
pub use local_path::{is_spelled_inside, is_windows_path, last_name, local_path};
pub use native::{Marks, Native, Part, PartKind, RecordKind, Spool, Spooled};
pub use ndjson::UnifiedRecord;
pub use new_message::NewMessage;
pub use own_words::OwnWords;
pub use packed::ZstdWriter;
pub use raw_json::RawJson;
pub use registry::{FORMATS, by_name};
pub use resume::{Client, Resume};
pub use telling::{Attachments, Branches, Files, Keeps, Step, Told, ToldAgent};
pub use unusable::{summarize, why_empty};
pub use write::{
    AgentKey, Appended, AskedEntry, Branch, Fork, Made, MessageInput, Migrated, NativeContext,
    NewSession, ProjectKey, Removal, TextMessage, Unsaid, Writing,
};
