//! Files that are kept for a while.

use std::ffi::OsStr;
use std::path::Path;
use std::time::SystemTime;

use crate::remove::remove_file;

/// Removes the regular files of a folder that end like this (`html`) and were last changed before a
/// moment. What cannot be removed, or is a link, stays.
pub fn remove_files_before(folder: &Path, ending: &str, moment: SystemTime) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        let changed = std::fs::symlink_metadata(&path).and_then(|found| found.modified());
        let is_old = changed.is_ok_and(|changed| changed < moment);
        if is_old && path.extension() == Some(OsStr::new(ending)) {
            // The next one who looks tries again.
            let _ = remove_file(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn only_old_files_with_the_ending_go() {
        let folder = tempfile::tempdir().unwrap();
        let now = SystemTime::now();
        let day = Duration::from_hours(24);
        for (name, age) in [("old.html", 2), ("new.html", 0), ("old.txt", 2)] {
            let file = std::fs::File::create(folder.path().join(name)).unwrap();
            file.set_modified(now - day * age).unwrap();
        }
        std::fs::create_dir(folder.path().join("folder.html")).unwrap();
        remove_files_before(folder.path(), "html", now - day);
        let left = std::fs::read_dir(folder.path()).unwrap();
        let mut left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["folder.html", "new.html", "old.txt"]);
        remove_files_before(&folder.path().join("nowhere"), "html", now);
    }
}
