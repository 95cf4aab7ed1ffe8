//! The commands that write, with what they are tried on.

use std::fs;
use std::path::PathBuf;

use super::Files;
use super::trial::Trial;
use crate::world::World;

/// A command, with what it is tried on.
pub(super) struct Case {
    /// Lays out what is there before, and gives the thread that the command is about.
    pub(super) prepare: fn(&World) -> Option<String>,
    /// The arguments; `ID` stands for the thread.
    pub(super) args: &'static [&'static str],
    /// What is on standard input.
    pub(super) input: &'static str,
    /// States of a file between the old and the new one.
    pub(super) between: fn(&Trial) -> Files,
    pub(super) kind: Kind,
    /// Whether the calls are not the same each time.
    pub(super) varies: bool,
    pub(super) store: Store,
}

/// Where the command writes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Store {
    /// Threads in a project: a log each.
    Threads,
    /// Sessions of AgentUse: a file for every message and every part.
    AgentUse,
    /// Logs of other agents.
    Logs,
    /// The trash, and no program on the path that has one of its own.
    Trash,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Changes a thread that is there.
    Changes,
    /// Makes something that may be asked for again.
    Makes,
    /// Removes the thread.
    Removes,
    /// Writes what it reads elsewhere, over what is there.
    Copies,
}

pub(super) fn thread_of_three(w: &World) -> String {
    let id = w.thread("T");
    w.message(&id, r#"{"id":"m1","role":"user","content":"go"}"#);
    w.message(&id, r#"{"id":"m2","role":"assistant","content":[{"type":"tool_use","tool_id":"t1","tool_name":"Bash","input":{"command":"ls"}}]}"#);
    w.message(&id, r#"{"id":"m3","role":"user","content":[{"type":"image","data":"QQ==","mimeType":"image/png"}]}"#);
    id
}

pub(super) const FRAGMENT: &[u8] = b"{\"id\":\"torn\",\"role\":\"us";

pub(super) fn nothing_between(_: &Trial) -> Files {
    Vec::new()
}

/// The list of known projects is made first and then written to.
fn empty_list(_: &Trial) -> Files {
    vec![(
        PathBuf::from("home/.local/share/rethread/projects.jsonl"),
        Vec::new(),
    )]
}

pub(super) const INIT: Case = Case {
    prepare: |_| None,
    args: &["init"],
    input: "",
    between: empty_list,
    kind: Kind::Makes,
    varies: false,
    store: Store::Threads,
};
pub(super) const NEW: Case = Case {
    prepare: |_| None,
    args: &["new", "--format", "atsf", "--title", "N"],
    input: "",
    between: empty_list,
    kind: Kind::Makes,
    varies: false,
    store: Store::Threads,
};
pub(super) const NEW_IN_A_STORE: Case = Case {
    prepare: |w| {
        thread_of_three(w);
        None
    },
    ..NEW
};
pub(super) const APPEND: Case = Case {
    prepare: |w| Some(thread_of_three(w)),
    args: &["append", "ID", "one more"],
    input: "",
    between: nothing_between,
    kind: Kind::Changes,
    varies: false,
    store: Store::Threads,
};
pub(super) const APPEND_TO_TORN: Case = Case {
    prepare: |w| {
        let id = thread_of_three(w);
        let log = w.folder(&id).join("messages.jsonl");
        let mut bytes = fs::read(&log).unwrap();
        bytes.extend(FRAGMENT);
        fs::write(log, bytes).unwrap();
        Some(id)
    },
    // The fragment is in the salvage folder, and the message not yet in the log.
    between: |t| {
        let log = t.log_path();
        let old = t.old[&log].as_ref().unwrap();
        let whole = old[..old.len() - FRAGMENT.len()].to_vec();
        vec![(log, whole)]
    },
    ..APPEND
};
pub(super) const APPEND_IMAGE: Case = Case {
    prepare: |w| {
        fs::write(w.project.join("look.gif"), b"GIF89a: a picture").unwrap();
        Some(thread_of_three(w))
    },
    args: &["append", "ID", "look", "--image", "look.gif"],
    ..APPEND
};
pub(super) const APPEND_TWO: Case = Case {
    args: &["append", "ID", "--message-json", "-"],
    input: "{\"id\":\"n1\",\"role\":\"user\",\"content\":\"one\"}\n\
            {\"id\":\"n2\",\"role\":\"agent\",\"content\":\"two\"}\n",
    // They are saved together or one after the other, as they arrive.
    between: |t| {
        t.restore();
        let first = APPEND_TWO.input.lines().next().unwrap();
        t.world.message(t.id.as_ref().unwrap(), first);
        let files = [t.log_path(), t.log_path().with_file_name("thread.json")];
        files
            .map(|name| (name.clone(), fs::read(t.world.root.join(name)).unwrap()))
            .into()
    },
    varies: true,
    ..APPEND
};
pub(super) const REPLACE: Case = Case {
    args: &["append", "ID", "--replace", "m1", "--message-json", "-"],
    input: "{\"role\":\"agent\",\"content\":\"changed\",\"toolCalls\":[{\"toolCallId\":\"t9\",\
            \"name\":\"bash\",\"status\":\"completed\"}]}\n",
    ..APPEND
};
pub(super) const LATE_RESULT: Case = Case {
    args: &["append", "ID", "--message-json", "-"],
    input: "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_id\":\"t1\",\
            \"tool_name\":\"Bash\",\"output\":\"a\\nb\",\"is_error\":false}]}\n",
    ..APPEND
};
pub(super) const RENAME: Case = Case {
    args: &["rename", "ID", "Another title, which is longer"],
    ..APPEND
};
pub(super) const FORK: Case = Case {
    args: &["fork", "ID", "--at", "m3"],
    ..APPEND
};
pub(super) const CONVERT: Case = Case {
    prepare: |w| Some(thread_of_three(w)),
    args: &["convert", "ID", "--to", "claude-code"],
    input: "",
    // The list of conversions is made first and then written to.
    between: |_| {
        let list = "home/.local/share/rethread/conversions.jsonl";
        vec![(PathBuf::from(list), Vec::new())]
    },
    kind: Kind::Makes,
    varies: false,
    store: Store::Threads,
};
pub(super) const RM: Case = Case {
    args: &["rm", "ID", "--force"],
    kind: Kind::Removes,
    ..APPEND
};
pub(super) const RM_INTO_THE_TRASH: Case = Case {
    args: &["rm", "ID", "--yes"],
    store: Store::Trash,
    ..RM
};
