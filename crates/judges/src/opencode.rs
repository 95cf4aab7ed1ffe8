//! The server of `OpenCode`, through which its windows do what its command line cannot.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

/// Starts the server, sends it one request, and stops it.
///
/// # Panics
///
/// If the request is not done.
pub(crate) fn post(mut command: Command, path: &str, body: &Value) {
    let started = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut server = match started {
        Ok(child) => Server(child),
        Err(e) => panic!("the server does not start: {e}"),
    };
    let address = server.address();
    let answer = TcpStream::connect(&address).and_then(|mut stream| {
        let body = body.to_string();
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )?;
        // It answers when all is done, and keeps the line open.
        let mut answer = String::new();
        BufReader::new(stream).read_line(&mut answer)?;
        Ok(answer)
    });
    let is_done = |answer: &String| answer.split(' ').nth(1) == Some("200");
    assert!(
        answer.as_ref().is_ok_and(is_done),
        "{path} is not done: {answer:?}"
    );
}

/// A server that ends with this.
struct Server(Child);

impl Server {
    /// Where it listens: it says so in its first lines.
    fn address(&mut self) -> String {
        let Some(out) = self.0.stdout.take() else {
            panic!("the server says nothing");
        };
        for line in BufReader::new(out).lines().map_while(Result::ok) {
            if let Some((_, address)) = line.split_once("http://") {
                return address.trim().to_owned();
            }
        }
        panic!("the server does not say where it listens")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
