//! Homes of other machines and systems.

mod folders;
#[cfg(unix)]
mod remote;
#[cfg(unix)]
mod ssh;
mod usage;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::world::{World, copy, json};

/// Writes the settings.
fn configure(w: &World, text: &str) {
    let folder = w.home.join(".config/rethread");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.toml"), text).unwrap();
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A session of Claude Code with two messages.
fn claude(id: &str, cwd: &str) -> String {
    let record = |uuid: &str, parent: &str, rest: &str| {
        format!(
            r#"{{"parentUuid":{parent},"isSidechain":false,"userType":"external","cwd":{},"sessionId":"{id}","version":"2.0.76","gitBranch":"main","uuid":"{uuid}",{rest}}}"#,
            Value::from(cwd)
        ) + "\n"
    };
    record(
        "11111111-0000-4000-8000-000000000001",
        "null",
        r#""type":"user","message":{"role":"user","content":"Where is the till?"},"timestamp":"2026-11-02T09:00:00.000Z""#,
    ) + &record(
        "11111111-0000-4000-8000-000000000002",
        r#""11111111-0000-4000-8000-000000000001""#,
        r#""type":"assistant","message":{"id":"m1","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"By the door."}],"usage":{"input_tokens":3,"output_tokens":4}},"timestamp":"2026-11-02T09:00:05.000Z""#,
    )
}

/// One more message for it.
const MORE: &str = concat!(
    r#"{"parentUuid":"11111111-0000-4000-8000-000000000002","isSidechain":false,"userType":"external","cwd":"/home/ada/shop","sessionId":"x","version":"2.0.76","uuid":"11111111-0000-4000-8000-000000000003","type":"user","message":{"role":"user","content":"Thanks"},"timestamp":"2026-11-02T09:01:00.000Z"}"#,
    "\n"
);

const FIRST: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const SECOND: &str = "bbbbbbbb-0000-4000-8000-000000000002";

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures")
        .join(name)
}

/// Puts sessions of many agents into a home, and what must stay where it is.
fn furnish(home: &Path) {
    let cwd = home.join("shop");
    let cwd = cwd.to_str().unwrap();
    for (from, to) in [
        (
            "claude-code/2.1/everything",
            ".claude/projects/-home-me-shop",
        ),
        ("codex/0.140/everything", ".codex"),
        ("gemini/0.61/everything", ".gemini"),
        ("agentuse/0.30/everything", ".local/share/agentuse"),
        ("pi/3/everything", ".pi/agent/sessions/--home-me-shop--"),
        ("opencode/1.1/tree", ".local/share/opencode"),
        ("atsf/1.1/document", "shop/.agent/threads/far"),
    ] {
        copy(&fixture(from), &home.join(to));
    }
    put(
        &home.join(format!(".claude/projects/-shop/{FIRST}.jsonl")),
        &claude(FIRST, cwd),
    );
    for secret in SECRETS {
        put(&home.join(secret), "secret");
    }
    settle(home);
}

/// What is nobody's business.
const SECRETS: [&str; 8] = [
    ".claude.json",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".gemini/tmp/bin/rg",
    ".local/share/opencode/auth.json",
    ".pi/agent/auth.json",
    ".ssh/id_ed25519",
];

/// Makes all files of a home old.
fn settle(home: &Path) {
    for (path, _) in crate::world::tree(home) {
        age(&path);
    }
}

/// Makes a file old: what was changed in this second is copied once more the next time.
fn age(path: &Path) {
    let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_760_000_000);
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(then).unwrap();
}

/// The objects that a list gives, in the order of their ids.
fn listed(w: &World, args: &[&str]) -> Vec<Value> {
    let answer = w.run(&[&["list", "--json", "--hidden", "--subagents"], args].concat());
    assert!([0, 3].contains(&answer.code), "{args:?}: {answer:?}");
    let mut all: Vec<Value> = answer.out.lines().map(json).collect();
    all.sort_by_key(|s| s["id"].to_string());
    all
}

/// What two lists of the same sessions in different homes have in common.
fn without_home(mut sessions: Vec<Value>) -> Vec<Value> {
    for session in &mut sessions {
        let session = session.as_object_mut().unwrap();
        session.remove("source");
        session.remove("home");
    }
    sessions
}
