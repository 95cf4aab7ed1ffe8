//! The parts of a message as blocks.

use std::path::PathBuf;

use rethread_json::Passed;
use rethread_model::{
    Blob, Block, Diff, Json, Media, RawRef, Text, Thinking, ToolCall, ToolInput, ToolResult,
    ToolStatus, Visibility,
};

use super::members::Members;
use crate::few::{Rest, few_items};
use crate::kit::{media_block, url_blob};
use crate::passed::{passed_json, passed_string, passed_text};

/// Who looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// A person, who sees what is there.
    Person,
    /// The model, which sees what the client sends.
    Model,
}

/// How a part is looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sight {
    pub(super) by: By,
    /// Whether text that not everyone is meant to see stands among other text.
    pub(super) is_aside: bool,
}

/// What the client sends for a call that has no result.
const INTERRUPTED: &str = "[Tool execution was interrupted]";

/// What the client sends for an old result that it cleared to save room.
const CLEARED: &str = "[Old tool result content cleared]";

/// Adds the blocks of a part: a call and its result stand in one part.
pub(super) fn part_blocks(part: &Members<'_>, record: RawRef, sight: Sight, out: &mut Vec<Block>) {
    let is_aside = sight.is_aside;
    let [type_name, said] = part.pick(["type", "text"]);
    let type_name = type_name.and_then(Passed::str).unwrap_or_default();
    let said = || said.and_then(passed_text);
    let known = match &*type_name {
        "step-start" | "step-finish" | "retry" | "compaction" => Some(()),
        "text" => said().map(|text| out.push(spoken(part, text, is_aside))),
        "subtask" => {
            out.push(injected(Text::new(BY_USER), is_aside));
            Some(())
        }
        "reasoning" => said().map(|text| out.push(Block::Thinking(thinking(part, text)))),
        "tool" => tool(part, record, sight.by, out),
        "tool-invocation" => invocation(part, out),
        "file" => media(part, record).map(|media| out.push(media)),
        _ => None,
    };
    // The client sends nothing else.
    if known.is_none() && sight.by != By::Model {
        out.push(Block::Unknown {
            type_name: type_name.into_owned(),
            raw: Json::new(part.value().raw()),
        });
    }
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
fn spoken(part: &Members<'_>, text: Text, is_aside: bool) -> Block {
    let visibility = if part.is_true("ignored") {
        Visibility::UiOnly
    } else if part.is_true("synthetic") {
        Visibility::Injected
    } else {
        Visibility::Visible
    };
    if is_aside && visibility != Visibility::Visible {
        return Block::Aside { text, visibility };
    }
    Block::Text(text)
}

fn thinking(part: &Members<'_>, text: Text) -> Thinking {
    let metadata = part.get("metadata");
    let vendor = |path: &[&str]| passed_string(metadata?.at(path));
    Thinking {
        text,
        signature: vendor(&["anthropic", "signature"]),
        encrypted: vendor(&["openai", "reasoningEncryptedContent"]),
        redacted: vendor(&["anthropic", "redactedData"]).is_some(),
        ..Thinking::default()
    }
}

fn tool(part: &Members<'_>, record: RawRef, by: By, out: &mut Vec<Block>) -> Option<()> {
    let state = Members::of(part.get("state").filter(|s| s.is_object())?);
    let names = ["status", "title", "input", "output", "time", "metadata"];
    let [word, title, input, output, time, metadata] = state.pick(names);
    let [start, end, cleared] =
        time.map_or([None; 3], |time| time.pick(["start", "end", "compacted"]));
    let metadata = metadata.map(Members::of);
    let noted = |name| metadata.as_ref().and_then(|m| m.get(name));
    let id = passed_string(part.get("callID")).unwrap_or_default();
    let name = passed_string(part.get("tool")).unwrap_or_default();
    let word = passed_string(word).unwrap_or_default();
    let (status, is_done) = match word.as_str() {
        "pending" => (ToolStatus::Pending, false),
        "running" => (ToolStatus::Running, false),
        "completed" | "success" => (ToolStatus::Completed, true),
        "error" => (ToolStatus::Failed, true),
        _ => (ToolStatus::Other(word), output.is_some()),
    };
    let is_error = status == ToolStatus::Failed;
    let is_waiting = matches!(status, ToolStatus::Pending | ToolStatus::Running);
    let is_cleared = cleared.and_then(Passed::u64).is_some_and(|at| at > 0);
    let sent = match by {
        By::Model if is_waiting => Some(INTERRUPTED),
        By::Model if status == ToolStatus::Completed && is_cleared => Some(CLEARED),
        _ => None,
    };
    out.push(Block::ToolCall(ToolCall {
        title: passed_string(title).filter(|t| !t.is_empty()),
        input: passed_json(input).map(ToolInput::Json),
        status,
        duration_ms: end
            .and_then(Passed::f64)
            .zip(start.and_then(Passed::f64))
            .map(|(end, start)| end - start),
        diffs: noted("filediff").and_then(diff).into_iter().collect(),
        child_session: passed_string(noted("sessionId")),
        ..ToolCall::new(id.clone(), name.clone())
    }));
    if let Some(sent) = sent {
        out.push(Block::ToolResult(ToolResult {
            is_error: is_waiting,
            ..answer(id, name, vec![Block::Text(Text::new(sent))])
        }));
    } else if is_done {
        out.push(Block::ToolResult(ToolResult {
            is_error,
            structured: passed_json(state.get("metadata")),
            exit_code: noted("exit").and_then(Passed::i64),
            full_output: passed_string(noted("outputPath"))
                .map(|p| Blob::Outside(PathBuf::from(p))),
            ..answer(id, name, given(&state, metadata.as_ref(), is_error, record))
        }));
    }
    Some(())
}

/// The answer to a call.
fn answer(call_id: String, name: String, blocks: Vec<Block>) -> ToolResult {
    ToolResult {
        name: Some(name),
        blocks,
        ..ToolResult::new(call_id)
    }
}

/// What a call gave.
fn given(
    state: &Members<'_>,
    metadata: Option<&Members<'_>>,
    is_error: bool,
    record: RawRef,
) -> Vec<Block> {
    // Of what was stopped on its way the model sees as much as there was.
    let stopped = metadata.filter(|m| is_error && m.is_true("interrupted"));
    let partial = stopped.and_then(|m| passed_text(m.get("output")?));
    let given = state.get(if is_error { "error" } else { "output" });
    let said = partial.or_else(|| passed_text(given?)).map(Block::Text);
    let (attached, rest) = state.get("attachments").map(few_items).unzip();
    let attached = attached.into_iter().flatten();
    let attached = attached.filter_map(|file| media(&Members::of(file), record));
    let rest = rest.flatten().map(Rest::block);
    said.into_iter().chain(attached).chain(rest).collect()
}

/// The change of one file, as editing tools note it.
fn diff(changed: Passed<'_>) -> Option<Diff> {
    let [file, before, after] = changed.pick(["file", "before", "after"]);
    Some(Diff {
        path: passed_string(file)?,
        old: before.and_then(passed_text),
        new: after.and_then(passed_text),
    })
}

/// A call as the first versions wrote it.
fn invocation(part: &Members<'_>, out: &mut Vec<Block>) -> Option<()> {
    let call = part.get("toolInvocation").filter(|c| c.is_object())?;
    let [id, name, result, args] = call.pick(["toolCallId", "toolName", "result", "args"]);
    let id = passed_string(id).unwrap_or_default();
    let name = passed_string(name).unwrap_or_default();
    let result = result.and_then(passed_text);
    out.push(Block::ToolCall(ToolCall {
        input: passed_json(args).map(ToolInput::Json),
        status: match result {
            Some(_) => ToolStatus::Completed,
            None => ToolStatus::Running,
        },
        ..ToolCall::new(id.clone(), name.clone())
    }));
    out.extend(result.map(|text| Block::ToolResult(answer(id, name, vec![Block::Text(text)]))));
    Some(())
}

/// A picture or a file. One inside of the record is not decoded here.
fn media(part: &Members<'_>, record: RawRef) -> Option<Block> {
    let [url, mime, type_name, name] = part.pick(["url", "mime", "mediaType", "filename"]);
    Some(media_block(Media {
        mime: passed_string(mime).or_else(|| passed_string(type_name)),
        name: passed_string(name),
        ..Media::new(url_blob(url?, record)?)
    }))
}
