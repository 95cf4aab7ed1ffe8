//! What is removed because its owner is gone, and what never is.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, SystemTime},
};

use rethread_disk::{
    Created, DiskError, Durability, LockedLog, Mode, ScratchFolder, UnlockedLog, append_line,
    create, create_folder_with, create_with, is_temporary, remove_folder, remove_leftovers,
    replace, replace_with,
};
use tempfile::TempDir;

use crate::{leftovers_in, place};

const NONE: Durability = Durability::None;
/// As it is left by a process that was killed.
const LEFT: &str = ".log.jsonl.4711.Ab3dEf6hIj9lM.tmp";
/// The same, of a version that locked nothing.
const LEFT_UNLOCKED: &str = ".log.jsonl.4711.Ab3dEf6hIj9l.tmp";

fn leave(folder: &Path) {
    fs::write(folder.join(LEFT), "half a lo").unwrap();
    let tree = folder.join(".whole.4711.Zb3dEf6hIj9lM.tmp");
    fs::create_dir_all(tree.join("sub")).unwrap();
    fs::write(tree.join("sub/file"), "x").unwrap();
}

fn make_old(path: &Path) {
    let time = SystemTime::now() - Duration::from_hours(25);
    let file = fs::File::open(path).unwrap();
    file.set_modified(time).unwrap();
}

/// Every way to write, in a folder that is new to this process.
#[test]
fn whoever_writes_removes_what_was_left_there() {
    type Write = fn(&Path);
    let ways: [(&str, Write); 8] = [
        ("replace", |p| replace(p, b"", Mode::Private, NONE).unwrap()),
        ("create", |p| {
            let _ = create(&p.with_extension("new"), b"", Mode::Private, NONE).unwrap();
        }),
        ("create what is there", |p| {
            let made = create(p, b"", Mode::Private, NONE).unwrap();
            assert_eq!(made, Created::Existed);
        }),
        ("create_folder_with", |p| {
            let fill = |_: &Path| Ok::<(), DiskError>(());
            let new = p.with_extension("folder");
            let _ = create_folder_with(&new, Mode::Private, NONE, fill).unwrap();
        }),
        ("append_line", |p| {
            append_line(p, b"x", Mode::Private, NONE).map(drop).unwrap();
        }),
        ("open", |p| {
            drop(LockedLog::open(p, Duration::ZERO).unwrap());
        }),
        ("UnlockedLog", |p| {
            drop(UnlockedLog::open(p, Mode::Private).unwrap());
        }),
        ("remove_folder", |p| {
            let other = p.with_extension("other");
            fs::create_dir(&other).unwrap();
            remove_folder(&other).unwrap();
        }),
    ];
    for (name, write) in ways {
        let (folder, path) = place();
        fs::write(&path, "first\n").unwrap();
        leave(folder.path());
        write(&path);
        assert_eq!(leftovers_in(folder.path()), 0, "{name}");
        assert!(path.exists(), "{name}");
    }
}

#[test]
fn what_somebody_still_writes_stays() {
    let (folder, path) = place();
    replace_with(&path, Mode::Private, NONE, |out| {
        out.write_all(b"whole")?;
        remove_leftovers(folder.path());
        assert_eq!(leftovers_in(folder.path()), 1);
        Ok(())
    })
    .unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"whole");
    let tree = folder.path().join("tree");
    let made = create_folder_with(&tree, Mode::Private, NONE, |inside| {
        fs::write(inside.join("file"), "x").unwrap();
        remove_leftovers(folder.path());
        assert!(!cfg!(unix) || inside.join("file").exists());
        Ok::<(), DiskError>(())
    });
    assert_eq!(made.unwrap(), Created::New);
    assert!(tree.join("file").exists());
}

/// Many make files while others look for leftovers all the time: nobody loses one.
#[test]
fn nothing_new_is_taken_for_a_leftover() {
    let folder = tempfile::tempdir().unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    remove_leftovers(folder.path());
                }
            });
        }
        let writers: Vec<_> = (0..2)
            .map(|n| {
                let folder = &folder;
                scope.spawn(move || {
                    for i in 0..200 {
                        let path = folder.path().join(format!("{n}-{i}"));
                        let made = create_with(&path, Mode::Private, NONE, |out| {
                            std::thread::yield_now();
                            out.write_all(b"x")
                        });
                        assert_eq!(made.unwrap(), Created::New);
                        let path = folder.path().join(format!("{n}-{i}-folder"));
                        let fill = |inside: &Path| {
                            create(&inside.join("x"), b"x", Mode::Private, NONE).map(drop)
                        };
                        let made = create_folder_with(&path, Mode::Private, NONE, fill);
                        assert_eq!(made.unwrap(), Created::New);
                    }
                })
            })
            .collect();
        let ended: Vec<_> = writers
            .into_iter()
            .map(std::thread::ScopedJoinHandle::join)
            .collect();
        is_over.store(true, Ordering::Relaxed);
        assert!(ended.iter().all(Result::is_ok), "{ended:?}");
    });
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 800);
}

#[test]
fn what_took_no_lock_goes_when_it_is_old() {
    let folder = tempfile::tempdir().unwrap();
    let left = folder.path().join(LEFT_UNLOCKED);
    fs::write(&left, "x").unwrap();
    assert!(is_temporary(LEFT_UNLOCKED.as_ref()));
    remove_leftovers(folder.path());
    assert!(left.exists(), "somebody may be writing it");
    make_old(&left);
    remove_leftovers(folder.path());
    assert!(!left.exists());
}

#[test]
fn other_names_stay() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["log.jsonl", ".log.jsonl.tmp", ".a.x.Ab3dEf6hIj9lM.tmp"] {
        fs::write(folder.path().join(name), "x").unwrap();
    }
    let below = folder.path().join("below");
    fs::create_dir(&below).unwrap();
    leave(&below);
    remove_leftovers(folder.path());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
    assert_eq!(leftovers_in(&below), 2, "that is another folder");
    remove_leftovers(&folder.path().join("missing"));
}

/// A link is not followed, and nobody waits for a pipe.
#[cfg(unix)]
#[test]
fn what_is_neither_file_nor_folder_stays() {
    let folder = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("precious"), "x").unwrap();
    let link = folder.path().join(LEFT);
    std::os::unix::fs::symlink(outside.path(), &link).unwrap();
    let pipe = folder.path().join(".pipe.4711.Ab3dEf6hIj9lM.tmp");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    remove_leftovers(folder.path());
    assert!(outside.path().join("precious").exists());
    assert!(link.is_symlink());
    assert!(pipe.exists());
    // Inside of a folder that was left behind, a link is removed and not followed.
    let tree = folder.path().join(".tree.4711.Ab3dEf6hIj9lM.tmp");
    fs::create_dir(&tree).unwrap();
    std::os::unix::fs::symlink(outside.path(), tree.join("link")).unwrap();
    remove_leftovers(folder.path());
    assert!(!tree.exists());
    assert!(outside.path().join("precious").exists());
}

#[cfg(unix)]
#[test]
fn what_belongs_to_somebody_else_stays() {
    use std::os::unix::fs::chown;
    let folder = tempfile::tempdir().unwrap();
    leave(folder.path());
    let file = folder.path().join(LEFT);
    if chown(&file, Some(65534), None).is_err() {
        // Only root may give files away.
        return;
    }
    remove_leftovers(folder.path());
    assert!(file.exists());
    assert_eq!(leftovers_in(folder.path()), 1);
}

/// The folders of our own in the system's place for such folders: this process has one, another was
/// killed.
#[test]
fn a_scratch_folder_has_a_name_that_is_known_as_ours() {
    let scratch = ScratchFolder::new().unwrap();
    let path: PathBuf = scratch.path().to_owned();
    assert!(is_temporary(path.file_name().unwrap()));
    fs::write(path.join("said"), "x").unwrap();
    drop(scratch);
    assert!(!path.exists());
    let other: TempDir = tempfile::tempdir().unwrap();
    let left = other.path().join(path.file_name().unwrap());
    fs::create_dir(&left).unwrap();
    remove_leftovers(other.path());
    assert!(!left.exists());
}
