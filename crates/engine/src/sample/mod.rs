//! A small, realistic project with conversations of several agents, to try things on.
//!
//! A sample is a folder with two in it: `shop`, a git repository, and `home`, with the stores that
//! the agents would have in a home folder. It has the same bytes wherever and whenever it is
//! written, but for the paths in it: ids and times are fixed.

mod files;
mod repository;
mod scratch;

use std::io;
use std::path::{Path, PathBuf};

use rethread_disk::{
    Created, DiskError, Durability, Mode, create, create_folder_with, ensure_folder, read_small,
    remove_leftovers,
};
use rethread_formats::{Env, opencode};
use rethread_model::Moment;

use crate::Error;

pub use scratch::{SampleCopy, clear_sample, kept_sample, temporary_sample};

/// The project's folder in a sample, and the home beside it.
const PROJECT: &str = "shop";
const HOME: &str = "home";

/// When the sample was made, if one asks the conversations in it: an hour after the last message.
const MADE: &str = "2026-11-13T17:30:00Z";

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The folder that was asked for.
    pub folder: PathBuf,
    /// The project in it.
    pub project: PathBuf,
    /// The home folder in it, with the agents' stores.
    pub home: PathBuf,
    /// The sessions, by their ids, newest first.
    pub sessions: Vec<&'static str>,
}

impl Sample {
    fn in_folder(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            project: folder.join(PROJECT),
            home: folder.join(HOME),
            sessions: files::SESSIONS.to_vec(),
        }
    }
}

/// The time at which the conversations of the sample are recent.
fn sample_time() -> Option<Moment> {
    MADE.parse().ok()
}

/// Writes the sample into a folder that is new or empty, or in which one was begun and not finished.
pub fn write_sample(env: &Env, folder: &Path) -> Result<Sample, Error> {
    let folder = crate::absolute(&env.cwd, folder);
    let sample = Sample::in_folder(&folder);
    let has_home = refuse_used(&sample)?;
    let near = folder.ancestors().find(|f| f.is_dir()).unwrap_or(&folder);
    let mode = Mode::like(near)?;
    if folder.is_dir() {
        if !has_home {
            write_whole(&sample.home, mode, |at| write_home(&sample, at, mode))?;
        }
        write_whole(&sample.project, mode, |at| write_project(&sample, at, mode))?;
    } else {
        if let Some(parent) = folder.parent() {
            ensure_folder(parent, &mode, Durability::None)?;
        }
        write_whole(&folder, mode, |at| write_folders(&sample, at, mode))?;
    }
    Ok(sample)
}

/// Makes a folder with all that `fill` puts into it, or none.
fn write_whole(
    folder: &Path,
    mode: Mode,
    fill: impl FnOnce(&Path) -> Result<(), Error>,
) -> Result<(), Error> {
    match create_folder_with(folder, mode, Durability::None, fill)? {
        Created::New => Ok(()),
        Created::Existed => Err(in_use(folder)),
    }
}

/// Writes both folders of a sample into a folder that becomes the sample's.
fn write_folders(sample: &Sample, at: &Path, mode: Mode) -> Result<(), Error> {
    write_home(sample, &at.join(HOME), mode)?;
    write_project(sample, &at.join(PROJECT), mode)
}

fn write_home(sample: &Sample, at: &Path, mode: Mode) -> Result<(), Error> {
    let commits = files::project_commits();
    let history = repository::GitHistory::of_commits(&commits);
    let fill = files::SampleValues::new(sample, &history)?;
    write_files(at, &files::home_files(sample, &fill), mode)?;
    let database = at.join(files::DATABASE);
    if let Some(folder) = database.parent() {
        ensure_folder(folder, &mode, Durability::None)?;
    }
    opencode::create_database(&database, &files::database_rows(&fill))?;
    Ok(())
}

fn write_project(sample: &Sample, at: &Path, mode: Mode) -> Result<(), Error> {
    let commits = files::project_commits();
    let history = repository::GitHistory::of_commits(&commits);
    let fill = files::SampleValues::new(sample, &history)?;
    write_files(at, &files::project_files(&fill), mode)?;
    write_files(at, &history.repository_files(), mode)
}

fn write_files(at: &Path, files: &[(String, Vec<u8>)], mode: Mode) -> Result<(), Error> {
    for (name, bytes) in files {
        let path = at.join(name);
        if let Some(parent) = path.parent() {
            ensure_folder(parent, &mode, Durability::None)?;
        }
        if create(&path, bytes, mode, Durability::None)? == Created::Existed {
            return Err(in_use(&path));
        }
    }
    Ok(())
}

/// Refuses a folder that is not empty. What a sample left that was killed is no reason to; says whether
/// that is the whole home.
fn refuse_used(sample: &Sample) -> Result<bool, Error> {
    let folder = &sample.folder;
    remove_leftovers(folder);
    let failed = |cause| DiskError::Read {
        path: folder.clone(),
        cause,
    };
    let entries = match std::fs::read_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
        entries => entries.map_err(failed)?,
    };
    let mut is_empty = true;
    for entry in entries {
        let entry = entry.map_err(failed)?;
        let is_folder = entry.file_type().map_err(failed)?.is_dir();
        if !is_folder || entry.file_name() != HOME {
            return Err(in_use(folder));
        }
        is_empty = false;
    }
    if !is_empty && !is_untouched_home(sample)? {
        return Err(in_use(folder));
    }
    Ok(!is_empty)
}

/// Whether the home is the one that a sample has here, with all that was said in it.
fn is_untouched_home(sample: &Sample) -> Result<bool, Error> {
    let history = repository::GitHistory::of_commits(&files::project_commits());
    let fill = files::SampleValues::new(sample, &history)?;
    let is_as_written = |(name, bytes): &(String, Vec<u8>)| {
        read_small(&sample.home.join(name)).is_ok_and(|there| there == *bytes)
    };
    let is_whole = files::home_files(sample, &fill).iter().all(is_as_written);
    Ok(is_whole && sample.home.join(files::DATABASE).is_file())
}

fn in_use(path: &Path) -> Error {
    Error::Usage {
        message: format!(
            "`{}` is not empty, and nothing is overwritten",
            path.display()
        ),
        hint: Some("name a folder that is new or empty".to_owned()),
    }
}
