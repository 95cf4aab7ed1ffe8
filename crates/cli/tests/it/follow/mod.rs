//! `show --follow` and `list --follow`: what is said as it is said.
//!
//! Nothing here depends on how long something takes: a test waits until it is told, and knows that
//! something was not told because what came after it was.

mod changes;
mod formats;
mod library;

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::Value;

use crate::opencode::store::{data, installed};
use crate::world::{World, json};

/// Long enough for any machine; nothing waits so long where all is well.
const LONG: Duration = Duration::from_mins(2);

/// A command that follows.
struct Following {
    child: Child,
    out: Receiver<String>,
    err: Receiver<String>,
}

impl Following {
    fn start(w: &World, args: &[&str]) -> Self {
        let mut child = w
            .command(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let out = lines_of(child.stdout.take().unwrap());
        let err = lines_of(child.stderr.take().unwrap());
        Self { child, out, err }
    }

    /// Follows all sessions, and waits until that began.
    fn library(w: &World, args: &[&str]) -> Self {
        let args: Vec<&str> = ["list", "--follow"].iter().chain(args).copied().collect();
        let follow = Self::start(w, &args);
        follow.wait_for_note("following");
        follow
    }

    fn next_line(&self) -> String {
        let line = self.out.recv_timeout(LONG);
        line.unwrap_or_else(|e| panic!("{e}: {:?}", self.err.try_iter().collect::<Vec<_>>()))
    }

    fn next_message(&self) -> Value {
        json(&self.next_line())
    }

    /// What the next message says.
    fn next_text(&self) -> String {
        text_of(&self.next_message())
    }

    /// Waits until something is said on standard error.
    fn wait_for_note(&self, words: &str) {
        loop {
            let line = self.err.recv_timeout(LONG).unwrap();
            if line.contains(words) {
                return;
            }
        }
    }

    /// Ends the command, and says what else it printed.
    fn stop(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.out.iter().collect()
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn lines_of(from: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    lines
}

fn text_of(message: &Value) -> String {
    let text = message["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("{message}")).to_owned()
}

/// A new session of a format with one message; gives its id.
fn session(w: &World, format: &str, seed: &str) -> String {
    if format == "opencode" && !data(w).exists() {
        installed(w, "1.18/everything");
    }
    let mut command = w.command(&["new", "--format", format, "--json"]);
    let output = command.env("RETHREAD_SEED", seed).output().unwrap();
    assert!(output.status.success(), "{format}: {output:?}");
    let made = json(&String::from_utf8(output.stdout).unwrap());
    let id = made["id"].as_str().unwrap().to_owned();
    say(w, &id, "user", "before", seed);
    id
}

/// Adds a message to a session.
fn say(w: &World, session: &str, role: &str, text: &str, seed: &str) {
    // The database of OpenCode has a model with each message.
    let mut args = vec!["append", session, "--role", role, text];
    if session.starts_with("ses_") {
        args.extend(["--model", "acme/large-2"]);
    }
    let seed = format!("{seed}{}", text.len());
    let output = w.command(&args).env("RETHREAD_SEED", seed).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{text}: {output:?}");
}
