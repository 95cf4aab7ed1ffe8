//! Making sure that a whole folder survives a power cut.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use crate::{
    error::DiskError,
    open,
    sync::{SyncFolder, sync_file},
};

/// How many are synced at a time. Whoever syncs waits, and does not work; a disk settles many
/// together about as fast as one.
const AT_ONCE: usize = 32;

/// So few are synced one after the other: threads would take longer than they save.
const FEW: usize = 8;

/// Syncs a folder with all that is in it: for callers that filled it with
/// [`Durability::None`](crate::Durability::None), which is far faster than to sync each file before
/// the next is written. Links are not followed. An error means that something in it may be lost.
///
/// ```
/// use rethread_disk::{Created, DiskError, Durability, Mode, create, create_folder_with, sync_tree};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("session");
/// let made = create_folder_with(&path, Mode::Private, Durability::Close, |inside| {
///     for n in 0..100 {
///         let file = inside.join(n.to_string());
///         let _ = create(&file, b"{}", Mode::Private, Durability::None)?;
///     }
///     sync_tree(inside)
/// })?;
/// assert_eq!(made, Created::New);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn sync_tree(folder: &Path) -> Result<(), DiskError> {
    let (files, folders) = list_tree(folder)?;
    for_each_path(&files, |path| {
        let file = open::open_existing(path)?;
        sync_file(&file).map_err(|e| DiskError::while_syncing(path, e))
    })?;
    for_each_path(&folders, |path| {
        let opened =
            SyncFolder::open_at(path, true).map_err(|e| DiskError::while_reading(path, e))?;
        opened
            .map_or(Ok(()), |opened| opened.sync_itself())
            .map_err(|e| DiskError::while_syncing(path, e))
    })
}

/// The files and the folders in a folder, itself among these.
fn list_tree(folder: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>), DiskError> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    let mut at = 0;
    while let Some(folder) = folders.get(at).cloned() {
        at += 1;
        let failed = |e| DiskError::while_reading(&folder, e);
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    Ok((files, folders))
}

/// Does something to each of many paths, many at a time. The first error ends it.
fn for_each_path(
    paths: &[PathBuf],
    work: impl Fn(&Path) -> Result<(), DiskError> + Sync,
) -> Result<(), DiskError> {
    let next = AtomicUsize::new(0);
    let failed: Mutex<Option<DiskError>> = Mutex::new(None);
    let run = || {
        while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(e) = work(path) {
                // Nobody begins with another one.
                next.store(paths.len(), Ordering::Relaxed);
                failed
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .get_or_insert(e);
            }
        }
    };
    let threads = if paths.len() > FEW { AT_ONCE } else { 1 };
    thread::scope(|scope| {
        for _ in 1..paths.len().min(threads) {
            // Where there can be no more threads, those that there are do it all.
            if thread::Builder::new().spawn_scoped(scope, run).is_err() {
                break;
            }
        }
        run();
    });
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    failed.map_or(Ok(()), Err)
}
