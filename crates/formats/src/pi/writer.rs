//! Writing sessions.

use std::io::BufWriter;
use std::path::Path;

use rethread_disk::{Created, Mode, create_with};
use rethread_model::Note;

use super::Flavour;
use super::manager::{LoadedFile, NewSessionOptions, SessionError, SessionManager, part_of, scan};
use super::write::addition::Addition;
use super::write::create::{finish, refuse_unknown, session_folder};
use super::write::edit::{sync_session, write_addition};
use super::write::fork::{Copy, Way};
use super::write::message::from_new;
use super::write::transcript::{KEEPS, StepAnchor, StepEntries, go_to};
use super::write::{edit, host_of, not_ours, open, refused, transcript};
use crate::error::unreadable_file;
use crate::{
    Appended, Fork, Keeps, Made, MessageInput, Migrator, NewSession, OpenError, Source, StepKind,
    TranscriptStep, TreeWriter, WriteError, Writer, Writing,
};

impl Writer for Flavour {
    /// Starts a session. Its file is there at once, with a header, so that it can be found.
    fn create(&self, w: &Writing<'_>, new: &NewSession) -> Result<Made, WriteError> {
        refuse_unknown(self, new)?;
        let host = host_of(self, w);
        let dir = match &new.root {
            Some(root) => Some(root.join("sessions").join(session_folder(&host, new))),
            None => host.custom_session_dir(),
        };
        let made =
            SessionManager::create(&host, &new.cwd, dir.as_deref()).and_then(|mut session| {
                if new.id.is_some() {
                    session.new_session(NewSessionOptions {
                        id: new.id.clone(),
                        parent_session: None,
                    })?;
                }
                finish(session, new.title.as_deref())
            });
        made.map_err(|e| refused(e, self, &new.cwd))
    }

    /// Adds messages behind the last one.
    fn append(
        &self,
        w: &Writing<'_>,
        source: &Source,
        messages: &[MessageInput],
    ) -> Result<Appended, WriteError> {
        let mut addition = Addition::open(self, w, source)?;
        let ids = edit::add_messages(self, w, &mut addition, messages)?;
        write_addition(addition, ids)
    }

    /// Sets the name of the session.
    fn rename(
        &self,
        w: &Writing<'_>,
        source: &Source,
        title: &str,
    ) -> Result<Vec<Note>, WriteError> {
        let mut addition = Addition::open(self, w, source)?;
        let named = addition.session.append_session_info(title);
        named.map_err(|e| refused(e, self, &source.path))?;
        Ok(addition.write()?.into_iter().collect())
    }

    /// Copies a session, or the way to one of its entries. Damaged lines are in no copy, so they are
    /// told, or refused where that was asked for.
    fn fork(&self, w: &Writing<'_>, source: &Source, fork: &Fork) -> Result<Made, WriteError> {
        let host = host_of(self, w);
        let part = part_of(&source.path)?;
        let mut old = SessionManager::behind(&host);
        let scanned = scan(&part, |found| {
            if fork.at.is_some() {
                old.pass(found.value);
            }
            Ok(())
        });
        let LoadedFile::Session(lines) = scanned.map_err(|e| unreadable_file(&part.path, e))?
        else {
            return Err(not_ours(self, &source.path).into());
        };
        let refused = |e| refused(e, self, &source.path);
        lines.header.refuse_newer().map_err(refused)?;
        let damage = lines.passed_over;
        if let Some(note) = damage.first().filter(|_| w.strict) {
            return Err(OpenError::Damaged {
                path: source.path.clone(),
                line: note.line,
                why: note.message.trim_end_matches("; skipped").to_owned(),
            }
            .into());
        }
        let worked_in = lines.header.cwd().map_or(&*host.env().cwd, Path::new);
        let worked_in = host.resolve(worked_in);
        let cwd = fork.cwd.clone().unwrap_or_else(|| worked_in.clone());
        // A copy for the same folder stays beside its original.
        let dir = if worked_in == cwd {
            source.path.parent().map(ToOwned::to_owned)
        } else {
            host.custom_session_dir()
        };
        let way = match &fork.at {
            None => None,
            Some(at) => Some(Way::to(&part, &old, &at.id).map_err(refused)?),
        };
        let new = SessionManager::copy_of(&host, &source.path, &cwd, dir.as_deref());
        let (new, path) = new.map_err(refused)?;
        let (id, project) = (new.session_id().to_owned(), new.cwd().to_owned());
        let made = create_with(&path, Mode::Private, w.durability, |out| {
            let mut copy = Copy {
                host: &host,
                part: &part,
                old: &old,
                new,
                out: BufWriter::new(out),
            };
            copy.header()?;
            match &way {
                None => copy.all()?,
                Some(way) => copy.way(way)?,
            }
            copy.close(fork.title.as_deref())
        })?;
        if made == Created::Existed {
            return Err(refused(SessionError::Exists { path }));
        }
        Ok(Made::of_path(id, path, project).with_notes(damage))
    }

    fn keeps(&self) -> Keeps {
        KEEPS
    }

    /// Writes a conversation into a session that was just made.
    fn write_transcript(
        &self,
        w: &Writing<'_>,
        source: &Source,
        told: &[TranscriptStep],
    ) -> Result<(), WriteError> {
        let mut session = open(self, w, source)?;
        // A title may stand before all that is said.
        let root = session.leaf_id().map(str::to_owned);
        let mut made: Vec<StepEntries> = Vec::with_capacity(told.len());
        for (at, one) in told.iter().enumerate() {
            let anchor = match one.after.and_then(|after| made.get(after)) {
                Some(entries) => Some(&entries.last),
                None => root.as_ref(),
            };
            let goes_on = one.after == at.checked_sub(1);
            let entries = match &one.step {
                StepKind::Message(message) => {
                    if !goes_on {
                        go_to(&mut session, anchor).map_err(|e| refused(e, self, &source.path))?;
                    }
                    let parts = from_new(message, &session);
                    session.set_time(message.time.or(one.time));
                    let mut ids = Vec::with_capacity(parts.len());
                    for part in parts {
                        let added = part.append_to(&mut session);
                        ids.push(added.map_err(|e| refused(e, self, &source.path))?);
                    }
                    ids
                }
                step => {
                    session.set_time(one.time);
                    let added = {
                        let entry = anchor;
                        transcript::add_step(
                            &mut session,
                            step,
                            StepAnchor { entry, goes_on },
                            &made,
                        )
                    };
                    vec![added.map_err(|e| refused(e, self, &source.path))?]
                }
            };
            let first = entries.first().cloned().unwrap_or_default();
            let last = entries.last().cloned().unwrap_or_default();
            made.push(StepEntries { first, last });
        }
        session.set_time(None);
        sync_session(self, w, source, &session)
    }

    fn tree(&self) -> Option<&dyn TreeWriter> {
        Some(self)
    }

    fn migrator(&self) -> Option<&dyn Migrator> {
        Some(self)
    }
}
