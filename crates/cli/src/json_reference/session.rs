//! The session object, and what stands in it.

use super::kind::Kind::{Flag, Integer, List, Number, OrNull, Text, Time, Word};
use super::kind::{Field, Kind, Object, always};

/// What each field of a session is. The order is that of the program.
static FIELDS: &[Field] = &[
    always("id", Text, "the session's id"),
    always("agent", Text, "the format of the agent that held it, by its short name"),
    always("workspace", Text, "the folder that the work was done in; empty if unknown"),
    always("workspace_encoded", Text, "that folder as its agent spells it in names"),
    always("started_at", OrNull(&Time), "when its first message was written"),
    always("ended_at", OrNull(&Time), "when its last message was written"),
    always("source", Kind::Object(&SOURCE), "where it is"),
    always("is_agent_session", Flag, "whether another session started it"),
    always("parent_session_id", OrNull(&Text), "that session"),
    always("agent_id", OrNull(&Text), "of a sub-agent, its own id"),
    always("title", OrNull(&Text), "the title that the person or agent gave; else the first thing that the person said"),
    always("message_count", Integer, "how many messages, with those of sub-agents that are counted with it"),
    always("updated_at", OrNull(&Time), "the same as `ended_at`"),
    always("size", Integer, "bytes of its files, with those of the same sub-agents"),
    always("tool_call_count", Integer, "calls of tools, in the same way; 0 where a list does not look at them"),
    always("token_usage", OrNull(&Kind::Object(&TOKENS)), "tokens, in the same way"),
    always("cost_usd", OrNull(&Number), "what that cost, where the agent noted it"),
    always("title_source", OrNull(&Word(TITLES)), "where the title comes from"),
    always("subagents", OrNull(&Kind::Object(&SUBAGENTS)), "how much of it is in sub-agents; null if there are none, or with `--subagents`"),
    always("home", Text, "the home it was found in"),
    always("agent_name", OrNull(&Text), "the agent's name for people"),
    always("agent_version", OrNull(&Text), "its version"),
    always("agent_role", OrNull(&Text), "of a sub-agent, what it was made for"),
    always("model", OrNull(&Text), "the model that answers"),
    always("git_branch", OrNull(&Text), "the branch that was checked out"),
    always("format_version", OrNull(&Text), "the version of its format"),
    always("status", OrNull(&Text), "how far the work got, where the agent says it: `running`, `completed`, `failed`, `suspended`, or the agent's own word"),
    always("status_error", OrNull(&Text), "what went wrong"),
    always("duration_ms", OrNull(&Integer), "how long answers took together"),
    always("archived", Flag, "whether its agent put it away"),
    always("hidden", Flag, "whether its agent hides it"),
    always("links", List(&Kind::Object(&LINK)), "sessions that it belongs with"),
    always("converted_from", OrNull(&Kind::Object(&ORIGIN)), "of a converted copy, the session it was made of"),
    always("state", OrNull(&Word(&["unsupported", "damaged", "unreadable", "empty", "gone"])), "null if it can be used"),
    always("unsupported_version", OrNull(&Text), "the version that is not read"),
];

pub(crate) const TITLES: &[&str] = &["first_prompt", "last_prompt", "summary", "model", "stored", "user"];

pub(crate) static SESSION: Object = Object {
    name: "session",
    means: "A session; `list` and `show` say the same of it",
    groups: &[FIELDS],
};

/// What `rm` prints.
pub(crate) static REMOVED: Object = Object {
    name: "removed-session",
    means: "A session, and what became of it",
    groups: &[
        FIELDS,
        &[
            always("path", Text, "where it was"),
            always("removed", OrNull(&Word(&["trashed", "deleted"])), "null if it stayed"),
            super::kind::maybe("error", Text, "why it stayed, where there were several"),
        ],
    ],
};

static SOURCE: Object = Object {
    name: "source",
    means: "Where a session is",
    groups: &[&[
        always("type", Text, "`local`, `wsl`, `windows` or `remote`"),
        always("host", OrNull(&Text), "the machine, if it is another"),
        always("path", Text, "its file or folder"),
    ]],
};

pub(crate) static TOKENS: Object = Object {
    name: "token_usage",
    means: "Tokens as they were counted",
    groups: &[&[
        always("input_tokens", Integer, "sent, and not from a cache"),
        always("output_tokens", Integer, "answered"),
        always("cache_creation_tokens", Integer, "written into a cache"),
        always("cache_read_tokens", Integer, "read from a cache"),
    ]],
};

static SUBAGENTS: Object = Object {
    name: "subagents",
    means: "How much of a session is in sub-agents",
    groups: &[&[
        always("session_count", Integer, "how many there are"),
        always("message_count", Integer, "their messages"),
        always("size", Integer, "bytes of their files"),
        always("tool_call_count", Integer, "their calls of tools"),
        always("token_usage", OrNull(&Kind::Object(&TOKENS)), "their tokens"),
        always("cost_usd", OrNull(&Number), "what that cost"),
    ]],
};

static LINK: Object = Object {
    name: "link",
    means: "A session that another belongs with",
    groups: &[&[
        always("kind", Word(&["parent", "sub_agent", "fork_of", "continues", "continued_in", "review"]), "what it is to the other"),
        always("session_id", Text, "its id"),
        always("entry_id", OrNull(&Text), "the entry where they meet"),
        always("uuid", OrNull(&Text), "the same"),
        always("tool_id", OrNull(&Text), "the call of a tool that started it"),
    ]],
};

static ORIGIN: Object = Object {
    name: "converted_from",
    means: "The session that a copy was made of",
    groups: &[&[
        always("agent", Text, "its format"),
        always("id", Text, "its id"),
        always("path", OrNull(&Text), "where it is, if it is still there"),
    ]],
};
