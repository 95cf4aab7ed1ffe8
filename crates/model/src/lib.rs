//! What a conversation is, the same for every agent.
//!
//! A [`Session`] is a tree of [`Entry`] heads with parent links and an active leaf. Heads are a few
//! dozen bytes each; what an entry says ([`Body`]) is decoded from the original record when it is
//! needed. Every entry remembers the raw records it came from, and the session remembers the records
//! that nobody claimed, so that together they are every byte of the source.
//!
//! Nothing in here knows a file format, a file system or a clock.

mod activity;
mod block;
mod body;
mod builder;
mod context;
mod entry;
mod link;
mod note;
mod session;
mod summary;
mod texts;
mod time;
mod title;
mod usage;
mod walk;

pub use activity::{Activity, ActivitySpan};
pub use block::{
    Blob, Block, Diff, Json, Location, Media, Text, Thinking, ToolCall, ToolInput, ToolResult,
    ToolStatus,
};
pub use body::{
    Bodies, Body, BranchSummary, Compaction, ContextEdit, Event, Kept, LabelChange, Level, Message,
    ModelRef, Piece, Place,
};
pub use builder::{NewEntry, SessionBuilder};
pub use context::Context;
pub use entry::{Entry, EntryIx, Kind, Origin, RawRef, Role, Visibility};
pub use link::{Link, LinkKind};
pub use note::{Note, Severity};
pub use session::{
    Agent, ConvertedFrom, Head, Provenance, Session, Status, Workspace, WorktreeRef, home_name,
};
pub use summary::{Counts, State, Subagents, Summary};
pub use texts::Texts;
pub use time::{Moment, NotATime};
pub use title::{Title, TitleChange, TitleSource};
pub use usage::{Cost, Usage, UsageRecord, UsageScope};
pub use walk::Children;
