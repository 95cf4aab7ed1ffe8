//! How far an export is.

use super::choose::{Choice, Chosen};

/// Tells how many of how many bytes of sessions are done.
pub(super) struct Progress<'a> {
    tell: &'a dyn Fn(u64, u64),
    done: u64,
    all: u64,
}

impl<'a> Progress<'a> {
    pub(super) fn new(chosen: &Chosen, tell: &'a dyn Fn(u64, u64)) -> Self {
        let all = chosen.sessions.iter().map(size).sum();
        tell(0, all);
        Self { tell, done: 0, all }
    }

    /// Says that a session is done, or will not be.
    pub(super) fn passed(&mut self, choice: &Choice) {
        self.done += size(choice);
        (self.tell)(self.done, self.all);
    }
}

/// How much a session is. One whose size nobody knows counts, too.
fn size(choice: &Choice) -> u64 {
    choice.summary.size.max(1)
}
