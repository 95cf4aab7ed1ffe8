//! Messages, entries that are none, and what stands in them.

use super::kind::Kind::{Any, Flag, Integer, List, Number, OneOf, OrNull, Text, Time, Word};
use super::kind::{Field, Kind, Object, always, maybe};
use super::session::{SESSION, TITLES, TOKENS};

pub(crate) static RECORD: Object = Object {
    name: "record",
    means: "A session with its messages",
    groups: &[&[
        always("type", Word(&["session"]), "what it is"),
        always("session", Kind::Object(&SESSION), "the session"),
        always("messages", List(&Kind::Object(&MESSAGE)), "what was said, in order"),
        maybe("graph", Kind::Object(&GRAPH), "where the messages fork; only where they do"),
    ]],
};

pub(crate) static CONTEXT: Object = Object {
    name: "context",
    means: "What a model would see",
    groups: &[&[
        always("messages", List(&Kind::Object(&MESSAGE)), "what it would be sent, in order"),
        always("model", OrNull(&Text), "the model"),
        always("thinking_level", OrNull(&Text), "how much it is to think"),
    ]],
};

pub(crate) static NATIVE_CONTEXT: Object = Object {
    name: "native-context",
    means: "What a model would see, in the format's own words",
    groups: &[&[
        always("messages", List(&Any), "the format's own messages"),
        always("model", Any, "the format's own model"),
        always("thinking_level", OrNull(&Text), "how much it is to think"),
    ]],
};

static MESSAGE: Object = Object {
    name: "message",
    means: "A message. One with calls of tools and their results is two: the second, of the user, has the results",
    groups: &[&[always("index", Integer, "its place among those that are printed, from 1")], MESSAGE_FIELDS],
};

static MESSAGE_FIELDS: &[Field] = &[
    maybe("uuid", Text, "its id, by the document's name"),
    maybe("parent_uuid", OrNull(&Text), "the message before it, by the document's name"),
    always("id", OrNull(&Text), "its id"),
    always("parent_id", OrNull(&Text), "the message before it"),
    always("role", Word(&["user", "assistant", "system"]), "who said it"),
    maybe("timestamp", Time, "when"),
    always("content", List(&OneOf(&[&TEXT, &TOOL_USE, &TOOL_RESULT])), "what was said"),
    maybe("metadata", Kind::Object(&METADATA), "where, by what, and all that the document has no words for"),
];

pub(crate) static FOLLOWED: Object = Object {
    name: "followed-message",
    means: "A message as it is said",
    groups: &[
        &[
            always("session_id", Text, "the session that it is said in"),
            always("agent", Text, "whose session that is"),
        ],
        MESSAGE_FIELDS,
    ],
};

static TEXT: Object = Object {
    name: "text",
    means: "Text",
    groups: &[&[
        always("type", Word(&["text"]), "what it is"),
        always("text", Text, "the text"),
    ]],
};

static TOOL_USE: Object = Object {
    name: "tool_use",
    means: "A call of a tool",
    groups: &[&[
        always("type", Word(&["tool_use"]), "what it is"),
        always("tool_id", Text, "the id of the call"),
        always("tool_name", Text, "the tool"),
        always("input", Any, "what it was given"),
    ]],
};

static TOOL_RESULT: Object = Object {
    name: "tool_result",
    means: "What a tool answered",
    groups: &[&[
        always("type", Word(&["tool_result"]), "what it is"),
        always("tool_id", Text, "the id of the call"),
        always("tool_name", Text, "the tool; empty if unknown"),
        always("output", Text, "the answer"),
        always("is_error", Flag, "whether it failed"),
    ]],
};

static METADATA: Object = Object {
    name: "metadata",
    means: "What is known of a message",
    groups: &[&[
        maybe("cwd", Text, "the folder it was said in"),
        maybe("git_branch", Text, "the branch that was checked out"),
        maybe("agent_version", Text, "the version of the agent"),
        maybe("user_type", Text, "what kind of user, in the agent's words"),
        maybe("is_meta", Flag, "true if the agent's program put it in"),
        maybe("model", Kind::Object(&MODEL), "the model that answered"),
        maybe("token_usage", Kind::Object(&TOKENS), "what the answer took"),
        maybe("request_id", Text, "the id of the request"),
        maybe("extensions", Kind::Object(&EXTENSIONS), "what the document has no words for"),
    ]],
};

static MODEL: Object = Object {
    name: "model",
    means: "The model that answered, and why it stopped",
    groups: &[&[
        always("name", OrNull(&Text), "the model"),
        always("stop_reason", OrNull(&Text), "why it stopped"),
        always("stop_sequence", OrNull(&Text), "what it stopped at"),
    ]],
};

static EXTENSIONS: Object = Object {
    name: "extensions",
    means: "What the document has no words for",
    groups: &[&[
        maybe("preceded_by", List(&Kind::Object(&ENTRY)), "entries before the first message"),
        maybe("visibility", Word(VISIBILITIES), "who is meant to see it, where not everybody is"),
        maybe("inherited", Flag, "true if it was copied from another session"),
        maybe("side", Flag, "true if a sub-agent said it, in a session that holds those too"),
        maybe("logical_parent_uuid", Text, "the message that it continues, where a compaction cut the chain"),
        maybe("role", Word(&["tool"]), "who said it, where the document has no word"),
        maybe("model", Kind::Object(&MODEL), "of messages that are not the assistant's"),
        maybe("token_usage", Kind::Object(&TOKENS), "of messages that are not the assistant's"),
        maybe("provider", Text, "whose model it is"),
        maybe("usage", Kind::Object(&USAGE), "more about tokens"),
        maybe("usage_key", Text, "the response that the tokens belong to, where several messages have them"),
        maybe("duration_ms", Number, "how long it took"),
        maybe("error", Text, "what went wrong"),
        maybe("response_id", Text, "the id of the response"),
        maybe("extension", Text, "the kind of message, where an extension of the agent made it"),
        maybe("details", Any, "what the agent keeps with it"),
        maybe("blocks", List(&Kind::Object(&BLOCK)), "what it holds beside `content`"),
        maybe("tools", List(&Kind::Object(&TOOL)), "more about the calls in `content`"),
        maybe("results", List(&Kind::Object(&RESULT)), "more about the results in `content`"),
        maybe("followed_by", List(&Kind::Object(&ENTRY)), "entries behind it that are no messages"),
    ]],
};

const VISIBILITIES: &[&str] = &["injected", "ui_only", "hidden"];

static USAGE: Object = Object {
    name: "usage",
    means: "What `token_usage` cannot say",
    groups: &[&[
        maybe("cache_creation_1h_tokens", Integer, "those of `cache_creation_tokens` that are kept for an hour"),
        maybe("reasoning_tokens", Integer, "those of `output_tokens` that were thinking"),
        maybe("recorded_total", Integer, "the total as the agent noted it"),
        maybe("cost_usd", Number, "what it cost"),
        maybe("scope", Word(&["turn", "cumulative", "with_subagents"]), "what it counts, where that is not one response"),
    ]],
};

/// Where the bytes of something are.
static BYTES: &[Field] = &[
    maybe("path", Text, "the file with its bytes"),
    maybe("outside_path", Text, "the same, where that file is not the session's own"),
    maybe("text", Text, "the text"),
    maybe("url", Text, "where it is on the network"),
    maybe("missing", Text, "what it was called, where it is gone"),
    maybe("inline_base64_bytes", Integer, "how long it is in the session's own record"),
];

static BLOCK: Object = Object {
    name: "block",
    means: "A part of a message for which the document has no words",
    groups: &[
        &[
            maybe("at", Integer, "how many parts of `content` come before"),
            always("type", Word(&["aside", "thinking", "image", "file", "unknown", "tool_use", "text", "tool_result"]), "what it is"),
            maybe("visibility", Word(VISIBILITIES), "of an aside: who is meant to see it"),
            maybe("signature", Text, "of thinking: what proves it to the model"),
            maybe("encrypted", Text, "of thinking: what only the model can read"),
            maybe("redacted", Flag, "of thinking: true if it was taken out"),
            maybe("summary", Flag, "of thinking: true if it is a summary"),
            maybe("mime", Text, "of a picture or file: its type"),
            maybe("name", Text, "its name; of something unknown, its type"),
            maybe("uri", Text, "of a picture or file: where it came from"),
            maybe("raw", Any, "of something unknown: as it stands"),
            maybe("tool_id", Text, "of a call or result within a result: the id of the call"),
            maybe("tool_name", Text, "of a call within a result: the tool"),
        ],
        BYTES,
    ],
};

static TOOL: Object = Object {
    name: "tool",
    means: "More about a call",
    groups: &[&[
        always("tool_id", Text, "the id of the call"),
        maybe("namespace", Text, "where the tool is from"),
        maybe("title", Text, "the call for people"),
        maybe("kind", Text, "what kind of tool, in the agent's words"),
        always("status", Text, "how far it got"),
        maybe("duration_ms", Number, "how long it took"),
        maybe("diffs", List(&Kind::Object(&DIFF)), "what it changed"),
        maybe("locations", List(&Kind::Object(&LOCATION)), "what it looked at"),
        maybe("child_session_id", Text, "the session that it started"),
        maybe("signature", Text, "what proves it to the model"),
        maybe("by_user", Flag, "true if the person called it"),
        maybe("hosted", Flag, "true if it ran where the model is"),
    ]],
};

static DIFF: Object = Object {
    name: "diff",
    means: "A change of a file",
    groups: &[&[
        always("path", Text, "the file"),
        always("old", OrNull(&Text), "what was there"),
        always("new", OrNull(&Text), "what is there now"),
    ]],
};

static LOCATION: Object = Object {
    name: "location",
    means: "A place in a file",
    groups: &[&[
        always("path", Text, "the file"),
        maybe("line", Integer, "the line"),
    ]],
};

static RESULT: Object = Object {
    name: "result",
    means: "More about what a tool answered",
    groups: &[&[
        always("tool_id", Text, "the id of the call"),
        maybe("exit_code", Integer, "how the command ended"),
        maybe("blocks", List(&Kind::Object(&BLOCK)), "what it holds beside text"),
        maybe("full_output", Kind::Object(&OUTPUT), "where all of a long answer is"),
        maybe("structured", Any, "the answer in the tool's own form"),
    ]],
};

static OUTPUT: Object = Object {
    name: "full_output",
    means: "Where all of a long answer is",
    groups: &[BYTES],
};

const ENTRIES: &[&str] = &[
    "model_change", "thinking_change", "compaction", "branch_summary", "label", "title",
    "context_edit", "usage", "event", "unknown",
];

static ENTRY: Object = Object {
    name: "entry",
    means: "Something that happened and is no message",
    groups: &[
        &[
            always("type", Word(ENTRIES), "what it is"),
            maybe("uuid", Text, "its id"),
            maybe("timestamp", Time, "when"),
            maybe("side", Flag, "true if it is a sub-agent's"),
            maybe("text", Text, "of an event: what it says"),
            maybe("details", Any, "what the agent keeps with it"),
        ],
        SAID,
    ],
};

/// What entries of each type say.
static SAID: &[Field] = &[
    maybe("provider", Text, "of a change of the model, or usage: whose model"),
    maybe("model", Text, "of a change of the model, or usage: the model"),
    maybe("level", Text, "of a change of thinking: how much; of an event: `info`, `warning` or `error`"),
    maybe("question", Text, "of a compaction: what the model was asked"),
    maybe("summary", Text, "of a compaction or branch: what it came to"),
    maybe("kept_from", Text, "of a compaction: the first entry that stays"),
    maybe("kept_to", Text, "of a compaction: the last entry that stays"),
    maybe("kept_user_messages", Flag, "of a compaction: true if what the person said stays"),
    maybe("kept", List(&Text), "of a compaction: the entries that stay"),
    maybe("replacement_messages", Integer, "of a compaction: how many messages stand for all before"),
    maybe("system", Text, "of a compaction: the system prompt from there on"),
    maybe("trigger", Text, "of a compaction: what started it"),
    maybe("tokens_before", Integer, "of a compaction: how much there was"),
    maybe("tokens_after", Integer, "of a compaction: how much is left"),
    maybe("duration_ms", Number, "of a compaction: how long it took"),
    maybe("from_hook", Flag, "of a compaction or branch: true if a hook made the summary"),
    maybe("from", Text, "of a branch: the entry that was left"),
    maybe("token_usage", Kind::Object(&TOKENS), "what it took"),
    maybe("usage", Kind::Object(&USAGE), "more about that"),
    maybe("target", Text, "of a label or edit: the entry that is meant"),
    maybe("label", OrNull(&Text), "of a label: the bookmark; null if it was cleared"),
    maybe("title", OrNull(&Text), "of a title: the title; null if it was cleared"),
    maybe("source", Word(TITLES), "of a title: where it comes from"),
    maybe("tool_id", Text, "of an edit: the call whose answer is meant"),
    maybe("replacement", OrNull(&Text), "of an edit: what the model sees instead; null for nothing"),
    maybe("purpose", Text, "of usage: what it was for"),
    maybe("name", Text, "of an event or something unknown: what the agent calls it"),
];

pub(crate) static TREE_ENTRY: Object = Object {
    name: "tree-entry",
    means: "An entry, parents before children",
    groups: &[
        &[
            always("id", Text, "its id"),
            always("parent_id", OrNull(&Text), "the entry before it"),
            always("depth", Integer, "how many times one steps aside on the way to it"),
            always("type", Word(TREE_ENTRIES), "what it is"),
            maybe("role", Word(&["user", "assistant", "system", "tool"]), "of a message: who said it"),
            maybe("timestamp", Time, "when"),
            maybe("active", Flag, "true if it is on the way to the leaf"),
            maybe("leaf", Flag, "true if the agent would go on from here"),
            maybe("bookmark", Text, "the bookmark that is set on it"),
            maybe("text", Text, "the beginning of what it says; of an event, all of it"),
            maybe("extension", Text, "of a message: its kind, where an extension of the agent made it"),
            maybe("details", Any, "what the agent keeps with it"),
        ],
        SAID,
    ],
};

const TREE_ENTRIES: &[&str] = &[
    "message", "model_change", "thinking_change", "compaction", "branch_summary", "label", "title",
    "context_edit", "usage", "event", "unknown",
];

pub(crate) static TREE_SUBAGENT: Object = Object {
    name: "tree-subagent",
    means: "A session that this one started, behind all entries",
    groups: &[&[
        always("type", Word(&["sub_agent"]), "what it is"),
        always("session_id", Text, "its id"),
        maybe("tool_id", Text, "the call that started it"),
    ]],
};

static GRAPH: Object = Object {
    name: "graph",
    means: "Where messages fork",
    groups: &[&[
        always("is_linear", Flag, "false"),
        always("fork_points", List(&Kind::Object(&FORK)), "messages with several behind them"),
        always("active_path", List(&Text), "the ids of what the agent would go on with"),
    ]],
};

static FORK: Object = Object {
    name: "fork_point",
    means: "A message with several behind it",
    groups: &[&[
        maybe("uuid", Text, "its id"),
        always("index", Integer, "its place, from 1"),
        always("branches", List(&Kind::Object(&FORK_BRANCH)), "the messages behind it"),
    ]],
};

static FORK_BRANCH: Object = Object {
    name: "fork_branch",
    means: "The first message of a branch",
    groups: &[&[
        maybe("uuid", Text, "its id"),
        always("index", Integer, "its place, from 1"),
    ]],
};
