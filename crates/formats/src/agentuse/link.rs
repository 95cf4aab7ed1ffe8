//! Which calls started which sub-agents.

use rethread_disk::{Mode, read_small, replace};
use rethread_json::{Document, Object, Patch, Value, quote};

use super::files::FilesHere;
use super::{AgentUse, FORMAT};
use crate::fields::string_of;
use crate::{
    NewSession, Source, StartedSubagent, SubagentTranscript, SubagentWriter, WriteError, Writer,
    Writing,
};

impl SubagentWriter for AgentUse {
    fn write_subagent(
        &self,
        w: &Writing<'_>,
        parent: &Source,
        agent: &SubagentTranscript<'_>,
    ) -> Result<Source, WriteError> {
        let new = NewSession {
            parent: Some(parent.clone()),
            ..NewSession::default()
        };
        let made = self.create(w, &new)?;
        let source = Source::new(FORMAT, made.id, made.path);
        self.write_transcript(w, &source, agent.told)?;
        Ok(source)
    }

    /// Notes in the parts of a session which of their calls started which sub-agents. Only a finished call
    /// has a place for that.
    fn link_subagents(
        &self,
        w: &Writing<'_>,
        parent: &Source,
        started: &[StartedSubagent<'_>],
    ) -> Result<(), WriteError> {
        let files = FilesHere::scan(&parent.path)?;
        for file in files.exchanges.iter().flat_map(|e| &e.parts) {
            if let Some(bytes) = linked(read_small(&file.path)?, started) {
                replace(&file.path, &bytes, Mode::Private, w.durability)?;
            }
        }
        Ok(())
    }
}

/// A part that is one of these calls, with the session that it started.
fn linked(part: Vec<u8>, started: &[StartedSubagent<'_>]) -> Option<Vec<u8>> {
    let document = Document::parse(part).ok()?;
    let part = document.root();
    let call = string_of(part, "callID")?;
    let agent = started.iter().find(|agent| agent.call == call)?.session;
    let state = part.get("state")?;
    if string_of(state, "status")? != "completed" {
        return None;
    }
    let mut patch = Patch::new(part);
    if let Some(metadata) = state.get("metadata").filter(|m: &Value<'_>| m.is_object()) {
        patch.set(metadata, "sessionID", &quote(&agent.id));
    } else {
        let made = Object::new().str("sessionID", &agent.id).finish();
        patch.set(state, "metadata", &made);
    }
    Some(patch.finish())
}
