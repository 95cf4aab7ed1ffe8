//! What every format can do: its facets.

mod carrier;
mod client;
mod facets;
mod format_ref;
mod projects;
mod reader;
mod rules;
mod store;
mod writer;

pub use carrier::Carrier;
pub(crate) use carrier::unreadable_pieces;
pub use client::{Client, Resume};
pub(crate) use facets::format_facets;
pub use format_ref::FormatRef;
pub use projects::{CommandHook, Hooks, Projects, SymlinkHook};
pub use reader::{BodyReader, ExportReader, Reader, Want};
pub use rules::Rules;
pub use store::{Dependencies, Found, LocatedBy, LogWindow, Root, SeenPlace, Source, Store};
pub use writer::{Editor, Migrator, SubagentWriter, TreeWriter, Writer};

/// Facts about a format, from which lists, help and docs are made.
#[derive(Debug)]
pub struct About {
    /// The short name that people type.
    pub slug: &'static str,
    /// Other names that people type.
    pub aliases: &'static [&'static str],
    /// The name for people.
    pub name: &'static str,
    /// Whether that is the name of an agent, who then speaks in all its sessions. Those of other formats
    /// name their agents themselves.
    pub is_agent: bool,
    /// The versions that are read.
    pub versions: &'static str,
    /// What it says when there is nothing: where it looks.
    pub where_it_looks: &'static str,
    /// What holds its conversations in a home, and nothing else: files and folders with all that is
    /// in them, as patterns of a shell. Only that is copied from other machines.
    pub in_home: &'static [&'static str],
    /// What holds its conversations in a project, in the same way.
    pub in_project: &'static [&'static str],
    /// The client that went on with sessions from every other format, as tests show.
    pub judge: Option<&'static str>,
}

/// Something that can be done with the sessions of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Can {
    /// Read them.
    Read,
    /// Start one, and add to it.
    Write,
    /// Continue them in their own client.
    Resume,
}

/// How one agent, or one document, writes conversations down: the facets that it has. What can be
/// done with its sessions follows from them.
pub trait Format: Sync {
    /// Facts about it.
    fn about(&self) -> &'static About;

    /// Where its sessions are kept.
    fn store(&self) -> &dyn Store;

    /// What its sessions say.
    fn reader(&self) -> &dyn Reader;

    /// Writing sessions; none where they are only read.
    fn writer(&self) -> Option<&dyn Writer> {
        None
    }

    /// Keeping originals of other formats, and putting whole sessions into a store.
    fn carrier(&self) -> Option<&dyn Carrier> {
        None
    }

    /// The program that continues sessions; none where there is none.
    fn client(&self) -> Option<&dyn Client> {
        None
    }

    /// The rules of its document; none where nobody wrote them down.
    fn rules(&self) -> Option<&dyn Rules> {
        None
    }

    /// Projects that hold its store; none where the store is in a home.
    fn projects(&self) -> Option<&dyn Projects> {
        None
    }
}
