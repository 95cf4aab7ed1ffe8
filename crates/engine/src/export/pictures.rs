//! A conversation with the files that belong to it, for what shows its pictures.

use std::cell::OnceCell;
use std::io::{self, Write};

use rethread_formats::Conversation;
use rethread_formats::carry::{Original, originals};
use rethread_model::{Blob, Bodies, Body, EntryIx, Piece};

/// Larger files are named, not shown.
const LARGEST: usize = 32 * 1024 * 1024;

/// A conversation that also gives the bytes of its files: of those that its format counts as its own,
/// or that came along in an export, and of no others.
pub struct Pictures<'a> {
    conversation: &'a Conversation,
    files: OnceCell<Vec<Original<'a>>>,
}

impl<'a> Pictures<'a> {
    /// A conversation with its files; they are looked for when the first one is asked for.
    pub fn of(conversation: &'a Conversation) -> Self {
        Self {
            conversation,
            files: OnceCell::new(),
        }
    }
}

impl Bodies for Pictures<'_> {
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
        let all = || originals(self.conversation, None).unwrap_or_default();
        let files = self.files.get_or_init(all);
        let found = files
            .iter()
            .find(|f| f.name.rsplit('/').next() == Some(wanted))?;
        let mut bytes = Limited(Vec::new());
        found.copy(&mut bytes).ok()?;
        Some(bytes.0)
    }
}

/// Takes so many bytes and no more.
struct Limited(Vec<u8>);

impl Write for Limited {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        if self.0.len() + buf.len() > LARGEST {
            return Err(io::Error::other("too large to be shown"));
        }
        self.0.extend_from_slice(buf);
        Ok(buf.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
