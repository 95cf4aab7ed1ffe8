//! New sessions: empty ones, and copies.

use std::path::PathBuf;

use super::{host, open, refused};
use crate::pi::Flavour;
use crate::pi::manager::{Host, Loaded, NewSessionOptions, SessionError, SessionManager, load};
use crate::write::refuse;
use crate::{Fork, Made, NewSession, OpenError, Source, WriteError, Writing};

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

/// Copies a session, or the way to one of its entries. Damaged lines are in no copy, so they are
/// told, or refused where that was asked for.
pub(crate) fn fork(
    flavour: &Flavour,
    w: &Writing<'_>,
    source: &Source,
    fork: &Fork,
) -> Result<Made, WriteError> {
    let host = host(flavour, w);
    let old = open(flavour, w, source)?;
    let damage = match load(&source.path)? {
        Loaded::Session(lines) => lines.passed_over,
        Loaded::Empty | Loaded::Foreign => Vec::new(),
    };
    if let Some(note) = damage.first().filter(|_| w.strict) {
        return Err(OpenError::Damaged {
            path: source.path.clone(),
            line: note.line,
            why: note.message.trim_end_matches("; skipped").to_owned(),
        }
        .into());
    }
    let cwd = fork.cwd.clone().unwrap_or_else(|| old.cwd().to_owned());
    let dir = folder_for(&host, &old, &cwd, source);
    let made = match &fork.at {
        None => SessionManager::fork_from(&host, &source.path, &cwd, dir.as_deref()),
        Some(at) => branched(&host, source, &at.id, (cwd, dir)),
    };
    let made = made.and_then(|session| finish(session, fork.title.as_deref()));
    let mut made = made.map_err(|e| refused(e, flavour, &source.path))?;
    made.notes.extend(damage);
    Ok(made)
}

/// A copy for the same folder stays beside its original.
fn folder_for(
    host: &Host,
    old: &SessionManager,
    cwd: &PathBuf,
    source: &Source,
) -> Option<PathBuf> {
    if old.cwd() == cwd {
        return source.path.parent().map(ToOwned::to_owned);
    }
    host.custom_session_dir()
}

fn branched(
    host: &Host,
    source: &Source,
    at: &str,
    (cwd, dir): (PathBuf, Option<PathBuf>),
) -> Result<SessionManager, SessionError> {
    let dir = match dir {
        Some(dir) => dir,
        None => host.default_session_dir(&cwd)?,
    };
    let mut session = SessionManager::open_in(host, &source.path, Some(&dir), Some(&cwd))?;
    session.create_branched_session(at)?;
    Ok(session)
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
