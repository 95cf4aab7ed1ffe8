//! Sessions of the coding agent Atomic, which writes what pi writes, in a folder of its own.
//!
//! See `docs/formats/atomic.md`.

mod layout;
mod read;

use std::path::{Path, PathBuf};

use rethread_model::{Body, EntryIx, Note, Session, Summary};

use crate::carry::Place;
use crate::pi::{self, Flavour};
use crate::{
    About, Appended, AskedEntry, Branch, Can, Client, Conversation, Env, Fork, Format, FormatRef,
    Keeps, Made, MessageInput, Migrated, Native, NativeContext, NewSession, OpenError, Resume,
    Root, Source, Told, Violation, Want, WriteError, Writing,
};

/// The format as a value.
pub const FORMAT: FormatRef = FormatRef::new(&Atomic);

static ABOUT: About = About {
    slug: "atomic",
    aliases: &[],
    name: "Atomic",
    versions: "1 to 3",
    can: &[Can::Read, Can::Write, Can::Resume],
    where_it_looks: "`~/.atomic/agent/sessions`, or where `ATOMIC_CODING_AGENT_DIR` and `ATOMIC_CODING_AGENT_SESSION_DIR` say",
    in_home: &[".atomic/agent/sessions", ".atomic/agent/*.jsonl"],
    in_project: &[],
};

/// What is special about Atomic.
static FLAVOUR: Flavour = Flavour {
    slug: "atomic",
    agent: "Atomic",
    program: pi::Agent::Atomic,
    format: FORMAT,
};

/// Sessions of Atomic, versions 1 to 3.
#[derive(Clone, Copy, Debug)]
pub struct Atomic;

impl Format for Atomic {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn value(&self) -> FormatRef {
        FORMAT
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

    fn client(&self) -> Option<Client> {
        Some(Client {
            program: FLAVOUR.slug,
            finds_by_folder: false,
        })
    }

    fn resume(&self, summary: &Summary) -> Option<Resume> {
        Some(pi::resume(&FLAVOUR, summary))
    }

    fn shelf(&self, w: &Writing<'_>, place: &Place, _main: &str) -> Result<PathBuf, WriteError> {
        pi::carry::shelf(&FLAVOUR, w, place)
    }

    fn stow(&self, w: &Writing<'_>, source: &Source, items: &[Vec<u8>]) -> Result<(), WriteError> {
        pi::carry::stow(&FLAVOUR, w, source, items)
    }

    fn stowed(&self, conversation: &Conversation) -> Result<Vec<Vec<u8>>, OpenError> {
        pi::carry::stowed(conversation)
    }

    fn check(&self, path: &Path, out: &mut dyn FnMut(Violation)) -> Result<Option<u64>, OpenError> {
        Ok(pi::check(&FLAVOUR, path, out))
    }

    fn native_context(
        &self,
        source: &Source,
        at: Option<&AskedEntry>,
    ) -> Result<Option<(NativeContext, Vec<Note>)>, OpenError> {
        pi::native_context(&FLAVOUR, source, at).map(Some)
    }

    fn create(&self, w: &Writing<'_>, new: &NewSession) -> Result<Made, WriteError> {
        pi::write::create(&FLAVOUR, w, new)
    }

    fn append(
        &self,
        w: &Writing<'_>,
        source: &Source,
        messages: &[MessageInput],
    ) -> Result<Appended, WriteError> {
        pi::write::append(&FLAVOUR, w, source, messages)
    }

    fn keeps(&self) -> Keeps {
        pi::write::KEEPS
    }

    fn tell(&self, w: &Writing<'_>, source: &Source, told: &[Told]) -> Result<(), WriteError> {
        pi::write::tell(&FLAVOUR, w, source, told)
    }

    fn branch(
        &self,
        w: &Writing<'_>,
        source: &Source,
        branch: &Branch<'_>,
    ) -> Result<Appended, WriteError> {
        pi::write::branch(&FLAVOUR, w, source, branch)
    }

    fn label(
        &self,
        w: &Writing<'_>,
        source: &Source,
        entry: &AskedEntry,
        label: Option<&str>,
    ) -> Result<Appended, WriteError> {
        pi::write::label(&FLAVOUR, w, source, (entry, label))
    }

    fn migrate(&self, w: &Writing<'_>, source: &Source) -> Result<Migrated, WriteError> {
        pi::write::migrate(&FLAVOUR, w, source)
    }

    fn rename(
        &self,
        w: &Writing<'_>,
        source: &Source,
        title: &str,
    ) -> Result<Vec<Note>, WriteError> {
        pi::write::rename(&FLAVOUR, w, source, title)
    }

    fn fork(&self, w: &Writing<'_>, source: &Source, fork: &Fork) -> Result<Made, WriteError> {
        pi::write::fork(&FLAVOUR, w, source, fork)
    }
}
