//! Descriptions of threads in git worktrees, kept in the data folder: a worktree takes its threads
//! with it when it goes.

use std::path::{Path, PathBuf};

use rethread_disk::{DiskError, Durability, Mode, ensure_folder, read_small, replace};
use rethread_formats::{Env, PROJECT_FORMAT};
use rethread_json::{Document, Object};
use rethread_model::Summary;
use sha2::{Digest, Sha256};

const FOLDER: &str = "worktree-threads";

/// Keeps a copy of a thread's description. One that cannot be read as JSON is left out.
pub fn keep(env: &Env, thread: &Path, d: Durability) -> Result<(), DiskError> {
    let Some(path) = thread.to_str() else {
        return Ok(());
    };
    let Some(projects) = PROJECT_FORMAT.projects() else {
        return Ok(());
    };
    let description = read_small(&thread.join(projects.description_file()))?;
    let Ok(description) = rethread_json::compact(&description) else {
        return Ok(());
    };
    let record = Object::new()
        .str("path", path)
        .raw("thread", &description)
        .finish();
    let file = file_of(env, thread);
    if read_small(&file).is_ok_and(|kept| kept == record) {
        return Ok(());
    }
    ensure_folder(&env.data.join(FOLDER), &Mode::Private, d)?;
    replace(&file, &record, Mode::Private, d)
}

fn file_of(env: &Env, thread: &Path) -> PathBuf {
    let digest = Sha256::digest(thread.as_os_str().as_encoded_bytes());
    let mut first = [0; 8];
    first.copy_from_slice(&digest[..8]);
    env.data
        .join(FOLDER)
        .join(format!("{:016x}.json", u64::from_be_bytes(first)))
}

/// The threads whose folders are gone.
pub(crate) fn gone(env: &Env) -> Vec<Summary> {
    let entries = std::fs::read_dir(env.data.join(FOLDER))
        .into_iter()
        .flatten();
    let kept = entries.filter_map(|entry| summary(&entry.ok()?.path()));
    kept.filter(|s| !s.path.is_dir()).collect()
}

fn summary(file: &Path) -> Option<Summary> {
    let document = Document::parse(read_small(file).ok()?).ok()?;
    let path = document.root().get("path")?.str()?;
    let description = document.root().get("thread")?.raw().to_vec();
    let projects = PROJECT_FORMAT.projects()?;
    projects.described(Path::new(path.as_ref()), description)
}
