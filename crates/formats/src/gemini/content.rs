//! The parts of a message's content.

use std::borrow::Cow;

use rethread_json::{Passed, Skim, Strayed};
use rethread_model::{
    Blob, Block, Json, Media, RawRef, Text, Thinking, ToolCall, ToolInput, ToolResult, ToolStatus,
};

use crate::few::few_blocks;
use crate::kit::{inline_blob, media_block};
use crate::passed::{passed_json, passed_string, passed_text};

/// One part as a block.
pub(super) fn part_block(part: Passed<'_>, raw: RawRef) -> Block {
    let names = [
        "text",
        "thought",
        "thoughtSignature",
        "functionCall",
        "functionResponse",
        "inlineData",
        "fileData",
    ];
    let [said, thought, signature, call, response, data, file] = part.pick(names);
    let has = |value: Option<Passed<'_>>| value.is_some_and(|v| !v.is_null());
    let known = if let Some(call) = call.filter(|_| has(call)) {
        Some(Block::ToolCall(function_call(call, signature)))
    } else if let Some(response) = response.filter(|_| has(response)) {
        Some(Block::ToolResult(
            FunctionResponse::of(response).result(raw),
        ))
    } else if let Some(data) = data.filter(|_| has(data)) {
        inline(data, raw)
    } else if let Some(data) = file.filter(|_| has(file)) {
        Some(self::file(data))
    } else if thought.and_then(Passed::bool) == Some(true) {
        said.and_then(passed_text).map(|text| {
            Block::Thinking(Thinking {
                text,
                signature: passed_string(signature),
                summary: true,
                ..Thinking::default()
            })
        })
    } else {
        said.and_then(passed_text).map(Block::Text)
    };
    known
        .or_else(|| passed_text(part).map(Block::Text))
        .unwrap_or_else(|| unknown(part))
}

/// A part that nobody knows, by the name of its first member.
fn unknown(part: Passed<'_>) -> Block {
    let first = part.members().next().map(|(key, _)| key.text());
    Block::Unknown {
        type_name: first.map_or_else(|| "part".to_owned(), Cow::into_owned),
        raw: Json::new(part.raw()),
    }
}

fn function_call(call: Passed<'_>, signature: Option<Passed<'_>>) -> ToolCall {
    let [id, name, args] = call.pick(["id", "name", "args"]);
    let named = |value| passed_string(value).unwrap_or_default();
    ToolCall {
        input: passed_json(args).map(ToolInput::Json),
        // How it ended is in its result.
        status: ToolStatus::Completed,
        signature: passed_string(signature),
        ..ToolCall::new(named(id), named(name))
    }
}

/// Pictures are shown as such; everything else is a file.
fn inline(data: Passed<'_>, record: RawRef) -> Option<Block> {
    let [bytes, mime, name] = data.pick(["data", "mimeType", "displayName"]);
    Some(media_block(Media {
        mime: passed_string(mime),
        name: passed_string(name),
        ..Media::new(inline_blob(bytes?, record)?)
    }))
}

fn file(data: Passed<'_>) -> Block {
    let [uri, mime, name] = data.pick(["fileUri", "mimeType", "displayName"]);
    media_block(Media {
        mime: passed_string(mime),
        name: passed_string(name),
        ..Media::new(Blob::Url(passed_string(uri).unwrap_or_default()))
    })
}

/// A `functionResponse`.
#[derive(Clone, Copy)]
pub(super) struct FunctionResponse<'a> {
    id: Option<Passed<'a>>,
    name: Option<Passed<'a>>,
    said: Option<Passed<'a>>,
    parts: Option<Passed<'a>>,
}

impl<'a> FunctionResponse<'a> {
    fn of(response: Passed<'a>) -> Self {
        let [id, name, said, parts] = response.pick(["id", "name", "response", "parts"]);
        Self {
            id,
            name,
            said,
            parts,
        }
    }

    /// The one that comes next; none where that is no object.
    pub(super) fn next(skim: &mut Skim<'a>) -> Result<Option<Self>, Strayed> {
        let response = skim.pass()?;
        Ok(response.is_object().then(|| Self::of(response)))
    }

    /// The call that it answers, if it says so.
    pub(super) fn id(&self) -> Option<Cow<'a, str>> {
        self.id?.str()
    }

    fn result(self, raw: RawRef) -> ToolResult {
        let mut result = ToolResult {
            name: passed_string(self.name),
            ..ToolResult::new(passed_string(self.id).unwrap_or_default())
        };
        self.add(raw, &mut result);
        result
    }

    /// Adds what it says to a result: a text under `output` or `error`, else its JSON as it stands.
    pub(super) fn add(&self, raw: RawRef, result: &mut ToolResult) {
        if let Some(said) = self.said.filter(|r| !r.is_null()) {
            let [output, error] = said.pick(["output", "error"]);
            let error = error.and_then(passed_text);
            result.is_error |= error.is_some() && output.is_none();
            let texts = [output.and_then(passed_text), error];
            let before = result.blocks.len();
            for text in texts.into_iter().flatten() {
                result.exit_code = result.exit_code.or_else(|| exit_code(&text.value));
                result.blocks.push(Block::Text(text));
            }
            if result.blocks.len() == before && said.members().next().is_some() {
                let json = String::from_utf8_lossy(said.raw()).into_owned();
                result.blocks.push(Block::Text(Text::new(json)));
            }
        }
        // Newer models take pictures inside of a result.
        if let Some(parts) = self.parts {
            let parts = few_blocks(parts, |part| plain_block(part_block(part, raw)));
            result.blocks.extend(parts);
        }
    }
}

/// A result holds neither calls nor results; one that stands there is kept as a block that nobody
/// knows.
pub(super) fn plain_block(block: Block) -> Block {
    match block {
        Block::ToolCall(ToolCall {
            input: Some(ToolInput::Json(raw)),
            name,
            ..
        }) => Block::Unknown {
            type_name: name,
            raw,
        },
        Block::ToolCall(_) | Block::ToolResult(_) => Block::Unknown {
            type_name: "functionResponse".to_owned(),
            raw: Json::new(b"null"),
        },
        other => other,
    }
}

/// The exit code that the client's shell tool writes into its answer.
fn exit_code(output: &str) -> Option<i64> {
    // At the end, behind what the command printed.
    let mut lines = output.lines().rev().take(8);
    lines.find_map(|line| line.strip_prefix("Exit Code: ")?.trim().parse().ok())
}
