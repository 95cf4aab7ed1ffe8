//! Content that is packed with gzip or zstd, read and written within limits: a few bytes can be
//! unpacked to any number of them, so work follows what is there and not what it claims to be.

mod reader;
mod writer;

use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _, Write as _};
use std::path::Path;

use rethread_disk::{DiskError, scratch};

use crate::error::read_failed;

pub(crate) use reader::Unpacked;
pub use writer::ZstdWriter;

/// How content is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    Gzip,
    Zstd,
}

impl Packing {
    /// How a file that begins so is packed, if it is.
    pub(crate) fn of(start: &[u8]) -> Option<Self> {
        match start {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            _ => None,
        }
    }
}

/// Anything may be unpacked to so many bytes.
const FREE: u64 = 64 * 1024 * 1024;

/// And to so many more for each packed byte. Conversations reach fifty; gzip ends at 1,032, zstd
/// at some 30,000.
const RATIO: u64 = 1100;

/// So many lines may come out of anything, and one more for each packed byte: each costs memory.
const FREE_LINES: u64 = 100_000;

/// No more than this is unpacked at all.
const MOST: u64 = 16 * 1024 * 1024 * 1024;

/// Which part of what came before zstd may refer to, as a power of two: it is held in memory.
const WINDOW_LOG: u32 = 26;

/// How much is read at once.
const BUFFER: usize = 256 * 1024;

/// What came out of a packed file.
#[derive(Debug)]
pub(crate) struct UnpackedContent {
    /// A nameless file that holds it.
    pub(crate) file: File,
    pub(crate) len: u64,
    /// Why it is not all.
    pub(crate) damage: Option<String>,
}

/// Unpacks a log into a nameless file, as far as it can be read: the lines before the damage are
/// whole.
pub(crate) fn unpack_file(
    path: &Path,
    packed: File,
    packing: Packing,
) -> Result<UnpackedContent, DiskError> {
    let failed = read_failed(path);
    let packed = BufReader::with_capacity(BUFFER, packed);
    let mut reader = Unpacked::lines(packed, packing).map_err(failed)?;
    let mut file = scratch()?;
    let mut buffer = vec![0; BUFFER];
    let mut len = 0;
    let damage = loop {
        match reader.read(&mut buffer) {
            Ok(0) => break None,
            Ok(n) => {
                let bytes = buffer.get(..n).unwrap_or_default();
                file.write_all(bytes).map_err(failed)?;
                len += n as u64;
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => break Some(damage_reason(&e)),
        }
    };
    file.rewind().map_err(failed)?;
    Ok(UnpackedContent { file, len, damage })
}

/// Why packed content ends before its end, in words for a note.
pub(crate) fn damage_reason(error: &io::Error) -> String {
    if error.kind() == io::ErrorKind::FileTooLarge {
        return format!("packed content is not read to its end: {error}");
    }
    format!("packed content is damaged ({error}); the rest is not read")
}
