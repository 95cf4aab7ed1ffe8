//! The parts of a message as blocks.

use std::path::PathBuf;

use rethread_json::Value;
use rethread_model::{
    Blob, Block, Diff, Json, Media, RawRef, Text, Thinking, ToolCall, ToolInput, ToolResult,
    ToolStatus, Visibility,
};

use crate::fields::{is_true, json, string, text_of};

/// The blocks of a part: a call and its result stand in one part.
pub(super) fn blocks(part: Value<'_>, record: RawRef, is_aside: bool) -> Vec<Block> {
    let type_name = string(part, "type").unwrap_or_default();
    let known = match type_name.as_str() {
        "step-start" | "step-finish" | "retry" | "compaction" => Some(Vec::new()),
        "text" => text_of(part, "text").map(|text| vec![said(part, text, is_aside)]),
        "subtask" => Some(vec![injected(Text::new(BY_USER), is_aside)]),
        "reasoning" => thinking(part).map(|t| vec![Block::Thinking(t)]),
        "tool" => tool(part, record),
        "tool-invocation" => invocation(part),
        "file" => media(part, record).map(|m| vec![m]),
        _ => None,
    };
    known.unwrap_or_else(|| {
        vec![Block::Unknown {
            type_name,
            raw: Json::new(part.raw()),
        }]
    })
}

/// What the client tells the model where the user had a task done: the call of it comes next.
const BY_USER: &str = "The following tool was executed by the user";

fn injected(text: Text, is_aside: bool) -> Block {
    let visibility = Visibility::Injected;
    if is_aside {
        Block::Aside { text, visibility }
    } else {
        Block::Text(text)
    }
}

/// Text; what nobody typed, or what is not sent, stands aside among other text.
fn said(part: Value<'_>, text: Text, is_aside: bool) -> Block {
    let visibility = if is_true(part, "ignored") {
        Visibility::UiOnly
    } else if is_true(part, "synthetic") {
        Visibility::Injected
    } else {
        Visibility::Visible
    };
    if is_aside && visibility != Visibility::Visible {
        return Block::Aside { text, visibility };
    }
    Block::Text(text)
}

fn thinking(part: Value<'_>) -> Option<Thinking> {
    let vendor = |path: &[&str]| {
        let value = part.get("metadata")?.at(path)?;
        Some(value.str()?.into_owned())
    };
    Some(Thinking {
        text: text_of(part, "text")?,
        signature: vendor(&["anthropic", "signature"]),
        encrypted: vendor(&["openai", "reasoningEncryptedContent"]),
        redacted: vendor(&["anthropic", "redactedData"]).is_some(),
        ..Thinking::default()
    })
}

fn tool(part: Value<'_>, record: RawRef) -> Option<Vec<Block>> {
    let state = part.get("state").filter(|s| s.is_object())?;
    let id = string(part, "callID").unwrap_or_default();
    let name = string(part, "tool").unwrap_or_default();
    let word = string(state, "status").unwrap_or_default();
    let (status, is_done) = match word.as_str() {
        "pending" => (ToolStatus::Pending, false),
        "running" => (ToolStatus::Running, false),
        "completed" | "success" => (ToolStatus::Completed, true),
        "error" => (ToolStatus::Failed, true),
        _ => (ToolStatus::Other(word), state.get("output").is_some()),
    };
    let is_error = status == ToolStatus::Failed;
    let time = |key| state.at(&["time", key]).and_then(Value::f64);
    let metadata = state.get("metadata");
    let child = metadata.and_then(|m| string(m, "sessionId"));
    let call = ToolCall {
        title: string(state, "title").filter(|t| !t.is_empty()),
        input: json(state, "input").map(ToolInput::Json),
        status,
        duration_ms: time("end")
            .zip(time("start"))
            .map(|(end, start)| end - start),
        diffs: metadata.and_then(diff).into_iter().collect(),
        child_session: child,
        ..ToolCall::new(id.clone(), name.clone())
    };
    let mut blocks = vec![Block::ToolCall(call)];
    if is_done {
        let key = if is_error { "error" } else { "output" };
        // Of what was stopped on its way the model sees as much as there was.
        let stopped = metadata.filter(|m| is_error && is_true(*m, "interrupted"));
        let partial = stopped.and_then(|m| text_of(m, "output"));
        let said = partial.or_else(|| text_of(state, key)).map(Block::Text);
        let attached = state.get("attachments").into_iter().flat_map(Value::items);
        let attached = attached.filter_map(|file| media(file, record));
        blocks.push(Block::ToolResult(ToolResult {
            call_id: id,
            name: Some(name),
            blocks: said.into_iter().chain(attached).collect(),
            is_error,
            structured: json(state, "metadata"),
            exit_code: metadata.and_then(|m| m.get("exit")?.i64()),
            full_output: metadata
                .and_then(|m| string(m, "outputPath"))
                .map(|path| Blob::Outside(PathBuf::from(path))),
        }));
    }
    Some(blocks)
}

/// The change of one file, as editing tools note it.
fn diff(metadata: Value<'_>) -> Option<Diff> {
    let changed = metadata.get("filediff")?;
    Some(Diff {
        path: string(changed, "file")?,
        old: text_of(changed, "before"),
        new: text_of(changed, "after"),
    })
}

/// A call as the first versions wrote it.
fn invocation(part: Value<'_>) -> Option<Vec<Block>> {
    let call = part.get("toolInvocation").filter(|c| c.is_object())?;
    let id = string(call, "toolCallId").unwrap_or_default();
    let name = string(call, "toolName").unwrap_or_default();
    let result = text_of(call, "result");
    let mut blocks = vec![Block::ToolCall(ToolCall {
        input: json(call, "args").map(ToolInput::Json),
        status: match result {
            Some(_) => ToolStatus::Completed,
            None => ToolStatus::Running,
        },
        ..ToolCall::new(id.clone(), name.clone())
    })];
    blocks.extend(result.map(|text| {
        Block::ToolResult(ToolResult {
            call_id: id,
            name: Some(name),
            blocks: vec![Block::Text(text)],
            is_error: false,
            structured: None,
            exit_code: None,
            full_output: None,
        })
    }));
    Some(blocks)
}

/// A picture or a file. One inside of the record is not decoded here.
fn media(part: Value<'_>, record: RawRef) -> Option<Block> {
    let url = part.get("url")?;
    let text = url.str()?;
    let mime = string(part, "mime").or_else(|| string(part, "mediaType"));
    let blob = match text.strip_prefix("data:") {
        None => Blob::Url(text.into_owned()),
        Some(data) => inline(url, data, record),
    };
    let is_image = mime.as_deref().is_some_and(|m| m.starts_with("image/"));
    let media = Media {
        mime,
        name: string(part, "filename"),
        uri: None,
        blob,
    };
    Some(if is_image {
        Block::Image(media)
    } else {
        Block::File(media)
    })
}

fn inline(url: Value<'_>, data: &str, record: RawRef) -> Blob {
    const MARK: &[u8] = b";base64,";
    let spelled = url.content().unwrap_or_default();
    // Only where nothing is escaped are the bytes in the record those of the text.
    let plain = !spelled.contains(&b'\\');
    match memchr::memmem::find(spelled, MARK) {
        Some(at) if plain => {
            let start = at + MARK.len();
            Blob::Inline {
                record,
                // Behind the quote.
                start: (url.span().start + 1 + start) as u64,
                len: (spelled.len() - start) as u64,
            }
        }
        _ => Blob::Text(Text::new(data.split_once(',').map_or(data, |(_, d)| d))),
    }
}
