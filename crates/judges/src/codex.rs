//! What Codex lists: the server that its editors talk to says it, in JSON lines.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// Starts the server, and gives its answer to `thread/list`.
///
/// # Panics
///
/// If it does not start, or gives no answer.
pub(crate) fn list_threads(mut command: Command) -> String {
    let started = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = match started {
        Ok(child) => child,
        Err(e) => panic!("{command:?} does not start: {e}"),
    };
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        panic!("{command:?} has no ends");
    };
    let me = json!({ "clientInfo": { "name": "judge", "version": "1" } });
    let questions = [
        json!({ "id": 1, "method": "initialize", "params": me }),
        json!({ "method": "initialized" }),
        json!({ "id": 2, "method": "thread/list", "params": {} }),
    ];
    let sent = questions
        .iter()
        .try_for_each(|q| writeln!(input, "{q}"))
        .and_then(|()| input.flush());
    if let Err(e) = sent {
        panic!("{command:?} does not listen: {e}");
    }
    // Between the answers, it tells news.
    let answers = BufReader::new(output).lines().map_while(Result::ok);
    let answer = answers
        .filter_map(|line| serde_json::from_str::<Value>(&line).ok())
        .find(|value| value["id"] == 2);
    // Its input ends, and with it the server.
    drop(input);
    let status = child.wait();
    match answer {
        Some(answer) => answer["result"]["data"].to_string(),
        None => panic!("{command:?} gave no list and ended: {status:?}"),
    }
}
