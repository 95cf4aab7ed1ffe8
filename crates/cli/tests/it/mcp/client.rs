//! A client that asks the server, one line a message.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::world::{World, json as parsed};

/// A server that runs, and a client that is connected to it.
pub(super) struct McpClient {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next_id: u64,
}

impl McpClient {
    /// Starts the server and says who asks.
    pub(super) fn start(w: &World, args: &[&str]) -> Self {
        let mut client = Self::connect(w, args);
        let about = client.request(
            "initialize",
            &json!({ "protocolVersion": "2025-06-18", "capabilities": {},
                "clientInfo": { "name": "test", "version": "1" } }),
        );
        assert_eq!(about["result"]["serverInfo"]["name"], "rethread", "{about}");
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    /// Starts the server, and says nothing yet.
    pub(super) fn connect(w: &World, args: &[&str]) -> Self {
        let mut child = w
            .command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
            next_id: 0,
        }
    }

    pub(super) fn send(&mut self, message: &Value) {
        self.send_bytes(format!("{message}\n").as_bytes());
    }

    pub(super) fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).and_then(|()| input.flush()).unwrap();
    }

    /// The next message of the server.
    pub(super) fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        parsed(&line)
    }

    /// Asks, and gives the answer.
    pub(super) fn request(&mut self, method: &str, params: &Value) -> Value {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let answer = self.receive();
            if answer["id"] == id {
                return answer;
            }
        }
    }

    /// Calls a tool that must answer; gives its text and its data, of which a model sees either.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> (String, Value) {
        let answer = self.request(
            "tools/call",
            &json!({ "name": tool, "arguments": arguments }),
        );
        let result = &answer["result"];
        assert_ne!(result["isError"], true, "{answer}");
        let text = result["content"][0]["text"].as_str().unwrap().to_owned();
        (text, result["structuredContent"].clone())
    }

    /// Calls a tool that must refuse, and gives what it says.
    pub(super) fn refused(&mut self, tool: &str, arguments: &Value) -> String {
        let answer = self.request(
            "tools/call",
            &json!({ "name": tool, "arguments": arguments }),
        );
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        let text = &answer["result"]["content"][0]["text"];
        text.as_str().unwrap().to_owned()
    }

    /// Goes away, and gives the server's exit code.
    pub(super) fn close(mut self) -> i32 {
        drop(self.input.take());
        self.child.wait().unwrap().code().unwrap_or(-1)
    }
}

impl Drop for McpClient {
    fn drop(&mut self) {
        // A test that failed leaves no server behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
