//! A disk that is really full: a small one, mounted where only a child of this test sees it.

use std::{
    fs::File,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use rethread_disk::{
    DiskError, Durability, LockedLog, Mode, append_line, create, create_folder, create_folder_with,
    ensure_folder, replace, trash,
};

use crate::{
    child::{self, big},
    leftovers_in, names_in,
};

const PAGE: usize = 4096;
/// Room for sixteen pages and for some names.
const MOUNT: &str = "mount -t tmpfs -o size=64k,nr_inodes=40,mode=700 none \"$DISK_TEST_PATH\"";

/// What is tried there, one after the other, each leaving the disk empty.
pub(crate) const CHECKS: &[fn(&Path)] = &[
    whole_files_on_a_full_disk,
    logs_on_a_full_disk,
    folders_on_a_full_disk,
    a_disk_without_room_for_names,
    the_trash_of_a_full_disk,
];

#[test]
fn a_full_disk_keeps_what_it_has() {
    let page = Command::new("getconf").arg("PAGESIZE").output();
    if page.is_ok_and(|page| page.stdout.trim_ascii() != PAGE.to_string().as_bytes()) {
        rethread_judges::skip("this machine counts room in other pages");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // As root, or as whoever may be root in a world of their own.
    let ways = [&["-m"][..], &["-r", "-m"]];
    let Some(way) = ways.iter().find(|way| can_mount(way, folder.path())) else {
        rethread_judges::skip("a small disk cannot be mounted here");
        return;
    };
    let mut command = Command::new("unshare");
    command
        .args(*way)
        // No program `trash` is found.
        .args([
            "sh",
            "-c",
            &format!("{MOUNT} && PATH=/nowhere exec \"$0\" \"$@\""),
        ])
        .env("XDG_DATA_HOME", folder.path().join("data"))
        .arg(child::program());
    child::assign(&mut command, "full_disk", folder.path())
        .args(child::arguments())
        .stderr(Stdio::inherit());
    let said = child::run(command);
    let all: Vec<usize> = (0..CHECKS.len()).collect();
    assert!(said.status.success() && said.done == all, "{said:?}");
    // Nobody else saw it.
    assert_eq!(names_in(folder.path()), [""; 0]);
}

fn can_mount(way: &[&str], folder: &Path) -> bool {
    let mut command = Command::new("unshare");
    command.args(way).args(["sh", "-c", MOUNT]);
    let tried = child::assign(&mut command, "", folder).output();
    tried.is_ok_and(|tried| tried.status.success())
}

/// Takes all room but this many pages.
fn ballast(disk: &Path, free: usize) -> PathBuf {
    let path = disk.join("ballast");
    let mut file = File::create(&path).unwrap();
    let e = loop {
        if let Err(e) = file.write_all(&[b'b'; PAGE]) {
            break e;
        }
    };
    assert_eq!(e.kind(), io::ErrorKind::StorageFull);
    let len = file.metadata().unwrap().len();
    assert!(len >= 8 * PAGE as u64 && len <= 64 * 1024, "{len}");
    file.set_len(len - (free * PAGE) as u64).unwrap();
    path
}

/// The error names the file, says why and what to do.
fn is_full(e: &DiskError, path: &Path) {
    assert_eq!(e.path(), Some(path));
    let kind = e.io().map(io::Error::kind);
    assert_eq!(kind, Some(io::ErrorKind::StorageFull), "{e:?}");
    assert_eq!(
        e.to_string(),
        format!("cannot write `{}`: No space left on device", path.display())
    );
    assert_eq!(
        e.hint().as_deref(),
        Some("make room on that disk, then try again")
    );
}

fn clear(disk: &Path) {
    for entry in std::fs::read_dir(disk).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            std::fs::remove_dir_all(path).unwrap();
        } else {
            std::fs::remove_file(path).unwrap();
        }
    }
}

fn whole_files_on_a_full_disk(disk: &Path) {
    for d in Durability::ALL {
        for free in [0, 2] {
            let (old, new) = (disk.join("old"), disk.join("new"));
            std::fs::write(&old, b"old").unwrap();
            let ballast = ballast(disk, free);
            for content in [&big(b'n')[..], &[b'n'; 3 * PAGE]] {
                let e = replace(&old, content, Mode::Private, d).unwrap_err();
                is_full(&e, &old);
                let e = create(&new, content, Mode::Private, d).unwrap_err();
                is_full(&e, &new);
            }
            assert_eq!(std::fs::read(&old).unwrap(), b"old");
            assert_eq!(names_in(disk), ["ballast", "old"]);
            assert_eq!(leftovers_in(disk), 0);
            std::fs::remove_file(ballast).unwrap();
            replace(&old, &[b'n'; 3 * PAGE], Mode::Private, d).unwrap();
            assert_eq!(std::fs::read(&old).unwrap(), [b'n'; 3 * PAGE]);
            clear(disk);
        }
    }
}

fn the_trash_of_a_full_disk(disk: &Path) {
    let [first, old] = ["first", "old"].map(|name| disk.join(name));
    for path in [&first, &old] {
        std::fs::write(path, "x").unwrap();
    }
    trash(&first).unwrap();
    let ballast = ballast(disk, 0);
    let e = trash(&old).unwrap_err();
    let said = e.to_string();
    let begin = format!("cannot move `{}` to the trash: ", old.display());
    assert!(said.starts_with(&begin), "{said}");
    assert!(said.ends_with("No space left on device"), "{said}");
    let hint = e.hint();
    assert_eq!(
        hint.as_deref(),
        Some("make room on that disk, then try again")
    );
    let info = disk.join("data/Trash/info");
    assert_eq!(names_in(&info), ["first.trashinfo"]);
    assert_eq!(leftovers_in(&info), 0);
    assert!(old.exists());
    std::fs::remove_file(ballast).unwrap();
    trash(&old).unwrap();
    assert_eq!(names_in(&info), ["first.trashinfo", "old.trashinfo"]);
    clear(disk);
}

type Append<'a> = &'a dyn Fn(&Path, &[u8]) -> Result<u64, DiskError>;

fn logs_on_a_full_disk(disk: &Path) {
    let append = |path: &Path, line: &[u8]| {
        let mut log = LockedLog::open_or_create(path, Mode::Private, Duration::ZERO)?;
        log.append(&[line, b"\n"].concat())
    };
    let append_one =
        |path: &Path, line: &[u8]| append_line(path, line, Mode::Private, Durability::Each);
    let ways: [Append<'_>; 2] = [&append, &append_one];
    for append in ways {
        // A part of a page is left, and may be torn; or none is.
        let begun = [
            &b"one\n"[..],
            b"tor",
            &[b'x'; PAGE],
            &[&[b'x'; PAGE - 1][..], b"\n"].concat(),
        ];
        for before in begun {
            let log = disk.join("log");
            std::fs::write(&log, before).unwrap();
            let ballast = ballast(disk, 0);
            let e = append(&log, &[b'y'; 2 * PAGE]).unwrap_err();
            assert_eq!(std::fs::read(&log).unwrap(), before);
            if before.len() < PAGE {
                assert!(matches!(e, DiskError::ShortWrite { .. }), "{e:?}");
                assert!(e.to_string().contains(" bytes were taken"), "{e}");
                assert!(e.hint().unwrap().contains("full"), "{e}");
                // What fits is still taken.
                append(&log, b"fits").unwrap();
                assert!(std::fs::read(&log).unwrap().ends_with(b"\nfits\n"));
            } else {
                is_full(&e, &log);
            }
            let kept = std::fs::read(&log).unwrap();
            std::fs::remove_file(ballast).unwrap();
            append(&log, b"after").unwrap();
            let after = std::fs::read(&log).unwrap();
            assert!(after.starts_with(&kept) && after.ends_with(b"\nafter\n"));
            clear(disk);
        }
        let ballast = ballast(disk, 0);
        let log = disk.join("new");
        is_full(&append(&log, b"one").unwrap_err(), &log);
        assert!(std::fs::read(&log).unwrap_or_default().is_empty());
        std::fs::remove_file(ballast).unwrap();
        append(&log, b"one").unwrap();
        assert_eq!(std::fs::read(&log).unwrap(), b"one\n");
        clear(disk);
    }
    rewriting_on_a_full_disk(disk);
}

fn rewriting_on_a_full_disk(disk: &Path) {
    let path = disk.join("log");
    std::fs::write(&path, b"one\ntwo\n").unwrap();
    ballast(disk, 1);
    let mut log = LockedLog::open(&path, Duration::ZERO).unwrap();
    let e = log.rewrite(Durability::Each, |_, new| new.write_all(&big(b'n')));
    is_full(&e.unwrap_err(), &path);
    drop(log);
    assert_eq!(std::fs::read(&path).unwrap(), b"one\ntwo\n");
    assert_eq!(leftovers_in(disk), 0);
    clear(disk);
}

fn folders_on_a_full_disk(disk: &Path) {
    for d in Durability::ALL {
        let path = disk.join("whole");
        let fill = |folder: &Path| {
            for (name, content) in [("small", &b"a"[..]), ("large", &[b'x'; 4 * PAGE])] {
                let _ = create(&folder.join(name), content, Mode::Private, d)?;
            }
            Ok::<(), DiskError>(())
        };
        let ballast = ballast(disk, 2);
        let e = create_folder_with(&path, Mode::Private, d, fill).unwrap_err();
        assert_eq!(e.path().and_then(Path::file_name), Some("large".as_ref()));
        assert!(e.to_string().ends_with(": No space left on device"), "{e}");
        assert_eq!(names_in(disk), ["ballast"]);
        assert_eq!(leftovers_in(disk), 0);
        std::fs::remove_file(ballast).unwrap();
        let _ = create_folder_with(&path, Mode::Private, d, fill).unwrap();
        assert_eq!(names_in(&path), ["large", "small"]);
        clear(disk);
    }
}

/// There are bytes left, but nothing new can be made.
fn a_disk_without_room_for_names(disk: &Path) {
    let (old, new) = (disk.join("old"), disk.join("new"));
    std::fs::write(&old, b"old\n").unwrap();
    let e = (0..)
        .find_map(|n| File::create(disk.join(format!("x{n}"))).err())
        .unwrap();
    assert_eq!(e.kind(), io::ErrorKind::StorageFull);
    let names = names_in(disk);
    for d in Durability::ALL {
        let mode = Mode::Private;
        is_full(&replace(&old, b"new", mode, d).unwrap_err(), &old);
        is_full(&create(&new, b"new", mode, d).unwrap_err(), &new);
        is_full(&append_line(&new, b"new", mode, d).unwrap_err(), &new);
        is_full(&create_folder(&new, &mode, d).unwrap_err(), &new);
        is_full(&ensure_folder(&new.join("a"), &mode, d).unwrap_err(), &new);
        let fill = |_: &Path| Ok::<(), DiskError>(());
        is_full(&create_folder_with(&new, mode, d, fill).unwrap_err(), &new);
        append_line(&old, b"more", mode, d).unwrap();
    }
    assert_eq!(names_in(disk), names);
    assert_eq!(leftovers_in(disk), 0);
    assert_eq!(std::fs::read(&old).unwrap(), b"old\nmore\nmore\nmore\n");
    clear(disk);
}
