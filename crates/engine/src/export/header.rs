//! The header of an export: what is in the lines that follow.

use std::collections::BTreeSet;

use rethread_formats::ndjson::name_of;
use rethread_json::{Array, Object};
use rethread_model::{Head, Moment, home_name};

/// What a header says about one session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Facts {
    agent: String,
    home: String,
    workspace: String,
}

impl Facts {
    /// What a session's own line will say.
    pub(super) fn of(head: &Head, kind: &str, host: Option<&str>) -> Self {
        let (kind, host) = match &head.provenance {
            Some(p) => (p.kind.as_str(), p.host.as_deref()),
            None => (kind, host),
        };
        let path = rethread_render::workspace_path(head);
        Self {
            agent: head.held_by().to_owned(),
            home: home_name(kind, host),
            workspace: name_of(&path).to_owned(),
        }
    }
}

/// The header for these sessions: one line of JSON.
pub(super) fn header<'a>(now: Moment, sessions: impl Iterator<Item = &'a Facts>) -> Vec<u8> {
    let (mut agents, mut homes, mut workspaces) =
        (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut count = 0;
    for facts in sessions {
        count += 1;
        agents.insert(&facts.agent);
        homes.insert(&facts.home);
        workspaces.insert(&facts.workspace);
    }
    let list = |set: BTreeSet<&String>| {
        let all = set.into_iter();
        all.fold(Array::new(), |list, one| list.str(one)).finish()
    };
    let mut line = Object::new()
        .str("type", "header")
        .str("schema_version", "1.0")
        .str("export_timestamp", &seconds(now))
        .raw("agent_types", &list(agents))
        .raw("homes", &list(homes))
        .raw("workspaces", &list(workspaces))
        .u64("session_count", count)
        .finish();
    line.push(b'\n');
    line
}

/// A moment in whole seconds, as the document spells it.
fn seconds(time: Moment) -> String {
    let text = time.to_string();
    match text.split_once('.') {
        Some((whole, _)) => format!("{whole}Z"),
        None => text,
    }
}
