//! Threads: named by the message itself, or made from its first line.
//!
//! White space, lines and letters are those of the document's own language, Python.

use std::borrow::Cow;

use jiff::{Timestamp, tz::TimeZone};
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

use crate::alias::Alias;

/// The longest slug, in characters, which are bytes here.
const LONGEST_SLUG: usize = 40;

/// What becomes of the text that somebody wants to send.
///
/// ```
/// use rethread_samp::{Alias, Written};
///
/// let bob = Alias::new("bob")?;
/// let written = Written::new("Build is red\nsee CI", &bob, 1_777_180_005);
/// assert_eq!(written.thread, "2026-04-26-bob-build-is-red");
///
/// let written = Written::new(" [thread: deploy ]\n\nBuild is red", &bob, 1_777_180_005);
/// assert_eq!((written.thread.as_str(), written.body.as_str()), ("deploy", "Build is red"));
/// # Ok::<(), rethread_samp::InvalidAlias>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The thread it belongs to.
    pub thread: String,
    /// What is stored: without the prefix that names the thread, and in normal form C.
    pub body: String,
}

impl Written {
    /// Takes a leading `[thread:…]` off a text, or makes a thread of its first line and the date
    /// in UTC.
    pub fn new(text: &str, from: &Alias, ts: i64) -> Self {
        if let Some((thread, body)) = split_override(text) {
            return Self {
                thread: thread.to_owned(),
                body: to_nfc(body).into_owned(),
            };
        }
        let body = to_nfc(text).into_owned();
        Self {
            thread: derive_thread(&body, from.as_str(), ts),
            body,
        }
    }
}

/// A thread of a message's first line.
pub(crate) fn derive_thread(body: &str, from: &str, ts: i64) -> String {
    format!("{}-{from}-{}", utc_date(ts), slug(body))
}

/// The thread that a text names, and the rest of it.
fn split_override(text: &str) -> Option<(&str, &str)> {
    let rest = text.trim_start_matches(is_space).strip_prefix("[thread:")?;
    let end = rest.find(']').filter(|end| *end > 0)?;
    let (thread, rest) = (&rest[..end], &rest[end + 1..]);
    Some((
        thread.trim_matches(is_space),
        rest.trim_start_matches(is_space),
    ))
}

/// The first line in small letters, everything but `a` to `z` and digits as single dashes.
///
/// ```
/// assert_eq!(rethread_samp::slug("Naïve, isn't it?\nYes."), "na-ve-isn-t-it");
/// assert_eq!(rethread_samp::slug("Привет"), "msg");
/// ```
pub fn slug(body: &str) -> String {
    let line = first_line(body);
    let mut slug = String::new();
    let mut gap = false;
    // Capital letters of other scripts may become several characters, or ASCII: so all are asked.
    for c in line.chars().flat_map(char::to_lowercase) {
        if !(c.is_ascii_lowercase() || c.is_ascii_digit()) {
            gap = true;
            continue;
        }
        if gap && !slug.is_empty() {
            slug.push('-');
        }
        gap = false;
        slug.push(c);
        if slug.len() >= LONGEST_SLUG {
            break;
        }
    }
    slug.truncate(LONGEST_SLUG);
    if slug.is_empty() {
        slug.push_str("msg");
    }
    slug
}

/// What stands before the first line break, of whatever kind.
///
/// ```
/// assert_eq!(rethread_samp::first_line("one\u{2028}two"), "one");
/// ```
pub fn first_line(text: &str) -> &str {
    text.split(is_break).next().unwrap_or_default()
}

/// The day in UTC, as `2026-04-26`.
fn utc_date(ts: i64) -> String {
    let moment = Timestamp::from_second(ts).unwrap_or(Timestamp::UNIX_EPOCH);
    let day = moment.to_zoned(TimeZone::UTC).date();
    format!("{:04}-{:02}-{:02}", day.year(), day.month(), day.day())
}

/// The text in normal form C.
pub(crate) fn to_nfc(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.nfc().collect())
}

/// Python counts four separators as space that Unicode does not.
fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

fn is_break(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}
