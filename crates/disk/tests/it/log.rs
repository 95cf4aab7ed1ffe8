//! Logs under a lock.

use std::{
    io::{self, Read as _},
    time::{Duration, Instant},
};

use rethread_disk::{DiskError, Durability, LockedLog, Mode, Tail, file_id};

use crate::{names_in, place};

const NOW: Duration = Duration::ZERO;

fn open(path: &std::path::Path) -> LockedLog {
    LockedLog::open(path, NOW).unwrap()
}

#[test]
fn a_missing_log_is_an_error_unless_it_may_be_made() {
    let (_folder, path) = place();
    assert!(matches!(
        LockedLog::open(&path, NOW),
        Err(DiskError::NotFound { .. })
    ));
    let log = LockedLog::open_or_create(&path, Mode::Private, NOW).unwrap();
    assert_eq!(log.tail().unwrap(), Tail::Empty);
    assert_eq!(log.last_line().unwrap(), None);
    assert!(log.is_empty().unwrap());
    log.sync().unwrap();
}

#[test]
fn only_whole_lines_are_appended() {
    let (_folder, path) = place();
    let mut log = LockedLog::open_or_create(&path, Mode::Private, NOW).unwrap();
    for lines in [&b""[..], b"a", b"a\nb"] {
        assert!(matches!(
            log.append(lines),
            Err(DiskError::NotWholeLines { .. })
        ));
    }
    assert_eq!(log.append(b"a\nb\n").unwrap(), 0);
    assert_eq!(log.append(b"c\n").unwrap(), 4);
    assert_eq!(std::fs::read(&path).unwrap(), b"a\nb\nc\n");
}

#[test]
fn a_locked_log_is_busy_for_writers_and_open_to_readers() {
    let (_folder, path) = place();
    std::fs::write(&path, b"a\n").unwrap();
    let held = open(&path);
    assert!(matches!(
        LockedLog::open(&path, NOW),
        Err(DiskError::Busy { .. })
    ));
    let waiting = std::thread::spawn({
        let path = path.clone();
        move || LockedLog::open(&path, Duration::from_millis(300))
    });
    loop {
        assert_eq!(std::fs::read(&path).unwrap(), b"a\n");
        if waiting.is_finished() {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let e = waiting.join().unwrap().unwrap_err();
    let DiskError::Busy { waited, .. } = &e else {
        panic!("{e}")
    };
    assert!(*waited >= Duration::from_millis(300));
    // On a busy machine it is a little longer.
    let said = format!(
        "is locked by another program (waited {:.1} s)",
        waited.as_secs_f64()
    );
    assert!(e.to_string().contains(&said), "{e}");
    assert!(e.hint().is_some());
    drop(held);
    drop(open(&path));
}

#[test]
fn who_waits_gets_the_lock_when_it_is_free() {
    let (_folder, path) = place();
    std::fs::write(&path, b"a\n").unwrap();
    let held = open(&path);
    let waiting = std::thread::spawn({
        let path = path.clone();
        move || {
            LockedLog::open(&path, Duration::from_secs(20))
                .unwrap()
                .append(b"b\n")
                .unwrap()
        }
    });
    std::thread::sleep(Duration::from_millis(100));
    drop(held);
    assert_eq!(waiting.join().unwrap(), 2);
}

#[test]
fn the_lock_survives_a_rewrite() {
    let (folder, path) = place();
    std::fs::write(&path, b"a\nb\ntor").unwrap();
    let mut log = open(&path);
    let before = log.id().unwrap();
    let waiting = std::thread::spawn({
        let path = path.clone();
        move || {
            let mut log = LockedLog::open(&path, Duration::from_secs(20)).unwrap();
            log.append(b"theirs\n").unwrap()
        }
    });
    std::thread::sleep(Duration::from_millis(50));
    log.rewrite(Durability::Close, |old, new| {
        let mut all = Vec::new();
        old.read_to_end(&mut all)?;
        assert_eq!(all, b"a\nb\ntor");
        new.write_all(b"B\n")
    })
    .unwrap();
    assert_ne!(log.id().unwrap(), before);
    assert_eq!(log.id().unwrap(), file_id(&path).unwrap());
    assert!(matches!(
        LockedLog::open(&path, NOW),
        Err(DiskError::Busy { .. })
    ));
    assert_eq!(log.append(b"ours\n").unwrap(), 2);
    assert!(!waiting.is_finished());
    drop(log);
    assert_eq!(waiting.join().unwrap(), 7);
    assert_eq!(std::fs::read(&path).unwrap(), b"B\nours\ntheirs\n");
    assert_eq!(names_in(folder.path()), ["log.jsonl"]);
    assert_eq!(crate::leftovers_in(folder.path()), 0);
}

#[test]
fn a_failed_rewrite_changes_nothing() {
    let (folder, path) = place();
    std::fs::write(&path, b"a\n").unwrap();
    let mut log = open(&path);
    let e = log
        .rewrite(Durability::Close, |_, new| {
            new.write_all(&vec![b'x'; 200_000])?;
            Err(io::Error::other("out of ideas"))
        })
        .unwrap_err();
    assert!(e.to_string().ends_with("log.jsonl`: out of ideas"), "{e}");
    log.append(b"b\n").unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"a\nb\n");
    assert_eq!(crate::leftovers_in(folder.path()), 0);
}

#[test]
fn a_rewrite_does_not_lose_what_others_append_without_a_lock() {
    let (_folder, path) = place();
    std::fs::write(&path, b"a\n").unwrap();
    let mut log = open(&path);
    let e = log
        .rewrite(Durability::None, |old, new| {
            io::copy(old, new)?;
            std::fs::OpenOptions::new().append(true).open(&path)?;
            std::fs::write(&path, b"a\ntheirs\n")
        })
        .unwrap_err();
    assert!(matches!(e, DiskError::Changed { .. }), "{e}");
    assert_eq!(std::fs::read(&path).unwrap(), b"a\ntheirs\n");
}

#[test]
fn a_log_that_was_replaced_or_removed_is_opened_again() {
    let (folder, path) = place();
    std::fs::write(&path, b"old\n").unwrap();
    let held = open(&path);
    let wait = |make: bool| {
        let path = path.clone();
        std::thread::spawn(move || {
            let patience = Duration::from_secs(20);
            if make {
                LockedLog::open_or_create(&path, Mode::Private, patience)
            } else {
                LockedLog::open(&path, patience)
            }
        })
    };
    let waiting = wait(false);
    std::thread::sleep(Duration::from_millis(50));
    let other = folder.path().join("other");
    std::fs::write(&other, b"new\n").unwrap();
    std::fs::rename(&other, &path).unwrap();
    let mut log = waiting.join().unwrap().unwrap();
    assert_eq!(log.append(b"more\n").unwrap(), 4);
    assert_eq!(std::fs::read(&path).unwrap(), b"new\nmore\n");
    drop(held);

    let waiting = wait(true);
    std::thread::sleep(Duration::from_millis(50));
    std::fs::remove_file(&path).unwrap();
    let made = waiting.join().unwrap().unwrap();
    assert!(made.is_empty().unwrap());
    drop(log);
}

#[test]
fn tails_and_last_lines_across_many_pieces() {
    const PIECE: usize = 64 * 1024;
    let (_folder, path) = place();
    for first in [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE] {
        for second in [0, 1, PIECE - 1, PIECE, 2 * PIECE + 7] {
            let lines = [vec![b'a'; first], b"\n".to_vec(), vec![b'b'; second]].concat();
            std::fs::write(&path, &lines).unwrap();
            let mut log = open(&path);
            let (first, second) = (first as u64, second as u64);
            assert_eq!(log.last_line().unwrap(), Some(0..first));
            match log.tail().unwrap() {
                Tail::Open { start, len, age } => {
                    assert_eq!((start, len), (first + 1, second));
                    assert!(age < Duration::from_mins(1));
                }
                tail => assert_eq!((tail, second), (Tail::Ended, 0)),
            }
            assert_eq!(log.end_line().unwrap(), second > 0);
            assert!(!log.end_line().unwrap());
            let last = if second > 0 {
                first + 1..first + 1 + second
            } else {
                0..first
            };
            assert_eq!(log.last_line().unwrap(), Some(last));
        }
    }
}

#[test]
fn a_single_open_line_has_no_complete_one() {
    let (_folder, path) = place();
    std::fs::write(&path, b"tor").unwrap();
    let log = open(&path);
    assert_eq!(log.last_line().unwrap(), None);
    assert!(matches!(
        log.tail().unwrap(),
        Tail::Open {
            start: 0,
            len: 3,
            ..
        }
    ));
}

#[test]
fn readers_do_not_disturb_appends_or_each_other() {
    let (_folder, path) = place();
    std::fs::write(&path, b"abc\ndef\n").unwrap();
    let mut log = open(&path);
    let mut buf = [0; 3];
    assert_eq!(log.read_at(4, &mut buf).unwrap(), 3);
    assert_eq!(&buf, b"def");
    assert_eq!(log.append(b"ghi\n").unwrap(), 8);
    assert_eq!(log.read_at(11, &mut buf).unwrap(), 1);
    assert_eq!(log.read_at(99, &mut buf).unwrap(), 0);
    let (mut one, mut two) = (String::new(), String::new());
    log.reader(8).read_to_string(&mut one).unwrap();
    log.reader(0).take(3).read_to_string(&mut two).unwrap();
    assert_eq!((one.as_str(), two.as_str()), ("ghi\n", "abc"));
}

#[test]
fn a_log_is_not_cut_behind_its_end() {
    let (_folder, path) = place();
    std::fs::write(&path, b"a\nb\n").unwrap();
    let mut log = open(&path);
    assert!(matches!(
        log.cut(5),
        Err(DiskError::BeyondEnd { at: 5, len: 4, .. })
    ));
    log.cut(4).unwrap();
    log.cut(2).unwrap();
    assert_eq!(log.append(b"c\n").unwrap(), 2);
    assert_eq!(std::fs::read(&path).unwrap(), b"a\nc\n");
}

/// Whether a line is whole: here, where it ends in a brace.
fn is_whole(mut line: rethread_disk::LogReader<'_>) -> bool {
    let mut bytes = Vec::new();
    line.read_to_end(&mut bytes).unwrap();
    bytes.ends_with(b"}")
}

#[test]
fn a_line_that_grows_is_waited_for_and_one_that_is_whole_is_not() {
    let (_folder, path) = place();
    std::fs::write(&path, b"{}\n{\"a\"").unwrap();
    let agent = std::thread::spawn({
        let path = path.clone();
        move || {
            for piece in [&b":1"[..], b",\"b\":2", b"}\n"] {
                std::thread::sleep(Duration::from_millis(300));
                append(&path, piece);
            }
        }
    });
    let log = open(&path);
    assert_eq!(log.torn_line(is_whole).unwrap(), None);
    assert_eq!(std::fs::read(&path).unwrap(), b"{}\n{\"a\":1,\"b\":2}\n");
    agent.join().unwrap();
    append(&path, b"{}");
    // One that was waited for takes two seconds each time; a busy machine does not.
    let is_at_once = |_| {
        let begun = Instant::now();
        assert_eq!(log.torn_line(is_whole).unwrap(), None);
        begun.elapsed() < Duration::from_secs(2)
    };
    assert!((0..10).any(is_at_once));
}

#[test]
fn a_line_that_stands_still_is_torn_whatever_the_clock_says() {
    let (_folder, path) = place();
    std::fs::write(&path, b"{}\n{\"a\"").unwrap();
    let log = open(&path);
    let file = std::fs::File::options().append(true).open(&path).unwrap();
    let now = std::time::SystemTime::now();
    for time in [now + Duration::from_hours(1), now - Duration::from_hours(1)] {
        let times = std::fs::FileTimes::new().set_modified(time);
        file.set_times(times).unwrap();
        assert_eq!(log.torn_line(is_whole).unwrap(), Some(3..7));
    }
    assert_eq!(std::fs::read(&path).unwrap(), b"{}\n{\"a\"");
}

fn append(path: &std::path::Path, bytes: &[u8]) {
    let mut file = std::fs::File::options().append(true).open(path).unwrap();
    io::Write::write_all(&mut file, bytes).unwrap();
}
