//! Homes of the other system on the same machine: of Windows seen from Linux, and the other way
//! around.

use std::path::{Path, PathBuf};

/// Folders beside those of users that belong to nobody.
const NOBODY: [&str; 4] = ["All Users", "Default", "Default User", "Public"];

/// The users of Windows with their home folders, where its drives are mounted in `mounts` by their
/// letters, as under the Windows Subsystem for Linux.
///
/// ```
/// let nowhere = rethread_disk::windows_users("no/such/folder".as_ref());
/// assert!(nowhere.is_empty());
/// ```
pub fn windows_users(mounts: &Path) -> Vec<(String, PathBuf)> {
    let is_drive = |path: &PathBuf| path.file_name().is_some_and(|name| name.len() == 1);
    let drives = folders_in(mounts).into_iter().filter(is_drive);
    let users = drives.flat_map(|drive| folders_in(&drive.join("Users")));
    with_names(users)
}

/// The distributions of the Windows Subsystem for Linux with the home folders of their users. Asking
/// starts a distribution that is not running.
#[cfg(windows)]
pub fn wsl_homes() -> Vec<(String, PathBuf)> {
    let said = std::process::Command::new("wsl.exe")
        .args(["--list", "--quiet"])
        .stdin(std::process::Stdio::null())
        .output();
    let Ok(said) = said else {
        return Vec::new();
    };
    let mut homes = Vec::new();
    for distro in parse_distributions(&said.stdout) {
        let root = Path::new(r"\\wsl.localhost").join(&distro);
        let users = folders_in(&root.join("home"));
        let all = users.into_iter().chain([root.join("root")]);
        homes.extend(all.map(|home| (distro.clone(), home)));
    }
    homes
}

/// There are none here.
#[cfg(not(windows))]
pub fn wsl_homes() -> Vec<(String, PathBuf)> {
    Vec::new()
}

/// The names in what `wsl.exe` prints, which is UTF-16, perhaps with a mark before it.
#[cfg(any(windows, test))]
fn parse_distributions(said: &[u8]) -> Vec<String> {
    let units: Vec<u16> = said
        .chunks_exact(2)
        .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
        .collect();
    let text = String::from_utf16_lossy(&units);
    let names = text
        .lines()
        .map(|line| line.trim_matches(['\u{feff}', '\0', ' ']));
    // A name becomes part of a path.
    let is_name = |name: &&str| crate::SafeName::new(name).is_ok();
    names.filter(is_name).map(str::to_owned).collect()
}

fn with_names(folders: impl Iterator<Item = PathBuf>) -> Vec<(String, PathBuf)> {
    let name = |path: PathBuf| Some((path.file_name()?.to_str()?.to_owned(), path));
    let somebody = |(name, _): &(String, PathBuf)| !NOBODY.contains(&name.as_str());
    folders.filter_map(name).filter(somebody).collect()
}

/// The folders in a folder, in order. Links are left out: Windows has some to the same users.
fn folders_in(of: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(of).into_iter().flatten().flatten();
    let folders = entries.filter(|e| e.file_type().is_ok_and(|t| t.is_dir()));
    let mut paths: Vec<PathBuf> = folders.map(|e| e.path()).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_found_on_every_drive() {
        let mounts = tempfile::tempdir().unwrap();
        for folder in [
            "c/Users/Ada",
            "c/Users/Public",
            "d/Users/Bob",
            "wsl/Users/x",
        ] {
            std::fs::create_dir_all(mounts.path().join(folder)).unwrap();
        }
        std::fs::write(mounts.path().join("c/Users/desktop.ini"), "").unwrap();
        let at = |path: &str| mounts.path().join(path);
        assert_eq!(
            windows_users(mounts.path()),
            [
                ("Ada".to_owned(), at("c/Users/Ada")),
                ("Bob".to_owned(), at("d/Users/Bob")),
            ]
        );
    }

    #[test]
    fn names_of_distributions_are_utf_16() {
        let text = "\u{feff}Ubuntu-24.04\r\n\r\nDebian\r\n..\\x\r\n";
        let said: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(parse_distributions(&said), ["Ubuntu-24.04", "Debian"]);
    }
}
