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
mod glance;
mod grow;
mod ids;
mod kinds;
mod leaf;
mod message;
mod meta;
mod nodes;
mod own;
mod reader;
mod record;
mod responses;
mod rules;
mod said;
mod scan;
mod scribe;
mod sniff;
mod store;
mod summary;
mod tell;
mod titles;
mod types;
mod usage;
mod weave;
mod writer;

use about::{ClaudeCode, SLUG};

pub use about::FORMAT;
pub use store::encode_cwd;
pub use types::{Treatment, known_types, treatment};
