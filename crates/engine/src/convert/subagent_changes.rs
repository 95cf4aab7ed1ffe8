//! What was done to sub-agents since they were converted, done to the originals as well.

use std::collections::HashMap;
use std::path::Path;

use rethread_formats::{
    Agents, Appended, Conversation, FormatRef, MessageInput, Source, WriteError, Writing,
};
use rethread_model::Note;

use super::changes::{SessionChanges, WrittenBlocks};
use super::recovery::{UnpackedOriginal, fitting_messages};
use super::subagents::{SubagentFamily, find_agent};
use super::{edit, proof};
use crate::Error;
use crate::show::open;

/// What was done to the sub-agents of a session that carries its original.
pub(super) struct AgentChanges {
    /// The sub-agents that it has now.
    here: SubagentFamily,
    /// How many things are said differently.
    pub(super) changed: usize,
    /// What was said since in each, by its id in the original.
    later: Vec<(String, Vec<MessageInput>)>,
    /// Those that were written, by their places among those here, with their ids in the original.
    known: HashMap<usize, String>,
}

impl AgentChanges {
    /// Compares the sub-agents with what was written, and changes the originals in the same way.
    pub(super) fn compare_agents(
        w: &Writing<'_>,
        here: &Conversation,
        (found, folder): (&mut UnpackedOriginal, &Path),
        notes: &mut Vec<Note>,
    ) -> Result<Self, Error> {
        let mut since = Self {
            here: SubagentFamily {
                agents: Agents::of(here),
                ..SubagentFamily::default()
            },
            changed: 0,
            later: Vec::new(),
            known: HashMap::new(),
        };
        for carried in found.agents.clone() {
            let all = &since.here.agents.read;
            let Some(at) = all.iter().position(|agent| agent.source.id == carried.id) else {
                let what = format!(
                    "the sub-agent `{}` is gone; the original has it still",
                    carried.id
                );
                notes.push(Note::remark(what).at(&here.source.path));
                continue;
            };
            since.known.insert(at, carried.of.clone());
            let Some(agent) = all.get(at) else { continue };
            let before = WrittenBlocks::of_agent(&carried, found.before.scope);
            let changes = SessionChanges::since_written(agent, &before);
            let Some(changes) = changes else {
                notes.push(not_told(agent));
                continue;
            };
            if !changes.blocks.is_empty() {
                let folder = folder.join(format!("changed-{at}"));
                if change_original(w, agent, (&carried.of, &before), &changes, (found, &folder))? {
                    since.changed += changes.blocks.len();
                } else {
                    notes.push(not_told(agent));
                    continue;
                }
            }
            match changes.since.straight_messages() {
                Some(later) if later.is_empty() => {}
                Some(later) => {
                    let later = fitting_messages(later, found.format, notes);
                    since.later.push((carried.of, later));
                }
                None => {
                    let why = "it goes on from an earlier place";
                    notes.push(not_added(&carried.id, here, why));
                }
            }
        }
        Ok(since)
    }

    /// Adds what was said since in sub-agents, and those that were started since. Gives how many
    /// messages these are.
    pub(super) fn add_messages(
        self,
        w: &Writing<'_>,
        here: &Conversation,
        found: &UnpackedOriginal,
        notes: &mut Vec<Note>,
    ) -> Result<usize, Error> {
        let new: Vec<&Conversation> = self
            .here
            .agents
            .read
            .iter()
            .enumerate()
            .filter_map(|(at, agent)| (!self.known.contains_key(&at)).then_some(agent))
            .collect();
        if self.later.is_empty() && new.is_empty() {
            return Ok(0);
        }
        let originals = Agents::of(&open(&found.source)?);
        let mut added = 0;
        for (of, later) in &self.later {
            let agent = find_agent(&originals, of);
            let appended = agent.map(|agent| {
                let appended = append_to_agent(w, found.format, &agent.source, later)?;
                appended.ids.into_iter().try_for_each(|id| id.map(drop))
            });
            match appended {
                Some(Ok(())) => added += later.len(),
                Some(Err(e)) => notes.push(not_added(of, here, &e.to_string())),
                None => notes.push(not_added(of, here, "it did not come along")),
            }
        }
        if new.is_empty() {
            return Ok(added);
        }
        if found.format.writable()?.subagents().is_none() {
            let why = format!("{} has no place for it", found.format.about().name);
            let lost = new
                .iter()
                .map(|agent| not_added(&agent.source.id, here, &why));
            notes.extend(lost);
            return Ok(added);
        }
        let there = self.known.iter();
        let there: HashMap<usize, Source> = there
            .filter_map(|(at, of)| Some((*at, find_agent(&originals, of)?.source.clone())))
            .collect();
        match self
            .here
            .write_agents(w, here, (found.format, &found.source), there)
        {
            Ok((_, said)) => added += said,
            Err(e) => {
                let lost = new
                    .iter()
                    .map(|agent| not_added(&agent.source.id, here, &e.to_string()));
                notes.extend(lost);
            }
        }
        Ok(added)
    }
}

/// Makes the same changes to the original of a sub-agent; false if it cannot be told what they are.
fn change_original(
    w: &Writing<'_>,
    agent: &Conversation,
    (of, before): (&str, &WrittenBlocks),
    changes: &SessionChanges,
    (found, folder): (&mut UnpackedOriginal, &Path),
) -> Result<bool, Error> {
    let originals = Agents::of(&open(&found.source)?);
    let Some(original) = find_agent(&originals, of) else {
        return Ok(false);
    };
    let Some(edits) = changes.edits_to_original(agent, original, before) else {
        return Ok(false);
    };
    let Some(goods) = edit::apply_edits(w, original, (&found.goods, folder), &edits)? else {
        return Ok(false);
    };
    let source = goods.session_source(found.format)?;
    let changed = Agents::of(&open(&source)?);
    let Some(now) = find_agent(&changed, of) else {
        return Ok(false);
    };
    let is_so = edits.are_all_in(agent, original, now)
        && proof::is_proved(w, agent, (original, now), (before, changes))?;
    if is_so {
        found.goods = goods;
        found.source = source;
    }
    Ok(is_so)
}

fn not_told(agent: &Conversation) -> Note {
    let what = format!(
        "what the sub-agent `{}` said before was changed, and it cannot be told how; its original stays as it was",
        agent.source.id
    );
    Note::damage(what).at(&agent.source.path)
}

fn not_added(id: &str, here: &Conversation, why: &str) -> Note {
    let what = format!("what the sub-agent `{id}` said since does not come along: {why}");
    Note::damage(what).at(&here.source.path)
}

/// Adds to what a sub-agent said, as the session that started it would.
fn append_to_agent(
    w: &Writing<'_>,
    format: FormatRef,
    agent: &Source,
    messages: &[MessageInput],
) -> Result<Appended, WriteError> {
    let writer = format.writable()?;
    match writer.subagents() {
        Some(subagents) => subagents.append_to_subagent(w, agent, messages),
        None => writer.append(w, agent, messages),
    }
}
