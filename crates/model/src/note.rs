//! What a reader found wrong, as values that can be counted, shown and scripted against.

use std::fmt;
use std::path::PathBuf;

/// One thing that was noticed while reading or writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// How much it matters.
    pub severity: Severity,
    /// The file or folder concerned.
    pub path: Option<PathBuf>,
    /// The line, counted from 1.
    pub line: Option<u64>,
    /// The byte in the file.
    pub offset: Option<u64>,
    /// What it is: lower case, no full stop.
    pub message: String,
    /// What to do about it, where there is something to do.
    pub hint: Option<String>,
}

/// How much a note matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// A detail of how the answer was found, told only to who asks for all.
    Detail,
    /// Nothing that anybody needs to know: such notes are counted, and told to who asks for all.
    Quiet,
    /// Worth knowing; nothing is missing from the result.
    Remark,
    /// Something was damaged, missing or skipped: the result is a part.
    Damage,
}

impl Note {
    /// A note that something was damaged, missing or skipped.
    pub fn damage(message: impl Into<String>) -> Self {
        Self::new(Severity::Damage, message)
    }

    /// A note that is only worth knowing.
    pub fn remark(message: impl Into<String>) -> Self {
        Self::new(Severity::Remark, message)
    }

    /// A note that is only counted, unless somebody asks for all.
    pub fn quiet(message: impl Into<String>) -> Self {
        Self::new(Severity::Quiet, message)
    }

    /// A note on how the answer was found, told only to who asks for all.
    pub fn detail(message: impl Into<String>) -> Self {
        Self::new(Severity::Detail, message)
    }

    fn new(severity: Severity, message: impl Into<String>) -> Self {
        Self {
            severity,
            path: None,
            line: None,
            offset: None,
            message: message.into(),
            hint: None,
        }
    }

    /// Names the file or folder.
    #[must_use]
    pub fn at(mut self, path: impl Into<PathBuf>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Names the line, counted from 1.
    #[must_use]
    pub fn line(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }

    /// Names the byte.
    #[must_use]
    pub fn offset(mut self, offset: u64) -> Self {
        self.offset = Some(offset);
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names_it = |path: &PathBuf| self.message.contains(&format!("`{}`", path.display()));
        if let Some(path) = self.path.as_ref().filter(|path| !names_it(path)) {
            write!(f, "{}", path.display())?;
            if let Some(line) = self.line {
                write!(f, ":{line}")?;
            }
            write!(f, ": ")?;
        }
        f.write_str(&self.message)
    }
}
