//! Sub-agents: sessions of their own that name their parent, and parts of that which name them.

use rethread_json::{Document, Object, Patch, Value as Json};
use rusqlite::types::Value;

use super::create::{slug, text_value};
use super::ids::IdSource;
use super::writing::{DatabaseChange, change_database};
use super::{FORMAT, OpenCode};
use crate::fields::string_of;
use crate::{
    Source, StartedSubagent, SubagentTranscript, SubagentWriter, WriteError, Writer, Writing,
};

/// The agent that does what others ask of it.
const AGENT: &str = "general";

/// What a session has counted.
const COUNTS: [&str; 5] = [
    "tokens_input",
    "tokens_output",
    "tokens_reasoning",
    "tokens_cache_read",
    "tokens_cache_write",
];

impl SubagentWriter for OpenCode {
    /// Writes what a sub-agent said into a session of its own.
    fn write_subagent(
        &self,
        w: &Writing<'_>,
        parent: &Source,
        agent: &SubagentTranscript<'_>,
    ) -> Result<Source, WriteError> {
        let id = change_database(w, &parent.path, |change| start(w, change, parent, agent))?;
        let source = Source::new(FORMAT, id, parent.path.clone());
        self.write_transcript(w, &source, agent.told)?;
        Ok(source)
    }

    /// Notes in the parts of a session which of them started which sub-agents.
    fn link_subagents(
        &self,
        w: &Writing<'_>,
        parent: &Source,
        started: &[StartedSubagent<'_>],
    ) -> Result<(), WriteError> {
        change_database(w, &parent.path, |change| {
            for StartedSubagent { call, session } in started {
                let sql = "SELECT id, data FROM part WHERE session_id = ?1 AND instr(data, ?2) > 0";
                let parts = change.ask(|tx| {
                    let mut query = tx.prepare(sql)?;
                    let found = query
                        .query_map([&*parent.id, call], |row| Ok((row.get(0)?, row.get(1)?)))?;
                    found.collect::<rusqlite::Result<Vec<(String, String)>>>()
                })?;
                for (id, data) in parts {
                    if let Some(data) = linked(data, call, &parent.id, &session.id) {
                        let sql = "UPDATE part SET data = ?1 WHERE id = ?2";
                        change.ask(|tx| tx.execute(sql, [&data, &id]))?;
                    }
                }
            }
            Ok(())
        })
    }
}

/// Starts a session in the folder and the project of its parent.
fn start(
    w: &Writing<'_>,
    change: &DatabaseChange<'_>,
    parent: &Source,
    agent: &SubagentTranscript<'_>,
) -> Result<String, WriteError> {
    let id = IdSource::new(w.env, change.there()?).session();
    let title = agent.title.unwrap_or("task");
    let mut row = vec![
        ("id", text_value(&id)),
        ("parent_id", text_value(&parent.id)),
        ("slug", text_value(&slug(&id))),
        ("title", text_value(&format!("{title} (@{AGENT} subagent)"))),
        ("agent", text_value(AGENT)),
    ];
    // A database that was made of rows that came along has no defaults.
    row.extend(COUNTS.map(|column| (column, Value::Integer(0))));
    row.push(("cost", Value::Real(0.0)));
    for column in [
        "project_id",
        "directory",
        "path",
        "version",
        "time_created",
        "time_updated",
    ] {
        if !change.has("session", column) {
            continue;
        }
        let sql = format!("SELECT {column} FROM session WHERE id = ?1");
        let value: Value = change.ask(|tx| tx.query_row(&sql, [&parent.id], |row| row.get(0)))?;
        row.push((column, value));
    }
    change.insert("session", row)?;
    Ok(id)
}

/// A part that is this call and has a result, with the session that it started.
fn linked(data: String, call: &str, parent: &str, agent: &str) -> Option<String> {
    let document = Document::parse(data.into_bytes()).ok()?;
    let part = document.root();
    let state = part
        .get("state")
        .filter(|_| string_of(part, "callID").as_deref() == Some(call))?;
    if !matches!(
        string_of(state, "status")?.as_str(),
        "running" | "completed" | "error"
    ) {
        return None;
    }
    let mut patch = Patch::new(part);
    let ids = [("parentSessionId", parent), ("sessionId", agent)];
    if let Some(metadata) = state.get("metadata").filter(|m: &Json<'_>| m.is_object()) {
        for (key, id) in ids {
            patch.set(metadata, key, &rethread_json::quote(id));
        }
    } else {
        let made = ids.iter();
        let made = made.fold(Object::new(), |made, (key, id)| made.str(key, id));
        patch.set(state, "metadata", &made.finish());
    }
    String::from_utf8(patch.finish()).ok()
}
