//! Homes other than the user's own on this machine.

use std::path::{Path, PathBuf};

use rethread_model::{Provenance, home_name};

/// What kind of home it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HomeKind {
    /// That of a user of a Linux distribution under Windows.
    Wsl,
    /// That of a user of Windows, seen from Linux.
    Windows,
    /// That of a user of another machine, of which there is a copy.
    Remote,
}

impl HomeKind {
    /// The word for it in the unified vocabulary.
    pub fn word(self) -> &'static str {
        match self {
            Self::Wsl => "wsl",
            Self::Windows => "windows",
            Self::Remote => "remote",
        }
    }
}

/// A home other than the user's own on this machine.
///
/// ```
/// use rethread_env::{Home, HomeKind};
///
/// let home = Home {
///     kind: HomeKind::Windows,
///     host: "Ada".to_owned(),
///     folder: "/mnt/c/Users/Ada".into(),
///     there: r"C:\Users\Ada".to_owned(),
/// };
/// assert_eq!(home.name(), "windows_ada");
/// let there = home.path_there("/mnt/c/Users/Ada/shop/notes.md".as_ref());
/// assert_eq!(there.as_deref(), Some(r"C:\Users\Ada\shop\notes.md"));
/// let here = home.path_here(r"C:\Users\Ada\shop");
/// assert_eq!(here, Some("/mnt/c/Users/Ada/shop".into()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    /// What kind of home it is.
    pub kind: HomeKind,
    /// The machine, the distribution or the user.
    pub host: String,
    /// The folder that it is read from: itself, or a copy of it.
    pub folder: PathBuf,
    /// What that folder is called there.
    pub there: String,
}

impl Home {
    /// Its name, as the header of an export has it: `wsl_ubuntu`, `windows_ada`, `remote_vm01`.
    pub fn name(&self) -> String {
        home_name(self.kind.word(), Some(&self.host))
    }

    /// What stands between the names of a path there. Windows takes both, and one path has one.
    fn separator(&self) -> char {
        let is_written_with = |separator: char| self.there.contains(separator);
        let is_windows = self.kind == HomeKind::Windows;
        if !is_written_with('/') && (is_written_with('\\') || is_windows) {
            '\\'
        } else {
            '/'
        }
    }

    /// What a path in it is called there; none if it is not in it.
    pub fn path_there(&self, path: &Path) -> Option<String> {
        let below = path.strip_prefix(&self.folder).ok()?;
        let mut there = self.there.clone();
        let separator = self.separator();
        for name in below.components() {
            if !there.ends_with(separator) {
                there.push(separator);
            }
            there.push_str(&name.as_os_str().to_string_lossy());
        }
        Some(there)
    }

    /// Where a path is found that is called so there; none if it is not in this home.
    pub fn path_here(&self, there: &str) -> Option<PathBuf> {
        let below = there.strip_prefix(&self.there)?;
        let is_windows = self.kind == HomeKind::Windows;
        let is_separator = |c: char| c == '/' || c == '\\' && is_windows;
        let is_below =
            below.is_empty() || below.starts_with(is_separator) || self.there.ends_with('/');
        let mut path = self.folder.clone();
        for name in below.split(is_separator).filter(|name| !name.is_empty()) {
            if name == "." || name == ".." {
                return None;
            }
            path.push(name);
        }
        is_below.then_some(path)
    }

    /// Where a session of this home was found.
    pub fn provenance(&self, path: &Path) -> Provenance {
        Provenance {
            kind: self.kind.word().to_owned(),
            host: Some(self.host.clone()),
            path: self.path_there(path),
            agent: String::new(),
            file_time: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_the_home_have_a_place_here() {
        let home = Home {
            kind: HomeKind::Remote,
            host: "VM01".to_owned(),
            folder: "/copy".into(),
            there: "/home/ada".to_owned(),
        };
        let here = |there| home.path_here(there);
        assert_eq!(here("/home/ada"), Some("/copy".into()));
        assert_eq!(here("/home/ada//shop/"), Some("/copy/shop".into()));
        for outside in ["/home/adam", "/home", "/home/ada/../bob", "shop", ""] {
            assert_eq!(here(outside), None, "{outside}");
        }
        assert_eq!(home.path_there(Path::new("/elsewhere")), None);
        assert_eq!(home.name(), "remote_vm01");
        // A home of Windows that was copied to a folder of this system.
        let copied = Home {
            kind: HomeKind::Windows,
            there: "/srv/ada".to_owned(),
            ..home.clone()
        };
        let there = copied.path_there(Path::new("/copy/.claude/x"));
        assert_eq!(there.as_deref(), Some("/srv/ada/.claude/x"));
        assert_eq!(
            copied.path_here("/srv/ada/.claude/x"),
            Some("/copy/.claude/x".into())
        );
        let root = Home {
            there: "/".to_owned(),
            ..home
        };
        assert_eq!(root.path_here("/srv"), Some("/copy/srv".into()));
        assert_eq!(
            root.path_there(Path::new("/copy/srv")).as_deref(),
            Some("/srv")
        );
    }
}
