//! `rm`: into the trash, or for good.

use std::path::{Path, PathBuf};

use rethread_catalog::{find, source_of};
use rethread_disk::{DiskError, TrashedBy, remove_file, remove_folder, trash};
use rethread_formats::{Env, Removal, Source, Want};
use rethread_model::{Note, Summary};

use crate::list::{Sort, list};
use crate::{Error, Filter, Listed};

/// A session that may be removed, and what it is to people.
#[derive(Debug)]
pub struct Removable {
    /// Where it is.
    pub source: Source,
    /// What a list says of it.
    pub summary: Summary,
    /// A name that every command takes.
    pub name: String,
}

/// The sessions that these names mean, each once. Where one of them means none, that is the error.
pub fn removable_by_name(env: &Env, names: &[String]) -> Result<Vec<Removable>, Error> {
    let mut all: Vec<Removable> = Vec::new();
    for name in names {
        let source = find(env, name)?;
        if all.iter().any(|other| other.source == source) {
            continue;
        }
        let summary = source.format.reader().summarize(&source, Want::WHOLE);
        all.push(Removable {
            name: summary.head.id.clone(),
            source,
            summary,
        });
    }
    Ok(all)
}

/// The sessions that a list with this filter has, newest first, as far as all that was said in them
/// is in its span: one that went on later, or began before, stays. Gives what was noticed, too.
pub fn removable_by_filter(
    env: &Env,
    filter: &Filter,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<(Vec<Removable>, Vec<Note>), Error> {
    let Listed {
        sessions,
        names,
        notes,
        ..
    } = list(env, filter, Sort::Updated, progress)?;
    let is_inside = |summary: &Summary| {
        let (first, last) = (summary.head.created, summary.head.updated);
        let ended = filter
            .until
            .is_none_or(|until| last.is_some_and(|last| last <= until));
        let began = filter
            .since
            .is_none_or(|since| first.or(last).is_some_and(|first| first >= since));
        ended && began
    };
    let sessions = sessions.into_iter().filter(is_inside);
    let all = sessions.filter_map(|summary| {
        Some(Removable {
            source: source_of(env, &summary)?,
            name: names.name_of(&summary),
            summary,
        })
    });
    Ok((all.collect(), notes))
}

/// What became of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Removed {
    /// It is in the trash.
    Trashed {
        /// Where it was.
        path: PathBuf,
        /// What took it.
        by: TrashedBy,
    },
    /// It is gone.
    Deleted {
        /// Where it was.
        path: PathBuf,
    },
}

/// Removes a session: into the trash, or for good with `force`. What makes it a session goes last, so
/// where something stays, the session is still found, and the error says what went before.
pub fn remove_session(source: &Source, force: bool) -> Result<Removed, Error> {
    let path = source.path.clone();
    let Removal::Files(files) = source.format.store().remove(source, force)? else {
        return Ok(Removed::Deleted { path });
    };
    let mut by = None;
    for (at, file) in files.iter().enumerate() {
        let done = if force {
            delete_path(file)
        } else {
            trash(file).map(|who| by = Some(who))
        };
        if let Err(cause) = done {
            return Err(match files.get(..at) {
                Some(gone) if !gone.is_empty() => Error::PartlyRemoved {
                    cause,
                    gone: gone.to_vec(),
                    left: files.get(at + 1..).unwrap_or_default().to_vec(),
                    trashed: !force,
                },
                _ => cause.into(),
            });
        }
    }
    Ok(match by {
        Some(by) => Removed::Trashed { path, by },
        None => Removed::Deleted { path },
    })
}

fn delete_path(path: &Path) -> Result<(), DiskError> {
    if path.is_dir() {
        remove_folder(path)
    } else {
        remove_file(path)
    }
}
