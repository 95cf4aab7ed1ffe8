//! The sub-agents of a session: told to the target as its own, where it has a place for them, and
//! taken along.

use std::collections::{BTreeMap, HashMap, HashSet};

use rethread_formats::carry::{CarriedAgent, Scope};
use rethread_formats::{
    Agents, Conversation, FormatRef, Source, StartedSubagent, StepKind, SubagentTranscript, Writer,
    Writing,
};
use rethread_model::{Block, Bodies as _, Body, LinkKind, Note};

use super::history::MessageHistory;
use super::write::refuse_damage;
use super::{report, transcript};
use crate::Error;

/// A session's sub-agents.
#[derive(Default)]
pub(super) struct SubagentFamily {
    /// Those that go with it.
    pub(super) agents: Agents,
    /// How many there are, also those that do not.
    pub(super) count: usize,
    /// How many of them nobody wanted.
    pub(super) left_out: usize,
}

impl SubagentFamily {
    /// Finds the sub-agents of a session, and tells what is wrong with them. Where they are not
    /// wanted, they are only counted.
    pub(super) fn of_session(session: &Conversation, wanted: bool, notes: &mut Vec<Note>) -> Self {
        let agents = Agents::of(session);
        let count = agents.read.len() + agents.torn.len();
        if !wanted {
            return Self {
                agents: Agents::default(),
                count,
                left_out: count,
            };
        }
        for id in agents.missing(session) {
            let what = format!("the sub-agent `{id}` is not here");
            notes.push(Note::remark(what).at(&session.source.path));
        }
        for (source, e) in &agents.torn {
            let what = format!("the sub-agent `{}` cannot be read: {e}", source.id);
            notes.push(Note::damage(what).at(&source.path));
        }
        let of_agents = agents.read.iter().flat_map(|agent| &agent.notes);
        notes.extend(of_agents.cloned());
        Self {
            agents,
            count,
            left_out: 0,
        }
    }

    /// Writes them as sub-agents of a session that was told its own conversation, all but those that
    /// are there already. Gives those that were written, by their places, and how much they say.
    pub(super) fn write_agents(
        &self,
        w: &Writing<'_>,
        from: &Conversation,
        (to, main): (FormatRef, &Source),
        mut there: HashMap<usize, Source>,
    ) -> Result<(Vec<(usize, Source)>, usize), Error> {
        let mut told = Vec::new();
        let mut said = 0;
        let Some(writer) = to.writer().and_then(Writer::subagents) else {
            return Ok((told, said));
        };
        let parents = self.parent_agents(from);
        // Which calls of which session started them.
        let mut started: BTreeMap<Option<usize>, Vec<(String, usize)>> = BTreeMap::new();
        for at in in_order(&parents) {
            let Some(agent) = self
                .agents
                .read
                .get(at)
                .filter(|_| !there.contains_key(&at))
            else {
                continue;
            };
            let steps = transcript::transcript_steps(agent, to, Scope::Told);
            if steps.told.is_empty() {
                continue;
            }
            let parent = parents.get(at).copied().flatten();
            let mut above = parent;
            while let Some(ix) = above.filter(|ix| !there.contains_key(ix)) {
                above = parents.get(ix).copied().flatten();
            }
            let starter = parent.map_or(Some(from), |ix| self.agents.read.get(ix));
            let call = starter.and_then(|starter| call_of(starter, agent));
            let title = agent.session.head.title.as_ref().map(|t| t.text.as_str());
            let one = SubagentTranscript {
                call: call.as_deref(),
                title: title.filter(|t| !t.trim().is_empty()),
                told: &steps.told,
            };
            let source = above.and_then(|ix| there.get(&ix)).unwrap_or(main);
            let made = writer.write_subagent(w, source, &one)?;
            let messages = steps.told.iter();
            said += messages
                .filter(|told| matches!(told.step, StepKind::Message(_)))
                .count();
            if let Some(call) = call.filter(|_| above == parent) {
                started.entry(parent).or_default().push((call, at));
            }
            there.insert(at, made.clone());
            told.push((at, made));
        }
        for (parent, calls) in started {
            let calls = calls.iter();
            let calls: Vec<StartedSubagent<'_>> = calls
                .filter_map(|(call, at)| {
                    let session = there.get(at)?;
                    Some(StartedSubagent { call, session })
                })
                .collect();
            let source = parent.and_then(|ix| there.get(&ix)).unwrap_or(main);
            writer.link_subagents(w, source, &calls)?;
        }
        Ok((told, said))
    }

    /// The sub-agent that started each, none where the session itself did. One that names another
    /// in what it says started it, whatever folder that is in.
    fn parent_agents(&self, from: &Conversation) -> Vec<Option<usize>> {
        let all = &self.agents.read;
        let mut places: HashMap<&str, usize> = HashMap::new();
        for (at, agent) in all.iter().enumerate() {
            places.insert(&agent.session.head.id, at);
            places.insert(&agent.source.id, at);
        }
        let mut parents = vec![None; all.len()];
        for (at, agent) in all.iter().enumerate() {
            for link in &agent.session.head.links {
                let other = places.get(link.session.as_str()).copied();
                match (link.kind, other) {
                    (LinkKind::SubAgent, Some(child)) if child != at => {
                        if let Some(parent) = parents.get_mut(child) {
                            *parent = Some(at);
                        }
                    }
                    (LinkKind::Parent, Some(parent)) if parent != at => {
                        parents[at] = parents[at].or(Some(parent));
                    }
                    _ => {}
                }
            }
        }
        self.by_calls(from, &mut parents);
        // Hostile ones may have started each other.
        for at in 0..parents.len() {
            let mut above = parents[at];
            let mut steps = 0;
            while let Some(ix) = above {
                steps += 1;
                if ix == at || steps > parents.len() {
                    parents[at] = None;
                    break;
                }
                above = parents.get(ix).copied().flatten();
            }
        }
        parents
    }

    /// Some clients keep all sub-agents of a session side by side, and note only the call that
    /// started each: where that is one of another sub-agent, that one did.
    fn by_calls(&self, from: &Conversation, parents: &mut [Option<usize>]) {
        let all = &self.agents.read;
        let own = |agent: &Conversation| {
            let mut links = agent.session.head.links.iter();
            links.find_map(|link| match link.kind {
                LinkKind::Parent => link.tool_call.clone(),
                _ => None,
            })
        };
        let asked = all.iter().zip(parents.iter()).enumerate();
        let mut asked: Vec<(usize, String)> = asked
            .filter(|(_, (_, parent))| parent.is_none())
            .filter_map(|(at, (agent, _))| Some((at, own(agent)?)))
            .collect();
        if all.len() < 2 || asked.is_empty() {
            return;
        }
        let of_session = session_calls(from);
        asked.retain(|(_, call)| !of_session.contains(call));
        if asked.is_empty() {
            return;
        }
        let calls: Vec<HashSet<String>> = all.iter().map(session_calls).collect();
        for (at, call) in asked {
            let made = calls.iter().position(|calls| calls.contains(&call));
            if let Some(parent) = parents.get_mut(at) {
                *parent = made.filter(|other| *other != at);
            }
        }
    }
}

/// The calls that a session makes.
fn session_calls(session: &Conversation) -> HashSet<String> {
    let mut calls = HashSet::new();
    for (ix, entry) in session.session.indexed() {
        if entry.kind.is_message()
            && let Body::Message(message) = session.body(ix)
        {
            calls.extend(message.blocks.into_iter().filter_map(|block| match block {
                Block::ToolCall(call) => Some(call.id),
                _ => None,
            }));
        }
    }
    calls
}

/// Places so that each comes behind its parent.
fn in_order(parents: &[Option<usize>]) -> Vec<usize> {
    let mut children: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
    for (at, parent) in parents.iter().enumerate() {
        children.entry(*parent).or_default().push(at);
    }
    let mut order = children.remove(&None).unwrap_or_default();
    let mut next = 0;
    while let Some(at) = order.get(next).copied() {
        order.extend(children.remove(&Some(at)).unwrap_or_default());
        next += 1;
    }
    order
}

/// The call that started a sub-agent, as either of the two says.
fn call_of(starter: &Conversation, agent: &Conversation) -> Option<String> {
    let is_it = |id: &str| id == agent.session.head.id || id == agent.source.id;
    let links = starter.session.head.links.iter();
    let started = links.filter(|l| l.kind == LinkKind::SubAgent && is_it(&l.session));
    let own = agent.session.head.links.iter();
    let own = own.filter(|l| l.kind == LinkKind::Parent);
    started.chain(own).find_map(|link| link.tool_call.clone())
}

/// What the target's own reader finds of sub-agents that were written.
pub(super) struct AgentsReadBack {
    pub(super) agents: Agents,
    /// What is packed of each, to tell later what was done to it.
    pub(super) carried: Vec<CarriedAgent>,
    /// How many say what they said.
    pub(super) native: usize,
}

impl AgentsReadBack {
    /// Reads sub-agents that were written with a session. Each must be there, and whole.
    pub(super) fn read_agents(
        made: &Conversation,
        family: &SubagentFamily,
        told: &[(usize, Source)],
    ) -> Result<Self, Error> {
        let mut back = Self {
            agents: Agents::of(made),
            carried: Vec::new(),
            native: 0,
        };
        for (at, source) in told {
            let found = find_agent(&back.agents, &source.id);
            let was = family.agents.read.get(*at);
            let Some((found, was)) = found.zip(was) else {
                return Err(Error::Verification(format!(
                    "what was written does not read back: the sub-agent `{}` is missing",
                    source.id
                )));
            };
            refuse_damage(found)?;
            back.native += usize::from(report::says_the_same(was, found));
            let spoken = MessageHistory::only_digests(found, found, Scope::Told);
            back.carried.push(CarriedAgent {
                id: found.source.id.clone(),
                of: was.source.id.clone(),
                marks: spoken.block_digests(),
                shape: spoken.shape(),
            });
        }
        Ok(back)
    }
}

/// The sub-agent with this id.
pub(super) fn find_agent<'a>(agents: &'a Agents, id: &str) -> Option<&'a Conversation> {
    agents.read.iter().find(|agent| agent.source.id == id)
}
