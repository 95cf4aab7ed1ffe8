//! `show`: one conversation, or its original bytes.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rethread_catalog::{find, named_workspace};
use rethread_disk::{
    Created, DiskError, Durability, Mode, SafeName, create_with, ensure_folder, open_read,
};
use rethread_formats::carry::is_same_file;
use rethread_formats::{
    Conversation, Env, Native, OpenError, Source, Want, by_name, summarize, why_empty,
};
use rethread_model::{Bodies, EntryIx, Head, Session, State, Summary};
use rethread_render::{Options, SourceInfo, View, first_of_last, start_of};

use crate::subagents::of_conversation;
use crate::{Error, entry};

/// A conversation, and which of its entries to show.
#[derive(Debug)]
pub struct Shown {
    /// The conversation.
    pub conversation: Conversation,
    /// The entries, in order.
    pub entries: Vec<EntryIx>,
}

/// Which part of a conversation is to be shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part<'a> {
    /// What the agent would go on with.
    #[default]
    Active,
    /// The way from the beginning to this entry.
    UpTo(&'a str),
    /// All branches, in the order of the file.
    All,
}

/// Reads a conversation, and says which of its entries a part of it has.
pub fn show(env: &Env, name: &str, part: Part<'_>) -> Result<Shown, Error> {
    let source = find(env, name)?;
    let conversation = open_with_workspace(env, &source)?;
    let session = &conversation.session;
    let entries = match part {
        Part::Active => session.active_path(),
        Part::UpTo(name) => session.path(entry::find_entry(&conversation, name)?),
        Part::All => session.indexed().map(|(ix, _)| ix).collect(),
    };
    Ok(Shown {
        conversation,
        entries,
    })
}

/// What a list says of a conversation that was read, with tokens, cost and size.
pub fn listed_as(conversation: &Conversation) -> Result<Summary, Error> {
    let summary = summarize(&conversation.source, Want::WHOLE);
    // It was read a moment ago: what cannot be looked at again is trouble with the disk, and a heading
    // with other numbers would hide that.
    if summary.state == State::Unreadable {
        let why = summary.notes.first().map(|note| note.message.clone());
        return Err(OpenError::from(DiskError::Read {
            path: summary.path,
            cause: io::Error::other(why.unwrap_or_default()),
        })
        .into());
    }
    Ok(of_conversation(conversation, summary))
}

impl Shown {
    /// Leaves out what comes before an entry. One that is not among the entries leads to its own
    /// branch.
    pub fn start_at(&mut self, name: &str) -> Result<(), Error> {
        let start = self.position_of(name)?;
        self.entries.drain(..start);
        Ok(())
    }

    /// Leaves out what comes before the message before an entry, so that it is seen what the entry
    /// answers.
    pub fn start_before(&mut self, name: &str) -> Result<(), Error> {
        let at = self.position_of(name)?;
        let session = &self.conversation.session;
        let before = self.entries.get(..at).unwrap_or_default();
        let is_message = |ix: &&EntryIx| session.entry(**ix).kind.is_message();
        let before = before.iter().rfind(is_message).copied();
        let start = before.and_then(|ix| start_of(session, &self.entries, ix));
        self.entries.drain(..start.unwrap_or(at));
        Ok(())
    }

    /// Where to begin so that an entry is seen.
    fn position_of(&mut self, name: &str) -> Result<usize, Error> {
        let wanted = entry::find_entry(&self.conversation, name)?;
        let session = &self.conversation.session;
        if !self.entries.contains(&wanted) {
            self.entries = session.path(end_of_branch(session, wanted));
        }
        Ok(start_of(session, &self.entries, wanted).unwrap_or(0))
    }

    /// Leaves out what comes before the last messages.
    pub fn keep_last_messages(&mut self, count: usize) {
        let session = &self.conversation.session;
        let is_message = |ix: &EntryIx| session.entry(*ix).kind.is_message();
        let messages = self.entries.iter().enumerate().rev();
        let mut messages = messages.filter(|(_, ix)| is_message(ix)).map(|(at, _)| at);
        let start = match count.checked_sub(1) {
            Some(before) => messages.nth(before).unwrap_or(0),
            None => self.entries.len(),
        };
        self.entries.drain(..start);
    }

    /// Leaves out what comes before the last turns, as a reader with these options counts them.
    pub fn keep_last_turns(&mut self, count: usize, options: Options) {
        let start = first_of_last(&self.view(&self.conversation), options, count);
        self.entries.drain(..start.min(self.entries.len()));
    }

    /// The entries as they are to be shown, with what `bodies` says of each.
    pub fn view<'a>(&'a self, bodies: &'a dyn Bodies) -> View<'a> {
        let source = &self.conversation.source;
        View {
            session: &self.conversation.session,
            bodies,
            entries: self.entries.clone(),
            path: &source.path,
            source: SourceInfo {
                kind: "local",
                host: None,
                path: source.path.to_string_lossy().into_owned(),
            },
            agent: agent_name(&self.conversation.session.head),
            summary: None,
        }
    }
}

/// The name of the agent that held a conversation, for people; none where its format is not that of
/// an agent.
pub fn agent_name(head: &Head) -> Option<&'static str> {
    let format = by_name(head.held_by())?;
    let about = format.about();
    about.is_agent.then_some(about.name)
}

/// The entry that a branch ends with: the newest goes on.
fn end_of_branch(session: &Session, entry: EntryIx) -> EntryIx {
    let children = session.children();
    let mut end = entry;
    // No branch is longer than the session; a longer one goes in a circle.
    for _ in session.entries() {
        match children.of(end).last() {
            Some(child) => end = *child,
            None => break,
        }
    }
    end
}

pub(crate) fn open(source: &Source) -> Result<Conversation, Error> {
    let mut conversation = source.format.reader().read(source).map_err(|e| match e {
        OpenError::NotOurs { path, format } => match why_empty(&path) {
            Some(why) => OpenError::NoConversation { path, why },
            None => OpenError::NotOurs { path, format },
        },
        e => e,
    })?;
    if let Some(home) = &source.home {
        let provenance = &mut conversation.session.head.provenance;
        provenance.get_or_insert_with(|| home.provenance(&source.path));
    }
    Ok(conversation)
}

/// Opens a session, and names its workspace also where only other sessions tell it.
pub(crate) fn open_with_workspace(env: &Env, source: &Source) -> Result<Conversation, Error> {
    let mut conversation = open(source)?;
    let head = &mut conversation.session.head;
    if let Some(path) = named_workspace(env, source, head) {
        head.workspace.path = Some(path);
    }
    Ok(conversation)
}

/// The records of a session that has no file of its own, such as rows of a database.
pub fn raw_rows(source: &Source) -> Result<Option<Native>, Error> {
    Ok(source.format.reader().rows(source)?)
}

/// Writes such records into a folder, as lines of JSON in a file that is named like the session.
pub fn copy_rows(
    source: &Source,
    rows: &Native,
    folder: &Path,
    d: Durability,
) -> Result<PathBuf, Error> {
    let name = format!("{}.jsonl", source.id);
    let name = SafeName::new(&name)
        .map_err(|e| Error::usage(format!("`{}` cannot name a file: {e}", source.id)))?;
    let target = rethread_disk::join(folder, &name);
    ensure_folder(folder, &Mode::Private, d)?;
    let save = |out: &mut dyn Write| rows.save_all(out);
    match create_with(&target, Mode::Private, d, save)? {
        Created::New => Ok(target),
        Created::Existed => Err(taken(target)),
    }
}

fn taken(path: PathBuf) -> Error {
    let cause = std::io::Error::from(std::io::ErrorKind::AlreadyExists);
    DiskError::Write { path, cause }.into()
}

/// The files of a session, the main one first, whatever version they are of.
pub fn raw_files(env: &Env, name: &str) -> Result<(Source, Vec<PathBuf>), Error> {
    let source = find(env, name)?;
    let files = source.format.store().files(&source)?;
    Ok((source, files))
}

/// Copies a session's files into a folder, under the names they have in the session. Nothing that
/// exists is overwritten; what is there as it is in the session, from a run that was killed, say, is
/// left alone.
pub fn copy_raw(
    source: &Source,
    files: &[PathBuf],
    folder: &Path,
    d: Durability,
) -> Result<Vec<PathBuf>, Error> {
    let base = if source.path.is_dir() {
        Some(source.path.as_path())
    } else {
        source.path.parent()
    };
    let mut written = Vec::new();
    for file in files {
        let name = base.and_then(|b| file.strip_prefix(b).ok());
        let target = folder.join(
            name.map_or_else(|| file.file_name().map(Path::new), Some)
                .unwrap_or(file),
        );
        if let Some(parent) = target.parent() {
            ensure_folder(parent, &Mode::Private, d)?;
        }
        let mut bytes = open_read(file)?;
        let copy = |out: &mut dyn Write| std::io::copy(&mut bytes, out).map(drop);
        let made = create_with(&target, Mode::Private, d, copy)?;
        if made == Created::Existed && !is_same_file(file, &target) {
            return Err(taken(target));
        }
        written.push(target);
    }
    Ok(written)
}
