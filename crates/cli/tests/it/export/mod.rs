//! `export`, and exports as a source.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod browser;
mod corpus;
mod document;
mod files;
mod html;
mod import;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod narrow;
mod parts;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod pictures;
mod pipes;
mod records;
mod round_trip;
mod rules;
mod schema;
mod scope;
mod texts;
#[cfg(unix)]
mod values;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::world::{Answer, World, json};

/// The moment of the document's example.
pub(super) const THEN: &str = "2025-12-27T10:30:00Z";

/// A fixture of any format.
pub(super) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures")
        .join(name)
}

/// The document's complete example.
pub(super) fn example() -> PathBuf {
    fixture("ndjson/1.0/document/export.ndjson")
}

/// Runs a command at the moment of the document's example.
pub(super) fn then(w: &World, args: &[&str]) -> Answer {
    let output = w.command(args).env("RETHREAD_NOW", THEN).output().unwrap();
    Answer {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Exports to standard output; gives the lines.
pub(super) fn lines(w: &World, args: &[&str]) -> Vec<Value> {
    let answer = w.run(&[&["export", "-o", "-"], args].concat());
    assert!([0, 3].contains(&answer.code), "{args:?}: {answer:?}");
    answer.out.lines().map(parsed).collect()
}

/// A line of an export. Lone surrogates are JSON, but no text of Rust's, so they are replaced.
pub(super) fn parsed(line: &str) -> Value {
    let mut text = String::new();
    let mut rest = line;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let unit = |from: usize| {
            let digits = rest.get(from..from + 6)?.strip_prefix("\\u")?;
            u32::from_str_radix(digits, 16).ok()
        };
        let len = match (unit(0), unit(6)) {
            (Some(0xD800..0xDC00), Some(0xDC00..0xE000)) => 12,
            (Some(0xD800..0xE000), _) => 0,
            (Some(_), _) => 6,
            (None, _) => 2,
        };
        text.push_str(if len == 0 { "\u{FFFD}" } else { &rest[..len] });
        rest = &rest[if len == 0 { 6 } else { len }..];
    }
    text.push_str(rest);
    json(&text)
}

/// A world with two threads of ATSF and a session of pi, in the project.
pub(super) fn populated() -> World {
    let w = World::new();
    let id = w.thread("First");
    w.ok(&["append", &id, "--role", "user", "hello"]);
    w.ok(&["append", &id, "--role", "agent", "hi"]);
    w.thread("Empty");
    let made = w.ok(&["new", "--format", "pi", "--json"]);
    let pi = json(&made)["path"].as_str().unwrap().to_owned();
    w.ok(&["append", &pi, "--role", "user", "look"]);
    w.ok(&["append", &pi, "--role", "agent", "there"]);
    w
}

/// The header must say what follows.
pub(super) fn assert_header_fits(lines: &[Value]) {
    let (header, sessions) = lines.split_first().unwrap();
    assert_eq!(header["type"], "header");
    assert_eq!(header["session_count"], sessions.len());
    let set = |of: &dyn Fn(&Value) -> String| {
        let mut all: Vec<String> = sessions.iter().map(of).collect();
        all.sort();
        all.dedup();
        all
    };
    let text = |v: &Value| v.as_str().unwrap().to_owned();
    let agents = set(&|s| text(&s["session"]["agent"]));
    let mut workspaces = set(&|s| {
        let path = text(&s["session"]["workspace"]);
        path.rsplit('/').next().unwrap().to_owned()
    });
    // One that nobody knows has no name.
    workspaces.retain(|name| !name.is_empty());
    assert_eq!(header["agent_types"], Value::from(agents));
    assert_eq!(header["workspaces"], Value::from(workspaces));
    assert_eq!(header["homes"], json(r#"["local"]"#));
}

pub(super) fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}
