//! What `msg` prints: one row a field.

use super::answers::VIOLATION;
use super::kind::Kind::{Any, Flag, Integer, List, OrNull, Text, Time};
use super::kind::{ANY_OTHER, JsonAnswer, Object, always, maybe};

pub(crate) static MESSAGES: &[JsonAnswer] = &[
    JsonAnswer { name: "msg-send", call: "rethread msg send TO TEXT --json", means: "one object; `msg reply` prints the same.", objects: &[&SENT] },
    JsonAnswer { name: "msg-inbox", call: "rethread msg inbox --json", means: "a line a message; `msg log` and `msg watch` print the same.", objects: &[&RECEIVED] },
    JsonAnswer { name: "msg-cat", call: "rethread msg cat ID --json", means: "the record as its sender wrote it; one object.", objects: &[&RECORD] },
    JsonAnswer { name: "msg-compact", call: "rethread msg compact --json", means: "one object.", objects: &[&COMPACTED] },
    JsonAnswer { name: "msg-check", call: "rethread msg check --json", means: "a line a violation; nothing where there is none.", objects: &[&VIOLATION] },
    JsonAnswer { name: "msg-whoami", call: "rethread msg whoami --json", means: "one object.", objects: &[&IDENTITY] },
    JsonAnswer { name: "msg-init", call: "rethread msg init --json", means: "one object.", objects: &[&FOLDER] },
    JsonAnswer { name: "msg-install", call: "rethread msg install --json", means: "a line a file.", objects: &[&INSTALLED] },
];

static SENT: Object = Object { name: "sent-message", means: "A message that was sent", groups: &[&[
    always("id", Text, "its id"),
    always("ts", Integer, "when, in seconds since 1970"),
    always("from", Text, "who sent it"),
    always("to", Text, "whom it is for"),
    always("thread", Text, "its thread"),
    always("body", Text, "what it says"),
    always("path", Text, "the log that has it"),
    always("repeated", Flag, "whether an equal message of the same second was there: readers take both for one"),
]] };

static RECEIVED: Object = Object { name: "received-message", means: "A message", groups: &[&[
    always("id", Text, "its id"),
    always("ts", Integer, "when, in seconds since 1970"),
    always("time", OrNull(&Time), "the same as a time; null where no year has it"),
    always("from", OrNull(&Text), "who sent it"),
    always("to", OrNull(&Text), "whom it is for"),
    always("thread", OrNull(&Text), "its thread"),
    always("body", Text, "what it says"),
    always("late", Flag, "whether it came after messages of later times were shown"),
    always("path", Text, "the log that has it"),
    always("line", Integer, "its line there, from 1"),
    maybe("stored_id", Text, "the id that stands in the record, where it is wrong"),
]] };

static RECORD: Object = Object { name: "message-record", means: "A record of a log", groups: &[&[
    maybe("id", Any, "its id"),
    maybe("ts", Any, "when, in seconds since 1970"),
    maybe("from", Any, "who sent it"),
    maybe("to", Any, "whom it is for"),
    maybe("thread", Any, "its thread"),
    maybe("body", Any, "what it says"),
    maybe(ANY_OTHER, Any, "whatever else its sender wrote"),
]] };

static COMPACTED: Object = Object { name: "compacted-log", means: "A log without repetitions", groups: &[&[
    always("path", Text, "the log"),
    always("before", Integer, "how many lines it had, blank ones aside"),
    always("after", Integer, "how many it has"),
    always("filled", Integer, "how many records of old were given their id"),
    always("unreadable", Integer, "how many lines are no records, and stayed"),
    always("rewritten", Flag, "whether it was written anew"),
]] };

static IDENTITY: Object = Object { name: "identity", means: "Who you are", groups: &[&[
    always("alias", Text, "your name"),
    always("source", Text, "where it comes from"),
    always("folder", Text, "the message folder"),
    always("log", Text, "your own log"),
]] };

static FOLDER: Object = Object { name: "message-folder", means: "A message folder", groups: &[&[
    always("path", Text, "the folder"),
    always("ignore", Text, "the file that says what is not synced"),
    always("added", List(&Text), "the rules that were missing"),
]] };

static INSTALLED: Object = Object { name: "installed-file", means: "A file, and what was done", groups: &[&[
    always("path", Text, "the file"),
    always("done", Text, "what was done"),
]] };
