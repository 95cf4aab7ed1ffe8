//! Sessions as Markdown documents.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::PathBuf;

use rethread_disk::SafeName;
use rethread_formats::Conversation;
use rethread_model::{Bodies, Moment};
use rethread_render::{View, exported_times, write_markdown};

use super::choose::{ChosenSession, ChosenSessions};
use super::ndjson::to_file;
use super::progress::{ExportProgress, WatchedBodies};
use super::{ExportForms, Exported, left_out, time_stamp};
use crate::{Error, agent_name};

/// Where pages go.
pub enum PageOutput<'a> {
    /// A file each into this folder.
    Folder(PathBuf),
    /// All of them into this file, whole or not at all.
    File(PathBuf),
    /// All of them to somebody who reads along.
    Stream(&'a mut dyn Write),
}

/// Exports sessions as Markdown.
pub fn export_markdown(
    chosen: &ChosenSessions,
    forms: ExportForms,
    pages: PageOutput<'_>,
    progress: &dyn Fn(u64, u64),
) -> Result<Exported, Error> {
    let mut done = Exported::default();
    match pages {
        PageOutput::Folder(folder) => {
            let mut names = BTreeSet::new();
            for_each_page(chosen, forms, progress, &mut done, &mut |page, done| {
                let session = &page.conversation.session;
                let (started, _) = exported_times(session, &[], page.choice.file_time);
                let name = page_name(started, &session.head.id, &mut names, "md");
                let path = folder.join(name);
                to_file(&path, forms, |out| page.write_page(out))?;
                done.files.push(path);
                Ok(())
            })?;
        }
        PageOutput::File(path) => {
            let mut failed = None;
            let written = to_file(&path, forms, |out| {
                match write_all(chosen, forms, progress, &mut done, out) {
                    Ok(()) if done.sessions > 0 => Ok(()),
                    Ok(()) => Err(io::Error::other("there is nothing to write")),
                    Err(e) => {
                        let what = io::Error::other(e.to_string());
                        failed = Some(e);
                        Err(what)
                    }
                }
            });
            if let Some(e) = failed {
                return Err(e);
            }
            // Where nothing could be read, there is nothing to write, and no error.
            if done.sessions > 0 || done.skipped == 0 {
                written?;
                done.files.push(path);
            }
        }
        PageOutput::Stream(out) => write_all(chosen, forms, progress, &mut done, out)?,
    }
    Ok(done)
}

/// Writes all pages, with a line between each two.
fn write_all(
    chosen: &ChosenSessions,
    forms: ExportForms,
    progress: &dyn Fn(u64, u64),
    done: &mut Exported,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let mut out = io::BufWriter::new(out);
    for_each_page(chosen, forms, progress, done, &mut |page, done| {
        let line: &[u8] = if done.sessions > 0 { b"\n---\n\n" } else { b"" };
        out.write_all(line)
            .and_then(|()| page.write_page(&mut out))
            .map_err(Error::Output)
    })?;
    out.flush().map_err(Error::Output)
}

/// One session, to be written.
struct PageJob<'a> {
    forms: ExportForms,
    choice: &'a ChosenSession,
    conversation: &'a Conversation,
    bodies: &'a dyn Bodies,
}

type PageSink<'a> = dyn FnMut(&PageJob<'_>, &mut Exported) -> Result<(), Error> + 'a;

/// Opens one session after the other.
fn for_each_page(
    chosen: &ChosenSessions,
    forms: ExportForms,
    progress: &dyn Fn(u64, u64),
    done: &mut Exported,
    write: &mut PageSink<'_>,
) -> Result<(), Error> {
    let progress = ExportProgress::new(chosen, progress);
    for choice in &chosen.sessions {
        match choice.open_session() {
            Ok(conversation) => {
                done.notes.extend(conversation.notes.iter().cloned());
                let bodies = WatchedBodies {
                    bodies: &conversation,
                    entries: conversation.session.entries().len(),
                    steps: &|steps| progress.session_progress(choice, steps),
                };
                let page = PageJob {
                    forms,
                    choice,
                    conversation: &conversation,
                    bodies: &bodies,
                };
                write(&page, done)?;
                done.sessions += 1;
            }
            Err(e) => {
                done.notes.push(left_out(choice, &e));
                done.skipped += 1;
            }
        }
        progress.session_done(choice);
    }
    Ok(())
}

impl PageJob<'_> {
    fn write_page(&self, out: &mut dyn Write) -> io::Result<()> {
        let session = &self.conversation.session;
        let summary = self.choice.listed_as(self.conversation);
        let view = View {
            session,
            bodies: self.bodies,
            entries: session.active_path(),
            path: &self.conversation.source.path,
            source: self.choice.source_info(),
            agent: agent_name(&session.head),
            summary: Some(&summary),
        };
        write_markdown(out, &view, &self.forms.render_options())
    }
}

/// `20251227_090000_c7e6fbcb.md`; a number where that is taken or the id cannot be a name.
pub(super) fn page_name(
    time: Moment,
    id: &str,
    names: &mut BTreeSet<String>,
    suffix: &str,
) -> String {
    let time = time_stamp(time);
    let id = SafeName::new(id).map_or("session", |_| id);
    let mut name = format!("{time}_{id}.{suffix}");
    let mut number = 2;
    while !names.insert(name.to_lowercase()) {
        name = format!("{time}_{id}_{number}.{suffix}");
        number += 1;
    }
    name
}
