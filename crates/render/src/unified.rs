//! The vocabulary of the Unified NDJSON document: session objects, message objects, and a session
//! record of both.
//!
//! Field names and their order are the document's. What its vocabulary cannot say is in
//! `metadata.extensions`, an open object; `extensions.rs` and `entry.rs` say what is in there.

mod entry;
mod extensions;
mod graph;
mod message;
mod record;
mod session;
mod tree;

pub(crate) use entry::{fields, type_word};
pub use message::{Envelope, Written, message_object};
pub use record::{context_object, session_record};
pub use session::session_object;
