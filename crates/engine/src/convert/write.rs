//! Writing a session as the target's client would have.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use rethread_disk::{DiskError, Mode, ScratchFolder, create_with, ensure_folder};
use rethread_formats::carry::{
    CarriedAgent, InstallTarget, PackedFiles, PackedOriginal, Scope, Seal, SessionFiles, own_files,
};
use rethread_formats::{
    Agents, Conversation, Env, FormatRef, Made, NewSession, Part, PartKind, Source, Transcript,
    WriteError, Writing, local_path,
};
use rethread_model::{Entry, EntryIx, Kind, Note, Session, Severity};

use super::counting::CountingBodies;
use super::earlier::WholeConversion;
use super::history::MessageHistory;
use super::messages::may_be_said;
use super::subagents::{AgentsReadBack, SubagentFamily};
use super::target::install_target;
use super::transcript::{ConvertExtent, TranscriptPlan};
use super::{ConvertOptions, ConvertOutcome, Converted, put_note, report};
use crate::Error;
use crate::edit::{make_root, remember_project};
use crate::show::open;

/// How often it is written with other ids when the store has those; with a seed, the first ones may
/// be taken.
const TRIES: u32 = 1000;

/// Writes a session, or a part of it. A whole one is not written again if it is there already, from a
/// run that was killed, say.
pub(super) fn write_session(
    w: &Writing<'_>,
    from: &Conversation,
    extent: &ConvertExtent,
    ask: &ConvertOptions<'_>,
    mut notes: Vec<Note>,
) -> Result<Converted, Error> {
    let counting = CountingBodies::of_conversation(from);
    let told = TranscriptPlan::of_extent(from, &counting, extent, ask.to);
    if told.steps().next().is_none() {
        return Err(Error::Refused {
            message: format!("nothing is said in `{}`", from.source.id),
            hint: "`rethread append` says something in it".to_owned(),
        });
    }
    let place = install_target(w, ask, folder_of(w.env, from))?;
    let family = SubagentFamily::of_session(from, ask.agents, &mut notes);
    let packed = if ask.lean {
        None
    } else {
        Some(pack_files(from, &family.agents)?)
    };
    let mut whole = None;
    if matches!(extent, ConvertExtent::Whole) && !ask.dry_run {
        let seals = match &packed {
            Some(packed) => packed.file_seals().cloned().collect(),
            None => file_seals(from, &family.agents)?,
        };
        let known = WholeConversion::of_session(from, seals, ask);
        if let Some(made) = known.find_made(w, ask, &place.cwd) {
            return Ok(Converted {
                source: from.source.clone(),
                to: ask.to.slug(),
                id: made.session.head.id.clone(),
                path: made.source.path.clone(),
                way: ConvertOutcome::Before,
                fates: report::compare_sessions(from, &made, (family.count, family.count)),
                left_out: family.left_out,
                notes,
            });
        }
        whole = Some(known);
    }
    let mut tries = 0..TRIES;
    // What is prepared is nobody's yet.
    let prepare = &w.unsynced();
    loop {
        let staged =
            StagedSession::write_staged(prepare, (from, &family), &told, (ask.to, &place))?;
        let mut made = open(&staged.source)?;
        let back = AgentsReadBack::read_agents(&made, &family, &staged.agents)?;
        let made_counting = CountingBodies::of_conversation(&made);
        let spoken = MessageHistory::only_digests(&made, &made_counting, Scope::Told);
        let count = (family.count, back.native);
        let fates = report::compare_counted(
            &counting.full_inventory(),
            &made_counting.full_inventory(),
            count,
        );
        if let Some(packed) = &packed {
            made = embed_original(prepare, from, packed, (&made, &spoken, &back.carried))?;
        }
        refuse_damage(&made)?;
        let mut path = PathBuf::new();
        if !ask.dry_run {
            let goods = session_files(prepare, (&made, &back.agents), staged.folder.path())?;
            make_root(w, ask.root)?;
            notes.extend(
                whole
                    .as_ref()
                    .and_then(|whole| whole.note_begin(w, &goods.id)),
            );
            match ask.to.installable()?.install(w, &place, &goods) {
                Err(WriteError::Exists { .. }) if tries.next().is_some() => continue,
                put => {
                    let put = put?;
                    put.main_path().clone_into(&mut path);
                    notes.extend(put_note(&put, ask.to));
                }
            }
            notes.extend(remember_made(w, &made, &path, &place));
        }
        return Ok(Converted {
            source: from.source.clone(),
            to: ask.to.slug(),
            id: made.session.head.id.clone(),
            path,
            way: ConvertOutcome::Written,
            fates,
            left_out: family.left_out,
            notes,
        });
    }
}

fn remember_made(
    w: &Writing<'_>,
    made: &Conversation,
    path: &Path,
    place: &InstallTarget,
) -> Vec<Note> {
    let made = Made {
        id: made.session.head.id.clone(),
        path: path.to_owned(),
        project: place.cwd.clone(),
        created: Vec::new(),
        notes: Vec::new(),
    };
    remember_project(w, made).notes
}

/// What is said in a session as it reads in another format, once it was told to that: as when it was
/// converted to it.
pub(super) fn converted_digests(
    w: &Writing<'_>,
    from: &Conversation,
    (to, root): (FormatRef, Option<PathBuf>),
    scope: Scope,
) -> Result<Vec<u64>, Error> {
    let place = InstallTarget {
        root,
        cwd: folder_of(w.env, from).unwrap_or_else(|| w.env.cwd.clone()),
        before: None,
    };
    let family = SubagentFamily::default();
    let told = TranscriptPlan::new(from, from, to, scope);
    let staged = StagedSession::write_staged(&w.unsynced(), (from, &family), &told, (to, &place))?;
    let made = open(&staged.source)?;
    Ok(MessageHistory::only_digests(&made, &made, scope).block_digests())
}

/// What was written must read back.
pub(super) fn refuse_damage(made: &Conversation) -> Result<(), Error> {
    let mut notes = made.notes.iter();
    match notes.find(|note| note.severity == Severity::Damage) {
        None => Ok(()),
        Some(damage) => Err(Error::Verification(format!(
            "what was written does not read back: {}",
            damage.message
        ))),
    }
}

/// The folder that a session says its work is done in, if it can be one of this machine.
fn folder_of(env: &Env, conversation: &Conversation) -> Option<PathBuf> {
    let workspace = conversation.session.head.workspace.path.as_ref()?;
    local_path(env, workspace)
}

/// A session in a folder of our own.
struct StagedSession {
    folder: ScratchFolder,
    source: Source,
    /// The sub-agents that were written with it, by their places in the family.
    agents: Vec<(usize, Source)>,
}

impl StagedSession {
    fn write_staged(
        w: &Writing<'_>,
        (from, family): (&Conversation, &SubagentFamily),
        told: &TranscriptPlan<'_>,
        (to, place): (FormatRef, &InstallTarget),
    ) -> Result<Self, Error> {
        let folder = ScratchFolder::new()?;
        to.installable()?.stage(w, place, folder.path())?;
        let writer = to.writable()?;
        let title = from.session.head.title.as_ref().map(|t| t.text.clone());
        let mut new = NewSession {
            cwd: place.cwd.clone(),
            root: Some(folder.path().to_owned()),
            title: title.filter(|t| !t.trim().is_empty()),
            ..NewSession::default()
        };
        let made = match writer.create(w, &new) {
            // Some formats have no titles.
            Err(WriteError::Unsupported { .. }) if new.title.is_some() => {
                new.title = None;
                writer.create(w, &new)?
            }
            made => made?,
        };
        let source = Source::new(to, made.id, made.path);
        let mut steps = told.steps().map(|(told, _)| told);
        writer.write_steps(w, &source, Transcript::new(told.has_left, &mut steps))?;
        drop(steps);
        let (agents, _) = family.write_agents(w, from, (to, &source), HashMap::new())?;
        Ok(Self {
            folder,
            source,
            agents,
        })
    }
}

/// Packs the files of a session.
fn pack_files(from: &Conversation, agents: &Agents) -> Result<PackedFiles, Error> {
    let packed = PackedFiles::pack_files(own_files(from, agents)?);
    Ok(packed.map_err(|cause| unreadable_error(from, cause))?)
}

/// What the files of a session are.
fn file_seals(from: &Conversation, agents: &Agents) -> Result<Vec<Seal>, Error> {
    let mut seals = Vec::new();
    for (_, mut reader) in own_files(from, agents)? {
        seals.push(Seal::of_content(&mut reader).map_err(|cause| unreadable_error(from, cause))?);
    }
    Ok(seals)
}

fn unreadable_error(from: &Conversation, cause: io::Error) -> DiskError {
    DiskError::Read {
        path: from.source.path.clone(),
        cause,
    }
}

/// Embeds the files that a session came from into the one that was made of it. They must read back, and
/// nothing else may be said then.
fn embed_original(
    w: &Writing<'_>,
    from: &Conversation,
    packed: &PackedFiles,
    (made, spoken, agents): (&Conversation, &MessageHistory, &[CarriedAgent]),
) -> Result<Conversation, Error> {
    let (marks, shape) = (spoken.block_digests(), spoken.shape());
    let source = &from.source;
    let packing = PackedOriginal {
        from: source.format.slug(),
        id: &source.id,
        path: &name_of(from),
        cwd: from.session.head.workspace.path.as_deref(),
        marks: &marks,
        shape: &shape,
        agents,
    };
    let carrier = made.source.format.installable()?;
    carrier.embed_values(w, &made.source, &mut packed.embedded_values(&packing))?;
    let again = open(&made.source)?;
    let mut wanted = packed.embedded_values(&packing);
    let mut is_same = true;
    carrier.visit_values(&again, &mut |value| {
        is_same &= wanted
            .next()
            .is_some_and(|wanted| wanted.is_ok_and(|wanted| wanted == value));
    })?;
    is_same &= wanted.next().is_none();
    let says_so = is_longer(&made.session, &again.session)
        || MessageHistory::only_digests(&again, &again, Scope::Told).block_digests() == marks;
    if !is_same || !says_so {
        let what = "what travels along does not read back; `--lean` leaves it out";
        return Err(Error::Verification(what.to_owned()));
    }
    Ok(again)
}

/// Whether a session is another one with entries behind it that say nothing.
fn is_longer(before: &Session, now: &Session) -> bool {
    let is_same = |((was, old), (is, new)): ((EntryIx, &Entry), (EntryIx, &Entry))| {
        let head = |e: &Entry| (e.kind, e.visibility, e.parent, e.logical_parent, e.time);
        head(old) == head(new)
            && (old.beside, old.side) == (new.beside, new.side)
            && before.id(was) == now.id(is)
            && before.origin(was) == now.origin(is)
    };
    let says = |entry: &Entry| {
        let counts = matches!(
            entry.kind,
            Kind::Compaction | Kind::BranchSummary | Kind::ContextEdit
        );
        counts || may_be_said(entry, Scope::All)
    };
    let count = before.entries().len();
    now.entries().len() >= count
        && before.indexed().zip(now.indexed()).all(is_same)
        && !now.entries().iter().skip(count).any(says)
}

/// The files of a session and of its sub-agents, as they lie in a folder.
pub(super) fn session_files(
    w: &Writing<'_>,
    (of, agents): (&Conversation, &Agents),
    scratch: &Path,
) -> Result<SessionFiles, Error> {
    let files = own_files(of, agents)?;
    let base = of.source.format.store().base_folder(&of.source);
    let path = name_of(of);
    // Rows have no file of their own; what came along of them may lie here as it was before.
    let is_rows = |part: &Part| matches!(part.kind, PartKind::Rows { .. });
    if !of.native.parts.iter().any(is_rows) {
        return Ok(SessionFiles {
            id: of.source.id.clone(),
            folder: base,
            path,
            names: files.into_iter().map(|(name, _)| name).collect(),
        });
    }
    let folder = scratch.join("rows");
    ensure_folder(&folder, &Mode::Private, w.durability)?;
    let mut names = Vec::new();
    for (name, mut reader) in files {
        let path = folder.join(&name);
        if let Some(inner) = path.parent() {
            ensure_folder(inner, &Mode::Private, w.durability)?;
        }
        let _ = create_with(&path, Mode::Private, w.durability, |out| {
            std::io::copy(&mut reader, out).map(drop)
        })?;
        names.push(name);
    }
    Ok(SessionFiles {
        id: of.source.id.clone(),
        folder,
        path,
        names,
    })
}

/// The main file or folder of a session, by its name among its files.
fn name_of(conversation: &Conversation) -> String {
    let source = &conversation.source;
    let base = conversation.source.format.store().base_folder(source);
    let below = source.path.strip_prefix(&base).unwrap_or(&source.path);
    let names = below.components().map(|c| c.as_os_str().to_string_lossy());
    names.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::disallowed_methods, reason = "files are laid out for the test")]
    fn what_does_not_read_back_is_not_wrong_usage() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("2026-11-15T12-00-00-000Z_a.jsonl");
        std::fs::write(
            &path,
            "{\"type\":\"session\",\"version\":3,\"id\":\"a\"}\n{half\n",
        )
        .unwrap();
        let made = open(&Source::new(
            rethread_formats::by_name("pi").unwrap(),
            "a".to_owned(),
            path,
        ))
        .unwrap();
        let refused = refuse_damage(&made).unwrap_err();
        assert!(!refused.is_usage(), "{refused}");
        assert_eq!(refused.kind(), "verification");
        assert!(refused.to_string().contains("does not read back"));
        assert!(refused.hint().is_some());
    }
}
