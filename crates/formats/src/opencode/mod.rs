//! Sessions of OpenCode: rows of a database that the client may be writing to, trees of JSON files
//! that older versions wrote, and exported files.
//!
//! See `docs/formats/opencode.md`.

mod about;
mod agents;
mod append;
mod blocks;
mod body;
mod carrier;
mod client;
mod connection;
mod create;
mod database;
mod document;
mod draft;
mod entries;
mod export;
mod facts;
mod fork;
mod ids;
mod info;
mod kinds;
mod members;
mod new_database;
mod own;
mod project;
mod reader;
mod reading;
mod remove;
mod results;
mod rows;
mod rules;
mod said;
mod session_rows;
mod store;
mod summary;
mod tool;
mod transcript;
mod tree;
mod vfs;
mod writer;
mod writing;

use about::{OpenCode, SLUG};

pub use about::FORMAT;
pub use kinds::{CLOSED_TABLES, RECORD_TYPES, RecordType};
pub use new_database::create_database;
