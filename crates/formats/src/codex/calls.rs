//! Calls of tools: their ids, and what events say about them beyond their items.

use std::borrow::Cow;

use rethread_json::{Tree, Value};
use rethread_model::{Diff, Json, Text, ToolCall, ToolResult, ToolStatus};

use crate::fields::{filled_of, json_of, string_of, text_of};

/// The id of the call that an item or event is about.
pub(super) fn call_id(payload: Value<'_>) -> Option<String> {
    let ids = payload.pick(["call_id", "callId", "id"]);
    let mut ids = ids.into_iter().flatten().filter_map(Value::str);
    ids.find(|id| !id.is_empty()).map(Cow::into_owned)
}

/// The session of the sub-agent that a call started, by its output.
pub(super) fn spawned_thread(output: Value<'_>) -> Option<String> {
    let text = output.get("output")?.str()?;
    let tree = Tree::parse(text.as_bytes()).ok()?;
    filled_of(tree.root(text.as_bytes()), "agent_id")
}

/// The sessions of sub-agents that a call started, by an event about it.
pub(super) fn started_threads(event: Value<'_>) -> Vec<String> {
    let mut started: Vec<String> = filled_of(event, "new_thread_id").into_iter().collect();
    if event.get("tool").is_some_and(|t| t.is_str("spawn_agent")) {
        let ids = event.get("receiver_thread_ids").into_iter();
        started.extend(
            ids.flat_map(Value::items)
                .filter_map(|id| Some(id.str()?.into_owned())),
        );
    }
    started
}

/// Adds to a call what an event says about it.
pub(super) fn add_to_call(call: &mut ToolCall, event: Value<'_>) {
    if let Some(ms) = duration(event) {
        call.duration_ms = Some(ms);
    }
    if let Some(child) = started_threads(event).into_iter().next() {
        call.child_session = Some(child);
    }
    if let Some(changes) = event.get("changes") {
        let diffs: Vec<Diff> = changes
            .members()
            .filter_map(|(path, c)| diff(path, c))
            .collect();
        if !diffs.is_empty() {
            call.diffs = diffs;
        }
    }
    match string_of(event, "status").as_deref() {
        Some("failed") => call.status = ToolStatus::Failed,
        Some("declined") => call.status = ToolStatus::Cancelled,
        _ => {}
    }
}

/// Adds to a result what an event says about it.
pub(super) fn add_to_result(result: &mut ToolResult, event: Value<'_>) {
    if let Some(code) = event.get("exit_code").and_then(Value::i64) {
        result.exit_code = Some(code);
        result.is_error |= code != 0;
    }
    let failed = event.get("success").and_then(Value::bool) == Some(false)
        || event.at(&["result", "Err"]).is_some()
        || event.at(&["result", "Ok", "isError"]).and_then(Value::bool) == Some(true)
        || event
            .get("status")
            .is_some_and(|s| s.is_str("failed") || s.is_str("declined"));
    result.is_error |= failed;
    let structured = event
        .at(&["result", "Ok", "structuredContent"])
        .or_else(|| event.at(&["result", "structuredContent"]))
        .filter(|v| !v.is_null());
    if let Some(structured) = structured {
        result.structured = Some(Json::new(structured.raw()));
    }
}

/// How long a call took: `{secs, nanos}`, or milliseconds between two moments.
fn duration(event: Value<'_>) -> Option<f64> {
    let part = |key| event.at(&["duration", key]).and_then(Value::f64);
    if let Some(secs) = part("secs") {
        return Some(secs * 1e3 + part("nanos").unwrap_or(0.0) / 1e6);
    }
    event.get("duration_ms").and_then(Value::f64)
}

fn diff(path: Value<'_>, change: Value<'_>) -> Option<Diff> {
    let path = path.str()?.into_owned();
    let content = text_of(change, "content");
    let (old, new) = match string_of(change, "type").as_deref() {
        Some("add") => (None, content),
        Some("delete") => (content, None),
        // Only the lines that changed are there: what is removed, and what is added.
        _ => sides(&string_of(change, "unified_diff")?),
    };
    Some(Diff { path, old, new })
}

/// The two sides of the hunks of a diff.
fn sides(diff: &str) -> (Option<Text>, Option<Text>) {
    let (mut old, mut new) = (String::new(), String::new());
    for line in diff.lines().filter(|l| !l.starts_with("@@")) {
        let (sign, rest) = line.split_at_checked(1).unwrap_or(("", ""));
        for (signs, side) in [("- ", &mut old), ("+ ", &mut new)] {
            if !sign.is_empty() && signs.contains(sign) {
                side.push_str(rest);
                side.push('\n');
            }
        }
    }
    (Some(Text::new(old)), Some(Text::new(new)))
}

/// The exit code that the output of a command tells.
pub(super) fn exit_code(output: &str) -> Option<i64> {
    const LOOK: usize = 400;
    if output.starts_with('{') {
        let tree = Tree::parse(output.as_bytes()).ok()?;
        let root = tree.root(output.as_bytes());
        return root.at(&["metadata", "exit_code"])?.i64();
    }
    let start = &output[..output.floor_char_boundary(LOOK)];
    let said = start.lines().find_map(|line| {
        line.strip_prefix("Process exited with code ")
            .or_else(|| line.strip_prefix("Exit code: "))
    });
    said?.trim().parse().ok()
}

/// What a call was given, as JSON where it is a text that holds JSON.
pub(super) fn call_input(call: Value<'_>) -> Option<rethread_model::ToolInput> {
    use rethread_model::ToolInput;
    if let Some(input) = text_of(call, "input") {
        return Some(ToolInput::Text(input));
    }
    let arguments = call.get("arguments").or_else(|| call.get("action"))?;
    let Some(text) = crate::fields::text_from(arguments) else {
        return json_of(call, "arguments")
            .or_else(|| json_of(call, "action"))
            .map(ToolInput::Json);
    };
    let json = text.value.as_bytes();
    let is_json = Tree::parse(json).is_ok_and(|tree| {
        let root = tree.root(json);
        root.is_object() || root.is_array()
    });
    Some(if is_json && !text.lossy {
        ToolInput::Json(Json::from(text.value.into_bytes()))
    } else {
        ToolInput::Text(text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_in_outputs() {
        for (output, code) in [
            (
                "Chunk ID: a\nProcess exited with code 2\nOutput:\n",
                Some(2),
            ),
            ("Exit code: 0\nWall time: 1", Some(0)),
            (r#"{"output":"x","metadata":{"exit_code":101}}"#, Some(101)),
            ("Process exited with code x", None),
            ("{broken", None),
            ("", None),
        ] {
            assert_eq!(exit_code(output), code, "{output}");
        }
    }

    #[test]
    fn the_sides_of_a_diff() {
        let (old, new) = sides("@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
        assert_eq!(old, Some("a\nb\n".into()));
        assert_eq!(new, Some("a\nc\n".into()));
    }
}
