//! Sessions of OpenCode: rows of a database that the client may be writing to, trees of JSON files
//! that older versions wrote, and exported files.
//!
//! See `docs/formats/opencode.md`.

mod agents;
mod append;
mod blocks;
mod body;
mod carry;
mod check;
mod connection;
mod create;
mod database;
mod document;
mod draft;
mod entries;
mod export;
mod facts;
mod fork;
mod ids;
mod info;
mod kinds;
mod layout;
mod members;
mod new_database;
mod own;
mod project;
mod read;
mod reading;
mod remove;
mod rename;
mod results;
mod rows;
mod said;
mod store;
mod summary;
mod tell;
mod tool;
mod tree;
mod vfs;
mod writing;

use std::ops::Range;
use std::path::{Path, PathBuf};

use rethread_model::{Body, EntryIx, Note, Session, Summary};

use crate::carry::{Goods, Place, Put};
use crate::{
    About, Appended, Can, Client, Conversation, Env, Fork, Format, FormatRef, Keeps, Made,
    MessageInput, Native, NewSession, OpenError, OwnWords, Removal, Resume, Root, Source, Told,
    ToldAgent, Violation, Want, WriteError, Writing,
};

use self::blocks::By;

pub use kinds::{CLOSED_TABLES, Fate, RECORD_TYPES, RecordType};
pub use new_database::create_database;

/// The slug of the format.
pub(crate) const SLUG: &str = "opencode";

/// The format as a value.
pub const FORMAT: FormatRef = FormatRef::new(&OpenCode);

static ABOUT: About = About {
    slug: SLUG,
    aliases: &[],
    name: "OpenCode",
    versions: "0.x and 1.x",
    can: &[Can::Read, Can::Write, Can::Resume],
    where_it_looks: "`~/.local/share/opencode`, or where `XDG_DATA_HOME` and `OPENCODE_DB` say",
    in_home: &[
        ".local/share/opencode/opencode*.db",
        ".local/share/opencode/opencode*.db-wal",
        ".local/share/opencode/storage",
        ".local/share/opencode/project/*/storage",
    ],
    in_project: &[],
};

/// Sessions of OpenCode.
#[derive(Clone, Copy, Debug)]
pub struct OpenCode;

impl Format for OpenCode {
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
        body::body(native, session, entry, By::Person)
    }

    fn sent(&self, native: &Native, session: &Session, entry: EntryIx) -> Body {
        body::body(native, session, entry, By::Model)
    }

    fn own_words(&self) -> Option<OwnWords> {
        Some(own::WORDS)
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
        // The client shows nothing but what is in its database.
        let kept = layout::kept(&summary.path).ok()?;
        matches!(kept, layout::Kept::Database).then(|| Resume {
            program: SLUG,
            args: vec!["-s".to_owned(), summary.head.id.clone()],
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
        agents::tell(w, parent, agent)
    }

    fn link_agents(
        &self,
        w: &Writing<'_>,
        parent: &Source,
        started: &[(&str, &Source)],
    ) -> Result<(), WriteError> {
        agents::link(w, parent, started)
    }

    fn base(&self, source: &Source) -> PathBuf {
        carry::base(source)
    }

    fn stage(&self, w: &Writing<'_>, place: &Place, folder: &Path) -> Result<(), WriteError> {
        carry::stage(w, place, folder)
    }

    fn put(&self, w: &Writing<'_>, place: &Place, goods: &Goods) -> Result<Put, WriteError> {
        carry::put(w, place, goods)
    }

    fn unpacked(&self, goods: &Goods) -> Result<Source, WriteError> {
        carry::unpacked(goods)
    }

    fn stow(&self, w: &Writing<'_>, source: &Source, items: &[Vec<u8>]) -> Result<(), WriteError> {
        carry::stow(w, source, items)
    }

    fn stowed(&self, conversation: &Conversation) -> Result<Vec<Vec<u8>>, OpenError> {
        Ok(carry::stowed(conversation))
    }

    fn check(&self, path: &Path, out: &mut dyn FnMut(Violation)) -> Result<Option<u64>, OpenError> {
        check::check(path, out)
    }

    fn create(&self, w: &Writing<'_>, new: &NewSession) -> Result<Made, WriteError> {
        create::create(w, new)
    }

    fn append(
        &self,
        w: &Writing<'_>,
        source: &Source,
        messages: &[MessageInput],
    ) -> Result<Appended, WriteError> {
        append::append(w, source, messages)
    }

    fn keeps(&self) -> Keeps {
        tell::KEEPS
    }

    fn leaves_out(&self, told: &[Told]) -> Vec<Range<usize>> {
        tell::leaves_out(told)
    }

    fn tell(&self, w: &Writing<'_>, source: &Source, told: &[Told]) -> Result<(), WriteError> {
        tell::tell(w, source, told)
    }

    fn rename(
        &self,
        w: &Writing<'_>,
        source: &Source,
        title: &str,
    ) -> Result<Vec<Note>, WriteError> {
        rename::rename(w, source, title)
    }

    fn fork(&self, w: &Writing<'_>, source: &Source, fork: &Fork) -> Result<Made, WriteError> {
        fork::fork(w, source, fork)
    }

    fn resume_refusal(&self, summary: &Summary) -> Option<(String, String)> {
        let path = summary.path.display();
        let is_document = matches!(layout::kept(&summary.path), Ok(layout::Kept::Export(..)));
        is_document.then(|| {
            (
                format!(
                    "`{path}` is a document, and OpenCode goes on with what is in its database"
                ),
                format!("`opencode import {path}` takes it in"),
            )
        })
    }

    fn remove(&self, source: &Source, for_good: bool) -> Result<Removal, WriteError> {
        remove::remove(source, for_good)
    }

    fn rows(&self, source: &Source) -> Result<Option<Native>, OpenError> {
        read::rows(source)
    }
}
