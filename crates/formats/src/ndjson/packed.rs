//! Files that may be packed with gzip or zstd.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

use rethread_disk::{DiskError, open_read};

use crate::Part;
use crate::error::read_failed;
use crate::packed::{Packing, unpack_file};

/// A file, unpacked where it was packed.
#[derive(Debug)]
pub(super) struct OpenedExport {
    pub(super) file: File,
    /// The packed file, where it is one.
    pub(super) original: Option<File>,
    /// How long its content is.
    pub(super) len: u64,
    /// When the file was changed.
    pub(super) changed: Option<SystemTime>,
    /// Why it could be unpacked only in part.
    pub(super) damage: Option<String>,
}

/// Opens a file; of a packed one, its content.
pub(super) fn open_export(path: &Path) -> Result<OpenedExport, DiskError> {
    let file = open_read(path)?;
    let failed = read_failed(path);
    let meta = file.metadata().map_err(failed)?;
    let changed = meta.modified().ok();
    let mut start = [0; 4];
    let n = rethread_disk::read_at(&file, 0, &mut start).map_err(failed)?;
    let mut original = None;
    let (file, len, damage) = match Packing::of(&start[..n]) {
        None => (file, meta.len(), None),
        Some(packing) => {
            original = Some(file.try_clone().map_err(failed)?);
            let len = meta.len();
            unpack_export(path, file, packing, ExportStamp { len, changed })?
        }
    };
    Ok(OpenedExport {
        file,
        original,
        len,
        changed,
        damage,
    })
}

impl OpenedExport {
    /// The part of a session that this file is.
    pub(super) fn into_part(self, path: &Path) -> Part {
        match self.original {
            Some(original) => Part::packed(path.to_owned(), original, self.file, self.len),
            None => Part::lines(path.to_owned(), self.file, self.len),
        }
    }
}

/// The file that was unpacked last, so that reading its sessions one by one unpacks it once.
static LAST: Mutex<Option<LastUnpacked>> = Mutex::new(None);

/// What tells a file from what it was: its length, and when it was changed.
#[derive(PartialEq, Eq)]
struct ExportStamp {
    len: u64,
    changed: Option<SystemTime>,
}

struct LastUnpacked {
    path: PathBuf,
    stamp: ExportStamp,
    content: File,
    len: u64,
    damage: Option<String>,
}

fn unpack_export(
    path: &Path,
    file: File,
    packing: Packing,
    stamp: ExportStamp,
) -> Result<(File, u64, Option<String>), DiskError> {
    let failed = read_failed(path);
    let mut last = LAST
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(last) = last.as_ref()
        && last.path == path
        && last.stamp == stamp
    {
        let content = last.content.try_clone().map_err(failed)?;
        return Ok((content, last.len, last.damage.clone()));
    }
    let content = unpack_file(path, file, packing)?;
    let (len, damage) = (content.len, content.damage);
    let copy = content.file.try_clone().map_err(failed)?;
    *last = Some(LastUnpacked {
        path: path.to_owned(),
        stamp,
        content: content.file,
        len,
        damage: damage.clone(),
    });
    Ok((copy, len, damage))
}
