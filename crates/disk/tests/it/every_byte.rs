//! A log cut at every byte of its last record.

use std::time::Duration;

use rethread_disk::{Durability, LockedLog, Mode, Tail, append_line};

use crate::place;

const WHOLE: &[u8] = b"{\"n\":1}\n{\"n\":2,\"text\":\"two\"}\n";
const LAST: &[u8] = "{\"n\":3,\"text\":\"drei \u{e4}\u{20ac}\"}\n".as_bytes();
const NEXT: &[u8] = b"{\"n\":4}";

/// What must be there after appending to a log of which `kept` bytes of the last record remain.
fn expected(kept: usize) -> (Vec<u8>, u64) {
    let mut log = [WHOLE, &LAST[..kept]].concat();
    if !log.ends_with(b"\n") {
        log.push(b'\n');
    }
    let offset = log.len() as u64;
    log.extend(NEXT);
    log.push(b'\n');
    (log, offset)
}

#[test]
fn an_unlocked_append_stands_on_its_own_line() {
    for kept in 0..=LAST.len() {
        let (_folder, path) = place();
        std::fs::write(&path, [WHOLE, &LAST[..kept]].concat()).unwrap();
        let (log, offset) = expected(kept);
        let at = append_line(&path, NEXT, Mode::Private, Durability::None).unwrap();
        assert_eq!((std::fs::read(&path).unwrap(), at), (log, offset), "{kept}");
    }
}

#[test]
fn a_locked_append_stands_on_its_own_line() {
    for kept in 0..=LAST.len() {
        let (_folder, path) = place();
        std::fs::write(&path, [WHOLE, &LAST[..kept]].concat()).unwrap();
        let (expected, offset) = expected(kept);
        let mut log = LockedLog::open(&path, Duration::ZERO).unwrap();
        match log.tail().unwrap() {
            Tail::Open { start, len, .. } => {
                assert_eq!((start, len), (WHOLE.len() as u64, kept as u64));
                assert_eq!(log.last_line().unwrap(), Some(8..WHOLE.len() as u64 - 1));
            }
            Tail::Ended => assert!(kept == 0 || kept == LAST.len(), "{kept}"),
            Tail::Empty => panic!("{kept}"),
        }
        let at = log.append(&[NEXT, b"\n"].concat()).unwrap();
        assert_eq!(
            (std::fs::read(&path).unwrap(), at),
            (expected, offset),
            "{kept}"
        );
    }
}

#[test]
fn a_fragment_can_be_moved_out() {
    for kept in 1..LAST.len() {
        let (_folder, path) = place();
        std::fs::write(&path, [WHOLE, &LAST[..kept]].concat()).unwrap();
        let mut log = LockedLog::open(&path, Duration::ZERO).unwrap();
        let Tail::Open { start, len, .. } = log.tail().unwrap() else {
            panic!("{kept}")
        };
        let mut fragment = vec![0; usize::try_from(len).unwrap()];
        assert_eq!(log.read_at(start, &mut fragment).unwrap(), kept);
        assert_eq!(fragment, LAST[..kept]);
        log.cut(start).unwrap();
        assert_eq!(log.tail().unwrap(), Tail::Ended);
        assert_eq!(std::fs::read(&path).unwrap(), WHOLE);
    }
}

#[test]
fn a_tail_of_nuls_or_noise_stays_on_its_own_line() {
    for noise in [
        &[0; 100][..],
        b"\0\0\0\n\0\0",
        b"\xff\xfe",
        b"\r",
        &vec![b'x'; 200_000],
    ] {
        let (_folder, path) = place();
        std::fs::write(&path, [WHOLE, noise].concat()).unwrap();
        let at = append_line(&path, NEXT, Mode::Private, Durability::None).unwrap();
        let log = std::fs::read(&path).unwrap();
        assert!(log.starts_with(&[WHOLE, noise, b"\n"].concat()));
        assert_eq!(log[usize::try_from(at).unwrap()..], *b"{\"n\":4}\n");
    }
}
