//! A new session with what was said up to some entry.

use std::collections::HashSet;
use std::io::{self, BufWriter, Write};
use std::ops::Range;

use rethread_json::{Object, Tree, Value, quote};
use rethread_model::{EntryIx, RawRef, TitleSource};
use sha2::{Digest as _, Sha256};

use super::append::{last_id, refuse_agent, scribe};
use super::create::{make_file, project_folder, real};
use super::read::read;
use super::scribe::{OURS, Scribe};
use crate::error::unreadable;
use crate::fields::string;
use crate::{Conversation, Fork, Made, Source, WriteError, Writing};

/// Copies the way to an entry. The copied records keep their bytes and ids, but for the session
/// they belong to, as when the client forks; what hung from a record that is not copied hangs from
/// what stands before it on the way. What is damaged is told.
pub(super) fn fork(w: &Writing<'_>, source: &Source, fork: &Fork) -> Result<Made, WriteError> {
    refuse_agent(source)?;
    let conversation = read(source)?;
    let notes = conversation.damage(w)?;
    let session = &conversation.session;
    let no_entry = |id: &str| WriteError::NoEntry {
        id: id.to_owned(),
        path: source.path.clone(),
    };
    let leaf = match &fork.at {
        Some(asked) => Some(session.find(&asked.id).ok_or_else(|| no_entry(&asked.id))?),
        None => session.leaf(),
    };
    let way = leaf.map(|leaf| session.path(leaf)).unwrap_or_default();
    let copied = Copied::of(&conversation, &way)?;
    let said = session.head.workspace.path.clone();
    let cwd = match &fork.cwd {
        Some(cwd) => Some(real(cwd)),
        None => said.map(Into::into),
    };
    let beside = source.path.parent().map(std::path::Path::to_owned);
    let folder = match (&fork.cwd, &cwd, beside) {
        (None, _, Some(folder)) => folder,
        (_, Some(cwd), _) => project_folder(w.env, None, cwd)?,
        (_, None, _) => return Err(WriteError::BadInput("no folder is known".to_owned())),
    };
    let title = session.head.title.as_ref();
    let given = title.filter(|t| t.source >= TitleSource::Model);
    let title = fork.title.clone().or_else(|| given.map(|t| t.text.clone()));
    let parent = leaf.and_then(|leaf| last_id(&conversation, leaf));
    let start = Scribe {
        cwd: cwd.as_ref().map(|c| c.to_string_lossy().into_owned()),
        parent,
        ..scribe(&conversation)
    };
    let (id, path) = make_file(w, &folder, None, |id, out| {
        let mut scribe = Scribe {
            session: id.to_owned(),
            ..start.clone()
        };
        let origin = Object::new()
            .str("type", OURS)
            .opt_str("cwd", scribe.cwd.as_deref())
            .str("forkOf", &session.head.id)
            .opt_str("forkAt", scribe.parent.as_deref())
            .str("sessionId", id);
        scribe.line(&origin.finish());
        let mut out = BufWriter::new(out);
        out.write_all(&std::mem::take(&mut scribe.lines))?;
        copied.write(id, &mut out)?;
        scribe.close(title.as_deref(), None, false);
        out.write_all(&scribe.lines)?;
        out.flush()
    })?;
    Ok(Made {
        id,
        path: path.clone(),
        project: cwd.unwrap_or(folder),
        created: vec![path],
        notes,
    })
}

/// The records of a way, which are read again when they are written.
struct Copied<'a> {
    conversation: &'a Conversation,
    /// In the order of the file, each with the entry that stands before its own on the way.
    records: Vec<(RawRef, Option<EntryIx>)>,
    /// The ids of all of them.
    ids: HashSet<u128>,
}

impl<'a> Copied<'a> {
    fn of(conversation: &'a Conversation, way: &[EntryIx]) -> Result<Self, WriteError> {
        let session = &conversation.session;
        let mut records = Vec::with_capacity(way.len());
        for ix in way {
            let before = session.entry(*ix).parent;
            records.extend(session.origin(*ix).iter().map(|raw| (*raw, before)));
        }
        records.sort_by_key(|(raw, _)| *raw);
        let mut copied = Self {
            conversation,
            records,
            ids: HashSet::new(),
        };
        let mut ids = HashSet::with_capacity(copied.records.len());
        let read = copied.each(|record, _| {
            let root = record.tree.root(&record.bytes);
            ids.extend(string(root, "uuid").map(|id| key(&id)));
            Ok(())
        });
        read.map_err(|e| unreadable(&conversation.source.path, e))?;
        copied.ids = ids;
        Ok(copied)
    }

    /// Hands over each record, with the entry that stands before its own.
    fn each(
        &self,
        mut each: impl FnMut(&Read, Option<EntryIx>) -> io::Result<()>,
    ) -> io::Result<()> {
        for (raw, before) in &self.records {
            let bytes = self.conversation.native.read(*raw)?;
            // What is no JSON is copied as it is.
            let tree = Tree::parse(&bytes).unwrap_or_default();
            each(&Read { bytes, tree }, *before)?;
        }
        Ok(())
    }

    /// Writes them as records of another session. What hung from a record that is not among them
    /// hangs from what stands before it.
    fn write(&self, session: &str, out: &mut dyn Write) -> io::Result<()> {
        self.each(|record, before| {
            let root = record.tree.root(&record.bytes);
            let parent = root.get("parentUuid");
            let is_gone = |id: &str| !self.ids.contains(&key(id));
            let lost = parent.filter(|p| p.str().is_some_and(|id| is_gone(&id)));
            let above = before.filter(|_| lost.is_some());
            let above = above.and_then(|ix| last_id(self.conversation, ix));
            let mut changes = Vec::new();
            if let (Some(lost), Some(above)) = (lost, above) {
                changes.push((lost.span(), quote(&above)));
            }
            changes.extend(owned(root, session));
            record.write(changes, out)
        })
    }
}

/// A record that is copied.
struct Read {
    bytes: Vec<u8>,
    tree: Tree,
}

/// Places in a record, and what is to stand there.
type Changes = Vec<(Range<usize>, Vec<u8>)>;

impl Read {
    /// Writes the record with other values in places. The longest records are as long as memory
    /// allows, so there is no copy of it.
    fn write(&self, mut changes: Changes, out: &mut dyn Write) -> io::Result<()> {
        changes.sort_by_key(|(place, _)| place.start);
        let bytes = self.bytes.trim_ascii_end();
        let mut at = 0;
        for (place, json) in &changes {
            out.write_all(bytes.get(at..place.start).unwrap_or_default())?;
            out.write_all(json)?;
            at = place.end;
        }
        out.write_all(bytes.get(at..).unwrap_or_default())?;
        out.write_all(b"\n")
    }
}

/// What makes a record one of a session; nothing, where it is no object.
fn owned(root: Value<'_>, session: &str) -> Option<(Range<usize>, Vec<u8>)> {
    if !root.is_object() {
        return None;
    }
    if let Some(own) = root.get("sessionId") {
        return Some((own.span(), quote(session)));
    }
    let last = root.members().last().map(|(_, value)| value.span().end);
    let at = last.unwrap_or(root.span().start + 1);
    let comma: &[u8] = if last.is_some() { b"," } else { b"" };
    let member = [comma, b"\"sessionId\":", &quote(session)].concat();
    Some((at..at, member))
}

/// An id in a few bytes: those of a UUID, as which nearly all are written, else of its digest.
fn key(id: &str) -> u128 {
    match uuid::Uuid::try_parse(id) {
        Ok(uuid) if id.len() == 36 => uuid.as_u128(),
        _ => {
            let digest = Sha256::digest(id.as_bytes());
            let mut bytes = [0; 16];
            bytes.copy_from_slice(&digest[..16]);
            u128::from_be_bytes(bytes)
        }
    }
}
