//! Versions of the format, and which of them must be refused.

use std::path::Path;

use rethread_json::{Kind, Value};
use rethread_model::Note;

use super::SLUG;
use crate::OpenError;

/// The highest MAJOR that we read.
const MAJOR: u64 = 1;

/// The first version that we do not read, where a file has a number for it.
const FIRST_TOO_NEW: f64 = 2.0;

/// What a file says about its version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    /// One that we read.
    Known(String),
    /// A higher MAJOR, which must be refused.
    TooNew(String),
    /// Something that is no `MAJOR.MINOR`.
    Odd(String),
    /// Nothing.
    Missing,
}

impl Version {
    /// Reads `specVersion` of a document.
    pub(crate) fn of(root: Value<'_>) -> Self {
        let Some(value) = root.get("specVersion").filter(|v| !v.is_null()) else {
            return Self::Missing;
        };
        if let Some(text) = value.str() {
            return Self::parse(text.into_owned());
        }
        let text = String::from_utf8_lossy(value.raw()).into_owned();
        // Also a number that no type can hold.
        let too_new = value.f64().is_none_or(|n| n >= FIRST_TOO_NEW);
        if value.kind() == Kind::Number && too_new {
            return Self::TooNew(text);
        }
        Self::Odd(text)
    }

    fn parse(text: String) -> Self {
        // A prefix that people write does not make a version older.
        let bare = text.trim().trim_start_matches(['v', 'V', '+']);
        let end = bare
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(bare.len());
        let (major, rest) = bare.split_at(end);
        if major.is_empty() {
            return Self::Odd(text);
        }
        // A number too large for the type is certainly too new.
        if major.parse::<u64>().map_or(true, |n| n > MAJOR) {
            return Self::TooNew(text);
        }
        let minor = rest.strip_prefix('.').unwrap_or_default();
        let plain = bare == text && !minor.is_empty() && minor.bytes().all(|b| b.is_ascii_digit());
        if plain {
            Self::Known(text)
        } else {
            Self::Odd(text)
        }
    }

    /// The error for a version that must be refused.
    pub(crate) fn refuse(&self, path: &Path) -> Result<(), OpenError> {
        match self {
            Self::TooNew(version) => Err(OpenError::Unsupported {
                path: path.to_owned(),
                format: SLUG,
                version: version.clone(),
                supported: "1.x",
            }),
            _ => Ok(()),
        }
    }

    /// What is worth saying about a version that is read all the same.
    pub(crate) fn note(&self, path: &Path) -> Option<Note> {
        let message = match self {
            Self::Missing => "no `specVersion`; read as 1.x".to_owned(),
            Self::Odd(text) => format!("`specVersion` is `{text}`, not `MAJOR.MINOR`; read as 1.x"),
            Self::Known(_) | Self::TooNew(_) => return None,
        };
        Some(Note::remark(message).at(path))
    }

    /// The version as it is spelled.
    pub(crate) fn spelled(&self) -> Option<&str> {
        match self {
            Self::Known(text) | Self::TooNew(text) | Self::Odd(text) => Some(text),
            Self::Missing => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_higher_major_is_refused() {
        for (text, refused) in [
            ("1.0", false),
            ("1.1", false),
            ("1.7", false),
            ("0.9", false),
            ("01.1", false),
            ("2.0", true),
            ("2", true),
            ("10.0", true),
            ("99999999999999999999999.0", true),
            ("v2", true),
            (" 2.0", true),
            ("+2.0", true),
            ("2e0", true),
            ("v1.1", false),
            ("latest", false),
            ("", false),
            ("1", false),
        ] {
            let version = Version::parse(text.to_owned());
            assert_eq!(
                version.refuse(Path::new("x")).is_err(),
                refused,
                "{text}: {version:?}"
            );
        }
    }
}
