//! What has a temporary name: the file beside the one that it is to become, and the folder.
//!
//! Whoever makes something temporary keeps it locked as long as it is needed. So a lock that can be had
//! tells that its owner is gone, however that ended: see [`leftover`](crate::leftover).

use std::{
    ffi::{OsStr, OsString},
    fs::{File, Metadata, OpenOptions},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use tempfile::{NamedTempFile, TempPath};

use crate::{
    durability::Durability,
    error::{DiskError, FileKind},
    folder,
    leftover::remove_leftovers_once,
    lock::{is_still_at, try_lock},
    mode::{self, Mode, keep_owner, set_bits},
    open::{append_options, with_mode},
    sync::{self, SyncFolder, folder_of},
};

/// The longest name that file systems take.
const LONGEST_NAME: usize = 255;
/// The random part of a name: 62 to the 13th possibilities.
const RANDOM: usize = 13;
/// The same in names that were given before what has them was locked.
const RANDOM_UNLOCKED: usize = 12;
const SUFFIX: &str = ".tmp";
/// What the name of a folder in the system's folder for such things is made of.
const SCRATCH: &str = "rethread";
const BUFFER: usize = 64 * 1024;
/// How often something new may be taken for a leftover in the moment before it is locked.
const TRIES: usize = 32;

/// Whether this is the name of a temporary file or folder of ours, `.NAME.PID.RANDOM.tmp`: one that
/// is being written, or was left behind by a process that was killed. Readers skip these, and
/// [`remove_leftovers`](crate::remove_leftovers) removes those that were left behind.
///
/// ```
/// use rethread_disk::is_temporary;
///
/// assert!(is_temporary(".log.jsonl.4711.Ab3dEf6hIj9lM.tmp".as_ref()));
/// assert!(!is_temporary("log.jsonl".as_ref()));
/// ```
pub fn is_temporary(name: &OsStr) -> bool {
    name_kind(name).is_some()
}

/// Who gave something its temporary name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameKind {
    /// Somebody who keeps it locked.
    Locked,
    /// Perhaps a version of this program that locked nothing.
    Unlocked,
}

/// What a temporary name tells; none of other names.
pub(crate) fn name_kind(name: &OsStr) -> Option<NameKind> {
    let inner = name.to_str()?.strip_prefix('.')?.strip_suffix(SUFFIX)?;
    let mut parts = inner.rsplitn(3, '.');
    let (random, pid, name) = (parts.next()?, parts.next()?, parts.next()?);
    let kind = match random.len() {
        RANDOM => NameKind::Locked,
        RANDOM_UNLOCKED => NameKind::Unlocked,
        _ => return None,
    };
    let is_ours = random.bytes().all(|b| b.is_ascii_alphanumeric())
        && !pid.is_empty()
        && pid.bytes().all(|b| b.is_ascii_digit())
        && !name.is_empty();
    is_ours.then_some(kind)
}

/// A file without a name, in the system's folder for such files, that is gone when it is closed. It
/// holds what is too large for memory, such as the content of a compressed file.
pub fn scratch() -> Result<File, DiskError> {
    tempfile::tempfile().map_err(|e| DiskError::while_writing(&std::env::temp_dir(), e))
}

/// A folder of our own, in the system's place for such folders, that is gone when this is dropped. It
/// holds what is not yet what it is to become. What a process killed in between leaves of it is
/// removed when the next one is made.
///
/// ```
/// let folder = rethread_disk::ScratchFolder::new()?;
/// let path = folder.path().to_owned();
/// assert!(path.is_dir());
/// drop(folder);
/// assert!(!path.exists());
/// # Ok::<(), rethread_disk::DiskError>(())
/// ```
#[derive(Debug)]
pub struct ScratchFolder(TempFolder);

impl ScratchFolder {
    /// Makes one that nobody else has, and that nobody else can look into.
    pub fn new() -> Result<Self, DiskError> {
        let place = std::env::temp_dir();
        remove_leftovers_once(&place);
        let made = TempFolder::new(&place.join(SCRATCH), Mode::Private);
        made.map(Self)
            .map_err(|e| DiskError::while_writing(&place, e))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

/// A whole new file beside `target`, removed unless it is put in place.
#[derive(Debug)]
pub(crate) struct TempFile {
    path: TempPath,
    file: File,
}

impl TempFile {
    /// Writes a whole file, with the facts of `old` if there is one, else with mode `bits`.
    pub(crate) fn write(
        target: &Path,
        bits: u32,
        old: Option<&Metadata>,
        d: Durability,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<TempFile, DiskError> {
        let Some(name) = target.file_name() else {
            let (path, found) = (target.to_owned(), FileKind::Folder);
            return Err(DiskError::NotAFile { path, found });
        };
        let temp = TempFile::fill_file(name, target, bits, old, write);
        let temp = temp.map_err(|e| DiskError::while_writing(target, e))?;
        if d.syncs() {
            sync::sync_file(&temp.file).map_err(|e| DiskError::while_syncing(target, e))?;
        }
        Ok(temp)
    }

    fn fill_file(
        name: &OsStr,
        target: &Path,
        bits: u32,
        old: Option<&Metadata>,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<TempFile> {
        let temp = TempFile::new(name, &folder_of(target))?;
        let mut buffer = BufWriter::with_capacity(BUFFER, &temp.file);
        write(&mut buffer)?;
        buffer.flush()?;
        drop(buffer);
        if let Some(old) = old {
            keep_owner(&temp.file, old)?;
        }
        set_bits(&temp.file, old.map_or(bits, mode::permission_bits))?;
        Ok(temp)
    }

    /// An empty file, private until it has its content and its owner.
    fn new(name: &OsStr, folder: &Path) -> io::Result<TempFile> {
        for _ in 0..TRIES {
            let (file, path) = make_in(folder, name, |path| {
                with_mode(append_options().create_new(true), 0o600).open(path)
            })?
            .into_parts();
            if claim_lock(&file, &path) {
                return Ok(TempFile { path, file });
            }
        }
        Err(io::ErrorKind::ResourceBusy.into())
    }

    /// Puts it in the place of whatever file is there, and gives it, still locked.
    pub(crate) fn rename(self, target: &Path) -> io::Result<File> {
        let TempFile { mut path, file } = self;
        std::fs::rename(&path, target)?;
        path.disable_cleanup(true);
        Ok(file)
    }

    /// Puts it in place unless something is there; gives it then, still locked.
    pub(crate) fn rename_if_free(self, target: &Path) -> io::Result<Option<File>> {
        let TempFile { path, file } = self;
        match NamedTempFile::from_parts(file, path).persist_noclobber(target) {
            Ok(file) => Ok(Some(file)),
            Err(e) if e.error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
            Err(e) => Err(e.error),
        }
    }
}

/// A folder with a temporary name, removed unless it is put in place.
#[derive(Debug)]
pub(crate) struct TempFolder {
    path: PathBuf,
    /// Keeps it locked, where folders can be.
    #[allow(dead_code, reason = "it is held, not used")]
    lock: Option<File>,
}

impl TempFolder {
    /// An empty folder beside `target` that only this user can look into. It has the special bits
    /// from the start: what is made in it takes after them.
    pub(crate) fn new(target: &Path, mode: Mode) -> io::Result<TempFolder> {
        let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let bits = mode.folder_bits() & 0o7000 | 0o700;
        for _ in 0..TRIES {
            let make = |path: &Path| folder::make_within(path, bits);
            let made = make_in(&folder_of(target), name, make)?;
            let mut path = made.into_temp_path();
            // That would remove a file.
            path.disable_cleanup(true);
            let mut made = TempFolder {
                path: path.to_path_buf(),
                lock: None,
            };
            match open_folder(made.path()) {
                Ok(folder) if claim_lock(&folder, made.path()) => made.lock = Some(folder),
                // Somebody took it for a leftover.
                Ok(_) => continue,
                Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
                Err(e) if e.kind() == io::ErrorKind::Unsupported => {}
                Err(e) => return Err(e),
            }
            folder::adjust_mode(made.path(), bits)?;
            return Ok(made);
        }
        Err(io::ErrorKind::ResourceBusy.into())
    }

    /// Gives a folder that is about to be removed a temporary name, under which nobody finds it.
    pub(crate) fn rename_away(path: &Path) -> io::Result<TempFolder> {
        let name = path.file_name().unwrap_or_default();
        // Locked first: under the new name it would look like a leftover.
        let lock = open_folder(path).ok();
        if let Some(lock) = &lock {
            let _ = try_lock(lock);
        }
        let aside = make_in(&folder_of(path), name, |aside| std::fs::rename(path, aside))?;
        let mut aside = aside.into_temp_path();
        aside.disable_cleanup(true);
        Ok(TempFolder {
            path: aside.to_path_buf(),
            lock,
        })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives it its mode, now that it is full, and syncs it.
    pub(crate) fn finish(&self, target: &Path, mode: Mode, d: Durability) -> Result<(), DiskError> {
        let failed = |e| DiskError::while_writing(target, e);
        // Opened first: the mode may not allow it.
        let opened = SyncFolder::open_at(&self.path, d.syncs()).map_err(failed)?;
        folder::adjust_mode(&self.path, mode.folder_bits()).map_err(failed)?;
        opened
            .map_or(Ok(()), |opened| opened.sync_itself())
            .map_err(|e| DiskError::while_syncing(target, e))
    }

    /// Gives it its name with `rename`; then nothing is left to remove.
    pub(crate) fn put_in_place(
        &mut self,
        rename: impl FnOnce(&Path) -> io::Result<()>,
    ) -> io::Result<()> {
        rename(&self.path)?;
        self.path.clear();
        Ok(())
    }

    /// Lets what is there of it stay, as a leftover.
    pub(crate) fn leave_behind(mut self) {
        self.path.clear();
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

/// Makes something in a folder with a temporary name that is made of `name`.
fn make_in<T>(
    folder: &Path,
    name: &OsStr,
    make: impl FnMut(&Path) -> io::Result<T>,
) -> io::Result<NamedTempFile<T>> {
    tempfile::Builder::new()
        .prefix(&temp_prefix(name))
        .suffix(SUFFIX)
        .rand_bytes(RANDOM)
        .make_in(folder, make)
}

/// Locks something new; whether it is ours. In the moment before it is locked, somebody may take it
/// for a leftover.
fn claim_lock(file: &File, path: &Path) -> bool {
    match try_lock(file) {
        Ok(true) => is_still_at(path, file).unwrap_or(false),
        Ok(false) => false,
        // Not every file system has locks. There, only what is old is a leftover.
        Err(_) => true,
    }
}

/// Opens a folder, so that it can be locked. Follows no link.
#[cfg(unix)]
pub(crate) fn open_folder(path: &Path) -> io::Result<File> {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt as _;
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW;
    OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)
}

/// Folders cannot be locked here.
#[cfg(not(unix))]
pub(crate) fn open_folder(_: &Path) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// `.NAME.PID.`, with as much of the name as leaves room for the rest.
fn temp_prefix(name: &OsStr) -> OsString {
    let pid = std::process::id().to_string();
    let mut prefix = OsString::from(".");
    prefix.push(shorten_name(
        name,
        ".".len() * 3 + pid.len() + RANDOM + SUFFIX.len(),
    ));
    prefix.push(".");
    prefix.push(pid);
    prefix.push(".");
    prefix
}

/// As much of a name as leaves room for so many bytes more.
pub(crate) fn shorten_name(name: &OsStr, more: usize) -> OsString {
    let room = LONGEST_NAME - more;
    if name.len() <= room {
        return name.to_owned();
    }
    let text = name.to_string_lossy();
    OsString::from(&text[..text.floor_char_boundary(room)])
}
