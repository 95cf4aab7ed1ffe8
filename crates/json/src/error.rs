//! What can be wrong with a text that should be JSON, and where.

use std::fmt;

/// Why a text is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SyntaxErrorKind {
    /// The text ends inside a value, or before one.
    UnexpectedEnd,
    /// Something else stands where a value must begin.
    ExpectedValue,
    /// Something else stands where a key must begin.
    ExpectedKey,
    /// A key is not followed by a colon.
    ExpectedColon,
    /// A member is followed by neither a comma nor the end of the object.
    ExpectedCommaOrBrace,
    /// An item is followed by neither a comma nor the end of the array.
    ExpectedCommaOrBracket,
    /// A backslash in a string is followed by something that is no escape.
    InvalidEscape,
    /// A control character stands in a string without being escaped.
    ControlCharacter,
    /// A number is misspelt, such as `01` or `1.`.
    InvalidNumber,
    /// A word begins like `true`, `false` or `null` but is none of them.
    InvalidWord,
    /// Something follows the value.
    TrailingData,
    /// The text is larger than offsets of 32 bits can address.
    TooLarge,
    /// A number is longer than the pull reader is willing to hold.
    NumberTooLong,
}

impl fmt::Display for SyntaxErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnexpectedEnd => "unexpected end",
            Self::ExpectedValue => "expected a value",
            Self::ExpectedKey => "expected a key in quotes",
            Self::ExpectedColon => "expected `:`",
            Self::ExpectedCommaOrBrace => "expected `,` or `}`",
            Self::ExpectedCommaOrBracket => "expected `,` or `]`",
            Self::InvalidEscape => "invalid escape in a string",
            Self::ControlCharacter => "unescaped control character in a string",
            Self::InvalidNumber => "invalid number",
            Self::InvalidWord => "expected `true`, `false` or `null`",
            Self::TrailingData => "expected nothing after the value",
            Self::TooLarge => "value of 4 GiB or more",
            Self::NumberTooLong => "number of too many digits",
        })
    }
}

/// A text is not JSON: why, and where that shows.
///
/// ```
/// let error = rethread_json::Tree::parse(b"{\"a\": 1\n \"b\": 2}").unwrap_err();
/// assert_eq!(error.to_string(), "expected `,` or `}` at line 2, column 2");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Byte at which the text stops being JSON, from 0.
    pub offset: usize,
    /// Line of that byte, from 1.
    pub line: usize,
    /// Character of that line, from 1.
    pub column: usize,
    /// What is wrong there.
    pub kind: SyntaxErrorKind,
}

impl SyntaxError {
    /// Whether the text is the beginning of something that may have been JSON,
    /// as after a crash in the middle of a write.
    ///
    /// ```
    /// use rethread_json::Tree;
    /// assert!(Tree::parse(br#"{"a": [1, "x"#).unwrap_err().is_torn());
    /// assert!(!Tree::parse(br#"{"a": [1, x"#).unwrap_err().is_torn());
    /// ```
    pub fn is_torn(&self) -> bool {
        self.kind == SyntaxErrorKind::UnexpectedEnd
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            line, column, kind, ..
        } = self;
        write!(f, "{kind} at line {line}, column {column}")
    }
}

impl std::error::Error for SyntaxError {}

/// An error whose line nobody has counted yet: counting costs a pass over the
/// text, and salvaging meets many errors that it never shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault {
    pub(crate) offset: usize,
    pub(crate) kind: SyntaxErrorKind,
}

impl Fault {
    pub(crate) fn new(offset: usize, kind: SyntaxErrorKind) -> Self {
        Self { offset, kind }
    }

    /// The byte at `offset` is wrong, unless the text ends there.
    #[cold]
    pub(crate) fn unexpected_byte(src: &[u8], offset: usize, kind: SyntaxErrorKind) -> Self {
        if offset < src.len() {
            Self::new(offset, kind)
        } else {
            Self::new(src.len(), SyntaxErrorKind::UnexpectedEnd)
        }
    }

    #[cold]
    pub(crate) fn with_position(self, src: &[u8]) -> SyntaxError {
        let before = &src[..self.offset.min(src.len())];
        let line_start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        let is_char_start = |byte: &&u8| **byte & 0xC0 != 0x80;
        SyntaxError {
            offset: self.offset,
            line: memchr::memchr_iter(b'\n', before).count() + 1,
            column: before[line_start..].iter().filter(is_char_start).count() + 1,
            kind: self.kind,
        }
    }
}
