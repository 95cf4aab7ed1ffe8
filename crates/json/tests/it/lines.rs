use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use rethread_json::{LineBytes, LineSpan, Lines, split_lines};

use crate::generate::Chunked;

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        select(vec![
            &b"\n"[..],
            b"\r\n",
            b"\n\n",
            b"\0\0\0",
            b"{}",
            b"\xEF\xBB\xBF"
        ])
        .prop_map(<[u8]>::to_vec),
        vec(any::<u8>(), 0..100),
    ];
    vec(part, 0..20).prop_map(|parts| parts.concat())
}

fn terminator(span: LineSpan) -> &'static [u8] {
    if span.terminated { b"\n" } else { b"" }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_bytes_are_kept_as_lines(
        bytes in bytes(),
        sizes in vec(1..40_usize, 1..5),
        cap in prop_oneof![1..80_usize, Just(1_000_000)],
    ) {
        let reader = Chunked { rest: &bytes, sizes: &sizes, turn: 0 };
        let mut lines = Lines::with_cap(reader, cap);
        let mut expected = split_lines(&bytes);
        let mut rebuilt = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            let (span, whole) = expected.next().unwrap();
            prop_assert_eq!(line.span, span);
            prop_assert_eq!(rebuilt.len() as u64, span.offset);
            match line.bytes {
                LineBytes::Whole(found) => prop_assert_eq!(found, whole),
                LineBytes::Giant { head } => {
                    prop_assert!(whole.len() > cap && head.len() == cap);
                    prop_assert!(whole.starts_with(head));
                }
            }
            prop_assert_eq!(line.whole().is_none(), whole.len() > cap);
            rebuilt.extend_from_slice(whole);
            rebuilt.extend_from_slice(terminator(span));
        }
        prop_assert!(expected.next().is_none());
        prop_assert_eq!(lines.offset(), bytes.len() as u64);
        prop_assert_eq!(&rebuilt, &bytes);
    }
}

#[test]
fn a_tail_has_its_own_offsets() {
    let mut lines = Lines::starting_at(&b"x\ny"[..], 1 << 40, 7);
    let first = lines.next_line().unwrap().unwrap().span;
    assert_eq!((first.offset, first.number), (1 << 40, 7));
    let last = lines.next_line().unwrap().unwrap().span;
    assert_eq!(
        (last.offset, last.number, last.terminated),
        ((1 << 40) + 2, 8, false)
    );
    assert!(lines.next_line().unwrap().is_none());
}

/// Gives one piece a call, and an empty one is the end, for the moment.
struct Growing<'a>(std::slice::Iter<'a, &'a [u8]>);

impl std::io::Read for Growing<'_> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let piece = self.0.next().copied().unwrap_or_default();
        buf[..piece.len()].copy_from_slice(piece);
        Ok(piece.len())
    }
}

#[test]
fn the_rest_of_a_line_that_is_being_written_is_no_line() {
    let pieces: &[&[u8]] = &[b"one\ntw", b"", b"o\nthree\n"];
    let mut lines = Lines::new(Growing(pieces.iter()));
    assert!(lines.next_line().unwrap().unwrap().span.terminated);
    let torn = lines.next_line().unwrap().unwrap();
    assert_eq!(
        (torn.whole(), torn.span.terminated),
        (Some(&b"tw"[..]), false)
    );
    assert!(lines.next_line().unwrap().is_none());
    assert_eq!(lines.offset(), 6);
    let pieces: &[&[u8]] = &[b"one\n", b"", b"two\n"];
    let mut lines = Lines::new(Growing(pieces.iter()));
    assert!(lines.next_line().unwrap().is_some());
    assert!(lines.next_line().unwrap().is_none());
    assert!(lines.next_line().unwrap().is_none());
}

#[test]
fn lines_larger_than_the_buffer_are_whole() {
    let mut bytes = vec![b'x'; 3_000_000];
    bytes.push(b'\n');
    bytes.extend(vec![b'y'; 600_000]);
    bytes.extend(b"\nz\n".repeat(400_000));
    let mut lines = Lines::new(&bytes[..]);
    for (span, expected) in split_lines(&bytes) {
        let line = lines.next_line().unwrap().unwrap();
        assert_eq!(line.span, span);
        assert!(line.whole() == Some(expected));
    }
    assert!(lines.next_line().unwrap().is_none());
}
