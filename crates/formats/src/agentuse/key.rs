//! Names that follow from something else: the folder of a project, the folder of a session.

use std::path::{Path, PathBuf};

use rethread_project::{Repository, upward};
use sha2::{Digest, Sha256};

/// The folder of projects that are in no repository, as the document has it.
pub(super) const GLOBAL: &str = "global";

/// How many hexadecimal digits of a digest are the key of a project.
const DIGITS: usize = 16;

/// The name of an agent as a part of a folder's name.
pub(super) fn sanitized_name(name: &str) -> String {
    let mut out = String::new();
    for c in name.trim().chars().flat_map(char::to_lowercase) {
        let c = if c.is_ascii_alphanumeric() || c == '_' {
            c
        } else {
            '-'
        };
        if c != '-' || !out.ends_with('-') {
            out.push(c);
        }
    }
    match out.trim_matches('-') {
        "" => "default".to_owned(),
        name => name.to_owned(),
    }
}

/// The key of a path, as it is spelled.
pub(super) fn of_path(path: &str) -> String {
    let digest = Sha256::digest(path.as_bytes());
    let hex: String = digest
        .iter()
        .flat_map(|b| [b >> 4, b & 15])
        .map(digit)
        .collect();
    hex.chars().take(DIGITS).collect()
}

fn digit(nibble: u8) -> char {
    char::from_digit(nibble.into(), 16).unwrap_or('0')
}

/// A path as the `git` program prints it: with forward slashes.
pub(super) fn spelled_path(path: &Path) -> String {
    let text = path.to_string_lossy();
    if cfg!(windows) {
        let plain = text.strip_prefix(r"\\?\").unwrap_or(&text);
        return plain.replace('\\', "/");
    }
    text.into_owned()
}

/// The key of the repository that a folder is in; none outside of git.
pub(super) fn of_repository(folder: &Path) -> Option<String> {
    let repository = Repository::find(folder)?;
    Some(of_path(&spelled_path(repository.root())))
}

/// What marks the root of a project.
const MARKS: [&str; 3] = [".agentuse", ".git", "package.json"];

/// The root of the project that a folder belongs to: the nearest one upward with a mark, but no
/// home and nothing above it; else the folder itself.
pub(super) fn project_root(folder: &Path, homes: &[PathBuf]) -> PathBuf {
    let is_home = |f: &Path| homes.iter().any(|home| home.starts_with(f));
    let mut upward = upward(folder).take_while(|f| !is_home(f));
    let marked = upward.find(|f| MARKS.iter().any(|mark| f.join(mark).exists()));
    marked.unwrap_or(folder).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_agents_become_parts_of_names() {
        for (name, part) in [
            ("Daily Reporter", "daily-reporter"),
            ("a__b--C", "a__b-c"),
            ("Ünïcode!", "n-code"),
            ("--x--", "x"),
            ("_x_", "_x_"),
            ("---", "default"),
            ("", "default"),
            ("   ", "default"),
            ("social/quotes/1-create", "social-quotes-1-create"),
            ("\u{212A}elvin", "kelvin"),
            ("\u{130}x", "i-x"),
            ("../../etc", "etc"),
        ] {
            assert_eq!(sanitized_name(name), part, "{name}");
        }
    }

    #[test]
    fn keys_of_paths() {
        assert_eq!(of_path("/srv/proj"), "6b9af143446a411a");
    }
}
