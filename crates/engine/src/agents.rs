//! `list_agents`: every format that is known, and what there is of it.

use std::path::PathBuf;

use rethread_catalog::discover;
use rethread_formats::{About, Can, Env, FORMATS, FormatRef};
use rethread_model::Note;

/// A format, and what there is of it on this machine.
#[derive(Debug)]
pub struct AgentInfo {
    /// Facts about the format.
    pub about: &'static About,
    /// What can be done with its sessions.
    pub can: Vec<Can>,
    /// The places that hold its conversations.
    pub places: Vec<PathBuf>,
    /// How many sessions there are, sub-agents included.
    pub sessions: usize,
}

/// Looks for the stores of all formats, by names alone.
pub fn list_agents(env: &Env) -> (Vec<AgentInfo>, Vec<Note>) {
    let found = discover(env);
    let info = |format: FormatRef| AgentInfo {
        about: format.about(),
        can: format.capabilities(),
        places: found
            .roots
            .iter()
            .filter(|root| root.format == format)
            .map(|root| root.path.clone())
            .collect(),
        sessions: found
            .sources
            .iter()
            .filter(|source| source.format == format)
            .count(),
    };
    let all = FORMATS.iter().copied().map(info).collect();
    (all, found.notes)
}
