//! What stands for a block that has no place in the model.

use rethread_model::Json;
use serde_json::Value;

/// The longest block that is looked into.
const LOOK: usize = 64 * 1024;

/// How many files are named, and how many characters a name has at most.
const FILES: usize = 8;
const LONG: usize = 200;

/// `[agent: reviewer]`, `[patch: a.rs, b.rs]`: the block's type, and what it is about where it says
/// so; else only that nobody knows it. Untrusted text, not yet neutral.
pub(crate) fn describe_unknown(type_name: &str, raw: &Json) -> String {
    match subject_of(type_name, raw) {
        Some(about) => format!("[{type_name}: {about}]"),
        None if type_name.is_empty() => "[unknown block]".to_owned(),
        None => format!("[unknown block: {type_name}]"),
    }
}

/// The name in it, what its type says it is, or the files in it.
fn subject_of(type_name: &str, raw: &Json) -> Option<String> {
    if raw.bytes().len() > LOOK {
        return None;
    }
    let block: Value = serde_json::from_slice(raw.bytes()).ok()?;
    let said = ["name", type_name].into_iter().find_map(|key| {
        let said = block.get(key)?.as_str()?;
        (!said.trim().is_empty()).then(|| clip_text(said))
    });
    said.or_else(|| files_phrase(block.get("files")?.as_array()?))
}

fn files_phrase(all: &[Value]) -> Option<String> {
    let named = all.iter().map(|file| file.as_str().map(clip_text));
    let named: Option<Vec<String>> = named.take(FILES).collect();
    let mut named = named.filter(|named| !named.is_empty())?;
    if all.len() > FILES {
        named.push(format!("and {} more", all.len() - FILES));
    }
    Some(named.join(", "))
}

fn clip_text(text: &str) -> String {
    let mut clipped: String = text.chars().take(LONG).collect();
    if clipped.len() < text.len() {
        clipped.push('…');
    }
    clipped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_shown_as_what_it_says_it_is() {
        let many: Vec<String> = (0..10).map(|n| format!("{n}.rs")).collect();
        let many = serde_json::json!({ "files": many }).to_string();
        let long = format!(r#"{{"name":"{}"}}"#, "x".repeat(LONG + 1));
        for (type_name, raw, shown) in [
            (
                "agent",
                r#"{"type":"agent","name":"coder"}"#,
                "[agent: coder]",
            ),
            ("snapshot", r#"{"snapshot":"ab12"}"#, "[snapshot: ab12]"),
            (
                "patch",
                r#"{"hash":"1","files":["a.rs","b.rs"]}"#,
                "[patch: a.rs, b.rs]",
            ),
            (
                "patch",
                &many,
                "[patch: 0.rs, 1.rs, 2.rs, 3.rs, 4.rs, 5.rs, 6.rs, 7.rs, and 2 more]",
            ),
            ("agent", &long, &format!("[agent: {}…]", "x".repeat(LONG))),
            ("patch", r#"{"files":[]}"#, "[unknown block: patch]"),
            ("patch", r#"{"files":[1]}"#, "[unknown block: patch]"),
            (
                "hologram",
                r#"{"name":" ","beams":1}"#,
                "[unknown block: hologram]",
            ),
            ("x", "not JSON", "[unknown block: x]"),
            ("x", "null", "[unknown block: x]"),
            ("", "{}", "[unknown block]"),
        ] {
            assert_eq!(
                describe_unknown(type_name, &Json::new(raw.as_bytes())),
                shown
            );
        }
    }
}
