//! Which paths that sessions name are paths of this machine.

use std::path::{Path, PathBuf};

use crate::Env;

/// The path on this machine that a session means by a path that it names, such as its workspace.
///
/// None if it is spelled as on another system (`D:\shop`, `\\host\share`, `//host/share` on Unix;
/// `/mnt/d/shop` on Windows), if it is relative, because nobody knows to what, or if it is in the home
/// folder of somebody else (`~ada/shop`). `~` is the home folder. Nothing is looked up on disk.
///
/// ```
/// use std::collections::BTreeMap;
/// use rethread_formats::{Env, local_path};
///
/// let env = Env::from_variables(BTreeMap::new(), Some("/home/me".into()), "/tmp".into()).unwrap();
/// assert_eq!(local_path(&env, "shop"), None);
/// # #[cfg(unix)]
/// assert_eq!(local_path(&env, "~/shop"), Some("/home/me/shop".into()));
/// # #[cfg(unix)]
/// assert_eq!(local_path(&env, r"D:\shop"), None);
/// ```
pub fn local_path(env: &Env, spelled: &str) -> Option<PathBuf> {
    let system = if cfg!(windows) {
        System::Windows
    } else {
        System::Unix
    };
    let home = env.homes.first();
    match system.local(spelled)? {
        Local::Whole => Some(PathBuf::from(spelled)),
        Local::BelowHome(rest) => Some(home?.join(rest)).filter(|path| path.is_absolute()),
    }
}

/// Whether a path is spelled so that it can only be one of Windows: with a drive, or as that of a
/// network drive.
pub fn is_windows_path(spelled: &str) -> bool {
    let bytes = spelled.as_bytes();
    let has_drive = matches!(bytes, [letter, b':', rest @ ..] if letter.is_ascii_alphabetic() && (rest.is_empty() || starts_with_separator(rest)));
    has_drive || is_network_path(bytes)
}

/// Whether a folder, or one in it, has this path, both as they are spelled on whatever system: without
/// separators at the end, and on Windows with either separator, in large or small letters.
///
/// ```
/// use rethread_formats::is_spelled_inside;
///
/// assert!(is_spelled_inside(r"D:\Shop\src", "d:/shop/"));
/// assert!(!is_spelled_inside("/home/ada/shopping", "/home/ada/shop"));
/// ```
pub fn is_spelled_inside(path: &str, folder: &str) -> bool {
    let plain = |text: &str| {
        if is_windows_path(text) {
            text.replace('\\', "/").to_lowercase()
        } else {
            text.to_owned()
        }
    };
    let (path, folder) = (plain(path), plain(folder));
    let rest = path.strip_prefix(folder.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The last name in a path of whatever system, such as what people call a workspace.
///
/// ```
/// use rethread_formats::last_name;
///
/// assert_eq!(last_name("/home/ada/shop/"), "shop");
/// assert_eq!(last_name(r"D:\work\shop"), "shop");
/// assert_eq!(last_name("/"), "/");
/// ```
pub fn last_name(path: &str) -> &str {
    let trimmed = path.trim_end_matches(['/', '\\']);
    let last = trimmed.rsplit(['/', '\\']).next().unwrap_or_default();
    if last.is_empty() { path } else { last }
}

#[derive(Clone, Copy)]
enum System {
    Unix,
    Windows,
}

#[derive(Debug, PartialEq, Eq)]
enum Local<'a> {
    /// As it is spelled.
    Whole,
    /// This, below the home folder.
    BelowHome(&'a Path),
}

impl System {
    fn local(self, spelled: &str) -> Option<Local<'_>> {
        if spelled.contains('\0') {
            return None;
        }
        if let Some(rest) = spelled.strip_prefix('~') {
            let is_own = rest.is_empty() || starts_with_separator(rest.as_bytes());
            let rest = rest.trim_start_matches(['/', '\\']);
            return is_own.then_some(Local::BelowHome(Path::new(rest)));
        }
        let is_local = match self {
            // Two slashes begin a network drive of Windows; three or more are one.
            Self::Unix => spelled.starts_with('/') && !is_windows_path(spelled),
            Self::Windows => is_windows_path(spelled) && spelled.len() > 2,
        };
        is_local.then_some(Local::Whole)
    }
}

fn starts_with_separator(bytes: &[u8]) -> bool {
    matches!(bytes, [b'/' | b'\\', ..])
}

/// `\\host\share` or `//host/share`.
fn is_network_path(bytes: &[u8]) -> bool {
    match bytes {
        [b'\\', b'\\', rest @ ..] => !rest.is_empty(),
        [b'/', b'/', next, ..] => *next != b'/',
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_local_on_the_system_that_spells_it_so() {
        for (spelled, on_unix, on_windows) in [
            ("/home/ada/shop", true, false),
            ("/home/ada/shop/", true, false),
            ("/home/ada/../bob/.", true, false),
            ("/mnt/c/Users/Ada", true, false),
            ("///home", true, false),
            ("/", true, false),
            (r"D:\x", false, true),
            ("D:/x", false, true),
            ("d:", false, false),
            (r"\\host\share\x", false, true),
            ("//host/share/x", false, true),
            (r"\\wsl$\Ubuntu\home\ada", false, true),
            (r"\\wsl.localhost\Ubuntu\home", false, true),
            (r"\\?\C:\x", false, true),
            ("~ada/shop", false, false),
            ("", false, false),
            (".", false, false),
            ("..", false, false),
            ("shop", false, false),
            ("./shop", false, false),
            (r"shop\src", false, false),
            (r"\shop", false, false),
            ("D:x", false, false),
            ("file:///home/ada", false, false),
            ("vscode-remote://ssh/home/ada", false, false),
            ("/home/\0", false, false),
        ] {
            let local = |system: System| system.local(spelled) == Some(Local::Whole);
            let found = (local(System::Unix), local(System::Windows));
            assert_eq!(found, (on_unix, on_windows), "{spelled}");
        }
        let below = |spelled| System::Unix.local(spelled);
        assert_eq!(below("~"), Some(Local::BelowHome(Path::new(""))));
        assert_eq!(below("~/a/b"), Some(Local::BelowHome(Path::new("a/b"))));
    }

    #[test]
    fn paths_of_other_systems_are_compared_as_they_are_spelled() {
        for (path, folder, expected) in [
            ("/home/ada/shop", "/home/ada/shop/", true),
            ("/home/ada/shop/src", "/home/ada/shop", true),
            ("/home/ada/shop", "/", true),
            ("/home/Ada", "/home/ada", false),
            (r"D:\shop", r"D:\shop\src", false),
            (r"\\Host\Share\x", "//host/share", true),
            (r"C:\x", "/", false),
            (r"C:\x", r"C:\", true),
        ] {
            assert_eq!(is_spelled_inside(path, folder), expected, "{path} {folder}");
        }
    }
}
