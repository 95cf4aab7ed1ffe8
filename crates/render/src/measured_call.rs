//! What a call of a tool took and changed, as numbers: what readers are shown of it, for those who add up.

use rethread_model::{ToolCall, ToolResult};

use crate::reading::{ToolOutput, ToolUse};

/// What a call of a tool took and changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasuredCall {
    /// The tool's name for people, with the group it belongs to.
    pub tool: String,
    /// Whether it ended with an error.
    pub is_failed: bool,
    /// How long it took, where somebody noted that.
    pub duration_ms: Option<f64>,
    /// Lines that came into files.
    pub lines_added: u64,
    /// Lines that went out of files.
    pub lines_removed: u64,
}

/// Measures a call with its result, if that is there. What failed changed nothing.
pub fn measure_call(call: ToolCall, result: Option<ToolResult>) -> MeasuredCall {
    let noted = result.as_ref().map(ToolOutput::measure_result);
    let duration_ms = call.duration_ms.or(noted.and_then(|(_, took)| took));
    let tool_use = ToolUse::new(call, result);
    let is_failed = tool_use.is_failed();
    let mut lines = (0, 0);
    if !is_failed && tool_use.result.is_some() {
        for file in tool_use.changes(&tool_use.input()) {
            let (added, removed) = file.change.line_counts();
            lines = (lines.0 + added, lines.1 + removed);
        }
    }
    MeasuredCall {
        tool: tool_use.name.clone(),
        is_failed,
        duration_ms: duration_ms.filter(|ms| ms.is_finite() && *ms >= 0.0),
        lines_added: lines.0,
        lines_removed: lines.1,
    }
}
