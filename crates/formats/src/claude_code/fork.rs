//! A new session with what was said up to some entry.

use std::collections::HashSet;

use rethread_json::{Object, Patch, Place, Tree, Value, quote};
use rethread_model::{EntryIx, TitleSource};

use super::append::{last_id, refuse_agent, scribe};
use super::create::{make_file, project_folder, real};
use super::read::read;
use super::scribe::{OURS, Scribe};
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
    let records = copied(&conversation, &way)?;
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
    let (id, path) = make_file(w, &folder, None, |id| {
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
        for record in &records {
            scribe.line(&record.under(id));
        }
        scribe.close(title.as_deref(), None, false);
        scribe.lines
    })?;
    Ok(Made {
        id,
        path: path.clone(),
        project: cwd.unwrap_or(folder),
        created: vec![path],
        notes,
    })
}

/// A record to be copied.
struct Copied {
    bytes: Vec<u8>,
    /// What it hangs from now, where its own parent is not copied.
    parent: Option<String>,
}

impl Copied {
    /// The record in another session.
    fn under(&self, session: &str) -> Vec<u8> {
        let Ok(tree) = Tree::parse(&self.bytes) else {
            return self.bytes.clone();
        };
        let root = tree.root(&self.bytes);
        let mut patch = Patch::new(root);
        match root.get("sessionId") {
            Some(value) => patch.replace(value, &quote(session)),
            None => patch.insert(root, "sessionId", &quote(session), Place::Last),
        }
        if let (Some(parent), Some(value)) = (&self.parent, root.get("parentUuid")) {
            patch.replace(value, &quote(parent));
        }
        patch.finish()
    }
}

/// The records of the entries on a way, in the order of the file.
fn copied(conversation: &Conversation, way: &[EntryIx]) -> Result<Vec<Copied>, WriteError> {
    let session = &conversation.session;
    let mut all = Vec::new();
    for ix in way {
        let before = session.entry(*ix).parent;
        all.extend(session.origin(*ix).iter().map(|raw| (*raw, before)));
    }
    all.sort_by_key(|(raw, _)| *raw);
    let unreadable = |cause| {
        let path = conversation.source.path.clone();
        WriteError::Disk(rethread_disk::DiskError::Read { path, cause })
    };
    let mut records = Vec::with_capacity(all.len());
    let mut ids = HashSet::new();
    let mut links = Vec::with_capacity(all.len());
    for (raw, before) in all {
        let mut bytes = conversation.native.read(raw).map_err(unreadable)?;
        while bytes.last().is_some_and(u8::is_ascii_whitespace) {
            bytes.pop();
        }
        let (mut own, mut parent) = (None, None);
        if let Ok(tree) = Tree::parse(&bytes) {
            let root: Value<'_> = tree.root(&bytes);
            own = string(root, "uuid");
            parent = string(root, "parentUuid");
        }
        ids.extend(own);
        links.push((parent, before));
        records.push(Copied {
            bytes,
            parent: None,
        });
    }
    for (record, (parent, before)) in records.iter_mut().zip(links) {
        if parent.is_some_and(|parent| !ids.contains(&parent)) {
            record.parent = before.and_then(|ix| last_id(conversation, ix));
        }
    }
    Ok(records)
}
