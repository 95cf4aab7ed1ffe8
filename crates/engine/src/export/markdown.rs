//! Sessions as Markdown documents.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::PathBuf;

use rethread_disk::SafeName;
use rethread_formats::Conversation;
use rethread_model::{Bodies, Moment};
use rethread_render::{View, exported_times, markdown};

use super::choose::{Choice, Chosen};
use super::ndjson::to_file;
use super::progress::{Progress, Watched};
use super::{ExportForms, Exported, left_out, stamp};
use crate::{Error, agent_name};

/// Where pages go.
pub enum Pages<'a> {
    /// A file each into this folder.
    Folder(PathBuf),
    /// All of them into this file, whole or not at all.
    File(PathBuf),
    /// All of them to somebody who reads along.
    Stream(&'a mut dyn Write),
}

/// Exports sessions as Markdown.
pub fn export_markdown(
    chosen: &Chosen,
    forms: ExportForms,
    pages: Pages<'_>,
    progress: &dyn Fn(u64, u64),
) -> Result<Exported, Error> {
    let mut done = Exported::default();
    match pages {
        Pages::Folder(folder) => {
            let mut names = BTreeSet::new();
            each(chosen, forms, progress, &mut done, &mut |page, done| {
                let session = &page.conversation.session;
                let (started, _) = exported_times(session, &[], page.choice.file_time);
                let name = name(started, &session.head.id, &mut names, "md");
                let path = folder.join(name);
                to_file(&path, forms, |out| page.write(out))?;
                done.files.push(path);
                Ok(())
            })?;
        }
        Pages::File(path) => {
            let mut failed = None;
            let written = to_file(&path, forms, |out| {
                match all(chosen, forms, progress, &mut done, out) {
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
        Pages::Stream(out) => all(chosen, forms, progress, &mut done, out)?,
    }
    Ok(done)
}

/// Writes all pages, with a line between each two.
fn all(
    chosen: &Chosen,
    forms: ExportForms,
    progress: &dyn Fn(u64, u64),
    done: &mut Exported,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let mut out = io::BufWriter::new(out);
    each(chosen, forms, progress, done, &mut |page, done| {
        let line: &[u8] = if done.sessions > 0 { b"\n---\n\n" } else { b"" };
        out.write_all(line)
            .and_then(|()| page.write(&mut out))
            .map_err(Error::Output)
    })?;
    out.flush().map_err(Error::Output)
}

/// One session, to be written.
struct Page<'a> {
    forms: ExportForms,
    choice: &'a Choice,
    conversation: &'a Conversation,
    bodies: &'a dyn Bodies,
}

type OneByOne<'a> = dyn FnMut(&Page<'_>, &mut Exported) -> Result<(), Error> + 'a;

/// Opens one session after the other.
fn each(
    chosen: &Chosen,
    forms: ExportForms,
    progress: &dyn Fn(u64, u64),
    done: &mut Exported,
    write: &mut OneByOne<'_>,
) -> Result<(), Error> {
    let progress = Progress::new(chosen, progress);
    for choice in &chosen.sessions {
        match choice.open() {
            Ok(conversation) => {
                done.notes.extend(conversation.notes.iter().cloned());
                let bodies = Watched {
                    bodies: &conversation,
                    entries: conversation.session.entries().len(),
                    steps: &|steps| progress.within(choice, steps),
                };
                let page = Page {
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
        progress.passed(choice);
    }
    Ok(())
}

impl Page<'_> {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let session = &self.conversation.session;
        let view = View {
            session,
            bodies: self.bodies,
            entries: session.active_path(),
            path: &self.conversation.source.path,
            source: self.choice.source_info(),
            agent: agent_name(&session.head),
            summary: None,
        };
        markdown(out, &view, &self.forms.options())
    }
}

/// `20251227_090000_c7e6fbcb.md`; a number where that is taken or the id cannot be a name.
pub(super) fn name(time: Moment, id: &str, names: &mut BTreeSet<String>, suffix: &str) -> String {
    let time = stamp(time);
    let id = SafeName::new(id).map_or("session", |_| id);
    let mut name = format!("{time}_{id}.{suffix}");
    let mut number = 2;
    while !names.insert(name.to_lowercase()) {
        name = format!("{time}_{id}_{number}.{suffix}");
        number += 1;
    }
    name
}
