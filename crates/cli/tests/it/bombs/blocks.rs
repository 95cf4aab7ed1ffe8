//! Messages of very many blocks.

use std::fs;
use std::path::{Path, PathBuf};

use super::{bounded_by, exported};
use crate::world::{Answer, World, tree};

/// So many blocks: each took some 660 bytes where all were told apart.
const BLOCKS: usize = 250_000;

/// More than twice what any of these commands takes now, and less than they took then.
const ENOUGH: u64 = 128 * 1024 * 1024;

fn bounded(w: &World, args: &[&str]) -> Answer {
    bounded_by(w, args, ENOUGH)
}

/// How many of them are told apart.
const TOLD: usize = 10_000;

/// A text and very many of this.
fn list(item: &str) -> String {
    let rest = vec![item; BLOCKS - 1].join(",");
    format!(r#"[{{"type":"text","text":"hi"}},{rest}]"#)
}

fn put(path: PathBuf, text: String) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

/// Whatever shows a session takes no more than it should, says what it does not tell apart, and
/// keeps all of it.
fn assert_bounded(w: &World, path: &Path, to: &str) {
    let file = path.to_str().unwrap();
    let commands = [
        &["show", file, "--json"][..],
        &["tree", file],
        &["list", file],
    ];
    assert_each_bounded(w, path, &commands);
    let source = bounded(w, &["show", file, "--to", "raw"]);
    assert!(source.out.as_bytes() == fs::read(path).unwrap());
    let made = bounded(w, &["convert", file, "--to", to, "-o", "made"]);
    assert!(matches!(made.code, 0 | 3), "{to} {}", made.err);
}

fn assert_each_bounded(w: &World, path: &Path, commands: &[&[&str]]) {
    let before = fs::read(path).unwrap();
    for args in commands {
        let shown = bounded(w, args);
        assert!(matches!(shown.code, 0 | 3), "{args:?} {}", shown.err);
        let is_short = matches!(args[0], "tree" | "list");
        let more = format!("{} more blocks", BLOCKS - TOLD);
        assert!(
            is_short || shown.out.contains(&more),
            "{args:?} {}",
            shown.err
        );
    }
    assert!(fs::read(path).unwrap() == before, "something was written");
}

#[test]
fn of_claude_code() {
    let w = World::new();
    let id = "11111111-1111-4111-8111-111111111111";
    let line = |content: &str| {
        format!(
            r#"{{"parentUuid":null,"isSidechain":false,"userType":"external","cwd":"/home/me/shop","sessionId":"{id}","version":"2.1.0","gitBranch":"","type":"user","message":{{"role":"user","content":{content}}},"uuid":"22222222-2222-4222-8222-222222222222","timestamp":"2026-11-15T10:00:00.000Z"}}"#
        ) + "\n"
    };
    let folder = w.home.join(".claude/projects/-home-me-shop");
    let path = put(folder.join(format!("{id}.jsonl")), line(&list("{}")));
    assert_bounded(&w, &path, "pi");
    let file = path.to_str().unwrap();
    let commands = [
        &["show", file][..],
        &["show", file, "--to", "markdown"],
        &["show", file, "--to", "html"],
        &["context", file],
        &["export", file, "-o", "-"],
    ];
    assert_each_bounded(&w, &path, &commands);
    // The same inside of a result.
    let result = format!(
        r#"[{{"type":"tool_result","tool_use_id":"t","content":{}}}]"#,
        list("{}")
    );
    fs::write(&path, line(&result)).unwrap();
    assert_each_bounded(&w, &path, &commands[1..2]);
}

#[test]
fn of_codex() {
    let w = World::new();
    let id = "00000000-0000-7000-8000-000000000001";
    let text = [
        format!(
            r#"{{"timestamp":"2026-11-15T10:00:00.000Z","type":"session_meta","payload":{{"id":"{id}","timestamp":"2026-11-15T10:00:00.000Z","cwd":"/home/me/shop","originator":"codex_cli_rs","cli_version":"0.166.0","source":"cli"}}}}"#
        ),
        format!(
            r#"{{"timestamp":"2026-11-15T10:00:01.000Z","type":"response_item","payload":{{"type":"message","role":"user","content":{}}}}}"#,
            list("{}")
        ),
        String::new(),
    ];
    let name = format!("rollout-2026-11-15T10-00-00-{id}.jsonl");
    let path = w.home.join(".codex/sessions/2026/11/15").join(name);
    assert_bounded(&w, &put(path, text.join("\n")), "pi");
}

#[test]
fn of_pi() {
    let w = World::new();
    let id = "33333333-3333-4333-8333-333333333333";
    let text = [
        format!(
            r#"{{"type":"session","version":3,"id":"{id}","timestamp":"2026-11-15T10:00:00.000Z","cwd":"/home/me/shop"}}"#
        ),
        format!(
            r#"{{"type":"message","id":"aaaaaaaa","parentId":null,"timestamp":"2026-11-15T10:00:01.000Z","message":{{"role":"user","content":{},"timestamp":1}}}}"#,
            list("{}")
        ),
        String::new(),
    ];
    let name = format!("2026-11-15T10-00-00-000Z_{id}.jsonl");
    let path = w
        .home
        .join(".pi/agent/sessions/--home-me-shop--")
        .join(name);
    assert_bounded(&w, &put(path, text.join("\n")), "claude-code");
}

#[test]
fn of_gemini() {
    let w = World::new();
    let document = |content: &str, calls: &str| {
        format!(
            r#"{{"sessionId":"44444444-4444-4444-8444-444444444444","projectHash":"x","startTime":"2026-11-15T10:00:00.000Z","lastUpdated":"2026-11-15T10:00:00.000Z","messages":[{{"id":"1","timestamp":"2026-11-15T10:00:00.000Z","type":"gemini","content":{content},"toolCalls":{calls}}}]}}"#
        )
    };
    let path = w
        .home
        .join(".gemini/tmp/shop/chats/session-2026-11-15T10-00-44444444.json");
    let path = put(path, document(&list("{}"), "[]"));
    assert_bounded(&w, &path, "pi");
    fs::write(&path, document("\"\"", &list("{}"))).unwrap();
    assert_each_bounded(&w, &path, &[&["show", path.to_str().unwrap()]]);
}

#[test]
fn of_opencode() {
    let w = World::new();
    let text = format!(
        r#"{{"info":{{"id":"ses_1","directory":"/home/me/shop","title":"Parts","version":"1","time":{{"created":1,"updated":1}}}},"messages":[{{"info":{{"id":"msg_1","sessionID":"ses_1","role":"user","time":{{"created":1}}}},"parts":{}}}]}}"#,
        list(r#"{"type":"x"}"#)
    );
    assert_bounded(&w, &put(w.project.join("export.json"), text), "pi");
}

#[test]
fn of_a_thread() {
    let w = World::new();
    let thread = w.thread("Blocks");
    let line = format!(
        r#"{{"messageId":"01HQXK8V0000000000000000AB","threadId":"{thread}","role":"user","timestamp":"2026-11-15T10:00:00.000Z","content":{}}}"#,
        list("{}")
    );
    let path = w.folder(&thread).join("messages.jsonl");
    fs::write(&path, line + "\n").unwrap();
    let folder = w.folder(&thread);
    let before = tree(&folder);
    let more = format!("{} more blocks", BLOCKS - TOLD);
    for args in [
        &["show", &thread][..],
        &["show", &thread, "--json"],
        &["context", &thread],
    ] {
        let shown = bounded(&w, args);
        assert!(shown.out.contains(&more), "{args:?} {shown:?}");
    }
    bounded(&w, &["tree", &thread]);
    assert!(tree(&folder) == before);
}

#[test]
fn of_an_export() {
    let w = World::new();
    let text = exported(&w);
    let from = text.find(r#""content":["#).unwrap() + r#""content":"#.len();
    let to = from + text[from..].find(']').unwrap() + 1;
    let text = format!("{}{}{}", &text[..from], list("{}"), &text[to..]);
    assert_bounded(&w, &put(w.project.join("a.ndjson"), text), "pi");
}

#[test]
fn of_agentuse() {
    let w = World::new();
    let store = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/agentuse/document");
    let store = fs::read_dir(store).unwrap().next().unwrap().unwrap().path();
    let home = w.home.join(".local/share/agentuse");
    crate::world::copy(&store, &home);
    let file = tree(&home).into_iter().find(|(path, bytes)| {
        path.ends_with("message.json") && String::from_utf8_lossy(bytes).contains("\"system\"")
    });
    let Some((path, bytes)) = file else {
        panic!("no fixture has prompts")
    };
    let text = String::from_utf8(bytes).unwrap();
    let from = text.find("\"system\"").unwrap();
    let from = from + text[from..].find('[').unwrap();
    let to = from + text[from..].find(']').unwrap() + 1;
    fs::write(
        &path,
        format!("{}{}{}", &text[..from], list("\"\""), &text[to..]),
    )
    .unwrap();
    let listed = bounded(&w, &["list", "--tsv", "--subagents"]);
    for id in listed
        .out
        .lines()
        .filter_map(|line| line.split('\t').next())
    {
        for command in ["show", "tree", "context"] {
            let shown = bounded(&w, &[command, id]);
            assert!(matches!(shown.code, 0 | 3), "{command} {id} {}", shown.err);
        }
    }
}
