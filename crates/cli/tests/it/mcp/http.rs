//! The server over HTTP: only for who has the token, and never for a page in a browser.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use serde_json::json;

use crate::world::World;

struct HttpServer {
    child: Child,
    address: String,
    token: String,
}

impl HttpServer {
    fn start(w: &World) -> Self {
        let mut child = w
            .command(&["--sample", "mcp", "--http"])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut told = |word: &str| {
            let line = lines.next().unwrap().unwrap();
            line.strip_prefix(word)
                .unwrap_or_else(|| panic!("{line}"))
                .to_owned()
        };
        let url = told("serving http://");
        let address = url.strip_suffix("/mcp").unwrap().to_owned();
        let token = told("token ");
        Self {
            child,
            address,
            token,
        }
    }

    /// Posts a request with these headers, and gives the status and all that was answered.
    fn post(&self, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let mut request = "POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\n\
            Accept: application/json, text/event-stream\r\nConnection: close\r\n"
            .to_owned();
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).and_then(|s| s.parse().ok());
        (status.unwrap_or(0), answer)
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn only_who_has_the_token_is_served_and_no_page() {
    let w = World::new();
    let server = HttpServer::start(&w);
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" } } })
    .to_string();
    let bearer = format!("Bearer {}", server.token);
    let host = ("Host", server.address.as_str());
    let right = ("Authorization", bearer.as_str());
    let (status, answer) = server.post(&[host, right], &body);
    assert_eq!(status, 200, "{answer}");
    assert!(answer.contains("\"name\":\"rethread\""), "{answer}");
    for (headers, expected) in [
        (vec![host], 401),
        (vec![host, ("Authorization", "Bearer wrong")], 401),
        (vec![host, ("Authorization", "Basic x")], 401),
        (vec![("Host", "evil.example"), right], 403),
        (vec![host, right, ("Origin", "http://evil.example")], 403),
        (vec![host, right, ("Origin", "null")], 403),
        (vec![host, right, ("Origin", "http://127.0.0.1:1")], 403),
    ] {
        let (status, answer) = server.post(&headers, &body);
        assert_eq!(status, expected, "{headers:?}: {answer}");
        assert!(!answer.contains("\"name\":\"rethread\""));
    }
    let (status, _) = server.post(&[host, right], &"x".repeat(5 << 20));
    assert_eq!(status, 413);
}
