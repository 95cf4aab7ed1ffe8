//! The parts of a message as blocks.

use std::path::PathBuf;

use rethread_json::Passed;
use rethread_model::{
    Blob, Block, Diff, Json, Media, RawRef, Text, Thinking, ToolCall, ToolInput, ToolResult,
    ToolStatus, Visibility,
};

use crate::passed::{json, string, text};

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

/// The blocks of a part: a call and its result stand in one part.
pub(super) fn blocks(part: Passed<'_>, record: RawRef, sight: Sight) -> Vec<Block> {
    let is_aside = sight.is_aside;
    let [type_name, said] = part.pick(["type", "text"]);
    let type_name = type_name.and_then(Passed::str).unwrap_or_default();
    let said = || said.and_then(text);
    let known = match &*type_name {
        "step-start" | "step-finish" | "retry" | "compaction" => Some(Vec::new()),
        "text" => said().map(|text| vec![spoken(part, text, is_aside)]),
        "subtask" => Some(vec![injected(Text::new(BY_USER), is_aside)]),
        "reasoning" => said().map(|text| vec![Block::Thinking(thinking(part, text))]),
        "tool" => tool(part, record, sight.by),
        "tool-invocation" => invocation(part),
        "file" => media(part, record).map(|m| vec![m]),
        _ => None,
    };
    known.unwrap_or_else(|| {
        // The client sends nothing else.
        if sight.by == By::Model {
            return Vec::new();
        }
        vec![Block::Unknown {
            type_name: type_name.into_owned(),
            raw: Json::new(part.raw()),
        }]
    })
}

fn is_true(flag: Option<Passed<'_>>) -> bool {
    flag.and_then(Passed::bool) == Some(true)
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
fn spoken(part: Passed<'_>, text: Text, is_aside: bool) -> Block {
    let [ignored, synthetic] = part.pick(["ignored", "synthetic"]);
    let visibility = if is_true(ignored) {
        Visibility::UiOnly
    } else if is_true(synthetic) {
        Visibility::Injected
    } else {
        Visibility::Visible
    };
    if is_aside && visibility != Visibility::Visible {
        return Block::Aside { text, visibility };
    }
    Block::Text(text)
}

fn thinking(part: Passed<'_>, text: Text) -> Thinking {
    let metadata = part.get("metadata");
    let vendor = |path: &[&str]| string(metadata?.at(path));
    Thinking {
        text,
        signature: vendor(&["anthropic", "signature"]),
        encrypted: vendor(&["openai", "reasoningEncryptedContent"]),
        redacted: vendor(&["anthropic", "redactedData"]).is_some(),
        ..Thinking::default()
    }
}

/// What a call of a tool came to.
struct State<'a> {
    status: Option<Passed<'a>>,
    title: Option<Passed<'a>>,
    input: Option<Passed<'a>>,
    output: Option<Passed<'a>>,
    error: Option<Passed<'a>>,
    time: Option<Passed<'a>>,
    metadata: Option<Passed<'a>>,
    attachments: Option<Passed<'a>>,
}

impl<'a> State<'a> {
    fn of(state: Passed<'a>) -> Self {
        let names = [
            "status",
            "title",
            "input",
            "output",
            "error",
            "time",
            "metadata",
            "attachments",
        ];
        let [
            status,
            title,
            input,
            output,
            error,
            time,
            metadata,
            attachments,
        ] = state.pick(names);
        Self {
            status,
            title,
            input,
            output,
            error,
            time,
            metadata,
            attachments,
        }
    }

    /// Whether the client cleared the result.
    fn is_cleared(&self) -> bool {
        let cleared = self.time.and_then(|time| time.get("compacted")?.u64());
        cleared.is_some_and(|at| at > 0)
    }

    fn duration_ms(&self) -> Option<f64> {
        let [start, end] = self.time?.pick(["start", "end"]);
        Some(end?.f64()? - start?.f64()?)
    }
}

/// What tools note of what they did.
#[derive(Default)]
struct Metadata<'a> {
    session: Option<Passed<'a>>,
    changed: Option<Passed<'a>>,
    interrupted: bool,
    output: Option<Passed<'a>>,
    exit: Option<Passed<'a>>,
    path: Option<Passed<'a>>,
}

impl<'a> Metadata<'a> {
    fn of(metadata: Passed<'a>) -> Self {
        let names = [
            "sessionId",
            "filediff",
            "interrupted",
            "output",
            "exit",
            "outputPath",
        ];
        let [session, changed, interrupted, output, exit, path] = metadata.pick(names);
        Self {
            session,
            changed,
            interrupted: is_true(interrupted),
            output,
            exit,
            path,
        }
    }
}

fn tool(part: Passed<'_>, record: RawRef, by: By) -> Option<Vec<Block>> {
    let [state, id, name] = part.pick(["state", "callID", "tool"]);
    let state = State::of(state.filter(|s| s.is_object())?);
    let metadata = state.metadata.map(Metadata::of).unwrap_or_default();
    let id = string(id).unwrap_or_default();
    let name = string(name).unwrap_or_default();
    let word = string(state.status).unwrap_or_default();
    let (status, is_done) = match word.as_str() {
        "pending" => (ToolStatus::Pending, false),
        "running" => (ToolStatus::Running, false),
        "completed" | "success" => (ToolStatus::Completed, true),
        "error" => (ToolStatus::Failed, true),
        _ => (ToolStatus::Other(word), state.output.is_some()),
    };
    let is_error = status == ToolStatus::Failed;
    let is_waiting = matches!(status, ToolStatus::Pending | ToolStatus::Running);
    let is_cleared = status == ToolStatus::Completed && state.is_cleared();
    let sent = match by {
        By::Model if is_waiting => Some(INTERRUPTED),
        By::Model if is_cleared => Some(CLEARED),
        _ => None,
    };
    let call = ToolCall {
        title: string(state.title).filter(|t| !t.is_empty()),
        input: json(state.input).map(ToolInput::Json),
        status,
        duration_ms: state.duration_ms(),
        diffs: metadata.changed.and_then(diff).into_iter().collect(),
        child_session: string(metadata.session),
        ..ToolCall::new(id.clone(), name.clone())
    };
    let mut blocks = vec![Block::ToolCall(call)];
    if let Some(sent) = sent {
        blocks.push(Block::ToolResult(ToolResult {
            call_id: id,
            name: Some(name),
            blocks: vec![Block::Text(Text::new(sent))],
            is_error: is_waiting,
            structured: None,
            exit_code: None,
            full_output: None,
        }));
    } else if is_done {
        blocks.push(Block::ToolResult(ToolResult {
            call_id: id,
            name: Some(name),
            ..result(&state, &metadata, is_error, record)
        }));
    }
    Some(blocks)
}

/// What a call gave.
fn result(
    state: &State<'_>,
    metadata: &Metadata<'_>,
    is_error: bool,
    record: RawRef,
) -> ToolResult {
    // Of what was stopped on its way the model sees as much as there was.
    let is_stopped = is_error && metadata.interrupted;
    let partial = metadata.output.filter(|_| is_stopped).and_then(text);
    let given = if is_error { state.error } else { state.output };
    let said = partial.or_else(|| text(given?)).map(Block::Text);
    let attached = state.attachments.into_iter().flat_map(Passed::items);
    let attached = attached.filter_map(|file| media(file, record));
    ToolResult {
        call_id: String::new(),
        name: None,
        blocks: said.into_iter().chain(attached).collect(),
        is_error,
        structured: json(state.metadata),
        exit_code: metadata.exit.and_then(Passed::i64),
        full_output: string(metadata.path).map(|path| Blob::Outside(PathBuf::from(path))),
    }
}

/// The change of one file, as editing tools note it.
fn diff(changed: Passed<'_>) -> Option<Diff> {
    let [file, before, after] = changed.pick(["file", "before", "after"]);
    Some(Diff {
        path: string(file)?,
        old: before.and_then(text),
        new: after.and_then(text),
    })
}

/// A call as the first versions wrote it.
fn invocation(part: Passed<'_>) -> Option<Vec<Block>> {
    let call = part.get("toolInvocation").filter(|c| c.is_object())?;
    let [id, name, result, args] = call.pick(["toolCallId", "toolName", "result", "args"]);
    let id = string(id).unwrap_or_default();
    let name = string(name).unwrap_or_default();
    let result = result.and_then(text);
    let mut blocks = vec![Block::ToolCall(ToolCall {
        input: json(args).map(ToolInput::Json),
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
fn media(part: Passed<'_>, record: RawRef) -> Option<Block> {
    let [url, mime, type_name, name] = part.pick(["url", "mime", "mediaType", "filename"]);
    let url = url?;
    let text = url.str()?;
    let mime = string(mime).or_else(|| string(type_name));
    let blob = match text.strip_prefix("data:") {
        None => Blob::Url(text.into_owned()),
        Some(data) => inline(url, data, record),
    };
    let is_image = mime.as_deref().is_some_and(|m| m.starts_with("image/"));
    let media = Media {
        mime,
        name: string(name),
        uri: None,
        blob,
    };
    Some(if is_image {
        Block::Image(media)
    } else {
        Block::File(media)
    })
}

fn inline(url: Passed<'_>, data: &str, record: RawRef) -> Blob {
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
        _ => Blob::Url(format!("data:{data}")),
    }
}
