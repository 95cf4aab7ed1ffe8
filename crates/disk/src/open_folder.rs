//! A folder that stays open: what is in it is reached from there, and not by a whole path each time.

use std::{
    ffi::{OsStr, OsString},
    fmt, io,
    path::{Path, PathBuf},
};

use crate::{
    error::DiskError,
    read::{cannot_open, read_into},
};

/// A folder that is open for reading. Many small files of one folder cost half as much this way.
///
/// ```
/// use rethread_disk::{EntryKind, OpenFolder};
///
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("a.json"), b"{}")?;
/// let mut open = OpenFolder::open(folder.path())?;
/// let entries: Vec<_> = open.entries().collect::<Result<_, _>>()?;
/// assert_eq!(entries[0].name, "a.json");
/// assert_eq!(entries[0].kind, EntryKind::File);
/// assert_eq!(open.read_small("a.json".as_ref())?, b"{}");
/// assert!(!open.may_have("b.json".as_ref()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct OpenFolder {
    path: PathBuf,
    inner: SystemFolder,
}

/// Something in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: OsString,
    /// What it is.
    pub kind: EntryKind,
}

/// What something in a folder is. Links are not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A link, a pipe, a socket, a device.
    Other,
}

impl OpenFolder {
    /// Opens a folder, or a link to one.
    pub fn open(path: &Path) -> io::Result<OpenFolder> {
        Ok(OpenFolder {
            path: path.to_owned(),
            inner: SystemFolder::open(path)?,
        })
    }

    /// What is in it, in no particular order. It can be asked once.
    pub fn entries(&mut self) -> impl Iterator<Item = io::Result<Entry>> + '_ {
        self.inner.entries()
    }

    /// Whether something may be at this path in the folder: false only where it is certain that
    /// nothing is.
    pub fn may_have(&self, name: &Path) -> bool {
        !matches!(
            self.inner.check_exists(&self.path, name),
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
        )
    }

    /// Reads a whole file of at most [`SMALL`](crate::SMALL) bytes that [`entries`](Self::entries)
    /// gave as one. Should it be something else by now, it is refused.
    pub fn read_small(&self, name: &OsStr) -> Result<Vec<u8>, DiskError> {
        let path = self.path.join(name);
        let file = self.inner.open_file(&path, name);
        let file = file.map_err(|e| cannot_open(&path, e))?;
        let mut bytes = Vec::new();
        read_into(&file, &path, &mut bytes)?;
        Ok(bytes)
    }
}

impl fmt::Debug for OpenFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OpenFolder").field(&self.path).finish()
    }
}

#[cfg(unix)]
use unix::SystemFolder;

#[cfg(unix)]
mod unix {
    use std::{
        ffi::{OsStr, OsString},
        fs::File,
        io,
        os::unix::ffi::OsStringExt as _,
        path::Path,
    };

    use rustix::{
        fs::{AtFlags, CWD, Dir, DirEntry, FileType, Mode, OFlags, openat, statat},
        io::retry_on_intr,
    };

    use super::{Entry, EntryKind};

    /// The folder as the system knows it.
    pub(super) struct SystemFolder(Dir);

    impl SystemFolder {
        pub(super) fn open(path: &Path) -> io::Result<SystemFolder> {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let folder = retry_on_intr(|| openat(CWD, path, flags, Mode::empty()))?;
            Ok(SystemFolder(Dir::new(folder)?))
        }

        pub(super) fn entries(&mut self) -> impl Iterator<Item = io::Result<Entry>> + '_ {
            std::iter::from_fn(move || {
                loop {
                    match self.0.read()? {
                        Ok(entry) if matches!(entry.file_name().to_bytes(), b"." | b"..") => {}
                        Ok(entry) => return Some(self.read_entry(&entry)),
                        Err(e) => return Some(Err(e.into())),
                    }
                }
            })
        }

        fn read_entry(&self, entry: &DirEntry) -> io::Result<Entry> {
            let kind = match entry.file_type() {
                // Not every file system tells it together with the name.
                FileType::Unknown => {
                    let (folder, name) = (self.0.fd()?, entry.file_name());
                    let facts = retry_on_intr(|| statat(folder, name, AtFlags::SYMLINK_NOFOLLOW))?;
                    FileType::from_raw_mode(facts.st_mode)
                }
                known => known,
            };
            Ok(Entry {
                name: OsString::from_vec(entry.file_name().to_bytes().to_vec()),
                kind: match kind {
                    FileType::RegularFile => EntryKind::File,
                    FileType::Directory => EntryKind::Folder,
                    _ => EntryKind::Other,
                },
            })
        }

        pub(super) fn check_exists(&self, _: &Path, name: &Path) -> io::Result<()> {
            let folder = self.0.fd()?;
            retry_on_intr(|| statat(folder, name, AtFlags::empty()))?;
            Ok(())
        }

        pub(super) fn open_file(&self, _: &Path, name: &OsStr) -> io::Result<File> {
            let folder = self.0.fd()?;
            let waits_for_nothing = OFlags::NONBLOCK | OFlags::NOCTTY;
            let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | waits_for_nothing;
            Ok(retry_on_intr(|| openat(folder, name, flags, Mode::empty()))?.into())
        }
    }
}

#[cfg(not(unix))]
use other::SystemFolder;

#[cfg(not(unix))]
mod other {
    use std::{ffi::OsStr, fs, io, path::Path};

    use super::{Entry, EntryKind};

    /// The folder's entries, as far as they were not given yet.
    pub(super) struct SystemFolder(fs::ReadDir);

    impl SystemFolder {
        pub(super) fn open(path: &Path) -> io::Result<SystemFolder> {
            fs::read_dir(path).map(SystemFolder)
        }

        pub(super) fn entries(&mut self) -> impl Iterator<Item = io::Result<Entry>> + '_ {
            self.0.by_ref().map(|entry| {
                let entry = entry?;
                let kind = entry.file_type()?;
                Ok(Entry {
                    name: entry.file_name(),
                    kind: if kind.is_file() {
                        EntryKind::File
                    } else if kind.is_dir() {
                        EntryKind::Folder
                    } else {
                        EntryKind::Other
                    },
                })
            })
        }

        #[allow(
            clippy::unused_self,
            reason = "Unix looks through the folder that is open"
        )]
        pub(super) fn check_exists(&self, folder: &Path, name: &Path) -> io::Result<()> {
            fs::metadata(folder.join(name)).map(drop)
        }

        #[allow(clippy::unused_self, reason = "Unix opens through the folder")]
        pub(super) fn open_file(&self, path: &Path, _: &OsStr) -> io::Result<fs::File> {
            fs::File::open(path)
        }
    }
}
