//! Sessions of the Codex CLI: a file of JSON lines each, in which two streams run side by side, one
//! of what the model saw and one of what people saw.
//!
//! Four generations are read: one JSON document, bare items with state lines, wrapped items, and
//! wrapped items with numbers, whose forks point into other files. See `docs/formats/codex.md`.

mod about;
mod agents;
mod base;
mod blocks;
mod body;
mod calls;
mod carrier;
mod client;
mod document;
mod draft;
mod entries;
mod facts;
mod join;
mod line_head;
mod long_document;
mod meta;
mod meter;
mod names;
mod own;
mod packed;
mod prefix;
mod quick;
mod reader;
mod record;
mod rules;
mod said;
mod shown;
mod store;
mod summary;
mod write;
mod writer;

use about::{Codex, SLUG};

pub use about::FORMAT;
pub use record::{Care, record_type};
