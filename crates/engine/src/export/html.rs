//! Sessions as HTML pages.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use rethread_disk::open_read;
use rethread_formats::Conversation;
use rethread_model::{Moment, Note};
use rethread_render::{
    HTML_GENERATOR, Html, IndexRow, PageContext, SessionTarget, View, exported_times, html_index,
    write_html,
};

use super::choose::{ChosenSession, ChosenSessions};
use super::markdown::{PageOutput, page_name};
use super::ndjson::to_file;
use super::pictures::ConversationWithFiles;
use super::progress::{ExportProgress, WatchedBodies};
use super::{ExportForms, Exported, left_out};
use crate::{Error, agent_name};

/// Pages are written in many small pieces.
const BUFFER: usize = 256 * 1024;

/// The page that leads to the others of a folder.
const INDEX: &str = "index.html";

/// So many bytes of a page say who wrote it.
const HEAD: u64 = 4096;

/// Exports sessions as HTML. Each leads to the sub-agents that come along.
pub fn export_html(
    chosen: &ChosenSessions,
    forms: ExportForms,
    pages: PageOutput<'_>,
    progress: &dyn Fn(u64, u64),
) -> Result<Exported, Error> {
    let mut export = HtmlExport {
        chosen,
        forms,
        progress: ExportProgress::new(chosen, progress),
        done: Exported::default(),
    };
    match pages {
        PageOutput::Folder(folder) => export.write_folder(&folder)?,
        PageOutput::File(path) => {
            let written = to_file(&path, forms, |out| match export.write_page(out) {
                Ok(()) if export.done.sessions == 0 => {
                    Err(io::Error::other("there is nothing to write"))
                }
                done => done,
            });
            // Where nothing could be read, there is nothing to write, and no error.
            if export.done.sessions > 0 || export.done.skipped == 0 {
                written?;
                export.done.files.push(path);
            }
        }
        PageOutput::Stream(out) => export.write_page(out).map_err(Error::Output)?,
    }
    Ok(export.done)
}

struct HtmlExport<'a> {
    chosen: &'a ChosenSessions,
    forms: ExportForms,
    progress: ExportProgress<'a>,
    done: Exported,
}

impl HtmlExport<'_> {
    fn open_session(&mut self, choice: &ChosenSession) -> Option<Conversation> {
        match choice.open_session() {
            Ok(conversation) => {
                let notes = conversation.notes.iter().cloned();
                self.done.notes.extend(notes);
                self.done.sessions += 1;
                Some(conversation)
            }
            Err(e) => {
                self.done.notes.push(left_out(choice, &e));
                self.done.skipped += 1;
                None
            }
        }
    }

    /// A page for each session, and one that leads to all of them.
    fn write_folder(&mut self, folder: &Path) -> Result<(), Error> {
        let chosen = self.chosen;
        let index = folder.join(INDEX);
        let with_index = chosen.len() > 1;
        if with_index && !self.forms.force && is_of_somebody_else(&index) {
            return Err(Error::Usage {
                message: format!("`{}` exists", index.display()),
                hint: Some("`--force` replaces it".to_owned()),
            });
        }
        let mut rows = Vec::new();
        let mut taken = BTreeSet::new();
        let sessions = chosen.sessions.iter();
        let named = |choice: &ChosenSession| {
            page_name(
                start_of(choice),
                &choice.summary.head.id,
                &mut taken,
                "html",
            )
        };
        let names: Vec<String> = sessions.map(named).collect();
        let places = session_targets(chosen, |at| {
            SessionTarget::File(names.get(at).cloned().unwrap_or_default())
        });
        let find = |id: &str| places.get(id).cloned();
        let around = PageContext {
            branches: true,
            find: &find,
            index: with_index.then_some(INDEX),
        };
        for (choice, name) in chosen.sessions.iter().zip(&names) {
            if let Some(conversation) = self.open_session(choice) {
                let path = folder.join(name);
                let mut notes = Vec::new();
                to_file(&path, self.forms, |out| {
                    let mut out = BufWriter::with_capacity(BUFFER, out);
                    notes = with_view(&self.progress, choice, &conversation, |view| {
                        rows.push(IndexRow::new(view, name.clone()));
                        write_html(&mut out, view, &self.forms.render_options(), &around)
                    })?;
                    out.flush()
                })?;
                self.done.notes.extend(notes);
                self.done.files.push(path);
            }
            self.progress.session_done(choice);
        }
        if with_index && !rows.is_empty() {
            // One of ours is that of an earlier export into the same folder.
            let forms = ExportForms {
                force: true,
                ..self.forms
            };
            to_file(&index, forms, |out| {
                let mut out = BufWriter::with_capacity(BUFFER, out);
                html_index(&mut out, &rows)?;
                out.flush()
            })?;
            self.done.files.push(index);
        }
        Ok(())
    }

    /// All sessions on one page.
    fn write_page(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let chosen = self.chosen;
        let mut out = BufWriter::with_capacity(BUFFER, out);
        let places = session_targets(chosen, |at| SessionTarget::Here(at as u64 + 1));
        let find = |id: &str| places.get(id).cloned();
        let around = PageContext {
            branches: true,
            find: &find,
            index: None,
        };
        let title = match chosen.sessions.as_slice() {
            [one] => one.summary.head.title.as_ref().map(|t| t.text.clone()),
            all => Some(format!("{} sessions", all.len())),
        };
        let title = title.as_deref().unwrap_or("(no title)");
        let mut page = Html::begin_page(&mut out, title, chosen.len() > 1)?;
        for (at, choice) in (1..).zip(&chosen.sessions) {
            if let Some(conversation) = self.open_session(choice) {
                let notes = with_view(&self.progress, choice, &conversation, |view| {
                    page.write_session(at, view, &self.forms.render_options(), &around)
                })?;
                self.done.notes.extend(notes);
            }
            self.progress.session_done(choice);
        }
        page.end_page()?;
        out.flush()
    }
}

/// Whether there is a file that this program did not write.
fn is_of_somebody_else(path: &Path) -> bool {
    let Ok(mut file) = open_read(path) else {
        return path.exists();
    };
    let mut head = Vec::new();
    let read = Read::by_ref(&mut file).take(HEAD).read_to_end(&mut head);
    read.is_err() || !String::from_utf8_lossy(&head).contains(HTML_GENERATOR)
}

/// When a session began. Pages lead to each other, so their names must be known before they are
/// written; where the summary of a session does not say it, the session does.
fn start_of(choice: &ChosenSession) -> Moment {
    let read = || {
        let conversation = choice.open_session().ok()?;
        Some(exported_times(&conversation.session, &[], choice.file_time).0)
    };
    let known = choice.summary.head.created;
    known.or_else(read).unwrap_or(choice.file_time)
}

/// Where each session is, by its id; the first of several.
fn session_targets(
    chosen: &ChosenSessions,
    at: impl Fn(usize) -> SessionTarget,
) -> BTreeMap<&str, SessionTarget> {
    let mut places = BTreeMap::new();
    for (place, choice) in chosen.sessions.iter().enumerate() {
        let id = choice.summary.head.id.as_str();
        places.entry(id).or_insert_with(|| at(place));
    }
    places
}

fn with_view(
    progress: &ExportProgress<'_>,
    choice: &ChosenSession,
    conversation: &Conversation,
    write: impl FnOnce(&View<'_>) -> io::Result<()>,
) -> io::Result<Vec<Note>> {
    let pictures = ConversationWithFiles::of_conversation(conversation);
    let bodies = WatchedBodies {
        bodies: &pictures,
        entries: conversation.session.entries().len(),
        steps: &|steps| progress.session_progress(choice, steps),
    };
    let summary = choice.listed_as(conversation);
    write(&View {
        session: &conversation.session,
        bodies: &bodies,
        entries: conversation.session.active_path(),
        path: &conversation.source.path,
        source: choice.source_info(),
        agent: agent_name(&conversation.session.head),
        summary: Some(&summary),
    })?;
    Ok(pictures.notes())
}
