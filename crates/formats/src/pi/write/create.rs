//! New sessions.

use crate::pi::Flavour;
use crate::pi::manager::{Host, SessionError, SessionManager};
use crate::write::refuse;
use crate::{Made, NewSession, WriteError};

pub(in crate::pi) fn session_folder(host: &Host, new: &NewSession) -> String {
    crate::pi::session_folder(&host.resolve(&new.cwd))
}

/// What a session of this format has no place for is refused, not dropped.
pub(in crate::pi) fn refuse_unknown(flavour: &Flavour, new: &NewSession) -> Result<(), WriteError> {
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
pub(in crate::pi) fn finish(
    mut session: SessionManager,
    title: Option<&str>,
) -> Result<Made, SessionError> {
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
