//! A conversation that was read: its original bytes, what they mean, and what was wrong.

use std::fmt;

use rethread_model::{Blob, Bodies, Body, EntryIx, Note, Piece, Session, Severity};

use crate::carry::CarriedFile;
use crate::{Native, OpenError, Source, WriteError, Writing};

/// A conversation that was read.
pub struct Conversation {
    /// Where it was found.
    pub source: Source,
    /// Its original records.
    pub native: Native,
    /// What they mean.
    pub session: Session,
    /// What was wrong with them.
    pub notes: Vec<Note>,
}

impl Conversation {
    /// What the client sends of each entry, for those who ask what a model sees.
    pub fn sent(&self) -> Sent<'_> {
        Sent(self)
    }

    /// The files that the session had where it was first found, where its source carries them along.
    pub fn carried(&self) -> Result<Vec<CarriedFile<'_>>, OpenError> {
        match self.source.format.reader().exports() {
            Some(exports) => exports.carried(self),
            None => Ok(Vec::new()),
        }
    }

    /// The values that travel along in the session.
    pub fn embedded_original(&self) -> Result<Vec<Vec<u8>>, OpenError> {
        match self.source.format.carrier() {
            Some(carrier) => carrier.embedded_original(self),
            None => Ok(Vec::new()),
        }
    }

    /// What is damaged, for who makes a copy of what was read: that is in no copy, so it is told, or
    /// refused where that was asked for.
    pub(crate) fn damage(&self, w: &Writing<'_>) -> Result<Vec<Note>, WriteError> {
        let is_damage = |note: &&Note| note.severity == Severity::Damage;
        let damage: Vec<Note> = self.notes.iter().filter(is_damage).cloned().collect();
        if let Some(note) = damage.first().filter(|_| w.strict) {
            let path = note.path.as_ref().unwrap_or(&self.source.path);
            return Err(OpenError::Damaged {
                path: path.clone(),
                line: note.line,
                why: note.message.trim_end_matches("; skipped").to_owned(),
            }
            .into());
        }
        Ok(damage)
    }
}

/// What a client sends of the entries of a conversation.
#[derive(Clone, Copy, Debug)]
pub struct Sent<'a>(&'a Conversation);

impl Bodies for Sent<'_> {
    fn body(&self, ix: EntryIx) -> Body {
        let Conversation {
            native, session, ..
        } = self.0;
        self.0
            .source
            .format
            .reader()
            .bodies()
            .sent(native, session, ix)
    }

    fn pieces(&self, ix: EntryIx) -> Vec<Piece> {
        self.0.pieces(ix)
    }

    fn inline(&self, blob: &Blob) -> Option<Vec<u8>> {
        self.0.inline(blob)
    }
}

impl Bodies for Conversation {
    fn body(&self, ix: EntryIx) -> Body {
        self.source
            .format
            .reader()
            .bodies()
            .body(&self.native, &self.session, ix)
    }

    fn pieces(&self, ix: EntryIx) -> Vec<Piece> {
        let bodies = self.source.format.reader().bodies();
        bodies.pieces(&self.native, &self.session, ix)
    }

    fn inline(&self, blob: &Blob) -> Option<Vec<u8>> {
        let Blob::Inline { record, start, len } = blob else {
            return None;
        };
        let bytes = self.native.read(*record).ok()?;
        let start = usize::try_from(*start).ok()?;
        let end = start.checked_add(usize::try_from(*len).ok()?)?;
        bytes.get(start..end).map(<[u8]>::to_vec)
    }
}

impl fmt::Debug for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversation")
            .field("source", &self.source)
            .field("session", &self.session)
            .field("notes", &self.notes)
            .finish_non_exhaustive()
    }
}
