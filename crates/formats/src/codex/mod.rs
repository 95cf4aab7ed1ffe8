//! Sessions of the Codex CLI: a file of JSON lines each, in which two streams run side by side, one
//! of what the model saw and one of what people saw.
//!
//! Four generations are read: one JSON document, bare items with state lines, wrapped items, and
//! wrapped items with numbers, whose forks point into other files. See `docs/formats/codex.md`.

mod agents;
mod base;
mod blocks;
mod body;
mod calls;
mod carry;
mod check;
mod document;
mod draft;
mod facts;
mod glance;
mod grow;
mod join;
mod layout;
mod meta;
mod meter;
mod names;
mod own;
mod packed;
mod prefix;
mod quick;
mod read;
mod record;
mod said;
mod shown;
mod summary;
mod write;

use std::ops::Range;
use std::path::{Path, PathBuf};

use rethread_model::{Body, EntryIx, Note, Role, Session, Summary};

use crate::carry::{Goods, Place, Put};
use crate::{
    About, Appended, Can, Client, Conversation, Env, Fork, Format, FormatRef, Keeps, Made,
    MessageInput, Native, NewSession, OpenError, OwnWords, Resume, Root, Source, Told, ToldAgent,
    Violation, Want, WriteError, Writing,
};

pub use record::{Care, record_type};
pub use summary::summarize_from;

/// The short name of the format.
const SLUG: &str = "codex";

/// The format as a value.
pub const FORMAT: FormatRef = FormatRef::new(&Codex);

static ABOUT: About = About {
    slug: SLUG,
    aliases: &["codex-cli"],
    name: "Codex CLI",
    versions: "all, from the one JSON file of 2025 to 0.166",
    can: &[Can::Read, Can::Write, Can::Resume],
    where_it_looks: "`~/.codex`, or where `CODEX_HOME` says",
    in_home: &[
        ".codex/sessions",
        ".codex/archived_sessions",
        ".codex/session_index.jsonl",
    ],
    in_project: &[],
};

/// Sessions of the Codex CLI.
#[derive(Clone, Copy, Debug)]
pub struct Codex;

impl Format for Codex {
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

    fn own_words(&self) -> Option<OwnWords> {
        Some(OwnWords::new(own::messages))
    }

    fn files(&self, source: &Source) -> Result<Vec<PathBuf>, OpenError> {
        layout::files(source)
    }

    fn client(&self) -> Option<Client> {
        Some(Client {
            program: SLUG,
            finds_by_folder: false,
        })
    }

    fn resume(&self, summary: &Summary) -> Option<Resume> {
        Some(Resume {
            program: SLUG,
            args: vec!["resume".to_owned(), summary.head.id.clone()],
            folder: summary.head.workspace.path.as_ref().map(PathBuf::from),
        })
    }

    fn agents(&self, session: &Conversation) -> Vec<Source> {
        agents::agents(session)
    }

    fn tell_agent(
        &self,
        w: &Writing<'_>,
        parent: &Source,
        agent: &ToldAgent<'_>,
    ) -> Result<Source, WriteError> {
        write::agent(w, parent, agent)
    }

    fn link_agents(
        &self,
        w: &Writing<'_>,
        parent: &Source,
        started: &[(&str, &Source)],
    ) -> Result<(), WriteError> {
        write::link_agents(w, parent, started)
    }

    fn base(&self, source: &Source) -> PathBuf {
        carry::base(source)
    }

    fn shelf(&self, w: &Writing<'_>, place: &Place, main: &str) -> Result<PathBuf, WriteError> {
        carry::shelf(w, place, main)
    }

    fn put(&self, w: &Writing<'_>, place: &Place, goods: &Goods) -> Result<Put, WriteError> {
        carry::put(w, place, goods)
    }

    fn opened_up(&self, w: &Writing<'_>, goods: &Goods) -> Result<Option<Goods>, WriteError> {
        carry::opened_up(w, goods)
    }

    fn stow(&self, w: &Writing<'_>, source: &Source, items: &[Vec<u8>]) -> Result<(), WriteError> {
        carry::stow(w, source, items)
    }

    fn stowed(&self, conversation: &Conversation) -> Result<Vec<Vec<u8>>, OpenError> {
        carry::stowed(conversation)
    }

    fn check(&self, path: &Path, out: &mut dyn FnMut(Violation)) -> Result<Option<u64>, OpenError> {
        check::check(path, out)
    }

    fn create(&self, w: &Writing<'_>, new: &NewSession) -> Result<Made, WriteError> {
        write::create_session(w, new)
    }

    fn append(
        &self,
        w: &Writing<'_>,
        source: &Source,
        messages: &[MessageInput],
    ) -> Result<Appended, WriteError> {
        write::append(w, source, messages)
    }

    fn is_own_frame(&self, role: Role, text: &str) -> bool {
        role == Role::System || said::is_frame(text)
    }

    fn keeps(&self) -> Keeps {
        write::KEEPS
    }

    fn leaves_out(&self, told: &[Told]) -> Vec<Range<usize>> {
        write::leaves_out(told)
    }

    fn tell(&self, w: &Writing<'_>, source: &Source, told: &[Told]) -> Result<(), WriteError> {
        write::tell(w, source, told)
    }

    fn rename(
        &self,
        w: &Writing<'_>,
        source: &Source,
        title: &str,
    ) -> Result<Vec<Note>, WriteError> {
        write::rename(w, source, title)
    }

    fn fork(&self, w: &Writing<'_>, source: &Source, fork: &Fork) -> Result<Made, WriteError> {
        write::fork(w, source, fork)
    }
}
