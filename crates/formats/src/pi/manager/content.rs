//! What messages hold: text, or blocks of several kinds.

use rethread_json::{Array, Object, Value, quote};

use crate::fields::string_of;

/// What a message says: plain text, or blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Plain text.
    Text(String),
    /// Blocks; none where the content is missing.
    Blocks(Vec<ContentBlock>),
}

/// One block of a message. The bytes are kept, fields that are not known here among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentBlock {
    raw: Vec<u8>,
    kind: BlockKind,
}

/// What a block is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BlockKind {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// A picture.
    Image {
        /// Its bytes in base 64.
        data: String,
        /// What kind of picture it is.
        mime_type: String,
    },
    /// What the model thought.
    Thinking {
        /// The thought.
        thinking: String,
        /// What proves to the provider that it was thought.
        signature: Option<String>,
    },
    /// The model wants a tool to be run.
    ToolCall {
        /// The id that the result names.
        id: String,
        /// The tool.
        name: String,
        /// What it is called with, as JSON.
        arguments: Vec<u8>,
    },
    /// A type that is not known here.
    Other {
        /// The type, as spelled.
        type_name: String,
    },
}

impl ContentBlock {
    /// Text.
    pub fn text(text: &str) -> Self {
        let object = Object::new().str("type", "text").str("text", text);
        let text = text.to_owned();
        Self::new(object, BlockKind::Text { text })
    }

    /// A picture, whose bytes are given in base 64.
    pub fn image(data: &str, mime_type: &str) -> Self {
        let object = Object::new()
            .str("type", "image")
            .str("data", data)
            .str("mimeType", mime_type);
        let (data, mime_type) = (data.to_owned(), mime_type.to_owned());
        Self::new(object, BlockKind::Image { data, mime_type })
    }

    /// What the model thought, and what proves it to the provider.
    pub fn thinking(thinking: &str, signature: Option<&str>) -> Self {
        let object = Object::new()
            .str("type", "thinking")
            .str("thinking", thinking)
            .opt_str("thinkingSignature", signature);
        let kind = BlockKind::Thinking {
            thinking: thinking.to_owned(),
            signature: signature.map(str::to_owned),
        };
        Self::new(object, kind)
    }

    /// A call of a tool. The arguments are JSON; what is no JSON is given as a string.
    pub fn tool_call(id: &str, name: &str, arguments: &[u8]) -> Self {
        let arguments = rethread_json::compact(arguments)
            .unwrap_or_else(|_| quote(&String::from_utf8_lossy(arguments)));
        let object = Object::new()
            .str("type", "toolCall")
            .str("id", id)
            .str("name", name)
            .raw("arguments", &arguments);
        let kind = BlockKind::ToolCall {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments,
        };
        Self::new(object, kind)
    }

    fn new(object: Object, kind: BlockKind) -> Self {
        let raw = object.finish();
        Self { raw, kind }
    }

    pub(crate) fn of(value: Value<'_>) -> Self {
        let text = |key| string_of(value, key).unwrap_or_default();
        let type_name = text("type");
        let kind = match type_name.as_str() {
            "text" => BlockKind::Text { text: text("text") },
            "image" => BlockKind::Image {
                data: text("data"),
                mime_type: text("mimeType"),
            },
            "thinking" => BlockKind::Thinking {
                thinking: text("thinking"),
                signature: string_of(value, "thinkingSignature"),
            },
            "toolCall" => BlockKind::ToolCall {
                id: text("id"),
                name: text("name"),
                arguments: value
                    .get("arguments")
                    .map_or_else(|| b"{}".to_vec(), |found| found.raw().to_vec()),
            },
            _ => BlockKind::Other { type_name },
        };
        Self {
            raw: value.raw().to_vec(),
            kind,
        }
    }

    /// The JSON object exactly as it was written.
    pub fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// What it is.
    pub fn kind(&self) -> &BlockKind {
        &self.kind
    }
}

impl Content {
    pub(crate) fn of(value: Option<Value<'_>>) -> Self {
        match value.and_then(Value::str) {
            Some(text) => Self::Text(text.into_owned()),
            None => Self::Blocks(
                value
                    .into_iter()
                    .flat_map(Value::items)
                    .map(ContentBlock::of)
                    .collect(),
            ),
        }
    }

    /// The blocks; none if it is plain text.
    pub fn blocks(&self) -> &[ContentBlock] {
        match self {
            Self::Text(_) => &[],
            Self::Blocks(blocks) => blocks,
        }
    }

    /// The text, that of several blocks with a space between them.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Blocks(blocks) => {
                let texts = blocks.iter().filter_map(|block| match block.kind() {
                    BlockKind::Text { text } => Some(text.as_str()),
                    _ => None,
                });
                texts.collect::<Vec<_>>().join(" ")
            }
        }
    }

    /// The text of what `value` is, as [`Content::text`] gives it, without making the rest of it.
    pub(crate) fn text_in(value: Value<'_>) -> String {
        if let Some(text) = value.str() {
            return text.into_owned();
        }
        let mut all = String::new();
        let is_text = |block: &Value<'_>| block.get("type").is_some_and(|t| t.is_str("text"));
        for (at, block) in value.items().filter(is_text).enumerate() {
            if at > 0 {
                all.push(' ');
            }
            let text = block.get("text").and_then(Value::str);
            all.push_str(&text.unwrap_or_default());
        }
        all
    }

    /// As JSON.
    pub fn to_json(&self) -> Vec<u8> {
        match self {
            Self::Text(text) => quote(text),
            Self::Blocks(blocks) => {
                let add = |array: Array, block: &ContentBlock| array.raw(&block.raw);
                blocks.iter().fold(Array::new(), add).finish()
            }
        }
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<ContentBlock>> for Content {
    fn from(blocks: Vec<ContentBlock>) -> Self {
        Self::Blocks(blocks)
    }
}

impl<const N: usize> From<[ContentBlock; N]> for Content {
    fn from(blocks: [ContentBlock; N]) -> Self {
        Self::Blocks(blocks.into())
    }
}

#[cfg(test)]
mod tests {
    use rethread_json::Tree;

    use super::*;

    #[test]
    fn the_text_alone_is_the_same_text() {
        for (json, text) in [
            (r#""a \u00fc""#, "a ü"),
            ("null", ""),
            ("[]", ""),
            (r#"[{"type":"text","text":"a"}]"#, "a"),
            (
                r#"[{"type":"text"},{"type":"thinking","text":"no"},7,{"type":"text","text":"b"}]"#,
                " b",
            ),
        ] {
            let tree = Tree::parse(json.as_bytes()).unwrap_or_default();
            let value = tree.root(json.as_bytes());
            assert_eq!(Content::text_in(value), text, "{json}");
            assert_eq!(Content::of(Some(value)).text(), text, "{json}");
        }
    }
}
