//! One line in one write call, without a lock.

use rethread_disk::{DiskError, Durability, FileKind, Mode, append_line};

use crate::place;

const NONE: Durability = Durability::None;

#[test]
fn lines_follow_each_other_and_the_offset_is_theirs() {
    for d in Durability::ALL {
        let (_folder, path) = place();
        assert_eq!(append_line(&path, b"a", Mode::Private, d).unwrap(), 0);
        assert_eq!(append_line(&path, b"", Mode::Private, d).unwrap(), 2);
        assert_eq!(append_line(&path, b"bc", Mode::Private, d).unwrap(), 3);
        assert_eq!(std::fs::read(&path).unwrap(), b"a\n\nbc\n");
    }
}

#[test]
fn a_record_with_a_line_break_is_refused() {
    let (_folder, path) = place();
    let e = append_line(&path, b"a\nb", Mode::Private, NONE).unwrap_err();
    assert!(matches!(e, DiskError::LineBreak { at: 1, .. }), "{e}");
    assert!(!path.exists());
}

#[test]
fn a_missing_folder_is_named() {
    let (folder, _) = place();
    let path = folder.path().join("no/log");
    let e = append_line(&path, b"a", Mode::Private, NONE).unwrap_err();
    assert_eq!(e.path(), Some(path.as_path()));
    assert!(e.to_string().starts_with("cannot write `"), "{e}");
    assert!(!e.to_string().contains("os error"), "{e}");
}

#[test]
fn a_folder_is_refused() {
    let (folder, _) = place();
    let e = append_line(folder.path(), b"a", Mode::Private, NONE).unwrap_err();
    assert!(
        matches!(
            e,
            DiskError::NotAFile {
                found: FileKind::Folder,
                ..
            }
        ),
        "{e}"
    );
}

#[cfg(unix)]
mod special {
    use std::{
        os::unix::{fs::symlink, net::UnixListener},
        path::Path,
        process::Command,
        time::{Duration, Instant},
    };

    use rethread_disk::{LockedLog, replace};

    use super::*;

    fn kind(result: Result<impl Sized, DiskError>) -> FileKind {
        match result.err() {
            Some(DiskError::NotAFile { found, .. }) => found,
            other => panic!("{other:?}"),
        }
    }

    /// Refused by all three, at once.
    fn refused_as(path: &Path, expected: FileKind) {
        let begun = Instant::now();
        let limit = Duration::from_mins(5);
        assert_eq!(kind(append_line(path, b"a", Mode::Private, NONE)), expected);
        assert_eq!(kind(replace(path, b"a", Mode::Private, NONE)), expected);
        assert_eq!(kind(LockedLog::open(path, limit)), expected);
        assert_eq!(
            kind(LockedLog::open_or_create(path, Mode::Private, limit)),
            expected
        );
        assert!(begun.elapsed() < limit);
    }

    #[test]
    fn links_are_refused_and_not_followed() {
        let (folder, path) = place();
        let target = folder.path().join("target");
        symlink(&target, &path).unwrap();
        refused_as(&path, FileKind::Symlink);
        assert!(!target.exists());
        std::fs::write(&target, b"theirs").unwrap();
        refused_as(&path, FileKind::Symlink);
        assert_eq!(std::fs::read(&target).unwrap(), b"theirs");
        let e = append_line(&path, b"a", Mode::Private, NONE).unwrap_err();
        assert!(e.hint().is_some_and(|hint| hint.contains("links")), "{e}");
    }

    #[test]
    fn links_to_themselves_are_refused() {
        let (_folder, path) = place();
        symlink(&path, &path).unwrap();
        refused_as(&path, FileKind::Symlink);
    }

    #[test]
    fn pipes_do_not_hang() {
        let (_folder, path) = place();
        assert!(
            Command::new("mkfifo")
                .arg(&path)
                .status()
                .unwrap()
                .success()
        );
        refused_as(&path, FileKind::Pipe);
    }

    #[test]
    fn sockets_are_refused() {
        let (_folder, path) = place();
        let _listener = UnixListener::bind(&path).unwrap();
        refused_as(&path, FileKind::Socket);
    }

    /// On a device of our own, if we may make one: the system's would be lost to a mistake here.
    #[test]
    fn devices_are_refused() {
        let (_folder, path) = place();
        let made = Command::new("mknod")
            .arg(&path)
            .args(["c", "1", "3"])
            .output();
        if made.is_ok_and(|made| made.status.success()) {
            refused_as(&path, FileKind::Device);
        }
        // Appending does a real one no harm, even if it is not refused.
        let null = Path::new("/dev/null");
        let appended = append_line(null, b"a", Mode::Private, NONE);
        assert_eq!(kind(appended), FileKind::Device);
        assert_eq!(
            kind(LockedLog::open(null, Duration::ZERO)),
            FileKind::Device
        );
    }

    /// A limit on the size of files stands in for a disk that fills up in the middle of a record.
    #[test]
    fn a_short_write_is_undone() {
        for before in [&b""[..], b"one\n", b"tor"] {
            let (_folder, path) = place();
            std::fs::write(&path, before).unwrap();
            let said = crate::child::run(crate::child::command("big", &path, Some("ulimit -f 2")));
            assert!(said.status.success(), "{said:?}");
            assert_eq!(said.done, [0; 0], "{said:?}");
            for (_, words) in &said.failed {
                assert!(words.contains(" bytes were taken"), "{words}");
                assert!(words.contains(path.to_str().unwrap()), "{words}");
            }
            assert_eq!(said.failed.len(), 2);
            assert_eq!(std::fs::read(&path).unwrap(), before);
        }
    }
}
