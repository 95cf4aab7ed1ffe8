//! Sub-agents: files of their own that name their parent, and an event in that which names them.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader};

use rethread_json::{Array, Object, Tree, Value};
use rethread_model::Moment;

use super::append::open;
use super::create::{CLIENT, NewMeta, Spawn};
use super::records::{Mode, Records};
use super::{fresh_place, put_file};
use crate::codex::meta::{Beginning, SessionMeta, read_beginning};
use crate::codex::store::home_of;
use crate::codex::{Codex, FORMAT, store};
use crate::session_log::SessionLog;
use crate::{
    Source, StartedSubagent, SubagentTranscript, SubagentWriter, WriteError, Writer, Writing,
};

/// No chain of parents is followed further than this.
const DEEPEST: u64 = 64;

/// The most characters of a sub-agent's name.
const LONGEST_NAME: usize = 60;

impl SubagentWriter for Codex {
    /// Writes what a sub-agent said into a file of its own, in the home of its parent.
    fn write_subagent(
        &self,
        w: &Writing<'_>,
        parent: &Source,
        agent: &SubagentTranscript<'_>,
    ) -> Result<Source, WriteError> {
        let said = meta(parent)?;
        let (root, depth) = root(parent, &said);
        let home = home_of(&parent.path);
        let folder = home.as_deref().or(parent.path.parent());
        let now = w.env.now();
        let (id, path) = fresh_place(w.env, folder.unwrap_or(&parent.path), now, b"agent");
        let cwd = said.cwd.as_deref().unwrap_or_default();
        let name = agent.title.map(name_of);
        let new = NewMeta {
            id: &id,
            created: now,
            cwd,
            originator: "rethread",
            version: CLIENT,
            forked_from: None,
            paginated: false,
            spawn: Some(Spawn {
                parent: &said.id,
                root: &root,
                depth,
                name: name.as_deref(),
            }),
        };
        let mut records = Records::new(Mode::Legacy);
        records.add(now, "session_meta", &new.payload());
        put_file(w, &path, &id, &records.into_bytes())?;
        let source = Source::new(FORMAT, id, path);
        self.write_transcript(w, &source, agent.told)?;
        Ok(source)
    }

    /// Notes which calls started which sub-agents: an event behind each call, as the client has it.
    fn link_subagents(
        &self,
        w: &Writing<'_>,
        parent: &Source,
        started: &[StartedSubagent<'_>],
    ) -> Result<(), WriteError> {
        if started.is_empty() {
            return Ok(());
        }
        let mut log = SessionLog::open(w, &parent.path)?;
        let known = open(&parent.path, &log, w.env)?;
        let id = known.meta.id.clone();
        if let Mode::Paginated { .. } = &known.mode {
            // Its lines are numbered, so there is no place between them.
            let mut records = Records::new(known.mode);
            for agent in started {
                records.spawned(w.env.now(), &id, agent);
            }
            log.append(&records.into_bytes())?;
            return Ok(());
        }
        let by_call = started.iter().map(|agent| (agent.call, agent));
        let mut waiting: HashMap<&str, &StartedSubagent<'_>> = by_call.collect();
        log.whole().rewrite(w.durability, |old, new| {
            let mut old = BufReader::new(old);
            let (mut line, mut tree) = (Vec::new(), Tree::default());
            loop {
                line.clear();
                if old.read_until(b'\n', &mut line)? == 0 {
                    return Ok(());
                }
                new.write_all(&line)?;
                if tree.parse_into(&line).is_err() {
                    continue;
                }
                let record = tree.root(&line);
                let Some((call, time)) = called(record) else {
                    continue;
                };
                if let Some(agent) = waiting.remove(call.as_str()) {
                    let mut records = Records::new(Mode::Legacy);
                    records.spawned(time, &id, agent);
                    new.write_all(&records.into_bytes())?;
                }
            }
        })?;
        Ok(())
    }
}

/// A sub-agent's name, which the client shows on one line.
fn name_of(title: &str) -> String {
    let line = title.trim().lines().next().unwrap_or_default();
    let plain = line.chars().filter(|c| !c.is_control());
    plain.take(LONGEST_NAME).collect()
}

fn meta(source: &Source) -> Result<SessionMeta, WriteError> {
    match read_beginning(&source.path) {
        Beginning::Session(meta) => Ok(*meta),
        _ => Err(source.not_ours().into()),
    }
}

/// The session that began it all, and how deep below it a sub-agent of this one is.
fn root(parent: &Source, meta: &SessionMeta) -> (String, u64) {
    let (mut id, mut above, mut depth) = (meta.id.clone(), meta.parent.clone(), 1);
    while let Some(next) = above.take().filter(|_| depth < DEEPEST) {
        depth += 1;
        let file = store::find_rollout(&parent.path, &next);
        if let Some(Beginning::Session(meta)) = file.map(|file| read_beginning(&file)) {
            above = meta.parent;
        }
        id = next;
    }
    (id, depth)
}

/// The call that a line makes, and when.
fn called(record: Value<'_>) -> Option<(String, Moment)> {
    let payload = record.get("payload")?;
    let kind = payload.get("type")?.str()?;
    if !matches!(kind.as_ref(), "function_call" | "custom_tool_call") {
        return None;
    }
    let time = record.get("timestamp")?.str()?.parse().ok()?;
    Some((payload.get("call_id")?.str()?.into_owned(), time))
}

impl Records {
    /// Adds that a call of a session started another one, the client's way.
    fn spawned(&mut self, time: Moment, thread: &str, started: &StartedSubagent<'_>) {
        let (call, agent) = (started.call, started.session.id.as_str());
        let event = if self.turn().is_some() {
            let item = Object::new()
                .str("type", "CollabAgentToolCall")
                .str("id", call)
                .str("tool", "spawn_agent")
                .str("status", "completed")
                .str("sender_thread_id", thread)
                .raw("receiver_thread_ids", &Array::new().str(agent).finish())
                .raw("agents_states", b"{}");
            self.finished_item(time, &item.finish())
        } else {
            Object::new()
                .str("type", "sub_agent_activity")
                .str("event_id", call)
                .i64("occurred_at_ms", time.millis())
                .str("agent_thread_id", agent)
                .str("agent_path", &path_of(agent))
                .str("kind", "started")
        };
        self.add(time, "event_msg", &event.finish());
    }
}

/// The path of a sub-agent below the one that the client calls `root`, of the signs that it takes.
fn path_of(agent: &str) -> String {
    let name = format!("agent_{}", agent.replace('-', "_"));
    ["", "root", &name].join("/")
}
