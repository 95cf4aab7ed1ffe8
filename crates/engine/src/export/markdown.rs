//! Sessions as Markdown documents.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;

use rethread_disk::SafeName;
use rethread_formats::Conversation;
use rethread_model::Note;
use rethread_render::{Options, View, markdown};

use super::choose::{Choice, Chosen};
use super::ndjson::to_file;
use super::{ExportForms, Exported, stamp};
use crate::Error;
use crate::show::open;

/// Exports sessions as Markdown: a file each into a folder, or all of them into one stream.
pub fn export_markdown(
    chosen: &Chosen,
    forms: ExportForms,
    place: Result<&Path, &mut dyn Write>,
    progress: &dyn Fn(u64, u64),
) -> Result<Exported, Error> {
    let mut done = Exported::default();
    let mut names = BTreeSet::new();
    let all = chosen.len() as u64;
    let mut stream = None;
    let folder = match place {
        Ok(folder) => Some(folder),
        Err(out) => {
            stream = Some(out);
            None
        }
    };
    for (at, choice) in (1..).zip(&chosen.sessions) {
        let conversation = match open(&choice.source) {
            Ok(conversation) => conversation,
            Err(e) => {
                let note = Note::damage(format!("{e}; left out")).at(&choice.source.path);
                done.notes.push(note);
                done.skipped += 1;
                continue;
            }
        };
        done.notes.extend(conversation.notes.iter().cloned());
        if let Some(folder) = folder {
            let path = folder.join(name(choice, &mut names));
            to_file(&path, forms, |out| page(out, choice, &conversation))?;
            done.files.push(path);
        } else if let Some(out) = stream.as_deref_mut() {
            if done.sessions > 0 {
                out.write_all(b"\n---\n\n").map_err(Error::Output)?;
            }
            page(out, choice, &conversation).map_err(Error::Output)?;
        }
        done.sessions += 1;
        progress(at, all);
    }
    Ok(done)
}

fn page(out: &mut dyn Write, choice: &Choice, conversation: &Conversation) -> io::Result<()> {
    let view = View {
        session: &conversation.session,
        bodies: conversation,
        entries: conversation.session.active_path(),
        path: &conversation.source.path,
        source: choice.source_info(),
    };
    let options = Options {
        tools: true,
        thinking: true,
        hidden: false,
    };
    markdown(out, &view, &options)
}

/// `20251227_090000_c7e6fbcb.md`; a number where that is taken or the id cannot be a name.
fn name(choice: &Choice, names: &mut BTreeSet<String>) -> String {
    let head = &choice.summary.head;
    let time = stamp(head.created.unwrap_or(choice.file_time));
    let id = SafeName::new(&head.id).map_or("session", |_| head.id.as_str());
    let mut name = format!("{time}_{id}.md");
    let mut number = 2;
    while !names.insert(name.to_lowercase()) {
        name = format!("{time}_{id}_{number}.md");
        number += 1;
    }
    name
}
