//! Sessions of the coding agent pi: a tree of entries in one file of JSON lines.
//!
//! The first value of a file is its header; every other line is an entry that names its parent, and
//! the last one is where the agent goes on. Atomic writes the same format elsewhere; what differs
//! between the two is a [`Flavour`]. See `docs/formats/pi.md`.

mod blocks;
mod body;
pub(crate) mod carry;
mod check;
mod context;
mod entry;
mod facts;
mod fields;
mod grow;
mod header;
mod id;
mod kinds;
mod layout;
mod links;
mod manager;
mod migrate;
mod native_context;
mod read;
mod role;
mod scan;
mod summary;
mod tree;
pub(crate) mod write;

use std::path::{Path, PathBuf};

use rethread_model::{Body, EntryIx, Note, Session, Summary};

use crate::{
    About, Appended, AskedEntry, Branch, Can, Client, Conversation, Env, Fork, Format, FormatRef,
    Keeps, Made, MessageInput, Migrated, Native, NativeContext, NewSession, OpenError, Resume,
    Root, Source, Told, Violation, Want, WriteError, Writing,
};

pub(crate) use body::body;
pub(crate) use check::check;
pub(crate) use layout::{Place, at_path, expanded, files, is_atomic, list, locate_places};
pub(crate) use native_context::native_context;
pub(crate) use read::read;
pub(crate) use summary::summarize;
pub use summary::summarize_from;

pub use context::{Leaf, ModelRef, SessionContext};
pub use entry::{CURRENT_VERSION, EntryData, EntryKind, SessionEntry};
pub use layout::encode_cwd;
pub use manager::{
    Agent, BlockKind, Content, ContentBlock, Cost, Host, Message, MessageBody, NewAssistant,
    NewBash, NewMessage, NewSessionOptions, NewToolResult, NewUser, SessionError, SessionHeader,
    SessionInfo, SessionManager, StopReason, Usage, most_recent_session, session_folder,
};
pub use tree::{SessionTree, TreeNode};

/// What differs between the programs that write this format.
pub(crate) struct Flavour {
    /// The slug of the format.
    pub(crate) slug: &'static str,
    /// The program's name for people.
    pub(crate) agent: &'static str,
    /// The program.
    pub(crate) program: Agent,
    /// The format.
    pub(crate) format: FormatRef,
}

/// The newest version that the programs write.
pub(crate) const VERSION: u64 = 3;

/// The format as a value.
pub const FORMAT: FormatRef = FormatRef::new(&Pi);

static ABOUT: About = About {
    slug: "pi",
    aliases: &[],
    name: "pi",
    versions: "1 to 3",
    can: &[Can::Read, Can::Write, Can::Resume],
    where_it_looks: "`~/.pi/agent/sessions`, or where `PI_CODING_AGENT_DIR` and `PI_CODING_AGENT_SESSION_DIR` say",
    in_home: &[".pi/agent/sessions", ".pi/agent/*.jsonl"],
    in_project: &[],
};

/// What is special about pi.
pub(crate) static FLAVOUR: Flavour = Flavour {
    slug: "pi",
    agent: "pi",
    program: Agent::Pi,
    format: FORMAT,
};

/// The command that continues a session: both programs take its file.
pub(crate) fn resume(flavour: &Flavour, summary: &Summary) -> Resume {
    let file = summary.path.to_string_lossy().into_owned();
    Resume {
        program: flavour.slug,
        args: vec!["--session".to_owned(), file],
        folder: summary.head.workspace.path.as_ref().map(PathBuf::from),
    }
}

/// Sessions of pi, versions 1 to 3.
#[derive(Clone, Copy, Debug)]
pub struct Pi;

impl Format for Pi {
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
        list(&FLAVOUR, &root.path, out);
    }

    fn at_path(&self, path: &Path) -> Vec<Source> {
        at_path(&FLAVOUR, path)
    }

    fn summarize(&self, source: &Source, want: Want) -> Summary {
        summarize(&FLAVOUR, source, want)
    }

    fn read(&self, source: &Source) -> Result<Conversation, OpenError> {
        read(&FLAVOUR, source)
    }

    fn body(&self, native: &Native, session: &Session, entry: EntryIx) -> Body {
        body(native, session, entry)
    }

    fn files(&self, source: &Source) -> Result<Vec<PathBuf>, OpenError> {
        files(&FLAVOUR, source)
    }

    fn client(&self) -> Option<Client> {
        Some(Client {
            program: FLAVOUR.slug,
            finds_by_folder: false,
        })
    }

    fn resume(&self, summary: &Summary) -> Option<Resume> {
        Some(resume(&FLAVOUR, summary))
    }

    fn shelf(
        &self,
        w: &Writing<'_>,
        place: &crate::carry::Place,
        _main: &str,
    ) -> Result<PathBuf, WriteError> {
        carry::shelf(&FLAVOUR, w, place)
    }

    fn stow(&self, w: &Writing<'_>, source: &Source, items: &[Vec<u8>]) -> Result<(), WriteError> {
        carry::stow(&FLAVOUR, w, source, items)
    }

    fn stowed(&self, conversation: &Conversation) -> Result<Vec<Vec<u8>>, OpenError> {
        carry::stowed(conversation)
    }

    fn check(&self, path: &Path, out: &mut dyn FnMut(Violation)) -> Result<Option<u64>, OpenError> {
        Ok(check(&FLAVOUR, path, out))
    }

    fn native_context(
        &self,
        source: &Source,
        at: Option<&AskedEntry>,
    ) -> Result<Option<(NativeContext, Vec<Note>)>, OpenError> {
        native_context(&FLAVOUR, source, at).map(Some)
    }

    fn create(&self, w: &Writing<'_>, new: &NewSession) -> Result<Made, WriteError> {
        write::create(&FLAVOUR, w, new)
    }

    fn append(
        &self,
        w: &Writing<'_>,
        source: &Source,
        messages: &[MessageInput],
    ) -> Result<Appended, WriteError> {
        write::append(&FLAVOUR, w, source, messages)
    }

    fn keeps(&self) -> Keeps {
        write::KEEPS
    }

    fn tell(&self, w: &Writing<'_>, source: &Source, told: &[Told]) -> Result<(), WriteError> {
        write::tell(&FLAVOUR, w, source, told)
    }

    fn branch(
        &self,
        w: &Writing<'_>,
        source: &Source,
        branch: &Branch<'_>,
    ) -> Result<Appended, WriteError> {
        write::branch(&FLAVOUR, w, source, branch)
    }

    fn label(
        &self,
        w: &Writing<'_>,
        source: &Source,
        entry: &AskedEntry,
        label: Option<&str>,
    ) -> Result<Appended, WriteError> {
        write::label(&FLAVOUR, w, source, (entry, label))
    }

    fn migrate(&self, w: &Writing<'_>, source: &Source) -> Result<Migrated, WriteError> {
        write::migrate(&FLAVOUR, w, source)
    }

    fn rename(
        &self,
        w: &Writing<'_>,
        source: &Source,
        title: &str,
    ) -> Result<Vec<Note>, WriteError> {
        write::rename(&FLAVOUR, w, source, title)
    }

    fn fork(&self, w: &Writing<'_>, source: &Source, fork: &Fork) -> Result<Made, WriteError> {
        write::fork(&FLAVOUR, w, source, fork)
    }
}
