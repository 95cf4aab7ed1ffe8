//! How SQLite gets at the files of a database: for reading, whatever it asks for.
//!
//! A connection that only reads opens the log beside a database for writing all the same, and makes
//! it where it is gone by then. SQLite has no setting for that, so there is a layer below it.
#![allow(
    unsafe_code,
    reason = "SQLite is told by functions of C how to get at files"
)]

use std::ffi::{CStr, c_char, c_int};
use std::sync::OnceLock;

use rusqlite::ffi;

/// A layer over one of SQLite's own.
#[repr(C)]
struct ReadOnly {
    /// Comes first: SQLite knows only this, and gives it back to the functions below.
    vfs: ffi::sqlite3_vfs,
    base: *mut ffi::sqlite3_vfs,
}

/// The name of the layer, over that with SQLite's locks or over that without any.
pub(super) fn read_only(with_locks: bool) -> rusqlite::Result<&'static CStr> {
    static LOCKING: OnceLock<c_int> = OnceLock::new();
    static LOCKLESS: OnceLock<c_int> = OnceLock::new();
    let (known, name, base) = match (with_locks, cfg!(windows)) {
        (true, false) => (&LOCKING, c"rethread-read-only", c"unix"),
        (false, false) => (&LOCKLESS, c"rethread-read-only-none", c"unix-none"),
        (true, true) => (&LOCKING, c"rethread-read-only", c"win32"),
        (false, true) => (&LOCKLESS, c"rethread-read-only-none", c"win32-none"),
    };
    match *known.get_or_init(|| register(name, base)) {
        ffi::SQLITE_OK => Ok(name),
        code => Err(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)),
    }
}

fn register(name: &'static CStr, base: &'static CStr) -> c_int {
    // SAFETY: the name is a string of C. SQLite's own layers are there for ever, once it gives one.
    let base = unsafe { ffi::sqlite3_vfs_find(base.as_ptr()) };
    if base.is_null() {
        return ffi::SQLITE_NOTFOUND;
    }
    // SAFETY: as above; its fields are numbers and pointers, which may be copied. All functions
    // that are not replaced know the layer they belong to by nothing but what is copied here.
    let mut vfs = unsafe { *base };
    vfs.pNext = std::ptr::null_mut();
    vfs.zName = name.as_ptr();
    vfs.xOpen = Some(open);
    vfs.xDelete = Some(delete);
    let layer = Box::leak(Box::new(ReadOnly { vfs, base }));
    // SAFETY: it stays where it is for ever.
    unsafe { ffi::sqlite3_vfs_register(&raw mut layer.vfs, 0) }
}

/// Opens a file for reading. A file without a name would be a temporary one; ours are in memory.
unsafe extern "C" fn open(
    vfs: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    let writing = ffi::SQLITE_OPEN_READWRITE
        | ffi::SQLITE_OPEN_CREATE
        | ffi::SQLITE_OPEN_EXCLUSIVE
        | ffi::SQLITE_OPEN_DELETEONCLOSE;
    let flags = (flags & !writing) | ffi::SQLITE_OPEN_READONLY;
    // SAFETY: SQLite gives back what `register` gave to it: a field at the very beginning of a
    // layer that stays for ever.
    let base = unsafe { (*vfs.cast::<ReadOnly>()).base };
    // SAFETY: the layer below stays for ever, too.
    let open_below = unsafe { (*base).xOpen };
    match open_below {
        // SAFETY: it is given what SQLite gave to us, but for flags that it may be given.
        Some(open_below) if !name.is_null() => unsafe { open_below(base, name, file, flags, out) },
        _ => {
            // SAFETY: SQLite gives a place for a file, and closes only what has methods.
            unsafe { (*file).pMethods = std::ptr::null() };
            ffi::SQLITE_CANTOPEN
        }
    }
}

/// Deletes nothing.
unsafe extern "C" fn delete(_: *mut ffi::sqlite3_vfs, _: *const c_char, _: c_int) -> c_int {
    ffi::SQLITE_IOERR_DELETE
}
