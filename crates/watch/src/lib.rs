//! Being told what changes in some folders.
//!
//! [`watch_folders`] asks the system to tell (inotify, `FSEvents`, `ReadDirectoryChangesW`), and looks again
//! and again where that cannot be done: at folders that the system does not watch, that are not there
//! yet, and where somebody asks for it because another machine writes there. No file is read here, and
//! nothing is printed.

mod polling;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use notify::event::{EventKind, ModifyKind};
use notify::{Config, Event, RecommendedWatcher, RecursiveMode, Watcher as _};
use polling::Poller;

/// A folder whose files are watched.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WatchedFolder {
    /// The folder.
    pub path: PathBuf,
    /// Whether the folders in it are watched as well, also those that are made later.
    pub is_deep: bool,
}

/// How changes are noticed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WatchMethod {
    /// The system tells, and where it does not, somebody looks every two seconds.
    #[default]
    SystemEvents,
    /// Somebody looks again and again, so long apart.
    Polling(Duration),
}

/// How long apart folders are looked at that the system does not watch.
const FALLBACK_INTERVAL: Duration = Duration::from_secs(2);

/// Changes that come so close behind each other are told together.
const SETTLE: Duration = Duration::from_millis(15);

/// Changes are not held back for longer than this, however many follow.
const LONGEST_SETTLE: Duration = Duration::from_millis(120);

/// What a watcher says.
enum WatchNews {
    /// These changed.
    Changed(Vec<PathBuf>),
    /// Some changes were lost: anything may have changed.
    Lost,
}

/// Tells what changes until it is dropped.
pub struct FolderWatch {
    news: Receiver<WatchNews>,
    sender: Sender<WatchNews>,
    system: Option<RecommendedWatcher>,
    poller: Option<Poller>,
    method: WatchMethod,
}

/// What changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderChanges {
    /// Files and folders that changed, were made, renamed or removed.
    pub paths: BTreeSet<PathBuf>,
    /// Whether some changes were lost: anything may have changed.
    pub is_incomplete: bool,
}

/// Begins to watch folders: whatever changes after this is told.
pub fn watch_folders(folders: &[WatchedFolder], method: WatchMethod) -> FolderWatch {
    let (sender, news) = channel();
    let system = match method {
        WatchMethod::SystemEvents => {
            let sender = sender.clone();
            let tell = move |event| {
                if let Some(news) = news_of(event) {
                    // It fails only if nobody listens any more.
                    let _ = sender.send(news);
                }
            };
            RecommendedWatcher::new(tell, Config::default()).ok()
        }
        WatchMethod::Polling(_) => None,
    };
    let mut watch = FolderWatch {
        news,
        sender,
        system,
        poller: None,
        method,
    };
    for folder in folders {
        watch.add_folder(folder);
    }
    watch
}

impl FolderWatch {
    /// Watches one more folder.
    pub fn add_folder(&mut self, folder: &WatchedFolder) {
        let mode = if folder.is_deep {
            RecursiveMode::Recursive
        } else {
            RecursiveMode::NonRecursive
        };
        let is_told = self
            .system
            .as_mut()
            .is_some_and(|system| system.watch(&folder.path, mode).is_ok());
        if !is_told {
            let interval = match self.method {
                WatchMethod::SystemEvents => FALLBACK_INTERVAL,
                WatchMethod::Polling(interval) => interval,
            };
            let start = || Poller::start(interval, self.sender.clone());
            let poller = self.poller.get_or_insert_with(start);
            poller.add_folder(folder.clone());
        }
    }

    /// Waits until something changes, and says what; none if nothing did for so long.
    pub fn next_changes(&mut self, wait: Option<Duration>) -> Option<FolderChanges> {
        let mut changes = FolderChanges::default();
        changes.note(match wait {
            None => self.news.recv().ok()?,
            Some(wait) => self.news.recv_timeout(wait).ok()?,
        });
        let until = Instant::now() + LONGEST_SETTLE;
        while Instant::now() < until
            && let Ok(more) = self.news.recv_timeout(SETTLE)
        {
            changes.note(more);
        }
        Some(changes)
    }
}

impl FolderChanges {
    fn note(&mut self, news: WatchNews) {
        match news {
            WatchNews::Changed(paths) => self.paths.extend(paths),
            WatchNews::Lost => self.is_incomplete = true,
        }
    }
}

/// What an event of the system says, if that is a change.
fn news_of(event: notify::Result<Event>) -> Option<WatchNews> {
    let Ok(event) = event else {
        // What the system could not tell may have been anything.
        return Some(WatchNews::Lost);
    };
    if event.need_rescan() {
        return Some(WatchNews::Lost);
    }
    match event.kind {
        // That somebody read a file, ourselves among them, is no change.
        EventKind::Access(_) | EventKind::Modify(ModifyKind::Metadata(_)) => None,
        _ if event.paths.is_empty() => None,
        _ => Some(WatchNews::Changed(event.paths)),
    }
}
