//! Starting a session.

use rethread_json::{Object, quote};
use rethread_model::Moment;
use rethread_project::Repository;

use crate::codex::SLUG;
use crate::write::{AskedFor, refuse_asked};
use crate::{NewSession, WriteError};

/// The version of the client whose manner we follow.
pub(in crate::codex) const CLIENT: &str = "0.166.0";

/// What a new session says about itself.
pub(in crate::codex) struct NewMeta<'a> {
    pub(in crate::codex) id: &'a str,
    pub(in crate::codex) created: Moment,
    pub(in crate::codex) cwd: &'a str,
    pub(in crate::codex) originator: &'a str,
    pub(in crate::codex) version: &'a str,
    pub(in crate::codex) forked_from: Option<&'a str>,
    pub(in crate::codex) paginated: bool,
    /// What started it, if it is a sub-agent.
    pub(in crate::codex) spawn: Option<Spawn<'a>>,
}

/// What a sub-agent says of the session that started it.
pub(in crate::codex) struct Spawn<'a> {
    pub(in crate::codex) parent: &'a str,
    /// The session that began it all.
    pub(in crate::codex) root: &'a str,
    pub(in crate::codex) depth: u64,
    pub(in crate::codex) name: Option<&'a str>,
}

impl Spawn<'_> {
    fn source(&self) -> Vec<u8> {
        let spawn = Object::new()
            .str("parent_thread_id", self.parent)
            .u64("depth", self.depth)
            .null("agent_path");
        let spawn = match self.name {
            Some(name) => spawn.str("agent_nickname", name),
            None => spawn.null("agent_nickname"),
        };
        let spawn = spawn.null("agent_role").finish();
        let spawn = Object::new().raw("thread_spawn", &spawn).finish();
        Object::new().raw("subagent", &spawn).finish()
    }
}

impl NewMeta<'_> {
    /// The payload of a `session_meta`. Without a provider: with another one than the user has set,
    /// the client would neither list the session nor go on with it.
    pub(in crate::codex) fn payload(&self) -> Vec<u8> {
        let git = git(self.cwd);
        let spawn = self.spawn.as_ref();
        let source = spawn.map_or_else(|| quote("cli"), Spawn::source);
        Object::new()
            .opt_str("session_id", spawn.map(|s| s.root))
            .str("id", self.id)
            .opt_str("forked_from_id", self.forked_from)
            .opt_str("parent_thread_id", spawn.map(|s| s.parent))
            .str("timestamp", &self.created.to_string())
            .str("cwd", self.cwd)
            .str("originator", self.originator)
            .str("cli_version", self.version)
            .raw("source", &source)
            .opt_str("thread_source", spawn.map(|_| "subagent"))
            .opt_str("agent_nickname", spawn.and_then(|s| s.name))
            .opt_str("history_mode", self.paginated.then_some("paginated"))
            .opt_raw("git", git.as_deref())
            .finish()
    }
}

fn git(cwd: &str) -> Option<Vec<u8>> {
    let repository = Repository::find(std::path::Path::new(cwd))?;
    let commit = repository.commit();
    let branch = repository.branch();
    if commit.is_none() && branch.is_none() {
        return None;
    }
    let git = Object::new()
        .opt_str("commit_hash", commit.as_deref())
        .opt_str("branch", branch.as_deref());
    Some(git.finish())
}

/// What a session of this format has no place for is refused, not dropped.
pub(in crate::codex) fn refuse_unknown(new: &NewSession) -> Result<(), WriteError> {
    new.refuse_special(SLUG)?;
    let asked = [
        AskedFor::value(new.agent_id.as_ref(), "agent ids"),
        AskedFor::value(new.protocol.as_ref(), "protocol"),
        AskedFor::value(new.protocol_version.as_ref(), "protocol"),
        AskedFor::value(new.metadata.as_ref(), "metadata"),
    ];
    refuse_asked(SLUG, &asked)
}
