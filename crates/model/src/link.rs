//! How sessions belong together.

/// A link from one session to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// What the other session is to this one.
    pub kind: LinkKind,
    /// The other session's id, or the path that the source names it by.
    pub session: String,
    /// The entry at which the two part or meet, where the source says so.
    pub entry: Option<String>,
    /// The tool call that started the other session or this one.
    pub tool_call: Option<String>,
}

/// What the other session is to this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// It started this one as a sub-agent.
    Parent,
    /// This one started it as a sub-agent.
    SubAgent,
    /// This one began as a copy of it.
    ForkOf,
    /// This one continues it (a resumed copy, a compaction into a new session).
    Continues,
    /// It continues this one.
    ContinuedIn,
    /// It reviews this one, or the other way round.
    Review,
}
