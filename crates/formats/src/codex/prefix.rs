//! Which records of a fork are copies of the session that it was forked from.
//!
//! Older clients copied the whole past into the new file, at the time of the fork, behind a copy of
//! the other session's `session_meta`. Nothing marks where the copy ends. Ids of turns tell it:
//! they, and the session's own id, hold the moment at which they were made.

use rethread_json::Value;
use rethread_model::Moment;

use super::meta::SessionMeta;
use super::record::{Ev, RolloutRecord, RolloutType};
use crate::kit::{saved_enum, saved_struct};

/// Records of a copy are written at once, those of a person's turn are not.
const PAUSE_MS: i64 = 1000;

/// Follows a file and tells what is copied.
#[derive(Clone, Debug, Default)]
pub(super) struct Prefix {
    state: PrefixState,
    /// When the session was made, in milliseconds, by its id.
    made: Option<i64>,
    created: Option<Moment>,
    own_start: Option<u64>,
    last: Option<Moment>,
    /// Whether the session's own facts were met.
    met: bool,
    /// Whether something was said before.
    said: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum PrefixState {
    /// Nothing is known yet.
    #[default]
    Start,
    /// What comes is a copy, if its turns are older than the session.
    Perhaps,
    /// What comes is a copy.
    Copy,
    /// What comes is the session's own.
    Own,
}

saved_enum!(PrefixState { Start = 0, Perhaps = 1, Copy = 2, Own = 3 });
saved_struct!(Prefix {
    state,
    made,
    created,
    own_start,
    last,
    met,
    said,
});

impl Prefix {
    /// Takes the next record into account; whether it is a copy.
    pub(super) fn is_copy(&mut self, record: &RolloutRecord<'_>) -> bool {
        if let Some(start) = self.own_start {
            return record.ordinal().is_some_and(|n| n < start);
        }
        if self.is_settled() {
            return false;
        }
        if record.what == RolloutType::Meta {
            self.meta(record);
            return false;
        }
        let time = record.time();
        if matches!(self.state, PrefixState::Perhaps | PrefixState::Copy)
            && self.is_live(record, time)
        {
            self.state = PrefixState::Own;
        }
        self.last = time.or(self.last);
        self.said = self.said || matches!(record.what, RolloutType::Item(_));
        self.state == PrefixState::Copy
    }

    /// Whether nothing that comes can be a copy.
    pub(super) fn is_settled(&self) -> bool {
        let is_own = match self.state {
            PrefixState::Own => true,
            PrefixState::Start => self.met && self.said,
            PrefixState::Perhaps | PrefixState::Copy => false,
        };
        is_own && self.own_start.is_none()
    }

    fn meta(&mut self, record: &RolloutRecord<'_>) {
        if self.met {
            // Another session's facts before anything was said: the copy begins.
            if !self.said {
                self.state = PrefixState::Copy;
            }
        } else {
            let meta = SessionMeta::of(record.payload, false);
            self.made = moment_in(&meta.id);
            self.created = meta.created;
            self.own_start = meta.own_start;
            if meta.forked_from.is_some() && meta.base.is_none() {
                self.state = PrefixState::Perhaps;
            }
        }
        self.met = true;
        self.last = record.time().or(self.last);
    }

    /// Whether a turn of the session itself begins here.
    fn is_live(&mut self, record: &RolloutRecord<'_>, time: Option<Moment>) -> bool {
        let begins = matches!(
            record.what,
            RolloutType::TurnContext | RolloutType::Event(Ev::Started | Ev::User)
        );
        if !begins {
            return false;
        }
        let turn = record.turn().and_then(|id| moment_in(&id));
        if let (Some(turn), Some(made)) = (turn, self.made) {
            if self.state == PrefixState::Perhaps && turn < made {
                self.state = PrefixState::Copy;
            }
            return turn >= made;
        }
        let started = record.payload.get("started_at").and_then(Value::i64);
        if let (Some(started), Some(created)) = (started, self.created) {
            if self.state == PrefixState::Perhaps && started < created.millis() / 1000 {
                self.state = PrefixState::Copy;
            }
            return started >= created.millis() / 1000;
        }
        let pause = |last: Moment| time.is_some_and(|t| t.millis() - last.millis() >= PAUSE_MS);
        self.last.is_some_and(pause)
    }
}

/// The moment that an id of version 7 holds.
fn moment_in(id: &str) -> Option<i64> {
    let id = uuid::Uuid::try_parse(id).ok()?;
    if id.get_version_num() != 7 {
        return None;
    }
    i64::try_from(id.as_u128() >> 80).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_hold_moments() {
        let made = moment_in("01a1e075-346b-7c10-a10e-2d7f3fb827f3");
        assert_eq!(made, Some(0x01a1_e075_346b));
        assert_eq!(moment_in("0418f71e-beb0-474c-a03d-1719a72e64cc"), None);
        assert_eq!(moment_in("turn-1"), None);
    }
}
