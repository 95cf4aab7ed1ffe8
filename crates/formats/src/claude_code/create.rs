//! Starting a session.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rethread_disk::{Created, Mode, SafeName, create_with, ensure_folder, join};
use rethread_json::Document;
use rethread_project::is_visible;

use super::SLUG;
use super::store::{PROJECTS, config_folders, encode_cwd, is_uuid};
use crate::write::{AskedFor, refuse_asked};
use crate::{Env, NewSession, WriteError, Writing};

/// How often another id is tried when one is taken; with a seed, the first ones may be.
const TRIES: u32 = 100_000;

/// What a session of this format has no place for is refused, not dropped.
pub(super) fn refuse_unknown(new: &NewSession) -> Result<(), WriteError> {
    new.refuse_special(SLUG)?;
    let asked = [
        AskedFor::value(new.agent_id.as_ref(), "agent ids"),
        AskedFor::value(new.agent_name.as_ref(), "agent names"),
        AskedFor::value(new.protocol.as_ref(), "protocol"),
        AskedFor::value(new.protocol_version.as_ref(), "protocol"),
    ];
    refuse_asked(SLUG, &asked)
}

/// The folder without links, spelled as the client spells it.
pub(super) fn real_folder(folder: &Path) -> PathBuf {
    let real = Some(folder).filter(|folder| is_visible(folder));
    let Some(real) = real.and_then(|folder| std::fs::canonicalize(folder).ok()) else {
        return folder.to_owned();
    };
    // Windows marks such paths, and nobody else writes the mark.
    let plain = real.to_str().and_then(|p| p.strip_prefix(r"\\?\"));
    let plain = plain.filter(|p| !p.starts_with("UNC")).map(PathBuf::from);
    plain.unwrap_or(real)
}

/// The application's own data, which must be an object.
pub(super) fn metadata(new: &NewSession) -> Result<Option<Vec<u8>>, WriteError> {
    let Some(given) = &new.metadata else {
        return Ok(None);
    };
    let bad = |why: String| WriteError::BadInput(format!("the metadata {why}"));
    let compact = rethread_json::compact(given).map_err(|e| bad(format!("is not JSON: {e}")))?;
    let document = Document::parse(compact).map_err(|e| bad(format!("is not JSON: {e}")))?;
    if !document.root().is_object() {
        return Err(bad("is not a JSON object".to_owned()));
    }
    Ok(Some(document.into_bytes()))
}

/// The folder in which the sessions of a working folder are kept.
pub(super) fn project_folder(
    env: &Env,
    root: Option<&Path>,
    cwd: &Path,
) -> Result<PathBuf, WriteError> {
    let config = match root {
        Some(root) => root.to_owned(),
        None => config_folders(env)
            .into_iter()
            .next()
            .ok_or_else(|| WriteError::BadInput("no home folder is known".to_owned()))?,
    };
    let given = env.agent_variable("CLAUDE_CODE_PROJECT_DIR_NAME");
    let name = match given.and_then(|name| name.to_str()) {
        Some(name) => name.to_owned(),
        None => encode_cwd(&cwd.to_string_lossy()),
    };
    let name = SafeName::new(&name)
        .map_err(|e| WriteError::BadInput(format!("`{name}` cannot be a project's folder: {e}")))?;
    Ok(join(&config.join(PROJECTS), &name))
}

/// Makes a transcript under a fresh id, or under the one that was asked for.
pub(super) fn make_file(
    w: &Writing<'_>,
    folder: &Path,
    asked: Option<&str>,
    fill: impl Fn(&str, &mut dyn Write) -> io::Result<()>,
) -> Result<(String, PathBuf), WriteError> {
    if let Some(id) = asked.filter(|id| !is_uuid(id)) {
        let why = format!("`{id}` is no UUID, and the client lists no other sessions");
        return Err(WriteError::BadInput(why));
    }
    ensure_folder(folder, &Mode::Private, w.durability)?;
    for _ in 0..TRIES {
        let id = match asked {
            Some(id) => id.to_owned(),
            None => w.env.uuid(b"session").to_string(),
        };
        let path = folder.join(format!("{id}.jsonl"));
        // A session's own folder may outlive it, and belongs to it alone.
        let is_taken = path.with_extension("").exists();
        let fill = |out: &mut dyn Write| fill(&id, out);
        if !is_taken && create_with(&path, Mode::Private, w.durability, fill)? == Created::New {
            return Ok((id, path));
        }
        if asked.is_some() {
            return Err(WriteError::Exists { id, path });
        }
    }
    Err(WriteError::BadInput("no free id was found".to_owned()))
}
