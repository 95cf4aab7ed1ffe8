//! Adding messages to a thread, under the lock of its log.

use std::collections::BTreeSet;
use std::path::Path;

use rethread_disk::{DiskError, LockedLog, Mode, replace};
use rethread_json::{LineBytes, Lines, Tree};
use rethread_model::{Moment, Note};

use super::Atsf;
use super::config::Config;
use super::manifest::Manifest;
use super::message::message_head;
use super::prepare::{PreparedLine, ThreadDefaults, default_model};
use super::results::write_into_log;
use super::store::LOG;
use super::tail::{last_line, settle_tail};
use super::tally::LogTally;
use crate::error::read_failed;
use crate::write::saved_but;
use crate::{Projects, Source, WriteError, Writing};

/// A thread that nobody else writes to while this exists.
pub(crate) struct OpenThread<'a> {
    pub(crate) w: &'a Writing<'a>,
    pub(crate) folder: &'a Path,
    pub(crate) manifest: Manifest,
    pub(crate) log: LockedLog,
    pub(crate) mode: Mode,
    pub(crate) notes: Vec<Note>,
}

impl<'a> OpenThread<'a> {
    /// Locks a thread for writing. Versions that must be refused are errors.
    pub(crate) fn lock(w: &'a Writing<'a>, source: &'a Source) -> Result<Self, WriteError> {
        let folder = source.path.as_path();
        let project = Atsf.holder_of(folder);
        let mut notes = match project {
            Some(project) => Config::read(project)?.notes,
            None => Vec::new(),
        };
        Manifest::read(folder)?;
        let mode = Mode::like(folder)?;
        let mut log = LockedLog::open_or_create(&folder.join(LOG), mode, w.lock_timeout)?;
        // Read again: it may have changed while we waited for the lock.
        let manifest = Manifest::read(folder)?;
        notes.extend(settle_tail(w, &mut log)?);
        Ok(Self {
            w,
            folder,
            manifest,
            log,
            mode,
            notes,
        })
    }

    /// What the log holds: from the description, unless another program wrote since.
    pub(crate) fn tally(&self) -> Result<LogTally, WriteError> {
        let noted = self.manifest.noted_log_len() == Some(self.log.len()?);
        if noted && self.last_time_fits()? {
            let last_time = crate::fields::string_of(self.manifest.root(), "updatedAt");
            return Ok(LogTally {
                counts: self.manifest.counts(),
                last_time,
                ..LogTally::default()
            });
        }
        let path = self.log.path().to_owned();
        LogTally::of(self.log.reader(0), false)
            .map_err(|cause| DiskError::Read { path, cause }.into())
    }

    /// Whether the last message's time is the one in the description.
    fn last_time_fits(&self) -> Result<bool, WriteError> {
        let Some(line) = last_line(&self.log)? else {
            return Ok(self.log.is_empty()?);
        };
        let mut tree = Tree::default();
        let last = tree
            .parse_into(&line)
            .ok()
            .and_then(|()| message_head(tree.root(&line)).time);
        Ok(last.is_some() && last == self.manifest.updated())
    }

    /// Writes the description anew, so that it is true of the log. The log is written by then, so
    /// trouble with that is a note.
    pub(crate) fn save_manifest(&mut self, tally: &LogTally) {
        let (path, d) = (&self.manifest.path, self.w.durability);
        let saved = self.log.len().and_then(|len| {
            let bytes = self.manifest.with_log(tally, len);
            if bytes == self.manifest.bytes() {
                return Ok(());
            }
            replace(path, &bytes, self.mode, d)
        });
        self.notes.extend(saved.err().map(|e| saved_but(path, &e)));
    }

    pub(crate) fn defaults(&self, model: Option<String>, salt: u64) -> ThreadDefaults<'a> {
        ThreadDefaults {
            env: self.w.env,
            now: self.w.env.now(),
            model,
            salt,
            replaces: None,
        }
    }

    pub(crate) fn default_model(&self) -> Option<String> {
        let agent = self.manifest.head("").agent.id;
        default_model(Atsf.holder_of(self.folder), agent.as_deref())
    }
}

/// A remark where the log's last message is now older than the one before: lines belong in the
/// order of time.
pub(super) fn earlier_note(before: Option<&str>, now: &LogTally, log: &Path) -> Option<Note> {
    let before: Moment = before?.parse().ok()?;
    let now: Moment = now.last_time.as_ref()?.parse().ok()?;
    let message = format!("the last message is of {now}, but one before it is of {before}");
    (now < before).then(|| Note::remark(message).at(log))
}

pub(super) fn nothing_given() -> WriteError {
    WriteError::BadInput("no message was given".to_owned())
}

/// Refuses messages whose id the user chose and that exists, in the log or among the others.
pub(super) fn refuse_known_ids(
    thread: &OpenThread<'_>,
    prepared: &mut [Result<PreparedLine, WriteError>],
) -> Result<(), WriteError> {
    let given = |p: &Result<PreparedLine, WriteError>| p.as_ref().is_ok_and(|p| p.id_was_given);
    if !prepared.iter().any(given) {
        return Ok(());
    }
    let path = thread.log.path().to_owned();
    let mut known = BTreeSet::new();
    let asked: BTreeSet<String> = prepared
        .iter()
        .flatten()
        .filter(|p| p.id_was_given)
        .map(|p| p.id.clone())
        .collect();
    let mut lines = Lines::new(thread.log.reader(0));
    let mut tree = Tree::default();
    loop {
        let line = lines.next_line().map_err(read_failed(&path))?;
        let Some(line) = line else { break };
        let LineBytes::Whole(bytes) = line.bytes else {
            continue;
        };
        if let Some(id) = line_id(bytes, &mut tree)
            && asked.contains(&id)
        {
            known.insert(id);
        }
    }
    for message in prepared {
        let Ok(PreparedLine {
            id,
            id_was_given: true,
            ..
        }) = message
        else {
            continue;
        };
        if !known.insert(id.clone()) {
            *message = Err(WriteError::Exists {
                id: id.clone(),
                path: path.clone(),
            });
        }
    }
    Ok(())
}

/// The id of a line, mostly without parsing all of it: we write it first.
fn line_id(line: &[u8], tree: &mut Tree) -> Option<String> {
    const START: &[u8] = b"{\"id\":\"";
    if let Some(rest) = line.strip_prefix(START) {
        let end = memchr::memchr2(b'"', b'\\', rest)?;
        // A later `id` in the same object would win, but nobody writes two.
        if rest[end] == b'"' {
            return String::from_utf8(rest[..end].to_vec()).ok();
        }
    }
    tree.parse_into(line).ok()?;
    message_head(tree.root(line)).id
}

/// Puts results of tools where their calls are: in messages of the same batch, else in the log.
/// Gives, for each message, the id of the message that now holds its first result.
pub(super) fn place_results(
    thread: &mut OpenThread<'_>,
    prepared: &mut [Result<PreparedLine, WriteError>],
) -> Result<Vec<Option<String>>, WriteError> {
    let mut holders: Vec<Option<String>> = vec![None; prepared.len()];
    let mut late = Vec::new();
    for i in 0..prepared.len() {
        let Ok(message) = &mut prepared[i] else {
            continue;
        };
        for output in std::mem::take(&mut message.outputs) {
            // In the message itself first, then in those before it.
            let mut candidates = prepared[..=i].iter_mut().flatten().rev();
            let home = candidates.find_map(|candidate| {
                let (line, id) = output.written_into(&candidate.line)?;
                candidate.line = line;
                Some(id)
            });
            match home {
                Some(id) => holders[i] = holders[i].take().or(Some(id)),
                None => late.push((i, output)),
            }
        }
    }
    if late.is_empty() {
        return Ok(holders);
    }
    let outputs: Vec<_> = late.iter().map(|(_, output)| output.clone()).collect();
    let homes = write_into_log(thread.w, &mut thread.log, &outputs)?;
    for ((i, output), home) in late.into_iter().zip(homes) {
        let Ok(message) = &mut prepared[i] else {
            continue;
        };
        if home.is_none() {
            orphan(thread, message, &output);
        }
        holders[i] = holders[i].take().or(home);
    }
    Ok(holders)
}

/// A result whose call is nowhere gets a message of its own.
fn orphan(
    thread: &OpenThread<'_>,
    message: &mut PreparedLine,
    output: &super::results::ToolOutput,
) {
    let env = thread.w.env;
    let id = env.uuid(output.call_id.as_bytes()).to_string();
    let line = output.orphan(&id, &env.now().to_string());
    if message.line.is_empty() {
        message.id = id;
    } else {
        message.line.push(b'\n');
    }
    message.line.extend_from_slice(&line);
    let tree = Tree::parse(&line);
    message
        .heads
        .extend(tree.map(|tree| message_head(tree.root(&line))));
}
