//! Names: of folders, files, sessions and entries.

use std::path::{Component, Path, PathBuf};

use rethread_model::Moment;

use super::error::SessionError;
use crate::Env;

/// The name of the folder that holds the sessions of a working directory: one leading separator
/// goes, and every other separator and colon becomes `-`. That loses something, so the name is
/// never read back; the header of a session says where it works.
///
/// ```
/// # use std::path::Path;
/// # use rethread_formats::pi::session_folder;
/// assert_eq!(session_folder(Path::new("/home/me/a b")), "--home-me-a b--");
/// assert_eq!(session_folder(Path::new("C:\\Users\\me")), "--C--Users-me--");
/// assert_eq!(session_folder(Path::new("/")), "----");
/// ```
pub fn session_folder(cwd: &Path) -> String {
    crate::pi::encode_cwd(&cwd.to_string_lossy())
}

/// The name of a session's file.
pub(crate) fn session_file(timestamp: &str, id: &str) -> String {
    format!("{}_{id}.jsonl", timestamp.replace([':', '.'], "-"))
}

/// An id for a new session: a UUID of version 7, which sorts by time.
pub(crate) fn session_id(env: &Env, now: Moment) -> String {
    let mut random = [0; 10];
    let bytes = env.random_bytes(b"pi session");
    for (to, from) in random.iter_mut().zip(bytes) {
        *to = from;
    }
    let millis = u64::try_from(now.millis()).unwrap_or(0);
    uuid::Builder::from_unix_timestamp_millis(millis, &random)
        .into_uuid()
        .to_string()
}

/// How often a short id is tried before a long one is taken.
const TRIES: usize = 100;

/// An id for a new entry: eight hexadecimal digits that are not taken.
pub(crate) fn entry_id(env: &Env, is_taken: impl Fn(&str) -> bool) -> String {
    for _ in 0..TRIES {
        let mut id = env.uuid(b"pi entry").simple().to_string();
        id.truncate(8);
        if !is_taken(&id) {
            return id;
        }
    }
    env.uuid(b"pi entry").to_string()
}

/// Takes an id that a user chose for a session.
pub(crate) fn check_session_id(id: &str) -> Result<(), SessionError> {
    let is_inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let is_edge = |c: char| c.is_ascii_alphanumeric();
    if id.chars().all(is_inner) && id.starts_with(is_edge) && id.ends_with(is_edge) {
        Ok(())
    } else {
        Err(SessionError::InvalidSessionId { id: id.to_owned() })
    }
}

/// The absolute path, without `.` and `..`, and without looking at the disk.
pub(crate) fn resolve(base: &Path, path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in base.join(path).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

/// Whether a name is that of a session's file.
pub(crate) fn is_session_file(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "jsonl")
}
