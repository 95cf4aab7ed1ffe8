//! Writing sessions, in the manner of the client: both streams, and nothing that it would refuse.

pub(super) mod agent;
pub(super) mod append;
pub(super) mod create;
pub(super) mod fork;
pub(super) mod message;
pub(super) mod records;
pub(super) mod rename;
pub(super) mod transcript;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rethread_disk::{Mode, create_with, ensure_folder};
use rethread_model::Moment;

use super::SLUG;
use super::store::SESSIONS;
use crate::{Env, WriteError, Writing};

pub(super) use rename::add_name;

/// How often another id is tried when one is taken; with a seed, the first ones may be.
const TRIES: u32 = 100_000;

/// The home that new sessions go to.
pub(super) fn codex_home(env: &Env, named: Option<&Path>) -> Result<PathBuf, WriteError> {
    if let Some(named) = named {
        return Ok(named.to_owned());
    }
    if let Some(home) = env.agent_variable("CODEX_HOME") {
        return Ok(env.cwd.join(home));
    }
    let home = env.homes.first().map(|h| h.join(".codex"));
    home.ok_or_else(|| WriteError::BadInput("no home folder is known".to_owned()))
}

/// The file of a new session in a home.
pub(in crate::codex) fn path_of(home: &Path, id: &str, now: Moment) -> PathBuf {
    // `2026-11-15T12:00:00.000Z`
    let time = now.to_string();
    let part = |range: std::ops::Range<usize>| time.get(range).unwrap_or_default().to_owned();
    let folder = home
        .join(SESSIONS)
        .join(part(0..4))
        .join(part(5..7))
        .join(part(8..10));
    let time = part(0..19).replace(':', "-");
    folder.join(format!("rollout-{time}-{id}.jsonl"))
}

/// An id of version 7, as the client makes them: it holds the moment.
pub(in crate::codex) fn fresh_id(env: &Env, salt: &[u8]) -> String {
    let millis = u64::try_from(env.now().millis()).unwrap_or(0);
    let bytes = env.random_bytes(salt);
    let mut random = [0; 10];
    random.copy_from_slice(&bytes[..10]);
    uuid::Builder::from_unix_timestamp_millis(millis, &random)
        .into_uuid()
        .to_string()
}

/// A fresh id, and the file of a session with it.
pub(in crate::codex) fn fresh_place(
    env: &Env,
    home: &Path,
    now: Moment,
    salt: &[u8],
) -> (String, PathBuf) {
    let place = |_| {
        let id = fresh_id(env, salt);
        let path = path_of(home, &id, now);
        (id, path)
    };
    let mut places = (0..TRIES).map(place);
    let free = places.find(|(_, path)| !path.exists());
    free.unwrap_or_else(|| place(TRIES))
}

/// Puts a new session in its place; never over one that is there.
pub(in crate::codex) fn put_file(
    w: &Writing<'_>,
    path: &Path,
    id: &str,
    bytes: &[u8],
) -> Result<(), WriteError> {
    put_with(w, path, id, |out| out.write_all(bytes))
}

/// As [`put`], for a session that is written piece by piece.
pub(in crate::codex) fn put_with(
    w: &Writing<'_>,
    path: &Path,
    id: &str,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), WriteError> {
    if let Some(folder) = path.parent() {
        ensure_folder(folder, &Mode::Private, w.durability)?;
    }
    match create_with(path, Mode::Private, w.durability, write)? {
        rethread_disk::Created::New => Ok(()),
        rethread_disk::Created::Existed => Err(WriteError::Exists {
            id: id.to_owned(),
            path: path.to_owned(),
        }),
    }
}

pub(in crate::codex) fn unsupported(what: &'static str) -> WriteError {
    WriteError::Unsupported { format: SLUG, what }
}
