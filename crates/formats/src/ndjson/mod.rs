//! Unified NDJSON: a file with a header and a line for each session, of whatever agent.
//!
//! Version 1 of the document is read and written (by the export, which is no matter of one format);
//! of version 2 the flat files are read that its upstream program writes. A file may be packed with
//! gzip or zstd. See `docs/formats/ndjson.md`.

mod blocks;
mod body;
mod carried;
mod check;
mod entry;
mod fields;
mod flat;
mod head;
mod index;
mod layout;
mod message;
mod packed;
mod pieces;
mod read;
mod rules;
mod schema;
mod summary;

use std::path::{Path, PathBuf};

use rethread_model::{Body, EntryIx, Note, Session, Summary};

use crate::carry::{CarriedFile, Place};
use crate::{
    About, Can, Conversation, Env, Format, FormatRef, Native, OpenError, Root, Source, Violation,
    Want, WriteError, Writing,
};

pub use carried::UnifiedRecord;
pub use check::name_of;
pub use index::more_of_header;
pub use layout::{has_no_sessions, unpacking_damage};
pub use schema::schema;

/// The slug of the format.
pub(crate) const SLUG: &str = "ndjson";

/// The format as a value.
pub const FORMAT: FormatRef = FormatRef::new(&Ndjson);

static ABOUT: About = About {
    slug: SLUG,
    aliases: &["unified"],
    name: "Unified NDJSON",
    versions: "1.x, and flat 2.x",
    can: &[Can::Read],
    where_it_looks: "files that are named, such as `./export.ndjson`",
    in_home: &[],
    in_project: &[],
};

/// Exports in Unified NDJSON.
#[derive(Clone, Copy, Debug)]
pub struct Ndjson;

impl Format for Ndjson {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn value(&self) -> FormatRef {
        FORMAT
    }

    fn locate(&self, _: &Env, _known: &[PathBuf]) -> Vec<Root> {
        Vec::new()
    }

    fn list(&self, root: &Root, out: &mut dyn FnMut(Result<Source, Note>)) {
        for source in self.at_path(&root.path) {
            out(Ok(source));
        }
    }

    fn at_path(&self, path: &Path) -> Vec<Source> {
        layout::at_path(path)
    }

    fn summarize(&self, source: &Source, want: Want) -> Summary {
        summary::summarize(source, want)
    }

    fn read(&self, source: &Source) -> Result<Conversation, OpenError> {
        read::read(source)
    }

    fn body(&self, native: &Native, session: &Session, entry: EntryIx) -> Body {
        body::body(native, session, entry)
    }

    fn files(&self, source: &Source) -> Result<Vec<PathBuf>, OpenError> {
        Ok(vec![source.path.clone()])
    }

    fn agents(&self, session: &Conversation) -> Vec<Source> {
        layout::agents(session)
    }

    fn unified_record(&self, conversation: &Conversation) -> Option<UnifiedRecord> {
        carried::unified_record(conversation)
    }

    fn carried<'a>(
        &self,
        conversation: &'a Conversation,
    ) -> Result<Vec<CarriedFile<'a>>, OpenError> {
        carried::carried(conversation)
    }

    /// There is no store: the user says where.
    fn shelf(&self, _: &Writing<'_>, place: &Place, _main: &str) -> Result<PathBuf, WriteError> {
        let nowhere = || WriteError::BadInput("an export needs `-o DIR`".to_owned());
        place.root.clone().ok_or_else(nowhere)
    }

    fn check(&self, path: &Path, out: &mut dyn FnMut(Violation)) -> Result<Option<u64>, OpenError> {
        check::check(path, out)
    }
}
