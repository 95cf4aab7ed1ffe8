//! Sub-agents: logs in a folder that is named like the session that began it all.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use rethread_disk::{Created, Mode, SafeName, create, ensure_folder, join};
use rethread_json::{Array, Object, Patch, Tree, quote};

use super::LockedSession;
use crate::fields::string_of;
use crate::gemini::project::{CHATS, project_hash};
use crate::gemini::{FORMAT, Gemini};
use crate::{
    Source, StartedSubagent, SubagentTranscript, SubagentWriter, WriteError, Writer, Writing,
};

impl SubagentWriter for Gemini {
    fn write_subagent(
        &self,
        w: &Writing<'_>,
        parent: &Source,
        agent: &SubagentTranscript<'_>,
    ) -> Result<Source, WriteError> {
        let source = start_agent(w, parent)?;
        self.write_transcript(w, &source, agent.told)?;
        Ok(source)
    }

    /// Notes beside calls which sub-agents they started.
    fn link_subagents(
        &self,
        w: &Writing<'_>,
        parent: &Source,
        started: &[StartedSubagent<'_>],
    ) -> Result<(), WriteError> {
        if started.is_empty() {
            return Ok(());
        }
        let mut session = LockedSession::lock(w, parent)?;
        session.log.whole().rewrite(w.durability, |old, new| {
            let mut old = BufReader::new(old);
            let mut line = Vec::new();
            while {
                line.clear();
                old.read_until(b'\n', &mut line)? > 0
            } {
                match linked(&line, started) {
                    Some(with_agents) => new.write_all(&with_agents)?,
                    None => new.write_all(&line)?,
                }
            }
            Ok(())
        })?;
        Ok(())
    }
}

/// Starts the log of a sub-agent. The client keeps all of them in one folder, also those that
/// sub-agents started.
pub(in crate::gemini) fn start_agent(
    w: &Writing<'_>,
    parent: &Source,
) -> Result<Source, WriteError> {
    let head = FORMAT.reader().read(parent)?.session.head;
    let folder = agents_folder(&parent.path, &head.id)?;
    let cwd = head.workspace.path.unwrap_or_default();
    let id = w.env.uuid(b"agent").to_string();
    let now = w.env.now().to_string();
    let first = Object::new()
        .str("sessionId", &id)
        .str("projectHash", &project_hash(&cwd))
        .str("startTime", &now)
        .str("lastUpdated", &now)
        .str("kind", "subagent")
        .raw("directories", &Array::new().str(&cwd).finish());
    let mut line = first.finish();
    line.push(b'\n');
    let mode = Mode::like(parent.path.parent().unwrap_or(&parent.path))?;
    ensure_folder(&folder, &mode, w.durability)?;
    let path = folder.join(format!("{id}.jsonl"));
    match create(&path, &line, mode, w.durability)? {
        Created::New => Ok(Source::new(FORMAT, id, path)),
        Created::Existed => Err(WriteError::Exists { id, path }),
    }
}

fn agents_folder(parent: &Path, id: &str) -> Result<PathBuf, WriteError> {
    let folder = parent.parent().unwrap_or(parent);
    let is_agent = folder.parent().is_some_and(|chats| chats.ends_with(CHATS));
    if is_agent {
        return Ok(folder.to_owned());
    }
    let bad = |e| WriteError::BadInput(format!("`{id}` cannot be a folder\'s name: {e}"));
    let name = SafeName::new(id).map_err(bad)?;
    Ok(join(folder, &name))
}

/// A line with calls that started sub-agents, with these; none if there are no such calls in it.
fn linked(line: &[u8], started: &[StartedSubagent<'_>]) -> Option<Vec<u8>> {
    memchr::memmem::find(line, b"toolCalls")?;
    let tree = Tree::parse(line).ok()?;
    let root = tree.root(line);
    let mut patch = Patch::new(root);
    let mut is_changed = false;
    for call in root.get("toolCalls")?.items() {
        let id = string_of(call, "id");
        let agent = started.iter().find(|one| Some(one.call) == id.as_deref());
        if let Some(agent) = agent {
            patch.set(call, "agentId", &quote(&agent.session.id));
            is_changed = true;
        }
    }
    is_changed.then(|| {
        let mut line = patch.finish();
        line.truncate(line.trim_ascii_end().len());
        line.push(b'\n');
        line
    })
}
