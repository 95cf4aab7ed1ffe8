//! Folders that appear whole.

use std::path::Path;

use rethread_disk::{
    Created, DiskError, Durability, Mode, create, create_folder_with, file_id, is_temporary,
};

use crate::{leftovers_in, names_in};

const NONE: Durability = Durability::None;

fn root() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// Puts two files into a folder, one of them in a folder of its own.
fn two_files(folder: &Path, content: &[u8]) {
    std::fs::write(folder.join("one"), content).unwrap();
    std::fs::create_dir(folder.join("sub")).unwrap();
    std::fs::write(folder.join("sub/two"), content).unwrap();
}

fn has_two_files(folder: &Path, content: &[u8]) {
    assert_eq!(names_in(folder), ["one", "sub"]);
    assert_eq!(std::fs::read(folder.join("one")).unwrap(), content);
    assert_eq!(std::fs::read(folder.join("sub/two")).unwrap(), content);
}

fn make(path: &Path, content: &[u8], d: Durability) -> Result<Created, DiskError> {
    create_folder_with(path, Mode::Private, d, |folder| {
        two_files(folder, content);
        Ok(())
    })
}

/// Making it says that it is there, without asking for its content.
fn is_left_alone(path: &Path) {
    let made = create_folder_with(path, Mode::Private, NONE, |_| -> Result<(), DiskError> {
        panic!("not to be asked")
    });
    assert_eq!(made.unwrap(), Created::Existed);
}

#[test]
fn a_folder_appears_with_all_that_is_in_it() {
    for d in Durability::ALL {
        let root = root();
        let path = root.path().join("thread");
        let made = create_folder_with(&path, Mode::Private, d, |folder| -> Result<(), DiskError> {
            assert_eq!(folder.parent(), Some(root.path()));
            assert!(is_temporary(folder.file_name().unwrap()));
            two_files(folder, b"a");
            assert!(!path.exists());
            Ok(())
        });
        assert_eq!(made.unwrap(), Created::New);
        has_two_files(&path, b"a");
        assert_eq!(names_in(root.path()), ["thread"]);
        assert_eq!(leftovers_in(root.path()), 0);
    }
}

#[test]
fn nothing_is_replaced() {
    let root = root();
    let [full, empty, file] = ["full", "empty", "file"].map(|name| root.path().join(name));
    assert_eq!(make(&full, b"old", NONE).unwrap(), Created::New);
    std::fs::create_dir(&empty).unwrap();
    std::fs::write(&file, b"theirs").unwrap();
    let before = [&full, &empty, &file].map(|path| file_id(path).unwrap());
    for path in [&full, &empty, &file] {
        is_left_alone(path);
    }
    assert_eq!(
        before,
        [&full, &empty, &file].map(|path| file_id(path).unwrap())
    );
    has_two_files(&full, b"old");
    assert_eq!(names_in(&empty), [""; 0]);
    assert_eq!(std::fs::read(&file).unwrap(), b"theirs");
    assert_eq!(leftovers_in(root.path()), 0);
}

#[test]
fn what_appears_meanwhile_is_left_alone() {
    type Theirs = fn(&Path);
    let theirs: &[Theirs] = &[
        |path| std::fs::create_dir(path).unwrap(),
        |path| std::fs::write(path, b"theirs").unwrap(),
        |path| {
            std::fs::create_dir(path).unwrap();
            std::fs::write(path.join("theirs"), b"").unwrap();
        },
        #[cfg(unix)]
        |path| std::os::unix::fs::symlink("no", path).unwrap(),
    ];
    for theirs in theirs {
        let root = root();
        let path = root.path().join("thread");
        let mut before = None;
        let made = create_folder_with(&path, Mode::Private, NONE, |folder| {
            two_files(folder, b"ours");
            theirs(&path);
            before = file_id(&path).ok();
            Ok::<(), DiskError>(())
        });
        assert_eq!(made.unwrap(), Created::Existed);
        assert_eq!(file_id(&path).ok(), before);
        assert!(!path.join("one").exists());
        assert_eq!(leftovers_in(root.path()), 0);
    }
}

#[cfg(unix)]
#[test]
fn links_are_neither_followed_nor_replaced() {
    use std::os::unix::fs::symlink;
    let root = root();
    let link = root.path().join("link");
    symlink("target", &link).unwrap();
    is_left_alone(&link);
    assert!(!root.path().join("target").exists());
    std::fs::create_dir(root.path().join("target")).unwrap();
    is_left_alone(&link);
    assert_eq!(names_in(&root.path().join("target")), [""; 0]);
    assert_eq!(names_in(root.path()), ["link", "target"]);
}

#[test]
fn an_error_of_the_filler_leaves_nothing() {
    #[derive(Debug)]
    enum Error {
        Disk,
        Own,
    }
    impl From<DiskError> for Error {
        fn from(_: DiskError) -> Self {
            Error::Disk
        }
    }
    let root = root();
    let path = root.path().join("thread");
    let own = create_folder_with(&path, Mode::Private, NONE, |folder| {
        two_files(folder, b"a");
        Err(Error::Own)
    });
    assert!(matches!(own, Err(Error::Own)), "{own:?}");
    let disk = create_folder_with(&path, Mode::Private, NONE, |folder| {
        two_files(folder, b"a");
        let _ = create(&folder.join("no/file"), b"", Mode::Private, NONE)?;
        Ok::<(), Error>(())
    });
    assert!(matches!(disk, Err(Error::Disk)), "{disk:?}");
    assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 0);
}

#[test]
fn a_filler_that_panics_leaves_nothing() {
    let root = root();
    let path = root.path().join("thread");
    let panicked = std::panic::catch_unwind(|| {
        create_folder_with(
            &path,
            Mode::Private,
            NONE,
            |folder| -> Result<(), DiskError> {
                two_files(folder, b"a");
                // Without the noise of a hook.
                std::panic::resume_unwind(Box::new("a panic"))
            },
        )
    });
    assert!(panicked.is_err());
    assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 0);
}

#[test]
fn of_many_creators_one_wins() {
    let root = root();
    let path = root.path().join("thread");
    let threads = 8;
    let start = std::sync::Barrier::new(threads);
    let winners: Vec<usize> = std::thread::scope(|scope| {
        let (path, start) = (&path, &start);
        let threads: Vec<_> = (0..threads)
            .map(|n| {
                scope.spawn(move || {
                    let content = vec![b'0' + u8::try_from(n).unwrap(); 10_000];
                    // All look before the first is done.
                    create_folder_with(path, Mode::Private, NONE, |folder| {
                        start.wait();
                        two_files(folder, &content);
                        Ok::<(), DiskError>(())
                    })
                    .unwrap()
                })
            })
            .collect();
        let made = threads.into_iter().map(|t| t.join().unwrap());
        made.enumerate()
            .filter(|(_, made)| *made == Created::New)
            .map(|(n, _)| n)
            .collect()
    });
    let [winner] = winners.as_slice() else {
        panic!("{winners:?}")
    };
    has_two_files(&path, &[b'0' + u8::try_from(*winner).unwrap(); 10_000]);
    assert_eq!(names_in(root.path()), ["thread"]);
    assert_eq!(leftovers_in(root.path()), 0);
}

#[test]
fn names_of_any_length_have_a_temporary_one() {
    let root = root();
    for name in [
        "x".repeat(255),
        "\u{e4}".repeat(127),
        "\u{1f600}".repeat(63),
    ] {
        let path = root.path().join(name);
        assert_eq!(make(&path, b"a", NONE).unwrap(), Created::New);
        has_two_files(&path, b"a");
    }
    assert_eq!(leftovers_in(root.path()), 0);
}

#[test]
fn a_missing_parent_is_an_error_and_is_not_made() {
    for d in Durability::ALL {
        let root = root();
        let path = root.path().join("no/thread");
        let e = make(&path, b"a", d).unwrap_err();
        assert_eq!(
            e.to_string(),
            format!("cannot write `{}`: {}", path.display(), no_such_file())
        );
        assert_eq!(names_in(root.path()), [""; 0]);
    }
}

/// The words of the system.
fn no_such_file() -> String {
    let e = std::fs::read("/no/such/file").unwrap_err().to_string();
    e.split(" (os error").next().unwrap().to_owned()
}

#[test]
fn paths_without_a_name_are_refused() {
    let root = root();
    for nameless in [root.path().join("no/.."), "".into()] {
        let made = create_folder_with(
            &nameless,
            Mode::Private,
            NONE,
            |_| -> Result<(), DiskError> { panic!("not to be asked") },
        );
        assert_eq!(made.unwrap_err().path(), Some(nameless.as_path()));
    }
    assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 0);
}

/// What nobody may write to is filled all the same, and nobody else looks in before it is full.
#[cfg(unix)]
#[test]
fn the_mode_comes_last() {
    use std::os::unix::fs::PermissionsExt as _;

    use crate::mode_of;
    for (bits, meanwhile) in [
        (0o700, 0o700),
        (0o755, 0o700),
        (0o777, 0o700),
        (0o500, 0o700),
        (0o070, 0o700),
        (0o2775, 0o2700),
        (0o1777, 0o1700),
    ] {
        for d in Durability::ALL {
            let root = root();
            let path = root.path().join("thread");
            let made = create_folder_with(&path, Mode::Exact(bits), d, |folder| {
                assert_eq!(mode_of(folder), meanwhile, "{bits:o}");
                two_files(folder, b"a");
                Ok::<(), DiskError>(())
            });
            assert_eq!(made.unwrap(), Created::New);
            assert_eq!(mode_of(&path), bits, "{bits:o}");
            // So that it can be removed.
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
        }
    }
}
