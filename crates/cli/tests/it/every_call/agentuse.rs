//! Sessions of AgentUse, where one command may write several files: each of them is old or new, and
//! in whichever order they came, the session can be read and written to.

use std::path::Path;

use super::Tree;
use super::cases::{self, Case, Kind, Store, nothing_between};
use super::trial::Trial;
use crate::world::{Answer, World, json};

/// Where sessions outside of git are, from the root.
const SESSIONS: &str = "home/.local/share/agentuse/project/global/session";
/// An exchange and a part of it, as the case itself names them.
const MESSAGE_ID: &str = "01KA3J1000M000000000000001";
const PART_ID: &str = "01KA3J1000P000000000000001";

/// A session with an exchange that has a call in it which nobody answered yet.
fn session(w: &World) -> String {
    let out = w.ok(&["new", "--format", "agentuse", "--agent-name", "a", "--json"]);
    let id = json(&out)["id"].as_str().unwrap().to_owned();
    let message = format!(
        r#"{{"id":"{MESSAGE_ID}","user":{{"prompt":{{"task":"go"}}}},"time":{{"created":1763200000000}},"parts":[{{"type":"tool","callID":"c1","tool":"Bash","state":{{"status":"running","input":{{"command":"ls"}},"time":{{"start":1763200000001}}}},"id":"{PART_ID}"}}]}}"#
    );
    w.message(&id, &message);
    id
}

pub(super) const NEW: Case = Case {
    args: &["new", "--format", "agentuse", "--agent-name", "b"],
    store: Store::AgentUse,
    ..cases::NEW
};
pub(super) const NEW_SUB_AGENT: Case = Case {
    prepare: |w| Some(session(w)),
    args: &["new", "--format", "agentuse", "--parent", "ID"],
    ..NEW
};
/// A new exchange, behind one that has an answer.
pub(super) const PROMPT: Case = Case {
    prepare: |w| Some(session(w)),
    args: &["append", "ID", "and now?"],
    input: "",
    between: nothing_between,
    kind: Kind::Changes,
    varies: false,
    store: Store::AgentUse,
};
/// A new part, and its message with it.
pub(super) const ANSWER: Case = Case {
    args: &["append", "ID", "--role", "agent", "done"],
    ..PROMPT
};
/// A new exchange with parts.
pub(super) const MESSAGE: Case = Case {
    args: &["append", "ID", "--message-json", "-"],
    input: r#"{"user":{"prompt":{"task":"go","user":"on"}},"parts":[{"type":"text","text":"one"},{"type":"reasoning","text":"two"}]}"#,
    ..PROMPT
};
/// A call that goes on in its own file.
pub(super) const REPLACE: Case = Case {
    args: &["append", "ID", "--replace", PART_ID, "--message-json", "-"],
    input: r#"{"state":{"status":"completed","input":{"command":"ls"},"output":"a","time":{"start":1763200000001,"end":1763200000002}}}"#,
    ..PROMPT
};

/// A session is there with its description, and an exchange with its message: never one alone.
pub(super) fn check_sessions(found: &Tree, at: &str) {
    let is_folder = |name: &Path| found.get(name) == Some(&None);
    let is_file = |name: &Path| found.get(name).is_some_and(Option::is_some);
    for (name, _) in found.iter().filter(|(name, _)| name.starts_with(SESSIONS)) {
        let holder = name.parent().and_then(Path::file_name);
        let is_session = holder.is_some_and(|n| n == "session" || n == "subagent");
        let path = name.display();
        if is_session && is_folder(name) {
            assert!(is_file(&name.join("session.json")), "{at}: {path}");
        }
        let text = name.file_name().unwrap_or_default().to_string_lossy();
        if text.len() == 26 && is_folder(name) {
            assert!(is_file(&name.join("message.json")), "{at}: {path}");
        }
    }
}

/// What was printed is the name of a session, an exchange or a part that is there.
pub(super) fn check_acknowledged(found: &Tree, line: &str, at: &str) {
    let id = line.split('\t').next().unwrap();
    let is_named = |name: &Path| {
        let name = name.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(id)
    };
    assert!(found.keys().any(|name| is_named(name)), "{at}: {line}");
}

impl Trial {
    /// The session can be listed, shown, checked and continued; a new one can be asked for again.
    pub(super) fn check_next_session(&self, listed: &Answer, at: &str) {
        let w = &self.world;
        if self.case.kind == Kind::Changes {
            // Where it was to go, before another exchange follows.
            self.run(&[]);
        }
        let mut ids: Vec<String> = self.id.iter().cloned().collect();
        for id in &ids {
            assert!(listed.out.contains(id.as_str()), "{at}: {listed:?}");
        }
        if self.case.kind == Kind::Makes {
            let said = self.run(&[]);
            assert_eq!(said.code, Some(0), "{at}, and then: {said:?}");
            ids.push(said.out.split('\t').next().unwrap().to_owned());
        }
        for id in ids {
            for args in [
                &["append", &id, "next"][..],
                &["append", &id, "--role", "agent", "last"],
                &["show", &id, "--json"],
            ] {
                let next = w.run(args);
                assert_eq!(next.code, 0, "{at}, and then: {next:?}");
            }
        }
        let store = w.home.join(".local/share/agentuse");
        let checked = w.run(&["check", store.to_str().unwrap(), "--strict"]);
        assert_eq!(checked.code, 0, "{at}, and then: {checked:?}");
    }
}
