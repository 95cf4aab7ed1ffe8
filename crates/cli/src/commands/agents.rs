//! `agents`: every supported format.

use std::io::Write;

use clap::Args;
use rethread_engine::{AgentInfo, Can, agents};
use rethread_render::one_line;
use serde_json::json;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::print_json;

/// List every supported format: its stores, its sessions, and what can be done.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  rethread agents")]
pub(crate) struct Agents {}

pub(crate) fn run(context: &Context, _: &Agents) -> Result<Exit, Failure> {
    let (all, notes) = agents(&context.env);
    if context.json {
        for agent in &all {
            let places: Vec<_> = agent.places.iter().map(|p| p.to_string_lossy()).collect();
            print_json(&json!({
                "agent": agent.about.slug,
                "name": agent.about.name,
                "versions": agent.about.versions,
                "can": words(agent),
                "sessions": agent.sessions,
                "places": places,
                "looks_in": agent.about.where_it_looks,
            }))?;
        }
        return Ok(context.notes(&notes));
    }
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for agent in &all {
        let can = words(agent).join(", ");
        let slug = agent.about.slug;
        writeln!(out, "{slug:<12} {:>6}  {can}", agent.sessions)?;
        for place in &agent.places {
            writeln!(
                out,
                "{:<12}         {}",
                "",
                one_line(&place.to_string_lossy())
            )?;
        }
        if agent.places.is_empty() {
            writeln!(
                out,
                "{:<12}         none in {}",
                "", agent.about.where_it_looks
            )?;
        }
    }
    out.flush()?;
    drop(out);
    Ok(context.notes(&notes))
}

fn words(agent: &AgentInfo) -> Vec<&'static str> {
    let word = |can: &Can| match can {
        Can::Read => "read",
        Can::Write => "write",
        Can::Resume => "resume",
    };
    agent.about.can.iter().map(word).collect()
}
