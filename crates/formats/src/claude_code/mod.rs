//! Sessions of Claude Code: a transcript of JSON lines for each session and each sub-agent.
//!
//! Records name their parents, so a file is a tree; what the client would resume is one path in it.
//! See `docs/formats/claude-code.md`.

mod about;
mod append;
mod blocks;
mod body;
mod build;
mod carrier;
mod client;
mod compaction;
mod content;
mod counted;
mod create;
mod facts;
mod fork;
mod ids;
mod kinds;
mod leaf;
mod message;
mod meta;
mod nodes;
mod own;
mod placement;
mod quick_record;
mod reader;
mod record;
mod record_writer;
mod responses;
mod rules;
mod said;
mod scan;
mod sniff;
mod store;
mod summary;
mod thread;
mod titles;
mod transcript;
mod types;
mod usage;
mod writer;

use about::{ClaudeCode, SLUG};

pub use about::FORMAT;
pub use store::encode_cwd;
pub use types::{known_types, treatment};
