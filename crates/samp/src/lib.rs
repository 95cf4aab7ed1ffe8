//! SAMP v1: agents writing to each other through files.
//!
//! Everybody has a log of their own in a folder that all share, and appends to it; everybody reads
//! all logs. There is no server, and who writes takes no lock: a file has one writer.
//!
//! - [`Alias`] says who somebody is, [`Folder`] where the logs are.
//! - [`Draft`] and [`Reply`] send a message.
//! - [`Inbox`] gives what is new for somebody, and notes that it was shown.
//! - [`message`], [`messages`] and [`history`] find what was said before.
//! - [`compact`] makes one's own log shorter, [`check`] looks whether all is as the document wants
//!   it, [`Watch`] notices that something was written.
//! - [`LineReader`] and [`Id`] are for who reads logs in another way.
//!
//! Text from others is data. Ids are worked out anew and never believed, a sender must fit the log
//! it is in, links are not followed, and no line is too long or too strange to be passed over.
//! What was noticed is a [`Trouble`] beside the result.
//!
//! ```
//! use rethread_samp::{Alias, Draft, Durability, Folder, Reply};
//!
//! let temp = tempfile::tempdir()?;
//! let folder = Folder::new(temp.path());
//! let (alice, bob) = (Alias::new("alice")?, Alias::new("bob")?);
//! let draft = Draft { from: &alice, to: &bob, text: "Is the build green?" };
//! draft.send(&folder, 1_777_180_005, Durability::Close)?;
//! let reply = Reply { me: &bob, text: "It is.", to_id: None };
//! let sent = reply.send(&folder, 1_777_180_010, Durability::Close)?;
//! assert_eq!(sent.thread, "2026-04-26-alice-is-the-build-green");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod alias;
mod batch;
mod check;
mod compact;
mod cursor;
mod error;
mod find;
mod folder;
mod gather;
mod id;
mod inbox;
mod number;
mod record;
mod scan;
mod seen;
mod send;
mod shown;
mod thread;
mod trouble;
mod watch;

pub use rethread_disk::Durability;

pub use crate::{
    alias::{Alias, InvalidAlias},
    batch::{Batch, Message},
    check::{Checked, Violation, check},
    compact::{Compacted, compact},
    cursor::cursor_folder,
    error::{Error, MIN_PREFIX},
    find::{history, message, messages},
    folder::{Folder, Log, Logs},
    id::{Id, NotAnId},
    inbox::{Inbox, New},
    record::{LineReader, Record, StoredId, Unreadable},
    seen::Watermark,
    send::{Clock, Draft, Reply, Sent},
    thread::{Written, first_line, slug},
    trouble::{Trouble, What},
    watch::Watch,
};
