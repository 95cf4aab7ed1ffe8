//! A stand-in for the vendors' model APIs, on loopback.
//!
//! Real clients are pointed at it and run without a network. It keeps what they send, and answers
//! `reply 1`, `reply 2` and so on. Where the last thing that the user said holds
//! `[[tool:NAME {json}]]`, the answer thinks a little and calls these tools instead.
//!
//! A test can hold a client in the middle of its work: see [`StandIn::hold_calls`].

mod http;
mod replies;
mod script;

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use serde_json::Value;

use self::http::{HttpRequest, HttpResponse};

/// A running stand-in. It ends when it is dropped.
#[derive(Debug)]
pub struct StandInModel {
    address: SocketAddr,
    state: Arc<StandInState>,
}

/// What a client sent to a model.
#[derive(Clone, Debug)]
pub struct ModelCall {
    /// The path of the address.
    pub path: String,
    /// What was sent.
    pub body: Value,
}

/// A call that waits for its answer until this is dropped.
#[derive(Debug)]
pub struct HeldCall {
    _waiting: Sender<()>,
}

#[derive(Debug, Default)]
struct StandInState {
    calls: Mutex<Vec<ModelCall>>,
    /// Who is told of each call that waits, if calls are to wait.
    holder: Mutex<Option<Sender<HeldCall>>>,
    answered: AtomicU64,
    is_over: AtomicBool,
}

impl StandInModel {
    /// Starts a stand-in on a free port.
    ///
    /// # Panics
    ///
    /// If there is no loopback.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").and_then(|l| Ok((l.local_addr()?, l)));
        let (address, listener) = match listener {
            Ok(found) => found,
            Err(e) => panic!("there is no port on loopback: {e}"),
        };
        let state = Arc::new(StandInState::default());
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if shared.is_over.load(Ordering::Relaxed) {
                    return;
                }
                let shared = Arc::clone(&shared);
                // A client that goes away in the middle is no concern of ours.
                thread::spawn(move || drop(serve_connection(stream, &shared)));
            }
        });
        Self { address, state }
    }

    /// The address for clients, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Lets every call wait from now on. Each is received here, and answered once that is dropped;
    /// the last one was received when calls are let through again.
    pub fn hold_calls(&self) -> Receiver<HeldCall> {
        let (teller, told) = mpsc::channel();
        *self.state.holder() = Some(teller);
        told
    }

    /// Lets calls through again.
    pub fn release_calls(&self) {
        *self.state.holder() = None;
    }

    /// What was sent so far.
    pub fn calls(&self) -> Vec<ModelCall> {
        let calls = self.state.calls.lock();
        calls.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl StandInState {
    fn holder(&self) -> std::sync::MutexGuard<'_, Option<Sender<HeldCall>>> {
        self.holder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits as long as somebody wants it.
    fn wait_while_held(&self) {
        let (waiting, wait) = mpsc::channel();
        let told = self
            .holder()
            .as_ref()
            .map(|h| h.send(HeldCall { _waiting: waiting }));
        // Nothing is ever sent: the other end goes away, here or there.
        if let Some(Ok(())) = told {
            let _ = wait.recv();
        }
    }
}

impl Drop for StandInModel {
    fn drop(&mut self) {
        self.state.is_over.store(true, Ordering::Relaxed);
        // Wakes the listener, so that it sees that it is over.
        let _ = TcpStream::connect(self.address);
    }
}

/// Answers all requests of one connection.
fn serve_connection(stream: TcpStream, state: &StandInState) -> std::io::Result<()> {
    let mut connection = http::HttpConnection::new(stream)?;
    while let Some(request) = connection.read_request()? {
        let answer = respond_to(&request, state);
        connection.send_response(&request, &answer)?;
    }
    Ok(())
}

fn respond_to(request: &HttpRequest, state: &StandInState) -> HttpResponse {
    let path = request.path();
    if request.method != "POST" {
        let is_list = path.ends_with("/models");
        let list = serde_json::json!({ "object": "list", "data": [], "models": [] });
        return if is_list {
            HttpResponse::json(&list)
        } else if request.method == "HEAD" {
            HttpResponse::json(&Value::Null)
        } else {
            HttpResponse::not_found()
        };
    }
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let mut calls = state.calls.lock().unwrap_or_else(PoisonError::into_inner);
    calls.push(ModelCall {
        path: path.to_owned(),
        body: body.clone(),
    });
    drop(calls);
    state.wait_while_held();
    let number = || state.answered.fetch_add(1, Ordering::Relaxed) + 1;
    if path.ends_with("/count_tokens") {
        HttpResponse::json(&serde_json::json!({ "input_tokens": 42 }))
    } else if path.ends_with(":countTokens") {
        HttpResponse::json(&serde_json::json!({ "totalTokens": 42 }))
    } else if path.ends_with("/v1/messages") {
        replies::anthropic_reply(&body, number())
    } else if path.ends_with("/responses") {
        replies::responses_reply(&body, number())
    } else if path.ends_with("/chat/completions") {
        replies::chat_reply(&body, number())
    } else if path.contains("enerateContent") {
        replies::gemini_reply(&body, number(), path.contains("stream"))
    } else {
        HttpResponse::not_found()
    }
}
