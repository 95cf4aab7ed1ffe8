//! Where the sessions of a format are kept.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rethread_disk::{FileId, SeenFolder, followed_id};
use rethread_model::{Head, Note, Summary, Workspace};

use super::FormatRef;
use crate::{Env, Home, OpenError, Removal, WriteError, by_name};

/// A place where a format keeps conversations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// The format.
    pub format: FormatRef,
    /// The folder.
    pub path: PathBuf,
    /// Why we looked there.
    pub found: Found,
    /// What was seen of it on the way.
    pub seen: SeenPlace,
}

impl Root {
    /// A place that is always looked at, or that is known.
    pub(crate) fn known(format: FormatRef, path: PathBuf) -> Self {
        Self {
            format,
            path,
            found: Found::Known,
            seen: SeenPlace::default(),
        }
    }

    /// Which folder of the disk it is, the same for all ways to it: for a format, two places with the same id
    /// are one.
    pub fn id(&self) -> Option<FileId> {
        let seen = self.seen.folder.map(|folder| folder.id);
        seen.or_else(|| followed_id(&self.path).ok())
    }

    /// Whether it is in a linked git worktree.
    pub fn is_in_linked_worktree(&self) -> bool {
        let looked = || self.path.join(".git").is_file();
        !self.seen.is_main_worktree && looked()
    }
}

/// What was seen of a place when it was found. There may be thousands of them, so nobody asks the disk
/// for it once more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeenPlace {
    /// The folder that its sessions are in, if that was looked at.
    pub folder: Option<SeenFolder>,
    /// Whether it was seen to be the main worktree of a git repository.
    pub is_main_worktree: bool,
}

/// What decides that a folder of a project is a place by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocatedBy {
    /// The folder that its sessions are in.
    pub sessions: PathBuf,
    /// What says that no other folder belongs to it.
    pub boundary: PathBuf,
}

/// Why a place was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Found {
    /// The current folder is in it.
    Current,
    /// It is a git worktree of such a project.
    Worktree,
    /// A session named it, or we wrote to it before.
    Known,
}

/// One session that was found, not yet read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The format.
    pub format: FormatRef,
    /// The session's id as far as names tell it.
    pub id: String,
    /// Its main file or folder.
    pub path: PathBuf,
    /// The version of its store, if that must be refused: what is in it is only listed.
    pub refused_store: Option<String>,
    /// Where it begins in a file that holds several, as far as that is known.
    pub place: Option<u64>,
    /// The home it is in, where that is not the user's own on this machine.
    pub home: Option<Arc<Home>>,
    /// Which part of its log is read, where somebody who knows the rest wants only what was added. A
    /// format that keeps no log of its own reads all of the session.
    pub window: Option<LogWindow>,
}

/// The part of a log that is read: its first line, and what stands behind a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogWindow {
    /// The first line that begins at or behind this byte is the next that is read.
    pub from: u64,
}

impl Source {
    /// A session in a store that can be used.
    pub fn new(format: FormatRef, id: String, path: PathBuf) -> Self {
        Self {
            format,
            id,
            path,
            refused_store: None,
            place: None,
            home: None,
            window: None,
        }
    }

    /// The error for a path that holds no session of the format.
    pub(crate) fn not_ours(&self) -> OpenError {
        OpenError::NotOurs {
            path: self.path.clone(),
            format: self.format.slug(),
        }
    }

    /// A summary that says no more than this.
    pub(crate) fn new_summary(&self) -> Summary {
        Summary {
            path: self.path.clone(),
            head: Head {
                id: self.id.clone(),
                format: self.format.slug(),
                ..Head::default()
            },
            ..Summary::default()
        }
    }

    /// The session that a summary is of. There is none if nobody knows its format.
    pub fn of_summary(summary: &Summary) -> Option<Self> {
        let head = &summary.head;
        let format = by_name(head.format)?;
        Some(Self::new(format, head.id.clone(), summary.path.clone()))
    }
}

/// What a summary of a session is made of: while none of it changes, the summary stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dependencies {
    /// Files and folders, there or not. If one of them changes, the session is read again.
    pub own: Vec<PathBuf>,
    /// Files that many sessions share, such as a database or a list of names. If one of them changes,
    /// [`Store::shared_facts`] says whether that concerns the session.
    pub shared: Vec<PathBuf>,
    /// Whether something else decides as well, which nobody can watch: the session is read each time.
    pub unwatchable: bool,
}

impl Dependencies {
    /// What depends on these files and folders alone.
    pub fn on(own: Vec<PathBuf>) -> Self {
        Self {
            own,
            ..Self::default()
        }
    }
}

/// Where the sessions of a format are kept, and what their files are called. Nothing here writes, but
/// for [`remove`](Self::remove).
pub trait Store: Sync {
    /// Where its conversations are: from the environment, and in the projects that are known.
    fn locate(&self, env: &Env, known: &[PathBuf]) -> Vec<Root>;

    /// The sessions in a place: cheap, by names alone.
    fn list(&self, root: &Root, out: &mut dyn FnMut(Result<Source, Note>));

    /// What decides, beside the [folder that was seen](SeenPlace::folder), which sessions
    /// [`list`](Self::list) finds in a place: while none of it changes, they are the same. None where
    /// that cannot be told by a few files.
    fn listed_by(&self, _: &Root) -> Option<Vec<PathBuf>> {
        None
    }

    /// What decides whether [`locate`](Self::locate) finds just one place for a folder of a project, that
    /// folder itself: while none of it changes, it does if it did. None where that cannot be told by a
    /// few files.
    fn located_by(&self, _project: &Path) -> Option<LocatedBy> {
        None
    }

    /// The sessions at a path that the user named; none if it is not ours.
    fn at_path(&self, path: &Path) -> Vec<Source>;

    /// The folders of a place in which sessions are written, and whether also what is in their folders
    /// counts: for who waits for changes.
    fn watched_folders(&self, root: &Root) -> Vec<(PathBuf, bool)> {
        vec![(root.path.clone(), true)]
    }

    /// The session's files, the main one first, without judging what is in them.
    fn files(&self, source: &Source) -> Result<Vec<PathBuf>, OpenError>;

    /// All that [`Reader::summarize`](crate::Reader::summarize) looked at to make this summary, for a
    /// cache.
    fn dependencies(&self, source: &Source, _: &Summary) -> Dependencies {
        Dependencies::on(vec![source.path.clone()])
    }

    /// What the shared files of a session's [`Dependencies`] say of it, in as few bytes as will do; `id`
    /// is the one that the session says itself. None if that is not known: then it is read again.
    fn shared_facts(&self, _: &Source, _id: &str) -> Option<Vec<u8>> {
        None
    }

    /// Whether a session is a folder, and not a file.
    fn keeps_folders(&self) -> bool {
        false
    }

    /// The folder that the names of a session's files are counted from when they travel.
    fn base_folder(&self, source: &Source) -> PathBuf {
        source.path.parent().unwrap_or(&source.path).to_owned()
    }

    /// Whether all of a session is there, and not only what describes it: a clone of a repository
    /// may hold descriptions of sessions that are whole elsewhere.
    fn is_whole(&self, _: &Source) -> bool {
        true
    }

    /// Where the folder that a session was held in is now, if it was moved together with the store
    /// that the session is in.
    fn moved_to(&self, _: &Path, _: &Workspace) -> Option<PathBuf> {
        None
    }

    /// The hash of a session's project, where that is all that is known of it.
    fn hash_of_project(&self, _: &Workspace) -> Option<String> {
        None
    }

    /// The hash by which the store knows a project's folder, where it does so.
    fn hash_project(&self, _folder: &str) -> Option<String> {
        None
    }

    /// What of a session goes when it is removed. One that has no file of its own is removed by
    /// this, if `for_good` is set: no trash takes it.
    fn remove(&self, source: &Source, _for_good: bool) -> Result<Removal, WriteError> {
        Ok(Removal::Files(vec![source.path.clone()]))
    }
}
