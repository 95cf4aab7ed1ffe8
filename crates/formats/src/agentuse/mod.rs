//! Sessions of AgentUse: a folder a session, a file for each message and each part of one.
//!
//! `session.json` describes a session; each exchange of prompt and answer is a folder with a
//! `message.json` and one file a part of the answer. Sub-agents are sessions in the folder of the
//! session that started them. See `docs/formats/agentuse.md`.

mod append;
mod blocks;
mod body;
mod carry;
mod check;
mod create;
mod exchange;
mod fields;
mod files;
mod info;
mod key;
mod layout;
mod link;
mod load;
mod object;
mod open;
mod prepare;
mod read;
mod steps;
mod summary;
mod ulid;
mod unified;

use std::path::{Path, PathBuf};

use rethread_model::{Body, EntryIx, Note, Role, Session, Summary};

use crate::carry::Place;
use crate::{
    About, Appended, AskedEntry, Attachments, Can, Conversation, Env, Files, Format, FormatRef,
    Keeps, Made, MessageInput, Native, NewSession, OpenError, Root, Source, ToldAgent, Violation,
    Want, WriteError, Writing,
};

/// The slug of the format.
pub(crate) const SLUG: &str = "agentuse";

/// The format as a value.
pub const FORMAT: FormatRef = FormatRef::new(&AgentUse);

static ABOUT: About = About {
    slug: SLUG,
    aliases: &[],
    name: "AgentUse",
    versions: "all",
    can: &[Can::Read, Can::Write],
    where_it_looks: "`~/.local/share/agentuse/project`, or in `XDG_DATA_HOME` where that is set",
    in_home: &[".local/share/agentuse/project"],
    in_project: &[],
};

/// Sessions of AgentUse.
#[derive(Clone, Copy, Debug)]
pub struct AgentUse;

impl Format for AgentUse {
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

    fn files(&self, source: &Source) -> Result<Vec<PathBuf>, OpenError> {
        layout::files(source)
    }

    /// Nobody but its client says what a person did not: it repeats the task each time.
    fn is_own_frame(&self, _: Role, _: &str) -> bool {
        true
    }

    fn keeps(&self) -> Keeps {
        Keeps {
            agents: true,
            attachments: Attachments {
                in_answers: Files::All,
                addresses: true,
                ..Attachments::default()
            },
            ..Keeps::default()
        }
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
        let new = NewSession {
            parent: Some(parent.clone()),
            ..NewSession::default()
        };
        let made = create::create(w, &new)?;
        let source = Source::new(FORMAT, made.id, made.path);
        self.tell(w, &source, agent.told)?;
        Ok(source)
    }

    fn link_agents(
        &self,
        w: &Writing<'_>,
        parent: &Source,
        started: &[(&str, &Source)],
    ) -> Result<(), WriteError> {
        link::link(w, parent, started)
    }

    fn keeps_folders(&self) -> bool {
        true
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
        append::replace(w, source, entry, message)
    }
}
