//! Calls of tools with their results, as the client keeps them beside a message.

use rethread_json::Value;
use rethread_model::{Blob, Block, Diff, RawRef, ToolCall, ToolInput, ToolResult, ToolStatus};

use super::content::{add_response, block, plain};
use super::fields::{json, string, text, text_of};

/// Where the whole answer of a call is, if it was saved to a file: by the file's name.
pub(super) type Outputs<'a> = &'a dyn Fn(&str) -> Option<Blob>;

/// A call and its result, which follows it.
pub(super) fn call_and_result(call: Value<'_>, raw: RawRef, outputs: Outputs<'_>) -> Vec<Block> {
    let tool = tool_call(call);
    let result = result(call, &tool, raw, outputs);
    let result = result.map(Block::ToolResult);
    std::iter::once(Block::ToolCall(tool))
        .chain(result)
        .collect()
}

fn tool_call(call: Value<'_>) -> ToolCall {
    let named = |key| string(call, key).unwrap_or_default();
    ToolCall {
        title: string(call, "displayName"),
        input: json(call, "args").map(ToolInput::Json),
        status: status(call),
        diffs: diff(call).into_iter().collect(),
        child_session: string(call, "agentId"),
        ..ToolCall::new(named("id"), named("name"))
    }
}

fn status(call: Value<'_>) -> ToolStatus {
    match string(call, "status").as_deref() {
        Some("success") => ToolStatus::Completed,
        Some("error") => ToolStatus::Failed,
        Some("cancelled") => ToolStatus::Cancelled,
        Some("executing") => ToolStatus::Running,
        None | Some("scheduled" | "validating" | "awaiting_approval") => ToolStatus::Pending,
        Some(other) => ToolStatus::Other(other.to_owned()),
    }
}

/// The change of a file that the client shows to the person.
fn diff(call: Value<'_>) -> Option<Diff> {
    let display = call.get("resultDisplay").filter(|d| d.is_object())?;
    display.get("fileDiff")?;
    Some(Diff {
        path: string(display, "filePath").or_else(|| string(display, "fileName"))?,
        old: text_of(display, "originalContent"),
        new: text_of(display, "newContent"),
    })
}

/// The result of a call; none if it has none yet.
fn result(
    call: Value<'_>,
    tool: &ToolCall,
    raw: RawRef,
    outputs: Outputs<'_>,
) -> Option<ToolResult> {
    let given = call.get("result").filter(|r| !r.is_null());
    let structured = json(call, "resultDisplay");
    if given.is_none() && structured.is_none() {
        return None;
    }
    let mut result = ToolResult {
        call_id: tool.id.clone(),
        name: Some(tool.name.clone()),
        blocks: Vec::new(),
        is_error: tool.status == ToolStatus::Failed,
        structured,
        exit_code: None,
        full_output: outputs(&output_name(&tool.name, &tool.id)),
    };
    if let Some(given) = given {
        let lone = (!given.is_array()).then_some(given);
        // When the client resumes a session, it puts the results of all calls beside each.
        let all = || lone.into_iter().chain(given.items());
        let has_own = all().any(|part| answers(part, &tool.id) == Some(true));
        for part in all() {
            match part.get("functionResponse").filter(|r| r.is_object()) {
                Some(_) if has_own && answers(part, &tool.id) == Some(false) => {}
                Some(response) => add_response(response, raw, &mut result),
                None => result.blocks.push(plain(block(part, raw))),
            }
        }
    } else if let Some(shown) = call.get("resultDisplay").and_then(text) {
        result.blocks.push(Block::Text(shown));
    }
    Some(result)
}

/// Whether a part answers this call; none where it says of no call that it does.
fn answers(part: Value<'_>, call: &str) -> Option<bool> {
    let id = part.at(&["functionResponse", "id"])?.str()?;
    Some(id == call)
}

/// The name of the file in which the client saves an answer that is too long, without its ending.
pub(super) fn output_name(tool: &str, id: &str) -> String {
    let safe = |text: &str| sanitized(text).to_lowercase();
    let (tool, id) = (safe(tool), safe(id));
    if id.starts_with(&tool) {
        id
    } else {
        format!("{tool}_{id}")
    }
}

/// Text as the client makes it fit for the name of a file.
pub(super) fn sanitized(text: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    // It counts in UTF-16.
    let one = |c: char| {
        if fits(c) {
            c.to_string()
        } else {
            "_".repeat(c.len_utf16())
        }
    };
    text.chars().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_saved_outputs() {
        for (tool, id, name) in [
            (
                "run_shell_command",
                "run_shell_command__fc_1",
                "run_shell_command__fc_1",
            ),
            ("read_file", "call.1/x", "read_file_call_1_x"),
            ("Grep", "GREP-😀", "grep-__"),
        ] {
            assert_eq!(output_name(tool, id), name);
        }
    }
}
