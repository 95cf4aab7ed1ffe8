//! The first line of a session file.

use std::path::Path;

use rethread_json::{Object, Tree, Value};

use super::SessionError;
use crate::fields::string_of;
use crate::pi::entry::{CURRENT_VERSION, millis_of};

/// The first line of a session: who it is and where it works. The bytes are kept, fields that are
/// not known here among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionHeader {
    raw: Box<[u8]>,
    version: u64,
    id: String,
    timestamp: Option<String>,
    millis: Option<i64>,
    cwd: Option<String>,
    parent_session: Option<String>,
    internal: bool,
}

impl SessionHeader {
    /// The header that a value is: an object of type `session` with a string as its id.
    pub(crate) fn of(value: Value<'_>) -> Option<Self> {
        if !value.get("type")?.is_str("session") {
            return None;
        }
        Some(Self {
            raw: value.raw().into(),
            version: version_of(value.get("version")),
            id: string_of(value, "id")?,
            timestamp: string_of(value, "timestamp"),
            millis: value.get("timestamp").and_then(millis_of),
            cwd: string_of(value, "cwd"),
            parent_session: string_of(value, "parentSession"),
            internal: is_internal(value),
        })
    }

    /// A new header of the current version.
    pub(crate) fn new(id: &str, timestamp: &str, cwd: &Path, parent: Option<&Path>) -> Self {
        let parent = parent.map(Path::to_string_lossy);
        let raw = Object::new()
            .str("type", "session")
            .u64("version", CURRENT_VERSION)
            .str("id", id)
            .str("timestamp", timestamp)
            .str("cwd", &cwd.to_string_lossy())
            .opt_str("parentSession", parent.as_deref())
            .finish();
        Self {
            version: CURRENT_VERSION,
            id: id.to_owned(),
            timestamp: Some(timestamp.to_owned()),
            millis: timestamp.parse().ok().map(rethread_model::Moment::millis),
            cwd: Some(cwd.to_string_lossy().into_owned()),
            parent_session: parent.map(std::borrow::Cow::into_owned),
            internal: false,
            raw: raw.into(),
        }
    }

    /// The JSON object exactly as it was written.
    pub fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// The version of the format; 1 where none is named.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The session's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// When the session began, as spelled.
    pub fn timestamp(&self) -> Option<&str> {
        self.timestamp.as_deref()
    }

    /// When the session began, in milliseconds since 1970.
    pub fn millis(&self) -> Option<i64> {
        self.millis
    }

    /// The folder that the work is done in.
    pub fn cwd(&self) -> Option<&str> {
        self.cwd.as_deref()
    }

    /// The file of the session that this one was forked from.
    pub fn parent_session(&self) -> Option<&str> {
        self.parent_session.as_deref()
    }

    /// Whether a workflow made it for its own ends; then it is of no use to a person who wants to
    /// go on with something.
    pub fn is_internal(&self) -> bool {
        self.internal
    }

    /// What is of a later version is not written to.
    pub(crate) fn refuse_newer(&self) -> Result<(), SessionError> {
        let version = self.version;
        if version > CURRENT_VERSION {
            return Err(SessionError::TooNew { version });
        }
        Ok(())
    }

    /// The JSON of any field, known or not.
    pub fn field(&self, key: &str) -> Option<Vec<u8>> {
        let tree = Tree::parse(&self.raw).unwrap_or_default();
        let found = tree.root(&self.raw).get(key)?;
        Some(found.raw().to_vec())
    }
}

/// What a version is to a program that compares it with numbers: none is 1, digits in quotes count
/// as a number, and what is no number at all is never too old.
fn version_of(value: Option<Value<'_>>) -> u64 {
    let Some(value) = value.filter(|v| !v.is_null()) else {
        return 1;
    };
    let number = value
        .f64()
        .or_else(|| value.str().and_then(|text| text.trim().parse().ok()));
    match number {
        Some(n) if n < 2.0 => 1,
        Some(n) if n < 3.0 => 2,
        Some(n) if n >= 4.0 => value.u64().unwrap_or(4),
        _ => CURRENT_VERSION,
    }
}

fn is_internal(value: Value<'_>) -> bool {
    let is_said = |key| {
        let text = value.at(&["workflow", key]).and_then(Value::str);
        text.is_some_and(|text| !text.trim().is_empty())
    };
    value.get("internal").and_then(Value::bool) == Some(true)
        && is_said("runId")
        && is_said("stageId")
        && is_said("stageName")
}
