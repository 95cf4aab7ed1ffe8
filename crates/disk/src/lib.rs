//! The only crate that writes files: atomic replace, locked append, safe names, trash.
//!
//! What a caller can rely on:
//!
//! - **Old or new, never half.** [`replace`] and [`create`] write a unique temporary file in the
//!   same folder and rename it, [`create_folder_with`] fills a temporary folder and renames it. A
//!   process killed in between leaves at most something for which [`is_temporary`] is true, and
//!   whoever writes next in that folder removes it ([`remove_leftovers`]).
//! - **Whole lines.** [`append_line`], [`UnlockedLog::append`] and [`LockedLog::append`] hand the
//!   record to the system in one write call, after ending a torn line in the same call. A short
//!   write is undone.
//! - **An error means not saved**, and the file is as it was. The two exceptions say so:
//!   [`DiskError::NotUndone`] (half a record may remain, on a line of its own after the next
//!   append) and [`DiskError::Unsettled`] (the new file is in place, but its folder could not be
//!   synced).
//! - **Nothing is followed by accident.** Symbolic links, pipes, sockets and devices are refused
//!   where a file should be, without waiting for them. Only [`open_read`], [`open_sized`], [`read_small`]
//!   and [`read_small_into`] follow links.
//!
//! [`Durability`] says what is synced. What is stored here is never interpreted: this crate knows
//! bytes, lines and paths.
//!
//! ```
//! use rethread_disk::{Created, Durability, Mode, create, replace};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("settings.json");
//! assert_eq!(create(&path, b"{}\n", Mode::Private, Durability::Close)?, Created::New);
//! assert_eq!(create(&path, b"[]\n", Mode::Private, Durability::Close)?, Created::Existed);
//! replace(&path, b"{\"a\":1}\n", Mode::Private, Durability::Close)?;
//! assert_eq!(std::fs::read(&path)?, b"{\"a\":1}\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![allow(
    clippy::disallowed_methods,
    reason = "this is the crate that writes, and the one that asks for the age of a file"
)]
#![cfg_attr(
    windows,
    allow(
        clippy::unnecessary_wraps,
        reason = "what is nothing there can fail elsewhere"
    )
)]

mod append;
mod beside;
mod create;
mod durability;
mod error;
mod expire;
mod folder;
mod identity;
mod journal;
mod leftover;
mod link;
mod lock;
mod log;
mod mode;
mod name;
mod open;
mod open_folder;
mod program;
mod read;
mod remove;
mod replace;
mod retired;
mod scan;
mod stamp;
mod sync;
mod sync_tree;
mod temp;
mod trash;
mod tree;
mod typed;
#[cfg(windows)]
mod windows;

pub use crate::{
    append::{Appended, UnlockedLog, append_line},
    beside::{windows_users, wsl_homes},
    create::{Created, create, create_open, create_with},
    durability::{Durability, UnknownDurability},
    error::{DiskError, FileKind},
    expire::remove_files_before,
    folder::{create_folder, ensure_folder},
    identity::{
        FileId, SeenFolder, age, born, file_id, followed_id, is_own, see_folder, set_modified,
    },
    journal::{Journal, abandoned_journals},
    leftover::remove_leftovers,
    link::link,
    log::{LockedLog, LogReader},
    mode::Mode,
    name::{SafeName, UnsafeName, join},
    open_folder::{Entry, EntryKind, OpenFolder},
    program::find_program,
    read::{SMALL, open_read, open_sized, read_at, read_next, read_small, read_small_into},
    remove::{remove_empty_folder, remove_file, remove_folder, remove_link, set_folder_aside},
    replace::{replace, replace_with},
    retired::{Retired, retired_logs, retired_name},
    scan::Tail,
    stamp::{FileStamp, FileTime},
    sync::sync_path,
    sync_tree::sync_tree,
    temp::{ScratchFolder, is_temporary, scratch},
    trash::{TrashedBy, trash},
    tree::create_folder_with,
    typed::{path_of_text, shown_text, text_of_name},
};
