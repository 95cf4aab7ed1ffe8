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
    pub(crate) foreign: Option<GitRefs<'a>>,
}

/// References that only the `git` program can read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GitRefs<'a> {
    /// The folder to ask in.
    pub(crate) holder: &'a Path,
    /// What the worktree's `HEAD` is called there.
    pub(crate) head: &'a OsStr,
}

impl GitRefs<'_> {
    fn ask_git(self, arguments: &[&str]) -> Option<Vec<u8>> {
        let arguments = arguments.iter().map(OsStr::new).chain([self.head]);
        program::ask_git(self.holder, arguments)
    }
}

enum RefValue {
    Commit(String),
    Symbolic(Vec<u8>),
    Missing,
    Damaged,
}

impl Refs<'_> {
    /// The branch that `HEAD` names, also before its first commit.
    pub(crate) fn branch(self) -> Option<String> {
        let name = match self.foreign {
            Some(foreign) => foreign.ask_git(&["symbolic-ref", "--quiet"])?,
            None => self.follow_head().0?,
        };
        let branch = name.strip_prefix(b"refs/heads/")?;
        Some(String::from_utf8_lossy(branch).into_owned())
    }

    /// The commit that `HEAD` is at.
    pub(crate) fn commit(self) -> Option<String> {
        match self.foreign {
            Some(foreign) => parse_hash(&foreign.ask_git(&["rev-parse", "--verify", "--quiet"])?),
            None => self.follow_head().1,
        }
    }

    /// The last name on the way from `HEAD`, and the commit it leads to.
    fn follow_head(self) -> (Option<Vec<u8>>, Option<String>) {
        let mut name = None::<Vec<u8>>;
        for _ in 0..MAX_DEPTH {
            let value = match &name {
                None => read_file(&self.git_dir.join("HEAD")),
                Some(name) => self.read_ref(name),
            };
            match value {
                RefValue::Symbolic(next) if is_safe(&next) => name = Some(next),
                RefValue::Commit(commit) => return (name, Some(commit)),
                RefValue::Missing => return (name, None),
                RefValue::Symbolic(_) | RefValue::Damaged => break,
            }
        }
        (None, None)
    }

    fn read_ref(self, name: &[u8]) -> RefValue {
        let Some(path) = self.ref_path(name) else {
            return RefValue::Damaged;
        };
        match read_file(&path) {
            RefValue::Missing => self
                .packed_ref(name)
                .map_or(RefValue::Missing, RefValue::Commit),
            value => value,
        }
    }

    fn ref_path(self, name: &[u8]) -> Option<PathBuf> {
        let own = [&b"refs/bisect/"[..], b"refs/worktree/", b"refs/rewritten/"];
        let base = if own.iter().any(|prefix| name.starts_with(prefix)) {
            self.git_dir
        } else {
            self.common_dir
        };
        Some(base.join(file::to_path(name)?))
    }

    fn packed_ref(self, name: &[u8]) -> Option<String> {
        let packed = self.common_dir.join("packed-refs");
        file::find_line(&packed, PACKED_LINE_LIMIT, |line| {
            let (digits, rest) = line.split_at_checked(line.len().checked_sub(name.len() + 1)?)?;
            (rest[0] == b' ' && &rest[1..] == name).then(|| parse_hash(digits))
        })
        .flatten()
    }
}

/// What one reference file says. A folder in its place means that longer names
/// begin with this one, so it is missing here.
fn read_file(path: &Path) -> RefValue {
    let Ok(metadata) = fs::symlink_metadata(path) else {
        return RefValue::Missing;
    };
    if metadata.is_symlink()
        && let Ok(target) = fs::read_link(path)
        && target.starts_with("refs")
    {
        return RefValue::Symbolic(file::from_path(&target));
    }
    if metadata.is_dir() {
        return RefValue::Missing;
    }
    let Some(bytes) = file::read_limited(path, REF_LIMIT) else {
        return RefValue::Damaged;
    };
    match bytes.strip_prefix(b"ref:") {
        Some(name) => RefValue::Symbolic(name.trim_ascii().to_vec()),
        None => parse_hash(&bytes).map_or(RefValue::Damaged, RefValue::Commit),
    }
}

/// The hash at the front of `bytes`, if it is one: SHA-1 or SHA-256.
pub(crate) fn parse_hash(bytes: &[u8]) -> Option<String> {
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
    use super::{is_safe, parse_hash};

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
            parse_hash(format!("{sha1}\n").as_bytes()),
            Some(sha1.to_lowercase())
        );
        assert_eq!(parse_hash(&[b'a'; 64]), Some("a".repeat(64)));
        for wrong in [
            "",
            "\n",
            "abc",
            &sha1[1..],
            &format!("{sha1}0"),
            &"g".repeat(40),
        ] {
            assert_eq!(parse_hash(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
