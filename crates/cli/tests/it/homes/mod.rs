//! Homes of other machines and systems.

mod folders;
#[cfg(unix)]
mod furniture;
#[cfg(unix)]
mod remote;
#[cfg(unix)]
mod ssh;
mod usage;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::world::{World, json};
#[cfg(unix)]
use furniture::{MORE, SECRETS, age, furnish, settle, without_home};

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

const FIRST: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const SECOND: &str = "bbbbbbbb-0000-4000-8000-000000000002";

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures")
        .join(name)
}

/// The objects that a list gives, in the order of their ids.
fn listed(w: &World, args: &[&str]) -> Vec<Value> {
    let answer = w.run(&[&["list", "--json", "--hidden", "--subagents"], args].concat());
    assert!([0, 3].contains(&answer.code), "{args:?}: {answer:?}");
    let mut all: Vec<Value> = answer.out.lines().map(json).collect();
    all.sort_by_key(|s| s["id"].to_string());
    all
}
