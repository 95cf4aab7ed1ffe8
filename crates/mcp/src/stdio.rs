//! Serving a client that started this program, over its standard streams.

use std::io;
use std::sync::Arc;

use rmcp::model::{ErrorCode, ErrorData};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::{RoleServer, ServiceExt as _};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::Mutex;

use crate::server::ConversationServer;

/// A request longer than this is refused.
const LONGEST_REQUEST: usize = 4 * 1024 * 1024;

/// Serves the client that started this program, until it closes the pipe.
pub fn serve_stdio(server: ConversationServer) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let served = runtime.block_on(async move {
        let transport = LineTransport::new(tokio::io::stdin(), tokio::io::stdout());
        match server.serve(transport).await {
            Ok(running) => running.waiting().await.map(drop).map_err(io::Error::other),
            // The client went before it said who it is.
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(e) => Err(io::Error::other(e)),
        }
    });
    // What still works at this moment works for nobody.
    runtime.shutdown_background();
    served
}

/// Messages as lines of JSON. What is no message is answered with an error, so that nobody waits for
/// an answer that does not come.
struct LineTransport<R, W> {
    read: BufReader<R>,
    line: Vec<u8>,
    /// Whether the rest of a line that is too long is passed over.
    skips: bool,
    write: Arc<Mutex<W>>,
}

/// What became of a line.
enum LineEnd {
    Whole,
    TooLong,
    Closed,
}

impl<R: AsyncRead + Unpin, W> LineTransport<R, W> {
    fn new(read: R, write: W) -> Self {
        Self {
            read: BufReader::new(read),
            line: Vec::new(),
            skips: false,
            write: Arc::new(Mutex::new(write)),
        }
    }

    /// Reads on to the end of a line. Whoever stops waiting finds what was read in `line`.
    async fn read_line(&mut self) -> io::Result<LineEnd> {
        loop {
            let available = self.read.fill_buf().await?;
            if available.is_empty() {
                return Ok(LineEnd::Closed);
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            if !self.skips {
                self.line
                    .extend_from_slice(available.get(..taken).unwrap_or_default());
            }
            self.read.consume(taken);
            if self.line.len() > LONGEST_REQUEST {
                self.line = Vec::new();
                self.skips = true;
            }
            if end.is_some() {
                let was_long = std::mem::take(&mut self.skips);
                return Ok(if was_long {
                    LineEnd::TooLong
                } else {
                    LineEnd::Whole
                });
            }
        }
    }
}

async fn write_message<W: AsyncWrite + Unpin>(
    write: &Mutex<W>,
    message: &TxJsonRpcMessage<RoleServer>,
) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut write = write.lock().await;
    write.write_all(&line).await?;
    write.flush().await
}

impl<R, W> Transport<RoleServer> for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let write = Arc::clone(&self.write);
        async move { write_message(&write, &message).await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let error = match self.read_line().await {
                Ok(LineEnd::Closed) | Err(_) => return None,
                Ok(LineEnd::TooLong) => {
                    let message = format!("a request has at most {LONGEST_REQUEST} bytes");
                    ErrorData::new(ErrorCode::INVALID_REQUEST, message, None)
                }
                Ok(LineEnd::Whole) => {
                    let line = std::mem::take(&mut self.line);
                    if line.trim_ascii().is_empty() {
                        continue;
                    }
                    match serde_json::from_slice(&line) {
                        Ok(message) => return Some(message),
                        Err(e) if e.is_data() => {
                            // A notification of another protocol has no id, and is answered by nobody.
                            let json = serde_json::from_slice::<serde_json::Value>(&line);
                            if json
                                .is_ok_and(|j| j.get("method").is_some() && j.get("id").is_none())
                            {
                                continue;
                            }
                            let message = "this is not a JSON-RPC 2.0 message";
                            ErrorData::new(ErrorCode::INVALID_REQUEST, message, None)
                        }
                        Err(e) => {
                            let message = format!("this is not JSON: {e}");
                            ErrorData::new(ErrorCode::PARSE_ERROR, message, None)
                        }
                    }
                }
            };
            let message = TxJsonRpcMessage::<RoleServer>::error(error, None);
            write_message(&self.write, &message).await.ok()?;
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.write.lock().await.shutdown().await
    }
}
