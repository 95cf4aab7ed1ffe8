//! Writing sessions.

use std::io::{BufWriter, Write as _};
use std::ops::Range;

use rethread_model::{Moment, Note};

use super::store::home_of;
use super::write::append::{id_of, message_writer, refuse_old};
use super::write::create::{CLIENT, NewMeta, refuse_unknown};
use super::write::fork::{copy_path, entry_at};
use super::write::message::{MessageToWrite, is_turn};
use super::write::records::{Mode, Records};
use super::write::rename::rename_session;
use super::write::transcript::{KEEPS, model_items};
use super::write::{
    codex_home, fresh_id, fresh_place, path_of, put_file, put_with, rename, unsupported,
};
use super::{Codex, FORMAT, document};
use crate::kit::read_unified;
use crate::session_log::SessionLog;
use crate::transcript::{left_ways, steps_between};
use crate::{
    Appended, Fork, Keeps, Made, MessageInput, NewSession, Source, StepKind, SubagentWriter,
    Transcript, TranscriptStep, WriteError, Writer, Writing,
};

impl Writer for Codex {
    /// Starts a session.
    fn create(&self, w: &Writing<'_>, new: &NewSession) -> Result<Made, WriteError> {
        refuse_unknown(new)?;
        let now = w.env.now();
        let home = codex_home(w.env, new.root.as_deref())?;
        let (id, path) = match &new.id {
            Some(id) if uuid::Uuid::try_parse(id).is_ok() && id.len() == 36 => {
                (id.clone(), path_of(&home, id, now))
            }
            Some(id) => {
                return Err(WriteError::BadInput(format!(
                    "`{id}` is no UUID, and the client finds sessions by such names only"
                )));
            }
            None => fresh_place(w.env, &home, now, b"session"),
        };
        let cwd = new.cwd.to_string_lossy();
        let meta = NewMeta {
            id: &id,
            created: now,
            cwd: &cwd,
            originator: new.agent_name.as_deref().unwrap_or("rethread"),
            version: new.agent_version.as_deref().unwrap_or(CLIENT),
            forked_from: None,
            paginated: false,
            spawn: None,
        };
        let mut records = Records::new(Mode::Legacy);
        records.add(now, "session_meta", &meta.payload());
        let title = new
            .title
            .as_deref()
            .map(rename::checked_title)
            .transpose()?;
        put_file(w, &path, &id, &records.into_bytes())?;
        let note = title.and_then(|title| rename::name_new(w, &path, &id, title));
        Ok(Made::of_path(id, path, new.cwd.clone()).with_notes(note.into_iter().collect()))
    }

    /// Adds messages to a session: all that can be written in one go.
    fn append(
        &self,
        w: &Writing<'_>,
        source: &Source,
        messages: &[MessageInput],
    ) -> Result<Appended, WriteError> {
        refuse_old(&source.path)?;
        let mut log = SessionLog::open(w, &source.path)?;
        let mut writer = message_writer(w, source, &log)?;
        let looked: Vec<Result<MessageToWrite, WriteError>> = messages
            .iter()
            .map(|message| read_unified(message).map(MessageToWrite::of))
            .collect();
        if w.strict && looked.iter().any(Result::is_err) {
            let refused = looked.into_iter().filter(Result::is_err);
            return Ok(Appended {
                ids: refused.map(|r| r.map(|_| String::new())).collect(),
                notes: Vec::new(),
            });
        }
        let ids = looked
            .into_iter()
            .map(|looked| looked.map(|given| writer.write(&given)))
            .collect();
        let notes = log.append(&writer.records.into_bytes())?;
        Ok(Appended {
            ids,
            notes: notes.into_iter().collect(),
        })
    }

    /// Sets the display name.
    fn rename(
        &self,
        w: &Writing<'_>,
        source: &Source,
        title: &str,
    ) -> Result<Vec<Note>, WriteError> {
        let id = id_of(source)?;
        let note = rename_session(w, &source.path, &id, title)?;
        Ok(note.into_iter().collect())
    }

    /// Copies the way to an entry into a new session, as older clients fork: at the time of the fork,
    /// and with what was borrowed from others. Turns that were taken back are left out, and so is what is
    /// damaged, which is told.
    fn fork(&self, w: &Writing<'_>, source: &Source, fork: &Fork) -> Result<Made, WriteError> {
        if document::is_document(&source.path) {
            return Err(unsupported("way to change files of 2025"));
        }
        let old = FORMAT.reader().read(source)?;
        let head = &old.session.head;
        if head.dialect.as_deref() == Some("items") {
            return Err(unsupported("way to change files that old"));
        }
        let mut notes = old.damage(w)?;
        let leaf = match &fork.at {
            Some(at) => {
                Some(
                    entry_at(&old, &at.id, at.offset).ok_or_else(|| WriteError::NoEntry {
                        id: at.id.clone(),
                        path: source.path.clone(),
                    })?,
                )
            }
            None => old.session.leaf(),
        };
        let now = w.env.now();
        let home = match home_of(&source.path) {
            Some(home) => home,
            None => codex_home(w.env, None)?,
        };
        let (id, path) = fresh_place(w.env, &home, now, head.id.as_bytes());
        let cwd = fork.cwd.as_ref().map(|c| c.to_string_lossy().into_owned());
        let cwd = cwd
            .or_else(|| head.workspace.path.clone())
            .unwrap_or_default();
        let paginated = head.dialect.as_deref() == Some("paginated");
        let meta = NewMeta {
            id: &id,
            created: now,
            cwd: &cwd,
            originator: "rethread",
            version: head.agent.version.as_deref().unwrap_or(CLIENT),
            forked_from: Some(&head.id),
            paginated,
            spawn: None,
        };
        let mut records = Records::new(if paginated {
            Mode::Paginated {
                next: 0,
                thread: id.clone(),
                turn: String::new(),
            }
        } else {
            Mode::Legacy
        });
        records.add(now, "session_meta", &meta.payload());
        let title = fork
            .title
            .as_deref()
            .map(rename::checked_title)
            .transpose()?;
        put_with(w, &path, &id, |out| {
            let mut out = BufWriter::new(out);
            out.write_all(&records.into_bytes())?;
            copy_path(&old, leaf, paginated, &now.to_string(), &mut out)?;
            out.flush()
        })?;
        notes.extend(title.and_then(|title| rename::name_new(w, &path, &id, title)));
        Ok(
            Made::of_path(id, path, fork.cwd.clone().unwrap_or_else(|| cwd.into()))
                .with_notes(notes),
        )
    }

    fn keeps(&self) -> Keeps {
        KEEPS
    }

    /// Ways that do not begin with a turn: the client takes back nothing else. Nor does it know what was
    /// before a summary that is taken back, or one that follows at once.
    fn leaves_out(&self, told: &mut dyn Iterator<Item = TranscriptStep>) -> Vec<Range<usize>> {
        struct TurnHead {
            after: Option<usize>,
            begins_turn: bool,
            sums_up: bool,
        }
        let heads: Vec<TurnHead> = told
            .map(|one| TurnHead {
                after: one.after,
                begins_turn: matches!(&one.step, StepKind::Message(said) if is_turn(&said.message)),
                sums_up: one.step.sums_up(),
            })
            .collect();
        let sums_up = |steps: &[TurnHead]| steps.iter().any(|head| head.sums_up);
        let is_out = |way: &Range<usize>| {
            let steps = heads.get(way.clone()).unwrap_or_default();
            let rest = heads.get(way.end..).unwrap_or_default();
            let next = rest.iter().position(|head| head.begins_turn);
            let follows = rest.get(..next.unwrap_or(rest.len())).unwrap_or_default();
            !steps.first().is_some_and(|head| head.begins_turn)
                || sums_up(steps)
                || sums_up(follows)
        };
        let ways = left_ways(heads.iter().map(|head| head.after));
        ways.into_iter().filter(is_out).collect()
    }

    /// Writes a conversation into a session that was just made.
    fn write_transcript(
        &self,
        w: &Writing<'_>,
        source: &Source,
        told: &[TranscriptStep],
    ) -> Result<(), WriteError> {
        let has_left = !left_ways(told.iter().map(|one| one.after)).is_empty();
        let mut steps = told.iter().cloned();
        self.write_steps(w, source, Transcript::new(has_left, &mut steps))
    }

    /// Writes the steps of a conversation into a session that was just made, one after the other.
    fn write_steps(
        &self,
        w: &Writing<'_>,
        source: &Source,
        told: Transcript<'_>,
    ) -> Result<(), WriteError> {
        refuse_old(&source.path)?;
        let mut log = SessionLog::open(w, &source.path)?;
        let mut writer = message_writer(w, source, &log)?;
        let mut written: Vec<WrittenStep> = Vec::new();
        let mut flushed = log.len()?;
        let mut time: Option<Moment> = None;
        // Where turns are taken back, the client wants to know where each of them ends.
        let has_ends = told.has_left;
        let mut turn: Option<String> = None;
        for (at, one) in told.enumerate() {
            time = one.time.or(time);
            let now = time.unwrap_or_else(|| w.env.now());
            let turns =
                |step: Option<usize>| step.and_then(|s| written.get(s)).map_or(0, |s| s.turns);
            let (here, there) = (turns(at.checked_sub(1)), turns(one.after));
            let is_turn = matches!(&one.step, StepKind::Message(said) if is_turn(&said.message));
            let back = here.saturating_sub(there);
            let is_over = is_turn || back > 0 || one.step.sums_up();
            if let Some(turn) = turn.take_if(|_| is_over) {
                writer.records.complete_turn(now, &turn);
            }
            if back > 0 {
                writer.records.rolled_back(now, back);
            }
            if is_turn && has_ends {
                let id = fresh_id(w.env, &(at as u64).to_le_bytes());
                writer.records.start_turn(now, &id);
                turn = Some(id);
            }
            let start = flushed + writer.records.lines().len() as u64;
            match one.step {
                StepKind::Message(message) => {
                    writer.write(&MessageToWrite::of(*message));
                }
                StepKind::Compaction { summary, kept, .. } => {
                    flushed += flush(&mut log, &mut writer.records)?;
                    let after = |step: usize| written.get(step).and_then(|step| step.after);
                    let mut items = Vec::new();
                    for step in steps_between(after, kept, one.after) {
                        if let Some(step) = written.get(step) {
                            items.extend(items_between(&log, step)?);
                        }
                    }
                    writer.compacted(now, &summary, &items);
                }
                StepKind::BranchSummary(_) | StepKind::Label { .. } => {
                    return Err(unsupported("summaries of branches, or labels"));
                }
                StepKind::Back => {}
            }
            written.push(WrittenStep {
                start,
                end: flushed + writer.records.lines().len() as u64,
                after: one.after,
                turns: there + u64::from(is_turn),
            });
            if writer.records.lines().len() >= CHUNK {
                flushed += flush(&mut log, &mut writer.records)?;
            }
        }
        if let Some(turn) = turn {
            let now = time.unwrap_or_else(|| w.env.now());
            writer.records.complete_turn(now, &turn);
        }
        flush(&mut log, &mut writer.records)?;
        Ok(())
    }

    fn subagents(&self) -> Option<&dyn SubagentWriter> {
        Some(self)
    }
}

/// How much is written at once.
const CHUNK: usize = 1 << 20;

/// What was written of a step: where its lines are in the file, what it follows, and how many turns
/// there are on the way to it.
struct WrittenStep {
    start: u64,
    end: u64,
    after: Option<usize>,
    turns: u64,
}

/// Writes the lines so far; gives how many bytes these are.
fn flush(log: &mut SessionLog<'_>, records: &mut Records) -> Result<u64, WriteError> {
    let lines = records.lines().len() as u64;
    log.append(records.lines())?;
    records.clear();
    Ok(lines)
}

/// What the model sees of the lines of a step that were written.
fn items_between(log: &SessionLog<'_>, step: &WrittenStep) -> Result<Vec<Vec<u8>>, WriteError> {
    let len = usize::try_from(step.end - step.start).unwrap_or_default();
    let mut lines = vec![0; len];
    log.read_at(step.start, &mut lines)?;
    Ok(model_items(&lines))
}
