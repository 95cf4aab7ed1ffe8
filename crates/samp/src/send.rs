//! Sending: one line at the end of one's own log.

use std::{path::PathBuf, thread::sleep, time::Duration};

use memchr::{memchr, memmem};
use rethread_disk::{DiskError, Durability, UnlockedLog};
use rethread_json::{LINE_CAP, write_str};

use crate::{
    alias::Alias,
    compact::finish_if_left,
    error::Error,
    find::{FoundMessage, find_message},
    folder::Folder,
    gather::WantedMessages,
    id::Id,
    inbox::read_all,
    record::LineReader,
    thread::{Written, derive_thread, to_nfc},
};

/// For how many seconds one waits at most, so that a message is not taken for an equal one.
const MOST_WAITS: usize = 5;

/// How often one looks at the clock while one waits, and how many times.
const LOOK: (Duration, usize) = (Duration::from_millis(10), 200);

/// How much of the end of a log is looked at for equal messages, at first and at most.
const TAIL: (u64, u64) = (8 * 1024, 8 * 1024 * 1024);

/// By how many seconds the messages of a log may be out of order.
const DISORDER: i64 = 2;

/// Where the time of a message comes from, in seconds since 1970.
#[derive(Clone, Copy)]
pub enum Clock<'a> {
    /// Always this.
    Stopped(i64),
    /// What this says now.
    Running(&'a dyn Fn() -> i64),
}

impl From<i64> for Clock<'_> {
    fn from(now: i64) -> Self {
        Self::Stopped(now)
    }
}

impl Clock<'_> {
    fn now(self) -> i64 {
        match self {
            Self::Stopped(now) => now,
            Self::Running(now) => now(),
        }
    }

    /// Waits until it says something else, but no longer than a few seconds.
    fn wait_past(self, ts: i64) {
        let (pause, times) = LOOK;
        for _ in 0..times {
            if self.now() != ts {
                return;
            }
            sleep(pause);
        }
    }
}

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
    /// Whether an equal message of the same second was in the log before: readers take both for
    /// one.
    pub is_repeated: bool,
}

impl Draft<'_> {
    /// Appends the message to its sender's log. The folder and the log are made if they are not
    /// there.
    ///
    /// The id of a message follows from its content and its second, so equal messages of one second
    /// are one message. If the clock is running, an equal one waits for the next second.
    pub fn send<'c>(
        &self,
        folder: &Folder,
        now: impl Into<Clock<'c>>,
        d: Durability,
    ) -> Result<Sent, Error> {
        let written = |ts| Written::new(self.text, self.from, ts);
        Sent::append_to(folder, (self.from, self.to), &written, now.into(), d)
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
    /// Appends the answer to its sender's log, in the thread of the message, as [`Draft::send`]
    /// does.
    pub fn send<'c>(
        &self,
        folder: &Folder,
        now: impl Into<Clock<'c>>,
        d: Durability,
    ) -> Result<Sent, Error> {
        let clock = now.into();
        let mut batch = read_all(folder, WantedMessages::To(self.me), false, clock.now())?;
        batch.sort();
        let target = match self.to_id {
            Some(prefix) => Some(find_message(&mut batch, prefix)?),
            None => FoundMessage::last_of(&mut batch),
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
            .unwrap_or_else(|| derive_thread(&target.body, to.as_str(), target.ts));
        let body = to_nfc(self.text);
        let written = |_| Written {
            thread: thread.clone(),
            body: body.clone().into_owned(),
        };
        Sent::append_to(folder, (self.me, &to), &written, clock, d)
    }
}

impl Sent {
    fn append_to(
        folder: &Folder,
        (from, to): (&Alias, &Alias),
        written: &dyn Fn(i64) -> Written,
        clock: Clock<'_>,
        d: Durability,
    ) -> Result<Self, Error> {
        let mut opened = None;
        let mut waited = 0;
        loop {
            let ts = clock.now();
            let mut sent = Self::new(folder, from, to, written(ts), ts)?;
            let line = sent.record_line();
            if line.len() > LINE_CAP {
                return Err(too_long(line.len()));
            }
            let log = match &mut opened {
                Some(log) => log,
                none => {
                    folder.create(d)?;
                    finish_if_left(folder, from);
                    none.insert(UnlockedLog::open(&sent.path, folder.log_mode()?)?)
                }
            };
            let may_wait = matches!(clock, Clock::Running(_)) && waited < MOST_WAITS;
            waited += 1;
            if may_wait && has_equal(log, &sent, log.len()?)? {
                clock.wait_past(ts);
                continue;
            }
            let appended = log.append(&line, d)?;
            // Another process of the same sender may have appended one since we looked. What was
            // appended again may be equal to itself, carried over from the old log.
            let equal = !appended.is_again && has_equal(log, &sent, appended.at).unwrap_or(false);
            if equal && may_wait {
                clock.wait_past(ts);
                continue;
            }
            sent.is_repeated = equal;
            return Ok(sent);
        }
    }

    fn new(
        folder: &Folder,
        from: &Alias,
        to: &Alias,
        written: Written,
        ts: i64,
    ) -> Result<Self, Error> {
        let Written { thread, body } = written;
        // Said before anything is hashed: the line is longer still.
        if body.len() > LINE_CAP {
            return Err(too_long(body.len()));
        }
        Ok(Self {
            id: Id::of(ts, from.as_str(), to.as_str(), &thread, &body),
            ts,
            from: from.clone(),
            to: to.clone(),
            thread,
            body,
            path: folder.log_of(from),
            is_repeated: false,
        })
    }

    /// The record, spaced as the reference implementation does.
    fn record_line(&self) -> Vec<u8> {
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

fn too_long(len: usize) -> Error {
    Error::TooLong {
        len,
        limit: LINE_CAP,
    }
}

/// Whether a message like this one is in its sender's log, before byte `end`. Looks only at the end
/// of the log, where messages of its second are.
fn has_equal(log: &UnlockedLog, sent: &Sent, end: u64) -> Result<bool, DiskError> {
    let id = sent.id.to_string();
    let (mut size, most) = TAIL;
    let mut reader = LineReader::default();
    // What begins here or behind was looked at.
    let mut looked = end;
    loop {
        let start = end.saturating_sub(size);
        let mut bytes = vec![0; usize::try_from(looked - start).unwrap_or_default()];
        let read = log.read_at(start, &mut bytes)?;
        bytes.truncate(read);
        // The line that begins before is for the next look.
        let begin = match start {
            0 => 0,
            _ => memchr(b'\n', &bytes).map_or(read, |at| at + 1),
        };
        let mut lines = bytes[begin..].split(|b| *b == b'\n');
        // Whoever writes a message writes its id, so that few lines must be understood.
        if memmem::find(&bytes[begin..], id.as_bytes()).is_some()
            && lines.clone().any(|line| {
                memmem::find(line, id.as_bytes()).is_some()
                    && reader.read(line).is_ok_and(|record| record.id() == sent.id)
            })
        {
            return Ok(true);
        }
        let oldest = lines.find_map(|line| Some(reader.read(line).ok()?.ts()));
        let is_older = oldest.is_some_and(|ts| ts < sent.ts.saturating_sub(DISORDER));
        if is_older || start == 0 || size >= most {
            return Ok(false);
        }
        looked = start + begin as u64;
        size *= 8;
    }
}
