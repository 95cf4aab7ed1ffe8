//! Going through a text once, from left to right, without a tree: what nobody asks for is passed
//! over.

use std::borrow::Cow;

use memchr::memchr;

use crate::alike::ObjectShape;
use crate::block::{BLOCK, Block, LANE, Lane};
use crate::container::container_end;
use crate::passed::Passed;
use crate::scan;
use crate::text::decode_string;

/// What was met is not JSON. A [`Tree`](crate::Tree) of the same text says where and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strayed;

/// Goes through a text, value by value.
///
/// One that checks accepts exactly what a [`Tree`](crate::Tree) accepts. One that trusts looks at
/// values that are passed over only as far as it takes to find their ends, which is several times
/// as fast: it is for texts that were checked before, and for those where being wrong about
/// something that is no JSON does no harm.
///
/// ```
/// use rethread_json::Skim;
/// let mut skim = Skim::checking(br#"{"a": [1, {"id": 2}], "id": "x\n"}"#);
/// let mut id = None;
/// assert!(skim.enter_object());
/// while let Some(key) = skim.next_key()? {
///     match &*key.bytes() {
///         b"id" => id = skim.pass()?.str(),
///         _ => drop(skim.pass()?),
///     }
/// }
/// assert_eq!(id.as_deref(), Some("x\n"));
/// assert!(skim.is_done());
/// # Ok::<(), rethread_json::Strayed>(())
/// ```
#[derive(Clone, Debug)]
pub struct Skim<'a> {
    src: &'a [u8],
    at: usize,
    checks: bool,
    /// Whether a container was just entered.
    is_fresh: bool,
    /// The brackets that are open in a value that is checked.
    open: Vec<u8>,
}

impl<'a> Skim<'a> {
    /// Goes through a text and checks it. A byte order mark may precede it.
    pub fn checking(src: &'a [u8]) -> Self {
        Self::new(src, scan::bom_len(src), true)
    }

    /// Goes through a text that is known to be JSON.
    pub fn trusting(src: &'a [u8]) -> Self {
        Self::new(src, scan::bom_len(src), false)
    }

    pub(crate) fn new(src: &'a [u8], at: usize, checks: bool) -> Self {
        Self {
            src,
            at,
            checks,
            is_fresh: false,
            open: Vec::new(),
        }
    }

    /// The first byte of the next value, or whatever comes next.
    pub fn peek(&mut self) -> Option<u8> {
        self.at = scan::skip_space(self.src, self.at);
        self.src.get(self.at).copied()
    }

    /// Where the next value, or whatever comes next, begins.
    pub fn offset(&mut self) -> usize {
        self.at = scan::skip_space(self.src, self.at);
        self.at
    }

    /// How many bytes were gone through.
    pub fn position(&self) -> usize {
        self.at
    }

    /// What was gone through since this place: a value that was entered there and left again.
    pub fn since(&self, start: usize) -> Passed<'a> {
        Passed::new(self.src, start, self.at)
    }

    /// Whether nothing is left.
    pub fn is_done(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Goes into the next value if it is an object. All of its members must then be gone through.
    pub fn enter_object(&mut self) -> bool {
        self.enter_container(b'{')
    }

    /// Goes into the next value if it is an array. All of its items must then be gone through.
    pub fn enter_array(&mut self) -> bool {
        self.enter_container(b'[')
    }

    #[inline]
    fn enter_container(&mut self, bracket: u8) -> bool {
        self.is_fresh = self.peek() == Some(bracket);
        self.at += usize::from(self.is_fresh);
        self.is_fresh
    }

    /// The key of the next member of the object that was entered, whose value must be gone through
    /// next; none at the end of the object.
    #[inline]
    pub fn next_key(&mut self) -> Result<Option<Key<'a>>, Strayed> {
        if !self.goes_on(b'}')? {
            return Ok(None);
        }
        let src = self.src;
        let quote = scan::skip_space(src, self.at);
        if src.get(quote) != Some(&b'"') {
            return Err(Strayed);
        }
        let start = quote + 1;
        // Most say what they say.
        let mut end = scan::plain_end(src, start);
        let is_plain = src.get(end) == Some(&b'"');
        if !is_plain {
            self.at = quote;
            end = self.string_end()? - 1;
        }
        let colon = scan::skip_space(src, end + 1);
        if src.get(colon) != Some(&b':') {
            return Err(Strayed);
        }
        self.at = colon + 1;
        let raw = src.get(start..end).unwrap_or_default();
        Ok(Some(Key { raw, is_plain }))
    }

    /// [`Skim::enter_object`] for one of several that look alike.
    #[inline]
    pub fn enter_alike<T: Copy>(&mut self, alike: &mut ObjectShape<T>) -> bool {
        alike.begin_object();
        self.enter_object()
    }

    /// [`Skim::next_key`] in one of several objects that look alike: what the key of the next member
    /// means. No other must be gone through in the midst of one.
    #[inline]
    pub fn next_alike<T: Copy>(
        &mut self,
        alike: &mut ObjectShape<T>,
    ) -> Result<Option<T>, Strayed> {
        alike.next_member(self)
    }

    /// The next bytes; none near the end of the text.
    #[inline]
    pub(crate) fn next_block(&self) -> Option<Block> {
        Block::load_at(self.src, self.at)
    }

    /// Goes past so many bytes, with which a value is left for the next one or for the end.
    #[inline]
    pub(crate) fn skip_bytes(&mut self, len: usize) {
        self.at += len;
        self.is_fresh = false;
    }

    /// Whether the array that was entered has another item, which must be gone through next.
    #[inline]
    pub fn next_item(&mut self) -> Result<bool, Strayed> {
        self.goes_on(b']')
    }

    #[inline]
    fn goes_on(&mut self, closing: u8) -> Result<bool, Strayed> {
        let is_fresh = std::mem::take(&mut self.is_fresh);
        let at = scan::skip_space(self.src, self.at);
        let (at, goes_on) = match self.src.get(at) {
            Some(b',') if !is_fresh => (at + 1, true),
            Some(byte) if *byte == closing => (at + 1, false),
            Some(_) if is_fresh => (at, true),
            _ => return Err(Strayed),
        };
        self.at = at;
        Ok(goes_on)
    }

    /// Passes over the next value.
    #[inline]
    pub fn pass(&mut self) -> Result<Passed<'a>, Strayed> {
        let start = scan::skip_space(self.src, self.at);
        self.at = start;
        self.at = match self.src.get(start) {
            Some(b'"') => self.string_end()?,
            Some(b'{' | b'[') if self.checks => self.checked_container_end()?,
            Some(b'{' | b'[') => container_end(self.src, start).ok_or(Strayed)?,
            Some(_) if self.checks => scalar_end(self.src, start)?,
            Some(_) => word_end(self.src, start)?,
            None => return Err(Strayed),
        };
        Ok(Passed::new(self.src, start, self.at))
    }

    /// The end of the string that begins here.
    #[inline]
    fn string_end(&self) -> Result<usize, Strayed> {
        if self.checks {
            let found = scan::string_end(self.src, self.at);
            found.map(|found| found.end).map_err(|_| Strayed)
        } else {
            closing_quote(self.src, self.at + 1).ok_or(Strayed)
        }
    }

    /// The end of the container that begins here, if all in it is right.
    fn checked_container_end(&mut self) -> Result<usize, Strayed> {
        let src = self.src;
        let mut pos = self.at;
        self.open.clear();
        loop {
            pos = match src.get(pos) {
                Some(b'"') => scan::string_end(src, pos).map_err(|_| Strayed)?.end,
                Some(&bracket @ (b'{' | b'[')) => {
                    let inner = scan::skip_space(src, pos + 1);
                    // `]` and `}` are two after `[` and `{`.
                    if src.get(inner) != Some(&(bracket + 2)) {
                        self.open.push(bracket);
                        pos = match bracket {
                            b'{' => checked_key(src, inner)?,
                            _ => inner,
                        };
                        continue;
                    }
                    inner + 1
                }
                _ => scalar_end(src, pos)?,
            };
            loop {
                let Some(bracket) = self.open.last() else {
                    return Ok(pos);
                };
                pos = scan::skip_space(src, pos);
                match src.get(pos) {
                    Some(b',') => {
                        pos = scan::skip_space(src, pos + 1);
                        if *bracket == b'{' {
                            pos = checked_key(src, pos)?;
                        }
                        break;
                    }
                    Some(byte) if *byte == bracket + 2 => {
                        self.open.pop();
                        pos += 1;
                    }
                    _ => return Err(Strayed),
                }
            }
        }
    }
}

/// Where the value of the key begins that is here.
#[inline]
fn checked_key(src: &[u8], pos: usize) -> Result<usize, Strayed> {
    if src.get(pos) != Some(&b'"') {
        return Err(Strayed);
    }
    let end = scan::string_end(src, pos).map_err(|_| Strayed)?.end;
    let colon = scan::skip_space(src, end);
    if src.get(colon) != Some(&b':') {
        return Err(Strayed);
    }
    Ok(scan::skip_space(src, colon + 1))
}

/// The end of the number, or of the word, that must be here.
#[inline]
fn scalar_end(src: &[u8], pos: usize) -> Result<usize, Strayed> {
    let found = match src.get(pos) {
        Some(b'-' | b'0'..=b'9') => scan::number_end(src, pos),
        Some(b't') => scan::literal_end(src, pos, b"true"),
        Some(b'f') => scan::literal_end(src, pos, b"false"),
        Some(b'n') => scan::literal_end(src, pos, b"null"),
        _ => return Err(Strayed),
    };
    found.map_err(|_| Strayed)
}

/// The end of what is here up to something that cannot belong to it.
fn word_end(src: &[u8], pos: usize) -> Result<usize, Strayed> {
    let is_part = |b: &&u8| b.is_ascii_alphanumeric() || matches!(**b, b'-' | b'+' | b'.');
    let len = src[pos..].iter().take_while(is_part).count();
    if len == 0 {
        Err(Strayed)
    } else {
        Ok(pos + len)
    }
}

/// The end of the string whose first byte behind the quote is at `start`. A quote ends it unless
/// the number of backslashes before it is odd.
#[inline]
pub(crate) fn closing_quote(src: &[u8], start: usize) -> Option<usize> {
    let quote = start + next_quote(src.get(start..)?)?;
    // One that nothing precedes in the string has the other quote before it.
    if src.get(quote.wrapping_sub(1)) != Some(&b'\\') {
        return Some(quote + 1);
    }
    escaped_quote(src, start, quote)
}

/// The same where a backslash precedes the first quote.
fn escaped_quote(src: &[u8], start: usize, mut quote: usize) -> Option<usize> {
    loop {
        let before = src.get(start..quote)?.iter().rev();
        if before.take_while(|b| **b == b'\\').count() % 2 == 0 {
            return Some(quote + 1);
        }
        quote += 1 + next_quote(src.get(quote + 1..)?)?;
    }
}

/// Most strings are short, and then asking for more than a few bytes at once takes longer.
#[inline]
fn next_quote(src: &[u8]) -> Option<usize> {
    let mut at = 0;
    while at < BLOCK {
        let Some(lane) = Lane::load_at(src, at) else {
            break;
        };
        let before = Lane::count_before(lane.equal_mask(b'"'));
        at += before;
        if before < LANE {
            return Some(at);
        }
    }
    Some(at + memchr(b'"', src.get(at..)?)?)
}

/// The key of a member.
#[derive(Clone, Copy, Debug)]
pub struct Key<'a> {
    raw: &'a [u8],
    /// Whether nothing in it is escaped.
    is_plain: bool,
}

impl<'a> Key<'a> {
    /// Its text as bytes, to compare it with names.
    #[inline]
    pub fn bytes(self) -> Cow<'a, [u8]> {
        if self.is_plain {
            return Cow::Borrowed(self.raw);
        }
        match self.text() {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        }
    }

    /// Its text, with U+FFFD for what is not text.
    pub fn text(self) -> Cow<'a, str> {
        decode_string(self.raw, !self.is_plain).text
    }
}
