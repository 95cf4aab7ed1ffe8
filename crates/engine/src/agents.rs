//! `agents`: every format that is known, and what there is of it.

use std::path::PathBuf;

use rethread_catalog::discover;
use rethread_formats::{About, Env, FORMATS};
use rethread_model::Note;

/// A format, and what there is of it on this machine.
#[derive(Debug)]
pub struct AgentInfo {
    /// Facts about the format.
    pub about: &'static About,
    /// The places that hold its conversations.
    pub places: Vec<PathBuf>,
    /// How many sessions there are, sub-agents included.
    pub sessions: usize,
}

/// Looks for the stores of all formats, by names alone.
pub fn agents(env: &Env) -> (Vec<AgentInfo>, Vec<Note>) {
    let found = discover(env);
    let info = |about: &'static About| AgentInfo {
        about,
        places: found
            .roots
            .iter()
            .filter(|root| root.format.slug() == about.slug)
            .map(|root| root.path.clone())
            .collect(),
        sessions: found
            .sources
            .iter()
            .filter(|source| source.format.slug() == about.slug)
            .count(),
    };
    let all = FORMATS.iter().map(|format| info(format.about())).collect();
    (all, found.notes)
}
