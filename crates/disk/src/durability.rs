//! How much is synced before something counts as saved.

use std::{fmt, str::FromStr};

/// What must have happened before a record counts as saved.
///
/// ```
/// use rethread_disk::Durability;
///
/// assert_eq!("each".parse(), Ok(Durability::Each));
/// assert_eq!(Durability::default().to_string(), "close");
/// assert!(!Durability::None.syncs());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Durability {
    /// Nothing is synced: survives a crash of the process, not of the machine.
    None,
    /// Data is synced when the command ends.
    #[default]
    Close,
    /// Data is synced after every record.
    Each,
}

impl Durability {
    /// All values, in the order in which they promise more.
    pub const ALL: [Durability; 3] = [Durability::None, Durability::Close, Durability::Each];

    /// Whether anything is synced at all.
    pub fn syncs(self) -> bool {
        self != Durability::None
    }

    /// The name that [`FromStr`] reads.
    pub fn as_str(self) -> &'static str {
        match self {
            Durability::None => "none",
            Durability::Close => "close",
            Durability::Each => "each",
        }
    }
}

impl fmt::Display for Durability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A word that names no [`Durability`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown durability `{}`; use `none`, `close` or `each`", .0.escape_debug())]
pub struct UnknownDurability(pub String);

impl FromStr for Durability {
    type Err = UnknownDurability;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        Durability::ALL
            .into_iter()
            .find(|d| d.as_str() == s)
            .ok_or_else(|| UnknownDurability(s.to_owned()))
    }
}
