//! The few settings of a repository's `config` that say where things are.

use crate::file;
use std::path::{Path, PathBuf};

/// Configuration files are a few kilobytes; this leaves room for huge ones.
const CONFIG_LIMIT: u64 = 4 << 20;

/// What a configuration file says; a later value replaces an earlier one.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct GitConfig {
    /// `core.bare`
    pub(crate) bare: Option<bool>,
    /// `core.worktree`
    pub(crate) worktree: Option<PathBuf>,
    /// `extensions.worktreeConfig`: `config.worktree` counts as well
    pub(crate) per_worktree: bool,
    /// `extensions.refStorage` names something else than files
    pub(crate) foreign_refs: bool,
}

impl GitConfig {
    /// Reads a file; one that is missing or unreadable says nothing. Includes are
    /// not followed: git does not follow them for these settings either.
    pub(crate) fn read(path: &Path) -> Self {
        file::read_limited(path, CONFIG_LIMIT)
            .map_or_else(Self::default, |bytes| Self::parse(&bytes))
    }

    fn parse(bytes: &[u8]) -> Self {
        let mut config = Self::default();
        let mut section = Vec::new();
        let mut rest = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        while let Some(&first) = rest.first() {
            match first {
                b'[' => {
                    let head = &rest[1..];
                    let end = head.iter().position(|b| matches!(b, b']' | b'\n'));
                    let end = end.unwrap_or(head.len());
                    section = head[..end].to_ascii_lowercase();
                    rest = head.get(end + 1..).unwrap_or_default();
                }
                b'#' | b';' => {
                    let end = rest.iter().position(|&b| b == b'\n');
                    rest = &rest[end.unwrap_or(rest.len())..];
                }
                b if b.is_ascii_alphabetic() => {
                    let (key, value, after) = parse_setting(rest);
                    config.set_value(&section, &key.to_ascii_lowercase(), value);
                    rest = after;
                }
                _ => rest = &rest[1..],
            }
        }
        config
    }

    fn set_value(&mut self, section: &[u8], key: &[u8], value: Option<Vec<u8>>) {
        match (section, key) {
            (b"core", b"bare") => self.bare = Some(is_true(value.as_deref())),
            (b"core", b"worktree") => {
                self.worktree = value.as_deref().and_then(file::to_path);
            }
            (b"extensions", b"worktreeconfig") => {
                self.per_worktree = is_true(value.as_deref());
            }
            (b"extensions", b"refstorage") => {
                self.foreign_refs = value.is_some_and(|name| !name.eq_ignore_ascii_case(b"files"));
            }
            _ => {}
        }
    }
}

/// Splits `key = value` off the front; a key without `=` has no value.
fn parse_setting(text: &[u8]) -> (&[u8], Option<Vec<u8>>, &[u8]) {
    let key_end = text
        .iter()
        .position(|b| !b.is_ascii_alphanumeric() && *b != b'-')
        .unwrap_or(text.len());
    let (key, rest) = text.split_at(key_end);
    let blank = rest
        .iter()
        .position(|b| !matches!(b, b' ' | b'\t'))
        .unwrap_or(rest.len());
    match rest[blank..].strip_prefix(b"=") {
        Some(rest) => {
            let (value, rest) = parse_value(rest);
            (key, Some(value), rest)
        }
        None => (key, None, &rest[blank..]),
    }
}

/// A value up to the end of its line: quotes, escapes, continuations, comments.
fn parse_value(text: &[u8]) -> (Vec<u8>, &[u8]) {
    let mut value = Vec::new();
    let mut kept = 0; // trailing blanks outside quotes do not belong to the value
    let mut quoted = false;
    let mut at = 0;
    while at < text.len() {
        let byte = text[at];
        at += 1;
        match byte {
            b'\n' => return (trim_value(value, kept), &text[at..]),
            b'#' | b';' if !quoted => {
                let end = text[at..].iter().position(|&b| b == b'\n');
                return (
                    trim_value(value, kept),
                    &text[end.map_or(text.len(), |n| at + n)..],
                );
            }
            b'"' => {
                quoted = !quoted;
                kept = value.len();
            }
            b'\\' => {
                let escaped = text.get(at).copied().unwrap_or(b'\n');
                at += 1;
                match escaped {
                    b'\n' => continue,
                    b'n' => value.push(b'\n'),
                    b't' => value.push(b'\t'),
                    b'b' => value.push(8),
                    other => value.push(other),
                }
                kept = value.len();
            }
            b' ' | b'\t' | b'\r' if !quoted => {
                if !value.is_empty() {
                    value.push(byte);
                }
            }
            other => {
                value.push(other);
                kept = value.len();
            }
        }
    }
    (trim_value(value, kept), &[])
}

fn trim_value(mut value: Vec<u8>, kept: usize) -> Vec<u8> {
    value.truncate(kept);
    value
}

/// Git's reading of a boolean; a key alone is true.
fn is_true(value: Option<&[u8]>) -> bool {
    let Some(value) = value else { return true };
    let is = |word: &str| value.eq_ignore_ascii_case(word.as_bytes());
    is("true")
        || is("yes")
        || is("on")
        || std::str::from_utf8(value)
            .ok()
            .and_then(|digits| digits.parse::<i64>().ok())
            .is_some_and(|number| number != 0)
}

#[cfg(test)]
mod tests {
    use super::GitConfig;
    use std::path::Path;

    #[test]
    fn what_git_writes_is_understood() {
        let config = GitConfig::parse(
            b"[core]\n\trepositoryformatversion = 1\n\tbare = false\n\tworktree = ../../../sub\n\
              [extensions]\n\trefstorage = reftable\n\tworktreeConfig = true\n",
        );
        assert_eq!(config.bare, Some(false));
        assert_eq!(config.worktree.as_deref(), Some(Path::new("../../../sub")));
        assert!(config.foreign_refs && config.per_worktree);
    }

    #[test]
    fn hand_written_spellings_are_understood() {
        let config = GitConfig::parse(
            b"\xef\xbb\xbf# top\r\n[CORE] Bare ; a comment\n  WORKTREE = \"a b\\\\c\" # end\n\
              [core \"other\"] bare = no\n[extensions]refStorage=files\nworktreeconfig = 0",
        );
        assert_eq!(config.bare, Some(true));
        assert_eq!(config.worktree.as_deref(), Some(Path::new("a b\\c")));
        assert!(!config.foreign_refs && !config.per_worktree);
    }

    #[test]
    fn the_last_value_wins_and_lines_continue() {
        let config = GitConfig::parse(b"[core]\nbare=true\nbare=off\nworktree = one\\\n two  \n");
        assert_eq!(config.bare, Some(false));
        assert_eq!(config.worktree.as_deref(), Some(Path::new("one two")));
    }

    #[test]
    fn no_bytes_make_it_stumble() {
        for bytes in [
            &b"["[..],
            b"[core",
            b"[core]bare",
            b"[core]\nbare=\\",
            b"[core]\nbare=\"x",
            b"=\0]\xff[",
        ] {
            let _ = GitConfig::parse(bytes);
        }
    }
}
