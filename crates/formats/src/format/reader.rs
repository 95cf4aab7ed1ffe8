//! What the sessions of a format say.

use std::path::Path;

use rethread_model::{Body, EntryIx, Json, Note, Piece, Role, Session, Summary};

use super::Source;
use crate::carry::CarriedFile;
use crate::{
    Conversation, EntryRef, Native, NativeContext, OpenError, OwnWords, SavedScan, UnifiedRecord,
};

/// How much a summary is to say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Want {
    /// Also tokens, cost and when messages were written, which may mean reading everything. Without it, where
    /// messages are counted by names or by the beginnings of records, that may be only nearly right.
    pub usage: bool,
    /// Also the size, where that means looking at many files. Without it, the size may be zero.
    pub size: bool,
}

impl Want {
    /// All that a list can say: what people are shown is counted with it, so that the same number stands
    /// everywhere.
    pub const WHOLE: Self = Self {
        usage: true,
        size: true,
    };
}

/// What the sessions of a format say. Reading never fails on content and never writes.
pub trait Reader: Sync {
    /// What a list shows of a session. Damage is in its notes.
    fn summarize(&self, source: &Source, want: Want) -> Summary;

    /// What a list shows of a session, going on from where an earlier scan of it ended; and where the
    /// next one can go on, for logs that are scanned so.
    fn summarize_from(
        &self,
        source: &Source,
        want: Want,
        _from: Option<&SavedScan>,
    ) -> (Summary, Option<SavedScan>) {
        (self.summarize(source, want), None)
    }

    /// Reads a session in one pass.
    fn read(&self, source: &Source) -> Result<Conversation, OpenError>;

    /// What single entries say.
    fn bodies(&self) -> &dyn BodyReader;

    /// The sub-agents that a session started, as far as its store has them. Theirs may be among them.
    fn subagents(&self, _: &Conversation) -> Vec<Source> {
        Vec::new()
    }

    /// The records of a session that has no file of its own, such as rows of a database; none of
    /// one that has.
    fn rows(&self, _: &Source) -> Result<Option<Native>, OpenError> {
        Ok(None)
    }

    /// What a model would see at an entry, in the format's own words; at the leaf where none is
    /// named, and what was wrong. None where these are those of its records, or where it has none.
    fn native_context(
        &self,
        _: &Source,
        _at: Option<&EntryRef>,
    ) -> Result<Option<(NativeContext, Vec<Note>)>, OpenError> {
        Ok(None)
    }

    /// Whether what stands in the place of a tool's output is only what the client left of it in its
    /// own file, to save room. Nobody said anything else then.
    fn is_masked(&self, _output: &str) -> bool {
        false
    }

    /// Whether its client tells the model this by itself whenever it works, such as where it is and
    /// what it may do. Another client does that in its own way, so it does not go along to it.
    fn is_own_frame(&self, role: Role, _text: &str) -> bool {
        role == Role::System
    }

    /// Whether its client writes what it keeps of the past once more behind a summary of that.
    fn copies_what_it_keeps(&self) -> bool {
        false
    }

    /// Files that hold sessions of other formats; none where it is no format for exports.
    fn exports(&self) -> Option<&dyn ExportReader> {
        None
    }
}

/// What single entries of a session say, decoded when somebody asks.
pub trait BodyReader: Sync {
    /// What an entry says.
    fn body(&self, native: &Native, session: &Session, entry: EntryIx) -> Body;

    /// What the client sends to its model of what an entry says, where that is something else.
    fn sent(&self, native: &Native, session: &Session, entry: EntryIx) -> Body {
        self.body(native, session, entry)
    }

    /// Whether the client is still writing what an entry says, and will write it anew: an answer that is
    /// not complete, in a source that is not only added to.
    fn is_unfinished(&self, _: &Native, _: &Session, _: EntryIx) -> bool {
        false
    }

    /// The pieces that a message came in, where the source gives each an id of its own.
    fn pieces(&self, _: &Native, _: &Session, _: EntryIx) -> Vec<Piece> {
        Vec::new()
    }

    /// The format's own words for what a model sees, where they are those of its records.
    fn own_words(&self) -> Option<OwnWords> {
        None
    }
}

/// A file of exported sessions, of whatever agent.
pub trait ExportReader: Sync {
    /// The records that together are a session record of the unified vocabulary, where the source is
    /// one already.
    fn unified_record(&self, conversation: &Conversation) -> Option<UnifiedRecord>;

    /// The files that a session had where it was first found, where its source carries them along.
    fn carried<'a>(
        &self,
        conversation: &'a Conversation,
    ) -> Result<Vec<CarriedFile<'a>>, OpenError>;

    /// What the header of an export says beside what every header says: names and values.
    fn more_of_header(&self, path: &Path) -> Vec<(String, Json)>;

    /// Whether a file is a healthy export that holds no session.
    fn has_no_sessions(&self, path: &Path) -> bool;

    /// What is wrong with a packed export that cannot be unpacked to its end.
    fn unpacking_damage(&self, path: &Path) -> Option<String>;
}
