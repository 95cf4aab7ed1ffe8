//! What a log holds, as far as it can be known.
//!
//! Of a damaged line nobody can say whether it counted as a message when it was written. So a
//! count is a range, which is one number where nothing is damaged.

use std::fmt;

use rethread_model::Moment;

use crate::atsf::message::ThreadMessageHead;

/// How many there are: at least and at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Range {
    least: u64,
    most: u64,
}

impl Range {
    pub(super) fn holds(self, n: u64) -> bool {
        (self.least..=self.most).contains(&n)
    }

    fn add(&mut self, n: u64, sure: bool) {
        self.most = self.most.saturating_add(n);
        if sure {
            self.least = self.least.saturating_add(n);
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            least: self.least.saturating_add(other.least),
            most: self.most.saturating_add(other.most),
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.least, self.most) {
            (n, m) if n == m => write!(f, "{n}"),
            (n, u64::MAX) => write!(f, "at least {n}"),
            (n, m) => write!(f, "{n} to {m}"),
        }
    }
}

/// When the last message was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Last {
    /// There is none.
    #[default]
    None,
    At(Moment),
    /// It does not say.
    Unknown,
}

/// What a log holds.
#[derive(Clone, Debug, Default)]
pub(super) struct LogFacts {
    pub(super) messages: [Range; 1],
    pub(super) users: [Range; 1],
    agents: Range,
    /// Of the role `assistant`, which the document does not know.
    assistants: Range,
    /// Of all other roles.
    others: Range,
    pub(super) tool_calls: [Range; 1],
    pub(super) last: Last,
}

impl LogFacts {
    /// The ways in which programs count the agent's messages: by the role alone, or all that are
    /// not the user's.
    pub(super) fn agents(&self) -> [Range; 3] {
        let agents = self.agents.and(self.assistants);
        [self.agents, agents, agents.and(self.others)]
    }

    /// A message; `sure` if it is one beyond doubt.
    pub(super) fn message(&mut self, head: &ThreadMessageHead, time: Option<Moment>, sure: bool) {
        self.last = time.map_or(Last::Unknown, Last::At);
        self.messages[0].add(1, sure);
        let Some(role) = &head.role else {
            return self.of_any_role();
        };
        let count = match role.as_str() {
            "user" => &mut self.users[0],
            "agent" => &mut self.agents,
            "assistant" => &mut self.assistants,
            _ => &mut self.others,
        };
        count.add(1, sure);
        self.tool_calls[0].add(head.tool_calls, sure);
    }

    /// A message that is too long to be looked at.
    pub(super) fn giant(&mut self, head: &ThreadMessageHead) {
        self.message(head, head.time, head.role.is_some());
        self.tool_calls[0].most = u64::MAX;
    }

    /// Bytes that may have been a message.
    pub(super) fn junk(&mut self) {
        self.messages[0].add(1, false);
        self.of_any_role();
    }

    fn of_any_role(&mut self) {
        for count in [&mut self.users[0], &mut self.agents] {
            count.add(1, false);
        }
        self.tool_calls[0].most = u64::MAX;
    }
}
