//! A home with sessions of many agents, and with what must stay where it is.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::{FIRST, claude, fixture, put};
use crate::world::copy;

/// One more message for it.
pub(super) const MORE: &str = concat!(
    r#"{"parentUuid":"11111111-0000-4000-8000-000000000002","isSidechain":false,"userType":"external","cwd":"/home/ada/shop","sessionId":"x","version":"2.0.76","uuid":"11111111-0000-4000-8000-000000000003","type":"user","message":{"role":"user","content":"Thanks"},"timestamp":"2026-11-02T09:01:00.000Z"}"#,
    "\n"
);

/// Puts sessions of many agents into a home, and what must stay where it is.
pub(super) fn furnish(home: &Path) {
    let cwd = home.join("shop");
    let cwd = cwd.to_str().unwrap();
    for (from, to) in [
        (
            "claude-code/2.1/everything",
            ".claude/projects/-home-me-shop",
        ),
        ("codex/0.140/everything", ".codex"),
        (
            "copilot/1.0/everything",
            ".copilot/session-state/c0a10001-1111-4222-8333-444455556666",
        ),
        ("gemini/0.61/everything", ".gemini"),
        ("agentuse/0.30/everything", ".local/share/agentuse"),
        ("pi/3/everything", ".pi/agent/sessions/--home-me-shop--"),
        ("opencode/1.1/tree", ".local/share/opencode"),
        ("atsf/1.1/document", "shop/.agent/threads/far"),
    ] {
        copy(&fixture(from), &home.join(to));
    }
    // Whether a project was moved can only be seen on its own machine.
    let thread = home.join("shop/.agent/threads/far/thread.json");
    let described = std::fs::read_to_string(&thread).unwrap();
    put(
        &thread,
        &described.replace("/home/user/projects/myapp", cwd),
    );
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
pub(super) const SECRETS: [&str; 9] = [
    ".claude.json",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".copilot/config.json",
    ".gemini/oauth_creds.json",
    ".gemini/tmp/bin/rg",
    ".local/share/opencode/auth.json",
    ".pi/agent/auth.json",
    ".ssh/id_ed25519",
];

/// Makes all files of a home old.
pub(super) fn settle(home: &Path) {
    for (path, _) in crate::world::tree(home) {
        age(&path);
    }
}

/// Makes a file old: what was changed in this second is copied once more the next time.
pub(super) fn age(path: &Path) {
    let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_760_000_000);
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(then).unwrap();
}

/// What two lists of the same sessions in different homes have in common.
pub(super) fn without_home(mut sessions: Vec<Value>) -> Vec<Value> {
    for session in &mut sessions {
        let session = session.as_object_mut().unwrap();
        session.remove("source");
        session.remove("home");
    }
    sessions
}
