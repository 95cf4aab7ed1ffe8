//! Writing the file: a header, and a line for each session.

use std::cell::{Cell, RefCell};
use std::io::{self, Seek, Write};
use std::path::Path;

use rethread_disk::{Created, DiskError, Mode, create_with, ensure_folder, replace_with, scratch};
use rethread_formats::Env;
use rethread_model::{Moment, Note, Severity};
use rethread_render::{exported_times, summary_entries};

use super::choose::{ChosenSession, ChosenSessions, SortKey};
use super::header::{ExtraHeader, HeaderFacts, header_line};
use super::pack::Packer;
use super::progress::ExportProgress;
use super::record::RecordOptions;
use super::{ExportForms, ExportTarget, Exported, left_out, record};
use crate::Error;

/// Summaries may be wrong about what reading finds, and agents may write meanwhile: so often is
/// everything written again.
const TRIES: usize = 5;

/// Exports sessions to a file or a stream. `progress` is told how many of how many bytes are done.
pub fn export_ndjson(
    env: &Env,
    chosen: &ChosenSessions,
    forms: ExportForms,
    target: &mut ExportTarget<'_>,
    progress: &dyn Fn(u64, u64),
) -> Result<Exported, Error> {
    let facts = |c: &ChosenSession| {
        let (kind, host) = c.home_kind();
        Some(HeaderFacts::of_session(
            &c.summary.head,
            &kind,
            host.as_deref(),
        ))
    };
    let mut known: Vec<Option<HeaderFacts>> = chosen.sessions.iter().map(facts).collect();
    let mut order: Vec<usize> = (0..chosen.len()).collect();
    let more = ExtraHeader::of_chosen(chosen);
    for _ in 0..TRIES {
        let pass = WritePass {
            env,
            chosen,
            lean: forms.lean,
            known: &known,
            order: &order,
            more: &more,
            found: RefCell::new(vec![None; chosen.len()]),
            keys: RefCell::default(),
            notes: RefCell::default(),
            fits: Cell::new(false),
            progress,
        };
        let refused = || pass.is_empty() || (forms.strict && pass.is_damaged());
        let written = match target {
            ExportTarget::File(path) => to_file(path, forms, |out| {
                let mut packer = Packer::new(path, out)?;
                pass.write_all(&mut packer)?;
                packer.finish()?;
                if pass.fits.get() && !refused() {
                    return Ok(());
                }
                Err(io::Error::other("it does not fit its header"))
            }),
            ExportTarget::Stream(out) => {
                through_scratch(|file| pass.write_all(file), &pass, *out, &refused)
            }
        };
        let is_refused = refused();
        let WritePass {
            found,
            keys,
            notes,
            fits,
            ..
        } = pass;
        if !fits.get() && keys.borrow().len() == known.len() {
            known = found.into_inner();
            order = in_order(keys.into_inner());
            continue;
        }
        if !is_refused {
            written?;
        }
        let found = found.into_inner();
        let sessions = found.iter().flatten().count() as u64;
        return Ok(Exported {
            files: match target {
                ExportTarget::File(path) if !is_refused => vec![path.clone()],
                _ => Vec::new(),
            },
            sessions,
            skipped: found.len() as u64 - sessions,
            refused: is_refused,
            notes: notes.into_inner(),
        });
    }
    Err(Error::Refused {
        message: "the sessions change faster than they can be exported".to_owned(),
        hint: "try again when their agents rest".to_owned(),
    })
}

/// The sessions in the order of what their lines say. Summaries may have said otherwise.
fn in_order(mut keys: Vec<(SortKey, usize)>) -> Vec<usize> {
    keys.sort();
    keys.into_iter().map(|(_, at)| at).collect()
}

/// One attempt to write everything.
struct WritePass<'a> {
    env: &'a Env,
    chosen: &'a ChosenSessions,
    lean: bool,
    /// What the header is made from; nothing for a session that cannot be read.
    known: &'a [Option<HeaderFacts>],
    /// In which order the sessions are written.
    order: &'a [usize],
    /// What else headers of exports among the sources say.
    more: &'a ExtraHeader,
    /// What reading found.
    found: RefCell<Vec<Option<HeaderFacts>>>,
    /// What the sessions should have been ordered by, as they were written.
    keys: RefCell<Vec<(SortKey, usize)>>,
    notes: RefCell<Vec<Note>>,
    /// Whether the header fits what was written.
    fits: Cell<bool>,
    progress: &'a dyn Fn(u64, u64),
}

impl WritePass<'_> {
    /// Whether there are sessions, and none of them could be read.
    fn is_empty(&self) -> bool {
        let is_done = self.keys.borrow().len() == self.order.len();
        is_done && !self.order.is_empty() && self.found.borrow().iter().all(Option::is_none)
    }

    fn is_damaged(&self) -> bool {
        let notes = self.notes.borrow();
        let all = notes.iter().chain(&self.chosen.notes);
        all.into_iter().any(|n| n.severity == Severity::Damage)
    }

    fn write_all(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut out = io::BufWriter::with_capacity(256 * 1024, out);
        let now = self.env.now();
        let planned = header_line(now, self.known.iter().flatten(), self.more);
        out.write_all(&planned)?;
        let progress = ExportProgress::new(self.chosen, self.progress);
        for at in self.order.iter().copied() {
            let Some(choice) = self.chosen.sessions.get(at) else {
                continue;
            };
            let (facts, started) = match self.known.get(at) {
                Some(Some(_)) => self.write_session(choice, &progress, &mut out)?,
                _ => (self.note_unreadable(choice), choice.started()),
            };
            if let Some(slot) = self.found.borrow_mut().get_mut(at) {
                *slot = facts;
            }
            self.keys.borrow_mut().push((choice.sort_key(started), at));
            progress.session_done(choice);
        }
        let found = self.found.borrow();
        let is_planned = planned == header_line(now, found.iter().flatten(), self.more);
        self.fits.set(is_planned && self.keys.borrow().is_sorted());
        out.flush()
    }

    /// Writes one session; gives what the header must say of it, and nothing if it cannot be read,
    /// and when it began.
    fn write_session(
        &self,
        choice: &ChosenSession,
        progress: &ExportProgress<'_>,
        out: &mut dyn Write,
    ) -> io::Result<(Option<HeaderFacts>, Moment)> {
        let conversation = match choice.open_session() {
            Ok(conversation) => conversation,
            Err(e) => {
                self.notes.borrow_mut().push(left_out(choice, &e));
                return Ok((None, choice.started()));
            }
        };
        self.notes
            .borrow_mut()
            .extend(conversation.notes.iter().cloned());
        let way = RecordOptions {
            source: choice.source_info(),
            file_time: choice.file_time,
            lean: self.lean,
            agents: false,
            notes: &self.notes,
            size: choice.summary.size,
            steps: &|steps| progress.session_progress(choice, steps),
        };
        record::write_record(out, &conversation, way)?;
        let (kind, host) = choice.home_kind();
        let session = &conversation.session;
        let facts = HeaderFacts::of_session(&session.head, &kind, host.as_deref());
        let summaries = if self.lean {
            summary_entries(session, &conversation)
        } else {
            Vec::new()
        };
        let (started, _) = exported_times(session, &summaries, choice.file_time);
        Ok((Some(facts), started))
    }

    /// Says once more why a session could not be read before.
    fn note_unreadable(&self, choice: &ChosenSession) -> Option<HeaderFacts> {
        if let Err(e) = choice.open_session() {
            self.notes.borrow_mut().push(left_out(choice, &e));
        } else {
            let path = choice.source.path.display();
            let what = format!("`{path}` could not be read a moment ago; left out");
            self.notes.borrow_mut().push(Note::damage(what));
        }
        None
    }
}

/// Writes a file whole or not at all; an existing one only when asked.
pub(super) fn to_file(
    path: &Path,
    forms: ExportForms,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Error> {
    let d = forms.durability;
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    ensure_folder(folder, &Mode::Private, d)?;
    if forms.force {
        return Ok(replace_with(path, Mode::Private, d, write)?);
    }
    match create_with(path, Mode::Private, d, write)? {
        Created::New => Ok(()),
        Created::Existed => Err(Error::Usage {
            message: format!("`{}` exists", path.display()),
            hint: Some("`--force` replaces it".to_owned()),
        }),
    }
}

/// Writes to a file without a name first, because nobody can take back what went down a pipe.
fn through_scratch(
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    pass: &WritePass<'_>,
    out: &mut dyn Write,
    refused: &dyn Fn() -> bool,
) -> Result<(), Error> {
    let failed = |cause| DiskError::Write {
        path: "a temporary file".into(),
        cause,
    };
    let mut file = scratch()?;
    write(&mut file).map_err(failed)?;
    if !pass.fits.get() || refused() {
        return Ok(());
    }
    file.rewind().map_err(failed)?;
    io::copy(&mut file, out)
        .and_then(|_| out.flush())
        .map_err(Error::Output)
}
