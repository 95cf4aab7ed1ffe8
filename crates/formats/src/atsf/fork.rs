//! A new thread with what was said up to some message.

use std::collections::BTreeSet;
use std::io;
use std::io::Read;

use rethread_disk::{DiskError, Mode, create_with, ensure_folder, open_read};
use rethread_json::{LineBytes, Lines, Tree};

use super::assets;
use super::store::{ASSETS, LOG};
use super::tally::{LogTally, each_object};
use crate::error::read_failed;
use crate::{Fork, Source, WriteError, Writing};

/// What is to be copied.
pub(super) struct CopiedThread {
    pub(super) end: u64,
    /// Whether the last line needs its line break.
    pub(super) needs_break: bool,
    pub(super) tally: LogTally,
    pub(super) assets: BTreeSet<String>,
}

impl CopiedThread {
    /// Everything up to and with the entry; without one, all whole lines.
    pub(super) fn of(source: &Source, fork: &Fork) -> Result<Self, WriteError> {
        let mut past = Self {
            end: 0,
            needs_break: false,
            tally: LogTally::default(),
            assets: BTreeSet::new(),
        };
        let path = source.path.join(LOG);
        let log = match open_read(&path) {
            Ok(log) => log,
            Err(DiskError::NotFound { .. }) => return Ok(past),
            Err(e) => return Err(e.into()),
        };
        let mut lines = Lines::new(log);
        let mut tree = Tree::default();
        let failed = read_failed(&path);
        while let Some(line) = lines.next_line().map_err(failed)? {
            let span = line.span;
            if fork.at.as_ref().is_some_and(|at| span.offset > at.offset) {
                break;
            }
            let mut objects = 0;
            match line.bytes {
                LineBytes::Whole(bytes) => each_object(bytes, &mut tree, |value| {
                    objects += 1;
                    past.tally.add(&super::message::message_head(value));
                    past.assets.extend(assets::asset_references(value));
                }),
                LineBytes::Giant { head, .. } => {
                    objects = 1;
                    past.tally.add(&super::tally::giant_head(head));
                }
            }
            if span.terminated || objects > 0 {
                past.end = span.offset + span.len + u64::from(span.terminated);
                past.needs_break = !span.terminated;
            }
        }
        Ok(past)
    }
}

pub(super) fn copy_log(
    w: &Writing<'_>,
    source: &Source,
    past: &CopiedThread,
    to: &std::path::Path,
    mode: Mode,
) -> Result<u64, WriteError> {
    let _ = create_with(to, mode, w.durability, |out| {
        if past.end > 0 {
            let from = open_read(&source.path.join(LOG)).map_err(io::Error::other)?;
            io::copy(&mut from.take(past.end), out)?;
        }
        if past.needs_break {
            out.write_all(b"\n")?;
        }
        Ok(())
    })?;
    Ok(past.end + u64::from(past.needs_break))
}

/// Copies an asset under its name, if the name is one and the asset is there.
pub(super) fn copy_asset(
    w: &Writing<'_>,
    source: &Source,
    folder: &std::path::Path,
    name: &str,
    mode: Mode,
) -> Result<(), WriteError> {
    let Some(from) = assets::find_asset(&source.path, name) else {
        return Ok(());
    };
    let to = folder.join(ASSETS);
    ensure_folder(&to, &mode, w.durability)?;
    let _ = create_with(&to.join(name), mode, w.durability, |out| {
        let mut bytes = open_read(&from).map_err(io::Error::other)?;
        io::copy(&mut bytes, out).map(drop)
    })?;
    Ok(())
}
