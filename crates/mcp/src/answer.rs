//! What a tool answers, and why it cannot.

use rethread_lib::engine;
use serde::Serialize;

/// What a tool answers: the same for a reader and for a program, because a client shows its model
/// either of the two.
pub(crate) struct ToolAnswer<D> {
    /// For a model that reads text.
    pub(crate) text: String,
    /// For a model or a program that reads data.
    pub(crate) data: D,
}

/// Why a tool cannot answer, and what to send instead.
#[derive(Debug)]
pub(crate) struct ToolError {
    message: String,
    hint: Option<String>,
}

impl ToolError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
        }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Two lines at most, for a model.
    pub(crate) fn text(&self) -> String {
        use rethread_lib::render::one_line;
        let message = one_line(&self.message);
        match &self.hint {
            Some(hint) => format!("error: {message}\nhint: {}", one_line(hint)),
            None => format!("error: {message}"),
        }
    }
}

impl From<engine::Error> for ToolError {
    fn from(e: engine::Error) -> Self {
        let hint = match &e {
            engine::Error::Find(_) => {
                Some("ids are what search_conversations and list_conversations give".to_owned())
            }
            engine::Error::NoEntry { .. } => Some(
                "entries are numbers such as `#12`; without `from` it begins at the beginning"
                    .to_owned(),
            ),
            e => e.hint(),
        };
        Self {
            message: e.to_string(),
            hint,
        }
    }
}

impl From<rethread_lib::samp::Error> for ToolError {
    fn from(e: rethread_lib::samp::Error) -> Self {
        Self {
            hint: e.hint(),
            message: e.to_string(),
        }
    }
}

/// How many bytes data takes in an answer.
pub(crate) fn json_size(data: &impl Serialize) -> usize {
    serde_json::to_string(data).map_or(0, |text| text.len())
}
