//! Agent Thread Storage Format: threads of a project in its `.agent` folder.
//!
//! A thread is a folder: `thread.json` describes it, `messages.jsonl` is an append-only log, and
//! `assets/` holds pictures by the hash of their bytes. See `docs/formats/atsf.md`.

mod append;
pub(crate) mod assets;
mod call_ids;
mod carry;
mod check;
mod config;
mod create;
mod fork;
mod hooks;
mod layout;
mod manifest;
mod message;
mod prepare;
mod read;
mod replace;
mod results;
mod splice;
mod summary;
mod tail;
mod tally;
mod unified;
mod version;

use std::path::{Path, PathBuf};

use rethread_model::{Body, EntryIx, Note, Role, Session, Summary, Workspace};

use crate::carry::Place;
use crate::{
    About, Appended, AskedEntry, Attachments, Can, Conversation, Env, Files, Fork, Format,
    FormatRef, Keeps, Made, MessageInput, Native, NewSession, OpenError, OwnWords, Root, Source,
    Violation, Want, WriteError, Writing,
};

pub use create::GITIGNORE;
pub use hooks::{CommandHook, Hooks, SymlinkHook, hooks, wants_worktree};
pub use summary::described;

/// The slug of the format.
pub(crate) const SLUG: &str = "atsf";

/// The version that we write.
pub(crate) const SPEC_VERSION: &str = "1.1";

/// The format as a value.
pub const FORMAT: FormatRef = FormatRef::new(&Atsf);

static ABOUT: About = About {
    slug: SLUG,
    aliases: &[],
    name: "Agent Thread Storage Format",
    versions: "1.x",
    can: &[Can::Read, Can::Write],
    where_it_looks: "`.agent/threads` in the current project, its git worktrees, and projects that sessions name",
    in_home: &[],
    in_project: &[".agent/threads", ".agent/config.json"],
};

/// Agent Thread Storage Format 1.1.
#[derive(Clone, Copy, Debug)]
pub struct Atsf;

impl Format for Atsf {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn value(&self) -> FormatRef {
        FORMAT
    }

    fn locate(&self, env: &Env, known: &[PathBuf]) -> Vec<Root> {
        layout::locate(env, known)
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

    fn moved_to(&self, path: &Path, workspace: &Workspace) -> Option<PathBuf> {
        layout::moved_to(path, workspace)
    }

    fn body(&self, native: &Native, session: &Session, entry: EntryIx) -> Body {
        read::body(native, session, entry)
    }

    fn own_words(&self) -> Option<OwnWords> {
        Some(OwnWords::new(read::own_messages))
    }

    fn files(&self, source: &Source) -> Result<Vec<PathBuf>, OpenError> {
        layout::files(source)
    }

    /// Its messages of the system are context that nobody typed; there is no client.
    fn is_own_frame(&self, _: Role, _: &str) -> bool {
        false
    }

    fn keeps(&self) -> Keeps {
        Keeps {
            attachments: Attachments {
                in_prompts: Files::All,
                in_answers: Files::All,
                ..Attachments::default()
            },
            ..Keeps::default()
        }
    }

    fn keeps_folders(&self) -> bool {
        true
    }

    fn project_of(&self, folder: &Path) -> Option<PathBuf> {
        Some(layout::project_for_writing(folder))
    }

    fn shelf(&self, w: &Writing<'_>, place: &Place, _main: &str) -> Result<PathBuf, WriteError> {
        carry::shelf(w, place)
    }

    fn stow(&self, w: &Writing<'_>, source: &Source, items: &[Vec<u8>]) -> Result<(), WriteError> {
        carry::stow(w, source, items)
    }

    fn stowed(&self, conversation: &Conversation) -> Result<Vec<Vec<u8>>, OpenError> {
        carry::stowed(conversation)
    }

    fn check(&self, path: &Path, out: &mut dyn FnMut(Violation)) -> Result<Option<u64>, OpenError> {
        Ok(check::check(path, out))
    }

    fn is_whole(&self, source: &Source) -> bool {
        source.path.join(layout::LOG).is_file()
    }

    fn init(&self, w: &Writing<'_>, folder: &Path) -> Result<Made, WriteError> {
        create::init(w, folder)
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

    fn replace(
        &self,
        w: &Writing<'_>,
        source: &Source,
        entry: &AskedEntry,
        message: &MessageInput,
    ) -> Result<Appended, WriteError> {
        replace::replace(w, source, entry, message)
    }

    fn rename(
        &self,
        w: &Writing<'_>,
        source: &Source,
        title: &str,
    ) -> Result<Vec<Note>, WriteError> {
        append::rename(w, source, title)
    }

    fn fork(&self, w: &Writing<'_>, source: &Source, fork: &Fork) -> Result<Made, WriteError> {
        fork::fork(w, source, fork)
    }
}
