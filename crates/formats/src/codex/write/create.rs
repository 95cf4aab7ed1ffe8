//! Starting a session.

use rethread_json::{Object, quote};
use rethread_model::Moment;
use rethread_project::Repository;

use super::records::{Mode, Records};
use super::{fresh_place, home, path_of, put, rename};
use crate::codex::SLUG;
use crate::write::refuse;
use crate::{Made, NewSession, WriteError, Writing};

/// The version of the client whose manner we follow.
pub(super) const CLIENT: &str = "0.166.0";

/// What a new session says about itself.
pub(super) struct NewMeta<'a> {
    pub(super) id: &'a str,
    pub(super) created: Moment,
    pub(super) cwd: &'a str,
    pub(super) originator: &'a str,
    pub(super) version: &'a str,
    pub(super) forked_from: Option<&'a str>,
    pub(super) paginated: bool,
    /// What started it, if it is a sub-agent.
    pub(super) spawn: Option<Spawn<'a>>,
}

/// What a sub-agent says of the session that started it.
pub(super) struct Spawn<'a> {
    pub(super) parent: &'a str,
    /// The session that began it all.
    pub(super) root: &'a str,
    pub(super) depth: u64,
    pub(super) name: Option<&'a str>,
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
    pub(super) fn payload(&self) -> Vec<u8> {
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

/// Starts a session.
pub(crate) fn create(w: &Writing<'_>, new: &NewSession) -> Result<Made, WriteError> {
    refuse_unknown(new)?;
    let now = w.env.now();
    let home = home(w.env, new.root.as_deref())?;
    let (id, path) = match &new.id {
        Some(id) if uuid::Uuid::try_parse(id).is_ok() && id.len() == 36 => {
            (id.clone(), path_of(&home, id, now))
        }
        Some(id) => {
            return Err(WriteError::BadInput(format!(
                "`{id}` is no UUID, and the client finds sessions by such names only"
            )));
        }
        None => fresh_place(w.env, &home, now, b"session"),
    };
    let cwd = new.cwd.to_string_lossy();
    let meta = NewMeta {
        id: &id,
        created: now,
        cwd: &cwd,
        originator: new.agent_name.as_deref().unwrap_or("rethread"),
        version: new.agent_version.as_deref().unwrap_or(CLIENT),
        forked_from: None,
        paginated: false,
        spawn: None,
    };
    let mut records = Records::new(Mode::Legacy);
    records.add(now, "session_meta", &meta.payload());
    let title = new.title.as_deref().map(rename::checked).transpose()?;
    put(w, &path, &id, &records.into_bytes())?;
    let note = title.and_then(|title| rename::name_new(w, &path, &id, title));
    Ok(Made {
        id,
        created: vec![path.clone()],
        path,
        project: new.cwd.clone(),
        notes: note.into_iter().collect(),
    })
}

/// What a session of this format has no place for is refused, not dropped.
fn refuse_unknown(new: &NewSession) -> Result<(), WriteError> {
    new.refuse_special(SLUG)?;
    let asked = [
        (new.agent_id.is_some(), "agent ids"),
        (new.protocol.is_some(), "protocol"),
        (new.protocol_version.is_some(), "protocol"),
        (new.metadata.is_some(), "metadata"),
    ];
    refuse(SLUG, &asked)
}
