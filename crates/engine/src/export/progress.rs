//! How far an export is.

use std::cell::Cell;

use rethread_model::{Blob, Bodies, Body, EntryIx, Piece};

use super::choose::{ChosenSession, ChosenSessions};

/// Less is not worth telling.
const STEP: u64 = 256 * 1024;

/// Tells how many of how many bytes of sessions are done.
pub(super) struct ExportProgress<'a> {
    tell: &'a dyn Fn(u64, u64),
    /// How many bytes the sessions are that are done.
    done: Cell<u64>,
    told: Cell<u64>,
    all: u64,
}

impl<'a> ExportProgress<'a> {
    pub(super) fn new(chosen: &ChosenSessions, tell: &'a dyn Fn(u64, u64)) -> Self {
        let all = chosen.sessions.iter().map(session_size).sum();
        tell(0, all);
        Self {
            tell,
            done: Cell::new(0),
            told: Cell::new(0),
            all,
        }
    }

    /// Says that a session is done, or will not be.
    pub(super) fn session_done(&self, choice: &ChosenSession) {
        self.done.set(self.done.get() + session_size(choice));
        self.report_bytes(self.done.get());
    }

    /// Says that so many of so many steps of a session are done. Going back is not told.
    pub(super) fn session_progress(&self, choice: &ChosenSession, (done, of): (u64, u64)) {
        let part = u128::from(session_size(choice)) * u128::from(done) / u128::from(of.max(1));
        let part = u64::try_from(part).unwrap_or(0).min(session_size(choice));
        self.report_bytes(self.done.get() + part);
    }

    fn report_bytes(&self, at: u64) {
        if at >= self.told.get() + STEP || at >= self.all {
            self.told.set(at);
            (self.tell)(at, self.all);
        }
    }
}

/// How much a session is. One whose size nobody knows counts, too.
fn session_size(choice: &ChosenSession) -> u64 {
    choice.summary.size.max(1)
}

/// Says how many of how many steps are done.
pub(super) type StepProgress<'a> = &'a dyn Fn((u64, u64));

/// What a session's entries say, and how far whoever asks for it has got.
pub(super) struct WatchedBodies<'a> {
    pub(super) bodies: &'a dyn Bodies,
    /// How many entries there are.
    pub(super) entries: usize,
    pub(super) steps: StepProgress<'a>,
}

impl Bodies for WatchedBodies<'_> {
    fn body(&self, ix: EntryIx) -> Body {
        (self.steps)((ix.get() as u64, self.entries as u64));
        self.bodies.body(ix)
    }

    fn pieces(&self, ix: EntryIx) -> Vec<Piece> {
        self.bodies.pieces(ix)
    }

    fn inline(&self, blob: &Blob) -> Option<Vec<u8>> {
        self.bodies.inline(blob)
    }

    fn file(&self, blob: &Blob) -> Option<Vec<u8>> {
        self.bodies.file(blob)
    }
}
