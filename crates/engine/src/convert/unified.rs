//! Into Unified NDJSON and back: an export of one session, which carries its original by itself.

use std::path::{Path, PathBuf};

use rethread_catalog::sources_at;
use rethread_disk::{Created, Mode, SafeName, create_with, join};
use rethread_formats::carry::{
    CarriedAgent, CarriedFile, Scope, Seal, SessionFiles, join_checked, original_files, rows_folder,
};
use rethread_formats::{Agents, Conversation, FormatRef, Source, WriteError, Writing};
use rethread_model::Note;

use super::history::MessageHistory;
use super::subagents::{SubagentFamily, find_agent};
use super::{ConvertOptions, ConvertOutcome, Converted, report};
use crate::edit::make_root;
use crate::export::show_ndjson;
use crate::show::open;
use crate::{Error, Shown};

/// Writes an export of one session into a file of its own.
pub(super) fn write_export(
    w: &Writing<'_>,
    from: Conversation,
    ask: &ConvertOptions<'_>,
    mut notes: Vec<Note>,
) -> Result<Converted, Error> {
    let Some(root) = ask.root else {
        return Err(Error::Usage {
            message: "Unified NDJSON has no store of its own".to_owned(),
            hint: Some("name a folder with `-o DIR`".to_owned()),
        });
    };
    let source = from.source.clone();
    let id = from.session.head.id.clone();
    let name = SafeName::new(&format!("{id}.ndjson"));
    let name = name.map_err(|e| Error::usage(format!("`{id}` cannot be a file's name: {e}")))?;
    let path = join(root, &name);
    let SubagentFamily {
        agents,
        count,
        left_out,
    } = SubagentFamily::of_session(&from, ask.agents, &mut notes);
    let agents = agents.read.into_iter();
    let agents: Vec<(PathBuf, Shown)> = agents
        .filter_map(|agent| Some((agent_path(&path, &agent)?, whole_session(agent))))
        .collect();
    let shown = whole_session(from);
    let mut native = agents.len();
    let mut fates =
        report::compare_sessions(&shown.conversation, &shown.conversation, (count, native));
    if !ask.dry_run {
        make_root(w, ask.root)?;
        let mode = Mode::like(root)?;
        let paths = || agents.iter().map(|(path, _)| path).chain([&path]);
        if holds_same_files(&path, &shown.conversation, ask)? {
            return Ok(Converted {
                source,
                to: ask.to.slug(),
                id,
                path,
                way: ConvertOutcome::Before,
                fates,
                left_out,
                notes,
            });
        }
        // Files of sub-agents alone are of a run that was killed, or of a session of that name.
        if let Some(path) = paths().find(|path| std::fs::symlink_metadata(path).is_ok()) {
            let path = path.clone();
            return Err(WriteError::Exists { id, path }.into());
        }
        // A session is there when its own file is.
        for (path, agent) in &agents {
            // Its files are in that of its session.
            let _ = create_with(path, mode, w.durability, |out| {
                show_ndjson(w.env, agent, (false, false), out).map(drop)
            })?;
        }
        let made = create_with(&path, mode, w.durability, |out| {
            notes.extend(show_ndjson(w.env, &shown, (true, ask.agents), out)?);
            Ok(())
        })?;
        if made == Created::Existed {
            return Err(WriteError::Exists { id, path }.into());
        }
        if let Some(made) = sources_at(&path).first() {
            let made = open(made)?;
            let back = Agents::of(&made);
            let says = |agent: &Conversation| {
                let found = find_agent(&back, &agent.session.head.id);
                found.is_some_and(|found| report::says_the_same(agent, found))
            };
            let said = agents.iter().filter(|(_, agent)| says(&agent.conversation));
            native = said.count();
            fates = report::compare_sessions(&shown.conversation, &made, (count, native));
        }
    }
    Ok(Converted {
        source,
        to: ask.to.slug(),
        id,
        path,
        way: ConvertOutcome::Written,
        fates,
        left_out,
        notes,
    })
}

/// Whether an export is there that carries just the files that a session has now.
fn holds_same_files(
    path: &Path,
    of: &Conversation,
    ask: &ConvertOptions<'_>,
) -> Result<bool, Error> {
    let Some(there) = sources_at(path).first().and_then(|there| open(there).ok()) else {
        return Ok(false);
    };
    let carried = there.carried()?;
    let agents = ask.agents.then(|| Agents::of(of));
    let files = original_files(of, agents.as_ref())?;
    if carried.is_empty() || carried.len() != files.len() {
        return Ok(false);
    }
    for (carried, file) in carried.iter().zip(&files) {
        let seal = file
            .content_reader()
            .and_then(|mut reader| Seal::of_content(&mut reader));
        if carried.path != file.name || seal.ok().as_ref() != Some(&carried.seal) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// All of a session.
fn whole_session(conversation: Conversation) -> Shown {
    let all = conversation.session.indexed();
    Shown {
        entries: all.map(|(ix, _)| ix).collect(),
        conversation,
    }
}

/// The file of a sub-agent: its name goes on from that of its session. None if its id cannot be a part
/// of a name.
fn agent_path(main: &Path, agent: &Conversation) -> Option<PathBuf> {
    let stem = main.file_stem()?.to_str()?;
    let name = format!("{stem}.{}.ndjson", agent.session.head.id);
    let name = SafeName::new(&name).ok()?;
    Some(join(main.parent()?, &name))
}

/// A session as it reads when it is exported; none where it does not. The export goes into a file of
/// ours.
pub(super) fn exported_session(
    w: &Writing<'_>,
    source: &Source,
    path: &Path,
) -> Result<Option<Conversation>, Error> {
    let shown = whole_session(open(source)?);
    let _ = create_with(path, Mode::Private, w.durability, |out| {
        show_ndjson(w.env, &shown, (true, false), out).map(drop)
    })?;
    match sources_at(path).first() {
        Some(again) => Ok(Some(open(again)?)),
        None => Ok(None),
    }
}

/// The sub-agents that an export has beside it, with what they say as it reads when their originals are
/// exported.
pub(super) fn exported_agents(
    w: &Writing<'_>,
    here: &Conversation,
    original: &Source,
    (folder, scope): (&Path, Scope),
) -> Result<Vec<CarriedAgent>, Error> {
    let here = Agents::of(here);
    let mut carried = Vec::new();
    if here.read.is_empty() {
        return Ok(carried);
    }
    let originals = Agents::of(&open(original)?);
    for (at, agent) in here.read.iter().enumerate() {
        let id = &agent.session.head.id;
        let original = originals.read.iter().find(|o| o.session.head.id == *id);
        if let Some(original) = original {
            let path = folder.join(format!("again-{at}.ndjson"));
            let again = exported_session(w, &original.source, &path)?;
            carried.extend(again.map(|again| {
                let spoken = MessageHistory::only_digests(&again, &again, scope);
                CarriedAgent {
                    id: agent.source.id.clone(),
                    of: original.source.id.clone(),
                    marks: spoken.block_digests(),
                    shape: spoken.shape(),
                }
            }));
        }
    }
    Ok(carried)
}

/// The files that an export carries, by the names that their own format counts.
pub(super) struct CarriedFiles<'a> {
    pub(super) files: Vec<CarriedFile<'a>>,
    /// Where they go below this folder, in the same order.
    pub(super) goods: SessionFiles,
}

/// Where a session of an export was when it was exported.
struct ExportedLocation {
    /// The folder that held its files.
    folder: PathBuf,
    /// Its main file or folder.
    main: PathBuf,
    /// The folder that its format counts names from.
    base: PathBuf,
}

impl ExportedLocation {
    fn of_session(here: &Conversation, format: FormatRef, first: &CarriedFile<'_>) -> Self {
        let folder = PathBuf::from(&first.folder);
        let main = if format.store().keeps_folders() {
            folder.clone()
        } else {
            folder.join(&first.path)
        };
        let id = here.session.head.id.clone();
        let base = format
            .store()
            .base_folder(&Source::new(format, id, main.clone()));
        Self { folder, main, base }
    }
}

/// The folder that a session's format counts names from, where the session was exported.
pub(super) fn base_folder(
    here: &Conversation,
    format: FormatRef,
) -> Result<Option<PathBuf>, Error> {
    let files = here.carried()?;
    let first = files.first();
    Ok(first.map(|first| ExportedLocation::of_session(here, format, first).base))
}

/// What an export carries of a session of this format; none where it carries nothing. Names are those
/// below a folder that the files were in, by default the one that the format counts them from.
pub(super) fn carried_files<'a>(
    here: &'a Conversation,
    format: FormatRef,
    folder: &Path,
    base: Option<PathBuf>,
) -> Result<Option<CarriedFiles<'a>>, Error> {
    let files = here.carried()?;
    let Some(first) = files.first() else {
        return Ok(None);
    };
    let was = ExportedLocation::of_session(here, format, first);
    let ExportedLocation {
        folder: there,
        main,
        ..
    } = was;
    let base = base
        .filter(|base| main.starts_with(base))
        .unwrap_or(was.base);
    let id = here.session.head.id.clone();
    let named = |path: &Path| {
        let below = path.strip_prefix(&base).unwrap_or(path);
        let names = below.components().map(|c| c.as_os_str().to_string_lossy());
        names.collect::<Vec<_>>().join("/")
    };
    // Rows of a database: `opencode.db.rows/ID/TABLE.jsonl`, those of the session itself first.
    let mut agents: Vec<&str> = Vec::new();
    let mut names = Vec::new();
    for file in &files {
        let rows = file.path.rsplit_once(".rows/");
        names.push(match rows.and_then(|(_, rows)| rows.rsplit_once('/')) {
            Some((of, table)) if of == id => table.to_owned(),
            Some((of, table)) => {
                let at = agents.iter().position(|known| *known == of);
                let at = at.unwrap_or_else(|| {
                    agents.push(of);
                    agents.len() - 1
                });
                format!("{}{table}", rows_folder(at))
            }
            None => named(&there.join(&file.path)),
        });
    }
    let goods = SessionFiles {
        id,
        folder: folder.to_owned(),
        path: named(&main),
        names,
    };
    for name in &goods.names {
        join_checked(folder, name)?;
    }
    Ok(Some(CarriedFiles { files, goods }))
}
