//! Reading a session.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use rethread_disk::SafeName;
use rethread_model::{Moment, Note, Role, SessionBuilder, Summary};

use super::entries::build_entries;
use super::facts::{count_replay, session_head};
use super::message::is_frame;
use super::project::CHATS;
use super::scan::{Scanned, scan_file, scan_in};
use super::sniff::{ClientFile, file_kind};
use super::{Gemini, store};
use crate::kit::{ScanDepth, folder_entries};
use crate::unusable::{document_unusable, holds_no_record};
use crate::{
    BodyReader, Conversation, Native, OpenError, Part, PartKind, Reader, Source, Store, Want,
    buffer,
};

impl Reader for Gemini {
    /// What a list shows of a session.
    fn summarize(&self, source: &Source, want: Want) -> Summary {
        let path = &source.path;
        let look = ScanDepth::of_list(want.usage);
        let mut summary = source.new_summary();
        match scan_file(path, look) {
            Ok(found) => {
                summary.size = found.part.len();
                summary.head = session_head(path, &source.id, &found);
                summary.head.hidden |= found.what == ClientFile::Prompts;
                (summary.counts, summary.activity) = count_replay(&found.replay, want.usage);
                buffer::return_buffer(found.part.into_held().unwrap_or_default());
            }
            Err(OpenError::NotOurs { .. }) => {
                holds_no_record(&mut summary, "not a session: nothing in it is a message");
            }
            Err(e) => document_unusable(&mut summary, &e),
        }
        let outputs = store::output_files(path, &summary.head.id);
        let sizes = outputs.iter().filter_map(|p| std::fs::metadata(p).ok());
        summary.size += sizes.map(|m| m.len()).sum::<u64>();
        summary
    }

    /// Reads a session.
    fn read(&self, source: &Source) -> Result<Conversation, OpenError> {
        let path = &source.path;
        let found = scan_in(path, ScanDepth::Whole, source.window)?;
        let mut head = session_head(path, &store::named_id(path), &found);
        let Scanned {
            part,
            what,
            meta,
            replay,
            unclaimed,
            mut notes,
        } = found;
        head.hidden |= what == ClientFile::Prompts;
        let outputs = store::output_files(path, &head.id);
        notes.extend(same_session_elsewhere(path, &head.id));
        let mut builder = SessionBuilder::new(head);
        for raw in unclaimed {
            builder.unclaimed(raw);
        }
        let names: Vec<String> = outputs.iter().map(|p| stem(p)).collect();
        let inherited = meta.fork.as_ref().map_or(0, |fork| fork.copied);
        let session = build_entries(builder, replay, inherited, &names);
        let mut parts = vec![part];
        parts.extend(outputs.into_iter().map(|path| {
            let len = std::fs::metadata(&path).map_or(0, |m| m.len());
            Part::closed(path, PartKind::Opaque, len)
        }));
        Ok(Conversation {
            source: source.clone(),
            native: Native { parts },
            session,
            notes,
        })
    }

    fn bodies(&self) -> &dyn BodyReader {
        self
    }

    /// The sub-agents of a session.
    fn subagents(&self, session: &Conversation) -> Vec<Source> {
        let source = &session.source;
        let chats = source.path.parent().filter(|f| f.ends_with(CHATS));
        let folder = chats.zip(SafeName::new(&source.id).ok());
        let folder = folder.map(|(chats, name)| rethread_disk::join(chats, &name));
        let files = folder.iter().flat_map(|f| folder_entries(f, &mut |_| {}));
        files.flat_map(|file| self.at_path(&file)).collect()
    }

    /// Whether an output was masked: the client puts a preview in the place of long outputs, and the name of
    /// a file that it wrote them to.
    fn is_masked(&self, output: &str) -> bool {
        let output = output.trim();
        output.starts_with("<tool_output_masked>") && output.ends_with("</tool_output_masked>")
    }

    fn is_own_frame(&self, role: Role, text: &str) -> bool {
        role == Role::System || is_frame(text)
    }

    fn copies_what_it_keeps(&self) -> bool {
        true
    }
}

fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

/// Other files that say they are this session.
pub(super) fn other_copies(path: &Path, id: &str) -> Vec<PathBuf> {
    let source = Source::new(super::FORMAT, id.to_owned(), path.to_owned());
    let mut files = store::same_named(&source);
    files.retain(|file| file_kind(file).and_then(|(_, id)| id).as_deref() == Some(id));
    files
}

fn same_session_elsewhere(path: &Path, id: &str) -> Vec<Note> {
    let note = |file: &PathBuf| {
        let what = format!("the same session is in `{}`, too", file.display());
        Note::remark(what).at(path)
    };
    other_copies(path, id).iter().map(note).collect()
}

pub(super) fn copy_rank(path: &Path) -> (Option<Moment>, bool, Reverse<&Path>) {
    let updated = scan_file(path, ScanDepth::Quick)
        .ok()
        .and_then(|s| s.meta.updated);
    (updated, !store::is_in_hash_folder(path), Reverse(path))
}
