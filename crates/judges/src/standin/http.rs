//! As much of HTTP as the clients speak.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::Value;

/// No request is longer.
const MAX_REQUEST: u64 = 256 * 1024 * 1024;

/// What a client asks.
pub(super) struct HttpRequest {
    pub(super) method: String,
    target: String,
    pub(super) body: Vec<u8>,
}

impl HttpRequest {
    /// The path without its query.
    pub(super) fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }
}

/// What a client is told.
pub(super) struct HttpResponse {
    status: &'static str,
    kind: &'static str,
    body: Vec<u8>,
}

impl HttpResponse {
    pub(super) fn json(value: &Value) -> Self {
        Self {
            status: "200 OK",
            kind: "application/json",
            body: value.to_string().into_bytes(),
        }
    }

    /// Server-sent events: their names, where they have some, and their data.
    pub(super) fn event_stream(events: &[(Option<&str>, String)]) -> Self {
        let event = |(name, data): &(Option<&str>, String)| match name {
            Some(name) => format!("event: {name}\ndata: {data}\n\n"),
            None => format!("data: {data}\n\n"),
        };
        let body: String = events.iter().map(event).collect();
        Self {
            status: "200 OK",
            kind: "text/event-stream",
            body: body.into_bytes(),
        }
    }

    pub(super) fn not_found() -> Self {
        let body = serde_json::json!({ "error": { "type": "not_found", "message": "not here" } });
        Self {
            status: "404 Not Found",
            ..Self::json(&body)
        }
    }
}

/// One connection of a client.
pub(super) struct HttpConnection {
    input: BufReader<TcpStream>,
    output: TcpStream,
}

impl HttpConnection {
    pub(super) fn new(stream: TcpStream) -> io::Result<Self> {
        let output = stream.try_clone()?;
        let input = BufReader::new(stream);
        Ok(Self { input, output })
    }

    /// The next request; none when the client went away.
    pub(super) fn read_request(&mut self) -> io::Result<Option<HttpRequest>> {
        let first = self.read_header_line()?;
        let mut words = first.split_whitespace();
        let (Some(method), Some(target)) = (words.next(), words.next()) else {
            return Ok(None);
        };
        let (mut len, mut is_chunked, mut waits) = (0, false, false);
        loop {
            let header = self.read_header_line()?;
            let Some((name, value)) = header.split_once(':') else {
                break;
            };
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "content-length" => len = value.parse().map_err(invalid_data)?,
                "transfer-encoding" => is_chunked = value.contains("chunked"),
                "expect" => waits = true,
                "content-encoding" if value != "identity" => {
                    return Err(invalid_data(format!(
                        "a body in `{value}` is not understood"
                    )));
                }
                _ => {}
            }
        }
        if waits {
            self.output.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        let body = if is_chunked {
            self.read_chunked_body()?
        } else {
            self.read_exactly(len)?
        };
        Ok(Some(HttpRequest {
            method: method.to_owned(),
            target: target.to_owned(),
            body,
        }))
    }

    fn read_header_line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.input.by_ref().take(64 * 1024).read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
    }

    fn read_exactly(&mut self, len: u64) -> io::Result<Vec<u8>> {
        if len > MAX_REQUEST {
            return Err(invalid_data("the body is too long"));
        }
        let mut body = Vec::new();
        self.input.by_ref().take(len).read_to_end(&mut body)?;
        Ok(body)
    }

    fn read_chunked_body(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let head = self.read_header_line()?;
            let digits = head.split(';').next().unwrap_or_default().trim();
            let len = u64::from_str_radix(digits, 16).map_err(invalid_data)?;
            body.extend(self.read_exactly(len)?);
            self.read_header_line()?;
            if len == 0 {
                return Ok(body);
            }
        }
    }

    pub(super) fn send_response(
        &mut self,
        request: &HttpRequest,
        answer: &HttpResponse,
    ) -> io::Result<()> {
        let head = format!(
            "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nrequest-id: req_standin\r\n\r\n",
            answer.status,
            answer.kind,
            answer.body.len()
        );
        self.output.write_all(head.as_bytes())?;
        if request.method != "HEAD" {
            self.output.write_all(&answer.body)?;
        }
        self.output.flush()
    }
}

fn invalid_data(e: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, e)
}
