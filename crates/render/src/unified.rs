//! The vocabulary of the Unified NDJSON document: session objects, message objects, and a session
//! record of both.
//!
//! Field names and their order are the document's. What its vocabulary cannot say is in
//! `metadata.extensions`, an open object; `extensions.rs` and `entry.rs` say what is in there.

mod entry;
mod extensions;
mod facts;
mod form;
mod graph;
mod ids;
mod message;
mod numbers;
mod record;
mod session;
mod tree;

pub(crate) use entry::{type_word, write_fields};
pub use form::{OriginalWriter, RecordForm};
pub use message::{Envelope, WrittenMessage, message_object};
pub use record::{
    Export, context_object, export_record, message_lines, session_record, summary_entries,
};
pub use session::{session_object, workspace_path};
