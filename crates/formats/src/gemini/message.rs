//! What is needed of a message to give it its place in the list.

use std::borrow::Cow;

use rethread_json::{Event, Pull, Value};
use rethread_model::{Kind, Moment, Role, Usage, Visibility};

use super::fields::{string, time, usage};

/// The longest title that is made from a prompt, in characters.
const TITLE: usize = 200;

/// A message without what it says.
#[derive(Clone, Debug)]
pub(super) struct MessageHead {
    /// Empty where it has none.
    pub(super) id: String,
    pub(super) kind: Kind,
    pub(super) visibility: Visibility,
    pub(super) time: Option<Moment>,
    pub(super) said: Said,
}

/// What lists and links need of what a message says.
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    /// The tools that the model called.
    pub(super) calls: Vec<Call>,
    /// The calls that a message of nothing but results answers.
    pub(super) answers: Vec<Box<str>>,
    pub(super) model: Option<Box<str>>,
    pub(super) usage: Option<Box<Usage>>,
    /// The first line of what the person said.
    pub(super) prompt: Option<Box<str>>,
    /// Folders that the client told the model it works in.
    pub(super) folders: Vec<String>,
}

/// A call of a tool.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) id: Box<str>,
    pub(super) name: Box<str>,
    /// Whether its result stands beside it.
    pub(super) has_result: bool,
    /// The session of the sub-agent that it started.
    pub(super) agent: Option<Box<str>>,
}

impl MessageHead {
    /// A record of which nothing is known.
    pub(super) fn unknown() -> Self {
        Self {
            id: String::new(),
            kind: Kind::Unknown,
            visibility: Visibility::Visible,
            time: None,
            said: Said::default(),
        }
    }
}

/// The parts of a message's content, which is a text, one part or an array of either.
pub(super) fn parts(message: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    let content = message.get("content").filter(|c| !c.is_null());
    // Checkpoints, and some programs that write like the client.
    let content = content.or_else(|| message.get("parts"));
    // The log of prompts.
    let content = content.or_else(|| message.get("message").filter(|m| m.str().is_some()));
    let lone = content.filter(|c| !c.is_array());
    lone.into_iter()
        .chain(content.into_iter().flat_map(Value::items))
}

/// The text of a part: it is one, or it holds one.
pub(super) fn part_text(part: Value<'_>) -> Option<Cow<'_, str>> {
    part.str().or_else(|| part.get("text")?.str())
}

/// Reads the head of a message, in a chat, a checkpoint or the log of prompts.
pub(super) fn message_head(message: Value<'_>) -> MessageHead {
    let word = string(message, "type").or_else(|| string(message, "role"));
    let (mut kind, mut visibility) = kind(word.as_deref().unwrap_or_default());
    let mut said = Said::default();
    match kind {
        Kind::Message(Role::User) => {
            let first = parts(message).find_map(part_text).unwrap_or_default();
            visibility = user_visibility(&first);
            if visibility == Visibility::Visible {
                said.prompt = parts(message).find_map(|p| first_line(&part_text(p)?));
            }
            if visibility == Visibility::Injected {
                said.folders = folders(&first);
            }
            said.answers = answers(message);
            if !said.answers.is_empty() && said.prompt.is_none() {
                kind = Kind::Message(Role::Tool);
                visibility = Visibility::Visible;
            }
        }
        Kind::Message(Role::Assistant) => {
            let first = parts(message).find_map(part_text).unwrap_or_default();
            // The client says these itself: behind the context, and behind a summary.
            let said_by_client = [
                "Got it. Thanks for the context!",
                "Got it. Thanks for the additional context!",
            ];
            if said_by_client.iter().any(|start| first.starts_with(start)) {
                visibility = Visibility::Injected;
            }
            said.calls = calls(message);
            said.model = message.get("model").and_then(Value::str).map(Into::into);
            said.usage = usage(message).map(Box::new);
        }
        _ => {}
    }
    MessageHead {
        id: id(message),
        kind,
        visibility,
        time: time(message, "timestamp"),
        said,
    }
}

/// A message's id. The log of prompts counts those of each session from 0.
fn id(message: Value<'_>) -> String {
    let number = message.get("messageId").and_then(Value::u64);
    match (number, string(message, "sessionId")) {
        (Some(number), Some(session)) => format!("{session}:{number}"),
        _ => string(message, "id").unwrap_or_default(),
    }
}

/// What a message of this type or role is.
pub(super) fn kind(word: &str) -> (Kind, Visibility) {
    match word {
        "user" => (Kind::Message(Role::User), Visibility::Visible),
        "gemini" | "model" | "assistant" => (Kind::Message(Role::Assistant), Visibility::Visible),
        "info" | "warning" | "error" => (Kind::Event, Visibility::UiOnly),
        _ => (Kind::Unknown, Visibility::Visible),
    }
}

/// The client puts messages of its own among those of the person, and passes over commands when it
/// resumes a session.
fn user_visibility(text: &str) -> Visibility {
    let text = text.trim_start();
    let injected = [
        "<session_context>",
        "<hook_context>",
        "System: Please continue.",
        "This is the Gemini CLI. We are setting up the context for our chat.",
    ];
    if injected.iter().any(|start| text.starts_with(start)) {
        Visibility::Injected
    } else if text.starts_with(['/', '?']) {
        Visibility::UiOnly
    } else {
        Visibility::Visible
    }
}

fn first_line(text: &str) -> Option<Box<str>> {
    let line = text.lines().map(str::trim).find(|l| !l.is_empty())?;
    Some(line.chars().take(TITLE).collect::<String>().into())
}

/// The folders that the context which the client injects names: items of a list below its heading,
/// or the rest of a sentence in older versions.
fn folders(context: &str) -> Vec<String> {
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

/// The calls that a message answers, if it holds nothing but results and what belongs to them.
fn answers(message: Value<'_>) -> Vec<Box<str>> {
    let mut answers = Vec::new();
    for part in parts(message) {
        if let Some(response) = part.get("functionResponse") {
            let id = response.get("id").and_then(Value::str);
            answers.push(id.unwrap_or_default().into());
        } else if part.get("inlineData").is_none() && part.get("fileData").is_none() {
            return Vec::new();
        }
    }
    answers
}

fn calls(message: Value<'_>) -> Vec<Call> {
    let listed = message.get("toolCalls").into_iter().flat_map(Value::items);
    let mut calls: Vec<Call> = listed
        .map(|call| {
            let result = call.get("result").filter(|r| !r.is_null());
            call_of(call, result.is_some())
        })
        .collect();
    for part in parts(message) {
        let Some(call) = part.get("functionCall") else {
            continue;
        };
        let call = call_of(call, false);
        if calls.iter().all(|known| known.id != call.id) {
            calls.push(call);
        }
    }
    calls
}

fn call_of(call: Value<'_>, has_result: bool) -> Call {
    let text = |key| call.get(key).and_then(Value::str).unwrap_or_default();
    Call {
        id: text("id").into(),
        name: text("name").into(),
        has_result,
        agent: call.get("agentId").and_then(Value::str).map(Into::into),
    }
}

/// What can be known of a message from the beginning of its line, when the line is too long to be
/// held in memory; none if it is no message.
pub(super) fn giant_head(start: &[u8]) -> Option<MessageHead> {
    let mut head = MessageHead::unknown();
    let mut is_message = false;
    let mut pull = Pull::new(start);
    let (mut key, mut value) = (Vec::new(), Vec::new());
    while let Ok(event) = pull.next_event() {
        match event {
            Event::Key(chunk) => {
                let last = chunk.last;
                key.extend_from_slice(&chunk.bytes);
                if last && pull.depth() > 1 {
                    key.clear();
                }
            }
            Event::String(chunk) => {
                let last = chunk.last;
                value.extend_from_slice(&chunk.bytes);
                if !last {
                    continue;
                }
                let text = String::from_utf8_lossy(&value);
                match (pull.depth(), key.as_slice()) {
                    (1, b"id") => {
                        head.id = text.into_owned();
                        is_message = true;
                    }
                    (1, b"type") => (head.kind, head.visibility) = kind(&text),
                    (1, b"timestamp") => head.time = text.parse().ok(),
                    _ => {}
                }
                key.clear();
                value.clear();
            }
            Event::End => break,
            _ => key.clear(),
        }
    }
    is_message.then_some(head)
}

#[cfg(test)]
mod tests {
    use rethread_json::Document;

    use super::*;

    fn head(json: &str) -> MessageHead {
        message_head(Document::parse(json.as_bytes().to_vec()).unwrap().root())
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
        assert_eq!(folders(new), ["/a b", "/c"]);
        let old = "This is the Gemini CLI.\nI'm currently working in the directory: /shop\nHere";
        assert_eq!(folders(old), ["/shop"]);
    }

    #[test]
    fn the_head_of_a_giant_line() {
        let start = br#"{"id":"g1","timestamp":"2026-01-02T00:00:00Z","type":"gemini","content":[{"id":"x","type":"user","text":"aaaa"#;
        let head = giant_head(start).unwrap();
        assert_eq!(head.id, "g1");
        assert_eq!(head.kind, Kind::Message(Role::Assistant));
        assert!(head.time.is_some());
        assert!(giant_head(br#"{"$set":{"messages":[{"id":"a"#).is_none());
    }
}
