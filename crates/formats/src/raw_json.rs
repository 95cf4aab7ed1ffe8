//! JSON text that is a part of an entry, and shares the entry's bytes.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// A JSON value exactly as it was written. It shares the memory of the entry that it comes from,
/// so that a context costs little beside its session. It is used as the bytes that it is.
///
/// ```
/// use rethread_formats::{RawJson, pi::Message};
/// let json = RawJson::from(br#"{"role":"user","content":"hello"}"#.to_vec());
/// assert_eq!(Message::parse(&json)?.role(), "user");
/// assert_eq!(json, r#"{"role":"user","content":"hello"}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct RawJson {
    whole: Arc<[u8]>,
    start: u32,
    end: u32,
}

impl RawJson {
    /// A part of some bytes; all of them if there is no such part.
    pub(crate) fn part(whole: &Arc<[u8]>, part: Range<u32>) -> Self {
        let whole = Arc::clone(whole);
        let (start, end) = (part.start, part.end);
        Self { whole, start, end }
    }
}

impl From<Vec<u8>> for RawJson {
    fn from(bytes: Vec<u8>) -> Self {
        let end = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        Self::part(&bytes.into(), 0..end)
    }
}

impl Deref for RawJson {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        let part = self.start as usize..self.end as usize;
        self.whole.get(part).unwrap_or(&self.whole)
    }
}

impl AsRef<[u8]> for RawJson {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl<T: AsRef<[u8]> + ?Sized> PartialEq<T> for RawJson {
    fn eq(&self, other: &T) -> bool {
        **self == *other.as_ref()
    }
}

impl Eq for RawJson {}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(self))
    }
}
