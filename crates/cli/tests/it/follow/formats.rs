//! Each format that can be added to.

use super::{Following, say, session, text_of};
use crate::world::World;

/// A log, a document and its log, a tree of files, a database.
const FORMATS: [&str; 8] = [
    "atsf",
    "agentuse",
    "pi",
    "atomic",
    "claude-code",
    "codex",
    "gemini",
    "opencode",
];

#[test]
fn a_session_of_any_format_is_followed() {
    for format in FORMATS {
        let w = World::with_git();
        let id = session(&w, format, "7");
        let follow = Following::start(&w, &["show", &id, "--follow", "--json"]);
        let first = follow.next_message();
        assert_eq!(text_of(&first), "before", "{format}");
        assert_eq!(first["session_id"], *id, "{format}");
        assert_eq!(first["agent"], format, "{format}: {first}");
        for (role, text) in [("user", "one"), ("agent", "second"), ("user", "the last")] {
            say(&w, &id, role, text, "7");
            let message = follow.next_message();
            assert_eq!(text_of(&message), text, "{format}");
            let expected = if role == "user" { "user" } else { "assistant" };
            assert_eq!(message["role"], expected, "{format}: {message}");
        }
        assert_eq!(follow.stop(), [""; 0], "{format}");
    }
}

#[test]
fn every_session_is_followed_and_new_ones_are() {
    let w = World::with_git();
    let ids: Vec<String> = FORMATS
        .iter()
        .enumerate()
        .map(|(n, format)| session(&w, format, &format!("1{n}")))
        .collect();
    let follow = Following::library(&w, &["--json"]);
    for (format, id) in FORMATS.iter().zip(&ids) {
        for text in ["hello", "and again"] {
            say(&w, id, "user", text, "3");
            let message = follow.next_message();
            assert_eq!(text_of(&message), text, "{format}: {message}");
            assert_eq!(message["session_id"], **id, "{format}");
            assert_eq!(message["agent"], *format);
        }
    }
    for (n, format) in FORMATS.iter().enumerate() {
        let id = session(&w, format, &format!("2{n}"));
        let message = follow.next_message();
        assert_eq!(text_of(&message), "before", "{format}: {message}");
        assert_eq!(message["session_id"], *id, "{format}");
        say(&w, &id, "agent", "an answer", "4");
        assert_eq!(follow.next_text(), "an answer", "{format}");
    }
    assert_eq!(follow.stop(), [""; 0]);
}
