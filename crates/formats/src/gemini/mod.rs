//! Sessions of Gemini CLI: a log of JSON lines in which later ones replace earlier ones, or one JSON
//! document in older versions.
//!
//! Checkpoints that the person saved, and the log of a project's prompts, are sources of their own.
//! See `docs/formats/gemini.md`.

mod body;
mod calls;
mod content;
mod document;
mod facts;
mod fields;
mod glance;
mod layout;
mod message;
mod meta;
mod outline;
mod project;
mod read;
mod replay;
mod scan;
mod sniff;
mod summary;
mod types;
mod weave;

use std::path::{Path, PathBuf};

use rethread_model::{Body, EntryIx, Note, Session, Summary};

use crate::{About, Can, Conversation, Env, Format, Native, OpenError, Root, Source, Want};

pub use project::project_hash;
pub use types::{Treatment, treatment};

/// The slug of the format.
pub(crate) const SLUG: &str = "gemini";

/// The program's name for people.
const AGENT: &str = "Gemini CLI";

static ABOUT: About = About {
    slug: SLUG,
    aliases: &["gemini-cli"],
    name: AGENT,
    versions: "0.1 to 0.61",
    can: &[Can::Read],
    where_it_looks: "`~/.gemini/tmp`, or where `GEMINI_CLI_HOME` says",
};

/// Sessions of Gemini CLI.
#[derive(Clone, Copy, Debug)]
pub struct Gemini;

impl Format for Gemini {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn locate(&self, env: &Env, _known: &[PathBuf]) -> Vec<Root> {
        layout::locate(env)
    }

    fn list(&self, root: &Root, out: &mut dyn FnMut(Result<Source, Note>)) {
        layout::list(&root.path, out);
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
        layout::files(source)
    }

    fn is_whole(&self, source: &Source) -> bool {
        read::is_resumed(source)
    }
}
