//! Names from untrusted data that become one component of a path.

use std::{
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
};

/// The longest name that file systems take, in bytes.
const LONGEST: usize = 255;
/// How much of a name an error shows.
const SHOWN: usize = 60;

/// One component of a path: on every platform a plain name in the folder it is joined to.
///
/// ```
/// use rethread_disk::{SafeName, join};
///
/// let name = SafeName::new("2024-05-01 notes.md")?;
/// assert!(join("out".as_ref(), &name).ends_with("out/2024-05-01 notes.md"));
/// assert!(SafeName::new("../../etc/passwd").is_err());
/// assert!(SafeName::new("nul.txt").is_err());
/// # Ok::<(), rethread_disk::UnsafeName>(())
/// ```
///
/// A name may begin with `-`; joined to a folder it cannot be taken for an option.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SafeName(String);

/// Why a name cannot be one component of a path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnsafeName {
    /// Nothing at all.
    #[error("a name cannot be empty")]
    Empty,
    /// `.` or `..`.
    #[error("`{0}` is a folder, not a name")]
    Dots(String),
    /// Longer than file systems take.
    #[error("`{}` has {len} bytes, at most {LONGEST} are possible", shown_name(.name))]
    TooLong {
        /// The name.
        name: String,
        /// How long it is.
        len: usize,
    },
    /// It would be a path of several components.
    #[error("`{}` holds a path separator", shown_name(.0))]
    Separator(String),
    /// A control character, NUL among them, or a line separator.
    #[error("`{}` holds the control character U+{:04X}", shown_name(.name), u32::from(*.found))]
    Control {
        /// The name.
        name: String,
        /// The character.
        found: char,
    },
    /// A character that makes text look different from what it is.
    #[error("`{}` holds the direction control U+{:04X}", shown_name(.name), u32::from(*.found))]
    Bidi {
        /// The name.
        name: String,
        /// The character.
        found: char,
    },
    /// A character that Windows does not allow.
    #[error("`{}` holds `{found}`, which not every platform allows", shown_name(.name))]
    Character {
        /// The name.
        name: String,
        /// The character.
        found: char,
    },
    /// A space at either end or a dot at the end, which Windows drops.
    #[error("`{}` begins or ends in a space, or ends in a dot", shown_name(.0))]
    Edge(String),
    /// The name of a device on Windows, whatever its extension.
    #[error("`{}` is the name of a device on Windows", shown_name(.0))]
    Device(String),
}

impl SafeName {
    /// Takes a name that is safe everywhere, or says why it is not.
    pub fn new(name: &str) -> Result<SafeName, UnsafeName> {
        let owned = || name.to_owned();
        match name {
            "" => return Err(UnsafeName::Empty),
            "." | ".." => return Err(UnsafeName::Dots(owned())),
            _ if name.len() > LONGEST => {
                return Err(UnsafeName::TooLong {
                    name: owned(),
                    len: name.len(),
                });
            }
            _ => {}
        }
        if let Some(refused) = name.chars().find_map(|c| refuse_char(name, c)) {
            return Err(refused);
        }
        let edge = |c: char| c.is_whitespace();
        if name.starts_with(edge) || name.ends_with(edge) || name.ends_with('.') {
            return Err(UnsafeName::Edge(owned()));
        }
        if is_device(name) {
            return Err(UnsafeName::Device(owned()));
        }
        Ok(SafeName(owned()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The path of `name` in `folder`.
pub fn join(folder: &Path, name: &SafeName) -> PathBuf {
    folder.join(name)
}

fn refuse_char(name: &str, c: char) -> Option<UnsafeName> {
    let name = || name.to_owned();
    match c {
        '/' | '\\' => Some(UnsafeName::Separator(name())),
        '\u{2028}' | '\u{2029}' => Some(UnsafeName::Control {
            name: name(),
            found: c,
        }),
        c if c.is_control() => Some(UnsafeName::Control {
            name: name(),
            found: c,
        }),
        c if is_bidi(c) => Some(UnsafeName::Bidi {
            name: name(),
            found: c,
        }),
        ':' | '<' | '>' | '"' | '|' | '?' | '*' => Some(UnsafeName::Character {
            name: name(),
            found: c,
        }),
        _ => None,
    }
}

fn is_bidi(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// `CON`, `nul.tar.gz`, `Com1 .txt`, `LPT²`, …
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end();
    let stem = stem.to_ascii_uppercase();
    if matches!(
        stem.as_str(),
        "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$" | "CLOCK$"
    ) {
        return true;
    }
    let port = stem
        .strip_prefix("COM")
        .or_else(|| stem.strip_prefix("LPT"));
    let mut rest = port.unwrap_or_default().chars();
    matches!(
        (rest.next(), rest.next()),
        (Some('0'..='9' | '¹' | '²' | '³'), None)
    )
}

/// The beginning of a name, with everything spelled out that could do something to a terminal.
fn shown_name(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars().take(SHOWN) {
        if c.is_control() || is_bidi(c) || matches!(c, '\u{2028}' | '\u{2029}') {
            text.extend(c.escape_unicode());
        } else {
            text.push(c);
        }
    }
    if name.chars().nth(SHOWN).is_some() {
        text.push('…');
    }
    text
}

impl AsRef<Path> for SafeName {
    fn as_ref(&self) -> &Path {
        Path::new(&self.0)
    }
}

impl AsRef<str> for SafeName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SafeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for SafeName {
    type Err = UnsafeName;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        SafeName::new(s)
    }
}
