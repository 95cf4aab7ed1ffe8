//! What the other machine says of its files. All of it is somebody else's data.

use std::path::{Path, PathBuf};

use rethread_disk::{SafeName, UnsafeName, join};

/// How deep a file may lie.
const DEEPEST: usize = 32;
/// How long a path may be.
const LONGEST: usize = 4096;

/// How files are told from their earlier selves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Versions {
    /// By the times of their last changes.
    Times,
    /// By a checksum of their content.
    Checksums,
}

/// A path below the home: every part of it can be a name here.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RemotePath(String);

impl RemotePath {
    pub(super) fn new(text: &str) -> Result<Self, UnsafeName> {
        let too_long = text.len() > LONGEST || text.split('/').count() > DEEPEST;
        if too_long {
            return Err(UnsafeName::TooLong {
                name: text.to_owned(),
                len: text.len(),
            });
        }
        for name in text.split('/') {
            SafeName::new(name)?;
        }
        Ok(Self(text.to_owned()))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Where the copy of it is.
    pub(super) fn below(&self, folder: &Path) -> PathBuf {
        let names = self
            .0
            .split('/')
            .filter_map(|name| SafeName::new(name).ok());
        names.fold(folder.to_owned(), |path, name| join(&path, &name))
    }

    /// Whether only more is ever written behind what is there.
    pub(super) fn is_log(&self) -> bool {
        self.has_ending("jsonl")
    }

    /// The database that a file belongs to: itself, or the one whose log it is.
    pub(super) fn database(&self) -> Option<RemotePath> {
        if self.has_ending("db") {
            return Some(self.clone());
        }
        let database = self.0.strip_suffix("-wal").map(|db| Self(db.to_owned()))?;
        database.has_ending("db").then_some(database)
    }

    /// The log of a database.
    pub(super) fn log_of_database(&self) -> RemotePath {
        Self(format!("{}-wal", self.0))
    }

    fn has_ending(&self, ending: &str) -> bool {
        Path::new(&self.0).extension().is_some_and(|e| e == ending)
    }
}

/// What a file is at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Version {
    pub(super) size: u64,
    /// Anything that is another one when the file is.
    pub(super) tag: String,
}

impl Version {
    /// The second in which it was changed last, where that is known.
    pub(super) fn modified(&self) -> Option<u64> {
        self.tag.split_once('.')?.0.parse().ok()
    }
}

/// Reads the line of a file: its version, and its path.
pub(super) fn line(versions: Versions, line: &str) -> Option<(Version, &str)> {
    let mut parts = line.splitn(3, ' ');
    let (first, second, path) = (parts.next()?, parts.next()?, parts.next()?);
    let (size, tag) = match versions {
        Versions::Times => (first, second),
        Versions::Checksums => (second, first),
    };
    let is_plain = tag.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let version = Version {
        size: size.parse().ok()?,
        tag: tag.to_owned(),
    };
    (is_plain && tag.len() <= 64).then_some((version, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_below_the_home_are_taken() {
        for good in [".claude/projects/-a/b.jsonl", "x y/ü.json"] {
            let path = RemotePath::new(good).unwrap();
            assert_eq!(path.below(Path::new("/m")), Path::new("/m").join(good));
        }
        for bad in [
            "",
            "/etc/passwd",
            "../x",
            "a/../../x",
            "a//b",
            "a/./b",
            "a/b/",
            "a\\b",
            "C:/x",
            "a/con",
            "a/\u{1b}[31m",
            "a/\u{202e}x",
        ] {
            assert!(RemotePath::new(bad).is_err(), "{bad:?}");
        }
        assert!(RemotePath::new(&"a/".repeat(40)).is_err());
        assert!(RemotePath::new(&"a".repeat(300)).is_err());
    }

    #[test]
    fn lines_of_either_program_are_read() {
        let version = |size, tag: &str| Version {
            size,
            tag: tag.to_owned(),
        };
        let times = line(Versions::Times, "12 170.171 .claude/a b.jsonl");
        assert_eq!(times, Some((version(12, "170.171"), ".claude/a b.jsonl")));
        let sums = line(Versions::Checksums, "3015617425 6 x");
        assert_eq!(sums, Some((version(6, "3015617425"), "x")));
        for bad in ["", "1 2", "x 2 y", "1 x y", "-1 2 y", "1 2"] {
            assert_eq!(line(Versions::Times, bad), None, "{bad}");
        }
    }

    #[test]
    fn a_database_and_its_log_belong_together() {
        let path = |text| RemotePath::new(text).unwrap();
        let database = path("o/opencode.db");
        assert_eq!(database.database(), Some(database.clone()));
        assert_eq!(database.log_of_database(), path("o/opencode.db-wal"));
        assert_eq!(path("o/opencode.db-wal").database(), Some(database));
        assert_eq!(path("o/x-wal").database(), None);
        assert!(path("a.jsonl").is_log() && !path("a.json").is_log());
    }
}
