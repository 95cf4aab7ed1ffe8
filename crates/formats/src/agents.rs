//! The sub-agents of a session, with what they said.

use std::collections::{HashSet, VecDeque};

use rethread_model::LinkKind;

use crate::{Conversation, OpenError, Source};

/// The sub-agents of a session, and theirs.
#[derive(Debug, Default)]
pub struct Agents {
    /// Those that can be read.
    pub read: Vec<Conversation>,
    /// Those that cannot, and why.
    pub torn: Vec<(Source, OpenError)>,
}

impl Agents {
    /// Reads the sub-agents of a session, as far as its store has them.
    pub fn of(session: &Conversation) -> Self {
        let mut all = Self::default();
        let name = |source: &Source| (source.path.clone(), source.id.clone());
        let mut met = HashSet::from([name(&session.source)]);
        let mut waiting = VecDeque::from(session.source.format.reader().subagents(session));
        while let Some(mut source) = waiting.pop_front() {
            if !met.insert(name(&source)) {
                continue;
            }
            source.home.clone_from(&session.source.home);
            match session.source.format.reader().read(&source) {
                Ok(agent) => {
                    waiting.extend(session.source.format.reader().subagents(&agent));
                    all.read.push(agent);
                }
                Err(e) => all.torn.push((source, e)),
            }
        }
        all
    }

    /// The sub-agents that a session and its own name, and that are not here. What a fork names belongs
    /// to the session that it was copied from.
    pub fn missing<'a>(&'a self, session: &'a Conversation) -> Vec<&'a str> {
        let mut missing = Vec::new();
        for one in std::iter::once(session).chain(&self.read) {
            let head = &one.session.head;
            if head.links.iter().any(|link| link.kind == LinkKind::ForkOf) {
                continue;
            }
            let started = head.links.iter().filter(|l| l.kind == LinkKind::SubAgent);
            missing.extend(started.map(|link| link.session.as_str()));
        }
        missing.retain(|id| {
            let is_it =
                |agent: &Conversation| agent.session.head.id == *id || agent.source.id == *id;
            !self.read.iter().any(is_it) && !self.torn.iter().any(|(source, _)| source.id == *id)
        });
        missing.sort_unstable();
        missing.dedup();
        missing
    }
}
