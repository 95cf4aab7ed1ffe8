//! A format as a value.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

use super::{Can, Carrier, Format, Projects, Writer};
use crate::{Keeps, WriteError};

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

    /// What can be done with its sessions.
    pub fn capabilities(self) -> Vec<Can> {
        let all = [Can::Read, Can::Write, Can::Resume];
        all.into_iter().filter(|what| self.can(*what)).collect()
    }

    /// Whether this can be done with its sessions.
    pub fn can(self, what: Can) -> bool {
        match what {
            Can::Read => true,
            Can::Write => self.0.writer().is_some(),
            Can::Resume => self.0.client().is_some(),
        }
    }

    /// Its writer, or the error that it is only read.
    pub fn writable(self) -> Result<&'static dyn Writer, WriteError> {
        let format = self.slug();
        self.0.writer().ok_or(WriteError::ReadOnly { format })
    }

    /// Its carrier, or the error that no session can be put into its store.
    pub fn installable(self) -> Result<&'static dyn Carrier, WriteError> {
        let what = "store that sessions can be put into";
        self.0.carrier().ok_or_else(|| self.cannot(what))
    }

    /// Projects that hold its store, or the error that there are none.
    pub fn in_projects(self) -> Result<&'static dyn Projects, WriteError> {
        let what = "project folder of their own";
        self.0.projects().ok_or_else(|| self.cannot(what))
    }

    /// Whether its files are exports, which hold sessions of other formats.
    pub fn is_for_exports(self) -> bool {
        self.0.reader().exports().is_some()
    }

    /// What it has records of its own for, beside messages.
    pub fn keeps(self) -> Keeps {
        self.0.writer().map(Writer::keeps).unwrap_or_default()
    }

    /// The error for what it cannot do, by what its sessions would have if it could.
    pub fn cannot(self, what: &'static str) -> WriteError {
        let format = self.slug();
        if self.can(Can::Write) {
            WriteError::Unsupported { format, what }
        } else {
            WriteError::ReadOnly { format }
        }
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
