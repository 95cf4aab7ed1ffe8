//! What the texts of items say: whose words they are, and what they have in common with events.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

use memchr::memmem::Finder;
use rethread_json::Value;

use crate::few::{Rest, few_items};

/// How texts begin that the client says in the user's place whenever it works: where it is, what it
/// may do, and how.
const FRAME: [&str; 16] = [
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<skills_instructions>",
    "<permissions instructions>",
    "<environments_instructions>",
    "<apps_instructions>",
    "<plugins_instructions>",
    "<recommended_plugins",
    "<collaboration_mode>",
    "<multi_agent_mode>",
    "<realtime_conversation>",
    "<context_window",
    "<personality_spec>",
    "<model_switch>",
    "<codex_internal_context",
];

/// How texts begin that the client says in the user's place because something happened.
const TOLD: [&str; 8] = [
    "<turn_aborted>",
    "<skill>",
    "<user_shell_command>",
    "<subagent_notification>",
    "<goal_context>",
    "<hook_prompt",
    "<additional_context",
    "Warning: The maximum number of unified exec processes",
];

/// The key of a message that was told to the model elsewhere, and typed by nobody.
pub(super) const TOLD_ELSEWHERE: &str = "rethread_told";

/// Whether a text of the user's role is what the client says whenever it works.
pub(super) fn is_frame(text: &str) -> bool {
    let text = text.trim_start();
    FRAME.iter().any(|start| text.starts_with(start))
}

/// Whether a text of the user's role was put there by the client.
pub(super) fn is_injected(text: &str) -> bool {
    let text = text.trim_start();
    is_frame(text) || TOLD.iter().any(|start| text.starts_with(start))
}

/// Whether all of a user's message was put there by the client: it has text, nothing but text, and
/// none of it is the person's.
pub(super) fn is_all_injected(message: Value<'_>) -> bool {
    let mut some = false;
    for part in content_parts(message) {
        match part.text() {
            Some(text) if is_injected(&text) => some = true,
            Some(text) if text.trim().is_empty() => {}
            _ => return false,
        }
    }
    some
}

/// One part of a message's content.
#[derive(Clone, Copy)]
pub(super) struct ContentPart<'a>(pub(super) Value<'a>);

impl<'a> ContentPart<'a> {
    /// Its text, where it is text.
    pub(super) fn text(self) -> Option<Cow<'a, str>> {
        self.0.str().or_else(|| self.0.get("text")?.str())
    }
}

/// The parts of a message's content, which is a text or an array.
pub(super) fn content_parts(message: Value<'_>) -> impl Iterator<Item = ContentPart<'_>> {
    let content = message.get("content").or_else(|| message.get("message"));
    let lone = content.filter(|c| c.content().is_some());
    let items = content.into_iter().flat_map(|content| few_items(content).0);
    lone.into_iter().chain(items).map(ContentPart)
}

/// What stands behind the [`parts`] of a message that are told apart.
pub(super) fn more_parts(message: Value<'_>) -> Option<Rest<'_>> {
    let content = message.get("content").or_else(|| message.get("message"));
    few_items(content?).1
}

/// What identifies a message's text: the whole, and each part of it.
pub(super) fn text_digests(message: Value<'_>) -> Vec<u64> {
    let texts: Vec<_> = content_parts(message)
        .filter_map(ContentPart::text)
        .collect();
    let mut marks: Vec<u64> = texts.iter().map(|t| text_digest(t)).collect();
    if texts.len() != 1 {
        marks.push(text_digest(&texts.concat()));
    }
    marks.sort_unstable();
    marks.dedup();
    marks
}

/// What identifies a text, whatever white space is around it.
pub(super) fn text_digest(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.trim().hash(&mut hasher);
    hasher.finish()
}

/// The folder that an environment text names: files of 2025 say it nowhere else.
pub(super) fn folder_in(text: &str) -> Option<&str> {
    let between = |start: &str, end: &str| {
        let rest = text.split_once(start)?.1;
        Some(rest.split_once(end)?.0.trim())
    };
    if !text.trim_start().starts_with("<environment_context>") {
        return None;
    }
    between("<cwd>", "</cwd>")
        .or_else(|| between("Current working directory:", "\n"))
        .filter(|f| !f.is_empty())
}

/// How escapes by number begin.
static BY_NUMBER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\\u"));

/// Whether a JSON text holds an escape of half a surrogate pair.
pub(super) fn has_lone_surrogate(json: &[u8]) -> bool {
    let unit = |at: usize| {
        let hex = json.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok()
    };
    // Few lines hold what looks like one at all.
    let is_surrogate = |at: usize| matches!(json.get(at + 2), Some(b'd' | b'D'));
    if !BY_NUMBER.find_iter(json).any(is_surrogate) {
        return false;
    }
    let mut at = 0;
    while let Some(found) = json.get(at..).and_then(|rest| memchr::memchr(b'\\', rest)) {
        at += found;
        at += match unit(at) {
            Some(0xD800..=0xDBFF) => match unit(at + 6) {
                Some(0xDC00..=0xDFFF) => 12,
                _ => return true,
            },
            Some(0xDC00..=0xDFFF) => return true,
            _ => 2,
        };
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_surrogate_pairs() {
        for (json, lone) in [
            (&br#""\ud83d\ude00""#[..], false),
            (br#""\\ud83d""#, false),
            (br#""\ud83d""#, true),
            (br#""\ude00 x""#, true),
            (br#""\ud83d\n""#, true),
            (br#""\"#, false),
        ] {
            assert_eq!(has_lone_surrogate(json), lone);
        }
    }

    #[test]
    fn folders_of_environments() {
        let tagged = "<environment_context>\n  <cwd>/srv/shop</cwd>\n</environment_context>";
        assert_eq!(folder_in(tagged), Some("/srv/shop"));
        let plain = "<environment_context>\nCurrent working directory: /a b\nApproval";
        assert_eq!(folder_in(plain), Some("/a b"));
        assert_eq!(folder_in("<cwd>/x</cwd>"), None);
    }

    #[test]
    fn white_space_around_a_text_does_not_matter() {
        assert_eq!(text_digest(" a\n"), text_digest("a"));
        assert_ne!(text_digest("a"), text_digest("b"));
    }
}
