//! Input that is small and wants much: what a command takes stays within bounds, and what is good
//! beside it is there all the same.

mod blocks;
mod database;
mod packed;

use std::ffi::OsString;
use std::fs;
use std::process::{Command, Stdio};

use wait4::Wait4 as _;

use crate::world::{Answer, World, json};

/// More than any of these commands takes, and less than they took without bounds.
const ENOUGH: u64 = 512 * 1024 * 1024;

/// Names the folder in which [`launcher`] finds where to put what it is told by.
const FOLDER: &str = "RETHREAD_TEST_LAUNCH";

/// Runs a command, and checks the most memory that it held.
///
/// A process counts what the one that started it held by then, so it is started by a small one:
/// this binary, started again.
fn bounded(w: &World, args: &[&str]) -> Answer {
    bounded_by(w, args, ENOUGH)
}

/// The same, with another bound.
fn bounded_by(w: &World, args: &[&str], most: u64) -> Answer {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let command = w.command(args);
    let file = |name| fs::File::create(at(name)).unwrap();
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "bombs::launcher", "--nocapture"])
        .env_clear()
        .envs(command.get_envs().filter_map(|(k, v)| Some((k, v?))))
        .env(FOLDER, folder.path())
        .env("RETHREAD_TEST_ARGS", serde_json::to_string(args).unwrap())
        .current_dir(&w.project)
        .stdin(Stdio::null())
        .stdout(file("launcher"))
        .stderr(file("launcher-errors"))
        .status()
        .unwrap();
    assert!(
        status.success(),
        "{:?}",
        fs::read_to_string(at("launcher-errors"))
    );
    let read = |name| String::from_utf8_lossy(&fs::read(at(name)).unwrap()).into_owned();
    let ended = json(&read("ended"));
    let answer = Answer {
        code: i32::try_from(ended["code"].as_i64().unwrap()).unwrap(),
        out: read("out"),
        err: read("err"),
    };
    let peak = ended["peak"].as_u64().unwrap();
    let start: String = answer.err.chars().take(2000).collect();
    assert!(peak < most, "{args:?} took {peak} bytes: {start}");
    answer
}

/// A thread that says something, and an export of it.
fn exported(w: &World) -> String {
    let thread = w.thread("A good thread");
    let message = r#"{"role":"user","content":[{"type":"text","text":"hi"}]}"#;
    w.message(&thread, message);
    w.ok(&["export", &thread, "-o", "-"])
}

/// Runs the command that it is told, if it is told one, and says how that ended.
#[test]
fn launcher() {
    let Some(folder) = std::env::var_os(FOLDER).map(std::path::PathBuf::from) else {
        return;
    };
    let args: Vec<String> =
        serde_json::from_str(&std::env::var("RETHREAD_TEST_ARGS").unwrap()).unwrap();
    let args: Vec<OsString> = args.into_iter().map(OsString::from).collect();
    let file = |name| fs::File::create(folder.join(name)).unwrap();
    let child = Command::new(env!("CARGO_BIN_EXE_rethread"))
        .args(args)
        .env_remove(FOLDER)
        .stdin(Stdio::null())
        .stdout(file("out"))
        .stderr(file("err"))
        .spawn()
        .unwrap();
    let ended = child.wait4().unwrap();
    let ended = serde_json::json!({
        "code": ended.status.code().unwrap_or(-1),
        "peak": ended.rusage.maxrss,
    });
    fs::write(folder.join("ended"), ended.to_string()).unwrap();
}
