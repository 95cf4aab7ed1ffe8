//! Sessions of Gemini CLI: a log of JSON lines in which later ones replace earlier ones, or one JSON
//! document in older versions.
//!
//! Checkpoints that the person saved, and the log of a project's prompts, are sources of their own.
//! See `docs/formats/gemini.md`.

mod about;
mod body;
mod calls;
mod carrier;
mod client;
mod content;
mod document;
mod entries;
mod facts;
mod fields;
mod head;
mod index;
mod message;
mod meta;
mod nth;
mod own;
mod project;
mod reader;
mod replay;
mod rules;
mod scan;
mod sniff;
mod store;
mod tools;
mod types;
mod write;
mod writer;

use about::{AGENT, Gemini, SLUG};

pub use about::FORMAT;
pub use project::{is_project_hash, project_hash};
pub use types::treatment;
