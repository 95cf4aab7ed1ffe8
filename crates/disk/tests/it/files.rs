//! Whole files and folders.

use std::{io, path::Path, time::Duration};

use rethread_disk::{
    Created, DiskError, Durability, Mode, age, create, create_folder, create_with, ensure_folder,
    file_id, is_temporary, remove_file, remove_folder, replace, replace_with, sync_path,
};

use crate::{leftovers_in, names_in, place};

const NONE: Durability = Durability::None;

#[test]
fn replacing_gives_the_new_content_and_another_file() {
    for d in Durability::ALL {
        let (folder, path) = place();
        replace(&path, b"one", Mode::Private, d).unwrap();
        let before = file_id(&path).unwrap();
        replace(&path, b"two", Mode::Private, d).unwrap();
        assert_ne!(file_id(&path).unwrap(), before);
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(leftovers_in(folder.path()), 0);
    }
}

#[test]
fn a_failing_writer_leaves_the_old_file_and_nothing_else() {
    let (folder, path) = place();
    std::fs::write(&path, b"old").unwrap();
    let fail = |out: &mut dyn io::Write| {
        out.write_all(&vec![b'x'; 100_000])?;
        Err(io::ErrorKind::StorageFull.into())
    };
    let e = replace_with(&path, Mode::Private, NONE, fail).unwrap_err();
    assert_eq!(
        e.to_string(),
        format!("cannot write `{}`: no storage space", path.display())
    );
    assert_eq!(
        e.hint().as_deref(),
        Some("make room on that disk, then try again")
    );
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
    let new = folder.path().join("new");
    create_with(&new, Mode::Private, NONE, fail).unwrap_err();
    assert_eq!(names_in(folder.path()), ["log.jsonl"]);
    assert_eq!(leftovers_in(folder.path()), 0);
}

#[test]
fn creating_never_replaces() {
    let (folder, path) = place();
    assert_eq!(
        create(&path, b"one", Mode::Private, NONE).unwrap(),
        Created::New
    );
    assert_eq!(
        create(&path, b"two", Mode::Private, NONE).unwrap(),
        Created::Existed
    );
    let unused = |_: &mut dyn io::Write| panic!("not to be asked");
    assert_eq!(
        create_with(&path, Mode::Private, NONE, unused).unwrap(),
        Created::Existed
    );
    assert_eq!(std::fs::read(&path).unwrap(), b"one");
    assert_eq!(
        create(folder.path(), b"", Mode::Private, NONE).unwrap(),
        Created::Existed
    );
}

#[test]
fn of_many_creators_one_wins() {
    let (folder, path) = place();
    let wins: usize = std::thread::scope(|scope| {
        let path = &path;
        let threads: Vec<_> = (0..8u8)
            .map(|n| {
                let content = vec![n; 100_000];
                scope.spawn(move || create(path, &content, Mode::Private, NONE).unwrap())
            })
            .collect();
        threads
            .into_iter()
            .map(|t| usize::from(t.join().unwrap() == Created::New))
            .sum()
    });
    assert_eq!(wins, 1);
    let content = std::fs::read(&path).unwrap();
    assert!(content.len() == 100_000 && content.iter().all(|&b| b == content[0]));
    assert_eq!(leftovers_in(folder.path()), 0);
}

#[test]
fn one_that_appears_meanwhile_is_left_alone() {
    let (folder, path) = place();
    let made = create_with(&path, Mode::Private, NONE, |out| {
        std::fs::write(&path, b"theirs")?;
        out.write_all(b"ours")
    });
    assert_eq!(made.unwrap(), Created::Existed);
    assert_eq!(std::fs::read(&path).unwrap(), b"theirs");
    assert_eq!(leftovers_in(folder.path()), 0);
}

#[test]
fn names_of_any_length_have_a_temporary_one() {
    let folder = tempfile::tempdir().unwrap();
    for name in [
        "x".repeat(255),
        "\u{e4}".repeat(127),
        "\u{1f600}".repeat(63),
    ] {
        let path = folder.path().join(name);
        let seen = |out: &mut dyn io::Write| {
            assert_eq!(leftovers_in(folder.path()), 1);
            out.write_all(b"a")
        };
        replace_with(&path, Mode::Private, NONE, seen).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"a");
    }
}

#[test]
fn only_our_temporary_names_are_taken_for_such() {
    for name in [
        ".a.1.abcdefghijkl.tmp",
        ".a.b.c.123.ABCDEFGHIJ12.tmp",
        ".a.1.abcdefghijklm.tmp",
    ] {
        assert!(is_temporary(name.as_ref()), "{name}");
    }
    let others = [
        ".a.tmp",
        "a.1.abcdefghijkl.tmp",
        ".a.x.abcdefghijkl.tmp",
        ".a.1.abc.tmp",
        ".a.1.abcdefghijklmn.tmp",
        ".tmp",
    ];
    for name in others
        .into_iter()
        .chain([".a.1.abcdefghijkl", "..1.abcdefghijkl.tmp", ""])
    {
        assert!(!is_temporary(name.as_ref()), "{name}");
    }
}

#[test]
fn paths_without_a_name_are_refused() {
    for path in ["/", ".", "..", ""] {
        assert!(
            replace(Path::new(path), b"", Mode::Private, NONE).is_err(),
            "{path}"
        );
    }
}

#[test]
fn folders_are_made_once_and_with_their_parents() {
    for d in Durability::ALL {
        let root = tempfile::tempdir().unwrap();
        let deep = root.path().join("a/b/c");
        assert!(create_folder(&deep, &Mode::Private, d).is_err());
        ensure_folder(&deep, &Mode::Private, d).unwrap();
        ensure_folder(&deep, &Mode::Private, d).unwrap();
        assert!(deep.is_dir());
        assert_eq!(
            create_folder(&deep, &Mode::Private, d).unwrap(),
            Created::Existed
        );
    }
}

#[test]
fn a_file_in_the_way_of_a_folder_is_named() {
    let (_folder, path) = place();
    std::fs::write(&path, b"").unwrap();
    let e = ensure_folder(&path, &Mode::Private, NONE).unwrap_err();
    assert_eq!(
        e.to_string(),
        format!("`{}` is a file, not a folder", path.display())
    );
    assert!(ensure_folder(&path.join("below"), &Mode::Private, NONE).is_err());
}

#[test]
fn removing_says_what_is_missing() {
    let (folder, path) = place();
    assert!(matches!(
        remove_file(&path),
        Err(DiskError::NotFound { .. })
    ));
    assert!(matches!(
        remove_folder(&path),
        Err(DiskError::NotFound { .. })
    ));
    assert!(matches!(
        remove_file(folder.path()),
        Err(DiskError::NotAFile { .. })
    ));
    std::fs::write(&path, b"").unwrap();
    assert!(matches!(
        remove_folder(&path),
        Err(DiskError::NotAFolder { .. })
    ));
    remove_file(&path).unwrap();
    assert_eq!(names_in(folder.path()), [""; 0]);
}

#[test]
fn syncing_by_path() {
    let (_folder, path) = place();
    assert!(matches!(sync_path(&path), Err(DiskError::NotFound { .. })));
    std::fs::write(&path, b"a").unwrap();
    sync_path(&path).unwrap();
}

#[test]
fn a_file_from_the_future_is_new() {
    let (_folder, path) = place();
    let file = std::fs::File::create(&path).unwrap();
    assert!(age(&path).unwrap() < Duration::from_mins(1));
    let hour = Duration::from_hours(1);
    file.set_modified(std::time::SystemTime::now() + hour)
        .unwrap();
    assert_eq!(age(&path).unwrap(), Duration::ZERO);
    file.set_modified(std::time::SystemTime::now() - hour)
        .unwrap();
    assert!(age(&path).unwrap() >= hour);
}

#[cfg(unix)]
#[test]
fn links_are_removed_with_their_folder_and_never_followed() {
    use std::os::unix::fs::symlink;
    let root = tempfile::tempdir().unwrap();
    let outside = root.path().join("outside");
    let folder = root.path().join("folder");
    ensure_folder(&outside, &Mode::Private, NONE).unwrap();
    ensure_folder(&folder.join("sub"), &Mode::Private, NONE).unwrap();
    std::fs::write(outside.join("kept"), b"").unwrap();
    symlink(&outside, folder.join("sub/link")).unwrap();
    let link = root.path().join("link");
    symlink(&folder, &link).unwrap();
    assert!(matches!(
        remove_folder(&link),
        Err(DiskError::NotAFolder { .. })
    ));
    ensure_folder(&link.join("more"), &Mode::Private, NONE).unwrap();
    remove_folder(&folder).unwrap();
    assert!(outside.join("kept").exists());
    // Now it leads nowhere.
    assert!(matches!(
        ensure_folder(&link, &Mode::Private, NONE),
        Err(DiskError::NotAFolder { .. })
    ));
    assert_eq!(
        create(&link, b"", Mode::Private, NONE).unwrap(),
        Created::Existed
    );
}
