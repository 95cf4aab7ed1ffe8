//! Sessions of Claude Code: a transcript of JSON lines for each session and each sub-agent.
//!
//! Records name their parents, so a file is a tree; what the client would resume is one path in it.
//! See `docs/formats/claude-code.md`.

mod append;
mod blocks;
mod body;
mod build;
mod carry;
mod check;
mod compaction;
mod content;
mod counted;
mod create;
mod facts;
mod fork;
mod glance;
mod grow;
mod ids;
mod kinds;
mod layout;
mod leaf;
mod message;
mod meta;
mod nodes;
mod own;
mod read;
mod record;
mod responses;
mod said;
mod scan;
mod scribe;
mod sniff;
mod summary;
mod tell;
mod titles;
mod types;
mod usage;
mod weave;

use std::path::{Path, PathBuf};

use rethread_model::{Body, EntryIx, Note, Piece, Role, Session, Summary};

use crate::carry::Place;
use crate::{
    About, Appended, Branch, Can, Client, Conversation, Env, Fork, Format, FormatRef, Keeps, Made,
    MessageInput, Native, NewSession, OpenError, OwnWords, Removal, Resume, Root, Source, Told,
    ToldAgent, Violation, Want, WriteError, Writing,
};

pub use layout::encode_cwd;
pub use summary::summarize_from;
pub use types::{Treatment, known_types, treatment};

const SLUG: &str = "claude-code";

/// The format as a value.
pub const FORMAT: FormatRef = FormatRef::new(&ClaudeCode);

static ABOUT: About = About {
    slug: SLUG,
    aliases: &["claude"],
    name: "Claude Code",
    versions: "1.0 to 2.1",
    can: &[Can::Read, Can::Write, Can::Resume],
    where_it_looks: "`~/.claude/projects`, or where `CLAUDE_CONFIG_DIR` says",
    in_home: &[".claude/projects"],
    in_project: &[],
};

/// Sessions of Claude Code, versions 1.0 to 2.1.
#[derive(Clone, Copy, Debug)]
pub struct ClaudeCode;

impl Format for ClaudeCode {
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

    fn pieces(&self, native: &Native, session: &Session, entry: EntryIx) -> Vec<Piece> {
        body::pieces(native, session, entry)
    }

    fn own_words(&self) -> Option<OwnWords> {
        Some(OwnWords::new(own::messages))
    }

    fn files(&self, source: &Source) -> Result<Vec<PathBuf>, OpenError> {
        layout::files(source)
    }

    /// Nobody continues a sub-agent: the session that started it does.
    fn client(&self) -> Option<Client> {
        Some(Client {
            program: "claude",
            finds_by_folder: true,
        })
    }

    fn resume(&self, summary: &Summary) -> Option<Resume> {
        let head = &summary.head;
        (!summary.is_subagent()).then(|| Resume {
            program: "claude",
            args: vec!["--resume".to_owned(), head.id.clone()],
            folder: head.workspace.path.as_ref().map(PathBuf::from),
        })
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

    fn is_own_frame(&self, role: Role, text: &str) -> bool {
        role == Role::System || text.trim_start().starts_with(said::OPEN)
    }

    fn keeps(&self) -> Keeps {
        tell::KEEPS
    }

    fn agents(&self, session: &Conversation) -> Vec<Source> {
        layout::agents(session)
    }

    fn append_to_agent(
        &self,
        w: &Writing<'_>,
        agent: &Source,
        messages: &[MessageInput],
    ) -> Result<Appended, WriteError> {
        tell::add_to_agent(w, agent, &append::given(messages))
    }

    fn tell_agent(
        &self,
        w: &Writing<'_>,
        parent: &Source,
        agent: &ToldAgent<'_>,
    ) -> Result<Source, WriteError> {
        tell::agent(w, parent, agent)
    }

    fn tell(&self, w: &Writing<'_>, source: &Source, told: &[Told]) -> Result<(), WriteError> {
        let all = Writing { strict: true, ..*w };
        let told = tell::add(&all, source, None, &tell::steps(told))?;
        told.ids.into_iter().try_for_each(|id| id.map(drop))
    }

    fn branch(
        &self,
        w: &Writing<'_>,
        source: &Source,
        branch: &Branch<'_>,
    ) -> Result<Appended, WriteError> {
        append::branch(w, source, branch)
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

    fn remove(&self, source: &Source, _for_good: bool) -> Result<Removal, WriteError> {
        Ok(Removal::Files(layout::removed(source)))
    }
}
