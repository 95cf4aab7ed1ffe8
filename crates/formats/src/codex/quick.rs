//! Records that are written exactly as the client writes them, and of which a body needs little: what
//! is passed over was parsed when the session was read.

use rethread_json::{Tree, Value, string_at};
use rethread_model::{Text, ToolResult};

use super::blocks;
use super::line_head::LineHead;
use crate::kit::plain_word;

/// What stands before totals, behind the type of their record.
const INFO: &[u8] = b",\"info\":";

/// What stands before something that the client keeps for itself, behind what was said.
const PASSTHROUGH: &[u8] = b",\"internal_chat_message_metadata_passthrough\":";

/// The `info` of a record of totals. Limits of the account stand behind it.
pub(super) fn info<'a>(
    found: &LineHead<'_>,
    record: &'a [u8],
    tree: &'a mut Tree,
) -> Option<Value<'a>> {
    let is_total = (found.outer, found.inner) == (b"event_msg", b"token_count");
    let rest = record.get(found.at..).filter(|_| is_total)?;
    rest.strip_prefix(INFO)?;
    tree.parse_prefix(record, found.at + INFO.len()).ok()?;
    Some(tree.root(record))
}

/// What a tool answered, where that is a text and nothing else is said but what the client keeps for
/// itself. These are the longest records, and their texts are decoded in one pass.
pub(super) fn output(found: &LineHead<'_>, record: &[u8], tree: &mut Tree) -> Option<ToolResult> {
    const OUTPUTS: [&[u8]; 2] = [b"function_call_output", b"custom_tool_call_output"];
    if found.outer != b"response_item" || !OUTPUTS.contains(&found.inner) {
        return None;
    }
    let rest = record.get(found.at..)?.strip_prefix(b",\"call_id\":\"")?;
    let (call, rest) = plain_word(rest).filter(|(call, _)| !call.is_empty())?;
    let call = str::from_utf8(call).ok()?;
    let rest = rest.strip_prefix(b",\"output\":")?;
    let (said, end) = string_at(record, record.len() - rest.len())?;
    let end = if record.get(end..)?.starts_with(PASSTHROUGH) {
        tree.parse_prefix(record, end + PASSTHROUGH.len()).ok()?
    } else {
        end
    };
    let is_all = record.get(end..)?.trim_ascii_end() == b"}}";
    is_all.then(|| {
        let text = Text {
            value: said.text.into_owned(),
            lossy: said.lossy,
            lone: said.lone.into(),
        };
        blocks::text_result(call.to_owned(), text)
    })
}

/// The name of the tool that is called.
pub(super) fn called<'a>(found: &LineHead<'_>, record: &'a [u8]) -> Option<&'a str> {
    if (found.outer, found.inner) != (b"response_item", b"function_call") {
        return None;
    }
    let rest = record.get(found.at..)?.strip_prefix(b",\"name\":\"")?;
    let (name, _) = plain_word(rest).filter(|(name, _)| !name.is_empty())?;
    str::from_utf8(name).ok()
}

/// Whether a record only tells, as people saw it, what the model's stream holds as well.
pub(super) fn is_shown(found: &LineHead<'_>) -> bool {
    const WORDS: [&[u8]; 3] = [b"user_message", b"agent_message", b"agent_reasoning"];
    found.outer == b"event_msg" && WORDS.contains(&found.inner)
}
