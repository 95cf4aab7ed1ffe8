//! The way back: a session that came from somewhere, as it was there.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use rethread_disk::{DiskError, Mode, ScratchFolder, create_with, ensure_folder};
use rethread_formats::carry::{CarriedAgent, CarriedOriginal, Scope, SessionFiles, join_checked};
use rethread_formats::{
    Branch, Can, Conversation, EntryRef, FormatRef, MessageInput, Source, WriteError, Writing,
    by_name,
};
use rethread_model::{Block, Bodies as _, Body, EntryIx, Note};

use super::additions::ContinuesFrom;
use super::changes::{SessionChanges, WrittenBlocks, entry_at};
use super::history::MessageHistory;
use super::messages::may_be_said;
use super::subagent_changes::AgentChanges;
use super::{edit, media, proof, unified};
use crate::Error;
use crate::show::open;

/// A session as it was where it came from, in a folder of our own.
pub(super) struct RecoveredOriginal {
    pub(super) folder: ScratchFolder,
    pub(super) source: Source,
    pub(super) cwd: Option<PathBuf>,
    /// How many messages were added to it since.
    pub(super) added: usize,
    /// How many things are said differently since.
    pub(super) changed: usize,
    /// What was said since and could not be added, because nobody adds to such a session.
    later: Vec<MessageInput>,
}

impl RecoveredOriginal {
    /// Whether something was said, or said differently, since.
    pub(super) fn has_changed(&self) -> bool {
        self.added > 0 || self.changed > 0
    }
}

/// Goes back to where a session came from, through as many formats as there were between. None where
/// it did not come from there, or where what came along no longer fits what is there now.
pub(super) fn recover_original(
    w: &Writing<'_>,
    conversation: &Conversation,
    to: FormatRef,
    notes: &mut Vec<Note>,
) -> Result<Option<RecoveredOriginal>, Error> {
    let Some(mut found) = recover_step(w, conversation, Vec::new(), notes)? else {
        return Ok(None);
    };
    while found.source.format != to {
        let here = open(&found.source)?;
        found = match recover_step(w, &here, found.later, notes)? {
            Some(found) => found,
            None => return Ok(None),
        };
    }
    Ok(Some(found).filter(|found| found.later.is_empty()))
}

/// What travels along in a session; none where nothing does.
pub(super) fn carried_original(
    conversation: &Conversation,
) -> Result<Option<CarriedOriginal>, Error> {
    CarriedOriginal::of_conversation(conversation)?.map_err(|e| Error::Verification(e.to_string()))
}

/// Goes back by one format. What was said on the way and is not in the session comes behind it.
fn recover_step(
    w: &Writing<'_>,
    here: &Conversation,
    pending: Vec<MessageInput>,
    notes: &mut Vec<Note>,
) -> Result<Option<RecoveredOriginal>, Error> {
    let folder = ScratchFolder::new()?;
    let found = match unpack_original(w, here, folder.path(), notes) {
        Ok(Some(found)) => found,
        Ok(None) => return Ok(None),
        // What is said can be read all the same.
        Err(e) => {
            let what = format!("the original cannot come back: {e}");
            notes.push(Note::damage(what).at(&here.source.path));
            return Ok(None);
        }
    };
    let Some((mut found, changes)) = as_now(w, here, (found, &pending), folder.path())? else {
        let what = "what was said before was changed, and it cannot be told where that stands in the original, so it is written anew";
        notes.push(Note::remark(what.to_owned()).at(&here.source.path));
        return Ok(None);
    };
    if changes.since.went_back {
        let what = "the conversation went back to an earlier place here, which does not come along";
        notes.push(Note::remark(what).at(&here.source.path));
    }
    let agents = AgentChanges::compare_agents(w, here, (&mut found, folder.path()), notes)?;
    let format = found.format;
    let changed = changes.blocks.len() + agents.changed;
    let mut added = changes.since.count() + pending.len();
    let straight = changes.since.straight_messages();
    if straight.is_none() && !restore_branches(w, here, (&found, &changes), notes)? {
        let what = "what was said since goes on from an earlier place, so it is written anew";
        notes.push(Note::remark(what).at(&here.source.path));
        return Ok(None);
    }
    let mut later = straight.unwrap_or_default();
    later.extend(pending);
    if !later.is_empty() && format.can(Can::Write) {
        later = fitting_messages(later, format, notes);
        let appended = match format
            .writable()
            .and_then(|writer| writer.append(w, &found.source, &later))
        {
            Err(e @ (WriteError::Unsupported { .. } | WriteError::BadInput(_))) => {
                let what =
                    format!("nothing can be added to the original ({e}), so it is written anew");
                notes.push(Note::remark(what).at(&here.source.path));
                return Ok(None);
            }
            appended => appended?,
        };
        for failed in appended.ids {
            failed?;
        }
        later.clear();
    }
    added += agents.add_messages(w, here, &found, notes)?;
    Ok(Some(RecoveredOriginal {
        folder,
        source: found.source,
        cwd: found.cwd,
        added,
        changed,
        later,
    }))
}

/// What was said since, as far as the format has a place for it.
pub(super) fn fitting_messages(
    later: Vec<MessageInput>,
    format: FormatRef,
    notes: &mut Vec<Note>,
) -> Vec<MessageInput> {
    let takes = format.keeps().attachments;
    let mut left = 0;
    let fit = later.into_iter().filter_map(|message| {
        let (message, without) = media::fitting_message(message, takes);
        left += without;
        message
    });
    let fit = fit.collect();
    if left > 0 {
        let name = format.about().name;
        let what = format!("{name} has no place for {left} of the pictures and files since added");
        notes.push(Note::damage(what));
    }
    fit
}

/// Lets a session go on from earlier places, as it went on where it came along; whether it can.
fn restore_branches(
    w: &Writing<'_>,
    here: &Conversation,
    (found, changes): (&UnpackedOriginal, &SessionChanges),
    notes: &mut Vec<Note>,
) -> Result<bool, Error> {
    let original = open(&found.source)?;
    // The ids of what was said since, way by way.
    let mut since: Vec<Vec<String>> = Vec::new();
    for way in &changes.since.ways {
        let count = found.before.marks.len();
        let end = found.before.shape.end.or_else(|| count.checked_sub(1));
        let at = match way.from {
            ContinuesFrom::Since(way, message) => {
                let id = since.get(way).and_then(|ids| ids.get(message)).cloned();
                id.map(|id| EntryRef { id, offset: 0 })
            }
            ContinuesFrom::End | ContinuesFrom::Earlier(_) => {
                let place = match way.from {
                    ContinuesFrom::Earlier(place) => place,
                    _ => end,
                };
                let at = place.and_then(|p| entry_at((here, &original), &found.before, p));
                at.map(|entry| entry_ref(&original, entry))
            }
        };
        let Some(at) = at.filter(|at| !at.id.is_empty()) else {
            return Ok(false);
        };
        let messages = fitting_messages(way.messages.clone(), found.format, notes);
        let branch = Branch {
            at: &at,
            summary: None,
            messages: &messages,
        };
        let tree = found
            .format
            .writable()
            .and_then(|writer| writer.tree().ok_or_else(|| found.format.cannot("branches")));
        let appended = tree.and_then(|tree| tree.branch(w, &found.source, &branch));
        let appended = match appended {
            Err(
                WriteError::Unsupported { .. }
                | WriteError::ReadOnly { .. }
                | WriteError::NoEntry { .. }
                | WriteError::BadInput(_),
            ) => return Ok(false),
            appended => appended?,
        };
        since.push(appended.ids.into_iter().collect::<Result<_, _>>()?);
    }
    Ok(true)
}

fn entry_ref(conversation: &Conversation, entry: EntryIx) -> EntryRef {
    let origin = conversation.session.origin(entry).first();
    let span = origin.and_then(|raw| conversation.native.span(*raw));
    EntryRef {
        id: conversation.session.id(entry).to_owned(),
        offset: span.map_or(0, |span| span.start),
    }
}

/// Makes the same changes to a session that came along as were made to what carried it, but for what
/// was said since. None if somebody did more than to say things differently.
fn as_now(
    w: &Writing<'_>,
    here: &Conversation,
    (mut found, pending): (UnpackedOriginal, &[MessageInput]),
    folder: &Path,
) -> Result<Option<(UnpackedOriginal, SessionChanges)>, Error> {
    let changes = SessionChanges::since_written(here, &found.before).or_else(|| {
        let older = found.older.take()?;
        let changes = SessionChanges::since_written(here, &older)
            .or_else(|| SessionChanges::none_in_words(here, &older))?;
        found.before = older;
        Some(changes)
    });
    let Some(changes) = changes else {
        return Ok(None);
    };
    let is_more = changes.since.count() > 0 || !pending.is_empty();
    if (is_more || !changes.blocks.is_empty())
        && let Some(goods) = found.format.installable()?.decompressed(w, &found.goods)?
    {
        found.source = goods.session_source(found.format)?;
        found.goods = goods;
    }
    if changes.blocks.is_empty() {
        return Ok(Some((found, changes)));
    }
    let original = open(&found.source)?;
    let Some(edits) = changes.edits_to_original(here, &original, &found.before) else {
        return Ok(None);
    };
    let folder = folder.join("changed");
    let Some(goods) = edit::apply_edits(w, &original, (&found.goods, &folder), &edits)? else {
        return Ok(None);
    };
    found.source = goods.session_source(found.format)?;
    found.goods = goods;
    let changed = open(&found.source)?;
    let is_so = edits.are_all_in(here, &original, &changed)
        && proof::is_proved(w, here, (&original, &changed), (&found.before, &changes))?;
    Ok(is_so.then_some((found, changes)))
}

/// A session that came along, before what was said since is added to it.
pub(super) struct UnpackedOriginal {
    pub(super) format: FormatRef,
    pub(super) source: Source,
    /// The files that it is made of.
    pub(super) goods: SessionFiles,
    cwd: Option<PathBuf>,
    /// What was said in it then, as the format that it came along in reads it.
    pub(super) before: WrittenBlocks,
    /// The same, as far as all versions agree on it, where nothing tells which one wrote it.
    older: Option<WrittenBlocks>,
    /// Its sub-agents that were written as those of the format that it came along in.
    pub(super) agents: Vec<CarriedAgent>,
}

/// Unpacks what came along into a folder; none where nothing did.
fn unpack_original(
    w: &Writing<'_>,
    here: &Conversation,
    folder: &Path,
    notes: &mut Vec<Note>,
) -> Result<Option<UnpackedOriginal>, Error> {
    if here.source.format.is_for_exports() {
        return of_export(w, here, folder, notes);
    }
    let Some(carried) = carried_original(here)? else {
        return Ok(None);
    };
    let Some(format) = by_name(&carried.from) else {
        return Ok(None);
    };
    let goods = SessionFiles {
        id: carried.id.clone(),
        folder: folder.to_owned(),
        path: carried.path.clone(),
        names: carried.file_names(),
    };
    for (at, name) in goods.names.iter().enumerate() {
        unpack_file(w, folder, name, |out| {
            carried.unpack_file(at, out).map(drop)
        })?;
    }
    Ok(Some(UnpackedOriginal {
        format,
        source: goods.session_source(format)?,
        goods,
        cwd: carried.cwd.map(PathBuf::from),
        before: WrittenBlocks {
            scope: carried.scope,
            marks: carried.marks,
            shape: carried.shape,
        },
        older: None,
        agents: carried.agents,
    }))
}

/// As [`unpack_original`], of an export. What was said in it then is what another export says.
fn of_export(
    w: &Writing<'_>,
    here: &Conversation,
    folder: &Path,
    notes: &mut Vec<Note>,
) -> Result<Option<UnpackedOriginal>, Error> {
    let Some(format) = by_name(here.session.head.held_by()) else {
        return Ok(None);
    };
    let Some(carried) = unified::carried_files(here, format, folder, None)? else {
        return Ok(None);
    };
    for (file, name) in carried.files.iter().zip(&carried.goods.names) {
        unpack_file(w, folder, name, |out| {
            io::copy(&mut file.content_reader()?, out).map(drop)
        })?;
    }
    let source = carried.goods.session_source(format)?;
    let Some(again) = unified::exported_session(w, &source, &folder.join("again.ndjson"))? else {
        return Ok(None);
    };
    let before = |scope| {
        let spoken = MessageHistory::only_digests(&again, &again, scope);
        WrittenBlocks {
            scope,
            marks: spoken.block_digests(),
            shape: spoken.shape(),
        }
    };
    let agents = unified::exported_agents(w, here, &source, (folder, Scope::All))?;
    notes.extend(others_changed(here, &again));
    Ok(Some(UnpackedOriginal {
        format,
        source,
        goods: carried.goods,
        cwd: here.session.head.workspace.path.as_ref().map(PathBuf::from),
        before: before(Scope::All),
        older: Some(before(Scope::Visible)),
        agents,
    }))
}

/// What was changed in an export that says nothing to a model, such as what only the person saw: that
/// does not come back.
fn others_changed(here: &Conversation, again: &Conversation) -> Option<Note> {
    let others = |conversation: &Conversation| {
        let all = conversation.session.indexed();
        let others = all.filter(|(_, entry)| !may_be_said(entry, Scope::All));
        let texts = others.filter_map(|(ix, _)| {
            let id = conversation.session.id(ix).to_owned();
            Some((id, shown_text(&conversation.body(ix))?))
        });
        texts.collect::<HashMap<String, String>>()
    };
    let (now, was) = (others(here), others(again));
    let is_changed = |(id, text): &(&String, &String)| was.get(*id).is_some_and(|was| was != *text);
    let count = now.iter().filter(is_changed).count();
    let what = format!(
        "{count} texts were changed that are said to no model, which does not come back to the original"
    );
    (count > 0).then(|| Note::damage(what).at(&here.source.path))
}

/// What a person is shown of what is not said.
fn shown_text(body: &Body) -> Option<String> {
    match body {
        Body::Event(event) => event.text.as_ref().map(|text| text.value.clone()),
        Body::Message(message) => {
            let texts = message.blocks.iter().filter_map(|block| match block {
                Block::Text(text) | Block::Aside { text, .. } => Some(text.value.as_str()),
                Block::Thinking(thought) => Some(thought.text.value.as_str()),
                _ => None,
            });
            Some(texts.collect::<Vec<_>>().join("\n"))
        }
        _ => None,
    }
}

/// Puts a file that came along into a folder.
pub(super) fn unpack_file(
    w: &Writing<'_>,
    folder: &Path,
    name: &str,
    fill: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> Result<(), Error> {
    let path = join_checked(folder, name)?;
    if let Some(parent) = path.parent() {
        ensure_folder(parent, &Mode::Private, w.durability)?;
    }
    let made = create_with(&path, Mode::Private, w.durability, fill);
    let _ = made.map_err(|e| match e {
        DiskError::Write { cause, .. } if cause.kind() == io::ErrorKind::InvalidData => {
            Error::Verification(format!("what travelled along is damaged: {cause}"))
        }
        other => other.into(),
    })?;
    Ok(())
}
