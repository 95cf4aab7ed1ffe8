//! The harness itself: every client talks to the stand-in, calls a tool that it is told to, and
//! goes on with its own session.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test fails where it stands"
)]

use rethread_judges::{ClientKind, Turn};

/// A client in a home of its own, asked to call a tool.
fn begun(client: ClientKind, call: &str) -> Option<Vec<Turn>> {
    let temp = tempfile::tempdir().unwrap();
    let (home, folder) = (temp.path().join("home"), temp.path().join("shop"));
    std::fs::create_dir_all(&home).unwrap();
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("a.txt"), "one apple\n").unwrap();
    let call = call.replace("FOLDER", folder.to_str().unwrap());
    let desk = client.set_up(&home, &folder)?;
    Some(desk.begin_session(&format!("count the apples {call}")))
}

#[track_caller]
fn assert_called(client: ClientKind, call: &str) {
    let Some(turns) = begun(client, call) else {
        return;
    };
    let kinds: Vec<&str> = turns
        .iter()
        .map(|turn| match turn {
            Turn::Text(role, _) => role.as_str(),
            Turn::Thinking(_) => "thinking",
            Turn::ToolCall(..) => "call",
            Turn::ToolResult(..) => "result",
            Turn::Image(_) => "image",
            Turn::File(_) => "file",
        })
        .collect();
    let prompt = kinds.iter().position(|k| *k == "user").unwrap();
    let call = kinds.iter().position(|k| *k == "call").unwrap();
    let result = kinds.iter().position(|k| *k == "result").unwrap();
    assert!(prompt < call && call < result, "{client:?}: {turns:?}");
    let is_apple = |t: &Turn| matches!(t, Turn::ToolResult(_, text) if text.contains("apple"));
    assert!(turns.iter().any(is_apple), "{client:?}: {turns:?}");
}

#[test]
fn claude_code() {
    let read = r#"[[tool:Read {"file_path":"FOLDER/a.txt"}]]"#;
    assert_called(ClientKind::Claude, read);
    assert_called(ClientKind::Claude2025, read);
}

#[test]
fn codex() {
    assert_called(
        ClientKind::Codex,
        r#"[[tool:exec_command {"cmd":"cat a.txt"}]]"#,
    );
}

#[test]
fn gemini() {
    assert_called(
        ClientKind::Gemini,
        r#"[[tool:read_file {"file_path":"a.txt"}]]"#,
    );
}

#[test]
fn opencode() {
    assert_called(
        ClientKind::OpenCode,
        r#"[[tool:read {"filePath":"FOLDER/a.txt"}]]"#,
    );
}
