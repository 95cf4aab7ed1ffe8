//! A conversation with the files that belong to it, for what shows its pictures.

use std::cell::{OnceCell, RefCell};
use std::io::{self, Write};

use rethread_formats::Conversation;
use rethread_formats::carry::{OriginalFile, original_files};
use rethread_model::{Blob, Bodies, Body, EntryIx, Note, Piece};

/// Larger files are named, not shown.
const LARGEST: usize = 32 * 1024 * 1024;

/// A conversation that also gives the bytes of its files: of those that its format counts as its own,
/// or that came along in an export, and of no others.
pub struct ConversationWithFiles<'a> {
    conversation: &'a Conversation,
    files: OnceCell<Vec<OriginalFile<'a>>>,
    failed: RefCell<Vec<Note>>,
}

impl<'a> ConversationWithFiles<'a> {
    /// A conversation with its files; they are looked for when the first one is asked for.
    pub fn of_conversation(conversation: &'a Conversation) -> Self {
        Self {
            conversation,
            files: OnceCell::new(),
            failed: RefCell::default(),
        }
    }

    /// The files that were asked for and are there, but could not be read.
    pub fn notes(&self) -> Vec<Note> {
        self.failed.borrow().clone()
    }

    fn add_note(&self, what: String) {
        let note = Note::damage(what).at(&self.conversation.source.path);
        self.failed.borrow_mut().push(note);
    }
}

impl Bodies for ConversationWithFiles<'_> {
    fn body(&self, ix: EntryIx) -> Body {
        self.conversation.body(ix)
    }

    fn pieces(&self, ix: EntryIx) -> Vec<Piece> {
        self.conversation.pieces(ix)
    }

    fn inline(&self, blob: &Blob) -> Option<Vec<u8>> {
        self.conversation.inline(blob)
    }

    fn file(&self, blob: &Blob) -> Option<Vec<u8>> {
        let Blob::File(path) = blob else {
            return None;
        };
        let wanted = path.file_name()?.to_str()?;
        let all = || {
            original_files(self.conversation, None).unwrap_or_else(|e| {
                self.add_note(format!("its files cannot be looked at: {e}; left out"));
                Vec::new()
            })
        };
        let files = self.files.get_or_init(all);
        let found = files
            .iter()
            .find(|f| f.name.rsplit('/').next() == Some(wanted))?;
        let mut bytes = LimitedBuffer::default();
        match found.copy_content(&mut bytes) {
            Ok(_) => Some(bytes.taken),
            // It is named instead.
            Err(_) if bytes.is_full => None,
            Err(e) => {
                self.add_note(format!("`{}` cannot be read: {e}; left out", found.name));
                None
            }
        }
    }
}

/// Takes so many bytes and no more.
#[derive(Default)]
struct LimitedBuffer {
    taken: Vec<u8>,
    /// Whether there were more.
    is_full: bool,
}

impl Write for LimitedBuffer {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        if self.taken.len() + buf.len() > LARGEST {
            self.is_full = true;
            return Err(io::Error::other("too large to be shown"));
        }
        self.taken.extend_from_slice(buf);
        Ok(buf.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
