//! Sessions of the coding agent Atomic, which writes what pi writes, in a folder of its own.
//!
//! See `docs/formats/atomic.md`.

mod layout;
mod read;

use std::path::{Path, PathBuf};

use rethread_model::{Body, EntryIx, Note, Session, Summary};

use crate::pi::{self, Flavour};
use crate::{About, Can, Conversation, Env, Format, Native, OpenError, Root, Source, Want};

static ABOUT: About = About {
    slug: "atomic",
    aliases: &[],
    name: "Atomic",
    versions: "1 to 3",
    can: &[Can::Read],
    where_it_looks: "`~/.atomic/agent/sessions`, or where `ATOMIC_CODING_AGENT_DIR` and `ATOMIC_CODING_AGENT_SESSION_DIR` say",
};

/// What is special about Atomic.
static FLAVOUR: Flavour = Flavour {
    slug: "atomic",
    agent: "Atomic",
    format: &Atomic,
};

/// Sessions of Atomic, versions 1 to 3.
#[derive(Clone, Copy, Debug)]
pub struct Atomic;

impl Format for Atomic {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn locate(&self, env: &Env, _known: &[PathBuf]) -> Vec<Root> {
        layout::locate(env)
    }

    fn list(&self, root: &Root, out: &mut dyn FnMut(Result<Source, Note>)) {
        pi::list(&FLAVOUR, &root.path, out);
    }

    fn at_path(&self, path: &Path) -> Vec<Source> {
        pi::at_path(&FLAVOUR, path)
    }

    fn summarize(&self, source: &Source, want: Want) -> Summary {
        pi::summarize(&FLAVOUR, source, want)
    }

    fn read(&self, source: &Source) -> Result<Conversation, OpenError> {
        read::read(source)
    }

    fn body(&self, native: &Native, session: &Session, entry: EntryIx) -> Body {
        pi::body(native, session, entry)
    }

    fn files(&self, source: &Source) -> Result<Vec<PathBuf>, OpenError> {
        pi::files(&FLAVOUR, source)
    }
}
