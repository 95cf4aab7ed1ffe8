//! The unique temporary file beside the file that it is to become.

use std::{
    ffi::{OsStr, OsString},
    fs::{File, Metadata, OpenOptions},
    io::{self, BufWriter, Write},
    path::Path,
};

use tempfile::{NamedTempFile, TempPath};

use crate::{
    durability::Durability,
    error::{DiskError, FileKind},
    mode::{self, keep_owner, set_bits},
    open::with_mode,
    sync::{self, folder_of},
};

/// The longest name that file systems take.
const LONGEST_NAME: usize = 255;
/// The random part of a name: 62 to the 12th possibilities.
pub(crate) const RANDOM: usize = 12;
pub(crate) const SUFFIX: &str = ".tmp";
const BUFFER: usize = 64 * 1024;

/// Whether this is the name of a temporary file of ours, `.NAME.PID.RANDOM.tmp`: one that is being
/// written, or was left behind by a process that was killed. Readers skip these.
///
/// ```
/// use rethread_disk::is_temporary;
///
/// assert!(is_temporary(".log.jsonl.4711.Ab3dEf6hIj9l.tmp".as_ref()));
/// assert!(!is_temporary("log.jsonl".as_ref()));
/// ```
pub fn is_temporary(name: &OsStr) -> bool {
    let Some(inner) = name
        .to_str()
        .and_then(|n| n.strip_prefix('.')?.strip_suffix(SUFFIX))
    else {
        return false;
    };
    let mut parts = inner.rsplitn(3, '.');
    let (random, pid, name) = (parts.next(), parts.next(), parts.next());
    random.is_some_and(|r| r.len() == RANDOM && r.bytes().all(|b| b.is_ascii_alphanumeric()))
        && pid.is_some_and(|p| !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit()))
        && name.is_some_and(|n| !n.is_empty())
}

/// A file without a name, in the system's folder for such files, that is gone when it is closed. It
/// holds what is too large for memory, such as the content of a compressed file.
pub fn scratch() -> Result<File, DiskError> {
    tempfile::tempfile().map_err(|e| DiskError::write(&std::env::temp_dir(), e))
}

/// A folder of our own, in the system's place for such folders, that is gone when this is dropped. It
/// holds what is not yet what it is to become.
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
pub struct ScratchFolder(tempfile::TempDir);

impl ScratchFolder {
    /// Makes one that nobody else has, and that nobody else can look into.
    pub fn new() -> Result<Self, DiskError> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("rethread-");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let made = builder.tempdir();
        let made = made.map_err(|e| DiskError::write(&std::env::temp_dir(), e))?;
        Ok(Self(made))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

/// A whole new file beside `target`, removed unless it is put in place.
#[derive(Debug)]
pub(crate) struct Temp {
    path: TempPath,
    file: File,
}

impl Temp {
    /// Writes a whole file, with the facts of `old` if there is one, else with mode `bits`.
    pub(crate) fn write(
        target: &Path,
        bits: u32,
        old: Option<&Metadata>,
        d: Durability,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<Temp, DiskError> {
        let Some(name) = target.file_name() else {
            let (path, found) = (target.to_owned(), FileKind::Folder);
            return Err(DiskError::NotAFile { path, found });
        };
        let temp = Temp::fill(name, target, bits, old, write);
        let temp = temp.map_err(|e| DiskError::write(target, e))?;
        if d.syncs() {
            sync::all(&temp.file).map_err(|e| DiskError::sync(target, e))?;
        }
        Ok(temp)
    }

    fn fill(
        name: &OsStr,
        target: &Path,
        bits: u32,
        old: Option<&Metadata>,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<Temp> {
        let prefix = prefix(name);
        // Private until it has its content and its owner.
        let (file, path) = tempfile::Builder::new()
            .prefix(&prefix)
            .suffix(SUFFIX)
            .rand_bytes(RANDOM)
            .make_in(folder_of(target), |path| {
                with_mode(
                    OpenOptions::new().read(true).write(true).create_new(true),
                    0o600,
                )
                .open(path)
            })?
            .into_parts();
        let temp = Temp { path, file };
        let mut buffer = BufWriter::with_capacity(BUFFER, &temp.file);
        write(&mut buffer)?;
        buffer.flush()?;
        drop(buffer);
        if let Some(old) = old {
            keep_owner(&temp.file, old)?;
        }
        set_bits(&temp.file, old.map_or(bits, mode::bits))?;
        Ok(temp)
    }

    /// Where it is now.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Puts it in the place of whatever file is there.
    pub(crate) fn rename(self, target: &Path) -> io::Result<()> {
        let Temp { mut path, file } = self;
        drop(file);
        std::fs::rename(&path, target)?;
        path.disable_cleanup(true);
        Ok(())
    }

    /// Puts it in place unless something is there; says whether it did.
    pub(crate) fn rename_if_free(self, target: &Path) -> io::Result<bool> {
        let Temp { path, file } = self;
        match NamedTempFile::from_parts(file, path).persist_noclobber(target) {
            Ok(_) => Ok(true),
            Err(e) if e.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(e) => Err(e.error),
        }
    }
}

/// `.NAME.PID.`, with as much of the name as leaves room for the rest.
pub(crate) fn prefix(name: &OsStr) -> OsString {
    let pid = std::process::id().to_string();
    let room = LONGEST_NAME - ".".len() * 3 - pid.len() - RANDOM - SUFFIX.len();
    let mut prefix = OsString::from(".");
    if name.len() <= room {
        prefix.push(name);
    } else {
        let text = name.to_string_lossy();
        prefix.push(&text[..text.floor_char_boundary(room)]);
    }
    prefix.push(".");
    prefix.push(pid);
    prefix.push(".");
    prefix
}
