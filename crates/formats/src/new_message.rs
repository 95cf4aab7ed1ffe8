//! Messages on their way into a session: as the model has them, with what a writer must know beside.

use rethread_model::{Block, Json, Message, Moment};

/// A message that is to be written.
///
/// Its blocks are texts, thoughts, calls, results, pictures and files; in results are texts, pictures
/// and files. A picture or a file has an address: one of the web, or `data:MIME;base64,…` with its bytes.
#[derive(Clone, Debug)]
pub struct NewMessage {
    /// What it says, and who says it.
    pub message: Message,
    /// When it was said.
    pub time: Option<Moment>,
    /// Whether the client told it to the model, and no person typed it.
    pub is_told: bool,
    /// The model that answered where the message names none, as `provider/model`: some formats want
    /// one for each.
    pub default_model: Option<String>,
    /// Its place among those that are written with it, counted from 1.
    pub number: u64,
    /// The id that the user chose; kept where the format has such ids.
    pub id: Option<String>,
    /// What else the user says of it, as in the unified vocabulary; some formats keep it.
    pub metadata: Option<Json>,
    /// Members that the unified vocabulary does not know, as one object; some formats keep them.
    pub others: Option<Json>,
}

impl NewMessage {
    /// A message of which nothing more is known.
    pub fn new(message: Message) -> Self {
        Self {
            message,
            time: None,
            is_told: false,
            default_model: None,
            number: 0,
            id: None,
            metadata: None,
            others: None,
        }
    }

    /// The model that answered: the one that the message names, else the one that is meant by default.
    pub(crate) fn model_name(&self) -> Option<&str> {
        let named = self.message.model.as_ref().map(|model| model.id.as_str());
        named.or(self.default_model.as_deref())
    }

    /// The calls that it makes, by their ids.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &str> {
        self.message.blocks.iter().filter_map(|block| match block {
            Block::ToolCall(call) => Some(call.id.as_str()),
            _ => None,
        })
    }

    /// The calls that it has results of, by their ids.
    pub(crate) fn results(&self) -> impl Iterator<Item = &str> {
        self.message.blocks.iter().filter_map(|block| match block {
            Block::ToolResult(result) => Some(result.call_id.as_str()),
            _ => None,
        })
    }
}
