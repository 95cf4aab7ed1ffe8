//! How far a call is.

use tokio::sync::watch;

/// How far a call is: told by whoever works, read by whoever tells the client.
#[derive(Clone)]
pub(crate) struct CallProgress {
    sender: watch::Sender<Progressed>,
}

/// So much is done of so much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progressed {
    pub(crate) done: usize,
    pub(crate) of: usize,
}

impl CallProgress {
    pub(crate) fn new() -> (Self, watch::Receiver<Progressed>) {
        let (sender, receiver) = watch::channel(Progressed::default());
        (Self { sender }, receiver)
    }

    /// Says how far it is.
    pub(crate) fn tell(&self, done: usize, of: usize) {
        self.sender.send_replace(Progressed { done, of });
    }
}
