//! Looking at folders again and again, for what the system does not tell.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, SystemTime};

use crate::{WatchNews, WatchedFolder};

/// What is seen of a file or folder.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SeenEntry {
    len: u64,
    modified: Option<SystemTime>,
    /// A file that was put in the place of another one is another one.
    identity: u64,
}

/// A folder, and what was seen in it last.
struct PolledFolder {
    folder: WatchedFolder,
    seen: BTreeMap<PathBuf, SeenEntry>,
}

impl PolledFolder {
    fn new(folder: WatchedFolder) -> Self {
        let seen = look_at(&folder);
        Self { folder, seen }
    }

    /// What is another one now than it was before.
    fn changed_paths(&mut self) -> Vec<PathBuf> {
        let now = look_at(&self.folder);
        let before = std::mem::take(&mut self.seen);
        let gone = before.keys().filter(|path| !now.contains_key(*path));
        let other = now
            .iter()
            .filter(|(path, entry)| before.get(*path) != Some(entry));
        let changed = gone.chain(other.map(|(path, _)| path)).cloned().collect();
        self.seen = now;
        changed
    }
}

/// A thread that looks at folders until this is dropped.
pub(crate) struct Poller {
    folders: Sender<PolledFolder>,
}

impl Poller {
    /// Begins to look so long apart, and tells what changed.
    pub(crate) fn start(interval: Duration, news: Sender<WatchNews>) -> Self {
        let (folders, added) = channel();
        thread::spawn(move || poll_folders(interval, &added, &news));
        Self { folders }
    }

    /// Looks at one more folder, from now on.
    pub(crate) fn add_folder(&self, folder: WatchedFolder) {
        // It fails only if nobody listens any more.
        let _ = self.folders.send(PolledFolder::new(folder));
    }
}

fn poll_folders(interval: Duration, added: &Receiver<PolledFolder>, news: &Sender<WatchNews>) {
    let mut folders: Vec<PolledFolder> = Vec::new();
    loop {
        match added.recv_timeout(interval) {
            Ok(folder) => folders.push(folder),
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {}
        }
        for folder in &mut folders {
            let changed = folder.changed_paths();
            if !changed.is_empty() && news.send(WatchNews::Changed(changed)).is_err() {
                return;
            }
        }
    }
}

/// What is in a folder now. Links are not followed.
fn look_at(folder: &WatchedFolder) -> BTreeMap<PathBuf, SeenEntry> {
    let mut seen = BTreeMap::new();
    let mut left = vec![folder.path.clone()];
    while let Some(path) = left.pop() {
        for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            if metadata.is_dir() && folder.is_deep {
                left.push(entry.path());
            }
            seen.insert(entry.path(), seen_entry(&metadata));
        }
    }
    seen
}

fn seen_entry(metadata: &Metadata) -> SeenEntry {
    SeenEntry {
        len: metadata.len(),
        modified: metadata.modified().ok(),
        identity: identity(metadata),
    }
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> u64 {
    0
}
