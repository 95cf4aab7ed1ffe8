//! New sessions.

use crate::pi::Flavour;
use crate::pi::manager::{Host, SessionError, SessionManager};
use crate::write::{AskedFor, refuse_asked};
use crate::{Made, NewSession, WriteError};

pub(in crate::pi) fn session_folder(host: &Host, new: &NewSession) -> String {
    crate::pi::session_folder(&host.resolve(&new.cwd))
}

/// What a session of this format has no place for is refused, not dropped.
pub(in crate::pi) fn refuse_unknown(flavour: &Flavour, new: &NewSession) -> Result<(), WriteError> {
    new.refuse_special(flavour.slug)?;
    let asked = [
        AskedFor::value(new.agent_id.as_ref(), "agent ids"),
        AskedFor::value(new.agent_name.as_ref(), "agent names"),
        AskedFor::value(new.agent_version.as_ref(), "agent versions"),
        AskedFor::value(new.protocol.as_ref(), "protocol"),
        AskedFor::value(new.protocol_version.as_ref(), "protocol"),
        AskedFor::value(new.metadata.as_ref(), "metadata"),
    ];
    refuse_asked(flavour.slug, &asked)
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
    let (id, project) = (session.session_id().to_owned(), session.cwd().to_owned());
    Ok(Made::of_path(id, path.to_owned(), project))
}
