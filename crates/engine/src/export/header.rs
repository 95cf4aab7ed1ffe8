//! The header of an export: what is in the lines that follow.

use std::collections::BTreeSet;

use rethread_formats::workspace_name;
use rethread_json::{Array, Object};
use rethread_model::{Head, Json, Moment, home_name};

use super::choose::ChosenSessions;

/// What a header says about one session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HeaderFacts {
    agent: String,
    home: String,
    workspace: String,
}

impl HeaderFacts {
    /// What a session's own line will say.
    pub(super) fn of_session(head: &Head, kind: &str, host: Option<&str>) -> Self {
        let (kind, host) = match &head.provenance {
            Some(p) => (p.kind.as_str(), p.host.as_deref()),
            None => (kind, host),
        };
        let path = rethread_render::workspace_path(head);
        Self {
            agent: head.held_by().to_owned(),
            home: home_name(kind, host),
            workspace: workspace_name(&path).to_owned(),
        }
    }
}

/// What the headers of exports say that are exported again, beside what every header says.
#[derive(Debug, Default)]
pub(super) struct ExtraHeader(Vec<(String, Json)>);

impl ExtraHeader {
    /// What the headers of these sessions' files say. Where two have the same member, the first
    /// stays.
    pub(super) fn of_chosen(chosen: &ChosenSessions) -> Self {
        let mut all: Vec<(String, Json)> = Vec::new();
        let mut seen = BTreeSet::new();
        for choice in &chosen.sessions {
            let source = &choice.source;
            let Some(exports) = source.format.reader().exports() else {
                continue;
            };
            if !seen.insert(&source.path) {
                continue;
            }
            for (key, value) in exports.more_of_header(&source.path) {
                if all.iter().all(|(known, _)| *known != key) {
                    all.push((key, value));
                }
            }
        }
        Self(all)
    }
}

/// The header for these sessions: one line of JSON.
pub(super) fn header_line<'a>(
    now: Moment,
    sessions: impl Iterator<Item = &'a HeaderFacts>,
    more: &ExtraHeader,
) -> Vec<u8> {
    let (mut agents, mut homes, mut workspaces) =
        (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut count = 0;
    for facts in sessions {
        count += 1;
        agents.insert(&facts.agent);
        homes.insert(&facts.home);
        // One that nobody knows has no name.
        workspaces.extend(Some(&facts.workspace).filter(|name| !name.is_empty()));
    }
    let list = |set: BTreeSet<&String>| {
        let all = set.into_iter();
        all.fold(Array::new(), |list, one| list.str(one)).finish()
    };
    let mut line = Object::new()
        .str("type", "header")
        .str("schema_version", "1.0")
        .str("export_timestamp", &whole_seconds(now))
        .raw("agent_types", &list(agents))
        .raw("homes", &list(homes))
        .raw("workspaces", &list(workspaces))
        .u64("session_count", count);
    for (key, value) in &more.0 {
        line = line.raw(key, value.bytes());
    }
    let mut line = line.finish();
    line.push(b'\n');
    line
}

/// A moment in whole seconds, as the document spells it.
fn whole_seconds(time: Moment) -> String {
    let text = time.to_string();
    match text.split_once('.') {
        Some((whole, _)) => format!("{whole}Z"),
        None => text,
    }
}
