//! Calls of tools and their results, as people read them.

use rethread_model::{Block, Message, ToolCall, ToolResult, ToolStatus, Visibility};

/// The sign for how a call ended.
pub(crate) fn status_sign(status: &ToolStatus, result: Option<&ToolResult>) -> &'static str {
    match status {
        _ if result.is_some_and(is_failure) => "✗",
        ToolStatus::Completed => "✓",
        ToolStatus::Failed => "✗",
        ToolStatus::Pending | ToolStatus::Running => "…",
        ToolStatus::Cancelled => "⊘",
        ToolStatus::Other(_) => "?",
    }
}

/// The unified spelling of how far a call got.
pub(crate) fn status_word(status: &ToolStatus) -> &str {
    match status {
        ToolStatus::Pending => "pending",
        ToolStatus::Running => "running",
        ToolStatus::Completed => "completed",
        ToolStatus::Failed => "failed",
        ToolStatus::Cancelled => "cancelled",
        ToolStatus::Other(word) => word,
    }
}

/// Whether a result says that the tool failed.
pub(crate) fn is_failure(result: &ToolResult) -> bool {
    result.is_error || result.exit_code.is_some_and(|code| code != 0)
}

/// The word behind the sign, where the sign does not say it all.
pub(crate) fn status_remark(status: &ToolStatus, result: Option<&ToolResult>) -> Option<String> {
    let exit = result.and_then(|r| r.exit_code).filter(|code| *code != 0);
    match (exit, status) {
        (Some(code), _) => Some(format!("exit {code}")),
        (None, ToolStatus::Completed | ToolStatus::Failed) => None,
        (None, other) => Some(status_word(other).to_owned()),
    }
}

/// A tool's name with the group it belongs to.
pub(crate) fn full_name(call: &ToolCall) -> String {
    match &call.namespace {
        Some(group) => format!("{group}/{}", call.name),
        None => call.name.clone(),
    }
}

/// What a result is called when it stands alone.
pub(crate) fn result_name(result: &ToolResult) -> &str {
    result.name.as_deref().unwrap_or(&result.call_id)
}

/// `120 ms`, `1.2 s`, `2 min 5 s`.
pub(crate) fn format_duration(ms: f64) -> Option<String> {
    if !ms.is_finite() || ms < 0.0 {
        return None;
    }
    Some(if ms < 1000.0 {
        format!("{ms:.0} ms")
    } else if ms < 10_000.0 {
        format!("{:.1} s", ms / 1000.0)
    } else if ms < 60_000.0 {
        format!("{:.0} s", (ms / 1000.0).floor())
    } else {
        let minutes = (ms / 60_000.0).floor();
        format!(
            "{minutes:.0} min {:.0} s",
            (ms / 1000.0 - minutes * 60.0).floor()
        )
    })
}

/// The result that stands right behind its call.
pub(crate) fn adjacent_result<'a>(
    call: &ToolCall,
    next: Option<&'a Block>,
) -> Option<&'a ToolResult> {
    match next {
        Some(Block::ToolResult(result)) if result.call_id == call.id => Some(result),
        _ => None,
    }
}

/// The blocks of a result in order. Results inside results, which no source should have, are
/// replaced by what they hold, to any depth, without recursion.
pub(crate) fn flat_blocks(blocks: &[Block]) -> impl Iterator<Item = &Block> {
    let mut open = vec![blocks.iter()];
    std::iter::from_fn(move || {
        loop {
            match open.last_mut()?.next() {
                Some(Block::ToolResult(inner)) => open.push(inner.blocks.iter()),
                Some(block) => return Some(block),
                None => drop(open.pop()),
            }
        }
    })
}

/// Whether a message brings results and says nothing else that is meant for everyone.
pub(crate) fn only_results(message: &Message) -> bool {
    let is_result = |b: &Block| matches!(b, Block::ToolResult(_));
    let is_quiet = |b: &Block| match b {
        Block::Aside { visibility, .. } => *visibility != Visibility::Visible,
        other => is_result(other),
    };
    message.blocks.iter().any(is_result) && message.blocks.iter().all(is_quiet)
}
