//! `restore`: sessions of an export back in their places, as they were.

use std::io;
use std::path::{Path, PathBuf};

use rethread_catalog::{discover, find, sources_at};
use rethread_disk::{ScratchFolder, path_of_text};
use rethread_formats::carry::{CarriedFile, InstallTarget, Put, Seal, original_files};
use rethread_formats::{
    Conversation, Env, FormatRef, Source, WriteError, Writing, by_name, has_no_sessions,
};
use rethread_model::{LinkKind, Note};

use super::unified::{self, CarriedFiles};
use super::{ConvertOptions, put_note, recovery, target};
use crate::edit::make_root;
use crate::show::open;
use crate::{Error, absolute};

/// How sessions are to be restored.
#[derive(Clone, Copy, Debug, Default)]
pub struct RestoreOptions<'a> {
    /// The folder to write to instead of the agents' own; each has a folder of its own in it.
    pub root: Option<&'a Path>,
    /// The project that threads go to whose own is not there.
    pub cwd: Option<&'a Path>,
    /// Only say what would be done.
    pub dry_run: bool,
}

/// A session of an export, and what became of it.
#[derive(Debug)]
pub struct Restored {
    /// Where it is in the export.
    pub source: Source,
    /// The agent that it belongs to.
    pub agent: &'static str,
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: Option<String>,
    /// Its main file or folder, where that is known.
    pub path: Option<PathBuf>,
    /// What was done.
    pub outcome: Restoration,
    /// What was noticed.
    pub notes: Vec<Note>,
}

/// What was done with a session of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restoration {
    /// It is back; in a dry run, it would be.
    Back,
    /// It was there already, with the same bytes.
    There,
    /// A session of that id is there, with other bytes: that stays as it is.
    Differs,
}

/// The sessions of exports that a user names, by their files or by `FILE#ID`.
pub fn restorable_sessions(env: &Env, names: &[String]) -> Result<Vec<Source>, Error> {
    let mut all: Vec<Source> = Vec::new();
    for name in names {
        let path = absolute(&env.cwd, &path_of_text(name));
        let mut found = if path.is_file() {
            sources_at(&path)
        } else {
            Vec::new()
        };
        let is_file = name.contains('#') || std::fs::symlink_metadata(&path).is_ok();
        if !is_file || path.is_dir() {
            let what = if is_file { "a folder" } else { "not there" };
            return Err(Error::Refused {
                message: format!("`{name}` is {what}, and no export"),
                hint: "`rethread export --aw -o all.ndjson.zst` makes one of everything".to_owned(),
            });
        }
        if found.is_empty() && !has_no_sessions(&path) {
            found.push(find(env, name)?);
        }
        if let Some(other) = found.iter().find(|source| !source.format.is_for_exports()) {
            return Err(Error::Usage {
                message: format!("`{name}` is a session of {}, and no export", other.format),
                hint: Some("`rethread export` makes one".to_owned()),
            });
        }
        found.retain(|source| !all.contains(source));
        all.extend(found);
    }
    Ok(all)
}

/// Puts sessions of exports back where they came from.
pub struct Restorer<'a> {
    w: &'a Writing<'a>,
    ask: RestoreOptions<'a>,
    /// The sessions that are restored: a sub-agent goes where the session is that started it.
    all: &'a [Source],
    /// What the stores of this machine hold, once it was asked for.
    there: Option<Vec<Source>>,
}

impl<'a> Restorer<'a> {
    /// For sessions that [`restorable_sessions`] found.
    pub fn new(w: &'a Writing<'a>, all: &'a [Source], ask: RestoreOptions<'a>) -> Self {
        Self {
            w,
            ask,
            all,
            there: None,
        }
    }

    /// Puts a session back: the files that came along in it, compared with their digests, whole or not
    /// at all, and never over something else.
    pub fn restore(&mut self, source: &Source) -> Result<Restored, Error> {
        let (w, ask) = (self.w, self.ask);
        let here = open(source)?;
        let head = &here.session.head;
        let agent = head.held_by();
        let format = by_name(agent).filter(|format| !format.is_for_exports());
        let format = format.ok_or_else(|| Error::Refused {
            message: format!("`{}` is of `{agent}`, which is not known here", head.id),
            hint: "`rethread convert FILE#ID --to AGENT` writes it for another agent".to_owned(),
        })?;
        let folder = ScratchFolder::new()?;
        let first = first_of(&here, self.all);
        let base = unified::base_folder(first.as_ref().unwrap_or(&here), format)?;
        let carried = unpack_files(w, &here, format, (folder.path(), base.clone()))?;
        let workspace = &first.as_ref().unwrap_or(&here).session.head.workspace;
        let named = workspace.path.as_ref().map(PathBuf::from);
        let mut restored = Restored {
            source: source.clone(),
            agent: format.slug(),
            id: head.id.clone(),
            title: head.title.as_ref().map(|title| title.text.clone()),
            path: None,
            outcome: Restoration::Back,
            notes: here.notes.clone(),
        };
        if ask.dry_run {
            if ask.root.is_none() {
                self.check_existing(&carried, base.as_deref(), &mut restored);
            }
            return Ok(restored);
        }
        let root = ask.root.map(|root| root.join(format.slug()));
        let place = InstallTarget {
            before: base,
            ..where_to(w, format, (root.as_deref(), ask.cwd), named)?
        };
        make_root(w, root.as_deref())?;
        match format.installable()?.install(w, &place, &carried.goods) {
            Ok(put) => {
                if matches!(put, Put::There(_)) {
                    restored.outcome = Restoration::There;
                }
                restored.notes.extend(put_note(&put, format));
                restored.path = Some(put.main_path().to_owned());
            }
            Err(WriteError::Exists { path, .. }) => {
                restored.outcome = Restoration::Differs;
                restored.path = Some(path);
            }
            Err(e) => return Err(e.into()),
        }
        Ok(restored)
    }

    /// Whether a session is there already, and with the same bytes.
    fn check_existing(
        &mut self,
        carried: &CarriedFiles<'_>,
        base: Option<&Path>,
        restored: &mut Restored,
    ) {
        let env = self.w.env;
        let there = self.there.get_or_insert_with(|| discover(env).sources);
        // A list by names knows some sessions by their files alone.
        let path = Path::new(&carried.goods.path);
        let path = match base.and_then(Path::file_name) {
            Some(base) if path.components().count() == 1 => Path::new(base).join(path),
            _ => path.to_owned(),
        };
        let is_it = |there: &&Source| there.id == restored.id || there.path.ends_with(&path);
        let mut there = there
            .iter()
            .filter(|there| there.format.slug() == restored.agent);
        let Some(there) = there.find(is_it) else {
            return;
        };
        restored.path = Some(there.path.clone());
        let is_same = open(there).is_ok_and(|there| has_files(&there, &carried.files));
        restored.outcome = if is_same {
            Restoration::There
        } else {
            Restoration::Differs
        };
    }
}

/// The session that started this one, and was started by none itself, if it is among these.
fn first_of(here: &Conversation, all: &[Source]) -> Option<Conversation> {
    let parent = |of: &Conversation| {
        let links = &of.session.head.links;
        let parent = links.iter().find(|link| link.kind == LinkKind::Parent)?;
        let mut all = all.iter();
        all.find(|s| s.id == parent.session && s.path == of.source.path)
    };
    let mut seen = vec![here.source.id.clone()];
    let mut found: Option<Conversation> = None;
    while let Some(source) = parent(found.as_ref().unwrap_or(here)) {
        if seen.contains(&source.id) {
            break;
        }
        seen.push(source.id.clone());
        found = Some(open(source).ok()?);
    }
    found
}

/// The files that came along, in a folder of ours. Reading them compares them with their digests.
fn unpack_files<'a>(
    w: &Writing<'_>,
    here: &'a Conversation,
    format: FormatRef,
    (folder, base): (&Path, Option<PathBuf>),
) -> Result<CarriedFiles<'a>, Error> {
    let carried = unified::carried_files(here, format, folder, base)?;
    let carried = carried.ok_or_else(|| Error::Refused {
        message: format!(
            "the original of `{}` is not in the export, which was made with `--lean` or by another program",
            here.session.head.id
        ),
        hint: "`rethread convert FILE#ID --to AGENT` writes it anew".to_owned(),
    })?;
    for (file, name) in carried.files.iter().zip(&carried.goods.names) {
        recovery::unpack_file(&w.unsynced(), folder, name, |out| {
            io::copy(&mut file.content_reader()?, out).map(drop)
        })?;
    }
    Ok(carried)
}

fn where_to(
    w: &Writing<'_>,
    format: FormatRef,
    (root, cwd): (Option<&Path>, Option<&Path>),
    named: Option<PathBuf>,
) -> Result<InstallTarget, Error> {
    // Only where a store is in projects does it matter where the work was done.
    let ask = ConvertOptions {
        to: format,
        root,
        cwd: cwd.filter(|_| format.projects().is_some()),
        lean: false,
        agents: true,
        dry_run: false,
    };
    target::install_target(w, &ask, named)
}

/// Whether a session has files with these bytes.
fn has_files(there: &Conversation, files: &[CarriedFile<'_>]) -> bool {
    let Ok(own) = original_files(there, None) else {
        return false;
    };
    let seals = own.iter().filter_map(|file| {
        let mut reader = file.content_reader().ok()?;
        Seal::of_content(&mut reader).ok()
    });
    let seals: Vec<Seal> = seals.collect();
    files.iter().all(|file| seals.contains(&file.seal))
}
