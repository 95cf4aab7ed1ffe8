//! The folder of the index, also on a disk that is only read.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rethread_disk::{Durability, Mode, create, create_open};
use tantivy::Directory;
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, DirectoryLock, FileHandle, Lock, META_LOCK, MmapDirectory, TerminatingWrite,
    WatchCallback, WatchHandle, WritePtr,
};

/// The folder of the index. Its files are written once and never changed, so that they can be mapped:
/// nobody truncates them, as agents do with logs. They are for this user alone, whatever the umask,
/// because they hold what was said.
#[derive(Clone, Debug)]
pub(super) struct IndexDirectory {
    mapped: MmapDirectory,
    folder: PathBuf,
}

impl IndexDirectory {
    pub(super) fn open(folder: &Path) -> tantivy::Result<Self> {
        Ok(Self {
            mapped: MmapDirectory::open(folder)?,
            folder: folder.to_owned(),
        })
    }
}

/// A file of the index while it is written.
struct IndexFile(File);

impl Write for IndexFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl TerminatingWrite for IndexFile {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        self.0.flush()?;
        self.0.sync_data()
    }
}

impl Directory for IndexDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.mapped.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.mapped.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.mapped.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let created = create_open(&self.folder.join(path), Mode::Private);
        let file = created.map_err(|e| match e.kind() {
            io::ErrorKind::AlreadyExists => OpenWriteError::FileAlreadyExists(path.to_owned()),
            _ => OpenWriteError::wrap_io_error(e, path.to_owned()),
        })?;
        Ok(BufWriter::new(Box::new(IndexFile(file))))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.mapped.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.mapped.atomic_write(path, data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.mapped.sync_directory()
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        // Who locks makes the file, unless it is there.
        let path = self.folder.join(&lock.filepath);
        let _ = create(&path, b"", Mode::Private, Durability::None);
        match self.mapped.acquire_lock(lock) {
            // Where nobody can write, nobody removes what is read.
            Err(LockError::IoError(_)) if lock.filepath == META_LOCK.filepath => {
                Ok(DirectoryLock::from(Box::new(())))
            }
            acquired => acquired,
        }
    }

    fn watch(&self, watch_callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.mapped.watch(watch_callback)
    }
}
