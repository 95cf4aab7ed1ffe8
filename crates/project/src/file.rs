//! Reading the small files of a git folder without trusting them.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// The bytes of a regular file that holds at most `limit` bytes.
///
/// Anything else (a pipe, a device, a folder, a file that is too long or cannot
/// be read) is `None`. The kind is checked before opening, because opening a
/// pipe would wait for its writer.
pub(crate) fn read_limited(path: &Path, limit: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?
        .take(limit + 1)
        .read_to_end(&mut bytes)
        .ok()?;
    (bytes.len() as u64 <= limit).then_some(bytes)
}

/// Calls `each` with the lines of a regular file, without their line ends, until
/// it says stop by giving back something. Lines longer than `limit` are skipped.
pub(crate) fn find_line<T>(
    path: &Path,
    limit: usize,
    mut each: impl FnMut(&[u8]) -> Option<T>,
) -> Option<T> {
    let mut reader = BufReader::new(open_regular(path)?);
    let mut line = Vec::new();
    let mut whole = true;
    loop {
        let chunk = reader.fill_buf().ok()?;
        let at_end = chunk.is_empty();
        let newline = chunk.iter().position(|&byte| byte == b'\n');
        let taken = newline.unwrap_or(chunk.len());
        whole &= line.len() + taken <= limit;
        if whole {
            line.extend_from_slice(&chunk[..taken]);
        }
        reader.consume(taken + usize::from(newline.is_some()));
        if at_end || newline.is_some() {
            if whole && let Some(found) = each(trim_newlines(&line)) {
                return Some(found);
            }
            if at_end {
                return None;
            }
            line.clear();
            whole = true;
        }
    }
}

/// `bytes` without the line ends at its end; a name may well end in a blank.
pub(crate) fn trim_newlines(mut bytes: &[u8]) -> &[u8] {
    while let [before @ .., b'\n' | b'\r'] = bytes {
        bytes = before;
    }
    bytes
}

/// The path that these bytes of a git file name; `None` if there is none.
pub(crate) fn to_path(bytes: &[u8]) -> Option<PathBuf> {
    if bytes.is_empty() || bytes.contains(&0) {
        return None;
    }
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt as _;
        Some(PathBuf::from(std::ffi::OsStr::from_bytes(bytes)))
    }
    #[cfg(not(unix))]
    {
        std::str::from_utf8(bytes).ok().map(PathBuf::from)
    }
}

/// The bytes of a path as git would write them.
pub(crate) fn from_path(path: &Path) -> Vec<u8> {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt as _;
        path.as_os_str().as_bytes().to_vec()
    }
    #[cfg(not(unix))]
    {
        path.to_string_lossy().replace('\\', "/").into_bytes()
    }
}

fn open_regular(path: &Path) -> Option<File> {
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    File::open(path).ok()
}
