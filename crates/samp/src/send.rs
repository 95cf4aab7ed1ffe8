//! Sending: one line at the end of one's own log.

use std::path::PathBuf;

use rethread_disk::{Durability, append_line_lasting};
use rethread_json::{LINE_CAP, write_str};

use crate::{
    alias::Alias,
    error::Error,
    find::{Found, find},
    folder::Folder,
    gather::Want,
    id::Id,
    inbox::read_all,
    thread::{Written, derive, nfc},
};

/// A message to be sent.
///
/// ```
/// use rethread_samp::{Alias, Draft, Durability, Folder};
///
/// let temp = tempfile::tempdir()?;
/// let folder = Folder::new(temp.path());
/// let (alice, bob) = (Alias::new("alice")?, Alias::new("bob")?);
/// let draft = Draft { from: &alice, to: &bob, text: "[thread:deploy] Ready?" };
/// let sent = draft.send(&folder, 1_777_180_005, Durability::Close)?;
/// assert_eq!((sent.thread.as_str(), sent.body.as_str()), ("deploy", "Ready?"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Draft<'a> {
    /// Who sends it.
    pub from: &'a Alias,
    /// Whom it is for.
    pub to: &'a Alias,
    /// What it says; may begin with `[thread:…]`.
    pub text: &'a str,
}

/// A message that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Its id.
    pub id: Id,
    /// When, in seconds since 1970.
    pub ts: i64,
    /// Who sent it.
    pub from: Alias,
    /// Whom it is for.
    pub to: Alias,
    /// Its thread.
    pub thread: String,
    /// What is stored.
    pub body: String,
    /// The log it is in.
    pub path: PathBuf,
}

impl Draft<'_> {
    /// Appends the message to its sender's log. The folder and the log are made if they are not
    /// there.
    pub fn send(&self, folder: &Folder, now: i64, d: Durability) -> Result<Sent, Error> {
        let Written { thread, body } = Written::new(self.text, self.from, now);
        Sent::append(folder, self.from, self.to, thread, body, now, d)
    }
}

/// An answer to a message.
#[derive(Clone, Copy, Debug)]
pub struct Reply<'a> {
    /// Who answers.
    pub me: &'a Alias,
    /// What it says, as it is: a `[thread:…]` is text here.
    pub text: &'a str,
    /// The id of the message, or the beginning of it; the newest to `me` by default.
    pub to_id: Option<&'a str>,
}

impl Reply<'_> {
    /// Appends the answer to its sender's log, in the thread of the message.
    pub fn send(&self, folder: &Folder, now: i64, d: Durability) -> Result<Sent, Error> {
        let mut batch = read_all(folder, Want::To(self.me), false, now)?;
        batch.sort();
        let target = match self.to_id {
            Some(prefix) => Some(find(&mut batch, prefix)?),
            None => Found::last(&mut batch),
        };
        let Some(target) = target else {
            return Err(Error::NothingToReplyTo {
                me: self.me.to_string(),
                folder: folder.path().to_owned(),
            });
        };
        let to = Alias::new(&target.from)?;
        // Records of old have no thread: they get the one that they would have now.
        let thread = target
            .thread
            .unwrap_or_else(|| derive(&target.body, to.as_str(), target.ts));
        let body = nfc(self.text).into_owned();
        Sent::append(folder, self.me, &to, thread, body, now, d)
    }
}

impl Sent {
    fn append(
        folder: &Folder,
        from: &Alias,
        to: &Alias,
        thread: String,
        body: String,
        ts: i64,
        d: Durability,
    ) -> Result<Self, Error> {
        // Said before anything is hashed: the line is longer still.
        let too_long = |len| Error::TooLong {
            len,
            limit: LINE_CAP,
        };
        if body.len() > LINE_CAP {
            return Err(too_long(body.len()));
        }
        let sent = Self {
            id: Id::of(ts, from.as_str(), to.as_str(), &thread, &body),
            ts,
            from: from.clone(),
            to: to.clone(),
            thread,
            body,
            path: folder.log_of(from),
        };
        let line = sent.line();
        if line.len() > LINE_CAP {
            return Err(too_long(line.len()));
        }
        folder.create(d)?;
        append_line_lasting(&sent.path, &line, folder.mode()?, d)?;
        Ok(sent)
    }

    /// The record, spaced as the reference implementation does.
    fn line(&self) -> Vec<u8> {
        let mut line = format!("{{\"id\": \"{}\", \"ts\": {}", self.id, self.ts).into_bytes();
        for (key, value) in [
            ("from", self.from.as_str()),
            ("to", self.to.as_str()),
            ("thread", &self.thread),
            ("body", &self.body),
        ] {
            line.extend_from_slice(format!(", \"{key}\": ").as_bytes());
            write_str(&mut line, value);
        }
        line.push(b'}');
        line
    }
}
