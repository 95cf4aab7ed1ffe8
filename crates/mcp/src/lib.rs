//! Rethread's conversations for other programs: a server of the Model Context Protocol.
//!
//! An agent that can look up what was decided last week, in any agent, calls a few tools: search, read,
//! list, and, where the user allows it, send and receive messages. [`ConversationServer`] answers them;
//! [`serve_stdio`] and [`serve_http`] connect it to whoever asks; [`ClientConfig`] says what to add to a
//! client's settings.
//!
//! - Nothing is told unasked: an answer has a limit in bytes, ends with a whole part of a message, and
//!   says how to get the next one. A cursor names a place that appends do not move.
//! - What comes out of a conversation is data. It stands between two lines that it cannot contain, and
//!   is named as untrusted; what looks like a secret key is masked.
//! - Nothing is written to any store. Only [`MessageAccess`] lets a client write: messages, under the
//!   alias that the user chose.

mod answer;
mod arguments;
mod client_config;
mod cursor;
mod fence;
mod handle;
mod http;
mod library;
mod mask;
mod progress;
mod prompt;
mod resource;
mod server;
mod stdio;
mod tools;

pub use client_config::{ClientConfig, MCP_CLIENTS};
pub use http::{HttpOptions, serve_http};
pub use library::{LibraryOptions, MessageAccess};
pub use server::ConversationServer;
pub use stdio::serve_stdio;
