//! The rules of a format's document.

use std::path::Path;

use crate::{OpenError, Violation};

/// The rules of a format's document.
pub trait Rules: Sync {
    /// Measures what is at a path against the format's document: a store, a session or one of its
    /// files. Gives what is wrong in the order of paths and lines, and how many files were looked
    /// at; none if the path is not ours.
    fn check(&self, path: &Path, out: &mut dyn FnMut(Violation)) -> Result<Option<u64>, OpenError>;
}
