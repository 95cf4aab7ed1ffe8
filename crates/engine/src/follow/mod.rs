//! What is said in sessions while somebody listens.
//!
//! [`follow_session`] and [`follow_library`] give iterators that wait: a folder that changed leads to the
//! sessions in it, and of those that changed what is new is told ([`Followed`]), each message once. What
//! was said before is known by ids and digests ([`known`]), so it does not matter whether a client adds
//! to a log, writes a document anew, or keeps its sessions in a database.

mod baseline;
mod known;
mod library;
mod session;

use std::collections::BTreeMap;
use std::collections::VecDeque;

use rethread_formats::{Conversation, Env};
use rethread_model::{Blob, Bodies, Body, EntryIx, Note, Piece};
use rethread_render::{SourceInfo, View};
use rethread_watch::{FolderWatch, watch_folders};

use crate::Error;
use crate::show::{Part, Shown, agent_name, show};
pub use library::{LibraryFollow, follow_library};
pub use rethread_watch::WatchMethod;
use session::SessionFollower;

/// Something that happened in a session that is followed.
#[derive(Debug)]
pub enum Followed {
    /// Something was said.
    Said(Box<FollowedMessages>),
    /// Something else happened: the session was cut, replaced or removed, or cannot be read now.
    Noted(Note),
}

/// What was said in a session since the last time.
#[derive(Debug)]
pub struct FollowedMessages {
    /// The session as it is now.
    pub conversation: Conversation,
    /// The entries that are new, or that say more than they did.
    pub entries: Vec<EntryIx>,
    /// Of entries that were there before, which of their blocks are new.
    new_blocks: BTreeMap<EntryIx, Vec<bool>>,
}

impl FollowedMessages {
    /// How many messages there are.
    pub fn message_count(&self) -> usize {
        let session = &self.conversation.session;
        let is_message = |ix: &&EntryIx| session.entry(**ix).kind.is_message();
        self.entries.iter().filter(is_message).count()
    }

    /// Leaves out what comes behind the first messages.
    pub fn keep_first_messages(&mut self, count: usize) {
        let session = &self.conversation.session;
        let mut left = count;
        self.entries.retain(|ix| {
            let is_kept = left > 0;
            left -= usize::from(is_kept && session.entry(*ix).kind.is_message());
            is_kept
        });
    }

    /// What is to be shown of it.
    pub fn view(&self) -> View<'_> {
        let source = &self.conversation.source;
        View {
            session: &self.conversation.session,
            bodies: self,
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

/// Of entries that were there before, only what is new.
impl Bodies for FollowedMessages {
    fn body(&self, ix: EntryIx) -> Body {
        let mut body = self.conversation.body(ix);
        if let (Body::Message(message), Some(new)) = (&mut body, self.new_blocks.get(&ix)) {
            let mut new = new.iter().copied();
            message.blocks.retain(|_| new.next().unwrap_or(true));
        }
        body
    }

    fn pieces(&self, _: EntryIx) -> Vec<Piece> {
        Vec::new()
    }

    fn inline(&self, blob: &Blob) -> Option<Vec<u8>> {
        self.conversation.inline(blob)
    }
}

/// Waits for what is said in one session.
pub struct SessionFollow {
    watch: FolderWatch,
    follower: SessionFollower,
    waiting: VecDeque<Followed>,
}

/// Reads a session, and follows it from there on.
pub fn follow_session(
    env: &Env,
    name: &str,
    part: Part<'_>,
    method: WatchMethod,
) -> Result<(Shown, SessionFollow), Error> {
    let source = rethread_catalog::find(env, name)?;
    // Whatever is written while it is read must be told, too.
    let watch = watch_folders(&session::watched_folders(&source), method);
    let shown = show(env, name, part)?;
    let follower = SessionFollower::of_read(&shown.conversation);
    Ok((
        shown,
        SessionFollow {
            watch,
            follower,
            waiting: VecDeque::new(),
        },
    ))
}

impl Iterator for SessionFollow {
    type Item = Followed;

    fn next(&mut self) -> Option<Followed> {
        loop {
            if let Some(next) = self.waiting.pop_front() {
                return Some(next);
            }
            let changes = self.watch.next_changes(None)?;
            let mut paths = changes.paths.iter();
            if changes.is_incomplete || paths.any(|path| self.follower.is_concerned_by(path)) {
                self.waiting.extend(self.follower.look_again());
            }
        }
    }
}
