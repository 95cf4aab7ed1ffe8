//! A log that is written anew while its owner appends to it, without any lock.

use std::{
    fs,
    io::{Read as _, Write as _},
    time::Duration,
};

use rethread_disk::{
    Appended, DiskError, Durability, LockedLog, Mode, Retired, UnlockedLog, retired_logs,
    retired_name,
};

use crate::{leftovers_in, names_in};

const PATIENCE: Duration = Duration::from_secs(30);

/// Makes a log new in capital letters, while `meanwhile` happens.
fn exchange(log: &mut LockedLog, meanwhile: impl FnOnce()) -> Result<Retired, DiskError> {
    log.exchange(|old, new| {
        let mut text = String::new();
        old.read_to_string(&mut text)?;
        meanwhile();
        new.write_all(text.to_uppercase().as_bytes())
    })
}

fn text(retired: &Retired) -> String {
    let mut text = String::new();
    let mut reader = retired.reader(retired.len().unwrap());
    reader.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn the_old_log_keeps_a_second_name_until_it_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    fs::write(&path, "a\n").unwrap();
    let mut log = LockedLog::open(&path, PATIENCE).unwrap();
    let mut sender = UnlockedLog::open(&path, Mode::Private).unwrap();
    let mut foreign = fs::File::options().append(true).open(&path).unwrap();
    let retired = exchange(&mut log, || {
        sender
            .append(b"while it was copied", Durability::Each)
            .unwrap();
    })
    .unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "A\n");
    let left = retired_logs(&path).unwrap();
    assert_eq!((left.len(), leftovers_in(folder.path())), (1, 0));
    let name = left[0].file_name().unwrap();
    assert_eq!(retired_name(name), Some("log"));
    // One looks where its line went; the other cannot.
    let appended = sender.append(b"after it", Durability::Each).unwrap();
    assert_eq!(
        appended,
        Appended {
            at: 2,
            is_again: true
        }
    );
    foreign.write_all(b"after it, too\n").unwrap();
    assert_eq!(
        text(&retired),
        "a\nwhile it was copied\nafter it\nafter it, too\n"
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), "A\nafter it\n");
    assert!(!retired.is_still(&log).unwrap());
    // Who comes after a crash finds the same.
    let found = Retired::open(&left[0]).unwrap();
    assert_eq!(text(&found), text(&retired));
    retired.remove().unwrap();
    assert_eq!(names_in(folder.path()), ["log"]);
}

#[test]
fn one_at_a_time_exchanges_a_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    fs::write(&path, "a\n").unwrap();
    let mut log = LockedLog::open(&path, PATIENCE).unwrap();
    let busy = || {
        let other = LockedLog::open(&path, Duration::ZERO);
        assert!(matches!(other, Err(DiskError::Busy { .. })), "{other:?}");
    };
    let retired = exchange(&mut log, busy).unwrap();
    busy();
    retired.remove().unwrap();
    busy();
    drop(log);
    LockedLog::open(&path, Duration::ZERO).unwrap();
}

#[test]
fn a_log_that_is_another_one_meanwhile_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    fs::write(&path, "a\n").unwrap();
    let mut log = LockedLog::open(&path, PATIENCE).unwrap();
    let done = exchange(&mut log, || {
        let other = folder.path().join("other");
        fs::write(&other, "a\nb\n").unwrap();
        fs::rename(other, &path).unwrap();
    });
    assert!(matches!(done, Err(DiskError::Changed { .. })), "{done:?}");
    let mut log = LockedLog::open(&path, PATIENCE).unwrap();
    let done = exchange(&mut log, || {
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_len(2).unwrap();
    });
    assert!(matches!(done, Err(DiskError::Changed { .. })), "{done:?}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "a\n");
    assert_eq!(names_in(folder.path()), ["log"]);
    assert_eq!(leftovers_in(folder.path()), 0);
}

#[test]
fn an_append_ends_a_torn_line_and_refuses_two_lines() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    fs::write(&path, "torn").unwrap();
    let mut log = UnlockedLog::open(&path, Mode::Private).unwrap();
    let appended = log.append(b"next", Durability::Each).unwrap();
    assert_eq!((appended.at, appended.is_again), (5, false));
    assert_eq!(fs::read_to_string(&path).unwrap(), "torn\nnext\n");
    let two = log.append(b"a\nb", Durability::None);
    assert!(matches!(two, Err(DiskError::LineBreak { at: 1, .. })));
}

#[test]
fn a_retired_file_is_told_from_those_of_other_logs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.a");
    for name in [
        ".log.a.Ab3dEf6hIj9l.old",
        ".log.a.b.Ab3dEf6hIj9l.old",
        ".log.Ab3dEf6hIj9l.old",
        ".log.a.old",
        "log.a.Ab3dEf6hIj9l.old",
    ] {
        fs::write(folder.path().join(name), "").unwrap();
    }
    let left = retired_logs(&path).unwrap();
    assert_eq!(left, [folder.path().join(".log.a.Ab3dEf6hIj9l.old")]);
    let nowhere = retired_logs(&folder.path().join("no/log")).unwrap();
    assert!(nowhere.is_empty());
}

#[cfg(unix)]
#[test]
fn only_links_are_removed_as_links() {
    use rethread_disk::remove_link;
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("file"), folder.path().join("link"));
    std::fs::write(&file, "x").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    remove_link(&link).unwrap();
    assert!(!link.is_symlink() && file.exists());
    assert!(matches!(
        remove_link(&file),
        Err(DiskError::NotALink { .. })
    ));
    assert!(matches!(
        remove_link(&link),
        Err(DiskError::NotFound { .. })
    ));
}
