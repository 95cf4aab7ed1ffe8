//! Following `HEAD` to a branch and a commit.

use crate::{file, program};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// A reference file holds one name or one hash.
const REF_LIMIT: u64 = 4 << 10;
/// A line of `packed-refs` is a hash and a name.
const PACKED_LINE_LIMIT: usize = 8 << 10;
/// Symbolic references that point to symbolic references: as far as git goes.
const MAX_DEPTH: usize = 5;

/// The references of one worktree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Refs<'a> {
    /// Where `HEAD` is.
    pub(crate) git_dir: &'a Path,
    /// Where branches are.
    pub(crate) common_dir: &'a Path,
    /// Only the `git` program can read them.
    pub(crate) foreign: Option<Foreign<'a>>,
}

/// References that only the `git` program can read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Foreign<'a> {
    /// The folder to ask in.
    pub(crate) holder: &'a Path,
    /// What the worktree's `HEAD` is called there.
    pub(crate) head: &'a OsStr,
}

impl Foreign<'_> {
    fn ask(self, arguments: &[&str]) -> Option<Vec<u8>> {
        let arguments = arguments.iter().map(OsStr::new).chain([self.head]);
        program::ask(self.holder, arguments)
    }
}

enum Value {
    Commit(String),
    Symbolic(Vec<u8>),
    Missing,
    Damaged,
}

impl Refs<'_> {
    /// The branch that `HEAD` names, also before its first commit.
    pub(crate) fn branch(self) -> Option<String> {
        let name = match self.foreign {
            Some(foreign) => foreign.ask(&["symbolic-ref", "--quiet"])?,
            None => self.follow().0?,
        };
        let branch = name.strip_prefix(b"refs/heads/")?;
        Some(String::from_utf8_lossy(branch).into_owned())
    }

    /// The commit that `HEAD` is at.
    pub(crate) fn commit(self) -> Option<String> {
        match self.foreign {
            Some(foreign) => hash(&foreign.ask(&["rev-parse", "--verify", "--quiet"])?),
            None => self.follow().1,
        }
    }

    /// The last name on the way from `HEAD`, and the commit it leads to.
    fn follow(self) -> (Option<Vec<u8>>, Option<String>) {
        let mut name = None::<Vec<u8>>;
        for _ in 0..MAX_DEPTH {
            let value = match &name {
                None => read_file(&self.git_dir.join("HEAD")),
                Some(name) => self.read(name),
            };
            match value {
                Value::Symbolic(next) if is_safe(&next) => name = Some(next),
                Value::Commit(commit) => return (name, Some(commit)),
                Value::Missing => return (name, None),
                Value::Symbolic(_) | Value::Damaged => break,
            }
        }
        (None, None)
    }

    fn read(self, name: &[u8]) -> Value {
        let Some(path) = self.path(name) else {
            return Value::Damaged;
        };
        match read_file(&path) {
            Value::Missing => self.packed(name).map_or(Value::Missing, Value::Commit),
            value => value,
        }
    }

    fn path(self, name: &[u8]) -> Option<PathBuf> {
        let own = [&b"refs/bisect/"[..], b"refs/worktree/", b"refs/rewritten/"];
        let base = if own.iter().any(|prefix| name.starts_with(prefix)) {
            self.git_dir
        } else {
            self.common_dir
        };
        Some(base.join(file::to_path(name)?))
    }

    fn packed(self, name: &[u8]) -> Option<String> {
        let packed = self.common_dir.join("packed-refs");
        file::find_line(&packed, PACKED_LINE_LIMIT, |line| {
            let (digits, rest) = line.split_at_checked(line.len().checked_sub(name.len() + 1)?)?;
            (rest[0] == b' ' && &rest[1..] == name).then(|| hash(digits))
        })
        .flatten()
    }
}

/// What one reference file says. A folder in its place means that longer names
/// begin with this one, so it is missing here.
fn read_file(path: &Path) -> Value {
    let Ok(metadata) = fs::symlink_metadata(path) else {
        return Value::Missing;
    };
    if metadata.is_symlink()
        && let Ok(target) = fs::read_link(path)
        && target.starts_with("refs")
    {
        return Value::Symbolic(file::from_path(&target));
    }
    if metadata.is_dir() {
        return Value::Missing;
    }
    let Some(bytes) = file::read(path, REF_LIMIT) else {
        return Value::Damaged;
    };
    match bytes.strip_prefix(b"ref:") {
        Some(name) => Value::Symbolic(name.trim_ascii().to_vec()),
        None => hash(&bytes).map_or(Value::Damaged, Value::Commit),
    }
}

/// The hash at the front of `bytes`, if it is one: SHA-1 or SHA-256.
pub(crate) fn hash(bytes: &[u8]) -> Option<String> {
    let end = bytes
        .iter()
        .position(u8::is_ascii_whitespace)
        .unwrap_or(bytes.len());
    let digits = &bytes[..end];
    let right = matches!(end, 40 | 64) && digits.iter().all(u8::is_ascii_hexdigit);
    right.then(|| {
        digits
            .iter()
            .map(|b| b.to_ascii_lowercase() as char)
            .collect()
    })
}

/// Whether a name read from a file may become a path below the git folder. Also
/// refuses what git itself refuses in the name of a reference.
fn is_safe(name: &[u8]) -> bool {
    let forbidden = |b: &u8| b.is_ascii_control() || b" ~^:?*[\\".contains(b);
    name.starts_with(b"refs/")
        && !name.iter().any(forbidden)
        && !name.windows(2).any(|pair| pair == b".." || pair == b"@{")
        && !name.ends_with(b".")
        && name
            .split(|&b| b == b'/')
            .all(|part| !part.is_empty() && !part.starts_with(b".") && !part.ends_with(b".lock"))
}

#[cfg(test)]
mod tests {
    use super::{hash, is_safe};

    #[test]
    fn names_that_would_leave_the_folder_are_refused() {
        for name in [
            "refs/heads/main",
            "refs/heads/feature/a-b_c.d",
            "refs/heads/å",
            "refs/x",
        ] {
            assert!(is_safe(name.as_bytes()), "{name}");
        }
        for name in [
            "",
            "HEAD",
            "main",
            "/etc/passwd",
            "refs/../../x",
            "refs/heads/..",
            "refs/heads/a..b",
            "refs//x",
            "refs/",
            "refs/heads/a\nb",
            "refs/heads/a\0",
            "refs/heads/\u{7f}",
            "refs/heads/.hidden",
            "refs/heads/x.lock",
            "refs\\heads\\x",
            "C:/refs/x",
            "refs/c:d",
            "refs/heads/a.",
            "refs/heads/@{1}",
        ] {
            assert!(!is_safe(name.as_bytes()), "{name:?}");
        }
    }

    #[test]
    fn only_whole_hashes_count() {
        let sha1 = "0123456789ABCDEF0123456789abcdef01234567";
        assert_eq!(
            hash(format!("{sha1}\n").as_bytes()),
            Some(sha1.to_lowercase())
        );
        assert_eq!(hash(&[b'a'; 64]), Some("a".repeat(64)));
        for wrong in [
            "",
            "\n",
            "abc",
            &sha1[1..],
            &format!("{sha1}0"),
            &"g".repeat(40),
        ] {
            assert_eq!(hash(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
