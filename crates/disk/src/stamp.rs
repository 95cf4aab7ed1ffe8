//! What can be seen of a file from outside, to find out later whether it changed.

use std::{
    fs::Metadata,
    path::Path,
    time::{Duration, SystemTime},
};

/// Clocks of disks are coarse, and two changes may fall into one tick: so long after a change another
/// one might look the same.
const SETTLES_AFTER: Duration = Duration::from_secs(2);

/// What can be seen of a file or folder without opening it. While it is the same, the content is, unless
/// it [was recent](FileStamp::is_recent_at) when the
/// content was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FileStamp {
    /// The disk; zero where the system does not tell.
    pub device: u64,
    /// The file on it; zero where the system does not tell.
    pub file: u64,
    /// The length in bytes.
    pub size: u64,
    /// When it was last written, as the file says: whoever owns it may have set that. Nanoseconds since
    /// 1970.
    pub modified: i64,
    /// When anything of it last changed, which nobody can set. Where the system does not tell, the same
    /// as `modified`.
    pub changed: i64,
}

impl FileStamp {
    /// Of what is at a path, links followed; none if nothing can be seen there.
    pub fn at(path: &Path) -> Option<Self> {
        std::fs::metadata(path).ok().map(|meta| Self::of(&meta))
    }

    /// Of a file or folder that was looked at.
    #[cfg(unix)]
    pub fn of(meta: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        let nanos = |seconds: i64, nanos: i64| seconds.saturating_mul(1_000_000_000) + nanos;
        Self {
            device: meta.dev(),
            file: meta.ino(),
            size: meta.len(),
            modified: nanos(meta.mtime(), meta.mtime_nsec()),
            changed: nanos(meta.ctime(), meta.ctime_nsec()),
        }
    }

    /// Of a file or folder that was looked at.
    #[cfg(not(unix))]
    pub fn of(meta: &Metadata) -> Self {
        let modified = meta.modified().map_or(0, nanos_since_1970);
        Self {
            device: 0,
            file: 0,
            size: meta.len(),
            modified,
            changed: modified,
        }
    }

    /// Whether it changed so short before a time, or after it, that another change since then might not be
    /// seen.
    pub fn is_recent_at(&self, time: FileTime) -> bool {
        let settles = i64::try_from(SETTLES_AFTER.as_nanos()).unwrap_or(i64::MAX);
        self.changed.saturating_add(settles) > time.0
    }

    /// Whether this may be the same file as before, with more at its end.
    pub fn may_have_grown_from(&self, before: &Self) -> bool {
        (self.device, self.file) == (before.device, before.file) && self.size > before.size
    }
}

/// A time of the clock by which files are dated, whatever time it is for the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileTime(i64);

impl FileTime {
    /// Now.
    pub fn now() -> Self {
        Self(nanos_since_1970(SystemTime::now()))
    }
}

fn nanos_since_1970(time: SystemTime) -> i64 {
    let nanos = |d: Duration| i64::try_from(d.as_nanos()).unwrap_or(i64::MAX);
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => nanos(after),
        Err(before) => nanos(before.duration()).saturating_neg(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_seen_or_recent() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        assert_eq!(FileStamp::at(&path), None);
        std::fs::write(&path, "one").unwrap();
        let first = FileStamp::at(&path).unwrap();
        let now = FileTime::now();
        assert!(first.is_recent_at(now));
        std::fs::write(&path, "one and two").unwrap();
        let second = FileStamp::at(&path).unwrap();
        assert!(second.may_have_grown_from(&first));
        assert!(!first.may_have_grown_from(&second));
        let old = FileStamp {
            changed: 0,
            ..first
        };
        assert!(!old.is_recent_at(now));
        let ahead = FileStamp {
            changed: i64::MAX,
            ..first
        };
        assert!(ahead.is_recent_at(now));
    }
}
