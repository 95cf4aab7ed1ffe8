//! Each field of the document's tables: of another type, and missing.

use super::good::{ASSET, CONFIG, Good, LOG, THREAD, line_of};

/// A field as the document's tables have it: where it is, its type, and whether it is required.
type Row = (&'static str, &'static str, &'static str, bool);

#[rustfmt::skip]
const ROWS: &[Row] = &[
    ("config.json", "/specVersion", "string", true),
    ("config.json", "/createdBy", "object", false),
    ("config.json", "/createdBy/name", "string", true),
    ("config.json", "/createdBy/version", "string", true),
    ("config.json", "/defaults", "object", false),
    ("config.json", "/defaults/agentId", "string", false),
    ("config.json", "/defaults/interactionMode", "string", false),
    ("config.json", "/defaults/useWorktree", "boolean", false),
    ("config.json", "/agentSettings", "object", false),
    ("config.json", "/worktreeHooks", "object", false),
    ("config.json", "/worktreeHooks/symlinks", "array", false),
    ("config.json", "/worktreeHooks/symlinks/0", "object", false),
    ("config.json", "/worktreeHooks/symlinks/0/source", "string", true),
    ("config.json", "/worktreeHooks/symlinks/0/target", "string", false),
    ("config.json", "/worktreeHooks/postSetupCommands", "array", false),
    ("config.json", "/worktreeHooks/postSetupCommands/0", "object", false),
    ("config.json", "/worktreeHooks/postSetupCommands/0/command", "string", true),
    ("config.json", "/worktreeHooks/postSetupCommands/0/label", "string", false),
    ("config.json", "/worktreeHooks/postSetupCommands/0/timeout", "number", false),
    ("config.json", "/worktreeHooks/postSetupCommands/0/continueOnError", "boolean", false),
    ("config.json", "/worktreeHooks/postSetupCommands/0/platforms", "array", false),
    ("config.json", "/worktreeHooks/postSetupCommands/0/platforms/0", "string", false),
    ("config.json", "/worktreeHooks/initialPrompt", "string", false),
    ("thread.json", "/specVersion", "string", true),
    ("thread.json", "/threadId", "string", true),
    ("thread.json", "/title", "string", true),
    ("thread.json", "/createdAt", "string", true),
    ("thread.json", "/updatedAt", "string", true),
    ("thread.json", "/agent", "object", true),
    ("thread.json", "/agent/id", "string", true),
    ("thread.json", "/agent/name", "string", true),
    ("thread.json", "/agent/version", "string", false),
    ("thread.json", "/agent/protocol", "string", false),
    ("thread.json", "/agent/protocolVersion", "number", false),
    ("thread.json", "/context", "object", true),
    ("thread.json", "/context/workingDir", "string", true),
    ("thread.json", "/context/relativeDir", "string", false),
    ("thread.json", "/context/gitBranch", "string", false),
    ("thread.json", "/context/gitCommit", "string", false),
    ("thread.json", "/context/worktree", "object", false),
    ("thread.json", "/context/worktree/path", "string", true),
    ("thread.json", "/context/worktree/branch", "string", true),
    ("thread.json", "/stats", "object", true),
    ("thread.json", "/stats/messageCount", "number", true),
    ("thread.json", "/stats/userMessageCount", "number", true),
    ("thread.json", "/stats/agentMessageCount", "number", true),
    ("thread.json", "/stats/toolCallCount", "number", true),
    ("thread.json", "/metadata", "object", false),
    ("messages.jsonl", "/id", "string", true),
    ("messages.jsonl", "/role", "string", true),
    ("messages.jsonl", "/timestamp", "string", true),
    ("messages.jsonl", "/content", "array", true),
    ("messages.jsonl", "/content/0", "object", false),
    ("messages.jsonl", "/content/0/type", "string", true),
    ("messages.jsonl", "/content/0/text", "string", true),
    ("messages.jsonl", "/content/1/text", "string", true),
    ("messages.jsonl", "/content/2/assetRef", "string", true),
    ("messages.jsonl", "/content/2/mimeType", "string", true),
    ("messages.jsonl", "/toolCalls", "array", false),
    ("messages.jsonl", "/toolCalls/0", "object", false),
    ("messages.jsonl", "/toolCalls/0/toolCallId", "string", true),
    ("messages.jsonl", "/toolCalls/0/name", "string", true),
    ("messages.jsonl", "/toolCalls/0/title", "string", false),
    ("messages.jsonl", "/toolCalls/0/status", "string", true),
    ("messages.jsonl", "/toolCalls/0/input", "string", false),
    ("messages.jsonl", "/toolCalls/0/output", "string", false),
    ("messages.jsonl", "/toolCalls/0/duration", "number", false),
    ("messages.jsonl", "/toolCalls/0/diff", "object", false),
    ("messages.jsonl", "/toolCalls/0/diff/path", "string", true),
    ("messages.jsonl", "/toolCalls/0/diff/oldText", "string", true),
    ("messages.jsonl", "/toolCalls/0/diff/newText", "string", true),
    ("messages.jsonl", "/stopReason", "string", false),
    ("messages.jsonl", "/model", "string", false),
    ("messages.jsonl", "/tokens", "object", false),
    ("messages.jsonl", "/tokens/input", "number", false),
    ("messages.jsonl", "/tokens/output", "number", false),
];

/// The text of a file with one field changed: to another value, or taken out.
fn changed(file: &str, pointer: &str, value: Option<&serde_json::Value>) -> String {
    let text = match file {
        "config.json" => CONFIG,
        "thread.json" => THREAD,
        _ => LOG.lines().last().unwrap(),
    };
    let mut root: serde_json::Value = serde_json::from_str(text).unwrap();
    if file == "messages.jsonl" {
        let image = serde_json::json!({"type":"image","assetRef":ASSET.split('/').next_back(),"mimeType":"image/png"});
        root["content"].as_array_mut().unwrap().push(image);
    }
    assert!(root.pointer(pointer).is_some(), "{file} has no {pointer}");
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    match (value, root.pointer_mut(parent).unwrap()) {
        (Some(value), _) => *root.pointer_mut(pointer).unwrap() = value.clone(),
        (None, serde_json::Value::Object(object)) => drop(object.shift_remove(name)),
        (None, _) => panic!("{pointer} is no member of an object"),
    }
    if file == "messages.jsonl" {
        let mut lines: Vec<String> = LOG.lines().map(str::to_owned).collect();
        *lines.last_mut().unwrap() = root.to_string();
        return lines.join("\n") + "\n";
    }
    serde_json::to_string_pretty(&root).unwrap() + "\n"
}

#[test]
fn each_field_of_another_type_is_an_error() {
    let good = Good::new();
    for (file, pointer, kind, _) in ROWS {
        let wrong = match *kind {
            "string" => serde_json::json!(0.4242),
            _ => serde_json::json!("WRONG"),
        };
        for value in [wrong, serde_json::Value::Null] {
            let text = changed(file, pointer, Some(&value));
            good.put(file, &text);
            let found = good.check();
            let told = if value.is_null() {
                found
                    .found
                    .iter()
                    .any(|f| f.starts_with(&format!("error[field-type] {file}:")))
            } else {
                let line = line_of(&text, value.to_string().trim_matches('"'));
                found
                    .found
                    .contains(&format!("error[field-type] {file}:{line}"))
            };
            assert!(
                told && found.code == 1,
                "{file} {pointer} {value}: {found:?}"
            );
            let name = pointer.rsplit('/').next().unwrap();
            let says = |m: &String| {
                m.contains(name)
                    && m.contains(&format!(
                        "not a{} {kind}",
                        if kind.starts_with(['a', 'o']) {
                            "n"
                        } else {
                            ""
                        }
                    ))
            };
            assert!(found.messages.iter().any(says), "{pointer}: {found:?}");
        }
        good.put(file, original(file));
    }
    assert_eq!(good.check().code, 0);
}

#[test]
fn each_missing_field_that_is_required_is_an_error_and_others_are_not() {
    let good = Good::new();
    for (file, pointer, _, required) in ROWS {
        if pointer.ends_with("/0") {
            continue;
        }
        let text = changed(file, pointer, None);
        good.put(file, &text);
        let found = good.check();
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        if *required {
            let line = match (*file, parent.rsplit('/').next().unwrap()) {
                ("messages.jsonl", _) => 3,
                (_, "") => 1,
                (_, "0") => {
                    line_of(&text, &format!("\"{}\"", parent.split('/').nth(2).unwrap())) + 1
                }
                (_, parent) => line_of(&text, &format!("\"{parent}\": {{")),
            };
            let expected = format!("error[required-field] {file}:{line}");
            assert!(
                found.found.contains(&expected),
                "{pointer}: {expected} in {found:?}"
            );
            assert!(
                found
                    .messages
                    .iter()
                    .any(|m| m.contains(name) && m.contains("missing"))
            );
            assert_eq!(found.code, 1);
        } else {
            let fields = found.found.iter().filter(|f| f.contains("field"));
            assert_eq!(fields.count(), 0, "{file} {pointer}: {found:?}");
        }
        good.put(file, original(file));
    }
}

fn original(file: &str) -> &'static str {
    match file {
        "config.json" => CONFIG,
        "thread.json" => THREAD,
        _ => LOG,
    }
}
