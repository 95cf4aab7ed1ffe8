//! Ids: the first half of the hash of what a message says.

use std::{fmt, str::FromStr};

use rethread_json::write_str;
use sha2::{Digest as _, Sha256};

use crate::thread::to_nfc;

/// The id of a message: 16 hex digits, which follow from its content.
///
/// ```
/// use rethread_samp::Id;
///
/// let id = Id::of(1_700_000_000, "alice", "bob", "t-1", "hello");
/// assert_eq!(id.to_string(), "265340b752c60544");
/// assert_eq!("265340b752c60544".parse(), Ok(id));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(u64);

impl Id {
    /// The id of a message that says this. The body counts in normal form C.
    pub fn of(ts: i64, from: &str, to: &str, thread: &str, body: &str) -> Self {
        let mut canonical = Vec::with_capacity(body.len() + thread.len() + 160);
        for (head, text) in [
            (&b"{\"body\":"[..], &*to_nfc(body)),
            (b",\"from\":", from),
            (b",\"thread\":", thread),
            (b",\"to\":", to),
        ] {
            canonical.extend_from_slice(head);
            write_str(&mut canonical, text);
        }
        canonical.extend_from_slice(format!(",\"ts\":{ts}}}").as_bytes());
        Self::of_canonical(&canonical)
    }

    /// The id of a message in its canonical form.
    pub(crate) fn of_canonical(canonical: &[u8]) -> Self {
        let digest = Sha256::digest(canonical);
        let half = digest.first_chunk().copied().unwrap_or_default();
        Self(u64::from_be_bytes(half))
    }

    pub(crate) fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    pub(crate) fn bits(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// A text that is not 16 lower-case hex digits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an id is 16 lower-case hex digits")]
pub struct NotAnId;

impl FromStr for Id {
    type Err = NotAnId;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        let digit = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
        if s.len() != 16 || !s.bytes().all(digit) {
            return Err(NotAnId);
        }
        u64::from_str_radix(s, 16).map(Self).map_err(|_| NotAnId)
    }
}
