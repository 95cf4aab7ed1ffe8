//! Whether a program can be started.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// What Windows starts by a name without an ending.
const ENDINGS: &[&str] = if cfg!(windows) {
    &[".exe", ".cmd", ".bat", ".com"]
} else {
    &[""]
};

/// The file of a program, by its name, in the folders that the variable `PATH` names.
///
/// Folders without a whole path are passed over: what they name changes with the current folder, and
/// that may be anybody's.
pub fn find_program(path: &OsStr, name: &str) -> Option<PathBuf> {
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    let files = folders.flat_map(|folder| {
        let named = move |ending: &&str| folder.join(format!("{name}{ending}"));
        ENDINGS.iter().map(named).collect::<Vec<_>>()
    });
    files.into_iter().find(|file| is_program(file))
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let found = std::fs::metadata(file);
    found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file()
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_program_is_a_file_that_may_be_run_in_a_folder_of_the_path() {
        let temp = tempfile::tempdir().unwrap();
        let (one, two) = (temp.path().join("one"), temp.path().join("two"));
        for folder in [&one, &two] {
            std::fs::create_dir_all(folder.join("folder")).unwrap();
            std::fs::write(folder.join("agent"), "").unwrap();
        }
        let path = std::env::join_paths([Path::new(""), Path::new("."), &one, &two]).unwrap();
        assert_eq!(find_program(&path, "agent"), None, "nobody may run it");
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(two.join("agent"), mode).unwrap();
        assert_eq!(find_program(&path, "agent"), Some(two.join("agent")));
        assert_eq!(find_program(&path, "folder"), None);
        assert_eq!(find_program(OsStr::new(""), "agent"), None);
    }
}
