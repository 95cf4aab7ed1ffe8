//! Sessions that come down a pipe. Readers look at a file in several places, so what comes is put
//! into a private file first, which is gone when the command ends.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rethread_catalog::sources_at;
use rethread_disk::{DiskError, Durability, FileKind, Mode, ScratchFolder, create_with, open_read};
use rethread_formats::has_no_sessions;

use crate::Error;

/// What came down a pipe.
#[derive(Debug)]
pub struct IncomingData {
    /// Holds the file.
    _folder: ScratchFolder,
    path: PathBuf,
}

impl IncomingData {
    /// Takes in all that comes, however much it is.
    pub fn from_reader(from: &mut dyn Read) -> Result<Self, Error> {
        let folder = ScratchFolder::new()?;
        let export = copy_to_scratch(&folder, "stdin.ndjson", from)?;
        let mut path = export.clone();
        // Formats go by the ends of names.
        for name in ["stdin.jsonl", "stdin.json"] {
            if !sources_at(&path).is_empty() || has_no_sessions(&path) {
                break;
            }
            path = copy_to_scratch(&folder, name, &mut open_read(&export)?)?;
        }
        if sources_at(&path).is_empty() {
            path = export;
        }
        Ok(Self {
            _folder: folder,
            path,
        })
    }

    /// Takes in what comes out of an open file of this process that a user named, such as
    /// `/dev/stdin` or what a shell puts in the place of `<(…)`; nothing where it is none.
    pub fn from_descriptor(path: &Path) -> Result<Option<Self>, Error> {
        let is_open = ["/dev/stdin", "/dev/fd", "/proc/self/fd"];
        if !is_open.iter().any(|start| path.starts_with(start)) {
            return Ok(None);
        }
        let mut file = match open_read(path) {
            Ok(file) => file,
            Err(DiskError::NotAFile {
                found: FileKind::Pipe,
                ..
            }) => File::open(path).map_err(|cause| DiskError::Read {
                path: path.to_owned(),
                cause,
            })?,
            Err(_) => return Ok(None),
        };
        Self::from_reader(&mut file).map(Some)
    }

    /// The file that holds it.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn copy_to_scratch(
    folder: &ScratchFolder,
    name: &str,
    from: &mut dyn Read,
) -> Result<PathBuf, DiskError> {
    let path = folder.path().join(name);
    // The folder is new and nobody else's.
    let _ = create_with(&path, Mode::Private, Durability::None, |out| {
        io::copy(from, out).map(drop)
    })?;
    Ok(path)
}
