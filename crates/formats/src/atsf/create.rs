//! Starting a store, and starting a thread in it.

use std::path::{Path, PathBuf};

use rethread_disk::{
    Created, DiskError, Mode, SafeName, create as create_file, create_folder_with, ensure_folder,
};
use rethread_json::{Document, InsertAt, Object, Patch, quote};
use rethread_model::{Agent, Workspace, WorktreeRef};
use rethread_project::{Repository, relative};

use super::SPEC_VERSION;
use super::config::Config;
use super::manifest::NO_AGENT;
use super::store::{AGENT, CONFIG, IGNORE, THREADS};
use crate::{NewSession, WriteError, Writing};

/// The default ignore file, byte for byte the document's.
///
/// In spite of its words it does not ignore `thread.json`: descriptions of threads are tracked.
pub const GITIGNORE: &str = "\
# Agent Thread Storage Format - default .gitignore
# Conversation threads are not committed by default.
# They can be large and may contain sensitive content.

# Ignore message logs and binary assets
threads/*/messages.jsonl
threads/*/assets/

# Thread metadata is also ignored by default.
# Uncomment the next line to track thread metadata (useful for team awareness):
# !threads/*/thread.json
";

/// How often another id is tried when one is taken; with a seed, the first ones may be.
const TRIES: u32 = 100_000;

pub(super) fn ensure_store(w: &Writing<'_>, project: &Path) -> Result<Vec<PathBuf>, WriteError> {
    let mode = Mode::like(project)?;
    let agent = project.join(AGENT);
    refuse_links_out(project, &agent)?;
    refuse_links_out(project, &agent.join(THREADS))?;
    ensure_folder(&agent.join(THREADS), &mode, w.durability)?;
    let mut config = rethread_json::pretty(&new_config(), 2, 0);
    config.push(b'\n');
    let mut created = Vec::new();
    for (name, bytes) in [(CONFIG, config.as_slice()), (IGNORE, GITIGNORE.as_bytes())] {
        let path = agent.join(name);
        if create_file(&path, bytes, mode, w.durability)? == Created::New {
            created.push(path);
        }
    }
    Ok(created)
}

/// A repository may hold links. One that leads out of the project is not written through.
fn refuse_links_out(project: &Path, folder: &Path) -> Result<(), WriteError> {
    let inside = match (
        std::fs::canonicalize(folder),
        std::fs::canonicalize(project),
    ) {
        (Ok(folder), Ok(project)) => folder.starts_with(project),
        // What is not there yet is made.
        (Err(_), _) => std::fs::symlink_metadata(folder).is_err(),
        (_, Err(_)) => true,
    };
    if inside {
        return Ok(());
    }
    let cause = std::io::Error::other("it is a link that leads out of the project");
    Err(DiskError::Write {
        path: folder.to_owned(),
        cause,
    }
    .into())
}

pub(super) fn new_config() -> Vec<u8> {
    let by = Object::new()
        .str("name", "Rethread")
        .str("version", env!("CARGO_PKG_VERSION"));
    Object::new()
        .str("specVersion", SPEC_VERSION)
        .raw("createdBy", &by.finish())
        .finish()
}

/// The nearest folder upward that is there, whose mode new ones follow.
pub(super) fn existing_folder(folder: &Path) -> &Path {
    folder.ancestors().find(|f| f.is_dir()).unwrap_or(folder)
}

/// Makes a thread's folder with all that is in it: it appears whole or not at all.
pub(crate) fn make_folder(
    w: &Writing<'_>,
    project: &Path,
    asked: Option<&str>,
    fill: impl Fn(&str, &Path, Mode) -> Result<(), WriteError>,
) -> Result<(String, PathBuf), WriteError> {
    let threads = project.join(AGENT).join(THREADS);
    let mode = Mode::like(&threads)?;
    for _ in 0..TRIES {
        let id = match asked {
            Some(id) => id.to_owned(),
            None => w.env.uuid(b"thread").to_string(),
        };
        let name = SafeName::new(&id)
            .map_err(|e| WriteError::BadInput(format!("`{id}` cannot be a thread's id: {e}")))?;
        let path = rethread_disk::join(&threads, &name);
        let made = create_folder_with(&path, mode, w.durability, |folder| fill(&id, folder, mode))?;
        match made {
            Created::New => return Ok((id, path)),
            Created::Existed if asked.is_some() => return Err(WriteError::Exists { id, path }),
            Created::Existed => {}
        }
    }
    Err(WriteError::BadInput("no free id was found".to_owned()))
}

pub(super) fn agent_of(new: &NewSession, config: &Config) -> Result<Agent, WriteError> {
    let id = new.agent_id.clone().or_else(|| config.agent_id());
    let id = id.unwrap_or_else(|| NO_AGENT.to_owned());
    if let Some(version) = &new.protocol_version {
        let number = Document::parse(version.clone().into_bytes());
        if !number.is_ok_and(|n| n.root().f64().is_some()) {
            let why = format!("the protocol version `{version}` is not a number");
            return Err(WriteError::BadInput(why));
        }
    }
    let name = new.agent_name.clone().unwrap_or_else(|| id.clone());
    Ok(Agent {
        id: Some(id),
        name: Some(name),
        version: new.agent_version.clone(),
        role: None,
        protocol: new.protocol.clone(),
        protocol_version: new.protocol_version.clone(),
    })
}

/// Where the work is done, with what git says of it.
pub(crate) fn workspace_of(project: &Path, cwd: &Path) -> Workspace {
    let repository = Repository::find(cwd);
    let branch = repository.as_ref().and_then(Repository::branch);
    let worktree = repository
        .as_ref()
        .filter(|r| r.is_linked_worktree())
        .map(|r| WorktreeRef {
            path: r.root().display().to_string(),
            branch: branch.clone(),
        });
    Workspace {
        path: Some(cwd.display().to_string()),
        relative: Some(relative(project, cwd)),
        root: None,
        encoded: None,
        remote: None,
        commit: repository.as_ref().and_then(Repository::commit),
        branch,
        worktree,
    }
}

/// The application's own data, with what the project's defaults and we ourselves note in it.
pub(super) fn session_metadata(new: &NewSession, config: &Config) -> Result<Vec<u8>, WriteError> {
    let given = new.metadata.as_deref().unwrap_or(b"{}");
    let given = rethread_json::compact(given)
        .map_err(|e| WriteError::BadInput(format!("the metadata is not JSON: {e}")))?;
    let document =
        Document::parse(given).map_err(|e| WriteError::BadInput(format!("the metadata: {e}")))?;
    let root = document.root();
    if !root.is_object() {
        return Err(WriteError::BadInput(
            "the metadata is not a JSON object".to_owned(),
        ));
    }
    let mut patch = Patch::new(root);
    if let Some(mode) = config
        .interaction_mode()
        .filter(|_| root.get("interactionMode").is_none())
    {
        patch.insert(root, "interactionMode", &quote(&mode), InsertAt::Last);
    }
    if root.get("rethread").is_none() {
        let note = Object::new().u64("logBytes", 0).finish();
        patch.insert(root, "rethread", &note, InsertAt::Last);
    }
    Ok(patch.finish())
}
