//! What the document says of fields, as tables. The check and the JSON Schema both come from here.

use rethread_json::{Kind, Value};

/// The objects that the document describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Header,
    Record,
    Session,
    Source,
    Message,
    Text,
    ToolUse,
    ToolResult,
    Metadata,
    Model,
    TokenUsage,
    Graph,
    ForkPoint,
    Branch,
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldType {
    /// This word.
    Word(&'static str),
    /// One of these words.
    OneOf(&'static [&'static str]),
    Text,
    TextOrNull,
    /// An ISO 8601 date and time.
    Time,
    /// A version whose first number is 1.
    Version,
    /// A whole number from this one on.
    Count(u64),
    Bool,
    /// `false`.
    No,
    /// Any JSON value.
    Any,
    /// An object that may hold anything.
    Open,
    Texts,
    Object(Shape),
    Objects(Shape),
    /// Blocks of the three types.
    Blocks,
}

/// One field of an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct ObjectField {
    pub(super) key: &'static str,
    pub(super) is: FieldType,
    pub(super) required: bool,
}

/// One object of the document.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    pub(super) shape: Shape,
    /// Its name in the schema.
    pub(super) name: &'static str,
    /// The heading in the document.
    pub(super) section: &'static str,
    pub(super) fields: &'static [ObjectField],
}

const fn must(key: &'static str, is: FieldType) -> ObjectField {
    let required = true;
    ObjectField { key, is, required }
}

const fn may(key: &'static str, is: FieldType) -> ObjectField {
    let required = false;
    ObjectField { key, is, required }
}

/// All objects, in the document's order.
pub(super) static TABLES: &[Table] = &[
    Table {
        shape: Shape::Header,
        name: "header",
        section: "Header Record (Line 1)",
        fields: &[
            must("type", FieldType::Word("header")),
            must("schema_version", FieldType::Version),
            must("export_timestamp", FieldType::Time),
            must("agent_types", FieldType::Texts),
            must("homes", FieldType::Texts),
            must("workspaces", FieldType::Texts),
            must("session_count", FieldType::Count(0)),
        ],
    },
    Table {
        shape: Shape::Record,
        name: "record",
        section: "Session Record (Lines 2+)",
        fields: &[
            must("type", FieldType::Word("session")),
            must("session", FieldType::Object(Shape::Session)),
            must("messages", FieldType::Objects(Shape::Message)),
            may("graph", FieldType::Object(Shape::Graph)),
        ],
    },
    Table {
        shape: Shape::Session,
        name: "session",
        section: "Session Object",
        fields: &[
            must("id", FieldType::Text),
            must("agent", FieldType::Text),
            must("workspace", FieldType::Text),
            must("workspace_encoded", FieldType::Text),
            must("started_at", FieldType::Time),
            must("ended_at", FieldType::Time),
            must("source", FieldType::Object(Shape::Source)),
            must("is_agent_session", FieldType::Bool),
            may("parent_session_id", FieldType::TextOrNull),
            may("agent_id", FieldType::TextOrNull),
            may("extensions", FieldType::Open),
        ],
    },
    Table {
        shape: Shape::Source,
        name: "source",
        section: "Session Object",
        fields: &[
            must(
                "type",
                FieldType::OneOf(&["local", "wsl", "windows", "remote"]),
            ),
            may("host", FieldType::TextOrNull),
            must("path", FieldType::Text),
        ],
    },
    Table {
        shape: Shape::Message,
        name: "message",
        section: "Message Object",
        fields: &[
            must("index", FieldType::Count(1)),
            may("uuid", FieldType::Text),
            may("parent_uuid", FieldType::TextOrNull),
            must("role", FieldType::OneOf(&["user", "assistant", "system"])),
            may("timestamp", FieldType::Time),
            must("content", FieldType::Blocks),
            may("metadata", FieldType::Object(Shape::Metadata)),
        ],
    },
    Table {
        shape: Shape::Text,
        name: "text",
        section: "Text Block",
        fields: &[
            must("type", FieldType::Word("text")),
            must("text", FieldType::Text),
        ],
    },
    Table {
        shape: Shape::ToolUse,
        name: "tool_use",
        section: "Tool Use Block (Assistant requesting tool)",
        fields: &[
            must("type", FieldType::Word("tool_use")),
            must("tool_id", FieldType::Text),
            must("tool_name", FieldType::Text),
            must("input", FieldType::Any),
        ],
    },
    Table {
        shape: Shape::ToolResult,
        name: "tool_result",
        section: "Tool Result Block (Result of tool execution)",
        fields: &[
            must("type", FieldType::Word("tool_result")),
            must("tool_id", FieldType::Text),
            must("tool_name", FieldType::Text),
            must("output", FieldType::Text),
            must("is_error", FieldType::Bool),
        ],
    },
    Table {
        shape: Shape::Metadata,
        name: "metadata",
        section: "Message Metadata",
        fields: &[
            may("cwd", FieldType::Text),
            may("git_branch", FieldType::Text),
            may("agent_version", FieldType::Text),
            may("user_type", FieldType::Text),
            may("is_meta", FieldType::Bool),
            may("model", FieldType::Object(Shape::Model)),
            may("token_usage", FieldType::Object(Shape::TokenUsage)),
            may("request_id", FieldType::Text),
            may("extensions", FieldType::Open),
        ],
    },
    Table {
        shape: Shape::Model,
        name: "model",
        section: "Message Metadata",
        fields: &[
            may("name", FieldType::TextOrNull),
            may("stop_reason", FieldType::TextOrNull),
            may("stop_sequence", FieldType::TextOrNull),
        ],
    },
    Table {
        shape: Shape::TokenUsage,
        name: "token_usage",
        section: "Message Metadata",
        fields: &[
            may("input_tokens", FieldType::Count(0)),
            may("output_tokens", FieldType::Count(0)),
            may("cache_creation_tokens", FieldType::Count(0)),
            may("cache_read_tokens", FieldType::Count(0)),
        ],
    },
    Table {
        shape: Shape::Graph,
        name: "graph",
        section: "Conversation Graph (Optional)",
        fields: &[
            must("is_linear", FieldType::No),
            must("fork_points", FieldType::Objects(Shape::ForkPoint)),
            must("active_path", FieldType::Texts),
        ],
    },
    Table {
        shape: Shape::ForkPoint,
        name: "fork_point",
        section: "Conversation Graph (Optional)",
        fields: &[
            must("uuid", FieldType::Text),
            must("index", FieldType::Count(1)),
            must("branches", FieldType::Objects(Shape::Branch)),
        ],
    },
    Table {
        shape: Shape::Branch,
        name: "branch",
        section: "Conversation Graph (Optional)",
        fields: &[
            must("uuid", FieldType::Text),
            must("index", FieldType::Count(1)),
        ],
    },
];

/// The table of an object.
pub(super) fn object_table(shape: Shape) -> Option<&'static Table> {
    TABLES.iter().find(|t| t.shape == shape)
}

/// The object that a block is, by its type.
pub(super) fn block_table(kind: &str) -> Option<&'static Table> {
    object_table(match kind {
        "text" => Shape::Text,
        "tool_use" => Shape::ToolUse,
        "tool_result" => Shape::ToolResult,
        _ => return None,
    })
}

impl FieldType {
    /// Whether a value fits; what is inside of objects and lists is not looked at.
    pub(super) fn fits(self, value: Value<'_>) -> bool {
        let kind = value.kind();
        match self {
            Self::Word(word) => value.is_str(word),
            Self::OneOf(words) => words.iter().any(|word| value.is_str(word)),
            Self::Text => kind == Kind::String,
            Self::TextOrNull => matches!(kind, Kind::String | Kind::Null),
            Self::Time => {
                let text = value.str();
                text.is_some_and(|t| t.parse::<rethread_model::Moment>().is_ok())
            }
            Self::Version => value.str().is_some_and(|v| v == "1" || v.starts_with("1.")),
            Self::Count(least) => value.u64().is_some_and(|n| n >= least),
            Self::Bool => kind == Kind::Bool,
            Self::No => value.bool() == Some(false),
            Self::Any => true,
            Self::Open | Self::Object(_) => kind == Kind::Object,
            Self::Texts => value.is_array() && value.items().all(|i| i.kind() == Kind::String),
            Self::Objects(_) | Self::Blocks => {
                value.is_array() && value.items().all(Value::is_object)
            }
        }
    }

    pub(super) fn words(self) -> String {
        match self {
            Self::Word(word) => format!("`{word}`"),
            Self::OneOf(words) => format!("one of `{}`", words.join("`, `")),
            Self::Text => "a string".to_owned(),
            Self::TextOrNull => "a string or null".to_owned(),
            Self::Time => "an ISO 8601 date and time".to_owned(),
            Self::Version => "a version 1.x".to_owned(),
            Self::Count(least) => format!("a whole number from {least} on"),
            Self::Bool => "a boolean".to_owned(),
            Self::No => "false".to_owned(),
            Self::Any => "a value".to_owned(),
            Self::Open | Self::Object(_) => "an object".to_owned(),
            Self::Texts => "an array of strings".to_owned(),
            Self::Objects(_) => "an array of objects".to_owned(),
            Self::Blocks => "an array of blocks".to_owned(),
        }
    }
}
