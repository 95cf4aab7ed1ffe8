//! What is needed of a message to give it its place in the list.

use std::borrow::Cow;

use rethread_json::Passed;
use rethread_model::{Kind, Moment, Role, Usage, Visibility};

use super::nth::{Nth, Several};
use crate::kit::{HeadOwner, HeadValue, head_fields};

/// A message, as it was found.
#[derive(Debug)]
pub(super) struct FoundMessage<'a> {
    /// Empty where it has none.
    pub(super) id: Cow<'a, str>,
    pub(super) head: MessageHead,
}

impl FoundMessage<'_> {
    /// A record of which nothing is known.
    pub(super) fn unknown() -> Self {
        Self {
            id: Cow::Borrowed(""),
            head: MessageHead::unknown(),
        }
    }
}

/// A message without what it says, and without its id.
#[derive(Clone, Debug)]
pub(super) struct MessageHead {
    pub(super) kind: Kind,
    pub(super) visibility: Visibility,
    pub(super) time: Option<Moment>,
    pub(super) said: ContentFacts,
}

/// What lists and links need of what a message says.
#[derive(Clone, Debug, Default)]
pub(super) struct ContentFacts {
    /// Where the tools that the model called are among all calls.
    pub(super) calls: Several,
    /// Where the calls that a message of nothing but results answers are among all answers.
    pub(super) answers: Several,
    /// Where the model that answered is among all.
    pub(super) model: Option<Nth>,
    /// Whether it says what it cost.
    pub(super) has_usage: bool,
    /// What that is, where somebody asks for it.
    pub(super) usage: Option<Box<Usage>>,
    /// Whether the person said something.
    pub(super) has_prompt: bool,
    /// Whether the client lets the model say this behind a summary of the past.
    pub(super) is_thanks: bool,
}

impl MessageHead {
    /// A record of which nothing is known.
    pub(super) fn unknown() -> Self {
        Self {
            kind: Kind::Unknown,
            visibility: Visibility::Visible,
            time: None,
            said: ContentFacts::default(),
        }
    }
}

/// What a message of this type or role is, as it is spelled.
pub(super) fn message_kind(word: &[u8]) -> (Kind, Visibility) {
    match word {
        b"user" => (Kind::Message(Role::User), Visibility::Visible),
        b"gemini" | b"model" | b"assistant" => {
            (Kind::Message(Role::Assistant), Visibility::Visible)
        }
        b"info" | b"warning" | b"error" => (Kind::Event, Visibility::UiOnly),
        _ => (Kind::Unknown, Visibility::Visible),
    }
}

/// The client puts messages of its own among those of the person, and passes over commands when it
/// resumes a session.
pub(super) fn user_visibility(text: Passed<'_>) -> Visibility {
    // Of most texts the first letter tells.
    if first_letter(text).is_some_and(|letter| !b"<ST/?".contains(&letter)) {
        return Visibility::Visible;
    }
    let text = text.str().unwrap_or_default();
    let text = text.trim_start();
    if is_frame(text) || text.starts_with("System: Please continue.") {
        Visibility::Injected
    } else if text.starts_with(['/', '?']) {
        Visibility::UiOnly
    } else {
        Visibility::Visible
    }
}

/// Whether a text is the whole context that the client injects. It stands in a message of its own, or
/// before what the person said once the client wrote its list of messages anew.
pub(super) fn is_context(text: &str) -> bool {
    let text = text.trim();
    text.starts_with("<session_context>") && text.ends_with("</session_context>")
}

/// Whether a text in the person's place is what the client says whenever it begins; it does not send
/// such a text again.
pub(super) fn is_frame(text: &str) -> bool {
    let starts = [
        "<session_context>",
        "<hook_context>",
        "This is the Gemini CLI. We are setting up the context for our chat.",
    ];
    let text = text.trim_start();
    starts.iter().any(|start| text.starts_with(start))
}

/// The letter that a text begins with, if it is a plain one.
fn first_letter(text: Passed<'_>) -> Option<u8> {
    let first = text.content()?.first().copied();
    first.filter(|b| b.is_ascii_graphic() && *b != b'\\')
}

/// Whether a text has a first line.
pub(super) fn is_filled(text: Passed<'_>) -> bool {
    first_letter(text).is_some() || text.str().is_some_and(|text| !text.trim().is_empty())
}

/// The folders that the context which the client injects names: items of a list below its heading,
/// or the rest of a sentence in older versions.
pub(super) fn named_folders(context: &str) -> Vec<String> {
    const SENTENCE: &str = "I'm currently working in the directory: ";
    let mut found = Vec::new();
    let mut in_list = false;
    for line in context.lines() {
        if let Some(folder) = line.trim().strip_prefix(SENTENCE) {
            found.push(folder.to_owned());
        } else if line.contains("Workspace Directories:") {
            in_list = true;
        } else if in_list {
            match line.strip_prefix("  - ") {
                Some(folder) => found.push(folder.to_owned()),
                None => in_list = false,
            }
        }
    }
    found
}

/// What can be known of a message from the beginning of its line, when the line is too long to be
/// held in memory; none if it is no message.
pub(super) fn giant_message(start: &[u8]) -> Option<FoundMessage<'static>> {
    let mut id = None;
    let mut head = MessageHead::unknown();
    // That the bytes end before the line does is why only they are looked at.
    let _ = head_fields(start, "", usize::MAX, |field| {
        let (HeadOwner::Record, HeadValue::Text(text)) = (field.owner, field.value) else {
            return;
        };
        match field.key {
            "id" => id = Some(text.to_owned()),
            "type" => (head.kind, head.visibility) = message_kind(text.as_bytes()),
            "timestamp" => head.time = text.parse().ok(),
            _ => {}
        }
    });
    let id = id?.into();
    Some(FoundMessage { id, head })
}

#[cfg(test)]
mod tests {
    use rethread_json::Skim;

    use super::super::head::Heads;
    use super::*;
    use crate::kit::ScanDepth;

    fn head(json: &str) -> MessageHead {
        let seen = Heads::new(ScanDepth::Whole).see(&mut Skim::checking(json.as_bytes()));
        seen.unwrap().message.head
    }

    #[test]
    fn who_is_meant_to_see_what_the_user_seems_to_say() {
        for (text, visibility) in [
            ("hello", Visibility::Visible),
            ("", Visibility::Visible),
            ("/clear", Visibility::UiOnly),
            ("? ", Visibility::UiOnly),
            ("<session_context>\\nx", Visibility::Injected),
            (" <hook_context>", Visibility::Injected),
        ] {
            let lone = format!("{{\"id\":\"1\",\"type\":\"user\",\"content\":\"{text}\"}}");
            assert_eq!(head(&lone).visibility, visibility, "{lone}");
            let parts =
                format!("{{\"id\":\"1\",\"type\":\"user\",\"content\":[{{\"text\":\"{text}\"}}]}}");
            assert_eq!(head(&parts).visibility, visibility, "{parts}");
        }
    }

    #[test]
    fn folders_of_both_kinds_of_context() {
        let new = "<session_context>\n- **Workspace Directories:**\n  - /a b\n  - /c\n- **Directory Structure:**\n  - /no\n";
        assert_eq!(named_folders(new), ["/a b", "/c"]);
        let old = "This is the Gemini CLI.\nI'm currently working in the directory: /shop\nHere";
        assert_eq!(named_folders(old), ["/shop"]);
    }

    #[test]
    fn the_head_of_a_giant_line() {
        let start = br#"{"id":"g1","timestamp":"2026-01-02T00:00:00Z","type":"gemini","content":[{"id":"x","type":"user","text":"aaaa"#;
        let FoundMessage { id, head } = giant_message(start).unwrap();
        assert_eq!(id, "g1");
        assert_eq!(head.kind, Kind::Message(Role::Assistant));
        assert!(head.time.is_some());
        assert!(giant_message(br#"{"$set":{"messages":[{"id":"a"#).is_none());
    }
}
