//! What a message is made of.

use std::ops::Range;
use std::path::PathBuf;

use crate::{RawRef, Visibility};

/// Text from a conversation: always untrusted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// The text.
    pub value: String,
    /// Whether the original holds something that no text can (a lone surrogate, bytes that are not
    /// UTF-8), shown here as U+FFFD.
    pub lossy: bool,
    /// The lone surrogates among what was lost: at which byte of `value` each stood, in order, and
    /// what it was.
    pub lone: Box<[(usize, u16)]>,
}

impl Text {
    /// Text that lost nothing.
    pub fn new(value: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            ..Self::default()
        }
    }

    /// Several texts as one.
    ///
    /// ```
    /// use rethread_model::Text;
    /// assert_eq!(Text::joined(&["a".into(), "b".into()], ", "), "a, b".into());
    /// ```
    #[must_use]
    pub fn joined<'a>(texts: impl IntoIterator<Item = &'a Self>, between: &str) -> Self {
        let mut all = Self::default();
        let mut lone = Vec::new();
        for (at, text) in texts.into_iter().enumerate() {
            if at > 0 {
                all.value.push_str(between);
            }
            let start = all.value.len();
            lone.extend(text.lone.iter().map(|(at, unit)| (start + at, *unit)));
            all.value.push_str(&text.value);
            all.lossy |= text.lossy;
        }
        all.lone = lone.into();
        all
    }

    /// The part of it that these bytes are; nothing if they cut a character.
    #[must_use]
    pub fn part(&self, bytes: Range<usize>) -> Self {
        let inside = self.lone.iter().filter(|(at, _)| bytes.contains(at));
        Self {
            lone: inside.map(|(at, unit)| (at - bytes.start, *unit)).collect(),
            value: self.value.get(bytes).unwrap_or_default().to_owned(),
            lossy: self.lossy,
        }
    }
}

impl From<&str> for Text {
    fn from(value: &str) -> Self {
        Self::new(value)
    }
}

/// One JSON value, spelled exactly as in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Json(Box<[u8]>);

impl Json {
    /// Keeps a value's bytes.
    pub fn new(raw: &[u8]) -> Self {
        Self(raw.into())
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The bytes as text; what is not UTF-8 becomes U+FFFD.
    pub fn to_text(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }
}

impl From<Vec<u8>> for Json {
    fn from(raw: Vec<u8>) -> Self {
        Self(raw.into())
    }
}

/// One piece of a message, in its original order among the others.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// Text.
    Text(Text),
    /// Text inside a message that is not meant for everyone: injected for the model, or shown to
    /// the person alone.
    Aside {
        /// The text.
        text: Text,
        /// Who is meant to see it.
        visibility: Visibility,
    },
    /// Reasoning.
    Thinking(Thinking),
    /// A call of a tool.
    ToolCall(ToolCall),
    /// What a tool answered.
    ToolResult(ToolResult),
    /// A picture.
    Image(Media),
    /// Sound, a document, a resource: any other file.
    File(Media),
    /// A block of a type that we do not know.
    Unknown {
        /// The type's name in the source.
        type_name: String,
        /// The block.
        raw: Json,
    },
}

impl Block {
    /// A block of plain text.
    pub fn text(value: impl Into<String>) -> Self {
        Self::Text(Text::new(value))
    }
}

/// Reasoning of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thinking {
    /// What can be read of it.
    pub text: Text,
    /// The vendor's signature, which makes it valid for that vendor only.
    pub signature: Option<String>,
    /// The encrypted form, likewise.
    pub encrypted: Option<String>,
    /// Whether the vendor took the text out.
    pub redacted: bool,
    /// Whether this is a summary of the reasoning, not the reasoning.
    pub summary: bool,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// Links the call to its result.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The group or server that the tool belongs to.
    pub namespace: Option<String>,
    /// A title for people.
    pub title: Option<String>,
    /// The agent's own class of tool, such as `edit`.
    pub kind: Option<String>,
    /// What the tool was given.
    pub input: Option<ToolInput>,
    /// How far it got.
    pub status: ToolStatus,
    /// How long it took, in milliseconds.
    pub duration_ms: Option<f64>,
    /// The changes it made to files.
    pub diffs: Vec<Diff>,
    /// The places it touched.
    pub locations: Vec<Location>,
    /// The session of the sub-agent that it started.
    pub child_session: Option<String>,
    /// The vendor's signature on the call.
    pub signature: Option<String>,
    /// Whether the person ran it, not the model.
    pub by_user: bool,
    /// Whether the model's vendor carried it out while the model answered: then the client has no part
    /// in it, and nobody waits for a result.
    pub hosted: bool,
}

impl ToolCall {
    /// A call that was not started, without any details.
    pub fn new(id: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            namespace: None,
            title: None,
            kind: None,
            input: None,
            status: ToolStatus::Pending,
            duration_ms: None,
            diffs: Vec::new(),
            locations: Vec::new(),
            child_session: None,
            signature: None,
            by_user: false,
            hosted: false,
        }
    }
}

/// What a tool was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolInput {
    /// A JSON value, inside the record or as JSON text in a string.
    Json(Json),
    /// Plain text.
    Text(Text),
}

/// How far a tool call got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolStatus {
    /// Not started.
    Pending,
    /// Under way.
    Running,
    /// Done.
    Completed,
    /// Ended with an error.
    Failed,
    /// Ended by the user.
    Cancelled,
    /// A word that we do not know.
    Other(String),
}

/// A change of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diff {
    /// The file.
    pub path: String,
    /// Its text before; none for a new file.
    pub old: Option<Text>,
    /// Its text after; none for a removed one.
    pub new: Option<Text>,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file.
    pub path: String,
    /// The line, counted from 1.
    pub line: Option<u64>,
}

/// What a tool answered.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    /// The call that it answers.
    pub call_id: String,
    /// The tool's name, where the source says it or it was looked up.
    pub name: Option<String>,
    /// The answer: text, pictures, files and unknown blocks. Results never nest.
    pub blocks: Vec<Block>,
    /// Whether the tool failed.
    pub is_error: bool,
    /// The agent's own structured form of the answer, often larger than what the model saw.
    pub structured: Option<Json>,
    /// The exit code of a command.
    pub exit_code: Option<i64>,
    /// Where the whole answer is, when only a part of it is here.
    pub full_output: Option<Blob>,
}

impl ToolResult {
    /// An answer to a call that says nothing yet.
    pub fn new(call_id: impl Into<String>) -> Self {
        Self {
            call_id: call_id.into(),
            name: None,
            blocks: Vec::new(),
            is_error: false,
            structured: None,
            exit_code: None,
            full_output: None,
        }
    }
}

/// A picture, sound or file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Media {
    /// Its MIME type.
    pub mime: Option<String>,
    /// Its name for people.
    pub name: Option<String>,
    /// Its address, where it has one beside its bytes.
    pub uri: Option<String>,
    /// Where its bytes are.
    pub blob: Blob,
}

impl Media {
    /// Bytes of which nothing else is known.
    pub fn new(blob: Blob) -> Self {
        Self {
            mime: None,
            name: None,
            uri: None,
            blob,
        }
    }
}

/// Where bytes are; they are read only when they are needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blob {
    /// In a file of the session.
    File(PathBuf),
    /// In a file outside the session, by the path that the source names. It is never opened unless
    /// the user asks.
    Outside(PathBuf),
    /// As text inside the record.
    Text(Text),
    /// As base64 text inside a raw record, at these bytes of it.
    Inline {
        /// The record.
        record: RawRef,
        /// The first byte of the base64 text in the record; in a row, of the column that holds
        /// JSON.
        start: u64,
        /// The length of the base64 text.
        len: u64,
    },
    /// At an address. It is never fetched.
    Url(String),
    /// Named, but not there.
    Missing(String),
}
