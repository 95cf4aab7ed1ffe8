//! Cursors: where an answer ended, as a word that a client sends back.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::answer::ToolError;

/// A cursor longer than this is not one of ours.
const LONGEST: usize = 64 * 1024;

/// A place in what a tool tells.
pub(crate) trait Cursor: Serialize + DeserializeOwned {
    /// The tool that it is for.
    const TOOL: &'static str;

    /// The word that a client sends back.
    fn to_word(&self) -> String {
        let json = serde_json::to_vec(&(Self::TOOL, self)).unwrap_or_default();
        URL_SAFE_NO_PAD.encode(json)
    }

    /// Reads such a word.
    fn from_word(word: &str) -> Result<Self, ToolError> {
        let wrong = || {
            ToolError::new(format!("`cursor` is not one that {} gave", Self::TOOL))
                .hint("send `next_cursor` of the last answer as it is, or leave `cursor` out")
        };
        if word.len() > LONGEST {
            return Err(wrong());
        }
        let json = URL_SAFE_NO_PAD.decode(word).map_err(|_| wrong())?;
        let (tool, cursor): (String, Self) = serde_json::from_slice(&json).map_err(|_| wrong())?;
        if tool == Self::TOOL {
            Ok(cursor)
        } else {
            Err(wrong())
        }
    }
}
