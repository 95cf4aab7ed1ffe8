//! The system calls that the standard library does not offer on Windows.
#![allow(
    unsafe_code,
    reason = "calls into the system, on handles that are borrowed for the call"
)]

use std::{
    fs::File,
    io, mem,
    os::windows::{ffi::OsStrExt as _, io::AsRawHandle as _},
    path::Path,
};

use windows_sys::Win32::{
    Foundation::{ERROR_IO_PENDING, ERROR_LOCK_VIOLATION},
    Storage::FileSystem::{
        BY_HANDLE_FILE_INFORMATION, GetFileInformationByHandle, LOCKFILE_EXCLUSIVE_LOCK,
        LOCKFILE_FAIL_IMMEDIATELY, LockFileEx, MoveFileExW,
    },
    System::IO::OVERLAPPED,
};

/// The high and low half of a position that no log reaches.
const FAR: (u32, u32) = (0x7fff_ffff, 0xffff_0000);

/// Locks one byte far beyond the end, if nobody else has; closing the file unlocks it.
pub(crate) fn try_lock_far_byte(file: &File) -> io::Result<bool> {
    // SAFETY: all fields are integers or null pointers, for which zero is a value.
    let mut at: OVERLAPPED = unsafe { mem::zeroed() };
    at.Anonymous.Anonymous.OffsetHigh = FAR.0;
    at.Anonymous.Anonymous.Offset = FAR.1;
    let flags = LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY;
    // SAFETY: the handle is open while `file` is borrowed, it was opened for synchronous use, and
    // `at` outlives the call.
    let locked = unsafe { LockFileEx(file.as_raw_handle(), flags, 0, 1, 0, &raw mut at) };
    if locked != 0 {
        return Ok(true);
    }
    let cause = io::Error::last_os_error();
    let held = [ERROR_LOCK_VIOLATION, ERROR_IO_PENDING];
    if held
        .iter()
        .any(|code| cause.raw_os_error() == Some(code.cast_signed()))
    {
        Ok(false)
    } else {
        Err(cause)
    }
}

/// The serial number of the volume and the number of the file on it.
pub(crate) fn volume_and_index(file: &File) -> io::Result<(u64, u64)> {
    // SAFETY: all fields are integers, for which zero is a value.
    let mut facts: BY_HANDLE_FILE_INFORMATION = unsafe { mem::zeroed() };
    // SAFETY: the handle is open while `file` is borrowed, and `facts` outlives the call.
    let known = unsafe { GetFileInformationByHandle(file.as_raw_handle(), &raw mut facts) };
    if known == 0 {
        return Err(io::Error::last_os_error());
    }
    let index = u64::from(facts.nFileIndexHigh) << 32 | u64::from(facts.nFileIndexLow);
    Ok((u64::from(facts.dwVolumeSerialNumber), index))
}

/// Renames within one folder unless something has the new name. The standard library's would put
/// a folder in the place of a file or an empty folder.
pub(crate) fn rename_noreplace(from: &Path, to: &Path) -> io::Result<()> {
    let (from, to) = (wide(from)?, wide(to)?);
    // SAFETY: both end in a zero and outlive the call.
    let renamed = unsafe { MoveFileExW(from.as_ptr(), to.as_ptr(), 0) };
    if renamed == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// A path as the system takes it. With its folder in the long form, it may be of any length.
fn wide(path: &Path) -> io::Result<Vec<u16>> {
    let folder = std::fs::canonicalize(crate::sync::folder_of(path));
    let long = match (folder, path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        // Not every network drive knows the long form.
        _ => path.to_owned(),
    };
    let mut units: Vec<u16> = long.as_os_str().encode_wide().collect();
    if units.contains(&0) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    units.push(0);
    Ok(units)
}
