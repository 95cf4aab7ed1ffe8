//! Serving clients over HTTP, on this machine alone.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;

use crate::server::ConversationServer;

/// Where clients find the server.
const PATH: &str = "/mcp";

/// A request longer than this is refused.
const LONGEST_REQUEST: usize = 4 * 1024 * 1024;

/// How a server is reached over HTTP.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// The port on the loopback address; 0 for one that is free.
    pub port: u16,
    /// What clients must send as `Authorization: Bearer TOKEN`.
    pub token: String,
}

/// Serves clients on the loopback address until the program is ended. `ready` is told the address of the
/// server when it can be asked.
///
/// Every request needs the token, and names this machine as its host; one that a page in a browser sends
/// is refused, whatever page it is.
pub fn serve_http(
    server: ConversationServer,
    options: HttpOptions,
    ready: impl FnOnce(&str) + Send,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async move {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).await?;
        let address: SocketAddr = listener.local_addr()?;
        let config = StreamableHttpServerConfig::default()
            .enforce_origin_validation()
            .with_max_request_body_bytes(LONGEST_REQUEST);
        let service = StreamableHttpService::new(
            move || Ok(server.clone()),
            Arc::new(LocalSessionManager::default()),
            config,
        );
        let token: Arc<str> = options.token.into();
        let router = Router::new()
            .nest_service(PATH, service)
            .layer(from_fn_with_state(token, check_token));
        ready(&format!("http://{address}{PATH}"));
        axum::serve(listener, router).await
    })
}

/// Lets only requests pass that have the token.
async fn check_token(State(token): State<Arc<str>>, request: Request, next: Next) -> Response {
    let sent = request.headers().get(header::AUTHORIZATION);
    let sent = sent.and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
    if sent.is_some_and(|sent| is_equal(sent, token.as_bytes())) {
        return next.run(request).await;
    }
    let headers = [(header::WWW_AUTHENTICATE, "Bearer")];
    let message = "send `Authorization: Bearer TOKEN`\n";
    (StatusCode::UNAUTHORIZED, headers, message).into_response()
}

/// Whether two texts are the same, found out in a time that does not depend on where they differ.
fn is_equal(a: &[u8], b: &[u8]) -> bool {
    let differences = a.iter().zip(b).fold(0, |found, (a, b)| found | (a ^ b));
    a.len() == b.len() && differences == 0
}
