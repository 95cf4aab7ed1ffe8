//! When a session was held: from its first message to its last. What a client notes beside messages
//! (that it started, hooks, queues) is no part of that.

use rethread_model::{Head, Moment, Session};

/// The moments of the first and of the last of some messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Times {
    pub(crate) first: Option<Moment>,
    pub(crate) last: Option<Moment>,
}

impl Times {
    /// Takes a message into account. Messages need not follow each other in the order of time, and
    /// a clock that was never set says nothing.
    pub(crate) fn add(&mut self, time: Option<Moment>) {
        let Some(time) = time.filter(|t| t.millis() > 0) else {
            return;
        };
        self.first = Some(self.first.map_or(time, |first| first.min(time)));
        self.last = self.last.max(Some(time));
    }

    /// Takes a message into account that stands behind all that were. The first one is where the
    /// session begins, whatever later ones say of the time: so whoever reads only the beginning and the
    /// end of a log knows it, too.
    pub(crate) fn add_next(&mut self, time: Option<Moment>) {
        let first = self.first;
        self.add(time);
        self.first = first.or(self.first);
    }

    /// Says in a head when the session was held. Where no message tells, that stays as it is.
    pub(crate) fn fill(self, head: &mut Head) {
        head.made = head.made.max(head.created);
        head.created = self.first.or(head.created);
        head.updated = self.last.or(head.updated);
    }
}

/// A session that was held when its messages were written.
pub(crate) fn with_times(mut session: Session) -> Session {
    let mut times = Times::default();
    for entry in session.entries().iter().filter(|e| e.kind.is_message()) {
        times.add(entry.time);
    }
    times.fill(&mut session.head);
    session
}
