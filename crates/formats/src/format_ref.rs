//! A format as a value.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

use crate::Format;

/// A handle to a format: what a session or a store is written in. Two of them are equal if they have
/// the same short name.
#[derive(Clone, Copy)]
pub struct FormatRef(&'static dyn Format);

impl FormatRef {
    /// The handle to a format.
    pub const fn new(format: &'static dyn Format) -> Self {
        Self(format)
    }

    /// The short name that people type.
    pub fn slug(self) -> &'static str {
        self.0.about().slug
    }
}

impl Deref for FormatRef {
    type Target = dyn Format;

    fn deref(&self) -> &Self::Target {
        self.0
    }
}

impl fmt::Debug for FormatRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.slug())
    }
}

impl fmt::Display for FormatRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.slug())
    }
}

impl PartialEq for FormatRef {
    fn eq(&self, other: &Self) -> bool {
        self.slug() == other.slug()
    }
}

impl Eq for FormatRef {}

impl PartialOrd for FormatRef {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for FormatRef {
    fn cmp(&self, other: &Self) -> Ordering {
        self.slug().cmp(other.slug())
    }
}

impl Hash for FormatRef {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.slug().hash(state);
    }
}
