//! Reading what a client sends.

use rmcp::model::JsonObject;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::answer::ToolError;

/// The most conversations in an answer.
pub(crate) const MOST_CONVERSATIONS: usize = 50;

/// How many bytes an answer has at most, unless the client asks for another number.
pub(crate) const USUAL_BYTES: usize = 20_000;

/// The least and the most that a client can ask for.
const BYTES: std::ops::RangeInclusive<usize> = 500..=200_000;

/// Reads the arguments of a call; an error says what is wrong with them, in words that lead to right ones.
pub(crate) fn read_arguments<A: DeserializeOwned>(
    tool: &str,
    arguments: JsonObject,
) -> Result<A, ToolError> {
    serde_json::from_value(Value::Object(arguments)).map_err(|e| {
        ToolError::new(format!("the arguments of {tool} are wrong: {e}"))
            .hint("tools/list describes every argument")
    })
}

/// How many bytes an answer may have.
pub(crate) fn byte_limit(asked: Option<usize>) -> Result<usize, ToolError> {
    match asked {
        None => Ok(USUAL_BYTES),
        Some(bytes) if BYTES.contains(&bytes) => Ok(bytes),
        Some(bytes) => Err(ToolError::new(format!(
            "`max_bytes` is {bytes}; it can be {} to {}",
            BYTES.start(),
            BYTES.end()
        ))),
    }
}

/// How many conversations an answer may have.
pub(crate) fn conversation_limit(asked: Option<usize>, usual: usize) -> Result<usize, ToolError> {
    match asked {
        None => Ok(usual),
        Some(limit) if (1..=MOST_CONVERSATIONS).contains(&limit) => Ok(limit),
        Some(limit) => Err(ToolError::new(format!(
            "`limit` is {limit}; it can be 1 to {MOST_CONVERSATIONS}"
        ))
        .hint("`next_cursor` of an answer leads to what follows")),
    }
}
