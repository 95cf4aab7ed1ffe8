//! Copies of the sample that commands work on instead of this machine's homes: the one of
//! `--sample`, which stays as commands leave it, and one that is gone after a command.

use std::io;
use std::path::{Path, PathBuf};

use rethread_disk::{
    Created, DiskError, Durability, Mode, ScratchFolder, age, create_folder_with, ensure_folder,
    is_temporary, remove_folder,
};
use rethread_formats::Env;
use rethread_model::Moment;
use sha2::{Digest as _, Sha256};

use super::{Sample, files, repository, sample_time, write_files, write_folders};
use crate::Error;

/// The folder of copies in Rethread's cache.
const COPIES: &str = "sample";

/// Says what a copy is. How old it is says how much later than the sample it is in the copy.
const ABOUT: &str = "README";
const ABOUT_TEXT: &str = "This is what `rethread --sample` works on: a small project with conversations of several\n\
agents. It can be deleted at any time; `rethread sample --clear` does.\n";

/// Rethread's own folder in a copy.
const OWN: &str = "rethread";

/// A copy of the sample, and the environment in which it is all that there is.
#[derive(Debug)]
pub struct SampleCopy {
    /// Where it is.
    pub folder: PathBuf,
    /// Its home is the only one, and the current folder is its project.
    pub env: Env,
    /// Goes with the copy, if that is for one command.
    _scratch: Option<ScratchFolder>,
}

/// The copy that `--sample` works on. It is made where there is none, and stays as commands leave
/// it.
pub fn kept_sample(env: &Env) -> Result<SampleCopy, Error> {
    let copies = env.cache.join(COPIES);
    let folder = copies.join(sample_version());
    let about = folder.join(ABOUT);
    if !about.is_file() {
        ensure_folder(&copies, &Mode::Private, Durability::None)?;
        remove_others(&copies, &folder)?;
        let made = create_folder_with(&folder, Mode::Private, Durability::None, |at| {
            let about = (ABOUT.to_owned(), ABOUT_TEXT.as_bytes().to_vec());
            write_files(at, &[about], Mode::Private)?;
            write_folders(&Sample::in_folder(&folder), at, Mode::Private)
        })?;
        if made == Created::Existed && !about.is_file() {
            return Err(Error::Refused {
                message: format!("`{}` is no copy of the sample", folder.display()),
                hint: "`rethread sample --clear` removes it".to_owned(),
            });
        }
    }
    let since = i64::try_from(age(&about)?.as_millis()).unwrap_or_default();
    let now = sample_time().and_then(|made| Moment::from_millis(made.millis().checked_add(since)?));
    Ok(SampleCopy {
        env: env_of(env, &folder, now),
        folder,
        _scratch: None,
    })
}

/// A copy of the sample for one command: it is gone when this is dropped.
pub fn temporary_sample(env: &Env) -> Result<SampleCopy, Error> {
    let scratch = ScratchFolder::new()?;
    let folder = scratch.path().to_owned();
    write_folders(&Sample::in_folder(&folder), &folder, Mode::Private)?;
    Ok(SampleCopy {
        env: env_of(env, &folder, sample_time()),
        folder,
        _scratch: Some(scratch),
    })
}

/// Removes the copy that `--sample` works on. Gives where it was, if there was one.
pub fn clear_sample(env: &Env) -> Result<Option<PathBuf>, Error> {
    let copies = env.cache.join(COPIES);
    if std::fs::symlink_metadata(&copies).is_err_and(|e| e.kind() == io::ErrorKind::NotFound) {
        return Ok(None);
    }
    remove_folder(&copies)?;
    Ok(Some(copies))
}

fn env_of(env: &Env, folder: &Path, now: Option<Moment>) -> Env {
    let sample = Sample::in_folder(folder);
    let env = env.within_home(&sample.home, &sample.project, &folder.join(OWN));
    match now {
        Some(now) => env.running_from(now),
        None => env,
    }
}

/// What the sample of this version of the program is called: another one has other files.
fn sample_version() -> String {
    let mut digest = Sha256::new();
    for text in files::all_texts() {
        digest.update(text.len().to_le_bytes());
        digest.update(text);
    }
    let digest = digest.finalize();
    repository::hex_digits(digest.get(..4).unwrap_or_default())
}

/// Removes the copies of other versions.
fn remove_others(copies: &Path, own: &Path) -> Result<(), Error> {
    let failed = |cause| DiskError::Read {
        path: copies.to_owned(),
        cause,
    };
    for entry in std::fs::read_dir(copies).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = entry.path();
        if path != own && path.is_dir() && !is_temporary(&entry.file_name()) {
            remove_folder(&path)?;
        }
    }
    Ok(())
}
