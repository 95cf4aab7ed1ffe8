//! Unified NDJSON: a file with a header and a line for each session, of whatever agent.
//!
//! Version 1 of the document is read and written (by the export, which is no matter of one format);
//! of version 2 the flat files are read that its upstream program writes. A file may be packed with
//! gzip or zstd. See `docs/formats/ndjson.md`.

mod about;
mod blocks;
mod body;
mod carrier;
mod entry;
mod exports;
mod field_tables;
mod fields;
mod flat;
mod head;
mod index;
mod message;
mod packed;
mod pieces;
mod reader;
mod rules;
mod schema;
mod store;
mod summary;

use about::{Ndjson, SLUG};

pub use about::FORMAT;
pub use exports::UnifiedRecord;
pub use rules::workspace_name;
pub use schema::schema;
