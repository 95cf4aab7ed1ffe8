//! Values that were passed over, and can be looked into.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr;

use crate::number;
use crate::skim::{Key, Skim};
use crate::text::{Text, decode_string};

/// A value that a [`Skim`] passed over. What is in it is looked for when somebody asks. By default
/// there is nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Passed<'a> {
    src: &'a [u8],
    start: usize,
    end: usize,
}

impl<'a> Passed<'a> {
    pub(crate) fn new(src: &'a [u8], start: usize, end: usize) -> Self {
        Self { src, start, end }
    }

    /// The bytes of the value exactly as they were written.
    pub fn raw(self) -> &'a [u8] {
        self.src.get(self.span()).unwrap_or_default()
    }

    /// Where the value is in the text that was gone through.
    pub fn span(self) -> Range<usize> {
        self.start..self.end
    }

    fn first_byte(self) -> Option<u8> {
        self.src.get(self.start).copied()
    }

    /// Whether this is an object.
    pub fn is_object(self) -> bool {
        self.first_byte() == Some(b'{')
    }

    /// Whether this is an array.
    pub fn is_array(self) -> bool {
        self.first_byte() == Some(b'[')
    }

    /// Whether this is `null`.
    pub fn is_null(self) -> bool {
        self.first_byte() == Some(b'n')
    }

    /// The truth value.
    pub fn bool(self) -> Option<bool> {
        match self.first_byte() {
            Some(b't') => Some(true),
            Some(b'f') => Some(false),
            _ => None,
        }
    }

    fn number_bytes(self) -> Option<&'a [u8]> {
        let is_number = matches!(self.first_byte(), Some(b'-' | b'0'..=b'9'));
        is_number.then(|| self.raw())
    }

    /// The number if it is an integer of that range, however it is spelt.
    pub fn i64(self) -> Option<i64> {
        number::parse_i64(self.number_bytes()?)
    }

    /// The number if it is an integer of that range, however it is spelt.
    pub fn u64(self) -> Option<u64> {
        number::parse_u64(self.number_bytes()?)
    }

    /// The nearest floating point number; none for what is out of range.
    pub fn f64(self) -> Option<f64> {
        number::parse_f64(self.number_bytes()?)
    }

    /// What stands between the quotes of a string, still escaped.
    pub fn content(self) -> Option<&'a [u8]> {
        let is_string = self.first_byte() == Some(b'"');
        let inside = self.start + 1..self.end.saturating_sub(1);
        self.src.get(is_string.then_some(inside)?)
    }

    /// The decoded string, and whether decoding had to give something up.
    pub fn text(self) -> Option<Text<'a>> {
        let content = self.content()?;
        Some(decode_string(content, memchr(b'\\', content).is_some()))
    }

    /// The decoded string, with U+FFFD for what is not text.
    pub fn str(self) -> Option<Cow<'a, str>> {
        self.text().map(|text| text.text)
    }

    /// Whether this is a string that decodes to exactly `s`.
    pub fn is_str(self, s: &str) -> bool {
        let is_plain = self.content() == Some(s.as_bytes());
        let is_spelt = || self.text().is_some_and(|t| !t.lossy && t.text == s);
        is_plain && memchr(b'\\', s.as_bytes()).is_none() || is_spelt()
    }

    /// The members of these names. Of several with the same name the last one counts.
    ///
    /// ```
    /// use rethread_json::Skim;
    /// let value = Skim::checking(br#"{"a": 1, "b": [2], "a": 3}"#).pass()?;
    /// let [a, b, c] = value.pick(["a", "b", "c"]);
    /// assert_eq!((a.unwrap().raw(), b.unwrap().raw()), (&b"3"[..], &b"[2]"[..]));
    /// assert!(c.is_none());
    /// # Ok::<(), rethread_json::Strayed>(())
    /// ```
    pub fn pick<const N: usize>(self, names: [&str; N]) -> [Option<Passed<'a>>; N] {
        let mut found = [None; N];
        if !self.is_object() {
            return found;
        }
        for (key, value) in self.members() {
            let key = key.bytes();
            if let Some(at) = names.iter().position(|name| name.as_bytes() == &*key) {
                found[at] = Some(value);
            }
        }
        found
    }

    /// The member of that name. Of several with the same name the last one counts.
    pub fn get(self, name: &str) -> Option<Passed<'a>> {
        let [found] = self.pick([name]);
        found
    }

    /// [`Passed::get`] from object to object.
    pub fn at(self, path: &[&str]) -> Option<Passed<'a>> {
        path.iter().try_fold(self, |value, name| value.get(name))
    }

    /// Keys and values of an object in order, with all duplicates; nothing of other values.
    pub fn members(self) -> impl Iterator<Item = (Key<'a>, Passed<'a>)> {
        let mut skim = self.start_skim();
        let mut is_open = skim.enter_object();
        std::iter::from_fn(move || {
            let next = |skim: &mut Skim<'a>| Some((skim.next_key().ok()??, skim.pass().ok()?));
            let member = is_open.then(|| next(&mut skim)).flatten();
            is_open = member.is_some();
            member
        })
    }

    /// The items of an array; nothing of other values.
    pub fn items(self) -> impl Iterator<Item = Passed<'a>> {
        let mut skim = self.start_skim();
        let mut is_open = skim.enter_array();
        std::iter::from_fn(move || {
            is_open = is_open && skim.next_item() == Ok(true);
            is_open.then(|| skim.pass().ok()).flatten()
        })
    }

    /// Goes through the value, which was gone through before.
    fn start_skim(self) -> Skim<'a> {
        let src = self.src.get(..self.end).unwrap_or_default();
        Skim::new(src, self.start, false)
    }
}
