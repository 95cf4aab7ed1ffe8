//! Writing a session as the target's client would have.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rethread_disk::{DiskError, Mode, ScratchFolder, create_with, ensure_folder};
use rethread_formats::carry::{
    CarriedAgent, Goods, Luggage, Packing, Place, Scope, luggage, own_files,
};
use rethread_formats::{
    Agents, Conversation, Env, FormatRef, Made, NewSession, Part, PartKind, Source, Told,
    WriteError, Writing, local_path,
};
use rethread_model::{Note, Severity};

use super::agents::{Family, ReadBack};
use super::before::Whole;
use super::place::place;
use super::spoken::Spoken;
use super::{ConvertAsk, Converted, Way, back, plan, put_note, report};
use crate::Error;
use crate::edit::{make_root, remembering};
use crate::show::open;

/// How often it is written with other ids when the store has those; with a seed, the first ones may
/// be taken.
const TRIES: u32 = 1000;

/// Writes what is told of a session, which may be all of it. Then it is not written again if it is
/// there already, from a run that was killed, say.
pub(super) fn write(
    w: &Writing<'_>,
    (from, is_whole): (&Conversation, bool),
    told: &[Told],
    ask: &ConvertAsk<'_>,
    mut notes: Vec<Note>,
) -> Result<Converted, Error> {
    if told.is_empty() {
        return Err(Error::Refused {
            message: format!("nothing is said in `{}`", from.source.id),
            hint: "`rethread append` says something in it".to_owned(),
        });
    }
    let place = place(w, ask, folder_of(w.env, from))?;
    let family = Family::of(from, ask.agents, &mut notes);
    let mut whole = None;
    if is_whole && !ask.dry_run {
        let known = Whole::of(from, &family.agents, ask)?;
        if let Some(made) = known.find(w, ask, &place.cwd) {
            return Ok(Converted {
                source: from.source.clone(),
                to: ask.to.slug(),
                id: made.session.head.id.clone(),
                path: made.source.path.clone(),
                way: Way::Before,
                fates: report::compare(from, &made, (family.count, family.count)),
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
        let staged = Staged::write(prepare, (from, &family), told, (ask.to, &place))?;
        let mut made = open(&staged.source)?;
        let back = ReadBack::of(&made, &family, &staged.agents)?;
        let fates = report::compare(from, &made, (family.count, back.native));
        if !ask.lean {
            made = stow(prepare, (from, &family.agents), (&made, &back.carried))?;
        }
        refuse_damage(&made)?;
        let mut path = PathBuf::new();
        if !ask.dry_run {
            let goods = goods(prepare, (&made, &back.agents), staged.folder.path())?;
            make_root(w, ask.root)?;
            notes.extend(whole.as_ref().and_then(|whole| whole.begin(w, &goods.id)));
            match ask.to.installable()?.install(w, &place, &goods) {
                Err(WriteError::Exists { .. }) if tries.next().is_some() => continue,
                put => {
                    let put = put?;
                    put.path().clone_into(&mut path);
                    notes.extend(put_note(&put, ask.to));
                }
            }
            notes.extend(remembered(w, &made, &path, &place));
        }
        return Ok(Converted {
            source: from.source.clone(),
            to: ask.to.slug(),
            id: made.session.head.id.clone(),
            path,
            way: Way::Written,
            fates,
            left_out: family.left_out,
            notes,
        });
    }
}

fn remembered(w: &Writing<'_>, made: &Conversation, path: &Path, place: &Place) -> Vec<Note> {
    let made = Made {
        id: made.session.head.id.clone(),
        path: path.to_owned(),
        project: place.cwd.clone(),
        created: Vec::new(),
        notes: Vec::new(),
    };
    remembering(w, made).notes
}

/// What is said in a session as it reads in another format, once it was told to that: as when it was
/// converted to it.
pub(super) fn retold(
    w: &Writing<'_>,
    from: &Conversation,
    (to, root): (FormatRef, Option<PathBuf>),
    scope: Scope,
) -> Result<Vec<u64>, Error> {
    let place = Place {
        root,
        cwd: folder_of(w.env, from).unwrap_or_else(|| w.env.cwd.clone()),
        before: None,
    };
    let steps = plan::steps(from, to, scope);
    let family = Family::default();
    let staged = Staged::write(&w.unsynced(), (from, &family), &steps.told, (to, &place))?;
    Ok(Spoken::of(&open(&staged.source)?, scope).marks())
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
struct Staged {
    folder: ScratchFolder,
    source: Source,
    /// The sub-agents that were written with it, by their places in the family.
    agents: Vec<(usize, Source)>,
}

impl Staged {
    fn write(
        w: &Writing<'_>,
        (from, family): (&Conversation, &Family),
        told: &[Told],
        (to, place): (FormatRef, &Place),
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
        writer.write_transcript(w, &source, told)?;
        let (agents, _) = family.tell(w, from, (to, &source), HashMap::new())?;
        Ok(Self {
            folder,
            source,
            agents,
        })
    }
}

/// Packs the files that a session came from into the one that was made of it.
fn stow(
    w: &Writing<'_>,
    (from, agents): (&Conversation, &Agents),
    (made, made_agents): (&Conversation, &[CarriedAgent]),
) -> Result<Conversation, Error> {
    let spoken = Spoken::of(made, Scope::Told);
    let (marks, shape) = (spoken.marks(), spoken.shape());
    let source = &from.source;
    let packing = Packing {
        from: source.format.slug(),
        id: &source.id,
        path: &name_of(from),
        cwd: from.session.head.workspace.path.as_deref(),
        marks: &marks,
        shape: &shape,
        agents: made_agents,
    };
    let mut files = own_files(from, agents)?;
    let unreadable = |cause| DiskError::Read {
        path: source.path.clone(),
        cause,
    };
    let items = luggage(&packing, &mut files).map_err(unreadable)?;
    made.source
        .format
        .installable()?
        .embed_original(w, &made.source, &items)?;
    let again = open(&made.source)?;
    let wanted = Luggage::read(&items).map_err(|e| Error::Verification(e.to_string()))?;
    if Spoken::of(&again, Scope::Told).marks() != marks || back::luggage(&again)? != wanted {
        let what = "what travels along does not read back; `--lean` leaves it out";
        return Err(Error::Verification(what.to_owned()));
    }
    Ok(again)
}

/// The files of a session and of its sub-agents, as they lie in a folder.
pub(super) fn goods(
    w: &Writing<'_>,
    (of, agents): (&Conversation, &Agents),
    scratch: &Path,
) -> Result<Goods, Error> {
    let files = own_files(of, agents)?;
    let base = of.source.format.store().base_folder(&of.source);
    let path = name_of(of);
    // Rows have no file of their own; what came along of them may lie here as it was before.
    let is_rows = |part: &Part| matches!(part.kind, PartKind::Rows { .. });
    if !of.native.parts.iter().any(is_rows) {
        return Ok(Goods {
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
    Ok(Goods {
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
