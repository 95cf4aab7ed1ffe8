//! New sessions.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use rethread_disk::{
    Created, DiskError, Mode, SafeName, create_folder_with, create_with, ensure_folder, open_read,
};
use rethread_json::Object;

use super::place::{chats_folder, store_folder};
use crate::carry::InstallTarget;
use crate::gemini::calls::sanitized_text;
use crate::gemini::project::project_hash;
use crate::gemini::{FORMAT, SLUG, store};
use crate::write::{AskedFor, refuse_asked};
use crate::{Made, NewSession, Source, WriteError, Writing};

/// How often another id is tried when one is taken; with a seed, the first ones may be.
const TRIES: u32 = 100_000;

/// The client's folder to write to.
pub(in crate::gemini) fn store_root(
    w: &Writing<'_>,
    asked: Option<&Path>,
) -> Result<PathBuf, WriteError> {
    let root = asked.map(Path::to_owned).or_else(|| store_folder(w.env));
    root.ok_or_else(|| WriteError::BadInput("no home is known".to_owned()))
}

/// The folder of a project, made where there is none.
pub(in crate::gemini) fn project_folder(
    w: &Writing<'_>,
    place: &InstallTarget,
) -> Result<PathBuf, WriteError> {
    let root = store_root(w, place.root.as_deref())?;
    let chats = chats_folder(w, &root, &named_project(&place.cwd)?)?;
    Ok(chats.parent().unwrap_or(&chats).to_owned())
}

/// What a session of this format has no place for is refused, not dropped.
pub(in crate::gemini) fn refuse_unknown(new: &NewSession) -> Result<(), WriteError> {
    let asked = [
        AskedFor::value(new.agent_id.as_ref(), "agent ids"),
        AskedFor::value(new.agent_name.as_ref(), "agent names"),
        AskedFor::value(new.agent_version.as_ref(), "agent versions"),
        AskedFor::value(new.protocol.as_ref(), "protocol"),
        AskedFor::value(new.protocol_version.as_ref(), "protocol"),
        AskedFor::value(new.metadata.as_ref(), "metadata"),
    ];
    refuse_asked(SLUG, &asked)
}

/// A project's path as text, which is what the client keeps.
pub(in crate::gemini) fn named_project(project: &Path) -> Result<String, WriteError> {
    let text = project.to_str().map(str::to_owned);
    text.ok_or_else(|| {
        let shown = project.display();
        WriteError::BadInput(format!(
            "the path `{shown}` is not UTF-8, as the client needs it"
        ))
    })
}

/// What the first line says.
pub(in crate::gemini) struct NewHeader<'a> {
    pub(in crate::gemini) project: &'a str,
    pub(in crate::gemini) title: Option<&'a str>,
    /// What is noted of the session that this one is copied from.
    pub(in crate::gemini) fork: Option<&'a [u8]>,
}

/// What a new session takes over from another one.
pub(in crate::gemini) struct NewPast<'a> {
    /// Writes its messages, each of them a line.
    pub(in crate::gemini) messages: &'a WriteMessages<'a>,
    /// Files with answers of tools that were too long, with the names that they get.
    pub(in crate::gemini) outputs: Vec<(PathBuf, SafeName)>,
}

/// What writes messages.
pub(super) type WriteMessages<'a> = dyn Fn(&mut dyn Write) -> io::Result<()> + 'a;

impl NewPast<'_> {
    pub(in crate::gemini) fn nothing() -> Self {
        Self {
            messages: &|_| Ok(()),
            outputs: Vec::new(),
        }
    }
}

/// Writes a new log: its first line, and messages.
pub(in crate::gemini) fn write_session(
    w: &Writing<'_>,
    chats: &Path,
    asked: Option<&str>,
    header: &NewHeader<'_>,
    past: &NewPast<'_>,
) -> Result<Made, WriteError> {
    let now = w.env.now().to_string();
    let mode = Mode::like(chats)?;
    for _ in 0..TRIES {
        let id = match asked {
            Some(id) => id.to_owned(),
            None => w.env.uuid(b"session").to_string(),
        };
        let path = path_of(chats, &id, &now)?;
        let taken = |path: PathBuf| WriteError::Exists {
            id: id.clone(),
            path,
        };
        if let Some(other) = store::with_id(&Source::new(FORMAT, id.clone(), path.clone())) {
            if asked.is_some() {
                return Err(taken(other));
            }
            continue;
        }
        let first = Object::new()
            .str("sessionId", &id)
            .str("projectHash", &project_hash(header.project))
            .str("startTime", &now)
            .str("lastUpdated", &now)
            .str("kind", "main")
            .opt_str("summary", header.title)
            .opt_raw(crate::gemini::meta::OWN, header.fork)
            .finish();
        // The answers of tools first: whoever sees the log finds them.
        let outputs = save_outputs(w, chats, &id, past, mode)?;
        let made = create_with(&path, mode, w.durability, |out| {
            let mut out = BufWriter::new(out);
            out.write_all(&first)?;
            out.write_all(b"\n")?;
            (past.messages)(&mut out)?;
            out.flush()
        });
        if let (Some(outputs), Ok(Created::Existed) | Err(_)) = (outputs, &made) {
            rethread_disk::remove_folder(&outputs)?;
        }
        match made? {
            Created::New => {
                return Ok(Made::of_path(id, path, PathBuf::from(header.project)));
            }
            Created::Existed if asked.is_some() => return Err(taken(path)),
            Created::Existed => {}
        }
    }
    Err(WriteError::BadInput("no free id was found".to_owned()))
}

/// Copies answers of tools into the folder of a new session, and gives that, if there are any. They
/// appear together or not at all.
fn save_outputs(
    w: &Writing<'_>,
    chats: &Path,
    id: &str,
    past: &NewPast<'_>,
    mode: Mode,
) -> Result<Option<PathBuf>, WriteError> {
    let project = chats.parent().filter(|_| !past.outputs.is_empty());
    let folder = project.and_then(|project| store::outputs_folder(project, id));
    let Some(folder) = folder else {
        return Ok(None);
    };
    if let Some(all) = folder.parent() {
        ensure_folder(all, &mode, w.durability)?;
    }
    let made = create_folder_with(&folder, mode, w.durability, |inside| {
        for (file, name) in &past.outputs {
            let mut from = open_read(file)?;
            let to = rethread_disk::join(inside, name);
            // Nobody else writes into a folder that has no name yet.
            let _ = create_with(&to, mode, w.durability, |out| {
                io::copy(&mut from, out).map(drop)
            })?;
        }
        Ok::<(), DiskError>(())
    })?;
    match made {
        Created::New => Ok(Some(folder)),
        Created::Existed => Err(WriteError::Exists {
            id: id.to_owned(),
            path: folder,
        }),
    }
}

/// The file of a session that begins now.
fn path_of(chats: &Path, id: &str, now: &str) -> Result<PathBuf, WriteError> {
    let bad = |why: &str| WriteError::BadInput(format!("`{id}` cannot be a session's id: {why}"));
    if id.is_empty() || sanitized_text(id) != id {
        return Err(bad("it may hold letters, digits, `-` and `_`"));
    }
    let time = now.get(..16).unwrap_or(now).replace(':', "-");
    let short: String = id.chars().take(8).collect();
    // What the client takes for the end of an id. It must be another than the beginning: whenever the
    // client resumes a session, it begins a file whose name ends with that, and deletes that file at
    // its next start with all others whose names end so.
    let own: String = project_hash(id).chars().take(8).collect();
    let name = SafeName::new(&format!("session-{time}-{short}-{own}.jsonl"));
    let name = name.map_err(|e| bad(&e.to_string()))?;
    Ok(rethread_disk::join(chats, &name))
}
