//! Sessions of Gemini CLI: a log of JSON lines in which later ones replace earlier ones, or one JSON
//! document in older versions.
//!
//! Checkpoints that the person saved, and the log of a project's prompts, are sources of their own.
//! See `docs/formats/gemini.md`.

mod body;
mod calls;
mod carry;
mod check;
mod content;
mod document;
mod facts;
mod fields;
mod head;
mod index;
mod layout;
mod message;
mod meta;
mod nth;
mod own;
mod project;
mod read;
mod replay;
mod resume;
mod scan;
mod sniff;
mod summary;
mod tools;
mod types;
mod weave;
mod write;

use std::ops::Range;
use std::path::{Path, PathBuf};

use rethread_model::{Body, EntryIx, Note, Role, Session, Summary};

use crate::carry::{Goods, Place, Put};
use crate::{
    About, Appended, AskedEntry, Can, Client, Conversation, Env, Fork, Format, FormatRef, Keeps,
    Made, MessageInput, Native, NewSession, OpenError, OwnWords, Removal, Resume, Root, Source,
    Told, ToldAgent, Violation, Want, WriteError, Writing,
};

pub use project::{is_project_hash, project_hash};
pub use types::{Treatment, treatment};

/// The slug of the format.
pub(crate) const SLUG: &str = "gemini";

/// The program's name for people.
const AGENT: &str = "Gemini CLI";

/// The format as a value.
pub const FORMAT: FormatRef = FormatRef::new(&Gemini);

static ABOUT: About = About {
    slug: SLUG,
    aliases: &["gemini-cli"],
    name: AGENT,
    versions: "0.1 to 0.61",
    can: &[Can::Read, Can::Write, Can::Resume],
    where_it_looks: "`~/.gemini/tmp`, or where `GEMINI_CLI_HOME` says",
    in_home: &[
        ".gemini/projects.json",
        ".gemini/tmp/*/chats",
        ".gemini/tmp/*/tool-outputs",
        ".gemini/tmp/*/logs.json",
        ".gemini/tmp/*/checkpoint-*.json",
        ".gemini/tmp/*/.project_root",
        ".cache/.gemini/tmp/*/chats",
        ".cache/.gemini/tmp/*/tool-outputs",
        ".cache/.gemini/tmp/*/logs.json",
        ".cache/.gemini/tmp/*/checkpoint-*.json",
        ".cache/.gemini/tmp/*/.project_root",
    ],
    in_project: &[],
};

/// Sessions of Gemini CLI.
#[derive(Clone, Copy, Debug)]
pub struct Gemini;

impl Format for Gemini {
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

    fn is_masked(&self, output: &str) -> bool {
        facts::is_masked(output)
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
            program: "gemini",
            finds_by_folder: true,
        })
    }

    fn resume(&self, summary: &Summary) -> Option<Resume> {
        resume::resume(summary)
    }

    fn resume_refusal(&self, summary: &Summary) -> Option<(String, String)> {
        resume::refusal(summary)
    }

    fn resume_notes(&self, env: &Env, summary: &Summary) -> Vec<Note> {
        resume::notes(env, summary)
    }

    fn agents(&self, session: &Conversation) -> Vec<Source> {
        layout::agents(&session.source)
    }

    fn tell_agent(
        &self,
        w: &Writing<'_>,
        parent: &Source,
        agent: &ToldAgent<'_>,
    ) -> Result<Source, WriteError> {
        let source = write::start_agent(w, parent)?;
        self.tell(w, &source, agent.told)?;
        Ok(source)
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

    fn put(&self, w: &Writing<'_>, place: &Place, goods: &Goods) -> Result<Put, WriteError> {
        carry::put(w, place, goods)
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

    fn is_whole(&self, source: &Source) -> bool {
        read::is_resumed(source)
    }

    fn create(&self, w: &Writing<'_>, new: &NewSession) -> Result<Made, WriteError> {
        write::create(w, new)
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
        role == Role::System || message::is_frame(text)
    }

    fn keeps(&self) -> Keeps {
        write::KEEPS
    }

    fn copies_what_it_keeps(&self) -> bool {
        true
    }

    fn leaves_out(&self, told: &[Told]) -> Vec<Range<usize>> {
        write::leaves_out(told)
    }

    fn tell(&self, w: &Writing<'_>, source: &Source, told: &[Told]) -> Result<(), WriteError> {
        write::tell(w, source, told)
    }

    fn replace(
        &self,
        w: &Writing<'_>,
        source: &Source,
        entry: &AskedEntry,
        message: &MessageInput,
    ) -> Result<Appended, WriteError> {
        write::replace(w, source, entry, message)
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

    fn remove(&self, source: &Source, _for_good: bool) -> Result<Removal, WriteError> {
        Ok(Removal::Files(layout::removed(source)))
    }
}
