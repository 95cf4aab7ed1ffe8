//! New sessions.

use super::{host, refused};
use crate::pi::Flavour;
use crate::pi::manager::{Host, NewSessionOptions, SessionError, SessionManager};
use crate::write::refuse;
use crate::{Made, NewSession, WriteError, Writing};

/// Starts a session. Its file is there at once, with a header, so that it can be found.
pub(crate) fn create(
    flavour: &Flavour,
    w: &Writing<'_>,
    new: &NewSession,
) -> Result<Made, WriteError> {
    refuse_unknown(flavour, new)?;
    let host = host(flavour, w);
    let dir = match &new.root {
        Some(root) => Some(root.join("sessions").join(session_folder(&host, new))),
        None => host.custom_session_dir(),
    };
    let made = SessionManager::create(&host, &new.cwd, dir.as_deref()).and_then(|mut session| {
        if new.id.is_some() {
            session.new_session(NewSessionOptions {
                id: new.id.clone(),
                parent_session: None,
            })?;
        }
        finish(session, new.title.as_deref())
    });
    made.map_err(|e| refused(e, flavour, &new.cwd))
}

fn session_folder(host: &Host, new: &NewSession) -> String {
    crate::pi::session_folder(&host.resolve(&new.cwd))
}

/// What a session of this format has no place for is refused, not dropped.
fn refuse_unknown(flavour: &Flavour, new: &NewSession) -> Result<(), WriteError> {
    new.refuse_special(flavour.slug)?;
    let asked = [
        (new.agent_id.is_some(), "agent ids"),
        (new.agent_name.is_some(), "agent names"),
        (new.agent_version.is_some(), "agent versions"),
        (new.protocol.is_some(), "protocol"),
        (new.protocol_version.is_some(), "protocol"),
        (new.metadata.is_some(), "metadata"),
    ];
    refuse(flavour.slug, &asked)
}

/// Names a session, sees to it that its file is there, and says what was made.
fn finish(mut session: SessionManager, title: Option<&str>) -> Result<Made, SessionError> {
    if let Some(title) = title {
        session.append_session_info(title)?;
    }
    session.write_now()?;
    let path = session.session_file().unwrap_or(session.session_dir());
    Ok(Made {
        id: session.session_id().to_owned(),
        path: path.to_owned(),
        project: session.cwd().to_owned(),
        created: vec![path.to_owned()],
        notes: Vec::new(),
    })
}
