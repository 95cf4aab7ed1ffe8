//! Who writes and who reads.

use std::{fmt, str::FromStr};

/// The longest alias, in characters, which are bytes here.
const LONGEST: usize = 64;

/// The name of a participant: a letter or digit, then at most 63 letters, digits, `.`, `_` or `-`.
///
/// Such a name cannot leave the folder that it is joined to.
///
/// ```
/// use rethread_samp::Alias;
///
/// assert_eq!(Alias::new("dev-box_2")?.as_str(), "dev-box_2");
/// assert!(Alias::new("../../etc/passwd").is_err());
/// assert!(Alias::new("bob\n").is_err());
/// # Ok::<(), rethread_samp::InvalidAlias>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Alias(String);

/// A text that is no alias.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not an alias", shown_prefix(.0))]
pub struct InvalidAlias(pub String);

impl InvalidAlias {
    /// What an alias is.
    pub fn hint(&self) -> String {
        "an alias is a letter or digit, then up to 63 letters, digits, `.`, `_` or `-`".to_owned()
    }
}

/// Whether a text is an alias.
pub(crate) fn is_alias(text: &str) -> bool {
    let is_inner = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    let bytes = text.as_bytes();
    bytes.len() <= LONGEST
        && bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.iter().all(is_inner)
}

impl Alias {
    /// Takes a name as it is, or says that it is none.
    pub fn new(name: &str) -> Result<Self, InvalidAlias> {
        if is_alias(name) {
            Ok(Self(name.to_owned()))
        } else {
            Err(InvalidAlias(name.to_owned()))
        }
    }

    /// The first line of a `.agent-message` file that is an alias, without the space around it.
    ///
    /// ```
    /// use rethread_samp::Alias;
    ///
    /// let found = Alias::in_file("# who I am\r\n  bob \r\n");
    /// assert_eq!(found, Some(Alias::new("bob")?));
    /// assert_eq!(Alias::in_file("../../x\n"), None);
    /// # Ok::<(), rethread_samp::InvalidAlias>(())
    /// ```
    pub fn in_file(text: &str) -> Option<Self> {
        text.lines().find_map(|line| Self::new(line.trim()).ok())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Alias {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for Alias {
    type Err = InvalidAlias;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        Self::new(s)
    }
}

/// The beginning of a text, with everything spelled out that could do something to a terminal.
fn shown_prefix(text: &str) -> String {
    let mut out: String = text.chars().take(LONGEST).collect::<String>();
    if text.chars().nth(LONGEST).is_some() {
        out.push('…');
    }
    out.escape_debug().to_string()
}
