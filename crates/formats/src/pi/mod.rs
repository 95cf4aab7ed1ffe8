//! Sessions of the coding agent pi: a tree of entries in one file of JSON lines.
//!
//! The first value of a file is its header; every other line is an entry that names its parent, and
//! the last one is where the agent goes on. Atomic writes the same format elsewhere; what differs
//! between the two is a [`Flavour`]. See `docs/formats/pi.md`.

mod about;
mod blocks;
mod body;
mod carrier;
mod client;
mod context;
mod entry;
mod facts;
mod fields;
mod header;
mod id;
mod kinds;
mod links;
mod manager;
mod migrate;
mod placement;
mod reader;
mod role;
mod rules;
mod scan;
mod store;
mod summary;
mod tree;
mod write;
mod writer;

pub(crate) use about::Flavour;
pub(crate) use store::{expanded_folder, is_atomic};

pub use about::FORMAT;
pub use context::{Leaf, ModelRef, SessionContext};
pub use entry::{CURRENT_VERSION, EntryData, EntryKind, SessionEntry};
pub use manager::{
    Agent, BlockKind, Content, ContentBlock, Cost, Host, Message, MessageBody, NewAssistant,
    NewBash, NewPiMessage, NewSessionOptions, NewToolResult, NewUser, SessionError, SessionHeader,
    SessionInfo, SessionManager, StopReason, Usage, most_recent_session, session_folder,
};
pub use store::encode_cwd;
pub use tree::{SessionTree, TreeNode};

/// The newest version that the programs write.
pub(crate) const VERSION: u64 = 3;
