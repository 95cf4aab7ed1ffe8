//! Starting a session, alone or as a sub-agent of another.

use std::path::{Path, PathBuf};

use rethread_disk::read_small;
use rethread_json::{Document, Object, Value, quote};

use super::info::folder_id;
use super::object::merged_object;
use super::rules::{SessionPlace, check_session_object, first_error};
use super::store::{PROJECT, SESSION, SESSION_JSON, SUBAGENT, data_folders};
use super::{FORMAT, SLUG, key};
use crate::carry::InstallTarget;
use crate::fields::string_of;
use crate::kit::read_object;
use crate::{AgentKey, NewSession, OpenError, ProjectKey, Source, WriteError, Writing};

/// The agent of a session for which nobody named one.
const NO_AGENT: &str = "rethread";

/// The model of a session for which nobody named one.
const NO_MODEL: &str = "unknown";

/// How often another id is tried when one is taken.
pub(super) const TRIES: u32 = 1000;

/// The folder for the sessions of a working folder.
pub(super) fn sessions_of(w: &Writing<'_>, place: &InstallTarget) -> Result<PathBuf, WriteError> {
    let new = NewSession {
        cwd: place.cwd.clone(),
        root: place.root.clone(),
        ..NewSession::default()
    };
    let document = read_object(b"{}").map_err(bad_input)?;
    let mut plan = Plan {
        w,
        new: &new,
        given: document.root(),
        parent: None,
        project: project_folder(w, &new, document.root()),
    };
    Ok(plan.home()?.0)
}

pub(super) fn bad_input(why: impl Into<String>) -> WriteError {
    WriteError::BadInput(why.into())
}

/// What the format has no place for.
pub(super) fn refuse_unknown(new: &NewSession) -> Result<(), WriteError> {
    let asked = [
        (new.title.is_some(), "titles"),
        (new.protocol.is_some(), "protocol"),
        (new.protocol_version.is_some(), "protocol version"),
        (
            new.metadata.is_some(),
            "metadata; give fields with `--session-json`",
        ),
    ];
    match asked.into_iter().find(|(is_asked, _)| *is_asked) {
        Some((_, what)) => Err(WriteError::Unsupported { format: SLUG, what }),
        None => Ok(()),
    }
}

/// Whether a session of this id is there, of whichever agent.
pub(super) fn is_taken(sessions: &Path, id: &str) -> bool {
    let entries = std::fs::read_dir(sessions).into_iter().flatten().flatten();
    let begins = |e: &std::fs::DirEntry| e.file_name().to_string_lossy().starts_with(id);
    entries.into_iter().any(|e| begins(&e))
}

/// The nearest folder upward that is there, whose mode new ones follow.
pub(super) fn existing_folder(folder: &Path) -> &Path {
    folder.ancestors().find(|f| f.is_dir()).unwrap_or(folder)
}

/// The session that starts a new one.
pub(super) struct ParentSession {
    folder: PathBuf,
    id: String,
    description: Document,
}

impl ParentSession {
    pub(super) fn read(source: &Source) -> Result<Self, WriteError> {
        if source.format != FORMAT {
            return Err(bad_input(format!(
                "the parent is a session of {}, not of {SLUG}",
                source.format.slug()
            )));
        }
        let path = source.path.join(SESSION_JSON);
        let bytes = read_small(&path)?;
        let damaged = |why: String| OpenError::Damaged {
            path: path.clone(),
            line: None,
            why,
        };
        let description = read_object(&bytes).map_err(damaged)?;
        Ok(Self {
            id: folder_id(&source.path).unwrap_or_else(|| source.id.clone()),
            folder: source.path.clone(),
            description,
        })
    }
}

/// The project's root that is written: the given one, else that of the folder.
pub(super) fn project_folder(w: &Writing<'_>, new: &NewSession, given: Value<'_>) -> PathBuf {
    let said = given.at(&["project", "root"]).and_then(Value::str);
    match said {
        Some(root) => PathBuf::from(root.into_owned()),
        None => key::project_root(&new.cwd, &w.env.homes),
    }
}

/// A session that is to be made.
pub(super) struct Plan<'a> {
    pub(super) w: &'a Writing<'a>,
    pub(super) new: &'a NewSession,
    pub(super) given: Value<'a>,
    pub(super) parent: Option<&'a ParentSession>,
    pub(super) project: PathBuf,
}

impl Plan<'_> {
    /// The folder that the session's own comes into, and the project.
    pub(super) fn home(&mut self) -> Result<(PathBuf, PathBuf), WriteError> {
        if let Some(parent) = self.parent {
            if self.new.root.is_some() || self.new.project_key.is_some() {
                return Err(bad_input(
                    "a sub-agent's session lies in that of its parent",
                ));
            }
            let root = parent.description.root().at(&["project", "root"]);
            let root = root
                .and_then(Value::str)
                .map(|r| PathBuf::from(r.into_owned()));
            let project = root.unwrap_or_else(|| self.project.clone());
            self.project.clone_from(&project);
            return Ok((parent.folder.join(SUBAGENT), project));
        }
        let data = match &self.new.root {
            Some(root) => root.clone(),
            None => self.data()?,
        };
        let key = self.key();
        Ok((
            data.join(PROJECT).join(key).join(SESSION),
            self.project.clone(),
        ))
    }

    /// What makes ids of the same seed differ: where the session will lie.
    pub(super) fn salt(&self) -> Vec<u8> {
        let parent = self.parent.map(|p| p.id.clone());
        parent.unwrap_or_else(|| self.key()).into_bytes()
    }

    fn data(&self) -> Result<PathBuf, WriteError> {
        let mut folders = data_folders(self.w.env);
        match folders.len() {
            1 => Ok(folders.remove(0)),
            _ => Err(bad_input("several homes are named; name one to write to")),
        }
    }

    /// The name of the project's folder.
    fn key(&self) -> String {
        let root = std::path::absolute(&self.project).unwrap_or_else(|_| self.project.clone());
        let hash =
            || key::of_repository(&root).unwrap_or_else(|| key::of_path(&root.to_string_lossy()));
        match self.new.project_key {
            Some(ProjectKey::Global) => key::GLOBAL.to_owned(),
            Some(ProjectKey::Hash) => hash(),
            None => key::of_repository(&root).unwrap_or_else(|| key::GLOBAL.to_owned()),
        }
    }

    /// The agent's part of the folder's name.
    pub(super) fn agent_key(&self, description: &[u8]) -> Result<String, WriteError> {
        let document = read_object(description).map_err(bad_input)?;
        let agent = document.root().get("agent");
        let of_agent = |key| agent.and_then(|a| string_of(a, key));
        let said = match self.new.agent_key {
            Some(AgentKey::Id) => Some(of_agent("id").ok_or_else(|| {
                bad_input("the agent has no id for the folder's name; give one with `--agent-id`")
            })?),
            Some(AgentKey::Name) | None => of_agent("name"),
        };
        Ok(key::sanitized_name(&said.unwrap_or_default()))
    }

    /// The session's description, checked.
    pub(super) fn description(&self, id: &str) -> Result<Vec<u8>, WriteError> {
        let now = self.w.env.now().millis();
        let agent = self.agent()?;
        let of_parent = |key: &str| Some(self.parent?.description.root().get(key)?.raw().to_vec());
        let root = quote(&self.project.to_string_lossy());
        let cwd = quote(&self.new.cwd.to_string_lossy());
        let project = of_parent("project").filter(|_| self.given.get("project").is_none());
        let project = match project {
            Some(project) => project,
            None => merged_object(
                self.given.get("project"),
                "project",
                &[("root", Some(root)), ("cwd", Some(cwd))],
            )
            .map_err(bad_input)?,
        };
        let time = Some(now.to_string().into_bytes());
        let time = merged_object(
            self.given.get("time"),
            "time",
            &[("created", time.clone()), ("updated", time)],
        )
        .map_err(bad_input)?;
        let own = |key: &str| self.given.get(key).map(|v| v.raw().to_vec());
        let version = self.new.agent_version.as_deref().map(quote);
        let version = version
            .or_else(|| own("version"))
            .or_else(|| of_parent("version"));
        let ours = || quote(concat!("rethread-", env!("CARGO_PKG_VERSION")));
        let model = own("model").or_else(|| of_parent("model"));
        let parent = self
            .parent
            .map(|p| quote(&p.id))
            .or_else(|| own("parentSessionID"));
        let id = quote(id);
        let mut members: Vec<(&str, Option<Vec<u8>>)> = vec![
            ("parentSessionID", parent),
            ("agent", Some(agent)),
            ("model", Some(model.unwrap_or_else(|| quote(NO_MODEL)))),
            ("version", Some(version.unwrap_or_else(ours))),
            ("mock", own("mock")),
            (
                "config",
                Some(own("config").unwrap_or_else(|| b"{}".to_vec())),
            ),
            ("project", Some(project)),
        ];
        // The program itself has another order for sub-agents.
        let (status, trigger) = (("status", own("status")), ("trigger", own("trigger")));
        members.extend(match self.parent {
            Some(_) => [("id", Some(id)), status, trigger],
            None => [trigger, ("id", Some(id)), status],
        });
        members.push(("time", Some(time)));
        let mut object = Object::new();
        for (key, value) in &members {
            object = object.opt_raw(key, value.as_deref());
        }
        for (key, value) in self.given.members() {
            let name = key.str().unwrap_or_default();
            if !members.iter().any(|(known, _)| *known == name) {
                object = object.raw(&name, value.raw());
            }
        }
        let bytes = object.finish();
        self.check(&bytes)?;
        Ok(bytes)
    }

    fn agent(&self) -> Result<Vec<u8>, WriteError> {
        let said = self.given.get("agent");
        let flag = |value: &Option<String>| value.as_deref().map(quote);
        let (id, name) = (flag(&self.new.agent_id), flag(&self.new.agent_name));
        let given_name = said.and_then(|a| a.get("name")).map(|v| v.raw().to_vec());
        let name = name.or(given_name).or_else(|| id.clone());
        let is_subagent = if self.parent.is_some() {
            "true"
        } else {
            "false"
        };
        let agent = merged_object(
            said,
            "agent",
            &[
                ("id", id.clone()),
                (
                    "name",
                    Some(name.clone().unwrap_or_else(|| quote(NO_AGENT))),
                ),
                ("filePath", None),
                ("description", None),
                ("isSubAgent", Some(is_subagent.as_bytes().to_vec())),
            ],
        )
        .map_err(bad_input)?;
        // What the command line says wins.
        let document = read_object(&agent).map_err(bad_input)?;
        let mut patch = rethread_json::Patch::new(document.root());
        for (key, value) in [("id", id), ("name", name)] {
            if let Some(value) = value {
                patch.set(document.root(), key, &value);
            }
        }
        Ok(patch.finish())
    }

    /// Nothing that is against the document is written.
    fn check(&self, bytes: &[u8]) -> Result<(), WriteError> {
        let document = read_object(bytes).map_err(bad_input)?;
        let place = SessionPlace {
            id: string_of(document.root(), "id").unwrap_or_default(),
            parent: self.parent.map(|p| p.id.clone()),
        };
        match first_error(bytes, |sheet, root| {
            check_session_object(sheet, root, &place);
        }) {
            Some(why) => Err(bad_input(format!("the session: {why}"))),
            None => Ok(()),
        }
    }
}
