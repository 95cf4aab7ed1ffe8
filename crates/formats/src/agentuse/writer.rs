//! Writing sessions.

use rethread_disk::{
    Created, Mode, SafeName, create as create_file, create_folder_with, ensure_folder,
};
use rethread_model::Note;

use super::append::{Adding, write_messages};
use super::create::{
    ParentSession, Plan, TRIES, bad_input, existing_folder, is_taken, project_folder,
    refuse_unknown,
};
use super::object::laid_out;
use super::steps::refuse_link;
use super::store::SESSION_JSON;
use super::ulid::UlidSource;
use super::{AgentUse, FORMAT, ulid};
use crate::fields::string_of;
use crate::kit::{bad_message, read_object};
use crate::{
    Appended, Attachments, Editor, Files, Fork, Keeps, Made, MessageInput, NewSession, Source,
    SubagentWriter, WriteError, Writer, Writing,
};

impl Writer for AgentUse {
    /// Starts a session.
    fn create(&self, w: &Writing<'_>, new: &NewSession) -> Result<Made, WriteError> {
        refuse_unknown(new)?;
        let document = match &new.session_json {
            Some(bytes) => read_object(bytes).map_err(bad_input)?,
            None => read_object(b"{}").map_err(bad_input)?,
        };
        let parent = new.parent.as_ref().map(ParentSession::read).transpose()?;
        let mut plan = Plan {
            w,
            new,
            given: document.root(),
            parent: parent.as_ref(),
            project: project_folder(w, new, document.root()),
        };
        let (sessions, project) = plan.home()?;
        let asked = new.id.clone().or_else(|| string_of(document.root(), "id"));
        for _ in 0..TRIES {
            let id = match &asked {
                Some(id) => id.clone(),
                None => UlidSource::new(w.env, &plan.salt()).next(),
            };
            if !ulid::is_strict(&id) {
                return Err(bad_input(format!(
                    "`{id}` cannot be a session's id: it is no ULID"
                )));
            }
            let bytes = plan.description(&id)?;
            let name = format!("{id}-{}", plan.agent_key(&bytes)?);
            let name = SafeName::new(&name).map_err(|e| bad_input(e.to_string()))?;
            let path = rethread_disk::join(&sessions, &name);
            if is_taken(&sessions, &id) {
                match &asked {
                    Some(_) => return Err(WriteError::Exists { id, path }),
                    None => continue,
                }
            }
            refuse_link(&sessions)?;
            let mode = Mode::like(existing_folder(&sessions))?;
            ensure_folder(&sessions, &mode, w.durability)?;
            let made = create_folder_with(&path, mode, w.durability, |folder| {
                let file = folder.join(SESSION_JSON);
                let _ = create_file(&file, &laid_out(&bytes), mode, w.durability)?;
                Ok::<(), WriteError>(())
            })?;
            match made {
                Created::New => {
                    return Ok(Made::of_path(id, path, project));
                }
                Created::Existed if asked.is_some() => return Err(WriteError::Exists { id, path }),
                Created::Existed => {}
            }
        }
        Err(bad_input("no free id was found"))
    }

    /// Adds messages to a session.
    fn append(
        &self,
        w: &Writing<'_>,
        source: &Source,
        messages: &[MessageInput],
    ) -> Result<Appended, WriteError> {
        write_messages(w, source, messages.len(), |session, i| {
            match messages.get(i) {
                Some(message) => Adding {
                    session,
                    steps: Vec::new(),
                }
                .input(message),
                None => Err(bad_message("no message was given")),
            }
        })
    }

    fn rename(&self, _: &Writing<'_>, _: &Source, _title: &str) -> Result<Vec<Note>, WriteError> {
        Err(FORMAT.cannot("titles"))
    }

    fn fork(&self, _: &Writing<'_>, _: &Source, _: &Fork) -> Result<Made, WriteError> {
        Err(FORMAT.cannot("forks"))
    }

    fn keeps(&self) -> Keeps {
        Keeps {
            attachments: Attachments {
                in_answers: Files::All,
                addresses: true,
                ..Attachments::default()
            },
            ..Keeps::default()
        }
    }

    fn subagents(&self) -> Option<&dyn SubagentWriter> {
        Some(self)
    }

    fn editor(&self) -> Option<&dyn Editor> {
        Some(self)
    }
}
