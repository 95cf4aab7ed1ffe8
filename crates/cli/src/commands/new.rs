//! `new`: start a session.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use rethread_engine::{
    AgentKey, FormatRef, Made, NewSession, ProjectKey, find, new_session, wants_worktree,
};
use rethread_render::one_line;
use serde_json::json;

use crate::args::{WriteFlags, title};
use crate::commands::worktree;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{print, print_json};

/// Start a session.
///
/// Prints its id and path.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  rethread new --format atsf --title \"Fix the sign-in\"
  rethread new --format atsf --agent-id codex --metadata '{\"ticket\":17}' --json
  rethread new --format agentuse --agent-name Planner
  rethread new --format agentuse --agent-name Coder --parent 01K9
  echo '{\"model\":\"openai:gpt-5\"}' | rethread new --format agentuse --session-json -")]
pub(crate) struct New {
    /// The format to write.
    #[arg(long, value_name = "FORMAT")]
    format: String,
    /// Write as if DIR were the agent's root: the project, or for `agentuse` its data folder.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// The session that starts this one as a sub-agent.
    #[arg(long, value_name = "SESSION")]
    parent: Option<String>,
    /// Do not make a git worktree, although the project's defaults ask for one.
    #[arg(long)]
    no_worktree: bool,
    /// Trust the project's hooks as they are now, where a worktree is made.
    #[arg(long)]
    trust: bool,
    #[command(flatten)]
    session: SessionFlags,
    #[command(flatten)]
    write: WriteFlags,
}

/// What can be said of a new session.
#[derive(Args, Debug)]
pub(crate) struct SessionFlags {
    /// The title.
    #[arg(long, value_parser = title)]
    title: Option<String>,
    /// The folder that the work is done in; the current one by default.
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// The id; a fresh one by default.
    #[arg(long)]
    id: Option<String>,
    /// The agent's identifier; the project's default, else `rethread`.
    #[arg(long, value_name = "ID")]
    agent_id: Option<String>,
    /// The agent's name for people; its identifier by default.
    #[arg(long, value_name = "NAME")]
    agent_name: Option<String>,
    /// The agent's version.
    #[arg(long, value_name = "VERSION")]
    agent_version: Option<String>,
    /// The protocol that drives the agent, such as `acp`.
    #[arg(long, value_name = "NAME")]
    protocol: Option<String>,
    /// That protocol's version, a number.
    #[arg(long, value_name = "NUMBER")]
    protocol_version: Option<String>,
    /// A JSON object of your own data.
    #[arg(long, value_name = "JSON")]
    metadata: Option<String>,
    /// Read fields of the session's description from FILE, in the format's own vocabulary; `-` is
    /// standard input.
    #[arg(long, value_name = "FILE")]
    session_json: Option<PathBuf>,
    /// What names the project's folder outside of git: `global` by default.
    #[arg(long, value_name = "KEY")]
    project_key: Option<ProjectKeyName>,
    /// What of the agent names the session's folder: its `name` by default.
    #[arg(long, value_name = "KEY")]
    agent_key: Option<AgentKeyName>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ProjectKeyName {
    /// One folder for all projects.
    Global,
    /// The hash of the project's path.
    Hash,
}

impl From<ProjectKeyName> for ProjectKey {
    fn from(name: ProjectKeyName) -> Self {
        match name {
            ProjectKeyName::Global => Self::Global,
            ProjectKeyName::Hash => Self::Hash,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum AgentKeyName {
    /// Its name.
    Name,
    /// Its identifier.
    Id,
}

impl From<AgentKeyName> for AgentKey {
    fn from(name: AgentKeyName) -> Self {
        match name {
            AgentKeyName::Name => Self::Name,
            AgentKeyName::Id => Self::Id,
        }
    }
}

impl SessionFlags {
    pub(crate) fn into_session(self, context: &Context) -> Result<NewSession, Failure> {
        let cwd = context.folder(self.cwd.as_deref());
        if !cwd.is_dir() {
            return Err(Failure::usage(format!("`{}` is no folder", cwd.display())));
        }
        Ok(NewSession {
            cwd,
            root: None,
            id: self.id,
            title: self.title,
            agent_id: self.agent_id,
            agent_name: self.agent_name,
            agent_version: self.agent_version,
            protocol: self.protocol,
            protocol_version: self.protocol_version,
            metadata: self.metadata.map(String::into_bytes),
            parent: None,
            session_json: self.session_json.as_deref().map(read).transpose()?,
            project_key: self.project_key.map(ProjectKey::from),
            agent_key: self.agent_key.map(AgentKey::from),
        })
    }
}

pub(crate) fn run(context: &Context, args: New) -> Result<Exit, Failure> {
    let format = format_named(&args.format)?;
    let mut session = args.session.into_session(context)?;
    session.root = args.output.map(|dir| context.folder(Some(&dir)));
    if let Some(parent) = &args.parent {
        session.parent = Some(find(&context.env, parent)?);
    }
    if session.root.is_none() && !args.no_worktree && wants_worktree(format, &session.cwd)? {
        let add = worktree::for_session(session);
        return worktree::add(context, add, args.trust, args.write);
    }
    let made = new_session(&context.writing(args.write), format, &session)?;
    print_made(context, &made)
}

/// All of a file, or of standard input for `-`.
fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    if file.as_os_str() != "-" {
        return Ok(rethread_disk::read_small(file)?);
    }
    let mut bytes = Vec::new();
    let mut input = io::stdin().lock().take(rethread_disk::SMALL);
    input.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The format that the user named.
pub(crate) fn format_named(name: &str) -> Result<FormatRef, Failure> {
    Ok(rethread_engine::format_named("format", name)?)
}

/// Prints a new session's id and path.
pub(crate) fn print_made(context: &Context, made: &Made) -> Result<Exit, Failure> {
    let path = made.path.to_string_lossy();
    if context.json {
        print_json(&json!({ "id": made.id, "path": path }))?;
    } else {
        print(&format!("{}\t{}", one_line(&made.id), one_line(&path)))?;
    }
    Ok(context.notes(&made.notes))
}
