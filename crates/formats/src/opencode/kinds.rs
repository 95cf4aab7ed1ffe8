//! Which types of records there are, and what becomes of each: one table for the reader, the docs
//! and the test that no type goes unnoticed.

use crate::Treatment;

/// A type of records.
#[derive(Debug)]
pub struct RecordType {
    /// Its name: the kind of record, and its type where there are several.
    pub name: &'static str,
    /// What becomes of it.
    pub fate: Treatment,
    /// Where it goes.
    pub goes: &'static str,
}

const fn row(name: &'static str, fate: Treatment, goes: &'static str) -> RecordType {
    RecordType { name, fate, goes }
}

use Treatment::{Event, Understood, Unread};

/// All types that are known.
pub static RECORD_TYPES: [RecordType; 32] = [
    row("session", Understood, "facts about the session"),
    row("message user", Understood, "a message of the user"),
    row("message assistant", Understood, "a message of the model"),
    row("part text", Understood, "text"),
    row("part reasoning", Understood, "thinking"),
    row("part file", Understood, "a picture or a file"),
    row("part step-start", Understood, "belongs to its message"),
    row(
        "part step-finish",
        Understood,
        "belongs to its message; its tokens are those of the message",
    ),
    row(
        "part compaction",
        Understood,
        "with the summary behind it, a compaction",
    ),
    row("part retry", Event, "a try that failed"),
    row(
        "part snapshot",
        Unread,
        "an unknown block, shown with its hash",
    ),
    row(
        "part patch",
        Unread,
        "an unknown block, shown with its files",
    ),
    row(
        "part agent",
        Unread,
        "an unknown block, shown with its name",
    ),
    row(
        "part subtask",
        Understood,
        "a word to the model that the user had the next call made",
    ),
    row("part tool pending", Understood, "a call"),
    row("part tool running", Understood, "a call"),
    row("part tool completed", Understood, "a call and its result"),
    row("part tool error", Understood, "a call and its result"),
    row(
        "part tool success",
        Understood,
        "a call and its result, as old files spell it",
    ),
    row(
        "part tool-invocation",
        Understood,
        "a call and its result, as the first files have them",
    ),
    row("table project", Understood, "the root of the project"),
    row("table session", Understood, "rows of type session"),
    row("table message", Understood, "rows of type message"),
    row("table part", Understood, "rows of type part"),
    row("table todo", Unread, "unclaimed rows"),
    row("table session_message", Unread, "unclaimed rows"),
    row("table session_input", Unread, "unclaimed rows"),
    row("table session_context_epoch", Unread, "unclaimed rows"),
    row(
        "tables of accounts, credentials and shares",
        Unread,
        "never opened",
    ),
    row(
        "tables of events",
        Unread,
        "copies of the rows above; never opened",
    ),
    row(
        "tables of workspaces, permissions and migrations",
        Unread,
        "nothing of a session; never opened",
    ),
    row(
        "export",
        Understood,
        "a session with its messages and their parts",
    ),
];

/// Tables that are known and never opened.
pub static CLOSED_TABLES: [&str; 13] = [
    "account",
    "account_state",
    "control_account",
    "credential",
    "session_share",
    "event",
    "event_sequence",
    "workspace",
    "permission",
    "project_directory",
    "data_migration",
    "migration",
    "__drizzle_migrations",
];

/// What a part is to its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartRole {
    /// A block of the message, or several.
    Block,
    /// Text, of a kind that decides who is meant to see the message.
    Text(Audience),
    /// Nothing but what the message says itself.
    Step,
    /// A request to put a summary in place of what was said.
    Compaction,
    /// A try that failed.
    Retry,
}

/// Who is meant to see a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Audience {
    /// Everyone.
    All,
    /// The model: nobody typed it.
    Model,
    /// The person: it is not sent.
    Person,
}

/// What a part of this type is.
pub(super) fn part_kind(type_name: &str, audience: Audience) -> PartRole {
    match type_name {
        "text" => PartRole::Text(audience),
        "subtask" => PartRole::Text(Audience::Model),
        "step-start" | "step-finish" => PartRole::Step,
        "compaction" => PartRole::Compaction,
        "retry" => PartRole::Retry,
        _ => PartRole::Block,
    }
}
