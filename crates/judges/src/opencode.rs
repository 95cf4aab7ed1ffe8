//! The server of `OpenCode`, through which its windows do what its command line cannot.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

/// A server that ends with this.
#[derive(Debug)]
pub(crate) struct OpenCodeServer {
    child: Child,
    address: String,
}

impl OpenCodeServer {
    /// Starts it.
    ///
    /// # Panics
    ///
    /// If it does not start, or does not say where it listens.
    pub(crate) fn start(mut command: Command) -> Self {
        let started = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let child = match started {
            Ok(child) => child,
            Err(e) => panic!("the server does not start: {e}"),
        };
        let mut server = Self {
            child,
            address: String::new(),
        };
        server.address = server.read_address();
        server
    }

    /// Where it listens: it says so in its first lines.
    fn read_address(&mut self) -> String {
        let Some(out) = self.child.stdout.take() else {
            panic!("the server says nothing");
        };
        for line in BufReader::new(out).lines().map_while(Result::ok) {
            if let Some((_, address)) = line.split_once("http://") {
                return address.trim().to_owned();
            }
        }
        panic!("the server does not say where it listens")
    }

    /// Sends one request, and waits until it is done.
    ///
    /// # Panics
    ///
    /// If it is not done.
    pub(crate) fn post_json(&self, path: &str, body: &Value) {
        let address = &self.address;
        let answer = TcpStream::connect(address).and_then(|mut stream| {
            let body = body.to_string();
            write!(
                stream,
                "POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            )?;
            read_status_line(BufReader::new(stream))
        });
        let is_done = |answer: &String| answer.split(' ').nth(1) == Some("200");
        assert!(
            answer.as_ref().is_ok_and(is_done),
            "{path} is not done: {answer:?}"
        );
    }
}

/// The first line of an answer, once all of it is here. The server keeps the line open behind it.
fn read_status_line(mut from: impl BufRead) -> std::io::Result<String> {
    let line = |from: &mut dyn BufRead| -> std::io::Result<String> {
        let mut line = String::new();
        from.read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
    };
    let first = line(&mut from)?;
    let mut length = None;
    loop {
        let header = line(&mut from)?.to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(said) = header.strip_prefix("content-length:") {
            length = said.trim().parse::<u64>().ok();
        }
    }
    let skip = |from: &mut dyn BufRead, bytes: u64| {
        std::io::copy(&mut from.take(bytes), &mut std::io::sink())
    };
    match length {
        Some(length) => drop(skip(&mut from, length)?),
        // Pieces, each behind its length; the last is empty.
        None => loop {
            let length = u64::from_str_radix(&line(&mut from)?, 16).unwrap_or(0);
            if length == 0 {
                break;
            }
            skip(&mut from, length + 2)?;
        },
    }
    Ok(first)
}

impl Drop for OpenCodeServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
