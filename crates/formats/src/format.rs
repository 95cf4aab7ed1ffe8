//! What every format can do.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rethread_model::{Body, EntryIx, Note, Piece, Role, Session, Summary, Workspace};

use crate::carry::{CarriedFile, Goods, Place, Put, below, put_files};
use crate::{
    Appended, AskedEntry, Branch, Client, Conversation, Env, Fork, FormatRef, Home, Keeps, Made,
    MessageInput, Migrated, Native, NativeContext, NewSession, OpenError, OwnWords, Removal,
    Resume, Step, Told, ToldAgent, UnifiedRecord, Violation, WriteError, Writing, by_name,
};

/// Facts about a format, from which lists, help and docs are made.
#[derive(Debug)]
pub struct About {
    /// The short name that people type.
    pub slug: &'static str,
    /// Other names that people type.
    pub aliases: &'static [&'static str],
    /// The name for people.
    pub name: &'static str,
    /// The versions that are read.
    pub versions: &'static str,
    /// What can be done with its sessions.
    pub can: &'static [Can],
    /// What it says when there is nothing: where it looks.
    pub where_it_looks: &'static str,
    /// What holds its conversations in a home, and nothing else: files and folders with all that is
    /// in them, as patterns of a shell. Only that is copied from other machines.
    pub in_home: &'static [&'static str],
    /// What holds its conversations in a project, in the same way.
    pub in_project: &'static [&'static str],
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

/// A place where a format keeps conversations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// The format.
    pub format: FormatRef,
    /// The folder.
    pub path: PathBuf,
    /// Why we looked there.
    pub found: Found,
}

/// Why a place was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Found {
    /// The current folder is in it.
    Current,
    /// It is a git worktree of such a project.
    Worktree,
    /// A session named it, or we wrote to it before.
    Known,
}

/// One session that was found, not yet read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The format.
    pub format: FormatRef,
    /// The session's id as far as names tell it.
    pub id: String,
    /// Its main file or folder.
    pub path: PathBuf,
    /// The version of its store, if that must be refused: what is in it is only listed.
    pub refused_store: Option<String>,
    /// Where it begins in a file that holds several, as far as that is known.
    pub place: Option<u64>,
    /// The home it is in, where that is not the user's own on this machine.
    pub home: Option<Arc<Home>>,
}

impl Source {
    /// A session in a store that can be used.
    pub fn new(format: FormatRef, id: String, path: PathBuf) -> Self {
        Self {
            format,
            id,
            path,
            refused_store: None,
            place: None,
            home: None,
        }
    }

    /// The session that a summary is of. There is none if nobody knows its format.
    pub fn of_summary(summary: &Summary) -> Option<Self> {
        let head = &summary.head;
        let format = by_name(head.format)?;
        Some(Self::new(format, head.id.clone(), summary.path.clone()))
    }
}

/// How much a summary is to say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Want {
    /// Also tokens and cost, which may mean reading everything.
    pub usage: bool,
    /// Also the size, where that means looking at many files. Without it, the size may be zero.
    pub size: bool,
}

/// How one agent, or one document, writes conversations down.
///
/// Reading never fails on content and never writes. What a format cannot do, it says with
/// [`WriteError::Unsupported`].
pub trait Format: Sync {
    /// Facts about it.
    fn about(&self) -> &'static About;

    /// The handle to it.
    fn value(&self) -> FormatRef;

    /// Where its conversations are: from the environment, and in the projects that are known.
    fn locate(&self, env: &Env, known: &[PathBuf]) -> Vec<Root>;

    /// The sessions in a place: cheap, by names alone.
    fn list(&self, root: &Root, out: &mut dyn FnMut(Result<Source, Note>));

    /// The sessions at a path that the user named; none if it is not ours.
    fn at_path(&self, path: &Path) -> Vec<Source>;

    /// What a list shows of a session. Damage is in its notes.
    fn summarize(&self, source: &Source, want: Want) -> Summary;

    /// Reads a session in one pass.
    fn read(&self, source: &Source) -> Result<Conversation, OpenError>;

    /// Where the folder that a session was held in is now, if it was moved together with the store
    /// that the session is in.
    fn moved_to(&self, _: &Path, _: &Workspace) -> Option<PathBuf> {
        None
    }

    /// Whether what stands in the place of a tool's output is only what the client left of it in its
    /// own file, to save room. Nobody said anything else then.
    fn is_masked(&self, _output: &str) -> bool {
        false
    }

    /// What an entry says.
    fn body(&self, native: &Native, session: &Session, entry: EntryIx) -> Body;

    /// What the client sends to its model of what an entry says, where that is something else.
    fn sent(&self, native: &Native, session: &Session, entry: EntryIx) -> Body {
        self.body(native, session, entry)
    }

    /// The pieces that a message came in, where the source gives each an id of its own.
    fn pieces(&self, _: &Native, _: &Session, _: EntryIx) -> Vec<Piece> {
        Vec::new()
    }

    /// The session's files, the main one first, without judging what is in them.
    fn files(&self, source: &Source) -> Result<Vec<PathBuf>, OpenError>;

    /// The records that together are a session record of the unified vocabulary, where the source is
    /// one already.
    fn unified_record(&self, _: &Conversation) -> Option<UnifiedRecord> {
        None
    }

    /// The files that a session had where it was first found, where its source carries them along.
    fn carried<'a>(&self, _: &'a Conversation) -> Result<Vec<CarriedFile<'a>>, OpenError> {
        Ok(Vec::new())
    }

    /// The format's own words for what a model sees, where they are those of its records.
    fn own_words(&self) -> Option<OwnWords> {
        None
    }

    /// What a model would see at an entry, in the format's own words; at the leaf where none is
    /// named, and what was wrong. None where these are those of its records, or where it has none.
    fn native_context(
        &self,
        _: &Source,
        _at: Option<&AskedEntry>,
    ) -> Result<Option<(NativeContext, Vec<Note>)>, OpenError> {
        Ok(None)
    }

    /// The client that continues sessions; none where there is none.
    fn client(&self) -> Option<Client> {
        None
    }

    /// The command that continues a session in its own client; none where there is no client.
    fn resume(&self, _: &Summary) -> Option<Resume> {
        None
    }

    /// Why the client does not continue a session that it is there for, and what to do next.
    fn resume_refusal(&self, _: &Summary) -> Option<(String, String)> {
        None
    }

    /// What else the client does when it is started to continue a session, where the person may not
    /// expect it: such as to delete old ones.
    fn resume_notes(&self, _: &Env, _: &Summary) -> Vec<Note> {
        Vec::new()
    }

    /// The records of a session that has no file of its own, such as rows of a database; none of
    /// one that has.
    fn rows(&self, _: &Source) -> Result<Option<Native>, OpenError> {
        Ok(None)
    }

    /// Measures what is at a path against the format's document: a store, a session or one of its
    /// files. Gives what is wrong in the order of paths and lines, and how many files were looked
    /// at; none if the path is not ours.
    fn check(
        &self,
        path: &Path,
        _out: &mut dyn FnMut(Violation),
    ) -> Result<Option<u64>, OpenError> {
        if self.at_path(path).is_empty() {
            return Ok(None);
        }
        Err(OpenError::NoRules {
            path: path.to_owned(),
            format: self.about().slug,
        })
    }

    /// Whether all of a session is there, and not only what describes it: a clone of a repository
    /// may hold descriptions of sessions that are whole elsewhere.
    fn is_whole(&self, _: &Source) -> bool {
        true
    }

    /// Prepares a project for conversations.
    fn init(&self, _: &Writing<'_>, _folder: &Path) -> Result<Made, WriteError> {
        Err(self.cannot("project folder of their own"))
    }

    /// Starts a session.
    fn create(&self, _: &Writing<'_>, _: &NewSession) -> Result<Made, WriteError> {
        Err(self.cannot("way to be started"))
    }

    /// Adds messages. What can be saved is saved, each with its own answer.
    fn append(
        &self,
        _: &Writing<'_>,
        _: &Source,
        _messages: &[MessageInput],
    ) -> Result<Appended, WriteError> {
        Err(self.cannot("way to add messages"))
    }

    /// Whether its client tells the model this by itself whenever it works, such as where it is and
    /// what it may do. Another client does that in its own way, so it does not go along to it.
    fn is_own_frame(&self, role: Role, _text: &str) -> bool {
        role == Role::System
    }

    /// What it has records of its own for, beside messages.
    fn keeps(&self) -> Keeps {
        Keeps::default()
    }

    /// The ways that a conversation left again and that cannot be written, such as those that part
    /// where the client never goes back to.
    fn leaves_out(&self, _told: &[Told]) -> Vec<Range<usize>> {
        Vec::new()
    }

    /// Whether its client writes what it keeps of the past once more behind a summary of that.
    fn copies_what_it_keeps(&self) -> bool {
        false
    }

    /// Writes a whole conversation into a session that was just made, all of it or nothing. Steps
    /// that the format does not [keep](Self::keeps), or that it [leaves out](Self::leaves_out), must
    /// not be among it.
    fn tell(&self, w: &Writing<'_>, source: &Source, told: &[Told]) -> Result<(), WriteError> {
        let said = told.iter().filter_map(|told| match &told.step {
            Step::Message(message) => Some(MessageInput::Message(message.clone())),
            Step::Compaction { .. } | Step::BranchSummary(_) | Step::Label { .. } | Step::Back => {
                None
            }
        });
        let appended = self.append(w, source, &said.collect::<Vec<_>>())?;
        appended.ids.into_iter().try_for_each(|id| id.map(drop))
    }

    /// The sub-agents that a session started, as far as its store has them. Theirs may be among them.
    fn agents(&self, _: &Conversation) -> Vec<Source> {
        Vec::new()
    }

    /// Writes what a sub-agent said into a session of its own, with that of its parent.
    fn tell_agent(
        &self,
        _: &Writing<'_>,
        _parent: &Source,
        _: &ToldAgent<'_>,
    ) -> Result<Source, WriteError> {
        Err(self.cannot("sub-agents"))
    }

    /// Notes in a session which of its calls started which of its sub-agents, where the format has a
    /// place for that: calls by the ids that it was told.
    fn link_agents(
        &self,
        _: &Writing<'_>,
        _parent: &Source,
        _started: &[(&str, &Source)],
    ) -> Result<(), WriteError> {
        Ok(())
    }

    /// Adds to what a sub-agent said, where nobody but its parent would.
    fn append_to_agent(
        &self,
        w: &Writing<'_>,
        agent: &Source,
        messages: &[MessageInput],
    ) -> Result<Appended, WriteError> {
        self.append(w, agent, messages)
    }

    /// Goes on from an earlier entry of the same session: with a summary of what is left behind,
    /// with messages, or with both.
    fn branch(&self, _: &Writing<'_>, _: &Source, _: &Branch<'_>) -> Result<Appended, WriteError> {
        Err(self.cannot("branches"))
    }

    /// Sets a bookmark on an entry, or takes it away. Gives the id of the record that says so.
    fn label(
        &self,
        _: &Writing<'_>,
        _: &Source,
        _entry: &AskedEntry,
        _label: Option<&str>,
    ) -> Result<Appended, WriteError> {
        Err(self.cannot("labels"))
    }

    /// Brings a session of an older version to the current one, and keeps the old file.
    fn migrate(&self, _: &Writing<'_>, _: &Source) -> Result<Migrated, WriteError> {
        Err(self.cannot("older versions that can be brought up to date"))
    }

    /// Writes one message anew; all others keep their bytes.
    fn replace(
        &self,
        _: &Writing<'_>,
        _: &Source,
        _entry: &AskedEntry,
        _message: &MessageInput,
    ) -> Result<Appended, WriteError> {
        Err(self.cannot("way to change a message"))
    }

    /// Sets the display name.
    fn rename(&self, _: &Writing<'_>, _: &Source, _title: &str) -> Result<Vec<Note>, WriteError> {
        Err(self.cannot("titles"))
    }

    /// Copies the path up to an entry into a new session.
    fn fork(&self, _: &Writing<'_>, _: &Source, _: &Fork) -> Result<Made, WriteError> {
        Err(self.cannot("forks"))
    }

    /// Whether a session is a folder, and not a file.
    fn keeps_folders(&self) -> bool {
        false
    }

    /// The folder that the names of a session's files are counted from when they travel.
    fn base(&self, source: &Source) -> PathBuf {
        source.path.parent().unwrap_or(&source.path).to_owned()
    }

    /// The folder of a store that a session's files go to, by the name of the main one.
    fn shelf(&self, _: &Writing<'_>, _: &Place, _main: &str) -> Result<PathBuf, WriteError> {
        Err(self.cannot("store that sessions can be put into"))
    }

    /// Prepares a folder so that sessions can be written to it as if it were the store.
    fn stage(&self, _: &Writing<'_>, _: &Place, _folder: &Path) -> Result<(), WriteError> {
        Ok(())
    }

    /// The project that a session of this folder is put into, where the format has its store in
    /// projects.
    fn project_of(&self, _folder: &Path) -> Option<PathBuf> {
        None
    }

    /// Puts a session into a store, whole or not at all.
    fn put(&self, w: &Writing<'_>, place: &Place, goods: &Goods) -> Result<Put, WriteError> {
        put_files(w, goods, &self.shelf(w, place, goods.main())?)
    }

    /// The session in files that were unpacked into a folder.
    fn unpacked(&self, goods: &Goods) -> Result<Source, WriteError> {
        let path = below(&goods.folder, &goods.path)?;
        Ok(Source::new(self.value(), goods.id.clone(), path))
    }

    /// The files of a session as its client has them when it goes on with it, in the same folder; none
    /// where those are the ones that are there.
    fn opened_up(&self, _: &Writing<'_>, _: &Goods) -> Result<Option<Goods>, WriteError> {
        Ok(None)
    }

    /// Keeps values in a session where its client leaves them alone, and sends them to nobody.
    fn stow(&self, _: &Writing<'_>, _: &Source, _items: &[Vec<u8>]) -> Result<(), WriteError> {
        Err(self.cannot("place for what travels along"))
    }

    /// The values that were kept so.
    fn stowed(&self, _: &Conversation) -> Result<Vec<Vec<u8>>, OpenError> {
        Ok(Vec::new())
    }

    /// What of a session goes when it is removed. One that has no file of its own is removed by
    /// this, if `for_good` is set: no trash takes it.
    fn remove(&self, source: &Source, _for_good: bool) -> Result<Removal, WriteError> {
        Ok(Removal::Files(vec![source.path.clone()]))
    }

    /// The error for what this format cannot do.
    fn cannot(&self, what: &'static str) -> WriteError {
        let format = self.about().slug;
        if self.about().can.contains(&Can::Write) {
            WriteError::Unsupported { format, what }
        } else {
            WriteError::ReadOnly { format }
        }
    }
}
