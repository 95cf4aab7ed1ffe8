//! A new thread with what was said up to some message.

use std::collections::BTreeSet;
use std::io::{self, Read};

use rethread_disk::{DiskError, Mode, create_with, ensure_folder, open_read};
use rethread_json::{LineBytes, Lines, Tree};
use rethread_model::Note;

use super::assets;
use super::config::Config;
use super::create::{init, make_folder, workspace};
use super::layout::{ASSETS, LOG, MANIFEST, project_of};
use super::manifest::{ForkedManifest, Manifest};
use super::tally::{Tally, each_object};
use crate::{Fork, Made, Source, WriteError, Writing};

/// Copies a thread up to an entry. The copied lines keep their bytes; so does what the description
/// says that is not about the log.
pub(crate) fn fork(w: &Writing<'_>, source: &Source, fork: &Fork) -> Result<Made, WriteError> {
    let mut notes = Vec::new();
    if let Some(project) = project_of(&source.path) {
        notes.extend(Config::read(project)?.notes);
    }
    let manifest = Manifest::read(&source.path)?;
    let home = match (&fork.cwd, project_of(&source.path)) {
        (Some(cwd), _) => init(w, cwd)?.project,
        (None, Some(project)) => project.to_owned(),
        (None, None) => {
            return Err(WriteError::BadInput(
                "this thread is in no project; name one with `--cwd`".to_owned(),
            ));
        }
    };
    Config::read(&home)?;
    let past = Past::of(source, fork)?;
    // The work goes on elsewhere, or nobody said where it was.
    let missing = manifest.root().get("context").is_none().then_some(&home);
    let context = fork
        .cwd
        .as_ref()
        .or(missing)
        .map(|cwd| Manifest::context(&workspace(&home, cwd)));
    let (id, path) = make_folder(w, &home, None, |id, folder, mode| {
        let log_len = copy_log(w, source, &past, &folder.join(LOG), mode)?;
        for name in &past.assets {
            copy_asset(w, source, folder, name, mode)?;
        }
        let forked = ForkedManifest {
            id,
            folder_name: &source.id,
            created: w.env.now(),
            title: fork.title.as_deref(),
            context: context.as_deref(),
        };
        let bytes = manifest.forked(&forked, &past.tally, log_len);
        let _ = rethread_disk::create(&folder.join(MANIFEST), &bytes, mode, w.durability)?;
        Ok(())
    })?;
    for name in &past.assets {
        if assets::find(&source.path, name).is_none() {
            let message = format!("the asset `{name}` is missing and was not copied");
            notes.push(Note::damage(message).at(source.path.join(ASSETS)));
        }
    }
    Ok(Made {
        id,
        created: vec![path.clone()],
        path,
        project: home,
        notes,
    })
}

/// What is to be copied.
struct Past {
    end: u64,
    /// Whether the last line needs its line break.
    needs_break: bool,
    tally: Tally,
    assets: BTreeSet<String>,
}

impl Past {
    /// Everything up to and with the entry; without one, all whole lines.
    fn of(source: &Source, fork: &Fork) -> Result<Self, WriteError> {
        let mut past = Self {
            end: 0,
            needs_break: false,
            tally: Tally::default(),
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
        let failed = |cause| DiskError::Read {
            path: path.clone(),
            cause,
        };
        while let Some(line) = lines.next_line().map_err(failed)? {
            let span = line.span;
            if fork.at.as_ref().is_some_and(|at| span.offset > at.offset) {
                break;
            }
            let mut objects = 0;
            match line.bytes {
                LineBytes::Whole(bytes) => each_object(bytes, &mut tree, |value| {
                    objects += 1;
                    past.tally.add(&super::message::head(value));
                    past.assets.extend(assets::references(value));
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

fn copy_log(
    w: &Writing<'_>,
    source: &Source,
    past: &Past,
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
fn copy_asset(
    w: &Writing<'_>,
    source: &Source,
    folder: &std::path::Path,
    name: &str,
    mode: Mode,
) -> Result<(), WriteError> {
    let Some(from) = assets::find(&source.path, name) else {
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
