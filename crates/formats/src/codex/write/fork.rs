//! A new session with what was said up to some entry.

use std::collections::HashSet;
use std::io::{self, BufWriter, Write};

use rethread_json::{Patch, Tree, quote};
use rethread_model::{EntryIx, Kind, RawRef};

use super::create::{CLIENT, NewMeta};
use super::records::{Mode, Records};
use super::{fresh_place, home, put_with, rename};
use crate::codex::layout::home_of;
use crate::codex::record::{Ev, Record, What};
use crate::codex::{document, read};
use crate::{Conversation, Fork, Made, RecordKind, Source, WriteError, Writing};

/// Copies the way to an entry into a new session, as older clients fork: at the time of the fork,
/// and with what was borrowed from others. Turns that were taken back are left out, and so is what is
/// damaged, which is told.
pub(crate) fn fork(w: &Writing<'_>, source: &Source, fork: &Fork) -> Result<Made, WriteError> {
    if document::is_document(&source.path) {
        return Err(super::unsupported("way to change files of 2025"));
    }
    let old = read::read(source)?;
    let head = &old.session.head;
    if head.dialect.as_deref() == Some("items") {
        return Err(super::unsupported("way to change files that old"));
    }
    let mut notes = old.damage(w)?;
    let leaf = match &fork.at {
        Some(at) => Some(
            entry_at(&old, &at.id, at.offset).ok_or_else(|| WriteError::NoEntry {
                id: at.id.clone(),
                path: source.path.clone(),
            })?,
        ),
        None => old.session.leaf(),
    };
    let now = w.env.now();
    let home = match home_of(&source.path) {
        Some(home) => home,
        None => home(w.env, None)?,
    };
    let (id, path) = fresh_place(w.env, &home, now, head.id.as_bytes());
    let cwd = fork.cwd.as_ref().map(|c| c.to_string_lossy().into_owned());
    let cwd = cwd
        .or_else(|| head.workspace.path.clone())
        .unwrap_or_default();
    let paginated = head.dialect.as_deref() == Some("paginated");
    let meta = NewMeta {
        id: &id,
        created: now,
        cwd: &cwd,
        originator: "rethread",
        version: head.agent.version.as_deref().unwrap_or(CLIENT),
        forked_from: Some(&head.id),
        paginated,
        spawn: None,
    };
    let mut records = Records::new(if paginated {
        Mode::Paginated {
            next: 0,
            thread: id.clone(),
            turn: String::new(),
        }
    } else {
        Mode::Legacy
    });
    records.add(now, "session_meta", &meta.payload());
    let title = fork.title.as_deref().map(rename::checked).transpose()?;
    put_with(w, &path, &id, |out| {
        let mut out = BufWriter::new(out);
        out.write_all(&records.into_bytes())?;
        copy(&old, leaf, paginated, &now.to_string(), &mut out)?;
        out.flush()
    })?;
    notes.extend(title.and_then(|title| rename::name_new(w, &path, &id, title)));
    Ok(Made {
        id,
        created: vec![path.clone()],
        path,
        project: fork.cwd.clone().unwrap_or_else(|| cwd.into()),
        notes,
    })
}

/// The entry with this id whose first record begins there: ids may be empty.
fn entry_at(old: &Conversation, id: &str, offset: u64) -> Option<EntryIx> {
    let session = &old.session;
    let begins = |ix: EntryIx| {
        let first = session.origin(ix).first()?;
        Some(old.native.span(*first)?.start)
    };
    let mut entries = session.indexed().map(|(ix, _)| ix);
    entries.find(|ix| session.id(*ix) == id && begins(*ix) == Some(offset))
}

/// Copies records, the oldest part first, each at the time of the fork.
fn copy(
    old: &Conversation,
    leaf: Option<EntryIx>,
    numbered: bool,
    now: &str,
    out: &mut impl Write,
) -> io::Result<()> {
    let Some(leaf) = leaf else { return Ok(()) };
    let session = &old.session;
    let path: HashSet<EntryIx> = session.path(leaf).into_iter().collect();
    let mut kept: HashSet<RawRef> = HashSet::new();
    let mut claimed: HashSet<RawRef> = HashSet::new();
    for (ix, entry) in session.indexed() {
        let origin = session.origin(ix);
        claimed.extend(origin);
        if path.contains(&ix) || (entry.beside && entry.kind != Kind::Title) {
            kept.extend(origin);
        }
    }
    let last = session
        .origin(leaf)
        .iter()
        .copied()
        .max_by_key(|raw| age(*raw));
    let mut number = 1;
    let mut tree = Tree::default();
    for part in (0..old.native.parts.len()).rev() {
        let part = u32::try_from(part).unwrap_or(u32::MAX);
        let count = old
            .native
            .parts
            .get(part as usize)
            .map_or(0, crate::Part::record_count);
        for record in 0..u32::try_from(count).unwrap_or(u32::MAX) {
            let raw = RawRef { part, record };
            if last.is_some_and(|last| age(raw) > age(last)) {
                return Ok(());
            }
            let is_whole = old.native.record_kind(raw) == Some(RecordKind::Value);
            if !is_whole || (claimed.contains(&raw) && !kept.contains(&raw)) {
                continue;
            }
            let bytes = old.native.read(raw)?;
            if tree.parse_into(&bytes).is_err() {
                continue;
            }
            let root = tree.root(&bytes);
            let what = Record::of(root).what;
            let is_back = what == What::Event(Ev::RolledBack);
            // Behind its own facts, a file with a copy has those of the other session.
            let is_meta = what == What::Meta && (numbered || part != 0 || record != 0);
            if is_back || is_meta {
                continue;
            }
            let mut patch = Patch::new(root);
            patch.set(root, "timestamp", &quote(now));
            if numbered {
                patch.set(root, "ordinal", u64::to_string(&number).as_bytes());
                number += 1;
            }
            out.write_all(patch.finish().trim_ascii())?;
            out.write_all(b"\n")?;
        }
    }
    Ok(())
}

/// The place of a record: those of borrowed parts come first, the furthest one before all.
fn age(raw: RawRef) -> (std::cmp::Reverse<u32>, u32) {
    (std::cmp::Reverse(raw.part), raw.record)
}
