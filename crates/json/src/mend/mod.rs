//! A document with damage in it, so that the rest can be read: each value that is no JSON becomes
//! `null`, and everything else stays where it is.

mod search;
mod value;
mod windows;

use std::io;
use std::ops::Range;

use crate::error::SyntaxErrorKind;
use search::DamageSearch;
use windows::{HeldBytes, ReadBlocks};

/// A document whose damaged values were replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mended {
    /// As long as the original, and equal to it but for what was damaged: there stands `null`, and
    /// spaces up to the end of the value.
    pub bytes: Vec<u8>,
    /// The values that were damaged, in order.
    pub damaged: Vec<Damaged>,
}

/// A damaged value of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged {
    /// Where it stands.
    pub range: Range<u64>,
    /// The byte at which it stops being JSON.
    pub offset: u64,
    /// What is wrong there.
    pub kind: SyntaxErrorKind,
}

/// Replaces the damaged values of a document: members of the object that it is, and items of the
/// lists under these keys, or of the list that it is. None where nothing can be replaced so that
/// more can be read, as in a document that is merely cut off.
///
/// Where a damaged value ends is known by its brackets, else by the next value that is written in
/// the same column, else by the next object that begins like others in the list, or of a member by the
/// next list under one of these keys. The work is limited: of a document made to waste time, the rest stays as it is.
///
/// ```
/// let document = b"{\"id\": 1, \"list\": [{\"a\": \"\x01\"}, {\"a\": 2}]}";
/// let mended = rethread_json::mend(document, &["list"]).unwrap();
/// assert_eq!(mended.bytes, b"{\"id\": 1, \"list\": [null      , {\"a\": 2}]}");
/// ```
pub fn mend(document: &[u8], lists: &[&str]) -> Option<Mended> {
    let damaged = DamageSearch::new(HeldBytes(document), lists).run().damaged;
    if damaged.is_empty() {
        return None;
    }
    let mut bytes = document.to_vec();
    mask_damaged(&damaged, 0, &mut bytes);
    Some(Mended { bytes, damaged })
}

/// How much of a document is read at a time.
const BLOCK: usize = 256 * 1024;

/// Finds the damaged values that [`mend`] would replace, in a document of whatever size of which a few
/// blocks are held. Somebody reads bytes of it, that begin at a place.
///
/// ```
/// let document = b"{\"id\": 1, \"list\": [{\"a\": \"\x01\"}, {\"a\": 2}]}";
/// let read_at = |at: u64, mut out: &mut [u8]| {
///     let rest = &document[document.len().min(at as usize)..];
///     std::io::Write::write(&mut out, rest)
/// };
/// let damaged = rethread_json::find_damaged(read_at, document.len() as u64, &["list"])?;
/// assert_eq!(damaged[0].range, 19..29);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn find_damaged(
    read_at: impl FnMut(u64, &mut [u8]) -> io::Result<usize>,
    len: u64,
    lists: &[&str],
) -> io::Result<Vec<Damaged>> {
    find_in_blocks(read_at, len, lists, BLOCK)
}

fn find_in_blocks(
    read_at: impl FnMut(u64, &mut [u8]) -> io::Result<usize>,
    len: u64,
    lists: &[&str],
    block: usize,
) -> io::Result<Vec<Damaged>> {
    let found = DamageSearch::new(ReadBlocks::new(read_at, len, block), lists).run();
    match found.src.into_failure() {
        Some(failure) => Err(failure),
        None => Ok(found.damaged),
    }
}

/// Puts `null` in the place of damaged values, in bytes of a document that begin at a place; these may
/// begin and end anywhere.
pub fn mask_damaged(damaged: &[Damaged], start: u64, bytes: &mut [u8]) {
    let end = start + bytes.len() as u64;
    let first = damaged.partition_point(|value| value.range.end <= start);
    for Damaged { range, .. } in damaged.iter().skip(first) {
        if range.start >= end {
            break;
        }
        let instead: &[u8] = match range.end - range.start {
            0..4 => b"0",
            _ => b"null",
        };
        let within = range.start.max(start)..range.end.min(end);
        let skipped = usize::try_from(within.start - start).unwrap_or(usize::MAX);
        for (at, byte) in within.zip(bytes.iter_mut().skip(skipped)) {
            let letter = usize::try_from(at - range.start).map(|n| instead.get(n));
            *byte = letter.ok().flatten().copied().unwrap_or(b' ');
        }
    }
}

#[cfg(test)]
mod tests;
