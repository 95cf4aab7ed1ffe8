//! Content blocks, and those that stand in `message_extensions`.

use std::path::PathBuf;

use rethread_disk::SafeName;
use rethread_json::Value;
use rethread_model::{
    Blob, Block, Diff, Json, Location, Media, Thinking, ToolCall, ToolInput, ToolResult, ToolStatus,
};

use super::body::ObjectPlace;
use super::fields::{message_extensions, read_visibility};
use super::flat;
use crate::few::{Rest, few_items};
use crate::fields::{count_of, is_true, json_of, string_of, text_of};
use crate::kit::plain_input;

/// Results that came in a message of their own behind their calls.
#[derive(Default)]
pub(super) struct LaterResults {
    blocks: Vec<Block>,
    /// Where they stood, if that is not right behind their calls.
    places: Vec<usize>,
}

impl LaterResults {
    /// Puts each result behind its call, and at the end where there is none.
    pub(super) fn put_behind_calls(self, blocks: &mut Vec<Block>) {
        if self.places.len() == self.blocks.len() {
            for (answer, place) in self.blocks.into_iter().zip(self.places) {
                blocks.insert(place.min(blocks.len()), answer);
            }
            return;
        }
        for answer in self.blocks {
            let id = match &answer {
                Block::ToolResult(result) => result.call_id.clone(),
                _ => String::new(),
            };
            let is_call = |b: &Block| matches!(b, Block::ToolCall(call) if call.id == id);
            let mut at = blocks
                .iter()
                .position(is_call)
                .map_or(blocks.len(), |i| i + 1);
            let is_answer = |b: &Block| matches!(b, Block::ToolResult(r) if r.call_id == id);
            while blocks.get(at).is_some_and(is_answer) {
                at += 1;
            }
            blocks.insert(at, answer);
        }
    }
}

/// Reads the blocks of an object.
pub(super) fn read_blocks(
    value: Value<'_>,
    place: ObjectPlace,
    out: &mut Vec<Block>,
    answers: &mut LaterResults,
) {
    let more = message_extensions(value);
    let joined = more.is_some_and(|m| is_true(m, "joined"));
    let mut own: Vec<Block> = match value.get("content") {
        Some(content) if content.text().is_some() => text_of(value, "content")
            .map(Block::Text)
            .into_iter()
            .collect(),
        Some(content) => listed_blocks(content, place).collect(),
        None => Vec::new(),
    };
    own.extend(flat::flat_calls(value));
    let Some(more) = more else {
        out.append(&mut own);
        return;
    };
    refine_tools(&mut own, more, place);
    if let Some(others) = more.get("blocks") {
        insert_other_blocks(&mut own, others, place);
    }
    let is_result = |b: &Block| matches!(b, Block::ToolResult(_));
    if joined && !own.is_empty() && own.iter().all(is_result) {
        let places = more.get("places").map(Value::items).into_iter().flatten();
        let places = places.filter_map(|p| usize::try_from(p.u64()?).ok());
        answers.places.extend(places);
        answers.blocks.append(&mut own);
    } else {
        out.append(&mut own);
    }
}

/// Puts blocks that the document has no words for where they stood: `at` counts those before.
fn insert_other_blocks(blocks: &mut Vec<Block>, others: Value<'_>, place: ObjectPlace) {
    let (items, rest) = few_items(others);
    for (added, other) in items.enumerate() {
        let at = count_of(other, "at").unwrap_or(u64::MAX);
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        let at = at.saturating_add(added).min(blocks.len());
        blocks.insert(at, read_block(other, place));
    }
    blocks.extend(rest.map(Rest::block));
}

fn listed_blocks(list: Value<'_>, place: ObjectPlace) -> impl Iterator<Item = Block> {
    let (items, rest) = few_items(list);
    let items = items.map(move |item| read_block(item, place));
    items.chain(rest.map(Rest::block))
}

fn read_block(value: Value<'_>, place: ObjectPlace) -> Block {
    let kind = string_of(value, "type").unwrap_or_default();
    match kind.as_str() {
        "text" => Block::Text(text_of(value, "text").unwrap_or_default()),
        "tool_use" => Block::ToolCall(ToolCall {
            input: value.get("input").map(plain_input),
            status: ToolStatus::Completed,
            ..ToolCall::new(
                string_of(value, "tool_id").unwrap_or_default(),
                string_of(value, "tool_name").unwrap_or_default(),
            )
        }),
        "tool_result" => Block::ToolResult(ToolResult {
            name: string_of(value, "tool_name").filter(|name| !name.is_empty()),
            blocks: match value.get("output") {
                Some(output) if output.text().is_none() => {
                    vec![Block::text(String::from_utf8_lossy(output.raw()))]
                }
                _ => text_of(value, "output")
                    .map(Block::Text)
                    .into_iter()
                    .collect(),
            },
            is_error: is_true(value, "is_error"),
            ..ToolResult::new(string_of(value, "tool_id").unwrap_or_default())
        }),
        "aside" => Block::Aside {
            text: text_of(value, "text").unwrap_or_default(),
            visibility: read_visibility(value).unwrap_or_default(),
        },
        "thinking" => Block::Thinking(Thinking {
            text: text_of(value, "text").unwrap_or_default(),
            signature: string_of(value, "signature"),
            encrypted: string_of(value, "encrypted"),
            redacted: is_true(value, "redacted"),
            summary: is_true(value, "summary"),
        }),
        "image" => Block::Image(read_media(value, place)),
        "file" => Block::File(read_media(value, place)),
        "unknown" if value.get("raw").is_some() => Block::Unknown {
            type_name: string_of(value, "name").unwrap_or_default(),
            raw: json_of(value, "raw").unwrap_or_else(|| Json::new(b"null")),
        },
        _ => Block::Unknown {
            type_name: kind,
            raw: Json::new(value.raw()),
        },
    }
}

fn read_media(value: Value<'_>, place: ObjectPlace) -> Media {
    Media {
        mime: string_of(value, "mime"),
        name: string_of(value, "name"),
        uri: string_of(value, "uri"),
        blob: read_blob(value, place),
    }
}

/// Where the bytes are. A file of the session is known by its name alone: it is not on this machine,
/// and no export may point at what is.
fn read_blob(value: Value<'_>, place: ObjectPlace) -> Blob {
    if let Some(data) = value.get("data").and_then(Value::content) {
        let span = value.get("data").map(Value::span).unwrap_or_default();
        let (record, start) = place.byte_at(span.start + 1);
        return Blob::Inline {
            record,
            start,
            len: data.len() as u64,
        };
    }
    if let Some(path) = string_of(value, "path") {
        let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
        return match SafeName::new(name) {
            Ok(_) => Blob::File(PathBuf::from(name)),
            Err(_) => Blob::Missing(path),
        };
    }
    if let Some(path) = string_of(value, "outside_path") {
        return Blob::Outside(PathBuf::from(path));
    }
    if let Some(url) = string_of(value, "url") {
        return Blob::Url(url);
    }
    if let Some(held) = text_of(value, "text") {
        return Blob::Text(held);
    }
    Blob::Missing(string_of(value, "missing").unwrap_or_default())
}

/// Takes over what `tools` and `results` say about calls and answers. They come in the same order.
fn refine_tools(blocks: &mut [Block], more: Value<'_>, place: ObjectPlace) {
    let mut tools = more.get("tools").map(|t| t.items().peekable());
    let mut results = more.get("results").map(|r| r.items().peekable());
    let is_of = |value: &Value<'_>, id: &str| value.get("tool_id").is_some_and(|t| t.is_str(id));
    for block in blocks {
        match block {
            Block::ToolCall(call) => {
                let tools = tools.as_mut();
                if let Some(found) = tools.and_then(|t| t.next_if(|v| is_of(v, &call.id))) {
                    refine_call(call, found);
                }
            }
            Block::ToolResult(result) => {
                let results = results.as_mut();
                if let Some(found) = results.and_then(|r| r.next_if(|v| is_of(v, &result.call_id)))
                {
                    refine_result(result, found, place);
                }
            }
            _ => {}
        }
    }
}

fn refine_call(call: &mut ToolCall, more: Value<'_>) {
    call.namespace = string_of(more, "namespace");
    call.title = string_of(more, "title");
    call.kind = string_of(more, "kind");
    call.status = match string_of(more, "status").as_deref() {
        Some("pending") => ToolStatus::Pending,
        Some("running") => ToolStatus::Running,
        Some("failed") => ToolStatus::Failed,
        Some("cancelled") => ToolStatus::Cancelled,
        Some("completed") | None => ToolStatus::Completed,
        Some(other) => ToolStatus::Other(other.to_owned()),
    };
    call.duration_ms = more.get("duration_ms").and_then(Value::f64);
    let items = |key| more.get(key).map(Value::items).into_iter().flatten();
    call.diffs = items("diffs")
        .map(|diff| Diff {
            path: string_of(diff, "path").unwrap_or_default(),
            old: text_of(diff, "old"),
            new: text_of(diff, "new"),
        })
        .collect();
    call.locations = items("locations")
        .map(|location| Location {
            path: string_of(location, "path").unwrap_or_default(),
            line: count_of(location, "line"),
        })
        .collect();
    call.child_session = string_of(more, "child_session_id");
    call.signature = string_of(more, "signature");
    call.by_user = is_true(more, "by_user");
    call.hosted = is_true(more, "hosted");
    match (string_of(more, "input").as_deref(), &call.input) {
        (Some("none"), _) => call.input = None,
        (Some("json"), Some(ToolInput::Text(said))) => {
            let json = rethread_json::quote(&said.value);
            call.input = Some(ToolInput::Json(Json::new(&json)));
        }
        _ => {}
    }
}

fn refine_result(result: &mut ToolResult, more: Value<'_>, place: ObjectPlace) {
    if is_true(more, "unnamed") {
        result.name = None;
    }
    result.exit_code = more.get("exit_code").and_then(Value::i64);
    result.structured = json_of(more, "structured");
    result.full_output = more.get("full_output").map(|whole| read_blob(whole, place));
    if let Some(lengths) = more.get("text_lengths") {
        result.blocks = cut_output(&result.blocks, lengths);
    }
    if let Some(others) = more.get("blocks") {
        insert_other_blocks(&mut result.blocks, others, place);
    }
}

/// Cuts an output into the texts that it was joined from.
fn cut_output(joined: &[Block], lengths: Value<'_>) -> Vec<Block> {
    let Some(Block::Text(all)) = joined.first() else {
        return Vec::new();
    };
    let mut from = 0_usize;
    let mut texts = Vec::new();
    for length in lengths.items() {
        let length = length.u64().and_then(|n| usize::try_from(n).ok());
        let end = length.and_then(|n| from.checked_add(n));
        let Some(end) = end.filter(|end| all.value.get(from..*end).is_some()) else {
            return joined.to_vec();
        };
        texts.push(Block::Text(all.part(from..end)));
        let rest = all.value.get(end..).unwrap_or_default();
        from = end + usize::from(rest.starts_with('\n'));
    }
    texts
}
