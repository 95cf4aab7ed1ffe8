//! Agent Thread Storage Format: threads of a project in its `.agent` folder.
//!
//! A thread is a folder: `thread.json` describes it, `messages.jsonl` is an append-only log, and
//! `assets/` holds pictures by the hash of their bytes. See `docs/formats/atsf.md`.

mod about;
mod append;
pub(crate) mod assets;
mod body;
mod call_ids;
mod carrier;
mod config;
mod create;
mod fork;
mod manifest;
mod message;
mod prepare;
mod projects;
mod reader;
mod replace;
mod results;
mod rules;
mod splice;
mod store;
mod summary;
mod tail;
mod tally;
mod unified;
mod version;
mod writer;

use about::{Atsf, SLUG, SPEC_VERSION};

pub use about::FORMAT;
pub use create::GITIGNORE;
